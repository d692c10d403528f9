"""Both sequence diagrams of the SPiD login guide, from the first request to the last, on both engines."""

import pytest

from harness.browser import Browser
from harness.spindle import PKCE, Spindle
from harness.world import APP_REDIRECT, WEB_REDIRECT, World


@pytest.fixture(scope="module")
def world(launch, engine) -> World:
    return World.create(Spindle.of(launch(engine)))


def test_a_phones_code_gives_its_backend_a_token_of_its_own(world):
    spindle, person = world.spindle, world.person
    device = world.phone()
    assert device["token_type"] == "Bearer"
    assert device["user_id"] == person.id and isinstance(device["user_id"], str)
    assert isinstance(device["expires_in"], int) and not isinstance(device["expires_in"], bool)
    assert None not in device.values(), "members without a value are absent"

    exchanged = spindle.exchange(device["access_token"], world.backend)
    assert exchanged.status == 200, exchanged
    assert exchanged.json["type"] == "code" and exchanged.json["expires_in"] == 30

    redeemed = spindle.redeem(world.backend, exchanged.json["code"])
    assert redeemed.status == 200, redeemed
    assert redeemed.headers["Cache-Control"] == "no-store"
    backend = redeemed.json
    assert backend["user_id"] == person.id
    assert backend["access_token"] != device["access_token"]
    for path in ("/me", f"/user/{person.id}"):
        answer = spindle.call("GET", path, bearer=backend["access_token"])
        assert answer.status == 200, f"{path}: {answer}"
    me = spindle.me(backend["access_token"]).json
    assert me["user_id"] == me["sub"] == person.id and me["email"] == person.email

    again = spindle.redeem(world.backend, exchanged.json["code"])
    assert (again.status, again.error) == (400, "invalid_grant"), again
    assert not spindle.is_active(world.backend, backend["access_token"]), "a replay revokes what came of the first"
    assert spindle.me(device["access_token"]).status == 200, "and nothing else"


def test_a_devices_logout_ends_its_own_tokens_and_not_its_backends(world):
    spindle = world.spindle
    device = world.phone()
    backend = spindle.redeem(world.backend, spindle.code(device["access_token"], world.backend)).json
    webview = Browser(spindle)
    webview.open(f"/auth/session/{spindle.code(device['access_token'], world.web, 'session')}")
    assert webview.is_signed_in()

    answer = spindle.call("GET", "/logout", bearer=device["access_token"])
    assert (answer.status, answer.json) == (200, {"result": "OK"}), answer

    assert spindle.me(device["access_token"]).status == 401
    refused = spindle.refresh(world.app, device["refresh_token"])
    assert (refused.status, refused.error) == (400, "invalid_grant"), refused
    assert not webview.is_signed_in(), "a session bought with the token is dead too"
    assert spindle.me(backend["access_token"]).status == 200, "what a backend redeemed lives on"
    assert spindle.refresh(world.backend, backend["refresh_token"]).status == 200


def test_a_webview_gets_a_session_and_asks_for_a_code_without_another_login(world):
    spindle = world.spindle
    device = world.phone()
    exchanged = spindle.exchange(device["access_token"], world.web, "session")
    assert exchanged.status == 200, exchanged
    assert exchanged.json["type"] == "session" and exchanged.json["expires_in"] == 60
    path = f"/auth/session/{exchanged.json['code']}"

    image = spindle.call("GET", path, headers={"Sec-Fetch-Dest": "image"})
    assert image.status >= 400 and not image.set_cookies, f"only a navigation may spend it: {image}"

    webview = Browser(spindle)
    landed = webview.open(path)
    assert landed.left_for == WEB_REDIRECT, landed.answer
    assert landed.answer.status == 302
    assert landed.answer.headers["Cache-Control"] == "no-store"
    assert landed.answer.headers["Referrer-Policy"] == "no-referrer"
    [cookie] = landed.answer.set_cookies
    assert "httponly" in cookie.lower() and "samesite=lax" in cookie.lower()
    assert webview.is_signed_in()

    stranger = Browser(spindle)
    again = stranger.open(path)
    assert again.answer.status in (404, 410) and again.left_for is None, again.answer
    assert not again.answer.set_cookies and again.answer.body
    assert webview.is_signed_in(), "the session itself is unharmed"

    pkce = PKCE()
    back = webview.open(spindle.authorize_path(world.web, pkce, state="s t&te", scope="openid email"))
    assert back.left_for and back.left_for.startswith(WEB_REDIRECT), back.answer
    assert back.query["state"] == "s t&te"
    tokens = spindle.redeem(world.web, back.query["code"], code_verifier=pkce.verifier)
    assert tokens.status == 200, tokens
    assert tokens.json["user_id"] == world.person.id

    webview.log_out()
    assert not webview.is_signed_in()
    asked = webview.open(spindle.authorize_path(world.web, PKCE(), state="x"))
    assert asked.left_for is None and any(form.password_field for form in asked.forms), asked.answer


def test_a_user_signs_in_on_the_page_and_the_app_redeems_its_code_with_pkce(world):
    spindle, pkce, browser = world.spindle, PKCE(), Browser(world.spindle)
    page = browser.open(spindle.authorize_path(world.app, pkce, state="abc"))
    assert page.left_for is None and page.answer.status == 200, page.answer
    back = browser.sign_in(page, world.person)
    assert back.left_for and back.left_for.startswith(APP_REDIRECT), back.answer
    assert back.query["state"] == "abc"

    code = back.query["code"]
    refused = spindle.redeem(world.app, code, code_verifier=PKCE().verifier)
    assert (refused.status, refused.error) == (400, "invalid_grant"), refused
    tokens = spindle.redeem(world.app, code, code_verifier=pkce.verifier)
    assert tokens.status == 200, f"a wrong verifier spends nothing: {tokens}"
    assert spindle.me(tokens.json["access_token"]).json["user_id"] == world.person.id


def test_a_wrong_password_on_the_page_is_refused(world):
    spindle, browser = world.spindle, Browser(world.spindle)
    page = browser.open(spindle.authorize_path(world.app, PKCE(), state="abc"))
    form = next(form for form in page.forms if form.password_field)
    wrong = {form.name_field: world.person.email, form.password_field: "not the password"}
    refused = browser.submit(page, form, **wrong)
    assert refused.left_for is None and refused.answer.body
    assert not browser.is_signed_in()


def test_a_client_of_another_merchant_is_refused_with_403(world):
    spindle = world.spindle
    device = world.phone()
    elsewhere = spindle.create_merchant("Another house")
    stranger = spindle.create_client(
        elsewhere, "Stranger", "https://stranger.example/", grant_types=["authorization_code", "refresh_token"]
    )
    for type in ("code", "session"):
        answer = spindle.exchange(device["access_token"], stranger, type)
        assert answer.status == 403 and answer.error, answer
    foreign = spindle.code(device["access_token"], world.backend)
    refused = spindle.redeem(stranger, foreign)
    assert (refused.status, refused.error) == (400, "invalid_grant"), refused
    assert spindle.redeem(world.backend, foreign).status == 200, "a stranger's attempt spends nothing"


def test_a_refresh_rotates_for_a_public_client_and_stays_for_a_confidential_one(world):
    spindle = world.spindle
    device = world.phone()
    first = spindle.refresh(world.app, device["refresh_token"])
    assert first.status == 200, first
    assert first.json["refresh_token"] != device["refresh_token"]
    lost = spindle.refresh(world.app, device["refresh_token"])
    assert lost.status == 200, f"an answer that was lost can be asked for again: {lost}"
    assert lost.json["refresh_token"] == first.json["refresh_token"]
    assert not spindle.is_active(world.backend, first.json["access_token"]), "the lost answer's token is revoked"
    assert spindle.refresh(world.app, lost.json["refresh_token"]).status == 200
    thief = spindle.refresh(world.app, device["refresh_token"])
    assert (thief.status, thief.error) == (400, "invalid_grant"), thief
    assert spindle.me(lost.json["access_token"]).status == 401, "a replay ends the whole family"

    backend = spindle.redeem(world.backend, spindle.code(world.phone()["access_token"], world.backend)).json
    kept = spindle.refresh(world.backend, backend["refresh_token"])
    assert kept.status == 200 and kept.json["refresh_token"] == backend["refresh_token"], kept


def test_the_server_is_healthy_and_ready(world):
    assert world.spindle.call("GET", "/healthz").status == 200
    assert world.spindle.call("GET", "/readyz").status == 200
