"""Clauses of the standards that no other test shows: docs/security names these tests."""

import base64
import hashlib
import hmac
import json
import re
import secrets
import time
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from harness.browser import Browser
from harness.spindle import PKCE, Spindle
from harness.world import World

ORIGIN = "https://www.shop.example"


@pytest.fixture(scope="module")
def world(launch, engine) -> World:
    return World.create(Spindle.of(launch(engine)))


def came_back_with(location: str | None) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(location or "").query).items()}


def test_a_client_made_by_an_administrator_needs_pkce_or_a_nonce_with_openid(world):
    spindle = world.spindle
    client = spindle.create_client(world.merchant, "Site", "https://site.example/back")
    assert client.registration["require_pkce"] is True
    refused = [
        {}, {"nonce": "n"}, {"nonce": "n", "scope": "profile"}, {"scope": "openid"}, {"nonce": "", "scope": "openid"},
    ]
    for parameters in refused:
        answer = spindle.call("GET", spindle.authorize_path(client, None, state="s", prompt="none", **parameters))
        told = came_back_with(answer.location)
        assert told["error"] == "invalid_request" and "PKCE" in told["error_description"], parameters
        assert told["state"] == "s"
    bound = [(None, {"nonce": "n", "scope": "openid"}), (PKCE(), {}), (PKCE(), {"scope": "profile"})]
    for pkce, parameters in bound:
        answer = spindle.call("GET", spindle.authorize_path(client, pkce, prompt="none", **parameters))
        assert came_back_with(answer.location)["error"] == "login_required", parameters
    public = {
        "merchant_id": world.merchant, "client_name": "Lax", "redirect_uris": ["com.example.lax:/back"],
        "token_endpoint_auth_method": "none", "require_pkce": False,
    }
    assert spindle.administer("POST", "clients", public).status == 400


def test_the_metadata_announces_pkce_iss_and_the_secure_defaults(world):
    spindle = world.spindle
    metadata = spindle.good("GET", "/.well-known/openid-configuration")
    assert metadata == spindle.good("GET", "/.well-known/oauth-authorization-server")
    assert metadata["issuer"] == spindle.origin
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    assert metadata["authorization_response_iss_parameter_supported"] is True
    assert "private_key_jwt" in metadata["token_endpoint_auth_methods_supported"]
    for name in [name for name in metadata if name.endswith("_alg_values_supported")]:
        assert "none" not in [value.lower() for value in metadata[name]], name
    for name, value in metadata.items():
        if name.endswith(("_endpoint", "_uri")):
            assert value.startswith(f"{spindle.origin}/") and "#" not in value, name


def test_no_script_of_another_origin_can_read_the_authorization_endpoint(world):
    spindle = world.spindle
    changed = spindle.administer("PATCH", f"clients/{world.app.id}", {"web_origins": [ORIGIN]})
    assert changed.status == 200
    path = spindle.authorize_path(world.app, PKCE(), prompt="none")
    asked = {"Origin": ORIGIN, "Access-Control-Request-Method": "GET"}
    for address in [path, path.replace("/oauth/authorize", "/authorize")]:
        assert spindle.call("GET", address, headers={"Origin": ORIGIN}).status == 302
        for method in ["GET", "OPTIONS"]:
            answer = spindle.call(method, address, headers=asked)
            assert not [name for name in answer.headers if name.lower().startswith("access-control-")], method
    # Endpoints for scripts of that origin say so.
    answer = spindle.call("OPTIONS", "/oauth/token", headers=asked | {"Access-Control-Request-Method": "POST"})
    assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN


PAGES = [
    "/login", "/signup", "/password", "/logout", "/auth/session/unknown", "/oauth/authorize", "/password/unknown",
    "/signup/unknown", "/flow/login", "/oauth/authorize?client_id=nobody",
]
PEOPLES_PAGES = ["/account", "/login", "/logout"]


def test_pages_forbid_foreign_scripts_framing_and_caching(world):
    spindle = world.spindle
    browser = Browser(spindle)
    seen = [spindle.call("GET", path, headers={"Accept": "text/html"}) for path in PAGES]
    browser.sign_in(browser.open("/login"), world.person)
    assert browser.is_signed_in()
    seen += [browser.open(path).answer for path in PEOPLES_PAGES]
    for path, answer in zip(PAGES + PEOPLES_PAGES, seen):
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8", f"{path}: {answer}"
        policy = dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))
        assert policy["default-src"] == "'none'" and policy["base-uri"] == "'none'", path
        assert policy["frame-ancestors"] == "'none'" and policy["style-src"] == "'self'", path
        assert "script-src" not in policy and "object-src" not in policy, path
        assert answer.headers["X-Frame-Options"] == "DENY", path
        assert answer.headers["X-Content-Type-Options"] == "nosniff", path
        assert answer.headers["Referrer-Policy"] in ("no-referrer", "same-origin"), path
        assert answer.headers["Cache-Control"] == "no-store", path
        # No address but our own is loaded or led to.
        assert not re.search(r'(?:src|href|action)="(?:https?:)?//', answer.text), path


def test_api_answers_forbid_type_sniffing_and_framing(world):
    answers = {
        "constant": world.spindle.call("GET", "/healthz"),
        "metadata": world.spindle.call("GET", "/.well-known/openid-configuration"),
        "refusal": world.spindle.call("POST", "/oauth/token", form={"grant_type": "x"}),
        "redirect": world.spindle.call("GET", world.spindle.authorize_path(world.app, PKCE(), state="s", prompt="none")),
        "problem": world.spindle.call("GET", "/admin/v1/clients"),
        "SPiD": world.spindle.call("GET", "/api/2/me"),
        "unknown": world.spindle.call("GET", "/nothing"),
    }
    assert answers["redirect"].status in (302, 303), answers["redirect"]
    for kind, answer in answers.items():
        assert answer.headers["X-Content-Type-Options"] == "nosniff", kind
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'", kind


def test_no_form_with_a_password_is_redirected_with_its_body(world):
    """307 and 308 would make the browser post it again, to the client (RFC 9700 §4.12)."""
    browser = Browser(world.spindle)
    path = world.spindle.authorize_path(world.app, PKCE(), state="s")
    login = next(form for form in browser.open(path).forms if form.password_field)
    filled = login.fields | {"email": world.person.email, "password": world.person.password}
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    answer = world.spindle.call("POST", login.action, form=filled, headers={"Cookie": cookies})
    assert answer.status == 303 and answer.location.startswith("/oauth/authorize?"), answer


def claims(token: str) -> dict:
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def test_a_client_is_not_mistaken_for_a_user(world):
    spindle = world.spindle
    for name in ("client_id", "id"):
        content = {
            "merchant_id": world.merchant, "client_name": "Impostor", "grant_types": ["client_credentials"],
            name: world.person.id}
        answer = spindle.administer("POST", "clients", content)
        assert answer.status in (400, 409) and answer.json["member"] == name, answer
    chosen = spindle.create_client(
        world.merchant, "Impostor", grant_types=["client_credentials", "password"], access_token_format="jwt")
    own = spindle.client_credentials(chosen).json["access_token"]
    told = spindle.introspect(chosen, own)
    assert told["active"] and "user_id" not in told and "username" not in told
    for sub in [claims(own)["sub"], told["sub"]]:
        assert sub == chosen.id
        assert re.fullmatch("[0-9a-f]{24}", sub) and not re.fullmatch("[0-9]{1,16}", sub)
    persons = spindle.password(chosen, world.person)["access_token"]
    assert claims(persons)["sub"] == world.person.id and re.fullmatch("[0-9]{1,16}", world.person.id)
    assert spindle.call("GET", "/me", bearer=own).status == 401


def test_random_values_cannot_be_guessed(world):
    """256 bits are 43 letters of base64url; codes and tokens have the time of their making in front of them."""
    spindle = world.spindle
    drawn: dict[str, set[str]] = {}
    for _ in range(20):
        phone = world.phone()
        code = spindle.code(phone["access_token"], world.backend)
        for name, value in [
            ("access token", phone["access_token"]), ("refresh token", phone["refresh_token"]), ("code", code),
            ("session code", spindle.code(phone["access_token"], world.web, "session")),
        ]:
            drawn.setdefault(name, set()).add(value)
    for name, values in drawn.items():
        assert len(values) == 20, name
        assert all(re.fullmatch("[A-Za-z0-9_-]{43,}", value) for value in values), name
        # After the time, every position differs from one value to the next. A refresh token ends with its family, which
        # is no secret.
        tails = [value[12:55] if name == "refresh token" else value[-43:] for value in values]
        assert all(len({tail[place] for tail in tails}) > 4 for place in range(42)), name
    secrets = {spindle.create_client(world.merchant, f"Client {number}").secret for number in range(4)}
    assert len(secrets) == 4 and all(re.fullmatch("[A-Za-z0-9_-]{43}", secret) for secret in secrets)


def test_a_token_or_secret_in_a_query_is_ignored(world):
    spindle = world.spindle
    token = world.phone()["access_token"]
    assert spindle.me(token).status == 200
    for path in ["/me", "/oauth/userinfo", f"/user/{world.person.id}", "/admin/v1/clients"]:
        for name in ["access_token", "oauth_token"]:
            held = spindle.admin_token() if path.startswith("/admin") else token
            answer = spindle.call("GET", f"{path}?{urlencode({name: held})}")
            assert answer.status == 401, f"{path} {name}: {answer}"
    query = urlencode(world.backend.proof | {"grant_type": "client_credentials"})
    for form in [{}, {"grant_type": "client_credentials"}, {"grant_type": "client_credentials"} | world.backend.proof]:
        answer = spindle.call("POST", f"/oauth/token?{query}", form=form)
        assert (answer.status == 200) == ("client_secret" in form), f"{form}: {answer}"
    assert spindle.call("GET", f"/oauth/token?{query}").status == 405


def test_only_intended_paths_are_served(world):
    spindle = world.spindle
    nothing = [
        "/.git/config", "/.svn/entries", "/.env", "/assets/", "/assets", "/assets/../spindle.db", "/assets/%2e%2e/x",
        "/spindle.db", "/master.key", "/server-status", "/metrics", "/debug", "/swagger", "/admin",
        "/admin/", "/dev", "/dev/sign-in",
    ]
    for path in nothing:
        answer = spindle.call("GET", path)
        assert answer.status == 404, f"{path}: {answer}"
        assert not answer.text.startswith("<"), path
    for path in ["/login", "/healthz", "/.well-known/openid-configuration", "/oauth/token", "/no/such/page"]:
        answer = spindle.call("GET", path)
        assert not [name for name in ("Server", "X-Powered-By", "Via") if name in answer.headers], path
    assert spindle.call("TRACE", "/login").status in (405, 501)


def test_each_answer_has_its_content_type(world):
    spindle = world.spindle
    for method, path, media in [
        ("GET", "/login", "text/html; charset=utf-8"), ("GET", "/assets/spindle.css", "text/css; charset=utf-8"),
        ("GET", "/assets/submit.js", "text/javascript; charset=utf-8"), ("GET", "/healthz", "application/json"),
        ("GET", "/me", "application/json"), ("POST", "/oauth/token", "application/json"),
        ("GET", "/.well-known/openid-configuration", "application/json"), ("GET", "/oauth/jwks", "application/json"),
        ("GET", "/admin/v1/clients", "application/problem+json"), ("GET", "/no/such/page", "application/json"),
        ("GET", "/api/2/status", "application/json"),
    ]:
        answer = spindle.call(method, path)
        assert answer.body and answer.headers["Content-Type"] == media, f"{method} {path}"
        if media == "application/json":
            json.loads(answer.body.decode("utf-8"))


def test_a_password_may_be_long_and_never_expires(world):
    """No rotation: what was set stays good, and 64 characters and more may be set (ASVS 6.2.9, 6.2.10)."""
    spindle = world.spindle
    for length in (64, 128):
        long = ("a quiet loom weaves on " * 6)[:length]
        person = spindle.create_person(password=long)
        assert spindle.password(world.app, person)["access_token"]
        shorter = spindle.token(world.app, "password", username=person.email, password=long[:-1])
        assert shorter.status == 400 and shorter.error == "invalid_grant"
        changed = spindle.token(world.app, "password", username=person.email, password=long.upper())
        assert changed.error == "invalid_grant"


def test_the_scheme_of_a_bearer_token_is_read_in_any_letter_case(world):
    token = world.phone()["access_token"]
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"]:
        answer = world.spindle.call("GET", "/me", headers={"Authorization": f"{scheme} {token}"})
        assert answer.status == 200, scheme
    for header in [f"Bear {token}", f"Bearer{token}", f"Basic {token}", token]:
        assert world.spindle.call("GET", "/me", headers={"Authorization": header}).status == 401, header


def test_a_refresh_without_the_secret_of_its_client_is_refused_and_spends_nothing(world):
    spindle, backend = world.spindle, world.backend
    tokens = spindle.redeem(backend, spindle.code(world.phone()["access_token"], backend)).json
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    for proof in [{}, {"client_id": backend.id}, {"client_id": backend.id, "client_secret": "a guess"}]:
        answer = spindle.call("POST", "/oauth/token", form=form | proof)
        assert (answer.status, answer.error) == (401, "invalid_client"), proof
    assert spindle.refresh(backend, tokens["refresh_token"]).status == 200


def signed(claims: dict, secret: str) -> str:
    """A JWT with HS256."""
    parts = [json.dumps(part).encode() for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
    text = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    mac = hmac.new(secret.encode(), text, hashlib.sha256).digest()
    return (text + b"." + base64.urlsafe_b64encode(mac).rstrip(b"=")).decode()


def test_an_assertion_without_one_of_its_claims_is_refused(world):
    spindle = world.spindle
    client = spindle.create_client(
        world.merchant, "Signer", grant_types=["client_credentials"], token_endpoint_auth_method="client_secret_jwt",
    )
    now = int(time.time())
    whole = {"iss": client.id, "sub": client.id, "aud": spindle.origin, "exp": now + 60, "iat": now}
    wrong = [{name: None} for name in ["iss", "sub", "aud", "exp", "jti"]]
    wrong += [{"sub": world.backend.id}, {"iss": world.backend.id}, {"sub": ""}, {"sub": [client.id]}]
    for changes in [*wrong, {}]:
        claims = whole | {"jti": secrets.token_urlsafe(12)} | changes
        assertion = signed({name: value for name, value in claims.items() if value is not None}, client.secret)
        form = {
            "grant_type": "client_credentials", "client_assertion": assertion,
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        }
        answer = spindle.call("POST", "/oauth/token", form=form)
        if changes:
            assert (answer.status, answer.error) == (401, "invalid_client"), changes
        else:
            assert answer.status == 200, answer


def test_a_tokens_header_cannot_supply_its_key(world):
    """A header with `jku`, `x5u` or `jwk` asks its reader to trust the token's own key."""
    token = world.spindle.password(world.app, world.person, scope="openid")["id_token"]
    part = token.split(".")[0]
    header = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    assert set(header) == {"alg", "kid", "typ"} and header["alg"] == "RS256"
    keys = world.spindle.good("GET", "/oauth/jwks")["keys"]
    assert header["kid"] in [key["kid"] for key in keys]
    for key in keys:
        assert not {"jku", "x5u", "x5c", "d", "p", "q", "dp", "dq", "qi", "k"} & set(key)
        if key["kty"] == "RSA":
            modulus = base64.urlsafe_b64decode(key["n"] + "==")
            assert len(modulus.lstrip(b"\0")) * 8 >= 2048
