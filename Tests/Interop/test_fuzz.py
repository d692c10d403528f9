"""A seeded storm of mutated requests: never a 500, never an empty error, and the server is well afterwards."""

import random
from urllib.parse import quote

import pytest

from harness.wire import converse

SEED = 20_260_731
REQUESTS = 1600
TORN = 400
SCRAPS = [
    "", "a", "%00", "%zz", "%", "%ff", "\u00e6", "'; DROP TABLE clients; --", "../../etc/passwd", "{}", "[]", "null",
    "-1", "9" * 30, "a" * 3000, "a=b&c", "<script>", "\t", "%0d%0aSet-Cookie: x=1", "code", "session", "S256", "openid",
]
HEADERS = [
    "Authorization", "Cookie", "Content-Type", "Accept", "Sec-Fetch-Dest", "X-Forwarded-For", "Forwarded", "Origin",
]
NAMES = [
    "grant_type", "client_id", "client_secret", "code", "redirect_uri", "code_verifier", "refresh_token", "scope",
    "username", "assertion", "clientId", "type", "redirectUri", "oauth_token", "token", "token_type_hint",
    "response_type", "state", "nonce", "code_challenge", "code_challenge_method", "prompt", "max_age", "cursor",
]
# The password grant is left out: its hashes would slow the storm down.
GRANTS = ["client_credentials", "authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer"]
PATHS = [
    "/oauth/token", "/oauth/exchange", "/oauth/introspect", "/oauth/revoke", "/oauth/authorize", "/auth/session/{}",
    "/session/{}", "/me", "/user/{}", "/api/2/me", "/api/2/user/{}", "/api/2/oauth/token", "/api/2/oauth/exchange",
    "/login", "/logout", "/admin/v1/merchants", "/admin/v1/clients/{}", "/admin/v1/users/{}", "/admin/v1/issuers",
    "/healthz", "/readyz", "/{}", "/authorize", "/flow/login",
]
TYPES = ["application/x-www-form-urlencoded", "application/json", "text/plain", "application/x-www-form-urlencoded;x=%"]


class Storm:
    def __init__(self, world, token: str):
        self.chance = random.Random(SEED)
        self.known = [world.app.id, world.backend.id, world.backend.secret, world.web.id, world.backend.redirect_uri]
        self.tokens = [token, world.spindle.admin_token()]

    def value(self) -> str:
        kind = self.chance.random()
        if kind < 0.35:
            return self.chance.choice(self.known)
        if kind < 0.45:
            return self.chance.choice(self.tokens)
        if kind < 0.8:
            return self.chance.choice(SCRAPS)
        return "".join(chr(self.chance.randrange(32, 0x2FF)) for _ in range(self.chance.randrange(40)))

    def body(self) -> bytes:
        if self.chance.random() < 0.15:
            members = ",".join(f'"{self.chance.choice(NAMES)}":{self.chance.choice(SCRAPS)}' for _ in range(3))
            return ("{" + members + "}").encode()
        pairs = [("grant_type", self.chance.choice(GRANTS))] if self.chance.random() < 0.6 else []
        pairs += [(self.chance.choice(NAMES), self.value()) for _ in range(self.chance.randrange(6))]
        encode = quote if self.chance.random() < 0.7 else str
        body = "&".join(f"{name}={encode(value)}" for name, value in pairs).encode("utf-8", "surrogatepass")
        if self.chance.random() < 0.1:
            body += bytes(self.chance.randrange(256) for _ in range(20))
        return body

    def request(self) -> bytes:
        """Well-formed HTTP with anything inside."""
        path = self.chance.choice(PATHS).replace("{}", quote(self.value()) or "x")
        if self.chance.random() < 0.3:
            path += "?" + quote(self.body().decode("latin-1"), safe="=&%")
        method = self.chance.choice(["GET", "POST", "POST", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
        body = self.body() if method in ("POST", "PUT", "PATCH") else b""
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close", f"Content-Length: {len(body)}"]
        lines.append(f"Content-Type: {self.chance.choice(TYPES)}")
        if self.chance.random() < 0.3:
            lines.append(f"Authorization: Bearer {self.chance.choice(self.tokens)}")
        elif self.chance.random() < 0.6:
            value = "".join(character for character in self.value() if " " <= character <= "~")
            lines.append(f"{self.chance.choice(HEADERS)}: {value}")
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body

    def torn(self) -> bytes:
        """A request with some bytes changed."""
        request = bytearray(self.request())
        for _ in range(self.chance.randrange(1, 6)):
            request[self.chance.randrange(len(request))] = self.chance.randrange(256)
        return bytes(request[: self.chance.randrange(1, len(request) + 1)] if self.chance.random() < 0.3 else request)


@pytest.fixture(scope="module")
def storm(world) -> Storm:
    return Storm(world, world.phone()["access_token"])


def test_no_well_formed_request_gets_a_500_or_an_empty_error(world, storm):
    statuses: dict[int, int] = {}
    for number in range(REQUESTS):
        request = storm.request()
        answers = converse(world.spindle.address, request)
        assert answers, f"request {number} was not answered: {request[:400]}"
        answer = answers[0]
        statuses[answer.status] = statuses.get(answer.status, 0) + 1
        assert answer.status < 500, f"request {number}: {request[:400]}\n{answer}"
        assert answer.status < 400 or answer.body.strip(), f"request {number} got an empty error: {request[:400]}"
    # Otherwise the storm never reached the endpoints.
    assert statuses.get(200, 0) > 10 and statuses.get(400, 0) > 100, statuses


def test_no_torn_request_gets_a_500(world, storm):
    for number in range(TORN):
        request = storm.torn()
        for answer in converse(world.spindle.address, request, half_close=True):
            assert answer.status < 500 or answer.status in (501, 505), f"request {number}: {request[:400]}\n{answer}"


def test_the_server_is_healthy_after_the_fuzzing(world):
    assert world.spindle.call("GET", "/readyz").status == 200
    assert world.spindle.client_credentials(world.backend).status == 200
    assert world.phone()["user_id"] == world.person.id
