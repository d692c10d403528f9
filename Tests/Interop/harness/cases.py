"""Bad requests, each with the response it must get."""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from harness.spindle import Client, Person, Spindle
from harness.wire import basic
from harness.world import WEB_REDIRECT, World

FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Scene:
    """What a bad request may refer to, all of it valid."""

    world: World
    token: str
    refresh_token: str
    backend_refresh_token: str
    code: str
    foreign: Client
    disabled_client: Client
    disabled_person: Person

    @property
    def spindle(self) -> Spindle:
        return self.world.spindle

    @property
    def own(self) -> dict[str, str]:
        return {"grant_type": "client_credentials"} | self.world.backend.proof

    def basic(self, **form) -> dict:
        """A form with the backend's Basic credentials."""
        backend = self.world.backend
        return {"form": form, "headers": {"Authorization": basic(backend.id, backend.secret)}}


@dataclass(frozen=True)
class Case:
    """Empty `errors` means that no OAuth error object is required, but a body is."""

    name: str
    method: str
    path: str | Callable[[Scene], str]
    options: Callable[[Scene], dict]
    statuses: tuple[int, ...]
    errors: tuple[str, ...] = ()


def token(name, options, *errors: str, statuses: tuple[int, ...] = (400,)) -> Case:
    return Case(f"token: {name}", "POST", "/oauth/token", options, statuses, errors)


def exchange(name, options, *errors: str, statuses: tuple[int, ...] = (400,)) -> Case:
    return Case(f"exchange: {name}", "POST", "/oauth/exchange", options, statuses, errors)


def raw(body: bytes, content_type: str | None = FORM) -> dict:
    return {"body": body, "headers": {"Content-Type": content_type} if content_type else {}}


def repeated(form: dict, name: str) -> dict:
    return {"form": [*form.items(), (name, form[name])]}


def redemption(s: Scene, client: Client | None = None, **changes: str) -> dict:
    client = client or s.world.backend
    form = {"grant_type": "authorization_code", "code": s.code, "redirect_uri": s.world.backend.redirect_uri}
    return {"form": form | client.proof | changes}


def sign_in(s: Scene, **changes: str) -> dict:
    form = {"grant_type": "password", "username": s.world.person.email, "password": s.world.person.password}
    return {"form": form | s.world.app.proof | changes}


def refreshing(s: Scene, **changes: str) -> dict:
    form = {"grant_type": "refresh_token", "refresh_token": s.refresh_token}
    return {"form": form | s.world.app.proof | changes}


def exchanging(s: Scene, **changes: str) -> dict:
    form = {"clientId": s.world.backend.id, "type": "code"}
    return {"form": {name: value for name, value in (form | changes).items() if value is not None}, "bearer": s.token}


def encoded(s: Scene, tail: bytes) -> bytes:
    """A request that would be valid without its tail."""
    return urlencode(s.own).encode() + tail


def header(value: str, **form: str) -> dict:
    return {"form": {"grant_type": "client_credentials"} | form, "headers": {"Authorization": value}}


BAD, CLIENT, GRANT, LARGE = "invalid_request", "invalid_client", "invalid_grant", "request_too_large"
TOKEN = [
    token("grant_type repeated", lambda s: repeated(s.own, "grant_type"), BAD),
    token("client_id repeated", lambda s: repeated(s.own, "client_id"), BAD),
    token("client_secret repeated", lambda s: repeated(s.own, "client_secret"), BAD),
    token("scope repeated", lambda s: repeated(s.own | {"scope": "email"}, "scope"), BAD),
    token("code repeated", lambda s: repeated(redemption(s)["form"], "code"), BAD),
    token("nothing at all", lambda s: raw(b""), BAD, CLIENT, statuses=(400, 401)),
    token("grant_type missing", lambda s: s.basic(scope="email"), BAD),
    token("grant_type empty", lambda s: s.basic(grant_type=""), BAD),
    token("grant_type unknown", lambda s: s.basic(grant_type="magic"), "unsupported_grant_type"),
    token("grant not of this client", lambda s: s.basic(grant_type="password", username="a@b.c", password="x"),
          "unauthorized_client"),
    token("code missing", lambda s: redemption(s, code=""), BAD),
    token("redirect_uri missing", lambda s: redemption(s, redirect_uri=""), BAD, GRANT),
    token("redirect_uri of another client", lambda s: redemption(s, redirect_uri=WEB_REDIRECT), BAD, GRANT),
    token("redirect_uri with a slash more", lambda s: redemption(s, redirect_uri="https://backend.example/spid/"),
          BAD, GRANT),
    token("verifier without a challenge", lambda s: redemption(s, code_verifier="v" * 50), BAD, GRANT),
    token("code of another client", lambda s: redemption(s, s.world.web), GRANT),
    token("code of another merchant's client", lambda s: redemption(s, s.foreign), GRANT),
    token("code unknown", lambda s: redemption(s, code="A" * 43), GRANT),
    token("code as refresh token", lambda s: refreshing(s, refresh_token=s.code), GRANT),
    token("username missing", lambda s: sign_in(s, username=""), BAD),
    token("password missing", lambda s: sign_in(s, password=""), BAD),
    token("user unknown", lambda s: sign_in(s, username="nobody@example.com"), GRANT),
    token("user disabled", lambda s: sign_in(s, username=s.disabled_person.email, password=s.disabled_person.password),
          GRANT),
    token("refresh_token missing", lambda s: refreshing(s, refresh_token=""), BAD),
    token("refresh token unknown", lambda s: refreshing(s, refresh_token="B" * 43), GRANT),
    token("refresh token of another client", lambda s: refreshing(s, refresh_token=s.backend_refresh_token), GRANT),
    token("access token as refresh token", lambda s: refreshing(s, refresh_token=s.token), GRANT),
    token("refresh with more scope", lambda s: refreshing(s, scope="email phone"), "invalid_scope"),
    token("scope not of this client", lambda s: {"form": s.own | {"scope": "admin"}}, "invalid_scope"),
    token("client unknown", lambda s: {"form": s.own | {"client_id": "nobody"}}, CLIENT, statuses=(401,)),
    token("secret wrong", lambda s: {"form": s.own | {"client_secret": "x" * 43}}, CLIENT, statuses=(401,)),
    token("secret missing", lambda s: {"form": s.own | {"client_secret": ""}}, CLIENT, BAD, statuses=(400, 401)),
    token("secret for a public client", lambda s: refreshing(s, client_secret="x" * 43), CLIENT, statuses=(401,)),
    token("client disabled", lambda s: {"form": s.own | s.disabled_client.proof}, CLIENT, statuses=(401,)),
    token("both credentials", lambda s: s.basic(**s.own), BAD, CLIENT, statuses=(400, 401)),
    token("Basic that is no base64", lambda s: header("Basic !!!"), BAD, CLIENT, statuses=(400, 401)),
    token("Basic without a colon", lambda s: header("Basic " + base64.b64encode(b"abc").decode()), BAD, CLIENT,
          statuses=(400, 401)),
    token("Basic with a bad escape", lambda s: header("Basic " + base64.b64encode(b"%zz:%").decode()), BAD, CLIENT,
          statuses=(400, 401)),
    token("Basic that is no UTF-8", lambda s: header("Basic " + base64.b64encode(b"\xff\xfe:\xff").decode()), BAD,
          CLIENT, statuses=(400, 401)),
    token("Basic with nothing", lambda s: header("Basic"), BAD, CLIENT, statuses=(400, 401)),
    token("another scheme", lambda s: header("Negotiate abc"), BAD, CLIENT, statuses=(400, 401)),
    token("plain text", lambda s: raw(encoded(s, b""), "text/plain"), BAD, statuses=(400, 415)),
    token("no content type", lambda s: raw(encoded(s, b""), None), BAD, statuses=(400, 415)),
    token("multipart", lambda s: raw(b"--x\r\n\r\n--x--", "multipart/form-data; boundary=x"), BAD, statuses=(400, 415)),
    token("64 KiB and one byte", lambda s: raw((encoded(s, b"&x=") + b"a" * 65_537)[:65_537]), BAD, LARGE,
          statuses=(400, 413)),
    token("bad UTF-8", lambda s: raw(encoded(s, b"&scope=\xff\xfe")), BAD),
    token("bad UTF-8, escaped", lambda s: raw(encoded(s, b"&scope=%ff%fe")), BAD),
    token("overlong UTF-8, escaped", lambda s: raw(encoded(s, b"&scope=%c0%af")), BAD),
    token("a bad escape", lambda s: raw(encoded(s, b"&scope=%zz")), BAD),
    token("half an escape", lambda s: raw(encoded(s, b"&scope=%")), BAD),
    token("JSON broken", lambda s: raw(b'{"grant_type":', "application/json"), BAD),
    token("JSON array", lambda s: raw(b"[1,2]", "application/json"), BAD),
    token("JSON of objects", lambda s: {"content": {"grant_type": {"a": 1}}}, BAD),
    token("JSON repeated", lambda s: raw(b'{"grant_type":"password","grant_type":"x"}', "application/json"), BAD),
    token("JSON nested deep", lambda s: raw(b"[" * 20_000, "application/json"), BAD),
]
EXCHANGE = [
    exchange("clientId missing", lambda s: exchanging(s, clientId=None), BAD),
    exchange("clientId unknown", lambda s: exchanging(s, clientId="nobody"), statuses=(403,)),
    exchange("clientId and client_id differ", lambda s: exchanging(s, client_id=s.world.web.id), BAD),
    exchange("type missing", lambda s: exchanging(s, type=None), BAD),
    exchange("type unknown", lambda s: exchanging(s, type="gift"), BAD),
    exchange("type repeated", lambda s: repeated(exchanging(s)["form"] | {"oauth_token": s.token}, "type"), BAD),
    exchange("session without redirectUri", lambda s: exchanging(s, type="session"), BAD),
    exchange("session to a foreign place", lambda s: exchanging(s, type="session", redirectUri="https://evil.example/"),
             BAD),
    exchange("receiver is public", lambda s: exchanging(s, clientId=s.world.app.id), BAD, "unauthorized_client"),
    exchange("receiver of another merchant", lambda s: exchanging(s, clientId=s.foreign.id), statuses=(403,)),
    exchange("two carriers", lambda s: exchanging(s, oauth_token=s.token), BAD),
    exchange("token in the query", lambda s: {"form": exchanging(s)["form"]}, statuses=(400, 401)),
    exchange("no token", lambda s: {"form": exchanging(s)["form"]}, statuses=(400, 401)),
    exchange("unknown token", lambda s: exchanging(s) | {"bearer": "C" * 43}, "invalid_token", statuses=(401,)),
    exchange("JSON text", lambda s: raw(b"{", "application/json") | {"bearer": s.token}, BAD, statuses=(400, 415)),
    exchange("a bad escape", lambda s: raw(b"type=%zz") | {"bearer": s.token}, BAD),
    exchange("too large", lambda s: raw(b"a" * 65_537) | {"bearer": s.token}, BAD, LARGE, statuses=(400, 413)),
]
