"""Auth0's own SDK for Python, given our domain in the place of one of Auth0's."""

import jwt
import pytest
from auth0.authentication import GetToken, RevokeToken, Users
from auth0.authentication.exceptions import Auth0Error

from harness.browser import Browser
from harness.spindle import PKCE, Spindle
from harness.world import World

BACK = "com.example.app://login.example.com/ios/com.example.App/callback"
SCOPE = "openid profile email offline_access"
GRANTS = ["authorization_code", "refresh_token"]


@pytest.fixture(scope="module")
def spindle(prepare) -> Spindle:
    """Auth0's SDKs expect an issuer with a slash at its end."""
    server = prepare()
    server.settings["SPINDLE_ISSUER"] = server.address.origin + "/"
    server.init()
    server.start()
    return Spindle(server.address, server.admin)


@pytest.fixture(scope="module")
def world(spindle) -> World:
    return World.create(spindle)


def domain(spindle: Spindle) -> str:
    return f"{spindle.address.host}:{spindle.address.port}"


def code(world: World, client, pkce: PKCE | None = None) -> str:
    """As the SDKs for phones ask for it."""
    browser = Browser(world.spindle)
    path = world.spindle.authorize_path(
        client, pkce, scope=SCOPE, state="s", audience=f"{world.spindle.origin}/userinfo", auth0Client="e30",
    ).removeprefix("/oauth")
    page = browser.sign_in(browser.open(path), world.person)
    assert page.left_for.startswith(client.redirect_uri + "?"), page.answer
    return page.query["code"]


def verified(spindle: Spindle, token: str, client_id: str) -> dict:
    """By the rules of Auth0's SDKs: RS256, a `kid` in the set at Auth0's place, and these claims."""
    key = jwt.PyJWKClient(spindle.origin + "/.well-known/jwks.json").get_signing_key_from_jwt(token)
    return jwt.decode(
        token, key.key, ["RS256"], audience=client_id, issuer=spindle.origin + "/",
        options={"require": ["iss", "sub", "aud", "exp", "iat"]},
    )


def test_auth0_python_signs_in_a_public_app(world):
    spindle = world.spindle
    client = spindle.create_client(
        world.merchant, "App", BACK, token_endpoint_auth_method="none", grant_types=GRANTS, scope=SCOPE,
        id_token_scope_claims=True,
    )
    pkce, sdk = PKCE(), GetToken(domain(spindle), client.id, protocol="http")
    told = sdk.authorization_code_pkce(pkce.verifier, code(world, client, pkce), BACK)
    claims = verified(spindle, told["id_token"], client.id)
    assert claims["sub"] == world.person.id
    # What the SDKs show as the user's profile is in the ID token.
    assert (claims["email"], claims["email_verified"], claims["name"]) == (world.person.email, True, "Kari Nordmann")
    users = Users(domain(spindle), protocol="http")
    assert users.userinfo(told["access_token"])["email"] == world.person.email

    again = sdk.refresh_token(told["refresh_token"])
    assert again["refresh_token"] not in (None, told["refresh_token"])
    assert verified(spindle, again["id_token"], client.id)["sub"] == world.person.id
    assert isinstance(again["expires_in"], int)

    RevokeToken(domain(spindle), client.id, protocol="http").revoke_refresh_token(again["refresh_token"])
    with pytest.raises(Auth0Error) as refused:
        sdk.refresh_token(again["refresh_token"])
    assert (refused.value.status_code, refused.value.error_code) == (400, "invalid_grant") and refused.value.message
    with pytest.raises(Auth0Error):
        users.userinfo(again["access_token"])


def test_auth0_python_signs_in_a_confidential_backend(world):
    spindle = world.spindle
    # Auth0's SDK for backends sends no `code_challenge`.
    client = spindle.create_client(
        world.merchant, "Backend", "https://backend.example/back", scope=SCOPE, require_pkce=False,
        grant_types=[*GRANTS, "client_credentials", "password"],
    )
    sdk = GetToken(domain(spindle), client.id, client.secret, protocol="http")
    told = sdk.authorization_code(code(world, client), client.redirect_uri)
    assert verified(spindle, told["id_token"], client.id)["sub"] == world.person.id
    assert sdk.client_credentials(f"{spindle.origin}/userinfo")["access_token"]
    # `grant_type` is given, because the SDK's default for it is Auth0's alone.
    person = (world.person.email, world.person.password)
    assert sdk.login(*person, scope="openid", grant_type="password")["id_token"]
    for grant, error in (("password", "invalid_grant"), (None, "unsupported_grant_type")):
        with pytest.raises(Auth0Error) as refused:
            sdk.login(person[0], "wrong", scope="openid", **({"grant_type": grant} if grant else {}))
        assert refused.value.error_code == error
