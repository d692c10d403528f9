"""A server with its inbox, a merchant with its apps, and users."""

import secrets
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from harness.server import Server
from harness.spindle import Client, Person, PKCE, Spindle
from selenium.webdriver.support.ui import WebDriverWait

from stage.outbox import Mail, Outbox
from stage.sites import App
from stage.texts import says
from stage.window import PATIENCE, Window

SCOPE = "openid email profile"


@dataclass(frozen=True)
class SignInFlow:
    """An app sends a browser to Spindle, and waits for it to return."""

    spindle: Spindle
    client: Client
    path: str
    state: str
    pkce: PKCE
    app: App

    def answer(self, window: Window) -> dict[str, str]:
        """The response that the app got, once the browser is back there."""
        WebDriverWait(window.driver, PATIENCE, 0.05).until(
            lambda driver: driver.current_url.startswith(self.app.origin), f"not back in the app, but at {window}"
        )
        parts = urlsplit(window.url)
        told = dict(parse_qsl(parts.query)) or dict(parse_qsl(parts.fragment)) or self.app.requests[-1].values
        assert told["state"] == self.state, told
        return told

    def tokens(self, window: Window) -> dict:
        """The tokens that the app gets for its code."""
        answer = self.answer(window)
        assert "code" in answer, answer
        redeemed = self.spindle.redeem(self.client, answer["code"], code_verifier=self.pkce.verifier)
        assert redeemed.status == 200, redeemed
        return redeemed.json

    def person(self, window: Window) -> dict:
        """The user who returned, as the app learns it."""
        return self.spindle.good("GET", "/me", bearer=self.tokens(window)["access_token"])


@dataclass(frozen=True)
class World:
    server: Server
    spindle: Spindle
    outbox: Outbox
    app: App
    merchant: str
    own: Client
    partner: Client
    phone: Client

    @classmethod
    def build(cls, server: Server, outbox: Outbox, app: App) -> "World":
        spindle = Spindle.of(server)
        merchant = spindle.create_merchant("Bokhandel & Sønn")
        grants = ["authorization_code", "refresh_token"]
        goodbye = {"post_logout_redirect_uris": [app.goodbye], "web_origins": [app.origin]}
        return cls(
            server, spindle, outbox, app, merchant,
            spindle.create_client(merchant, "Leselampa", app.callback, grant_types=grants, scope=SCOPE, **goodbye),
            spindle.create_client(
                merchant, "Word & Partner", app.callback, grant_types=grants, scope=SCOPE, first_party=False
            ),
            spindle.create_client(
                merchant, "Phone", "com.example.app:/login", scope=SCOPE, token_endpoint_auth_method="none",
                grant_types=["password", *grants],
            ),
        )

    def flow(self, client: Client | None = None, **parameters: str) -> SignInFlow:
        client, pkce, state = client or self.own, PKCE(), secrets.token_urlsafe(9)
        parameters = {"state": state, "scope": SCOPE} | parameters
        path = self.spindle.authorize_path(client, pkce, **parameters)
        return SignInFlow(self.spindle, client, path, state, pkce, self.app)

    def address(self) -> str:
        """An address that no user has."""
        return f"{secrets.token_hex(6)}@example.com"

    def password(self) -> str:
        return secrets.token_urlsafe(15)

    def person(self) -> Person:
        """A user with a verified address and a password."""
        return self.spindle.create_person()

    def unverified(self) -> Person:
        """A user whose address is not verified."""
        email, password = self.address(), self.password()
        made = self.spindle.administer("POST", "users", {"email": email, "password": password, "email_verified": False})
        assert made.status == 201, made
        return Person(made.json["user_id"], email, password)

    def can_sign_in(self, email: str, password: str) -> bool:
        """Whether a phone gets tokens for them."""
        return self.spindle.token(self.phone, "password", username=email, password=password).status == 200

    def mail(self, window: Window, address: str, name: str, count: int = 1) -> Mail:
        """The mail number `count` to `address`, which must be the mail `name` in the language of `window`."""
        mail = self.outbox.wait_for(address, count)
        for part, text in (("subject", mail.subject), ("text", mail.text), ("otherwise", mail.html_text)):
            assert says(text, f"mail.{name}.{part}", window.language), f"no mail.{name}.{part} in\n{text}"
        with window.tab() as tab:
            file = self.server.directory / f"{name}.html"
            file.write_text(mail.html, "utf-8")
            tab.open(file.as_uri())
            tab.look(f"mail {name}")
        return mail

    # What users often do

    def sign_in(self, window: Window, person: Person, path: str = "/login", **values: str | bool) -> None:
        window.open(path)
        window.form("password").fill(email=person.email, password=person.password, **values).submit()

    def meet(self, window: Window, flow: SignInFlow) -> None:
        """A user who is signed in opens an app of a merchant for the first time, and continues."""
        window.open(flow.path)
        window.expect("introduction.title", look="introduction")
        window.press("decision", "continue")

    def is_signed_in(self, window: Window) -> bool:
        """Whether /account lets this browser in; leaves it there."""
        window.open("/account")
        return window.path == "/account" and not window.has('form[action^="/login"]')

    def sign_up(self, window: Window, email: str, password: str, path: str = "/signup", **values: str) -> None:
        """Signs up, as far as the page that asks for the code."""
        window.open(path)
        window.form("password").fill(email=email, password=password, **values).submit()
