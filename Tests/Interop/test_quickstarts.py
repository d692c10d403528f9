"""Each quickstart in docs/ is done as its reader does it: its commands are typed and its files are saved."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
import requests

from harness.browser import Browser
from harness.reader import Reader
from harness.spindle import Spindle
from harness.walk import expect_in_order
from harness.wire import Address
from relying_party import Gateway
from relying_party.fixtures import claims, gateway_program


@pytest.fixture
def reader(tmp_path, program) -> Iterator[Callable[..., Reader]]:
    """Opens a page."""
    program("curl", "curl")
    with ExitStack() as stack:
        yield lambda page: stack.enter_context(Reader(page, tmp_path))


class User:
    """A user in front of a browser, at the development server that the reader started and at the reader's app."""

    def __init__(self, reader: Reader):
        self.browser = Browser(Spindle(Address("127.0.0.1", reader.port(8080)), ("", "")))
        self.app = f"http://localhost:{reader.port(3000)}"
        self.site = requests.Session()

    def sign_in(self, address: str, name: str = "alice") -> str:
        """Types a name at the address, and returns where the browser is sent."""
        return self._submit(address, username=name, outcome="sign_in")

    def refuse(self, address: str) -> str:
        """Chooses "Cancel" where the page asks whether to go on, and returns where the browser is sent."""
        return self._submit(address, decision="cancel")

    def _submit(self, address: str, **fields: str) -> str:
        form = self.browser.open(address).forms[0]
        left = self.browser.open(form.action, "POST", form.fields | fields).left_for
        assert left, "the browser is still at the server"
        return left


def test_the_web_app_in_python_signs_a_user_in_and_out(reader):
    with_authlib = reader("docs/quickstart-web-python.md")
    with_authlib.follow()
    user = User(with_authlib)
    assert "Sign in" in user.site.get(user.app).text
    asked = user.site.get(f"{user.app}/login", allow_redirects=False).headers["Location"]
    assert user.site.get(user.sign_in(asked)).text.startswith("Hello, alice.")
    leaving = user.site.post(f"{user.app}/logout", allow_redirects=False).headers["Location"]
    back = user.browser.open(leaving).left_for
    assert back.startswith(f"{user.app}/?state="), back
    assert "Sign in" in user.site.get(back).text


def test_a_program_gets_tokens_with_its_own_id_and_secret(reader):
    reader("docs/quickstart-machine.md").follow()


def test_an_api_checks_tokens_by_introspection_and_by_keys(reader):
    reader("docs/quickstart-protect-an-api.md").follow()


def test_a_native_app_signs_its_user_in_by_the_browser_and_says_why_it_was_refused(reader, program):
    program("swiftc", "the Swift toolchain, see swift.org")
    page = reader("docs/quickstart-native.md")
    page.copy("docs/example-native/SignIn.swift")
    page.follow(until="4. Run it")
    opened = page.folder / "opened"
    browser = page.tools / "xdg-open"
    browser.write_text(f'#!/bin/sh\necho "$1" >{opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o755)

    def address() -> str:
        for _ in range(1200):
            if opened.exists():
                break
            time.sleep(0.05)
        text = opened.read_text("utf-8").strip()
        opened.unlink()
        return text

    def use_the_browser() -> list[str]:
        user = User(page)
        return [requests.get(act(address()), timeout=20).text for act in (user.sign_in, user.refuse)]

    with ThreadPoolExecutor() as threads:
        said = threads.submit(use_the_browser)
        page.follow()
        assert said.result() == [
            "You are signed in. Go back to the program.", "Not signed in. Go back to the program."]


def test_users_of_sync_gateway_sign_in_by_the_configuration_of_its_guide(reader, gateway_program, tmp_path):
    page = reader("docs/guide-sync-gateway.md")
    page.follow(until="Code flow, through Sync Gateway")
    settings = json.loads((page.place / "oidc.json").read_text("utf-8"))["oidc"]
    gateway = Gateway(gateway_program, tmp_path, settings["default_provider"], **settings["providers"])
    try:
        back = User(page).sign_in(gateway.login())
        assert back.startswith("http://localhost:4984/notes/_oidc_callback?")
        told = gateway.back(back).json
    finally:
        gateway.end()
    assert {"session_id", "id_token", "refresh_token"} <= told.keys()
    assert told["name"] == f"p_{claims(told['id_token'])['sub']}"


def test_the_webhook_of_dittos_guide_admits_the_user_of_a_token(reader):
    page = reader("docs/guide-ditto.md")
    page.follow(until="What to paste where")
    expect_in_order(
        page.printed[-1], '"authenticated": true', '"expirationSeconds": 3', "_id.owner == '", '"authenticated": false',
        "invalid_token")


def test_an_app_of_spids_signs_a_user_in_by_the_guides_commands(reader):
    page = reader("docs/guide-spid.md")
    page.follow(until="Try it")
    expect_in_order(page.printed[-1], '"name": "SPP Container"', '"displayName": "Ada"')
    assert User(page).sign_in(page.printed[-1].splitlines()[-1]).startswith("spid-example://login?code=")


def test_the_guide_on_development_signs_a_user_in_without_a_browser(reader):
    page = reader("docs/guide-development.md")
    page.follow()
    tokens, client = page.printed
    told = claims(json.loads(tokens)["id_token"])
    assert told["exp"] - told["iat"] == 5
    assert "client_secret" in client
