"""Signing up: no user exists until the address is verified."""

import pytest

@pytest.mark.every_way
def test_a_new_user_signs_up_with_the_mailed_code(world, window):
    name = "Zoë 👩🏽‍🚀 Ærlig" if window.kind.scripts else "نجيب محفوظ"
    email, password, flow = world.address(), world.password(), world.flow()
    window.open(flow.path)
    window.follow('a[href^="/signup"]')
    window.expect("signUp.title", look="sign-up")
    window.form("password").fill(email=email, password=password, name=name).submit()
    window.expect("code.title", look="code sign-up")
    assert email in window.text
    window.form("code").fill(code=world.mail(window, email, "signUpCode").code).submit()
    told = flow.person(window)
    assert (told["email"], told["email_verified"], told["name"]) == (email, True, name)

    assert world.is_signed_in(window)
    window.look("account of a new user")
    assert window.form(action="/account/profile").value("name") == name


@pytest.mark.every_way
def test_the_mailed_link_needs_a_click_in_the_same_browser(world, window):
    email, password = world.address(), world.password()
    world.sign_up(window, email, password)
    link = world.outbox.wait_for(email).link
    window.open(link)
    assert not window.has('[name="password"]')
    window.look("sign-up confirm")
    assert not world.can_sign_in(email, password), "looking at a link changes nothing"
    window.open(link)
    window.form(action=window.path).submit()
    assert window.path == "/account" and email in window.text
    assert world.can_sign_in(email, password)


@pytest.mark.every_way
def test_the_mailed_link_asks_for_a_new_password_in_another_browser(world, window, another):
    email, password = world.address(), world.password()
    world.sign_up(window, email, password)
    phone = another(window.kind, "narrow")
    phone.open(world.outbox.wait_for(email).link)
    phone.look("sign-up confirm elsewhere")
    phone.form("password").fill(password="password1").submit()
    phone.look("sign-up confirm elsewhere refused")
    assert phone.has('[role="alert"]')
    assert not world.can_sign_in(email, password)
    other = world.password()
    phone.form("password").fill(password=other).submit()
    assert phone.path == "/account" and email in phone.text
    assert world.can_sign_in(email, other) and not world.can_sign_in(email, password)


def test_the_request_continues_where_the_link_is_opened(world, window):
    email, password, flow = world.address(), world.password(), world.flow()
    window.open(flow.path)
    window.follow('a[href^="/signup"]')
    window.form("password").fill(email=email, password=password).submit()
    window.open(world.outbox.wait_for(email).link)
    window.form(action=window.path).submit()
    assert flow.person(window)["email"] == email


@pytest.mark.every_way
def test_a_sign_up_with_a_taken_address_looks_the_same_and_mails_its_owner(world, window):
    person = world.person()
    world.sign_up(window, person.email, world.password())
    window.expect("code.title", look="code sign-up")
    mail = world.mail(window, person.email, "signUpExisting")
    assert f"{world.spindle.origin}/login" in mail.text and f"{world.spindle.origin}/password" in mail.text
    window.form("code").fill(code="123456").submit()
    assert window.has('[role="alert"]')
    assert world.can_sign_in(person.email, person.password)


@pytest.mark.parametrize(
    ("password", "refusal"),
    [("short", "tooShort"), ("password123", "common"), ("kari.nordmann", "personal")],
    ids=["short", "common", "personal"],
)
def test_a_weak_password_is_refused_with_the_reason(world, window, password, refusal):
    email = f"kari.nordmann.{world.address()}"
    window.open("/signup")
    form = window.form("password").fill(email=email, name="Kari Nordmann")
    window.driver.execute_script("arguments[0].removeAttribute('minlength')", form.field("password"))
    form.fill(password=password).submit()
    window.expect(f"refusal.weakPassword.{refusal}", look="sign-up weak password")
    assert window.form("password").value("email") == email
    assert window.form("password").value("name") == "Kari Nordmann"
    assert not world.outbox.to(email)


def test_after_too_many_wrong_codes_the_page_says_how_to_go_on(world, window):
    email = world.address()
    world.sign_up(window, email, world.password())
    code = world.outbox.wait_for(email).code
    for number in range(1, 6):
        window.form("code").fill(code=f"{(int(code) + number) % 1_000_000:06}").submit()
    window.expect_message("codeGone")
    assert not world.is_signed_in(window)
