"""Every actor in the walk of extreme values. Each is signed in again when the walk has signed it out."""

import base64
import hashlib
import hmac
import json
import time
from itertools import count

from harness.browser import Browser
from harness.spindle import Spindle
from harness.wire import Answer, basic
from harness.world import World

# The address of honest requests, so that throttles set off by the walk do not affect them.
HONEST = "127.0.0.9"
ISSUER, SECRET = "https://127.0.0.1/issuer", "s" * 40
SPID_ORIGIN = "https://spid.example"
PERMISSIONS = {
    "read": {"everything": True, "queriesByCollection": {}}, "write": {"everything": True, "queriesByCollection": {}},
    "remoteQuery": False,
}


class Steady(Spindle):
    """Requests from a separate address."""

    def call(self, method: str, path: str, *, source: str | None = None, **options) -> Answer:
        return super().call(method, path, source=source or HONEST, **options)


def signed(key: str, header: bytes, payload: bytes) -> str:
    """A JWS in compact form by HMAC-SHA256, with any parts."""
    parts = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in (header, payload))
    signature = base64.urlsafe_b64encode(hmac.new(key.encode(), parts, hashlib.sha256).digest()).rstrip(b"=")
    return f"{parts.decode()}.{signature.decode()}"


class Cast:
    def __init__(self, spindle: Steady):
        self.spindle = spindle
        self.world = World.create(spindle)
        self.neighbour = spindle.create_person()
        # Connected to the merchant, so that the merchant's administrator sees them.
        spindle.password(self.world.app, self.neighbour)
        merchant = self.world.merchant
        assert spindle.administer("PATCH", f"merchants/{merchant}", {"accent_color": "#123456"}).status == 200
        grants = ["authorization_code", "refresh_token", "client_credentials", "password"]
        self.spid = spindle.create_client(
            merchant, "SPiD", f"{SPID_ORIGIN}/", grant_types=grants, spid_compatible=True, web_origins=[SPID_ORIGIN],
        )
        self.steward = spindle.create_client(
            merchant, "Steward", grant_types=["client_credentials"], scope="admin:merchant",
        )
        self.signer = spindle.create_client(
            merchant, "Signer", grant_types=["client_credentials"], token_endpoint_auth_method="client_secret_jwt",
        )
        self.receiver = spindle.create_client(
            merchant, "Receiver", grant_types=["urn:ietf:params:oauth:grant-type:jwt-bearer"],
        )
        self.issuer = spindle.create_issuer(
            merchant_id=merchant, issuer=ISSUER, secret=SECRET, audiences=["a"], create_users=True,
        )["id"]
        self.administer("webhooks", {"merchant_id": merchant, "name": "ditto", "permissions": PERMISSIONS})
        self.initial = self.administer("initial-access-tokens", {"merchant_id": merchant})["initial_access_token"]
        self._numbers = count()
        self._tokens: dict[str, str] = {}
        self._browser: Browser | None = None
        self._registered: dict | None = None
        self._refresh_token: str | None = None

    def administer(self, collection: str, content: dict) -> dict:
        bearer = self.spindle.admin_token()
        return self.spindle.good("POST", f"/admin/v1/{collection}", 201, bearer=bearer, content=content)

    def number(self) -> int:
        """A new number each time."""
        return next(self._numbers)

    # Credentials of the actors

    def fields(self, actor: str) -> list[tuple[bytes, bytes]]:
        """The header fields by which the server knows `actor`."""
        match actor:
            case "nobody" | "public":
                return []
            case "client":
                return [(b"Authorization", basic(self.world.backend.id, self.world.backend.secret).encode())]
            case _:
                return [(b"Authorization", b"Bearer " + self.token(actor).encode())]

    def token(self, actor: str) -> str:
        if actor not in self._tokens:
            self._tokens[actor] = self._make(actor)
        return self._tokens[actor]

    def _make(self, actor: str) -> str:
        world, spindle = self.world, self.spindle
        match actor:
            case "platform":
                return spindle.admin_token()
            case "merchant":
                return spindle.client_credentials(self.steward, scope="admin:merchant").json["access_token"]
            case "person":
                return spindle.password(world.app, world.person, scope="openid email profile")["access_token"]
            case "spid_person":
                return spindle.password(self.spid, world.person)["access_token"]
            case "own_token":
                return spindle.client_credentials(world.backend).json["access_token"]
            case "spid_client":
                return spindle.client_credentials(self.spid).json["access_token"]
            case "registrar":
                return self.initial
            case "registered":
                return self.registered()["registration_access_token"]
        raise AssertionError(actor)

    def renew(self, actor: str) -> None:
        """Signs `actor` in again, if it is signed out."""
        probes = {"person": "/me", "spid_person": "/me", "own_token": "/api/2/clients", "spid_client": "/api/2/clients"}
        if actor in probes and actor in self._tokens:
            if self.spindle.call("GET", probes[actor], bearer=self._tokens[actor]).status == 401:
                del self._tokens[actor]
        if actor == "browser" and self._browser and not self._browser.is_signed_in():
            self._browser = None
        if actor == "registered" and self._registered:
            own = f"/oauth/register/{self._registered['client_id']}"
            if self.spindle.call("GET", own, bearer=self._registered["registration_access_token"]).status != 200:
                self._registered = None
                self._tokens.pop(actor, None)

    def registered(self) -> dict:
        if self._registered is None:
            content = {"redirect_uris": ["https://shop.example/registered"]}
            self._registered = self.spindle.good("POST", "/oauth/register", 201, bearer=self.initial, content=content)
        return self._registered

    def browser(self, actor: str) -> Browser:
        if actor == "visitor":
            return self._visitor()
        if self._browser is None:
            self._browser = self._visitor()
            self._browser.sign_in(self._browser.open("/login"), self.world.person)
            assert self._browser.is_signed_in()
        return self._browser

    def _visitor(self) -> Browser:
        browser = Browser(self.spindle)
        browser.open("/login")
        return browser

    def form_fields(self, browser: Browser, path: str) -> dict[str, str]:
        """The hidden fields in the form at `path`, or in that of the page that `browser` is redirected to."""
        if path == "/oauth/consent":
            path = self.spindle.authorize_path(self.world.web, None, prompt="consent", scope="openid email", nonce="n")
        found: dict[str, str] = {}
        for address in (path, "/account", "/login"):
            for form in browser.open(address).forms:
                if form.fields.get("form_token"):
                    kept = {name: value for name, value in form.fields.items() if form.kinds[name] == "hidden"}
                    # The form that posts to `path`, if it is on the page.
                    if form.action.split("?")[0] == path.split("?")[0] or "request" in kept:
                        return kept
                    found = found or {"form_token": form.fields["form_token"]}
        return found

    # Values to ask with

    def refresh_token(self) -> str:
        """A refresh token of the backend, which keeps its value; a new one when the walk has ended it."""
        spindle, backend = self.spindle, self.world.backend
        if self._refresh_token and spindle.refresh(backend, self._refresh_token).status == 200:
            return self._refresh_token
        self._refresh_token = spindle.redeem(backend, self.code()).json["refresh_token"]
        return self._refresh_token

    def code(self) -> str:
        self.renew("person")
        return self.spindle.code(self.token("person"), self.world.backend)

    def assertion(self, claims: dict[str, bytes], header: dict[str, bytes] | None = None) -> str:
        """An assertion of the trusted issuer, with `claims` in JSON in place of the valid ones."""
        now = int(time.time())
        honest = {"iss": ISSUER, "sub": "u-1", "aud": self.spindle.origin, "iat": now, "exp": now + 60}
        return self._statement(SECRET, honest | {"jti": f"j{self.number()}.{now}"}, claims, header or {})

    def client_assertion(self, claims: dict[str, bytes], header: dict[str, bytes] | None = None) -> str:
        """The same from a client that signs (RFC 7523 §2.2)."""
        now, identifier = int(time.time()), self.signer.id
        honest = {"iss": identifier, "sub": identifier, "aud": self.spindle.origin, "iat": now, "exp": now + 60}
        honest |= {"jti": f"j{self.number()}.{now}"}
        return self._statement(self.signer.registration["sign_secret"], honest, claims, header or {})

    @staticmethod
    def _statement(key: str, honest: dict, claims: dict[str, bytes], header: dict[str, bytes]) -> str:
        def whole(members: dict, odd: dict[str, bytes]) -> bytes:
            texts = {name: json.dumps(value).encode() for name, value in members.items()} | odd
            return b"{" + b",".join(json.dumps(name).encode() + b":" + value for name, value in texts.items()) + b"}"

        return signed(key, whole({"alg": "HS256", "typ": "JWT"}, header), whole(honest, claims))

    def victim(self, collection: str) -> str:
        """One of `collection` that may be changed and deleted; an unknown one where none can be made by a POST."""
        if not self.members(collection):
            return "unknown"
        made = self.administer(collection, self.members(collection))
        return made.get("id") or made.get("client_id") or made.get("user_id")

    def members(self, collection: str) -> dict:
        """The required members of `collection`."""
        number, merchant = self.number(), {"merchant_id": self.world.merchant}
        return {
            "merchants": {"name": f"Merchant {number}"},
            "clients": merchant | {"client_name": "Victim", "redirect_uris": ["https://victim.example/"]},
            "users": {"email": f"victim{number}@example.com"},
            "issuers": merchant | {"issuer": f"https://127.0.0.1/{number}", "secret": SECRET, "audiences": ["a"]},
            "webhooks": merchant | {"name": f"victim{number}", "permissions": PERMISSIONS},
            "initial-access-tokens": merchant,
        }.get(collection, {})
