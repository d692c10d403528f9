"""Several users of one browser: choosing who continues, and signing out all of them."""

import pytest


@pytest.mark.every_way
def test_a_signed_in_user_continues_without_a_password(world, window):
    person = world.person()
    world.sign_in(window, person)
    world.meet(window, world.flow())
    flow = world.flow(prompt="select_account")
    window.open(flow.path)
    window.expect("pick.title", look="who goes on")
    assert person.email in window.text and not window.has('input[type="password"]')
    window.follow('button[name="session"]')
    assert flow.person(window)["sub"] == person.id


@pytest.mark.every_way
def test_two_users_of_a_browser_are_signed_out_together(world, window):
    first, second = world.person(), world.person()
    world.sign_in(window, first)
    world.meet(window, world.flow())
    flow = world.flow(prompt="select_account")
    window.open(flow.path)
    window.press("decision", "another")
    window.form("password").fill(email=second.email, password=second.password).submit()
    assert flow.person(window)["sub"] == second.id

    back = world.flow(prompt="select_account")
    window.open(back.path)
    window.look("who goes on, of two")
    theirs, hers = window.find_all('button[name="session"]')
    assert second.email in theirs.text and first.email in hers.text
    with window.navigation():
        hers.click()
    assert back.person(window)["sub"] == first.id

    window.open("/logout")
    window.form(action="/logout").submit()
    assert not window.cookie("session") and not window.cookie("others")
    window.open(world.flow(prompt="select_account").path)
    assert window.has('input[type="password"]'), "no user is left"


def test_cancelling_the_choice_of_a_user_returns_to_the_app(world, window):
    world.sign_in(window, world.person())
    flow = world.flow(prompt="select_account")
    window.open(flow.path)
    window.press("decision", "cancel")
    assert flow.answer(window)["error"] == "access_denied"
