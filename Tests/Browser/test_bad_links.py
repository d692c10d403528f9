"""Links that are forged, used, or stolen."""

from urllib.parse import quote

import pytest

FORGED = {
    "sign-up": "/signup/confirm/{}", "new password": "/password/reset/{}", "session": "/auth/session/{}",
    "session of the guide": "/session/{}",
}
SECRETS = [
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFG", "x", "%F0%9F%92%A3", "a" * 4000, "a%00b",
    "%3Cscript%3Ealert(1)%3C%2Fscript%3E", "%FF%FE",
]


@pytest.mark.parametrize("link", FORGED.values(), ids=FORGED)
def test_a_forged_link_is_reported_as_unknown(world, window, link):
    for secret in SECRETS:
        window.open(link.format(secret))
        window.expect_message("linkUnknown", "sessionLinkUnknown")
        assert not window.cookie("session")


@pytest.mark.every_way
def test_a_sign_up_link_works_once(world, window):
    email = world.address()
    world.sign_up(window, email, world.password())
    link = world.outbox.wait_for(email).link
    window.open(link)
    window.form(action=window.path).submit()
    assert world.is_signed_in(window)
    window.open(link)
    window.expect_message("linkGone")


@pytest.mark.every_way
def test_a_sign_up_link_opened_in_another_browser_still_works_in_the_first(world, window, another):
    email, password = world.address(), world.password()
    world.sign_up(window, email, password)
    link = world.outbox.wait_for(email).link
    elsewhere = another(window.kind, window.width)
    elsewhere.open(link)
    elsewhere.form("password").fill(password="password1").submit()
    assert elsewhere.has('[role="alert"]')
    assert not world.is_signed_in(elsewhere)
    window.open(link)
    window.form(action=window.path).submit()
    assert world.is_signed_in(window), "and is still good for who signed up"


def test_a_stolen_code_is_refused_in_another_browser(world, window, another):
    person = world.person()
    window.open("/login")
    window.form("password").fill(email=person.email).submit('button[formaction="/login/code"]')
    verification = window.find('[name="verification"]').get_property("value")
    code = world.outbox.wait_for(person.email).code
    thief = another()
    thief.open("/login")
    thief.form("password").fill(email=world.address()).submit('button[formaction="/login/code"]')
    thief.form("code").fill(code=code).forge("verification", verification).submit()
    thief.look("code stolen")
    assert not world.is_signed_in(thief)
    window.form("code").fill(code=code).submit()
    assert world.is_signed_in(window)


def test_a_stolen_sign_up_code_is_refused_in_another_browser(world, window, another):
    email = world.address()
    world.sign_up(window, email, world.password())
    verification = window.find('[name="verification"]').get_property("value")
    code = world.outbox.wait_for(email).code
    thief = another()
    world.sign_up(thief, world.address(), world.password())
    thief.form("code").fill(code=code).forge("verification", verification).submit()
    assert not world.is_signed_in(thief)
    window.form("code").fill(code=code).submit()
    assert world.is_signed_in(window)


def test_a_session_link_that_was_already_opened_is_refused(world, window, another):
    token = world.spindle.password(world.phone, world.person())["access_token"]
    link = f"/auth/session/{world.spindle.code(token, world.own, 'session')}"
    another().open(link)
    window.open(link)
    window.expect_message("sessionLinkGone")
    assert not world.is_signed_in(window)


def test_a_session_link_in_a_frame_is_not_spent(world, window, attacker):
    token = world.spindle.password(world.phone, world.person())["access_token"]
    link = f"/auth/session/{world.spindle.code(token, world.own, 'session')}"
    window.open(attacker.lure("/"))
    with window.frame(world.spindle.origin + link):
        assert not window.cookie("session")
    window.open(link)
    assert window.url == world.app.callback, window


@pytest.mark.parametrize("onward", ["https://elsewhere.example/", "//elsewhere.example/", "/\\elsewhere.example",
                                    "javascript:alert(1)", "/account/../logout"])
def test_a_link_to_the_login_page_cannot_lead_to_another_site(world, window, onward):
    person = world.person()
    world.sign_in(window, person, f"/login?continue={quote(onward, safe='')}")
    assert window.is_at_home, window
    assert world.is_signed_in(window)
