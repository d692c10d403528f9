"""A forgotten password: a link by mail, once."""

import pytest


def ask(house, window, email: str) -> None:
    window.open("/login")
    window.follow('a[href^="/password"]')
    window.look("forgotten password")
    window.form("email").fill(email=email).submit()
    window.expect_message("checkMail")


@pytest.mark.every_way
def test_a_new_password_is_set_by_the_mailed_link(house, window, another):
    person, new = house.person(), house.password()
    elsewhere = another(window.kind, window.width)
    house.sign_in(elsewhere, person, remember=True)
    token = house.spindle.password(house.phone, person)["access_token"]
    ask(house, window, person.email)
    link = house.letter(window, person.email, "resetPassword").link
    window.open(link)
    window.look("new password")
    assert house.can_sign_in(person.email, person.password), "looking at a link changes nothing"
    form = window.form("password")
    window.driver.execute_script("arguments[0].removeAttribute('minlength')", form.field("password"))
    form.fill(password="short").submit()
    window.expect("refusal.weakPassword.tooShort", look="new password weak")
    window.form("password").fill(password=new).submit()
    window.look("account password reset")
    assert window.path == "/account" and person.email in window.text, "and is signed in here"
    assert not house.is_signed_in(elsewhere)
    assert house.spindle.me(token).status == 401
    assert house.can_sign_in(person.email, new) and not house.can_sign_in(person.email, person.password)
    assert house.letter(window, person.email, "passwordChanged", 2).link == f"{house.spindle.origin}/password"

    window.open(link)
    window.expect_message("linkGone")


def test_a_reset_for_an_unknown_address_looks_the_same_and_sends_nothing(house, window):
    email, person = house.address(), house.person()
    ask(house, window, email)
    ask(house, window, person.email)
    house.outbox.wait_for(person.email)
    assert not house.outbox.to(email)


def test_the_request_continues_after_a_reset(house, window):
    person, errand = house.person(), house.errand()
    window.open(errand.path)
    window.follow('a[href^="/password"]')
    window.form("email").fill(email=person.email).submit()
    window.open(house.outbox.wait_for(person.email).link)
    window.form("password").fill(password=house.password()).submit()
    assert errand.person(window)["sub"] == person.id


def test_using_a_newer_reset_link_invalidates_the_older(house, window):
    person = house.person()
    ask(house, window, person.email)
    ask(house, window, person.email)
    older, newer = (house.outbox.wait_for(person.email, count).link for count in (1, 2))
    window.open(newer)
    window.form("password").fill(password=house.password()).submit()
    window.open(older)
    window.expect_message("linkGone")
