"""Signing in: with a password, with a mailed code, remembered for a year, and cancelled."""

import pytest

from stage.chromium import Kind, start
from stage.window import Window


@pytest.mark.every_way
def test_a_user_signs_in_and_the_app_learns_who_it_is(world, window):
    person, flow = world.person(), world.flow()
    window.open(flow.path)
    window.expect("login.title", look="login")
    window.form("password").fill(email=person.email, password=person.password).submit()
    told = flow.person(window)
    assert (told["sub"], told["email"]) == (person.id, person.email)

    window.open("/login")
    window.look("signed in")
    assert person.email in window.text
    again = world.flow()
    assert again.tokens(window.open(again.path)), "a second app asks for nothing"


@pytest.mark.every_way
def test_a_wrong_password_is_reported_and_the_next_try_succeeds(world, window):
    person, flow = world.person(), world.flow()
    window.open(flow.path)
    window.form("password").fill(email=person.email, password="not the password").submit()
    assert window.has('[role="alert"]')
    window.expect("refusal.wrongCredentials", look="login wrong")
    assert window.form("password").value("email") == person.email
    assert window.form("password").value("password") == ""
    assert not window.cookie("session")
    window.form("password").fill(password=person.password).submit()
    assert flow.person(window)["sub"] == person.id


def test_guessing_is_throttled_and_the_owner_gets_in_elsewhere(world, window, another):
    person = world.person()
    window.open("/login")
    while not window.says("refusal.tooManyAttempts.seconds"):
        window.form("password").fill(email=person.email, password=world.password()).submit()
        assert window.has('[role="alert"]')
    window.look("login too many attempts")
    window.form("password").fill(password=person.password).submit()
    assert window.says("refusal.tooManyAttempts.seconds") and not window.cookie("session")
    owner = another()
    world.sign_in(owner, person)
    assert world.is_signed_in(owner)


def test_an_unknown_address_gets_the_answer_of_a_wrong_password(world, window):
    window.open("/login")
    window.form("password").fill(email=world.address(), password="not the password").submit()
    window.expect("refusal.wrongCredentials", look="login wrong")


@pytest.mark.every_way
def test_cancelling_returns_to_the_app_without_a_sign_in(world, window):
    flow = world.flow()
    window.open(flow.path)
    window.press("decision", "cancel")
    assert flow.answer(window)["error"] == "access_denied"
    assert not world.is_signed_in(window)


def test_cancelling_leads_to_the_apps_cancel_address(world, window):
    flow = world.flow(cancel_redirect_uri=world.app.callback)
    window.open(flow.path)
    window.press("decision", "cancel")
    assert window.url.startswith(world.app.callback)
    assert "code=" not in window.url


@pytest.mark.every_way
def test_a_code_by_mail_signs_in_without_a_password(world, window):
    person, flow = world.person(), world.flow()
    window.open(flow.path)
    window.form("password").fill(email=person.email).submit('button[formaction="/login/code"]')
    window.expect("code.title", look="code sign-in")
    mail = world.mail(window, person.email, "signInCode")
    assert "http" not in mail.text.replace(world.spindle.origin, ""), "no foreign address"
    wrong = f"{(int(mail.code) + 1) % 1_000_000:06}"
    window.form("code").fill(code=wrong).submit()
    assert window.has('[role="alert"]')
    window.look("code wrong")
    # A user who returns from the mail may find that the phone has loaded the page again.
    window.open(window.url)
    assert not window.has('[role="alert"]')
    window.form("code").fill(code=mail.code).submit()
    assert flow.person(window)["sub"] == person.id


def test_five_wrong_codes_end_the_mailed_code(world, window):
    person = world.person()
    window.open("/login")
    window.form("password").fill(email=person.email).submit('button[formaction="/login/code"]')
    code = world.outbox.wait_for(person.email).code
    for number in range(1, 6):
        window.form("code").fill(code=f"{(int(code) + number) % 1_000_000:06}").submit()
    window.expect_message("codeGone")
    assert not world.is_signed_in(window)


def test_a_code_for_an_unknown_address_looks_the_same(world, window):
    window.open("/login")
    window.form("password").fill(email=world.address()).submit('button[formaction="/login/code"]')
    window.expect("code.title", look="code sign-in")
    window.form("code").fill(code="123456").submit()
    assert not world.is_signed_in(window)


@pytest.mark.parametrize("remember", [True, False], ids=["remembered", "not remembered"])
def test_a_remembered_session_survives_a_restart_of_the_browser(world, eye, tmp_path, remember):
    person, kind = world.person(), Kind()

    def restarted() -> Window:
        return Window(start(kind, tmp_path, tmp_path / "profile"), kind, "wide", world.spindle.origin, eye)

    window = restarted()
    try:
        world.sign_in(window, person, remember=remember)
        assert world.is_signed_in(window)
    finally:
        window.driver.quit()
    window = restarted()
    try:
        assert world.is_signed_in(window) == remember
    finally:
        window.driver.quit()


def test_an_app_can_require_the_password_again(world, window):
    person = world.person()
    world.sign_in(window, person)
    flow = world.flow(prompt="login")
    window.open(flow.path)
    window.form("password").fill(email=person.email, password="not the password").submit()
    assert window.has('[role="alert"]')
    window.form("password").fill(password=person.password).submit()
    assert flow.person(window)["sub"] == person.id


@pytest.mark.parametrize("language", ["sv", "de", "no", "en"])
def test_an_app_can_choose_the_language(world, window, language):
    person, flow = world.person(), world.flow(ui_locales=f"fr {language}")
    window.language = language
    window.open(flow.path)
    window.expect("login.title", look="login")
    window.form("password").fill(email=person.email, password="not the password").submit()
    window.expect("refusal.wrongCredentials", look="login wrong")
    window.form("password").fill(email=person.email).submit('button[formaction="/login/code"]')
    window.expect("code.title", look="code sign-in")
    assert world.mail(window, person.email, "signInCode").code


@pytest.mark.every_way
def test_an_answer_by_form_post_reaches_the_app(world, window):
    person, flow = world.person(), world.flow(response_mode="form_post")
    window.open(flow.path)
    window.form("password").fill(email=person.email, password=person.password).submit()
    if not window.kind.scripts:
        window.look("form post")
        window.follow("button")
    assert flow.person(window)["sub"] == person.id
    request = world.app.requests[-1]
    assert request.method == "POST" and "code" in request.values and "code" not in window.url


def test_an_answer_in_the_fragment_never_reaches_the_server(world, window):
    person, flow = world.person(), world.flow(response_mode="fragment")
    window.open(flow.path)
    window.form("password").fill(email=person.email, password=person.password).submit()
    assert flow.person(window)["sub"] == person.id
    assert "#" in window.url and "code" not in world.app.requests[-1].values


@pytest.mark.every_way
@pytest.mark.parametrize(
    ("parameters", "topic"),
    [
        ({"client_id": ""}, "noClient"),
        ({"client_id": "nobody"}, "unknownClient"),
        ({"redirect_uri": "https://elsewhere.example/"}, "unregisteredRedirectURI"),
        ({"cancel_redirect_uri": "https://elsewhere.example/"}, "unregisteredCancelURI"),
    ],
    ids=["no client", "unknown client", "unregistered redirect uri", "unregistered cancel uri"],
)
def test_a_bad_client_or_redirect_uri_gets_a_page_and_never_a_redirect(world, window, parameters, topic):
    window.open(world.flow(**parameters).path)
    window.expect_message(topic)


def test_a_client_with_two_redirect_uris_must_name_one(world, window):
    both = [world.app.callback, world.app.goodbye]
    client = world.spindle.create_client(
        world.merchant, "Torn", world.app.callback, grant_types=["authorization_code"], redirect_uris=both
    )
    window.open(world.flow(client, redirect_uri="").path)
    window.expect_message("noRedirectURI")


def test_an_address_that_does_not_exist_has_a_page(world, window):
    window.open("/no-such-page")
    window.expect_message("notFound")


@pytest.mark.every_way
def test_an_app_that_requires_a_verified_address_asks_for_a_mailed_code_first(world, window):
    strict = world.spindle.create_client(
        world.merchant, "Nøye", world.app.callback, grant_types=["authorization_code"], require_verified_email=True
    )
    person, flow = world.unverified(), world.flow(strict)
    window.open(flow.path)
    window.form("password").fill(email=person.email, password=person.password).submit()
    window.expect("verify.title", look="verify")
    window.form(action="/verify").submit()
    window.expect("code.title", look="code verify")
    window.form("code").fill(code=world.mail(window, person.email, "verifyEmail").code).submit()
    assert flow.person(window)["email_verified"] is True
