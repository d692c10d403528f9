"""A forgotten password: a link by mail, once."""

import pytest


def ask(world, window, email: str) -> None:
    window.open("/login")
    window.follow('a[href^="/password"]')
    window.look("forgotten password")
    window.form("email").fill(email=email).submit()
    window.expect_message("checkMail")


@pytest.mark.every_way
def test_a_new_password_is_set_by_the_mailed_link(world, window, another):
    person, new = world.person(), world.password()
    elsewhere = another(window.kind, window.width)
    world.sign_in(elsewhere, person, remember=True)
    token = world.spindle.password(world.phone, person)["access_token"]
    ask(world, window, person.email)
    link = world.mail(window, person.email, "resetPassword").link
    window.open(link)
    window.look("new password")
    assert world.can_sign_in(person.email, person.password), "looking at a link changes nothing"
    form = window.form("password")
    window.driver.execute_script("arguments[0].removeAttribute('minlength')", form.field("password"))
    form.fill(password="short").submit()
    window.expect("refusal.weakPassword.tooShort", look="new password weak")
    window.form("password").fill(password=new).submit()
    window.look("account password reset")
    assert window.path == "/account" and person.email in window.text, "and is signed in here"
    assert not world.is_signed_in(elsewhere)
    assert world.spindle.me(token).status == 401
    assert world.can_sign_in(person.email, new) and not world.can_sign_in(person.email, person.password)
    assert world.mail(window, person.email, "passwordChanged", 2).link == f"{world.spindle.origin}/password"

    window.open(link)
    window.expect_message("linkGone")


def test_a_reset_for_an_unknown_address_looks_the_same_and_sends_nothing(world, window):
    email, person = world.address(), world.person()
    ask(world, window, email)
    ask(world, window, person.email)
    world.outbox.wait_for(person.email)
    assert not world.outbox.to(email)


def test_the_request_continues_after_a_reset(world, window):
    person, flow = world.person(), world.flow()
    window.open(flow.path)
    window.follow('a[href^="/password"]')
    window.form("email").fill(email=person.email).submit()
    window.open(world.outbox.wait_for(person.email).link)
    window.form("password").fill(password=world.password()).submit()
    assert flow.person(window)["sub"] == person.id


def test_using_a_newer_reset_link_invalidates_the_older(world, window):
    person = world.person()
    ask(world, window, person.email)
    ask(world, window, person.email)
    older, newer = (world.outbox.wait_for(person.email, count).link for count in (1, 2))
    window.open(newer)
    window.form("password").fill(password=world.password()).submit()
    window.open(older)
    window.expect_message("linkGone")
