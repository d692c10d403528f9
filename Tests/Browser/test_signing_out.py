"""Signing out: from Spindle's page, from an app, and only when the user means it."""

from urllib.parse import urlencode

import pytest


@pytest.mark.every_way
def test_signing_out_ends_the_session(world, window):
    world.sign_in(window, world.person(), remember=True)
    window.open("/logout")
    window.look("sign out")
    window.form(action="/logout").submit()
    window.look("signed out")
    assert not window.cookie("session")
    assert not world.is_signed_in(window)


def test_a_logout_with_an_id_token_hint_returns_at_once(world, window):
    world.sign_in(window, world.person())
    flow = world.flow()
    world.meet(window, flow)
    token = flow.tokens(window)["access_token"]
    query = urlencode({"oauth_token": token, "post_logout_redirect_uri": world.app.goodbye, "state": "s t&te"})
    window.open(f"/logout?{query}")
    assert window.url.startswith(world.app.goodbye), window
    assert world.app.requests[-1].values["state"] == "s t&te"
    assert not world.is_signed_in(window)


@pytest.mark.every_way
def test_a_logout_returns_to_registered_addresses_only(world, window):
    world.sign_in(window, world.person())
    query = urlencode({"client_id": world.own.id, "post_logout_redirect_uri": "https://elsewhere.example/"})
    window.open(f"/logout?{query}")
    assert window.is_at_home
    window.form(action="/logout").submit()
    assert window.is_at_home, window
    assert not world.is_signed_in(window)


def test_a_logout_without_an_id_token_asks_first_and_returns_to_the_app(world, window):
    world.sign_in(window, world.person())
    query = urlencode({"client_id": world.own.id, "post_logout_redirect_uri": world.app.goodbye, "state": "s"})
    window.open(f"/logout?{query}")
    window.form(action="/logout").submit()
    assert window.url.startswith(world.app.goodbye), window
    assert not world.is_signed_in(window)


@pytest.mark.every_way
def test_a_page_reached_by_the_back_button_after_a_logout_changes_nothing(world, window):
    person = world.person()
    world.sign_in(window, person, "/login?continue=/account")
    window.form(action="/logout").submit()
    # A browser may keep the page, whatever Cache-Control says; the server no longer accepts its forms.
    window.back()
    if not window.has('form[action="/login"]'):
        window.form(action="/account/profile").fill(name="Somebody else").submit()
        assert window.has('form[action="/login"]') or window.has('main a[href^="/login"]'), window
    world.sign_in(window, person, "/login?continue=/account")
    assert window.form(action="/account/profile").value("name") == "Kari Nordmann"


def test_signing_out_twice_succeeds(world, window):
    world.sign_in(window, world.person())
    window.open("/logout")
    with window.tab() as tab:
        tab.open("/logout")
        tab.form(action="/logout").submit()
    window.form(action="/logout").submit()
    window.expect("signedOut.title", look="signed out")
