"""4,000 idle connections: the memory of each, and the time of other clients' requests."""

import socket
import sys
from statistics import median

from measures import Proof, ask, client_context, hundredth, many_descriptors, secure, serving, settled, times

from harness.http2 import END_HEADERS, END_STREAM, HEADERS, PREFACE, SETTINGS, frame, headers
from harness.process import resident

COUNT = 4_000
REQUESTS = 2_000
ROUNDS = 15
KINDS = {"plain": 8, "TLS": 24, "HTTP/2": 48}


def open_one(server, kind: str, context) -> socket.socket:
    """A connection that has asked once and was answered."""
    if kind == "plain":
        line = server.address.dial(20)
        ask(line)
    elif kind == "TLS":
        line = secure(server, "http/1.1", context)
        ask(line)
    else:
        line = secure(server, "h2", context)
        # The path does not take POST; the answer does not matter.
        line.sendall(PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS | END_STREAM, 1, headers("/healthz")))
        data = b""
        while not is_answered(data):
            part = line.recv(4096)
            assert part, "closed by the server"
            data += part
        line.sendall(frame(SETTINGS, 1, 0))
    return line


def is_answered(data: bytes) -> bool:
    """Whether a frame with END_STREAM on stream 1 is whole in `data`."""
    while len(data) >= 9:
        length = int.from_bytes(data[:3], "big")
        if len(data) < 9 + length:
            return False
        if data[5:9] == b"\0\0\0\1" and data[3] in (0, 1) and data[4] & 1:
            return True
        data = data[9 + length:]
    return False


def times_slower(bare: socket.socket, beside: socket.socket) -> tuple[float, float, float]:
    """The slowest hundredth of requests on two lines, milliseconds, and the second by the first; the middle of rounds.

    In turns, on two servers: whatever else this machine does slows both.
    """
    rounds = [[hundredth(times(line, REQUESTS)) for line in (bare, beside)] for _ in range(ROUNDS)]
    return *map(median, zip(*rounds)), median(with_them / alone for alone, with_them in rounds)


def main() -> None:
    proof = Proof("idle")
    many_descriptors(COUNT + 500)
    for kind, bound in KINDS.items():
        settings = {"SPINDLE_MAX_CONNECTIONS": "10000", "SPINDLE_IDLE_TIMEOUT": "900"}
        tls = kind != "plain"
        with serving(tls, **settings) as server, serving(tls, **settings) as bare:
            context = client_context(server, "h2" if kind == "HTTP/2" else "http/1.1") if tls else None
            others = [secure(each, "http/1.1") if tls else each.address.dial(20) for each in (bare, server)]
            for line in others:
                ask(line)
            # What the first connections cost is the server's own.
            for line in [open_one(server, kind, context) for _ in range(100)]:
                line.close()
            before = settled(lambda: resident(server))
            lines = [open_one(server, kind, context) for _ in range(COUNT)]
            after = settled(lambda: resident(server))
            alone, beside, share = times_slower(*others)
            proof.measure(f"a connection, {kind}", (after - before) / COUNT / 1024, bound, "KiB")
            proof.measure(f"p99 beside them to p99 alone, {kind}", share, 2, "times")
            proof.note(f"p99 alone {alone:.3f} ms, beside {len(lines)} {kind} connections {beside:.3f} ms")
            for line in lines:
                line.close()
    proof.end()


if __name__ == "__main__":
    sys.exit(main())
