"""Where SPiD's SDKs are replayed: a merchant with their clients and its users, and what fills a request's {blanks}."""

import base64
import email
import email.policy
import json
import re
import secrets
import time
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from harness.browser import Browser, Page
from harness.spindle import PKCE, Client, Person, Spindle
from harness.wire import PATIENCE

FOLDER = Path(__file__).resolve().parents[1] / "sdks"
# The shortest life of an access token, and a while more: apps use tokens that expired long ago.
BRIEF, LONG_AFTER = 10, 30.0
PKCE_PAIR = PKCE()


class Stage:
    """One merchant with a backend, the SDKs' clients, a user who uses them all, and one who has used none."""

    def __init__(self, spindle: Spindle, outbox: Path):
        self.spindle, self.outbox = spindle, outbox
        self.merchant = spindle.create_merchant("Example News")
        self.backend = self.register("Backend", redirect_uris=["https://backend.example/spid"])
        self.person, self.newcomer = spindle.create_person("ada+news@example.com"), spindle.create_person()
        profile = {"name": "Ada Loom", "given_name": "Ada", "family_name": "Loom", "preferred_username": "ada"}
        assert spindle.administer("PATCH", f"users/{self.person.id}", profile).status == 200
        self._clients: dict[str, Client] = {}
        self._tokens: dict[str, dict] = {}
        # Made first, because a test needs it late.
        brief = self.register("Brief", redirect_uris=["https://brief.example/"], access_token_lifetime=BRIEF)
        self._expired, self._expires = self.sign_in(brief)["access_token"], time.monotonic() + LONG_AFTER

    def register(self, name: str, **members) -> Client:
        members = {
            "spid_compatible": True, "scope": "openid profile email",
            "grant_types": ["authorization_code", "refresh_token", "client_credentials"],
        } | members
        return self.spindle.create_client(self.merchant, name, members["redirect_uris"][0], **members)

    def client(self, sdk: str) -> Client:
        """The client that a file describes."""
        if sdk not in self._clients:
            # Some name another client of the merchant.
            text = (FOLDER / f"{sdk}.json").read_text("utf-8").replace("{backend_id}", self.backend.id)
            self._clients[sdk] = self.register(sdk, **json.loads(text)["client"])
        return self._clients[sdk]

    def arrive(self, client: Client, browser: Browser) -> Page:
        """Signs the user in at `client`, whose address the browser is then sent to, with a code."""
        parameters = {"scope": client.registration["scope"], "state": "s", "nonce": "n"}
        pkce = None if client.secret else PKCE_PAIR
        page = browser.open(self.spindle.authorize_path(client, pkce, **parameters))
        if any(form.password_field for form in page.forms):
            page = browser.sign_in(page, self.person)
        if not page.left_for:
            # On a device the user taps "Continue".
            page = decide(browser, page, "continue")
        assert "code" in page.query, page
        return page

    def sign_in(self, client: Client, browser: Browser | None = None) -> dict:
        """The token answer for a new sign-in at `client`."""
        code = self.arrive(client, browser or Browser(self.spindle)).query["code"]
        verifier = {} if client.secret else {"code_verifier": PKCE_PAIR.verifier}
        answer = self.spindle.redeem(client, code, **verifier)
        assert answer.status == 200, answer
        return answer.json

    def tokens(self, client: Client) -> dict:
        """The same, one for all tests that do not end it."""
        if client.id not in self._tokens:
            self._tokens[client.id] = self.sign_in(client)
        return self._tokens[client.id]

    def expired_token(self) -> str:
        time.sleep(max(0.0, self._expires - time.monotonic()))
        return self._expired

    def browser(self, client: Client, state: str) -> Browser:
        """A browser in which the user is not there, has signed in at this client, or never used it; or a web view."""
        browser = Browser(self.spindle)
        match state:
            case "nobody":
                browser.open("/login")
            case "connected":
                self.sign_in(client, browser)
            case "signed in":
                browser.sign_in(browser.open("/login"), self.newcomer)
                assert browser.is_signed_in()
            case "web view":
                assert browser.open(f"/session/{Blanks(self, client).session_code}").left_for
            case _:
                raise KeyError(state)
        return browser


class Blanks:
    """What the {blanks} of one request are filled with: each made once, when it is needed."""

    def __init__(self, stage: Stage, client: Client):
        self.stage, self.client, self.spindle = stage, client, stage.spindle

    def fill(self, value):
        """`value` with its blanks filled in, however deep."""
        match value:
            case str():
                return re.sub(r"\{([a-z_]+)}", lambda blank: str(getattr(self, blank[1])), value)
            case dict():
                return {self.fill(name): self.fill(member) for name, member in value.items()}
            case list():
                return [self.fill(member) for member in value]
        return value

    # Addresses, the client and the user

    @property
    def server(self) -> str:
        return self.spindle.origin

    @property
    def host(self) -> str:
        return urlsplit(self.spindle.origin).netloc

    @property
    def client_id(self) -> str:
        return self.client.id

    @property
    def client_secret(self) -> str:
        return self.client.secret

    @property
    def basic(self) -> str:
        """Not form-encoded inside, as RFC 6749 has it: the SDKs do not."""
        return base64.b64encode(f"{self.client.id}:{self.client.secret}".encode()).decode()

    @property
    def redirect_uri(self) -> str:
        return self.client.redirect_uri

    @property
    def backend_id(self) -> str:
        """Another client of the merchant."""
        return self.stage.backend.id

    @property
    def backend_token(self) -> str:
        """A token of the user's there."""
        return self.stage.tokens(self.stage.backend)["access_token"]

    @property
    def _person(self) -> Person:
        return self.stage.person

    @property
    def user_id(self) -> str:
        """The user, who has signed in at the client; the client may see less of others."""
        self.stage.tokens(self.client)
        return self._person.id

    @cached_property
    def uuid(self) -> str:
        return self._user("uuid")

    @property
    def email(self) -> str:
        return self._person.email

    @property
    def email_base_url(self) -> str:
        return base64.urlsafe_b64encode(self._person.email.encode()).decode().rstrip("=")

    @property
    def password(self) -> str:
        return self._person.password

    @cached_property
    def new_email(self) -> str:
        return f"{secrets.token_hex(6)}@example.com"

    def _user(self, member: str) -> str:
        path = f"/api/2/user/{self.user_id}"
        return self.spindle.good("GET", path, bearer=self.access_token)["data"][member]

    # Tokens and codes

    @cached_property
    def code(self) -> str:
        return self.stage.arrive(self.client, Browser(self.spindle)).query["code"]

    @property
    def code_verifier(self) -> str:
        return PKCE_PAIR.verifier

    @property
    def code_challenge(self) -> str:
        return PKCE_PAIR.challenge

    @property
    def access_token(self) -> str:
        return self.stage.tokens(self.client)["access_token"]

    @cached_property
    def _signed_in(self) -> tuple[Browser, dict]:
        browser = Browser(self.spindle)
        return browser, self.stage.sign_in(self.client, browser)

    @property
    def connected_browser(self) -> Browser:
        """The browser in which the client got `ending_token`, which proves that the logout is the user's wish."""
        return self._signed_in[0]

    @property
    def _ending(self) -> dict:
        return self._signed_in[1]

    @property
    def ending_token(self) -> str:
        """An access token that the request may end, with its refresh token."""
        return self._ending["access_token"]

    @property
    def refresh_token(self) -> str:
        return self._ending["refresh_token"]

    @cached_property
    def server_token(self) -> str:
        answer = self.spindle.client_credentials(self.client)
        assert answer.status == 200, answer
        return answer.json["access_token"]

    @cached_property
    def server_refresh_token(self) -> str:
        return self.spindle.client_credentials(self.client).json["refresh_token"]

    @property
    def expired_token(self) -> str:
        return self.stage.expired_token()

    @cached_property
    def front_channel_token(self) -> str:
        """Of the implicit flow of a client that may exchange such tokens."""
        client = self.stage.register(
            "Implicit", redirect_uris=["https://implicit.example/"], grant_types=["implicit"], response_types=["token"],
            exchange_front_channel_tokens=True,
        )
        browser = Browser(self.spindle)
        page = browser.open(self.spindle.authorize_path(client, None, response_type="token", state="s"))
        page = browser.sign_in(page, self._person)
        return re.search(r"access_token=([^&]+)", urlsplit(page.left_for).fragment)[1]

    def _bought(self, redirect_uri: str | None = None, **parameters: str) -> str:
        address = {"redirectUri": redirect_uri or self.redirect_uri} | parameters
        answer = self.spindle.exchange(self._ending["access_token"], self.client, "session", **address)
        assert answer.status == 200, answer
        return answer.json["code"]

    @cached_property
    def session_code(self) -> str:
        return self._bought()

    @cached_property
    def session_code_with_state(self) -> str:
        return self._bought(state="opaque")

    @cached_property
    def account_session_code(self) -> str:
        return self._bought(f"{self.server}/account/summary")

    @cached_property
    def exchange_code(self) -> str:
        """One that the app bought for this client; without a secret, with a token of its earlier SDK's client."""
        return self.spindle.code(self.access_token if self.client.secret else self.backend_token, self.client)

    @cached_property
    def _reader(self) -> Person:
        """The user who reads a mailed code; other users' codes do not fill this mailbox."""
        return self.spindle.create_person()

    @property
    def reader(self) -> str:
        return self._reader.email

    @property
    def reader_id(self) -> str:
        return self._reader.id

    @cached_property
    def passwordless_token(self) -> str:
        form = self.client.proof | {"connection": "email", "email": self.reader, "locale": "nb_NO"}
        return self.spindle.good("POST", "/passwordless/start", form=form)["passwordless_token"]

    @cached_property
    def mailed_code(self) -> str:
        """The code in the mail that comes once `passwordless_token` was asked for."""
        assert self.passwordless_token
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for file in self.stage.outbox.glob("*.eml"):
                mail = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
                code = re.search(r"(?<![\w-])\d{6}(?![\w-])", mail.get_body(("plain",)).get_content())
                if code and self.reader in str(mail["To"]):
                    return code[0]
            time.sleep(0.05)
        raise AssertionError("no mail with a code")


def decide(browser: Browser, page: Page, decision: str) -> Page:
    """Presses the button for `decision` on a page."""
    form = next((form for form in page.forms if "decision" in form.fields), None)
    assert form, f"nothing to {decision} at {page.url}: {page.answer}"
    return browser.submit(page, form, decision=decision)
