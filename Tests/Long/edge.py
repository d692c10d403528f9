"""The cost of the edge: CPU per request over TLS, beside nginx with the same answers and the same OpenSSL."""

import http.client
import json
import os
import re
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from measures import Proof, serving
from nginx import nginx

from harness.server import free_port
from harness.wire import Address

ROUNDS = 7
SECONDS = 3
CONNECTIONS = 32
STREAMS = 20
# Streams of HTTP/2 in a round.
REQUESTS = 150_000
# Clients that make one handshake after the other.
CLIENTS = 4
# Fields that nginx adds itself.
ITS_OWN = {"server", "connection", "date", "content-length", "content-type"}


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def kept_connections(origin: str) -> int:
    """Requests that HTTP/1.1 answered on connections that are kept."""
    told = output("wrk", "-t2", f"-c{CONNECTIONS}", f"-d{SECONDS}s", f"{origin}/healthz")
    assert not re.search("Socket errors|Non-2xx", told), told
    return int(re.search(r"(\d+) requests in", told)[1])


def streams(origin: str) -> int:
    """Requests that HTTP/2 answered, so many at a time on each connection."""
    told = output("h2load", "-t2", f"-n{REQUESTS}", f"-c{CONNECTIONS}", f"-m{STREAMS}", f"{origin}/healthz")
    assert f"{REQUESTS} succeeded" in told and f"{REQUESTS} 2xx" in told and "Application protocol: h2" in told, told
    return REQUESTS


def handshakes(origin: str) -> int:
    """Connections with a full handshake and one answer each: s_time keeps no session to resume."""
    place = origin.split("//")[1]
    command = ["openssl", "s_time", "-new", "-time", str(SECONDS), "-www", "/healthz", "-connect", place]
    clients = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(CLIENTS)]
    told = [client.communicate(timeout=60)[0] for client in clients]
    found = [re.search(r"(\d+) connections in \d+ real seconds, (\d+) bytes read per", text) for text in told]
    assert all(found) and all(int(each[2]) > 100 for each in found), told
    return sum(int(each[1]) for each in found)


@dataclass(frozen=True)
class Kind:
    name: str
    bound: float
    load: Callable[[str], int]


KINDS = [
    Kind("HTTP/1.1, kept connections", 1.5, kept_connections),
    Kind(f"HTTP/2, {STREAMS} streams", 0.8, streams),
    Kind("a full handshake and a request", 1.3, handshakes),
]


class Measured:
    """A server, and the CPU that its processes have used: clock_getcpuclockid(3), which Python has no name for."""

    def __init__(self, process: subprocess.Popen, origin: str):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        self.processes, self.origin = [process.pid, *map(int, children)], origin

    def cpu_seconds(self) -> float:
        return sum(time.clock_gettime((~process << 3) | 2) for process in self.processes)

    def settle(self) -> None:
        """Waits until it has nothing left to do."""
        deadline, used = time.monotonic() + 20, self.cpu_seconds()
        while time.monotonic() < deadline:
            time.sleep(0.2)
            used, before = self.cpu_seconds(), used
            if used - before < 0.002:
                return

    def microseconds(self, kind: Kind) -> float:
        """CPU a request."""
        self.settle()
        before = self.cpu_seconds()
        count = kind.load(self.origin)
        self.settle()
        return (self.cpu_seconds() - before) * 1e6 / count


def answer(address: Address) -> tuple[dict[str, str], bytes, tuple[str, str]]:
    """Fields, body, and what TLS agreed on."""
    connection = http.client.HTTPSConnection(address.host, address.port, timeout=20, context=address.tls)
    connection.request("GET", "/healthz")
    got = connection.getresponse()
    agreed = connection.sock.version(), connection.sock.cipher()[0]
    return {name.lower(): value for name, value in got.getheaders()}, got.read(), agreed


def like(server) -> tuple[Address, str]:
    """nginx's settings to answer as `server` does: certificate, versions, ticket, fields, body."""
    fields, body, _ = answer(server.address)
    added = "".join(f"add_header {name} {json.dumps(value)};" for name, value in fields.items() if name not in ITS_OWN)
    address = Address("127.0.0.1", free_port(), server.address.tls)
    return address, f"""
        default_type {fields["content-type"]};
        server {{
            listen {address.host}:{address.port} ssl http2;
            ssl_certificate {server.settings["SPINDLE_TLS_CERTIFICATE"]};
            ssl_certificate_key {server.settings["SPINDLE_TLS_KEY"]};
            ssl_protocols TLSv1.2 TLSv1.3;
            ssl_session_tickets on;
            ssl_conf_command NumTickets 1;
            {added}
            location / {{ return 200 '{body.decode()}'; }}
        }}
    """


def main() -> None:
    proof = Proof("edge")
    cores = len(os.sched_getaffinity(0))
    with serving(tls=True) as server:
        address, settings = like(server)
        with nginx(address.port, settings, workers=cores) as other:
            ours, its = answer(server.address), answer(address)
            assert ours[1:] == its[1:] and set(ours[0]) <= set(its[0]), (ours, its)
            proof.note(f"{ssl.OPENSSL_VERSION}; {', '.join(ours[2])}, P-256; {cores} workers of nginx")
            pair = [Measured(server.process, server.address.origin), Measured(other, address.origin)]
            for kind in KINDS:
                rounds = []
                # The first round warms both up; neither is always the first.
                for number in range(ROUNDS + 1):
                    turn = pair if number % 2 else pair[::-1]
                    taken = {each: each.microseconds(kind) for each in turn}
                    rounds.append([taken[each] for each in pair])
                mine, theirs = map(median, zip(*rounds[1:]))
                shares = sorted(mine / theirs for mine, theirs in rounds[1:])
                proof.note(f"{kind.name}: {mine:.1f} µs of CPU, nginx {theirs:.1f} µs; "
                           f"{', '.join(f'{share:.2f}' for share in shares)} times in {ROUNDS} rounds")
                proof.measure(kind.name, median(shares), kind.bound, "times")
    proof.end()


if __name__ == "__main__":
    sys.exit(main())
