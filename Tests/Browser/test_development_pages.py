"""`serve --dev` in a browser: the pages for developers, and the banner on every page."""

import base64
import json

import pytest
from harness.server import Server

from stage.world import World
from stage.outbox import Outbox


@pytest.fixture(scope="module")
def world(tmp_path_factory, app):
    directory = tmp_path_factory.mktemp("development")
    outbox = directory / "outbox"
    settings = {"SPINDLE_MAIL": f"file:{outbox}/", "SPINDLE_TRUSTED_PROXIES": "127.0.0.1/32"}
    server = Server(directory, str(directory / "spindle.db"), settings)
    server.init()
    yield World.build(server.start("--dev"), Outbox(outbox), app)
    server.end()


def claims(tokens: dict) -> dict:
    payload = tokens["id_token"].split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


@pytest.mark.every_way
def test_development_sign_in_needs_a_name_and_choices_only(world, window):
    flow = world.flow(scope="openid email")
    window.open(flow.path)
    window.expect("developmentSignIn.title", look="development sign-in")
    assert window.says("development.text")
    form = window.form("username")
    assert form.value("id_token_lifetime") == "3600"
    form.fill(username="Ada Lovelace", id_token_lifetime="soon").submit()
    window.expect("developmentSignIn.fault.lifetime", look="development sign-in refused")
    window.form("username").fill(username="Ada Lovelace", id_token_lifetime="42", refresh_token=False).submit()
    tokens = flow.tokens(window)
    found = claims(tokens)
    assert found["exp"] - found["iat"] == 42 and "refresh_token" not in tokens

    # Once signed in, no page is shown. With a prompt, the page has the name of the same user.
    again = world.flow(scope="openid")
    window.open(again.path)
    assert claims(again.tokens(window))["sub"] == found["sub"]
    asked = world.flow(scope="openid", prompt="login")
    window.open(asked.path)
    assert window.form("username").value("username").startswith("ada-lovelace-")
    window.form("username").submit()
    assert claims(asked.tokens(window))["sub"] == found["sub"]


@pytest.mark.every_way
def test_a_chosen_development_error_reaches_the_app(world, window):
    flow = world.flow()
    window.open(flow.path)
    window.form("username").fill(error="temporarily_unavailable").submit('button[value="error"]')
    answer = flow.answer(window)
    assert answer["error"] == "temporarily_unavailable" and answer["error_description"]


@pytest.mark.parametrize("language", ["en", "no", "sv", "de"])
def test_every_page_has_the_development_banner(world, window, language):
    window.language = language
    for path, look in [("/login", "development sign-in alone"), ("/login?page=people", "development login"),
                       ("/development/answer?code=abc&state=x", "development answer"),
                       ("/no-such-page", "development not found")]:
        window.open(path + ("&" if "?" in path else "?") + f"ui_locales={language}")
        if "no-such" not in path:
            assert window.says("development.text"), window
            window.look(look)
        assert window.find("body > :first-child").get_attribute("class") == "development"


def test_the_development_page_links_to_the_normal_login_page(world, window):
    flow = world.flow()
    window.open(flow.path)
    window.follow(".aside a")
    assert window.has('input[name="password"]') and window.says("development.text")
