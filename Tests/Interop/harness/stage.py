"""The merchant, the clients and the user of the examples of docs/api, on one server as an operator runs it."""

import email
import email.policy
import json
import secrets
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from joserfc import jwt
from joserfc.jwk import ECKey

from harness.assertion import assertion
from harness.browser import Browser
from harness.server import Server
from harness.spindle import PKCE, Client, Person, Spindle
from harness.wire import Answer, basic

ISSUER = "https://id.example"
SITE = "https://loom.example"
PARTNER = "https://sign-in.partner.example"
# A message comes at once; a test waits longer only to fail.
PATIENCE = 30


class Front(Spindle):
    """The server behind a proxy that ends TLS, as its users see it."""

    def call(self, method: str, path: str, *, headers=None, **options) -> Answer:
        return super().call(method, path, headers=Stage.COMMON | (headers or {}), **options)


class Stage:
    SETTINGS = {
        "SPINDLE_ISSUER": ISSUER, "SPINDLE_TRUSTED_PROXIES": "127.0.0.0/8",
        "SPINDLE_MAIL": "file:outbox/", "SPINDLE_SMS": "file:outbox/",
    }
    COMMON = {"Host": urlsplit(ISSUER).netloc, "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"}

    def __init__(self, server: Server):
        self.outbox = server.directory / "outbox"
        self._read: set[str] = set()
        self.spindle = spindle = Front(server.address, server.admin, ISSUER)
        self.merchant = merchant = spindle.create_merchant("Loom")
        spindle.administer("PATCH", f"merchants/{merchant}", {"accent_color": "#204080"})
        code = ["authorization_code", "refresh_token"]
        self.app = spindle.create_client(
            merchant, "Loom for phones", "com.example.loom:/signed-in", token_endpoint_auth_method="none",
            grant_types=[*code, "password"], scope="openid profile email phone address offline_access")
        self.web = spindle.create_client(
            merchant, "Loom", f"{SITE}/signed-in", grant_types=[*code, "password"],
            scope="openid profile email phone address offline_access", web_origins=[SITE],
            post_logout_redirect_uris=[f"{SITE}/"], resources=["https://api.loom.example"],
            redirect_uris=[f"{SITE}/signed-in", f"{SITE}/from-app"])
        self.page = spindle.create_client(
            merchant, "Loom in the browser", f"{SITE}/app/signed-in", token_endpoint_auth_method="none",
            grant_types=code, web_origins=[SITE])
        self.backend = spindle.create_client(
            merchant, "Loom's backend", f"{SITE}/backend", grant_types=[*code, "client_credentials"],
            scope="openid profile email reports:read")
        self.key = ECKey.import_key(ec.generate_private_key(ec.SECP256R1()), {"kid": "2031-1"})
        self.signer = spindle.create_client(
            merchant, "Loom's reports", token_endpoint_auth_method="private_key_jwt", redirect_uris=[],
            grant_types=["client_credentials"], scope="reports:read", jwks={"keys": [self.key.as_dict(private=False)]})
        grants = ["urn:ietf:params:oauth:grant-type:jwt-bearer", "urn:ietf:params:oauth:grant-type:token-exchange"]
        self.partner = spindle.create_client(merchant, "Loom for partners", grant_types=[*grants, "refresh_token"])
        self.secret = secrets.token_hex(32)
        self.issuer = spindle.create_issuer(
            merchant_id=merchant, issuer=PARTNER, secret=self.secret, audiences=["loom"], create_users=True)
        self.steward = spindle.create_client(
            merchant, "Loom's administration", grant_types=["client_credentials"], scope="admin:merchant")
        self.spid = spindle.create_client(
            merchant, "Loom News", f"{SITE}/news", spid_compatible=True, web_origins=[SITE],
            grant_types=[*code, "client_credentials", "password", "passwordless"], scope="openid profile email")
        neighbour = spindle.create_merchant("Spool")
        self.other = spindle.create_client(neighbour, "Spool", "https://spool.example/back")
        self.third = spindle.create_client(
            neighbour, "Shuttle", "https://shuttle.example/signed-in", first_party=False,
            scope="openid profile email phone")
        self.ada = spindle._create("users", {
            "email": "ada@example.com", "password": "correct horse battery", "email_verified": True,
            "name": "Ada Lovelace", "given_name": "Ada", "family_name": "Lovelace", "locale": "en",
            "attributes": {"groups": ["editor", "sport"]},
        })
        self.person = Person(self.ada["user_id"], "ada@example.com", "correct horse battery")
        spindle.password(self.spid, self.person)

    def values(self) -> dict[str, str | Callable[[], str]]:
        """What the words of a page stand for: secrets and ids, and tokens that are got when a page needs them."""
        spindle, pkce = self.spindle, PKCE()
        admin = Client(*spindle.admin, None)
        values: dict[str, str | Callable[[], str]] = {
            "merchant": self.merchant, "ada": self.person.id, "password": self.person.password,
            "code_verifier": pkce.verifier, "code_challenge": pkce.challenge,
            "initial_access_token": lambda: spindle.good(
                "POST", "/admin/v1/initial-access-tokens", 201, bearer=spindle.admin_token(),
                content={"merchant_id": self.merchant})["initial_access_token"],
            "client_assertion": lambda: self.signed({"typ": "JWT"}, {
                "iss": self.signer.id, "sub": self.signer.id, "aud": ISSUER, "exp": int(time.time()) + 60,
                "iat": int(time.time()), "jti": secrets.token_hex(16)}),
            "assertion": lambda: assertion(self.secret, PARTNER, ISSUER, sub="ada-17", email="ada@partner.example"),
            "subject_token": lambda: assertion(self.secret, PARTNER, "loom", sub="ada-17"),
            "user_token": lambda: spindle.password(self.web, self.person)["access_token"],
            "app_token": lambda: spindle.password(self.app, self.person)["access_token"],
            "own_token": lambda: spindle.client_credentials(self.backend).json["access_token"],
            "platform_token": spindle.admin_token,
            "merchant_token": lambda: spindle.client_credentials(
                self.steward, scope="admin:merchant").json["access_token"],
            "spid_token": lambda: spindle.client_credentials(self.spid).json["access_token"],
            "spid_user_token": lambda: spindle.password(self.spid, self.person)["access_token"],
            "session": lambda: self.browser().cookies["__Host-spindle_session"],
        }
        clients = {
            "app": self.app, "web": self.web, "page": self.page, "backend": self.backend, "signer": self.signer,
            "partner": self.partner, "steward": self.steward, "spid": self.spid, "other": self.other,
            "third": self.third, "admin": admin,
        }
        for name, client in clients.items():
            values[name] = client.id
            if client.secret:
                values[f"{name}_secret"] = client.secret
                values[f"{name}_basic"] = basic(client.id, client.secret).removeprefix("Basic ")
        return values

    def signed(self, header: dict, claims: dict) -> str:
        return jwt.encode({"alg": "ES256", "kid": "2031-1"} | header, claims, self.key)

    def message(self, recipient: str) -> tuple[str, str]:
        """Subject and text of the next message to an address or a phone number, as soon as it is written."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for file in sorted(self.outbox.glob("*.eml") if "@" in recipient else self.outbox.glob("*.sms.json")):
                if file.name in self._read:
                    continue
                content = file.read_bytes()
                if file.suffix == ".eml":
                    mail = email.message_from_bytes(content, policy=email.policy.default)
                    to, told = mail["To"], (mail["Subject"], mail.get_body(("plain",)).get_content())
                else:
                    to, told = json.loads(content)["to"], ("", json.loads(content)["text"])
                self._read.add(file.name)
                if recipient in to:
                    return told
            time.sleep(0.02)
        raise AssertionError(f"no message came to {recipient}")

    def browser(self) -> Browser:
        """A browser in which Ada signed in to the site a moment ago."""
        browser = Browser(self.spindle)
        browser.sign_in(browser.open(self.spindle.authorize_path(self.web, PKCE(), scope="openid email")), self.person)
        assert "__Host-spindle_session" in browser.cookies, browser.cookies
        return browser
