"""Signing up: nothing exists until the address is shown to be read."""

import pytest

@pytest.mark.every_way
def test_a_new_user_signs_up_with_the_mailed_code(house, window):
    name = "Zoë 👩🏽‍🚀 Ærlig" if window.kind.scripts else "نجيب محفوظ"
    email, password, errand = house.address(), house.password(), house.errand()
    window.open(errand.path)
    window.follow('a[href^="/signup"]')
    window.expect("signUp.title", look="sign-up")
    window.form("password").fill(email=email, password=password, name=name).submit()
    window.expect("code.title", look="code sign-up")
    assert email in window.text
    window.form("code").fill(code=house.letter(window, email, "signUpCode").code).submit()
    told = errand.person(window)
    assert (told["email"], told["email_verified"], told["name"]) == (email, True, name)

    assert house.is_signed_in(window)
    window.look("account of somebody new")
    assert window.form(action="/account/profile").value("name") == name


@pytest.mark.every_way
def test_the_mailed_link_needs_a_click_in_the_same_browser(house, window):
    email, password = house.address(), house.password()
    house.sign_up(window, email, password)
    link = house.outbox.wait_for(email).link
    window.open(link)
    assert not window.has('[name="password"]')
    window.look("sign-up confirm")
    assert not house.can_sign_in(email, password), "looking at a link changes nothing"
    window.open(link)
    window.form(action=window.path).submit()
    assert window.path == "/account" and email in window.text
    assert house.can_sign_in(email, password)


@pytest.mark.every_way
def test_the_mailed_link_asks_for_the_password_in_another_browser(house, window, another):
    email, password = house.address(), house.password()
    house.sign_up(window, email, password)
    phone = another(window.kind, "narrow")
    phone.open(house.outbox.wait_for(email).link)
    phone.look("sign-up confirm elsewhere")
    phone.form("password").fill(password="not the password").submit()
    assert phone.has('[role="alert"]')
    assert not house.can_sign_in(email, password)
    phone.form("password").fill(password=password).submit()
    assert phone.path == "/account" and email in phone.text
    assert house.can_sign_in(email, password)


def test_the_request_continues_where_the_link_is_opened(house, window):
    email, password, errand = house.address(), house.password(), house.errand()
    window.open(errand.path)
    window.follow('a[href^="/signup"]')
    window.form("password").fill(email=email, password=password).submit()
    window.open(house.outbox.wait_for(email).link)
    window.form(action=window.path).submit()
    assert errand.person(window)["email"] == email


@pytest.mark.every_way
def test_a_sign_up_with_a_taken_address_looks_the_same_and_mails_its_owner(house, window):
    person = house.person()
    house.sign_up(window, person.email, house.password())
    window.expect("code.title", look="code sign-up")
    mail = house.letter(window, person.email, "signUpExisting")
    assert f"{house.spindle.origin}/login" in mail.text and f"{house.spindle.origin}/password" in mail.text
    window.form("code").fill(code="123456").submit()
    assert window.has('[role="alert"]')
    assert house.can_sign_in(person.email, person.password)


@pytest.mark.parametrize(
    ("password", "refusal"),
    [("short", "tooShort"), ("password123", "common"), ("kari.nordmann", "personal")],
    ids=["short", "common", "personal"],
)
def test_a_weak_password_is_refused_with_the_reason(house, window, password, refusal):
    email = f"kari.nordmann.{house.address()}"
    window.open("/signup")
    form = window.form("password").fill(email=email, name="Kari Nordmann")
    window.driver.execute_script("arguments[0].removeAttribute('minlength')", form.field("password"))
    form.fill(password=password).submit()
    window.expect(f"refusal.weakPassword.{refusal}", look="sign-up weak password")
    assert window.form("password").value("email") == email
    assert window.form("password").value("name") == "Kari Nordmann"
    assert not house.outbox.to(email)


def test_after_too_many_wrong_codes_the_page_says_how_to_go_on(house, window):
    email = house.address()
    house.sign_up(window, email, house.password())
    code = house.outbox.wait_for(email).code
    for number in range(1, 6):
        window.form("code").fill(code=f"{(int(code) + number) % 1_000_000:06}").submit()
    window.expect_message("linkGone")
    assert not house.is_signed_in(window)
