"""HTTP as bytes: one request, one response, nothing hidden. Only the standard library, to control connections."""

import base64
import http.client
import json
import socket
import ssl
import time
from dataclasses import dataclass
from urllib.parse import quote_plus, urlencode

# How long a connection may exceed its limit before it counts as not closed. It need not be precise.
PATIENCE = 20


@dataclass(frozen=True)
class Answer:
    """A response that was read to its end."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self) -> str | None:
        """The OAuth error code, or None when the body is no OAuth error."""
        try:
            return self.json.get("error")
        except (ValueError, AttributeError):
            return None

    @property
    def location(self) -> str | None:
        return self.headers.get("Location")

    @property
    def set_cookies(self) -> list[str]:
        return self.headers.get_all("Set-Cookie") or []

    def __str__(self) -> str:
        return f"{self.status} {self.text[:600]}"


@dataclass(frozen=True)
class Address:
    """Where the server listens, and the TLS context for it, if any."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None

    @property
    def origin(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"

    def connect(self, timeout: float = 30, source: str | None = None) -> http.client.HTTPConnection:
        """A new connection; `source` is the loopback address to come from, to look like another client."""
        options = {"timeout": timeout, "source_address": (source, 0) if source else None}
        if self.tls:
            return http.client.HTTPSConnection(self.host, self.port, context=self.tls, **options)
        return http.client.HTTPConnection(self.host, self.port, **options)

    def dial(self, timeout: float = 30) -> socket.socket:
        """A bare TCP connection, to send what no HTTP library would."""
        return socket.create_connection((self.host, self.port), timeout=timeout)


def basic(identifier: str, secret: str) -> str:
    """The Authorization value of RFC 6749 §2.3.1: both parts form-encoded, then Basic."""
    pair = f"{quote_plus(identifier)}:{quote_plus(secret)}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


def send(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    *,
    form=None,
    content=None,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
    bearer: str | None = None,
) -> Answer:
    """Sends a request and reads its response to the end."""
    fields = dict(headers or {})
    if form is not None:
        body = urlencode(form).encode()
        fields.setdefault("Content-Type", "application/x-www-form-urlencoded")
    if content is not None:
        body = json.dumps(content).encode()
        fields.setdefault("Content-Type", "application/json")
    if bearer is not None:
        fields["Authorization"] = f"Bearer {bearer}"
    connection.request(method, path, body=body, headers=fields)
    response = connection.getresponse()
    return Answer(response.status, response.headers, response.read())


def converse(address: Address, request: bytes, timeout: float = 10, half_close: bool = False) -> list[Answer]:
    """Sends raw bytes and returns each response before the server closes. `half_close` ends the sending."""
    with address.dial(timeout) as line:
        try:
            line.sendall(request)
            if half_close:
                line.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # The server may refuse early; its response is still readable.
        return read_answers(line)


def read_answers(line: socket.socket) -> list[Answer]:
    """Every complete response on `line` until it is closed or falls silent."""
    answers: list[Answer] = []
    with line.makefile("rb") as stream:
        while True:
            response = http.client.HTTPResponse(_Stream(stream), method="GET")
            try:
                response.begin()
                answers.append(Answer(response.status, response.headers, response.read()))
            except (http.client.HTTPException, OSError, ValueError):
                return answers
            if response.will_close and response.length is None:
                return answers


def seconds_until_closed(line: socket.socket, drip: bytes = b"", every: float = 0.25) -> float:
    """How long the server keeps `line` open while `drip` is sent byte by byte."""
    started = time.monotonic()
    line.settimeout(every)
    rest = iter(drip)
    while time.monotonic() - started < PATIENCE:
        try:
            if (byte := next(rest, None)) is not None:
                line.sendall(bytes([byte]))
            if line.recv(4096) == b"":
                return time.monotonic() - started
        except TimeoutError:
            continue
        except OSError:
            return time.monotonic() - started
    raise AssertionError(f"still open after {PATIENCE} s")


class _Stream:
    """What HTTPResponse needs of a socket: the same reader each time, never closed by it."""

    def __init__(self, stream):
        self._stream = stream

    def makefile(self, *_arguments):
        return _Unclosed(self._stream)


class _Unclosed:
    def __init__(self, stream):
        self._stream = stream

    def close(self):
        pass

    def flush(self):
        pass

    @property
    def closed(self):
        return False

    def __getattr__(self, name):
        return getattr(self._stream, name)
