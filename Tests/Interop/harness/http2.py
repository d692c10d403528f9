"""Just enough HTTP/2 (RFC 9113) for a bad client: frames made by hand, over TLS."""

import socket
import ssl
import struct
import time

import hpack

from harness.wire import PATIENCE, Address

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, CONTINUATION = 0, 1, 3, 4, 6, 7, 9
END_STREAM, END_HEADERS = 1, 4


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def headers(path: str, *fields: tuple[bytes, bytes]) -> bytes:
    """A POST as HPACK literals without indexing (RFC 7541 §6.2.2), except for fields in the static table."""
    block = b"\x83\x87" + b"\x04" + _text(path.encode()) + b"\x01" + _text(b"localhost")
    return block + b"".join(b"\x00" + _text(name) + _text(value) for name, value in fields)


def _text(value: bytes) -> bytes:
    assert len(value) < 127
    return bytes([len(value)]) + value


def dial(address: Address, certificate: str, protocol: str) -> ssl.SSLSocket:
    """A TLS connection that negotiated `protocol`."""
    trust = ssl.create_default_context(cafile=certificate)
    trust.set_alpn_protocols([protocol])
    line = trust.wrap_socket(
        socket.create_connection((address.host, address.port), timeout=10), server_hostname=address.host
    )
    assert line.selected_alpn_protocol() == protocol
    return line


def seconds_until_refused(line: ssl.SSLSocket, stream: int, drip: bytes, every: float = 0.25) -> float:
    """How long the server tolerates `drip`, sent again and again, until it resets `stream`, answers it or closes."""
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
    """The kind and stream of each frame in `received`."""
    while len(received) >= 9:
        length = int.from_bytes(received[:3], "big")
        yield received[3], int.from_bytes(received[5:9], "big")
        received = received[9 + length :]


class Frames:
    """The frames received on a connection: kind, flags, stream and payload of each."""

    def __init__(self):
        self.frames: list[tuple[int, int, int, bytes]] = []
        self.is_over = False
        self._rest = b""

    def add(self, data: bytes) -> bool:
        """Adds received data. False when the connection has ended."""
        self.is_over = self.is_over or not data
        self._rest += data
        while len(self._rest) >= 9 and len(self._rest) >= 9 + int.from_bytes(self._rest[:3], "big"):
            end = 9 + int.from_bytes(self._rest[:3], "big")
            stream = int.from_bytes(self._rest[5:9], "big")
            self.frames.append((self._rest[3], self._rest[4], stream, self._rest[9:end]))
            self._rest = self._rest[end:]
        return bool(data)

    def of(self, kind: int) -> list[tuple[int, bytes]]:
        """The stream and payload of each frame of `kind`, without acknowledgements of settings."""
        return [(stream, payload) for its, _, stream, payload in self.frames if its == kind]

    def codes(self, kind: int) -> list[int]:
        """The error codes in frames of `kind`."""
        return [int.from_bytes(payload[4:8] if kind == GOAWAY else payload, "big") for _, payload in self.of(kind)]

    def ends(self, stream: int) -> bool:
        """Whether the last frame of `stream`, or its reset, has arrived."""
        return any(
            at == stream and (kind == RST_STREAM or kind in (DATA, HEADERS) and flags & END_STREAM)
            for kind, flags, at, _ in self.frames)

    def first_of(self, streams: list[int]) -> dict[int, int | None]:
        """The status of each answered stream of `streams`; None for one that was reset."""
        found: dict[int, int | None] = {}
        for kind, _, at, payload in self.frames:
            if at in streams and at not in found and kind in (HEADERS, RST_STREAM):
                found[at] = _status(payload) if kind == HEADERS else None
        return found

    def wait(self, line: socket.socket, until) -> None:
        """Reads until `until` returns true, or the server closes."""
        deadline = time.monotonic() + PATIENCE
        line.settimeout(0.2)
        while not until() and not self.is_over:
            assert time.monotonic() < deadline, f"nothing of the kind came: {self}"
            try:
                self.add(line.recv(65_536))
            except TimeoutError:
                continue
            except OSError:
                self.is_over = True

    def __str__(self) -> str:
        told = [(kind, flags, at, payload[:16]) for kind, flags, at, payload in self.frames]
        return f"{told[:12]} … {told[-3:]}{', closed' if self.is_over else ''}"


def _status(block: bytes) -> int:
    """The status at the start of a block: an index of the static table, or a literal (RFC 7541 appendix A)."""
    known = {0x88: 200, 0x89: 204, 0x8A: 206, 0x8B: 304, 0x8C: 400, 0x8D: 404, 0x8E: 500}
    if block[0] in known:
        return known[block[0]]
    # A literal with the name of entry 8, Huffman-coded or plain.
    decoder = hpack.Decoder()
    return int(dict(decoder.decode(block, raw=True))[b":status"])
