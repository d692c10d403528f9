"""`serve --dev` in a browser: the pages for developers, and the banner on every page."""

import base64
import json
import re
from urllib.parse import urlencode

import pytest
from harness.server import Server
from selenium.webdriver.support.ui import WebDriverWait

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


def english(window, path: str):
    """Opens a page for developers, which is in English."""
    window.language = "en"
    return window.open(path)


def signed_in(window, client: str):
    """Signs in on the start page for `client`, and comes back to the answer page."""
    english(window, "/")
    window.follow(f'a[href*="client_id={client}&"]')
    window.form("username").fill(username="alice").submit('button[value="sign_in"]')
    assert window.path == "/development/answer", window


@pytest.mark.every_way
def test_the_start_page_shows_clients_and_copies_their_secrets(world, window):
    english(window, "/")
    assert window.heading == "Spindle in development mode"
    window.look("development home")
    for client in ["dev", "dev_backend", "dev_machine", "dev_admin", "sync_gateway"]:
        assert any(title.text.startswith(f"{client}, ") for title in window.find_all("h2")), window
    texts = window.find_all(".copy")
    buttons = window.find_all("button.copies")
    assert len(texts) > 10 and len(buttons) == (len(texts) if window.kind.scripts else 0)
    if buttons:
        window.driver.execute_cdp_cmd("Browser.grantPermissions", {
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"], "origin": window.origin})
        buttons[0].click()
        copied = window.driver.execute_async_script(
            "const done = arguments[0]; setTimeout(() => navigator.clipboard.readText().then(done, done), 100)")
        assert copied == window.origin, copied


@pytest.mark.every_way
def test_the_answer_page_shows_decoded_tokens_and_uses_them(world, window):
    signed_in(window, "dev_backend")
    assert window.says("development.text") and "Signature good: RS256" in window.text, window
    window.look("development answer")
    for call, told in [("refresh", "grant_type=refresh_token"), ("userinfo", "alice@dev.example"),
                       ("introspect", '"active": true'), ("revoke_access_token", "POST /oauth/revoke"),
                       ("introspect", '"active": false')]:
        window.press("call", call)
        assert told in window.text, window
    window.look("development answer with calls")


@pytest.mark.every_way
def test_the_answer_page_shows_tokens_that_came_in_the_fragment_where_scripts_run(world, window):
    signed_in(window, "dev")
    english(window, "/oauth/authorize?" + urlencode({
        "client_id": "dev", "redirect_uri": f"{window.origin}/development/answer", "response_type": "id_token token",
        "scope": "openid email", "nonce": "n-1"}))
    window.press("decision", "continue")
    if not window.kind.scripts:
        assert "is shown where scripts run" in window.text, window
        return
    WebDriverWait(window.driver, 20, 0.05).until(lambda _: "Signature good: RS256" in window.text, f"{window}")
    assert window.path == "/development/answer" and "trial=" in window.driver.current_url, window
    assert "Access token" in window.text and "n-1" in window.text, window
    window.press("call", "userinfo")
    assert "alice@dev.example" in window.text, window


@pytest.mark.every_way
def test_a_machines_token_is_one_button_away(world, window):
    english(window, "/")
    window.follow('form:has(input[value="dev_machine"]) button')
    assert "Access token" in window.text and "read write" in window.text, window


def test_mails_and_requests_are_shown(world, window):
    english(window, "/development/mails")
    assert "There is none yet." in window.text
    window.look("development mails none")
    address = world.address()
    window.language = "en"
    window.open("/signup").form("email").fill(email=address, password=world.password()).submit()
    mail = world.outbox.wait_for(address)
    english(window, "/development/mails")
    link = re.search(r"http\S+", mail.text)[0]
    assert address in window.text and window.has(f'a[href="{link}"]'), window
    window.look("development mails")

    window.open("/oauth/authorize?client_id=unknown")
    assert "reason: unknown_client" in window.text, window
    english(window, "/development/requests")
    assert "GET /oauth/authorize 400 Bad Request" in window.text and "reason: unknown_client" in window.text, window
    window.find("summary").click()
    assert "client_id" in window.text, window
    window.look("development requests")


@pytest.mark.every_way
def test_an_unregistered_redirect_uri_is_registered_on_the_page_that_refuses_it(world, window):
    address = f"com.example.{'scripts' if window.kind.scripts else 'plain'}:/back"
    path = f"/oauth/authorize?response_type=code&client_id=dev&redirect_uri={address}&scope=openid&nonce=n"
    window.open(path + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256")
    window.expect_message("unregisteredRedirectURI")
    window.form(action="/development/redirect-uri").submit()
    window.expect("developmentSignIn.title")
