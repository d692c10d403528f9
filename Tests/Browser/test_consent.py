"""Consent: asked for scope by scope, remembered, and taken back."""

import pytest
from harness.spindle import Client


@pytest.fixture
def flow(world, window):
    """A partner's app sends a signed-in user; the consent page is shown."""
    world.sign_in(window, world.person())
    flow = world.flow(world.partner)
    window.open(flow.path)
    window.look("consent")
    return flow


@pytest.mark.every_way
def test_consent_is_remembered_until_it_is_revoked(world, window, flow):
    assert "Word & Partner" in window.text
    window.press("decision", "allow")
    assert set(flow.tokens(window)["scope"].split()) == {"openid", "email", "profile"}
    again = world.flow(world.partner)
    token = again.tokens(window.open(again.path))["access_token"]

    window.open("/account")
    assert "Word & Partner" in window.text
    window.look("account with an app")
    window.form(action="/account/apps/revoke").submit()
    assert "Word & Partner" not in window.text or window.says("notice.appRevoked")
    window.look("account app revoked")
    assert world.spindle.me(token).status == 401
    once_more = world.flow(world.partner)
    window.open(once_more.path)
    assert window.has('button[name="decision"][value="allow"]'), "and is asked for again"


@pytest.mark.every_way
def test_a_scope_that_is_not_ticked_is_not_granted(world, window, flow):
    window.find('input[name="scope"][value="email"]').click()
    window.press("decision", "allow")
    tokens = flow.tokens(window)
    assert set(tokens["scope"].split()) == {"openid", "profile"}
    assert "email" not in world.spindle.good("GET", "/me", bearer=tokens["access_token"])


@pytest.mark.every_way
def test_a_single_claim_that_is_not_ticked_is_withheld(world, window):
    world.sign_in(window, world.person())
    claims = '{"userinfo": {"email": {"essential": true}, "name": null}}'
    flow = world.flow(world.partner, scope="openid", claims=claims)
    window.open(flow.path)
    window.look("consent to single claims")
    window.find('input[name="scope"][value="claim:email"]').click()
    window.press("decision", "allow")
    token = flow.tokens(window)["access_token"]
    assert "email" not in world.spindle.good("GET", "/oauth/userinfo", bearer=token)


@pytest.mark.every_way
def test_a_denial_returns_to_the_app_and_grants_nothing(world, window, flow):
    window.press("decision", "deny")
    assert flow.answer(window)["error"] == "access_denied"
    window.open("/account")
    assert "Word & Partner" not in window.text


@pytest.mark.every_way
def test_another_user_signs_in_from_the_consent_page_and_is_asked_the_same(world, window, flow):
    other = world.person()
    window.follow('p a[href*="select_account"]')
    window.press("decision", "another")
    form = window.form("password")
    assert form.field("email").get_property("value") == ""
    window.look("login as another user")
    form.fill(email=other.email, password=other.password).submit()
    assert other.email in window.text
    window.press("decision", "allow")
    assert flow.person(window)["sub"] == other.id


@pytest.mark.every_way
def test_an_app_that_registered_itself_is_not_shown_as_the_merchants(world, window):
    made = world.spindle.administer("POST", "initial-access-tokens", {"merchant_id": world.merchant})
    told = world.spindle.good(
        "POST", "/oauth/register", 201, bearer=made.json["initial_access_token"],
        content={"client_name": "Found on the Web", "redirect_uris": [world.app.callback]},
    )
    client = Client(told["client_id"], told["client_secret"], world.app.callback)
    world.sign_in(window, world.person())
    flow = world.flow(client)
    window.open(flow.path)
    window.expect("consent.selfRegistered", "consent for a stranger")
    assert "Found on the Web" in window.text and "Bokhandel" not in window.text
    window.press("decision", "allow")
    assert "openid" in flow.tokens(window)["scope"]
    window.open("/account")
    assert "Found on the Web" in window.text and "Bokhandel" not in window.text


def test_a_first_party_app_needs_no_consent_unless_it_requests_it(world, window):
    world.sign_in(window, world.person())
    first = world.flow()
    world.meet(window, first)
    assert first.tokens(window)
    flow = world.flow()
    assert flow.tokens(window.open(flow.path))
    asking = world.flow(prompt="consent")
    window.open(asking.path)
    window.press("decision", "allow")
    assert asking.tokens(window)


def test_a_decision_that_is_sent_twice_changes_nothing(world, window, flow):
    window.press("decision", "deny")
    flow.answer(window)
    window.back()
    window.press("decision", "deny")
    assert flow.answer(window)["error"] == "access_denied"


@pytest.mark.every_way
def test_a_consent_form_with_nothing_ticked_is_asked_again(world, window):
    world.sign_in(window, world.person())
    flow = world.flow(world.partner, scope="email profile")
    window.open(flow.path)
    for scope in ("email", "profile"):
        window.find(f'input[name="scope"][value="{scope}"]').click()
    window.press("decision", "allow")
    window.expect("refusal.nothingAllowed", look="consent nothing allowed")
    window.press("decision", "deny")
    assert flow.answer(window)["error"] == "access_denied"
