"""Requests that no honest client sends (refused, and the connection closed), and similar honest ones."""

from dataclasses import dataclass

from harness.wire import basic
from harness.world import World

TARGET_LIMIT = 8 * 1024
HEADER_LIMIT = 32 * 1024
FIELD_LIMIT = 100
BODY_LIMIT = 64 * 1024

BODY = b"grant_type=client_credentials"
FORM = b"Content-Type: application/x-www-form-urlencoded"
LENGTH = b"Content-Length: %d" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked"
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
# Replaced by a client's credentials, so that a body that is accepted after all gets a token and 200.
PROOF = b"@proof@"


@dataclass(frozen=True)
class Case:
    name: str
    request: bytes
    # None for a valid request, answered with 200.
    statuses: tuple[int, ...] | None = None

    def bytes_for(self, world: World) -> bytes:
        backend = world.backend
        return self.request.replace(PROOF, b"Authorization: " + basic(backend.id, backend.secret).encode())

    @property
    def is_short(self) -> bool:
        return len(self.request) < 600


def get(*fields: bytes, target: bytes = b"/healthz", host: bytes | None = b"Host: x") -> bytes:
    lines = [b"GET " + target + b" HTTP/1.1", *([] if host is None else [host]), *fields]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def post(*fields: bytes, body: bytes = BODY, version: bytes = b"HTTP/1.1") -> bytes:
    lines = [b"POST /oauth/token " + version, b"Host: x", PROOF, FORM, *fields]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def chunked(body: bytes) -> bytes:
    return post(CHUNKED, body=body)


NEXT = get()

BAD = (400,)
# A coding that the server does not know, or a text that is no token.
UNKNOWN_CODING = (400, 501)

HOST = [
    Case("no Host", get(host=None), BAD),
    Case("two Hosts, equal", get(b"Host: x"), BAD),
    Case("two Hosts, different", get(b"Host: y"), BAD),
    *(
        Case(f"Host: {value.decode()}", get(host=b"Host: " + value), BAD)
        for value in [b"a b", b"a@b", b"a,b", b"a/b", b"a:b", b"a:99999", b"[::1", b"a?b", b"a\\b", b"<a>"]
    ),
    Case("a target that names another host", get(target=b"http://y/healthz"), BAD),
    Case("a target with a user", get(target=b"http://u@x/healthz"), BAD),
]

LENGTHS = [
    Case("two lengths, different", post(LENGTH, b"Content-Length: 5"), BAD),
    Case("two lengths, equal", post(LENGTH, LENGTH), BAD),
    *(
        Case(f"Content-Length: {value.decode()}", post(b"Content-Length: " + value), BAD)
        for value in [b"29, 29", b"+29", b"-1", b"", b"0x1d", b"2 9", b"29;", b"twenty", b"29.0"]
    ),
    Case("a length of 2^64 + 29", post(b"Content-Length: 18446744073709551645"), (400, 413)),
    Case("a length of 400 digits", post(b"Content-Length: " + b"9" * 400), (400, 413)),
    Case("a length over the limit", post(b"Content-Length: %d" % (BODY_LIMIT + 1), body=b""), (413,)),
    Case("chunks over the limit", chunked(b"%x\r\n" % (BODY_LIMIT + 1) + b"a" * (BODY_LIMIT + 1)), (413,)),
    Case("length and chunks", post(LENGTH, CHUNKED, body=CHUNKS), BAD),
    Case("chunks and length", post(CHUNKED, LENGTH, body=CHUNKS), BAD),
]

CODINGS = [
    *(
        Case(f"Transfer-Encoding: {value!r}", post(b"Transfer-Encoding: " + value, body=CHUNKS), statuses)
        for value, statuses in [
            (b"gzip", (501,)), (b"gzip, chunked", (501,)), (b"chunked, chunked", (501,)), (b"xchunked", (501,)),
            (b"identity", (501,)), (b"chunked, gzip", (501,)), (b"chunked;a=b", UNKNOWN_CODING),
            (b'"chunked"', UNKNOWN_CODING), (b"", UNKNOWN_CODING), (b"chunked,", UNKNOWN_CODING),
            (b"\x0bchunked", UNKNOWN_CODING), (b"chunked\x0c", UNKNOWN_CODING), (b"\xc2\xa0chunked", UNKNOWN_CODING),
        ]
    ),
    Case("chunked, twice", post(CHUNKED, CHUNKED, body=CHUNKS), UNKNOWN_CODING),
    Case("chunks on HTTP/1.0", post(CHUNKED, body=CHUNKS, version=b"HTTP/1.0"), BAD),
]

CHUNK_LINES = [
    *(
        Case(f"a chunk of {size!r}", chunked(size + b"\r\n" + BODY + b"\r\n0\r\n\r\n"), BAD)
        for size in [
            b"0x1d", b"+1d", b"-1d", b" 1d", b"1d ", b"1d\t", b"", b"1g", b"1d\x00", b"1_d", b"1d\x0b",
        ]
    ),
    *(
        Case(f"a chunk of {size.decode()}", chunked(size + b"\r\n" + BODY + b"\r\n0\r\n\r\n"), (400, 413))
        for size in [b"1" + b"0" * 16, b"f" * 16, b"8000000000000000", b"f" * 100]
    ),
    Case("a chunk line that ends in LF", chunked(b"1d\n" + BODY + b"\r\n0\r\n\r\n"), BAD),
    Case("a chunk line that ends in CR", chunked(b"1d\r" + BODY + b"\r\n0\r\n\r\n"), BAD),
    Case("a chunk that ends in LF", chunked(b"1d\r\n" + BODY + b"\n0\r\n\r\n"), BAD),
    Case("a chunk longer than it says", chunked(b"1d\r\n" + BODY + b"aa0\r\n\r\n"), BAD),
    Case("a last chunk that ends in LF", chunked(b"1d\r\n" + BODY + b"\r\n0\n\r\n"), BAD),
    Case("an LF in an extension", chunked(b"1d;a\nb\r\n" + BODY + b"\r\n0\r\n\r\n"), BAD),
    Case("a CR in an extension", chunked(b"1d;a\rb\r\n" + BODY + b"\r\n0\r\n\r\n"), BAD),
    Case("a NUL in an extension", chunked(b"1d;a\0b\r\n" + BODY + b"\r\n0\r\n\r\n"), BAD),
    Case("a long extension", chunked(b"1d;" + b"a" * 20_000 + b"\r\n" + BODY + b"\r\n0\r\n\r\n"), BAD),
    Case("an extension a chunk", chunked((b"1;" + b"a" * 1000 + b"\r\nx\r\n") * 100 + b"0\r\n\r\n"), BAD),
    *(
        Case(f"a trailer {trailer[:12]!r}", chunked(b"1d\r\n" + BODY + b"\r\n0\r\n" + trailer + b"\r\n\r\n"), BAD)
        for trailer in [b"no colon", b" X: folded", b"X : y", b": y", b"X: a\0b", b"X: a\nY: b"]
    ),
    Case("many trailers", chunked(b"1d\r\n" + BODY + b"\r\n0\r\n" + (b"X: %s\r\n" % (b"y" * 40)) * 200 + b"\r\n"), BAD),
]

LINES = [
    Case("LF after the request line", b"GET /healthz HTTP/1.1\nHost: x\r\n\r\n", BAD),
    Case("LF after a field", b"GET /healthz HTTP/1.1\r\nHost: x\nX: y\r\n\r\n", BAD),
    Case("LF after the last field", b"GET /healthz HTTP/1.1\r\nHost: x\n\r\n", BAD),
    Case("LF at the end", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\n", BAD),
    Case("LF everywhere", b"GET /healthz HTTP/1.1\nHost: x\n\n", BAD),
    Case("CR in a value", get(b"X: a\rTransfer-Encoding: chunked"), BAD),
    Case("CR in the target", get(target=b"/healthz\r?x"), BAD),
    Case("CR at the end", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\rX\r\n\r\n", BAD),
    Case("CR CR LF", b"GET /healthz HTTP/1.1\r\nHost: x\r\r\n\r\n", BAD),
    Case("a blank before the colon", get(b"X : y"), BAD),
    Case("a tab before the colon", get(b"X\t: y"), BAD),
    Case("a blank before the colon of Host", get(host=b"Host : x"), BAD),
    Case("a first field that begins with a blank", get(host=b" Host: x"), BAD),
    Case("a folded line", get(b"X: y", b" z"), BAD),
    Case("a folded line by tab", get(b"X: y", b"\tz"), BAD),
    Case("a folded Host", b"GET /healthz HTTP/1.1\r\nHost:\r\n x\r\n\r\n", BAD),
    Case("a line without colon", get(b"X"), BAD),
    Case("an empty name", get(b": y"), BAD),
    *(
        Case(f"byte {byte:#04x} in a name", get(b"X%cY: z" % byte), BAD)
        for byte in [0x00, 0x01, 0x22, 0x28, 0x2F, 0x40, 0x5B, 0x7B, 0x7F, 0x80, 0xFF]
    ),
    *(
        Case(f"byte {byte:#04x} in a value", get(b"X: a%cb" % byte), BAD)
        for byte in [0x00, 0x01, 0x08, 0x0B, 0x0C, 0x1F, 0x7F]
    ),
    *(
        Case(f"byte {byte:#04x} in the target", get(target=b"/healthz?a%cb" % byte), BAD)
        for byte in [0x00, 0x01, 0x09, 0x23, 0x7F, 0x80, 0xFF]
    ),
]

REQUEST_LINES = [
    Case("two blanks before the target", b"GET  /healthz HTTP/1.1\r\nHost: x\r\n\r\n", BAD),
    Case("two blanks after the target", b"GET /healthz  HTTP/1.1\r\nHost: x\r\n\r\n", BAD),
    Case("a blank before the method", b" GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", BAD),
    Case("a blank at the end of the line", b"GET /healthz HTTP/1.1 \r\nHost: x\r\n\r\n", BAD),
    Case("a tab in the line", b"GET\t/healthz\tHTTP/1.1\r\nHost: x\r\n\r\n", BAD),
    Case("no target", b"GET HTTP/1.1\r\nHost: x\r\n\r\n", BAD),
    Case("a target without slash", get(target=b"healthz"), BAD),
    Case("a star for GET", get(target=b"*"), BAD),
    Case("another scheme", get(target=b"ftp://x/healthz"), BAD),
    Case("HTTP/0.9", b"GET /healthz\r\n", BAD),
    Case("garbage", bytes(range(1, 200)) + b"\r\n\r\n", BAD),
    Case("NULs", b"\0" * 64 + b"\r\n\r\n", BAD),
    Case("words", b"hello, is anybody there?\r\n\r\n", BAD),
    Case("HTTP/2.0 in text", b"GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n", (505,)),
    Case("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (505,)),
    Case("HTTP/3.0", b"GET /healthz HTTP/3.0\r\nHost: x\r\n\r\n", (505,)),
    Case("HTTP/1.10", b"GET /healthz HTTP/1.10\r\nHost: x\r\n\r\n", (400, 505)),
    Case("HTTP/01.1", b"GET /healthz HTTP/01.1\r\nHost: x\r\n\r\n", (400, 505)),
    Case("http/1.1", b"GET /healthz http/1.1\r\nHost: x\r\n\r\n", (400, 505)),
    Case("CONNECT", b"CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", (405, 501)),
    Case("TRACE", b"TRACE /healthz HTTP/1.1\r\nHost: x\r\n\r\n", (405, 501)),
    Case("a method that is no token", b"G(T /healthz HTTP/1.1\r\nHost: x\r\n\r\n", BAD),
]

SIZES = [
    Case("a target over the limit", get(target=b"/healthz?" + b"a" * (TARGET_LIMIT - 8)), (414,)),
    Case("an endless target", b"GET /" + b"a" * (HEADER_LIMIT * 2), (414,)),
    Case("a field over the limit", get(b"X: " + b"a" * HEADER_LIMIT), (431,)),
    Case("fields over the limit", get(*[b"X: " + b"a" * 1000] * 40), (431,)),
    Case("an endless field", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"a" * (HEADER_LIMIT * 2), (431,)),
    Case("a field too many", get(*[b"X: y"] * FIELD_LIMIT), (431,)),
    *(
        Case(f"Expect: {value.decode()}", post(b"Expect: " + value, LENGTH), (417,))
        for value in [b"200-ok", b"y 100-continue", b"100-continue, x", b"100-continue; a=b"]
    ),
]

REFUSED = HOST + LENGTHS + CODINGS + CHUNK_LINES + LINES + REQUEST_LINES + SIZES

HONEST = [
    Case("a plain request", get()),
    Case("a Host with a port", get(host=b"Host: x:8080")),
    Case("a Host that is an IPv6 address", get(host=b"Host: [::1]:8080")),
    Case("a Host in capitals", get(host=b"HOST: X")),
    Case("blanks around a value", get(host=b"Host:\t x \t")),
    Case("an empty value", get(b"X:")),
    Case("every byte of a name", get(b"!#$%&'*+-.^_`|~09azAZ: y")),
    Case("a target that names the host", get(target=b"http://x/healthz")),
    Case("a target that names it in capitals", get(target=b"HTTP://X/healthz")),
    Case("a body by length", post(LENGTH)),
    Case("a body in a chunk", chunked(CHUNKS)),
    Case("a body in two chunks", chunked(b"5\r\n%s\r\n018\r\n%s\r\n000\r\n\r\n" % (BODY[:5], BODY[5:]))),
    Case("a chunk in capitals", chunked(b"1D\r\n" + BODY + b"\r\n0\r\n\r\n")),
    Case("a chunk with an extension", chunked(b'1d;a;b=c;d="e f"\r\n' + BODY + b"\r\n0\r\n\r\n")),
    Case("a trailer", chunked(b"1d\r\n" + BODY + b"\r\n0\r\nX: y\r\n\r\n")),
    Case("a trailer that would be a proof", chunked(b"1d\r\n" + BODY + b"\r\n0\r\nAuthorization: Basic eA==\r\n\r\n")),
    Case("Chunked in capitals", post(b"transfer-encoding: CHUNKED", body=CHUNKS)),
    Case("Expect: 100-continue", post(b"Expect: 100-continue", LENGTH)),
    Case("an upgrade that is not taken", get(b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c",
                                             b"HTTP2-Settings: AAMAAABkAAQAAP__")),
    Case("a target at the limit", get(target=b"/healthz?" + b"a" * (TARGET_LIMIT - 9))),
    Case("fields at the limit", get(*[b"X: y"] * (FIELD_LIMIT - 1))),
    Case("a large header", get(*[b"X: " + b"a" * 1000] * 30)),
]
