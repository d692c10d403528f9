"""Logout by OpenID Connect and by Auth0's SDKs, and tokens in the fragment."""

from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest

TITLE = "logout.title"


def sign_in(world, window, client=None, **parameters):
    """The ID token that an app got for a user who signed in."""
    person, flow = world.person(), world.flow(client, **parameters)
    world.sign_in(window, person, flow.path)
    return person, flow.tokens(window)["id_token"]


def end(world, window, path="/logout", **parameters):
    window.open(f"{path}?{urlencode(parameters)}")


def is_back(world, window, state):
    """Whether the browser is at the address that the app returns to after a logout, with the state the app sent."""
    return window.url == f"{world.app.goodbye}?state={quote(state)}"


@pytest.mark.every_way
@pytest.mark.parametrize("path", ["/logout", "/v2/logout"])
def test_a_logout_with_an_id_token_is_not_asked_about(world, window, path):
    _, token = sign_in(world, window)
    end(world, window, path, id_token_hint=token, post_logout_redirect_uri=world.app.goodbye, state="s t&te")
    assert is_back(world, window, "s t&te"), window
    assert not world.is_signed_in(window)


def go(window, page, path, **parameters):
    """Opens `address` as a link on `page` would."""
    window.open(page)
    with window.navigation():
        address = f"{window.origin}{path}?{urlencode(parameters)}"
        window.driver.execute_script("location.assign(arguments[0])", address)


def auth0(world):
    return {"client_id": world.own.id, "returnTo": world.app.goodbye, "auth0Client": "e30=", "federated": ""}


@pytest.mark.every_way
def test_auth0s_logout_returns_at_once_when_an_app_opens_it(world, window):
    """Auth0's SDKs send no ID token: the client's tokens of this session show whose logout it is."""
    sign_in(world, window)
    end(world, window, "/v2/logout", **auth0(world))
    assert window.url == world.app.goodbye, window
    assert not world.is_signed_in(window)


def test_auth0s_logout_returns_at_once_from_the_clients_page(world, window):
    sign_in(world, window)
    go(window, world.app.callback, "/v2/logout", **auth0(world))
    assert window.url == world.app.goodbye, window
    assert not world.is_signed_in(window)


def test_auth0s_logout_asks_and_returns_from_any_other_page(world, window, attacker):
    sign_in(world, window)
    go(window, attacker.lure("/"), "/v2/logout", **auth0(world))
    assert window.is_at_home
    assert world.is_signed_in(window)
    go(window, attacker.lure("/"), "/v2/logout", **auth0(world))
    window.expect(TITLE, look="an app asks to sign out")
    window.form(action="/logout").submit()
    assert window.url == world.app.goodbye, window
    assert not world.is_signed_in(window)


def test_declining_the_logout_keeps_the_session(world, window):
    sign_in(world, window)
    end(world, window, client_id=world.own.id, redirect_uri=world.app.goodbye)
    window.expect(TITLE)
    assert world.is_signed_in(window)


def test_a_logout_without_a_session_returns_too(world, window):
    _, token = sign_in(world, window)
    for _ in range(2):
        end(world, window, id_token_hint=token, post_logout_redirect_uri=world.app.goodbye, state="s")
        assert is_back(world, window, "s"), window


def test_a_logout_with_another_users_token_asks_first(world, window, another):
    _, theirs = sign_in(world, another())
    sign_in(world, window)
    end(world, window, id_token_hint=theirs, post_logout_redirect_uri=world.app.goodbye, state="s")
    window.expect(TITLE)
    assert world.is_signed_in(window)


@pytest.mark.parametrize("wrong", [
    {"post_logout_redirect_uri": "https://elsewhere.example/"},
    {"post_logout_redirect_uri": "altered"},
    {"id_token_hint": "altered"},
    {"client_id": "of another"},
])
def test_a_logout_with_an_altered_request_stays_at_the_server(world, window, wrong):
    _, token = sign_in(world, window)
    values = {"id_token_hint": token, "post_logout_redirect_uri": world.app.goodbye, "state": "s"} | wrong
    if wrong.get("post_logout_redirect_uri") == "altered":
        values["post_logout_redirect_uri"] = world.app.goodbye + "/more"
    if "id_token_hint" in wrong:
        values["id_token_hint"] = token[:-8] + "AAAAAAAA"
    if "client_id" in wrong:
        values["client_id"] = world.partner.id
    end(world, window, **values)
    assert window.is_at_home
    window.expect(TITLE)
    assert world.is_signed_in(window)
    end(world, window, **values)
    window.form(action="/logout").submit()
    assert window.is_at_home, window
    window.expect("signedOut.title")


def test_an_apps_logout_form_works_like_its_link(world, window, attacker):
    """The form comes from another origin; its parameters show whose logout it is."""
    _, token = sign_in(world, window)
    fields = {"id_token_hint": token, "post_logout_redirect_uri": world.app.goodbye, "state": "s"}
    window.open(attacker.lure(world.spindle.origin + "/logout", **fields))
    window.follow("button")
    assert is_back(world, window, "s"), window
    assert not world.is_signed_in(window)


@pytest.mark.parametrize("response_type", ["id_token", "id_token token", "code id_token token"])
def test_tokens_in_the_fragment_never_reach_the_server(world, window, response_type):
    types = {"response_types": [response_type], "grant_types": ["authorization_code", "implicit", "refresh_token"]}
    client = world.spindle.create_client(
        world.merchant, "Kartet", world.app.callback, scope="openid email profile", **types)
    person, flow = world.person(), world.flow(client, response_type=response_type, nonce="n")
    world.sign_in(window, person, flow.path)
    told = flow.answer(window)
    assert told == dict(parse_qsl(urlsplit(window.url).fragment))
    assert told["id_token"] and ("code" in told) == ("code" in response_type) and "refresh_token" not in told
    if "token" in response_type.split():
        assert told["token_type"] == "Bearer" and int(told["expires_in"]) > 0
        known = world.spindle.good("GET", "/oauth/userinfo", bearer=told["access_token"])
        assert (known["sub"], known["email"]) == (person.id, person.email)
    # The app's server has seen none of it.
    assert world.app.requests[-1].values == {}
