"""Half a million HTTP/2 streams that are reset or malformed leave nothing behind."""

import sys
import time

from measures import Proof, ask, client_context, many_descriptors, secure, serving, settled

from harness.http2 import END_HEADERS, END_STREAM, HEADERS, PREFACE, RST_STREAM, SETTINGS, frame, headers
from harness.process import resident, sockets

# Below the number that ends a connection, a thousand at once (not in docs/operating.md).
EACH = 450
CONNECTIONS = 1_100
WARM = 100


def reset_streams() -> bytes:
    """A connection's worth of requests that are reset as soon as they are made."""
    block, code = b"\x82" + headers("/healthz")[1:], (8).to_bytes(4, "big")
    return b"".join(
        frame(HEADERS, END_HEADERS | END_STREAM, 2 * number + 1, block) + frame(RST_STREAM, 0, 2 * number + 1, code)
        for number in range(EACH))


def malformed_streams() -> bytes:
    """Requests that are malformed: with a connection-specific field, which HTTP/2 forbids."""
    block = headers("/oauth/token", (b"connection", b"close"), (b"x", b"y" * 100))
    return b"".join(frame(HEADERS, END_HEADERS, 2 * number + 1, block) for number in range(EACH))


def main() -> None:
    proof = Proof("streams")
    many_descriptors(1000)
    floods = [PREFACE + frame(SETTINGS, 0, 0) + flood for flood in (reset_streams(), malformed_streams())]
    with serving(tls=True, SPINDLE_IDLE_TIMEOUT="900") as server:
        context = client_context(server, "h2")
        kept = secure(server, "http/1.1")
        ask(kept)
        cut = 0
        for number in range(CONNECTIONS):
            if number == WARM:
                opened, before = settled(lambda: sockets(server)), settled(lambda: resident(server))
                began = time.monotonic()
            with secure(server, "h2", context) as line:
                line.settimeout(20)
                try:
                    line.sendall(floods[number % 2])
                    # The answer to a later request shows that all of them are done.
                    last = frame(HEADERS, END_HEADERS | END_STREAM, 2 * EACH + 1, b"\x82" + headers("/healthz")[1:])
                    line.sendall(last)
                    while not answers(line.recv(65_536), 2 * EACH + 1):
                        pass
                except OSError:
                    cut += 1
        streams, seconds = (CONNECTIONS - WARM) * EACH, time.monotonic() - began
        left = settled(lambda: sockets(server)) - opened
        grown = (settled(lambda: resident(server)) - before) / 2**20
        ask(kept)
        proof.note(f"{streams / seconds:,.0f} streams a second; resident {before / 2**20:.1f} MiB before")
        proof.measure(f"resident memory gained over {streams:,} streams", grown, 4, "MiB")
        proof.measure("sockets left", left, 0)
        proof.measure("connections that were ended", cut, 0)
    proof.end()


def answers(data: bytes, stream: int) -> bool:
    """Whether a frame of `stream` begins in `data`, or the connection is over."""
    assert data, "closed by the server"
    return b"\0" + stream.to_bytes(4, "big")[1:] in data


if __name__ == "__main__":
    sys.exit(main())
