"""A web site, an API and programs that use Authlib, which knows us by our discovery document alone."""

from dataclasses import dataclass
from urllib.parse import urlsplit

import flask
import pytest
from authlib.common.security import generate_token
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.flask_client import OAuth
from authlib.integrations.flask_oauth2 import ResourceProtector
from authlib.integrations.requests_client import AssertionSession, OAuth2Session
from authlib.oauth2.rfc7523 import ClientSecretJWT, PrivateKeyJWT
from authlib.oauth2.rfc9068 import JWTBearerTokenValidator
from flask.testing import FlaskClient
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet, RSAKey

from harness.browser import Browser
from harness.spindle import Person, Spindle

SCOPE = "openid profile email offline_access"
GRANTS = ["authorization_code", "refresh_token"]
KEY = RSAKey.generate_key(2048, {"kid": "site", "use": "sig", "alg": "RS256"}, private=True)
# How each kind of client is registered, and the credentials that Authlib gets.
METHODS = {
    "none": ({}, None),
    "client_secret_basic": ({}, None),
    "client_secret_post": ({}, None),
    "client_secret_jwt": ({}, ClientSecretJWT),
    "private_key_jwt": ({"jwks": {"keys": [KEY.as_dict(private=False)]}}, PrivateKeyJWT),
}


def signer_of(spindle: Spindle, method: str):
    """What signs a client's assertions, for the token endpoint wherever they are sent: Authlib's own choice would be
    the address of each request."""
    signer = METHODS[method][1]
    return signer and signer(spindle.origin + "/oauth/token")


@dataclass
class Site:
    """A web site as Authlib's guide for Flask has it, and the browser of its visitor."""

    app: flask.Flask
    oauth: OAuth
    here: FlaskClient
    browser: Browser
    person: Person

    @classmethod
    def open(cls, spindle: Spindle, registration: dict, method: str, person: Person, **options) -> "Site":
        app = flask.Flask("site")
        app.secret_key = generate_token()
        oauth = OAuth(app)
        signer = signer_of(spindle, method)
        oauth.register(
            "spindle", client_id=registration["client_id"],
            client_secret=KEY if method == "private_key_jwt" else registration.get("client_secret"),
            server_metadata_url=spindle.origin + "/.well-known/openid-configuration",
            client_auth_methods=[signer] if signer else None,
            client_kwargs={
                "scope": SCOPE, "code_challenge_method": "S256", "token_endpoint_auth_method": method, **options,
            },
        )

        @app.get("/login")
        def login():
            return oauth.spindle.authorize_redirect("https://shop.example/back", **flask.request.args)

        @app.get("/back")
        def back():
            flask.session["tokens"] = tokens = oauth.spindle.authorize_access_token()
            return {"tokens": tokens, "userinfo": oauth.spindle.userinfo(token=tokens)}

        @app.get("/logout")
        def logout():
            tokens = flask.session["tokens"]
            return oauth.spindle.logout_redirect("https://shop.example/bye", tokens["id_token"])

        @app.get("/bye")
        def bye():
            return oauth.spindle.validate_logout_response()

        return cls(app, oauth, app.test_client(), Browser(spindle), person)

    def come(self, path: str = "/login") -> dict:
        """Signs in, and returns what the site got."""
        page = self.browser.open(self.here.get(path).location)
        if any(form.password_field for form in page.forms):
            page = self.browser.sign_in(page, self.person)
        return self.arrive(page.left_for)

    def arrive(self, address: str) -> dict:
        parts = urlsplit(address)
        return self.here.get(f"{parts.path}?{parts.query}").json


@pytest.fixture
def client(world):
    """Registers a client of the site by administration."""

    def client(method: str = "client_secret_basic", **members) -> dict:
        members = {
            "token_endpoint_auth_method": method, "grant_types": GRANTS, "scope": SCOPE,
            "post_logout_redirect_uris": ["https://shop.example/bye"], **METHODS[method][0],
        } | members
        return world.spindle.create_client(world.merchant, "Shop", "https://shop.example/back", **members).registration

    return client


def session(spindle: Spindle, registration: dict, method: str = "client_secret_basic", **options) -> OAuth2Session:
    """The session of a program without a browser."""
    secret = KEY if method == "private_key_jwt" else registration.get("client_secret")
    made = OAuth2Session(
        registration["client_id"], secret, token_endpoint_auth_method=method, revocation_endpoint_auth_method=method,
        token_endpoint=spindle.origin + "/oauth/token", **options,
    )
    if signer := signer_of(spindle, method):
        made.register_client_auth_method(signer)
    return made


@pytest.mark.parametrize("method", METHODS)
def test_authlib_signs_in_refreshes_and_logs_out(world, client, method):
    spindle, registration = world.spindle, client(method)
    site = Site.open(spindle, registration, method, world.person)
    told = site.come()
    # Authlib has checked the signature, `iss`, `aud`, `azp`, `exp`, `nonce` and `at_hash`.
    tokens, known = told["tokens"], told["userinfo"]
    assert (tokens["userinfo"]["sub"], tokens["userinfo"]["iss"]) == (world.person.id, spindle.origin)
    assert (known["sub"], known["email"], known["email_verified"]) == (world.person.id, world.person.email, True)
    assert known["name"] == "Kari Nordmann"

    program = session(spindle, registration, method, scope="openid email")
    renewed = program.refresh_token(refresh_token=tokens["refresh_token"])
    assert renewed["id_token"] != tokens["id_token"] and renewed["scope"] == "openid email"
    assert (renewed["refresh_token"] == tokens["refresh_token"]) == (method != "none"), "a public client's rotates"

    if method != "none":
        held = program.introspect_token(spindle.origin + "/oauth/introspect", renewed["access_token"]).json()
        assert held["active"] and held["sub"] == world.person.id and held["scope"] == "openid email"
    done = program.revoke_token(spindle.origin + "/oauth/revoke", renewed["access_token"])
    assert done.status_code == 200
    assert spindle.call("GET", "/oauth/userinfo", bearer=renewed["access_token"]).status == 401
    program.revoke_token(spindle.origin + "/oauth/revoke", renewed["refresh_token"], "refresh_token")
    with pytest.raises(OAuthError, match="invalid_grant"):
        program.refresh_token(refresh_token=renewed["refresh_token"])

    page = site.browser.open(site.here.get("/logout").location)
    assert page.left_for.startswith("https://shop.example/bye?")
    assert site.arrive(page.left_for) == {"post_logout_redirect_uri": "https://shop.example/bye"}
    assert not site.browser.is_signed_in()


def test_a_silent_request_gets_a_code_with_a_session_and_an_error_without(world, client):
    site = Site.open(world.spindle, client(), "client_secret_basic", world.person)
    page = site.browser.open(site.here.get("/login?prompt=none").location)
    site.app.testing = True
    with pytest.raises(OAuthError, match="login_required"):
        site.arrive(page.left_for)
    site.come()
    page = site.browser.open(site.here.get("/login?prompt=none&max_age=600").location)
    told = site.arrive(page.left_for)["tokens"]["userinfo"]
    assert told["sub"] == world.person.id and isinstance(told["auth_time"], int)


def test_authlib_refuses_a_code_or_nonce_of_another_request(world, client):
    """A code of another browser's request, and an ID token with another nonce."""
    registration = client()
    site, other = (Site.open(world.spindle, registration, "client_secret_basic", world.person) for _ in range(2))
    page = site.browser.open(site.here.get("/login").location)
    page = site.browser.sign_in(page, world.person)
    other.app.testing = site.app.testing = True
    with pytest.raises(OAuthError, match="mismatching_state"):
        other.arrive(page.left_for)
    tokens = site.arrive(page.left_for)["tokens"]
    with site.app.test_request_context(), pytest.raises(JoseError, match="nonce"):
        site.oauth.spindle.parse_id_token(tokens, nonce="another")
    # The verifier belongs to the other request, and a code is for its requester only.
    page = site.browser.open(site.here.get("/login").location)
    program = session(world.spindle, registration, redirect_uri="https://shop.example/back")
    with pytest.raises(OAuthError, match="invalid_grant"):
        program.fetch_token(authorization_response=page.left_for, code_verifier=generate_token(48))


def test_a_client_registers_itself_signs_users_in_and_deletes_itself(world):
    spindle = world.spindle
    made = spindle.administer(
        "POST", "initial-access-tokens", {"merchant_id": world.merchant, "expires_in": 600}
    ).json
    installer = OAuth2Session(token={"access_token": made["initial_access_token"], "token_type": "Bearer"})
    document = {
        "client_name": "Loom", "redirect_uris": ["https://shop.example/back"], "grant_types": GRANTS, "scope": SCOPE,
        "post_logout_redirect_uris": ["https://shop.example/bye"], "token_endpoint_auth_method": "private_key_jwt",
        "jwks": {"keys": [KEY.as_dict(private=False)]},
    }
    answer = installer.post(spindle.origin + "/oauth/register", json=document)
    assert answer.status_code == 201, answer.text
    registration = answer.json()
    assert "client_secret" not in registration

    site = Site.open(spindle, registration, "private_key_jwt", spindle.create_person())
    page = site.browser.sign_in(site.browser.open(site.here.get("/login").location), site.person)
    question = next(form for form in page.forms if "decision" in form.fields)
    fields = [("scope", name) for name in SCOPE.split()] + [
        (name, value) for name, value in question.fields.items() if name not in ("scope", "decision")
    ]
    page = site.browser.open(question.action, "POST", [*fields, ("decision", "allow")])
    told = site.arrive(page.left_for)
    assert told["userinfo"]["email"] == site.person.email

    owner = OAuth2Session(token={"access_token": registration["registration_access_token"], "token_type": "Bearer"})
    place = registration["registration_client_uri"]
    assert owner.get(place).json()["client_name"] == "Loom"
    changed = owner.put(place, json=document | {"client_id": registration["client_id"], "client_name": "Loom 2"})
    assert (changed.status_code, changed.json()["client_name"]) == (200, "Loom 2")
    assert owner.delete(place).status_code == 204
    assert owner.get(place).status_code == 401
    with pytest.raises(OAuthError, match="invalid_client"):
        session(spindle, registration, "private_key_jwt").refresh_token(refresh_token=told["tokens"]["refresh_token"])


def test_an_api_verifies_jwt_access_tokens_by_the_published_keys(world):
    spindle, api = world.spindle, "https://api.example/"
    members = {"access_token_format": "jwt", "resources": [api], "scope": "profile stock"}
    client = spindle.create_client(world.merchant, "Robot", grant_types=["client_credentials"], **members)
    keys = KeySet.import_key_set(spindle.good("GET", "/oauth/jwks"))

    class Validator(JWTBearerTokenValidator):
        def get_jwks(self):
            return keys

    def serve(issuer: str, resource: str) -> FlaskClient:
        app, protect = flask.Flask("api"), ResourceProtector()
        protect.register_token_validator(Validator(issuer, resource))

        @app.get("/stock")
        @protect("stock")
        def stock():
            return {"asked by": flask.g.authlib_server_oauth2_token["client_id"]}

        return app.test_client()

    def get(here: FlaskClient, token: str):
        return here.get("/stock", headers={"Authorization": f"Bearer {token}"})

    def token(**parameters) -> str:
        return session(spindle, client.registration).fetch_token(
            grant_type="client_credentials", **parameters)["access_token"]

    good = token(resource=api)
    assert get(serve(spindle.origin, api), good).json == {"asked by": client.id}
    assert get(serve(spindle.origin, api), good[:-8] + "AAAAAAAA").status_code == 401
    assert get(serve(spindle.origin, "https://other.example/"), good).status_code == 401
    assert get(serve("https://other.example", api), good).status_code == 401
    assert get(serve(spindle.origin, api), token(resource=api, scope="profile")).status_code == 403
    # A token for the server itself is not for the API.
    assert get(serve(spindle.origin, api), token()).status_code == 401


def test_an_id_token_of_a_trusted_issuer_signs_in(world):
    spindle = world.spindle
    key = ECKey.generate_key("P-256", {"kid": "partner", "use": "sig", "alg": "ES256"}, private=True)
    spindle.create_issuer(
        merchant_id=world.merchant, issuer="https://partner.example", create_users=True,
        jwks={"keys": [key.as_dict(private=False)]},
    )
    grants = ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
    client = spindle.create_client(world.merchant, "Partner's app", grant_types=grants)
    with AssertionSession(
        spindle.origin + "/oauth/token", "https://partner.example", "person-7", spindle.origin,
        claims={"jti": generate_token()}, key=key, header={"alg": "ES256", "kid": "partner"}, alg="ES256",
        scope="profile",
    ) as partner:
        partner.auth = (client.id, client.secret)
        first = partner.get(spindle.origin + "/me").json()
    assert first["user_id"]
