"""Consent: asked for scope by scope, remembered, and taken back."""

import pytest
from harness.spindle import Client


@pytest.fixture
def errand(house, window):
    """A partner's app sends somebody who is signed in; the question is on the screen."""
    house.sign_in(window, house.person())
    errand = house.errand(house.partner)
    window.open(errand.path)
    window.look("consent")
    return errand


@pytest.mark.every_way
def test_consent_is_remembered_until_it_is_revoked(house, window, errand):
    assert "Word & Partner" in window.text
    window.press("decision", "allow")
    assert set(errand.tokens(window)["scope"].split()) == {"openid", "email", "profile"}
    again = house.errand(house.partner)
    token = again.tokens(window.open(again.path))["access_token"]

    window.open("/account")
    assert "Word & Partner" in window.text
    window.look("account with an app")
    window.form(action="/account/apps/revoke").submit()
    assert "Word & Partner" not in window.text or window.says("notice.appRevoked")
    window.look("account app revoked")
    assert house.spindle.me(token).status == 401
    once_more = house.errand(house.partner)
    window.open(once_more.path)
    assert window.has('button[name="decision"][value="allow"]'), "and is asked for again"


@pytest.mark.every_way
def test_a_scope_that_is_not_ticked_is_not_granted(house, window, errand):
    window.find('input[name="scope"][value="email"]').click()
    window.press("decision", "allow")
    tokens = errand.tokens(window)
    assert set(tokens["scope"].split()) == {"openid", "profile"}
    assert "email" not in house.spindle.good("GET", "/me", bearer=tokens["access_token"])


@pytest.mark.every_way
def test_a_denial_returns_to_the_app_and_grants_nothing(house, window, errand):
    window.press("decision", "deny")
    assert errand.answer(window)["error"] == "access_denied"
    window.open("/account")
    assert "Word & Partner" not in window.text


@pytest.mark.every_way
def test_another_user_signs_in_from_the_consent_page_and_is_asked_the_same(house, window, errand):
    other = house.person()
    window.follow('p a[href*="select_account"]')
    form = window.form("password")
    assert form.field("email").get_property("value") == ""
    window.look("login as somebody else")
    form.fill(email=other.email, password=other.password).submit()
    assert other.email in window.text
    window.press("decision", "allow")
    assert errand.person(window)["sub"] == other.id


@pytest.mark.every_way
def test_an_app_that_registered_itself_is_not_shown_as_the_merchants(house, window):
    made = house.spindle.administer("POST", "initial-access-tokens", {"merchant_id": house.merchant})
    told = house.spindle.good(
        "POST", "/oauth/register", 201, bearer=made.json["initial_access_token"],
        content={"client_name": "Found on the Web", "redirect_uris": [house.app.callback]},
    )
    client = Client(told["client_id"], told["client_secret"], house.app.callback)
    house.sign_in(window, house.person())
    errand = house.errand(client)
    window.open(errand.path)
    window.expect("consent.stranger", "consent for a stranger")
    assert "Found on the Web" in window.text and "Bokhandel" not in window.text
    window.press("decision", "allow")
    assert "openid" in errand.tokens(window)["scope"]
    window.open("/account")
    assert "Found on the Web" in window.text and "Bokhandel" not in window.text


def test_a_first_party_app_needs_no_consent_unless_it_requests_it(house, window):
    house.sign_in(window, house.person())
    first = house.errand()
    house.meet(window, first)
    assert first.tokens(window)
    errand = house.errand()
    assert errand.tokens(window.open(errand.path))
    asking = house.errand(prompt="consent")
    window.open(asking.path)
    window.press("decision", "allow")
    assert asking.tokens(window)


def test_a_decision_that_is_sent_twice_changes_nothing(house, window, errand):
    window.press("decision", "deny")
    errand.answer(window)
    window.back()
    window.press("decision", "deny")
    assert errand.answer(window)["error"] == "access_denied"


@pytest.mark.every_way
def test_a_consent_form_with_nothing_ticked_is_asked_again(house, window):
    house.sign_in(window, house.person())
    errand = house.errand(house.partner, scope="email profile")
    window.open(errand.path)
    for scope in ("email", "profile"):
        window.find(f'input[name="scope"][value="{scope}"]').click()
    window.press("decision", "allow")
    window.expect("refusal.nothingAllowed", look="consent nothing allowed")
    window.press("decision", "deny")
    assert errand.answer(window)["error"] == "access_denied"
