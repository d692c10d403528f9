"""100,000 requests through nginx, a tenth of them hostile, many on one connection: no client gets another's answer."""

import itertools
import random
import re
import socket
import sys
import threading
import time
from contextlib import contextmanager
from urllib.parse import quote

from measures import Proof, serving
from nginx import nginx

from harness.refusals import CHUNKS, HONEST, LENGTH, REFUSED, Case, chunked, get, post
from harness.server import free_port
from harness.spindle import Spindle
from harness.wire import Address
from harness.world import World

COUNT = 100_000
PIPELINED = 10
CLIENTS = 4
SEED = 20_261_122
STATE = re.compile(rb"HTTP/1\.1 (\d\d\d)|[&?]state=(t\d+)&")


@contextmanager
def nginx_before(port: int):
    """nginx with a few connections to the server, kept for all clients."""
    address = Address("127.0.0.1", free_port())
    with nginx(address.port, f"""
        upstream spindle {{ server 127.0.0.1:{port}; keepalive 2; keepalive_requests 1000000; }}
        server {{
            listen 127.0.0.1:{address.port};
            location / {{
                proxy_pass http://spindle;
                proxy_http_version 1.1;
                proxy_request_buffering off;
                proxy_set_header Connection "";
                proxy_set_header Host $http_host;
            }}
        }}
    """):
        yield address


class Tally:
    def __init__(self):
        self.honest = self.hostile = self.wrong = self.lost = 0
        self.examples: list[str] = []
        self.lock = threading.Lock()

    def add(self, **counts: int) -> None:
        with self.lock:
            for name, count in counts.items():
                setattr(self, name, getattr(self, name) + count)

    def show(self, example: str) -> None:
        with self.lock:
            self.examples.append(example)


def hostile(world: World, chance: random.Random):
    """A request that is refused, and one that almost is a request."""
    refused = [case.bytes_for(world) for case in REFUSED]
    requests = post(LENGTH), chunked(CHUNKS), chunked(b"5\r\ngrant\r\n0\r\nX: y\r\n\r\n")
    bodies = [Case("a body", request) for request in requests]
    sources = [case.bytes_for(world) for case in [*HONEST, *bodies] if case.is_short]
    scraps = [b"\r\n", b"\n", b"\r", b" ", b"\0", b":", b"0\r\n\r\n", b"1\r\na\r\n", b"Content-Length: 40\r\n",
              b"Transfer-Encoding: chunked\r\n", b"Content-Length: 0\r\n", b"\x0b"]
    while True:
        if chance.randrange(2):
            yield chance.choice(refused)
            continue
        request = bytearray(chance.choice(sources))
        place = chance.randrange(len(request))
        if chance.randrange(2):
            request[place] = chance.randrange(256)
        else:
            request[place:place] = chance.choice(scraps)
        yield bytes(request)


def honest(world: World, tag: str) -> bytes:
    """A request whose answer bears `tag`, whatever else becomes of it."""
    client = world.web
    query = f"client_id={client.id}&redirect_uri={quote(client.redirect_uri, safe='')}&response_type=none-such"
    return get(target=f"/oauth/authorize?{query}&state={tag}&nonce=x".encode())


def told(line: socket.socket, count: int) -> list[str]:
    """The tags of `count` answers, in their order."""
    data, tags = b"", []
    while len(tags) < count:
        part = line.recv(262_144)
        if not part:
            break
        data += part
        tags = [found[1].decode() for found in STATE.findall(data) if found[1]]
    return tags


def client(world: World, address: Address, number: int, tally: Tally, failures: list) -> None:
    chance = random.Random(SEED + number)
    storm, tags = hostile(world, chance), itertools.count(number, CLIENTS)
    line = None
    try:
        for _ in range(COUNT * 9 // 10 // PIPELINED // CLIENTS):
            line = line or address.dial(20)
            asked = [f"t{next(tags)}" for _ in range(PIPELINED)]
            line.sendall(b"".join(honest(world, tag) for tag in asked))
            answered = told(line, PIPELINED)
            tally.add(honest=PIPELINED, lost=PIPELINED - len(answered))
            wrong = sum(mine != theirs for mine, theirs in zip(asked, answered))
            if wrong or len(answered) < PIPELINED:
                tally.add(wrong=wrong)
                tally.show(f"asked {asked}, told {answered}")
                line = None
            # One hostile request for ten honest ones: on its own connection, or behind them on this one.
            attack = next(storm)
            tally.add(hostile=1)
            if chance.randrange(4) and line:
                tag = f"t{next(tags)}"
                strike(address, attack + honest(world, tag), {tag}, tally)
            elif line:
                strike(address, attack, set(), tally, line)
                line.close()
                line = None
        if line:
            line.close()
    except Exception as failure:  # noqa: BLE001 - whatever it is, the proof has failed
        failures.append(repr(failure))


def strike(address: Address, attack: bytes, mine: set[str], tally: Tally, line: socket.socket | None = None) -> None:
    """Sends a hostile request; the answers may bear no tag but its own."""
    own = line is None
    line = line or address.dial(5)
    line.settimeout(0.05)
    data = b""
    try:
        line.sendall(attack)
        while part := line.recv(65_536):
            data += part
    except OSError:
        pass
    if own:
        line.close()
    others = [found[1] for found in STATE.findall(data) if found[1] and found[1].decode() not in mine]
    if others:
        tally.add(wrong=len(others))
        tally.show(f"{attack[:200]} was told {others}")


def main() -> None:
    proof = Proof("proxy")
    # The server waits for the rest of a half request that nginx passes on; it must not hold its connection for long.
    with serving(SPINDLE_REQUEST_TIMEOUT="3") as server, nginx_before(server.address.port) as address:
        world = World.create(Spindle.of(server))
        tally, failures = Tally(), []
        began = time.monotonic()
        clients = [
            threading.Thread(target=client, args=(world, address, number, tally, failures), daemon=True)
            for number in range(CLIENTS)
        ]
        for thread in clients:
            thread.start()
        for thread in clients:
            thread.join(900)
            if thread.is_alive():
                failures.append("a client still waits")
        for example in (failures + tally.examples)[:5]:
            proof.note(example[:600])
        seconds = time.monotonic() - began
        proof.note(f"{tally.honest:,} honest and {tally.hostile:,} hostile requests in {seconds:.0f} s")
        proof.measure("answers of another", tally.wrong, 0)
        proof.measure("honest requests without an answer", tally.lost, 0)
        proof.measure("clients that failed", len(failures), 0)
        proof.measure("requests", tally.honest + tally.hostile, COUNT * 0.98, at_least=True)
    proof.end()


if __name__ == "__main__":
    sys.exit(main())
