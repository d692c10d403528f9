"""Web views: a phone's token buys a browser session, from which an app gets its code without a question."""

import pytest


def session_link(world, person) -> str:
    token = world.spindle.password(world.phone, person)["access_token"]
    return f"/auth/session/{world.spindle.code(token, world.own, 'session')}"


@pytest.mark.every_way
def test_a_webview_is_signed_in_by_the_token_of_its_phone(world, window):
    person = world.person()
    link = session_link(world, person)
    window.open(link)
    assert window.url == world.app.callback, window
    silent = world.flow(prompt="none")
    window.open(silent.path)
    assert silent.person(window)["sub"] == person.id

    window.open(link)
    window.expect_message("sessionLinkGone")
    window.open("/login")
    assert person.email in window.text, "the session itself is unharmed"


def test_a_webview_with_another_user_is_asked_before_it_switches(world, window):
    first, second = world.person(), world.person()
    world.sign_in(window, first)
    window.open(session_link(world, second))
    window.look("switch account")
    assert first.email in window.text and second.email in window.text
    window.press("decision", "allow")
    assert window.url == world.app.callback
    window.open("/login")
    assert second.email in window.text


def test_a_user_who_declines_the_switch_keeps_the_session(world, window):
    first, second = world.person(), world.person()
    world.sign_in(window, first)
    window.open(session_link(world, second))
    window.press("decision", "deny")
    window.open("/login")
    assert first.email in window.text


def test_a_session_that_was_bought_does_not_open_the_account_page(world, window):
    person = world.person()
    window.open(session_link(world, person))
    window.open("/account")
    assert window.has('[name="password"]'), window
    window.form("password").fill(email=person.email, password=person.password).submit()
    assert window.path == "/account" and person.email in window.text


def test_prompt_none_without_a_session_returns_an_error_to_the_app(world, window):
    flow = world.flow(prompt="none")
    window.open(flow.path)
    assert flow.answer(window)["error"] == "login_required"


@pytest.mark.every_way
def test_a_forged_session_link_does_not_sign_in(world, window):
    window.open("/auth/session/0123456789abcdefghijklmnopqrstuvwxyzABCDEFG")
    window.expect_message("sessionLinkUnknown")
    assert not world.is_signed_in(window)
