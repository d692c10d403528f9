"""Attacks by one merchant or user on others: each test is named for what must not happen."""

import base64
import hashlib
import hmac
import http.server
import json
import threading
import time
import urllib.parse

import pytest

from harness.assertion import JWT_BEARER
from harness.browser import Browser
from harness.spindle import PKCE, Client, Spindle
from harness.world import WEB_REDIRECT, World

FACEBOOK_APP = "111"


class Facebook(http.server.BaseHTTPRequestHandler):
    """Knows one user, who is not the victim."""

    def log_message(self, *_):
        pass

    def _answer(self, content: dict) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path.split("?")[0].endswith("/debug_token"):
            person = {"is_valid": True, "app_id": FACEBOOK_APP, "user_id": "42", "type": "USER", "expires_at": 0}
            return self._answer({"data": person})
        self._answer({"id": "42", "name": "Mallory"})

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer({"access_token": "mallory's", "token_type": "bearer"})


@pytest.fixture(scope="module")
def facebook():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Facebook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="module")
def world(launch, engine, facebook) -> World:
    settings = {"SPINDLE_FACEBOOK_API": facebook, "SPINDLE_OUTBOUND_ALLOW_PRIVATE": "127.0.0.0/8"}
    return World.create(Spindle.of(launch(engine, settings)))


@pytest.fixture(scope="module")
def administrator(world) -> str:
    """A token with which the merchant administers itself."""
    client = world.spindle.create_client(
        world.merchant, "Back office", grant_types=["client_credentials"], scope="admin:merchant"
    )
    return world.spindle.client_credentials(client, scope="admin:merchant").json["access_token"]


def signed(claims: dict, secret: str) -> str:
    def part(content: bytes) -> str:
        return base64.urlsafe_b64encode(content).rstrip(b"=").decode()

    text = ".".join(part(json.dumps(each).encode()) for each in ({"alg": "HS256", "typ": "JWT"}, claims))
    return f"{text}.{part(hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest())}"


def test_a_link_made_by_a_merchants_backend_signs_in_at_that_merchant_only(world, administrator):
    spindle, victim = world.spindle, world.spindle.create_person()

    def as_merchant(path: str, content: dict) -> dict:
        answer = spindle.administer("POST", path, content, token=administrator)
        assert answer.status == 201, answer
        return answer.json

    issuer = as_merchant(
        "issuers",
        {"provider": "facebook", "audiences": [FACEBOOK_APP], "app_secret": "x" * 20, "client_id": FACEBOOK_APP},
    )
    made = as_merchant(
        "clients",
        {
            "client_name": "App", "redirect_uris": [WEB_REDIRECT], "spid_compatible": True,
            "scope": "openid email profile",
            "grant_types": ["authorization_code", "password", "refresh_token", JWT_BEARER],
        },
    )
    app = Client(made["client_id"], made["client_secret"], WEB_REDIRECT, made)
    # The victim uses the app, so its backend holds a token of theirs, and links its own Facebook user.
    token = spindle.password(app, victim)["access_token"]
    claims = {
        "iss": FACEBOOK_APP, "sub": "attach", "aud": f"{spindle.origin}/api/2/user/attach_jwt",
        "exp": int(time.time()) + 300, "token_type": "facebook", "token_value": "mallory's",
    }
    jwt = signed(claims, made["sign_secret"])
    answer = spindle.call("POST", "/api/2/user/attach_jwt", form={"jwt": jwt}, bearer=token)
    assert answer.status == 200, answer

    browser = Browser(spindle)
    authorize = "/oauth/authorize?" + urllib.parse.urlencode(
        {"response_type": "code", "client_id": app.id, "redirect_uri": app.redirect_uri}
    )
    waiting = next(form.fields["continue"] for form in browser.open(authorize).forms if form.password_field)
    departure = browser.open(f"/login/with/{issuer['id']}?continue={waiting}")
    browser.open(f"/login/with/{issuer['id']}/callback?state={departure.query['state']}&code=a")
    # The link signs in to the merchant's own applications.
    assert "code" in browser.open(authorize).query
    # Nowhere else: neither at the account page nor at another merchant.
    for path in ("/account", "/account/data"):
        assert victim.email not in browser.open(path).answer.text.replace("<wbr>", "")
    elsewhere = World.create(spindle)
    page = browser.open(spindle.authorize_path(elsewhere.web, PKCE(), scope="openid email"))
    assert "code" not in page.query and any(form.password_field for form in page.forms), page.answer


def test_an_issuer_with_a_merchants_own_keys_cannot_become_google(world, administrator):
    spindle = world.spindle
    own = {"issuer": "https://mill.example", "secret": "s" * 40, "audiences": ["a"], "create_users": True}
    issuer = spindle.administer("POST", "issuers", own, token=administrator)
    assert issuer.status == 201, issuer
    discovery = "https://accounts.google.com/.well-known/openid-configuration"
    change = {"provider": "google", "discovery_url": discovery, "client_id": "g", "client_secret": "s"}
    for content in (change, {"provider": "google"}):
        answer = spindle.administer("PATCH", f"issuers/{issuer.json['id']}", content, token=administrator)
        assert answer.status in (400, 403), answer
    assert spindle.administer("GET", f"issuers/{issuer.json['id']}").json.get("provider") is None
    for name in ("https://accounts.google.com", "accounts.google.com", "https://appleid.apple.com"):
        answer = spindle.administer("POST", "issuers", own | {"issuer": name}, token=administrator)
        assert answer.status in (400, 403), f"{name}: {answer}"


def test_a_merchant_cannot_block_an_address_with_a_disabled_user(world, administrator):
    content = {"email": "victim@bank.example", "disabled": True}
    answer = world.spindle.administer("POST", "users", content, token=administrator)
    assert answer.status == 403 and "disabled" in answer.text, answer
    made = world.spindle.administer("POST", "users", content | {"disabled": False}, token=administrator)
    assert made.status == 201, made


def test_consent_to_a_self_registered_app_does_not_reveal_the_user_to_its_merchant(world, administrator):
    spindle, person = world.spindle, world.spindle.create_person()
    grant = spindle.administer("POST", "initial-access-tokens", {"merchant_id": world.merchant})
    assert grant.status == 201, grant
    registered = spindle.call(
        "POST", "/oauth/register", bearer=grant.json["initial_access_token"],
        content={"redirect_uris": ["https://stranger.example/back"], "client_name": "Stranger", "scope": "openid"},
    )
    assert registered.status == 201, registered
    stranger = Client(registered.json["client_id"], None, "https://stranger.example/back", registered.json)
    browser = Browser(spindle)
    page = browser.sign_in(browser.open(spindle.authorize_path(stranger, PKCE(), scope="openid")), person)
    consent = next(form for form in page.forms if "decision" in form.fields)
    answered = browser.submit(page, consent, decision="allow")
    assert "code" in answered.query, answered.answer

    def known() -> set[str]:
        page = spindle.administer("GET", "users?limit=100", token=administrator)
        return {user["user_id"] for user in page.json["items"]}

    assert person.id not in known()
    world.spindle.password(world.app, person)
    assert person.id in known(), "a user of the merchant's own app is"


def test_a_users_sessions_are_limited_in_number(world):
    spindle, person = world.spindle, world.spindle.create_person()
    token = spindle.password(world.app, person)["access_token"]
    browser = Browser(spindle)
    browser.sign_in(browser.open("/login"), person)
    browsers_of_an_app = []
    for _ in range(104):
        browser_of_an_app = Browser(spindle)
        browser_of_an_app.open(f"/auth/session/{spindle.code(token, world.web, 'session')}")
        browsers_of_an_app.append(browser_of_an_app)
    page = browser_of_an_app.open(spindle.authorize_path(world.web, PKCE()))
    assert "code" in page.query, "the newest lives"
    assert not browsers_of_an_app[0].is_signed_in(), "the one that was used longest ago is displaced"
    assert browser.is_signed_in(), "the user's own sign-in is not the app's to displace"


def test_a_long_request_does_not_make_a_long_log_line(launch):
    server = launch()
    world = World.create(Spindle.of(server))
    for client in (world.app, world.web, Client("nobody", "s", None)):
        honest = {"grant_type": "client_credentials"} | client.proof
        for name in ("client_id", "client_secret", "grant_type", "scope", "token", "redirect_uri", "code"):
            for path in ("/oauth/token", "/oauth/introspect", "/oauth/revoke"):
                form = honest | {"token": "t"} | {name: "\x01" * 20_000}
                answer = world.spindle.call("POST", path, form=form)
                assert answer.status in (200, 400, 401, 403), answer
    world.spindle.client_credentials(Client("latest", "s", None))
    assert server.has_logged("client=latest"), "all that was asked before is in the log"
    lines = server.log.read_text("utf-8").splitlines()
    assert sum("unknown_client" in line for line in lines) > 20, "the refusals are in the log"
    assert max(map(len, lines)) < 2_000
