"""Signing in with another issuer: a second Spindle, to which the first sends its users."""

import pytest

from stage.world import SCOPE


@pytest.fixture(scope="session")
def there(build):
    return build()


@pytest.fixture(scope="session")
def here(build, there):
    """Under another name of this machine: cookies tell hosts apart, not ports."""
    world = build(host="localhost", SPINDLE_OUTBOUND_ALLOW_PRIVATE="127.0.0.0/8")
    origin = there.spindle.origin
    issuer = world.spindle.create_issuer(
        merchant_id=world.merchant, issuer=origin, discovery_url=f"{origin}/.well-known/openid-configuration",
        create_users=True,
    )
    client = there.spindle.create_client(
        there.merchant, "Leselampa's world", f"{world.spindle.origin}/login/with/{issuer['id']}/callback",
        grant_types=["authorization_code"], scope=SCOPE,
    )
    changed = world.spindle.administer(
        "PATCH", f"issuers/{issuer['id']}",
        {"client_id": client.id, "client_secret": client.secret, "sign_in_name": "Mølla & Co"},
    )
    assert changed.status == 200, changed
    return world


@pytest.fixture
def window(window, here):
    window.origin = here.spindle.origin
    return window


WAY = 'a[href^="/login/with/"]'


def forget(window):
    """Takes the cookies of this server, and leaves those of the other."""
    window.open("/login")
    window.driver.delete_all_cookies()


@pytest.mark.every_way
def test_a_user_signs_in_at_another_issuer_and_returns_to_the_app(here, there, window):
    person, flow = there.person(), here.flow()
    window.open(flow.path)
    window.expect("login.with", look="login with others")
    window.follow(WAY)
    assert window.url.startswith(there.spindle.origin), window
    window.form("password").fill(email=person.email, password=person.password).submit()
    first = flow.person(window)["sub"]

    forget(window)
    again = here.flow()
    window.open(again.path)
    window.follow(WAY)
    assert again.person(window)["sub"] == first, "a user who is signed in there is not asked"


@pytest.mark.every_way
def test_cancelling_at_another_issuer_returns_to_the_sign_in_page(here, there, window):
    window.open(here.flow().path)
    window.follow(WAY)
    window.press("decision", "cancel")
    window.expect_message("upstreamDeclined")
    window.follow('main a[href^="/login?continue="]')
    window.expect("login.with", look="login with others")


@pytest.mark.every_way
def test_reloading_an_issuers_answer_does_not_sign_in_again(here, there, window):
    person, flow = there.person(), here.flow()
    window.open(flow.path)
    window.follow(WAY)
    window.form("password").fill(email=person.email, password=person.password).submit()
    flow.answer(window)
    window.open(here.flow(prompt="select_account").path)
    window.press("decision", "another")
    way = window.find(WAY).get_attribute("href")
    window.driver.get(way.split("?")[0] + "/callback?code=a&state=b")
    window.expect_message("upstreamGone")


def test_the_sign_up_page_has_the_issuers_buttons_too(here, window):
    window.open(here.flow(prompt="create").path)
    window.expect("signUp.with", look="sign up with others")


@pytest.mark.every_way
def test_a_user_connects_another_issuer(here, there, window):
    person, other, flow = here.person(), there.person(), here.flow()
    here.sign_in(window, person, flow.path)
    flow.tokens(window)
    window.open("/account")
    window.look("account with ways to connect")
    window.form(action="/account/links/connect").submit()
    assert window.url.startswith(there.spindle.origin), window
    window.form("password").fill(email=other.email, password=other.password).submit()
    assert window.path == "/account", window
    window.expect("account.notice.linkAdded", look="account connected")
    assert "Mølla & Co" in here.outbox.wait_for(person.email).text

    forget(window)
    again = here.flow()
    window.open(again.path)
    window.follow(WAY)
    assert again.person(window)["sub"] == person.id
