"""The walk of extreme values, in legs: one actor, one route, one method, many requests."""

import base64
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import quote

from harness.cast import SPID_ORIGIN, Cast
from harness.documented import Documented
from harness.extremes import BODIES, ESCAPED, HEADERS, JSON_VALUES, SEGMENTS, TYPES
from harness.line import Line
from harness.spindle import PKCE
from harness.world import BACKEND_REDIRECT, WEB_REDIRECT

FORM, JSON = b"application/x-www-form-urlencoded", b"application/json"
# The claims and header members of JWTs that the server reads.
CLAIMS = [
    "iss", "sub", "aud", "exp", "iat", "nbf", "jti", "nonce", "azp", "email", "email_verified", "name", "locale", "events",
    "auth_time", "acr", "sid", "phone_number", "address", "picture", "birthdate", "updated_at", "client_id", "scope",
]
HEADER = ["alg", "typ", "kid", "crit", "jwk", "b64", "x5c", "zip"]

# The actors, by the beginning of the path; the first match counts.
ACTORS = [
    ("/admin/v1/", ("platform", "merchant", "person", "nobody")),
    ("/api/2/oauth/token", ("client", "nobody")),
    ("/api/2/", ("spid_client", "spid_person", "nobody")),
    ("/oauth/token", ("client", "public", "nobody")),
    ("/oauth/introspect", ("client", "nobody")),
    ("/oauth/revoke", ("client", "public", "nobody")),
    ("/oauth/exchange", ("person", "own_token", "nobody")),
    ("/oauth/register", ("registrar", "registered", "nobody")),
    ("/oauth/userinfo", ("person", "own_token", "nobody")),
    ("/userinfo", ("person", "nobody")),
    ("/me", ("person", "own_token", "nobody")),
    ("/user/", ("person", "own_token", "nobody")),
    ("/webhooks/", ("nobody",)),
    ("/healthz", ("nobody",)),
    ("/readyz", ("nobody",)),
    ("/assets/", ("nobody",)),
    ("/account", ("browser", "nobody")),
    ("/", ("browser", "visitor", "nobody")),
]
METHODS = [
    ("/admin/v1/", ("GET", "POST", "PATCH", "DELETE")),
    ("/oauth/register/", ("GET", "PUT", "DELETE")),
    ("/", ("GET", "POST")),
]


def first(table: list, path: str):
    return next(entry for start, entry in table if path.startswith(start))


def actors(route: Documented) -> tuple[str, ...]:
    # With --dev there is no password to sign in with.
    return ("visitor", "nobody") if route.is_of_development else first(ACTORS, route.path)


@dataclass(frozen=True)
class Leg:
    path: str
    names: tuple[str, ...]
    method: str
    actor: str

    @property
    def length(self) -> int:
        """Covers each name at least once, and some headers, segments and bodies."""
        if self.method == "DELETE" or self.path.startswith("/admin/v1/") and self.actor in ("person", "nobody"):
            return 8
        return max(len(self.names), 24)


def plan(routes: list[Documented]) -> list[Leg]:
    def names(route: Documented, method: str) -> tuple[str, ...]:
        # The members of administration's objects belong in bodies.
        return route.queried if route.path.startswith("/admin/v1/") and method == "GET" else route.names

    return [
        Leg(route.path, names(route, method), method, actor)
        for route in routes
        for method in first(METHODS, route.path)
        for actor in actors(route)
    ]


@dataclass
class Walk:
    """One part of the walk: the requests it sends and their results."""

    cast: Cast
    seed: str
    sent: int = 0
    statuses: Counter = field(default_factory=Counter)
    # All problems, so that one run reports them all.
    bad: list[str] = field(default_factory=list)

    def go(self, leg: Leg, number: int) -> None:
        self.cast.renew(leg.actor)
        requests = Requests(self.cast, leg, random.Random(f"{self.seed} {leg}"))
        # A separate address for each leg: a throttle that one leg sets off must not spare the next ones.
        line = Line(self.cast.spindle.address, f"127.{1 + number // 200}.{number % 200}.1")
        try:
            for step in range(leg.length):
                target, headers, body = requests.make(step)
                told = f"{leg.actor}: {leg.method} {target[:600]!r} {headers!r:.900} {body and body[:900]!r}"
                self.sent += 1
                try:
                    status = line.send(leg.method.encode(), target, headers, body)
                except OSError as error:
                    self.bad.append(f"no answer ({error}): {told}")
                    continue
                self.statuses[status] += 1
                if status >= 500:
                    self.bad.append(f"{status}: {told}")
                if step == 0 and status == 405:
                    # The route has no such method: the server reads nothing else of the request.
                    break
        finally:
            line.close()


class Requests:
    """The requests of a leg. Each has one extreme part; the rest is valid, so that it gets far."""

    def __init__(self, cast: Cast, leg: Leg, chance: random.Random):
        self.cast, self.leg, self.chance = cast, leg, chance
        self.collection = leg.path.split("/")[3] if leg.path.startswith("/admin/v1/") else None
        self.is_json = leg.path.startswith(("/admin/v1/", "/oauth/register", "/webhooks/"))
        self.placeholders = self._placeholders()
        self.names = list(leg.names) or ["a"]
        chance.shuffle(self.names)
        # A different part of each list in every leg.
        self.turn = chance.randrange(10_000)
        self.hidden: dict[str, str] = {}
        if leg.actor in ("browser", "visitor"):
            browser = cast.browser(leg.actor)
            if leg.method == "POST":
                self.hidden = cast.form_fields(browser, self.target().decode())
            cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
            self.identity = [(b"Cookie", cookies.encode()), (b"Accept", b"text/html"), (b"Sec-Fetch-Dest", b"document")]
        else:
            self.identity = cast.fields(leg.actor)
        if leg.path.startswith(("/ajax/", "/rpc/")):
            self.identity = [pair for pair in self.identity if pair[0] == b"Cookie"]
            self.identity += [(b"Origin", SPID_ORIGIN.encode()), (b"Sec-Fetch-Dest", b"script")]

    def make(self, step: int) -> tuple[bytes, list[tuple[bytes, bytes]], bytes | None]:
        self.turn += 1
        headers, name = list(self.identity), self.names[step % len(self.names)]
        target, body, kind = self.target(), None, step % 12
        if kind == 3:
            odd = self._of(HEADERS)
            headers = [field for field in headers if field[0] != odd[0]] + [odd]
        elif kind == 7 and self.placeholders:
            target = self._odd_target()
        # With an odd header, path or content type, the parameters are valid.
        honest = kind in (3, 5, 7) and not (kind == 7 and not self.placeholders)
        base = self._base(step)
        if self.leg.method in ("GET", "DELETE"):
            target += b"?" + self._encoded(base if honest else self._with(base, name, step))
        else:
            as_json = self.is_json or kind == 11 and self.leg.path.startswith("/oauth/")
            headers.append((b"Content-Type", self._of(TYPES) if kind == 5 else JSON if as_json else FORM))
            if kind == 9:
                body = self._of(BODIES)
            elif as_json:
                body = self._object(base, None if honest else name)
            else:
                body = self._encoded(base if honest else self._with(base, name, step))
            if kind == 10:
                target += b"?" + self._encoded(self._with([], name, step))
        return target, headers, body

    def _of(self, values: list):
        return values[(self.turn * 7919) % len(values)]

    def _with(self, base: list, name: str, step: int) -> list:
        """Sometimes sends the parameter twice, and sometimes beside a valid one."""
        kept = [pair for pair in base if pair[0] != name or step % 13 == 12]
        return kept + [(name, self._of(ESCAPED))] * (2 if step % 9 == 8 else 1)

    def _encoded(self, pairs: list) -> bytes:
        # Bytes are encoded already.
        def encoded(value) -> bytes:
            if isinstance(value, bytes):
                return value
            return quote(value if isinstance(value, str) else json.dumps(value), safe="").encode()

        return b"&".join(quote(name).encode() + b"=" + encoded(value) for name, value in pairs)

    def _object(self, base: list, name: str | None) -> bytes:
        members = [(key, json.dumps(value).encode()) for key, value in base if key != name]
        if name is not None:
            members.append((name, self._of(JSON_VALUES)))
        return b"{" + b",".join(json.dumps(key).encode() + b":" + value for key, value in members) + b"}"

    # Paths

    def _placeholders(self) -> dict[str, str]:
        cast, path = self.cast, self.leg.path
        address = base64.urlsafe_b64encode(cast.world.person.email.encode()).decode().rstrip("=")
        values = {
            "code": "A" * 43, "link": "A" * 43, "issuer": cast.issuer, "name": "ditto", "merchant": cast.world.merchant,
            "base64": address, "email": address, "sid": "1",
        }
        named = [part.split("}")[0] for part in path.split("{")[1:]]
        if "token" in named:
            values["token"] = cast.token("spid_person")
        if path.startswith("/oauth/register/"):
            values["id"] = cast.registered()["client_id"]
        elif path.startswith("/api/2/client"):
            values["id"] = cast.spid.id
        elif self.collection and "id" in named:
            own = {"merchants": cast.world.merchant, "users": cast.neighbour.id}
            is_own = self.leg.actor == "merchant" and self.leg.method != "DELETE" and self.collection in own
            values["id"] = own[self.collection] if is_own else cast.victim(self.collection)
        return {name: values.get(name, cast.world.person.id) for name in named}

    def target(self) -> bytes:
        path = self.leg.path
        for name, value in self.placeholders.items():
            path = path.replace("{" + name + "}", value)
        return path.encode()

    def _odd_target(self) -> bytes:
        odd = self.chance.choice(list(self.placeholders))
        start, end = self.leg.path.split("{" + odd + "}", 1)
        for name, value in self.placeholders.items():
            start, end = start.replace("{" + name + "}", value), end.replace("{" + name + "}", value)
        return start.encode() + self._of(SEGMENTS) + end.encode()

    # Valid parameters

    def _base(self, step: int) -> list:
        path = self.leg.path
        if self.collection:
            return list(self.cast.members(self.collection).items()) if self.leg.method == "POST" else []
        if path.startswith("/oauth/register"):
            own = [("client_id", self.placeholders["id"])] if self.placeholders else []
            return [("redirect_uris", [WEB_REDIRECT]), *own]
        if path.startswith("/webhooks/"):
            return [("provider", "spindle"), ("token", "a"), ("appID", "b")]
        form = self._form(step) | self.hidden
        if self.leg.actor == "public":
            form["client_id"] = self.cast.world.app.id
        return list(form.items())

    def _form(self, step: int) -> dict[str, str]:
        world, path = self.cast.world, self.leg.path
        mail = {"email": f"new{self.cast.number()}@example.com"}
        if path.endswith("/oauth/token"):
            return self._grant(step)
        if path in ("/oauth/authorize", "/authorize", "/auth/signup") or path.startswith(("/flow/", "/auth/login")):
            if path not in ("/flow/password", "/flow/logout"):
                return {
                    "response_type": "code", "client_id": world.web.id, "redirect_uri": WEB_REDIRECT, "state": "s",
                    "scope": "openid email", "nonce": "n", "code_challenge": PKCE().challenge,
                    "code_challenge_method": "S256",
                }
        for start, form in [
            ("/oauth/exchange", {"clientId": world.web.id, "type": "session" if step % 2 else "code",
                                 "redirectUri": WEB_REDIRECT}),
            ("/api/2/oauth/exchange", {"clientId": world.web.id, "type": "code"}),
            ("/oauth/introspect", {"token": "A" * 43}),
            ("/oauth/revoke", {"token": "A" * 43}),
            ("/oauth/consent", {"decision": "allow"}),
            ("/ajax/", {"client_id": self.cast.spid.id, "callback": "a"}),
            ("/rpc/", {"client_id": self.cast.spid.id, "callback": "a"}),
            ("/api/2/signup", mail | {"acceptTerms": "0"}),
            ("/api/2/user/{id}/connected", {"clientId": world.backend.id}),
            ("/account/profile", {"name": "Kari"}),
            ("/account/sessions/", {"session": "1"}),
            ("/account/apps/", {"client": world.web.id}),
            ("/account/links/", {"issuer": self.cast.issuer, "subject": "u-1"}),
            ("/account/", mail | {"current_password": "not the password", "new_password": "another password"}),
            ("/login/with/", {"state": "A" * 43, "code": "a"}),
            ("/login", mail | {"password": "not the password", "continue": "/account", "verification": "A" * 43}),
            ("/signup", mail | {"password": "", "name": "Kari", "verification": "A" * 43, "code": "123456"}),
            ("/verify", {"verification": "A" * 43, "code": "123456"}),
            ("/password", mail | {"password": "short"}),
            ("/flow/password", {"client_id": world.web.id, "redirect_uri": WEB_REDIRECT}),
            ("/auth/forgotpassword", {"client_id": world.web.id, "redirect_uri": WEB_REDIRECT}),
        ]:
            if path.startswith(start):
                return form
        if path.endswith("/logout"):
            return {"client_id": world.web.id, "redirect_uri": WEB_REDIRECT, "state": "s"}
        return {}

    def _grant(self, step: int) -> dict[str, str]:
        """Each grant in turn. Every other JWT has one extreme claim or header member."""
        odd = {self.chance.choice(CLAIMS): self._of(JSON_VALUES)} if step % 2 else {}
        head = {self.chance.choice(HEADER): self._of(JSON_VALUES)} if step % 10 == 4 else {}
        kind = "urn:ietf:params:oauth:grant-type:"
        proof = {"client_id": self.cast.receiver.id, "client_secret": self.cast.receiver.secret}
        # An actor with credentials in a header must not send others.
        proof = proof if self.leg.actor == "nobody" else {}
        match step % 7 if self.leg.actor != "public" else 0:
            case 0:
                return {"grant_type": "refresh_token", "refresh_token": "A" * 43}
            case 1:
                return {"grant_type": "client_credentials", "scope": "email"}
            case 2 if self.leg.actor == "client":
                code = self.cast.code()
                return {"grant_type": "authorization_code", "code": code, "redirect_uri": BACKEND_REDIRECT}
            case 3 if self.leg.actor == "client":
                return {"grant_type": "refresh_token", "refresh_token": self.cast.refresh_token()}
            case 2 | 3 | 4:
                return proof | {"grant_type": kind + "jwt-bearer", "assertion": self.cast.assertion(odd, head)}
            case 5:
                return proof | {
                    "grant_type": kind + "token-exchange", "subject_token": self.cast.assertion(odd, head),
                    "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
                }
            case _:
                return {
                    "grant_type": "client_credentials", "client_assertion": self.cast.client_assertion(odd, head),
                    "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                }
