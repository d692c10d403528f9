"""1,000 clients that stop reading, of each protocol: past their time they are closed, whatever is unsent."""

import socket
import sys
import time

from measures import ASK, Proof, client_context, many_descriptors, serving, settled

from harness.http2 import END_HEADERS, END_STREAM, HEADERS, PREFACE, SETTINGS, frame, headers
from harness.process import busy, resident, sockets
from harness.server import Server

COUNT = 1_000
# The time that docs/operating.md gives an unread answer, and as much again for a busy machine.
PATIENCE = 30 + 30


def narrow(server: Server) -> socket.socket:
    """A connection whose client takes very little at once."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    line.settimeout(20)
    line.connect((server.address.host, server.address.port))
    return line


def plain(server: Server, _) -> socket.socket:
    line = narrow(server)
    request = ASK.replace(b"/healthz", b"/.well-known/openid-configuration")
    line.setblocking(False)
    try:
        for _ in range(100):
            line.send(request * 100)
    except BlockingIOError:
        pass
    return line


def multiplexed(server: Server, context) -> socket.socket:
    line = context.wrap_socket(narrow(server), server_hostname="127.0.0.1")
    whole = b"\x82" + headers("/.well-known/openid-configuration")[1:]
    line.sendall(PREFACE + frame(SETTINGS, 0, 0, b"\0\4" + (2**30).to_bytes(4, "big")) + b"".join(
        frame(HEADERS, END_HEADERS | END_STREAM, 2 * number + 1, whole) for number in range(100)))
    return line


def main() -> None:
    proof = Proof("unread")
    many_descriptors(COUNT + 500)
    for kind, begin in (("plain", plain), ("HTTP/2", multiplexed)):
        with serving(tls=kind != "plain", SPINDLE_IDLE_TIMEOUT="5") as server:
            context = None if kind == "plain" else client_context(server, "h2")
            opened, before = sockets(server), settled(lambda: resident(server))
            lines = [begin(server, context) for _ in range(COUNT)]
            began = time.monotonic()
            held = (resident(server) - before) / COUNT / 1024
            proof.measure(f"a client that reads nothing, {kind}", held, 512, "KiB")
            # Requests from before the client stopped reading are answered first.
            while busy(server, 1) > 0.2 and time.monotonic() - began < PATIENCE:
                pass
            proof.measure(f"until it is at rest, {kind}", time.monotonic() - began, PATIENCE, "s")
            while sockets(server) > opened and time.monotonic() - began < 3 * PATIENCE:
                time.sleep(0.5)
            proof.measure(f"until all of them are closed, {kind}", time.monotonic() - began, PATIENCE, "s")
            proof.measure(f"sockets left, {kind}", max(0, sockets(server) - opened), 0)
            assert server.get("/healthz").status == 200
            for line in lines:
                line.close()
    proof.end()


if __name__ == "__main__":
    sys.exit(main())
