"""Just enough HTTP/2 (RFC 9113) to be a bad client: frames by hand, over TLS."""

import socket
import ssl
import struct
import time

from harness.wire import PATIENCE, Address

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, CONTINUATION = 0, 1, 3, 4, 6, 7, 9
END_STREAM, END_HEADERS = 1, 4


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def headers(path: str, *fields: tuple[bytes, bytes]) -> bytes:
    """A POST as HPACK literals without indexing (RFC 7541 §6.2.2), except what the static table has whole."""
    block = b"\x83\x87" + b"\x04" + _text(path.encode()) + b"\x01" + _text(b"localhost")
    return block + b"".join(b"\x00" + _text(name) + _text(value) for name, value in fields)


def _text(value: bytes) -> bytes:
    assert len(value) < 127
    return bytes([len(value)]) + value


def dial(address: Address, certificate: str, protocol: str) -> ssl.SSLSocket:
    """A TLS connection that agreed on `protocol`."""
    trust = ssl.create_default_context(cafile=certificate)
    trust.set_alpn_protocols([protocol])
    line = trust.wrap_socket(
        socket.create_connection((address.host, address.port), timeout=10), server_hostname=address.host
    )
    assert line.selected_alpn_protocol() == protocol
    return line


def seconds_until_refused(line: ssl.SSLSocket, stream: int, drip: bytes, every: float = 0.25) -> float:
    """How long the server bears with `drip`, sent again and again, until it resets `stream`, answers it or closes."""
    started, received = time.monotonic(), b""
    line.settimeout(every)
    while time.monotonic() - started < PATIENCE:
        try:
            if drip:
                line.sendall(drip)
            if not (part := line.recv(4096)):
                return time.monotonic() - started
            received += part
        except TimeoutError:
            continue
        except OSError:
            return time.monotonic() - started
        for kind, of_stream in _frames(received):
            if kind == GOAWAY or of_stream == stream and kind in (RST_STREAM, HEADERS):
                return time.monotonic() - started
    raise AssertionError(f"the server still bears with it after {PATIENCE} s")


def _frames(received: bytes):
    """Kind and stream of each frame in `received`."""
    while len(received) >= 9:
        length = int.from_bytes(received[:3], "big")
        yield received[3], int.from_bytes(received[5:9], "big")
        received = received[9 + length :]
