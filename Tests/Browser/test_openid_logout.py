"""An app signs its people out as OpenID Connect and Auth0's SDKs have it; and gets its tokens in the fragment."""

from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest

TITLE = "logout.title"


def sign_in(house, window, client=None, **parameters):
    """The ID token that an app got for somebody who signed in."""
    person, errand = house.person(), house.errand(client, **parameters)
    house.sign_in(window, person, errand.path)
    return person, errand.tokens(window)["id_token"]


def end(house, window, path="/logout", **parameters):
    window.open(f"{path}?{urlencode(parameters)}")


def is_back(house, window, state):
    """Whether the browser is at the app's farewell, with the state the app sent."""
    return window.url == f"{house.app.goodbye}?state={quote(state)}"


@pytest.mark.every_way
@pytest.mark.parametrize("path", ["/logout", "/v2/logout"])
def test_a_logout_with_an_id_token_is_not_asked_about(house, window, path):
    _, token = sign_in(house, window)
    end(house, window, path, id_token_hint=token, post_logout_redirect_uri=house.app.goodbye, state="s t&te")
    assert is_back(house, window, "s t&te"), window
    assert not house.is_signed_in(window)


@pytest.mark.every_way
def test_auth0s_logout_asks_and_returns(house, window):
    """They send no ID token: any page could send the same."""
    sign_in(house, window)
    values = {"client_id": house.own.id, "returnTo": house.app.goodbye, "auth0Client": "e30=", "federated": ""}
    end(house, window, "/v2/logout", **values)
    assert window.is_at_home
    window.expect(TITLE, look="an app asks to sign out")
    window.form(action="/logout").submit()
    assert window.url == house.app.goodbye, window
    assert not house.is_signed_in(window)


def test_declining_the_logout_keeps_the_session(house, window):
    sign_in(house, window)
    end(house, window, "/v2/logout", client_id=house.own.id, returnTo=house.app.goodbye)
    window.expect(TITLE)
    assert house.is_signed_in(window)


def test_a_logout_without_a_session_returns_too(house, window):
    _, token = sign_in(house, window)
    for _ in range(2):
        end(house, window, id_token_hint=token, post_logout_redirect_uri=house.app.goodbye, state="s")
        assert is_back(house, window, "s"), window


def test_a_logout_with_another_users_token_asks_first(house, window, another):
    _, theirs = sign_in(house, another())
    sign_in(house, window)
    end(house, window, id_token_hint=theirs, post_logout_redirect_uri=house.app.goodbye, state="s")
    window.expect(TITLE)
    assert house.is_signed_in(window)


@pytest.mark.parametrize("wrong", [
    {"post_logout_redirect_uri": "https://elsewhere.example/"},
    {"post_logout_redirect_uri": "altered"},
    {"id_token_hint": "altered"},
    {"client_id": "of another"},
])
def test_an_altered_id_token_hint_leads_nowhere(house, window, wrong):
    _, token = sign_in(house, window)
    values = {"id_token_hint": token, "post_logout_redirect_uri": house.app.goodbye, "state": "s"} | wrong
    if wrong.get("post_logout_redirect_uri") == "altered":
        values["post_logout_redirect_uri"] = house.app.goodbye + "/more"
    if "id_token_hint" in wrong:
        values["id_token_hint"] = token[:-8] + "AAAAAAAA"
    if "client_id" in wrong:
        values["client_id"] = house.partner.id
    end(house, window, **values)
    assert window.is_at_home
    window.expect(TITLE)
    assert house.is_signed_in(window)
    end(house, window, **values)
    window.form(action="/logout").submit()
    assert window.is_at_home, window
    window.expect("signedOut.title")


def test_an_apps_logout_form_works_like_its_link(house, window, attacker):
    """The form comes from another origin; what it carries says whose wish it is."""
    _, token = sign_in(house, window)
    fields = {"id_token_hint": token, "post_logout_redirect_uri": house.app.goodbye, "state": "s"}
    window.open(attacker.lure(house.spindle.origin + "/logout", **fields))
    window.follow("button")
    assert is_back(house, window, "s"), window
    assert not house.is_signed_in(window)


@pytest.mark.parametrize("response_type", ["id_token", "id_token token", "code id_token token"])
def test_tokens_in_the_fragment_never_reach_the_server(house, window, response_type):
    types = {"response_types": [response_type], "grant_types": ["authorization_code", "implicit", "refresh_token"]}
    client = house.spindle.create_client(
        house.merchant, "Kartet", house.app.callback, scope="openid email profile", **types)
    person, errand = house.person(), house.errand(client, response_type=response_type, nonce="n")
    house.sign_in(window, person, errand.path)
    told = errand.answer(window)
    assert told == dict(parse_qsl(urlsplit(window.url).fragment))
    assert told["id_token"] and ("code" in told) == ("code" in response_type) and "refresh_token" not in told
    if "token" in response_type.split():
        assert told["token_type"] == "Bearer" and int(told["expires_in"]) > 0
        known = house.spindle.good("GET", "/oauth/userinfo", bearer=told["access_token"])
        assert (known["sub"], known["email"]) == (person.id, person.email)
    # What the app's server saw of it is nothing.
    assert house.app.visits[-1].values == {}
