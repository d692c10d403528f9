"""200,000 connections opened and closed in every manner leave nothing behind."""

import os
import random
import socket
import sys
import time
from collections import Counter
from pathlib import Path

from measures import ASK, Proof, ask, many_descriptors, serving, settled

from harness.process import reset, resident

COUNT = 200_000
WARM = 20_000
AT_ONCE = 50
# Connections that read, which SQLite opens when they are needed (Readers in StorageSQLite).
READERS = 8
SEED = 20_261_122
# Of Linux; Python has no name for it before 3.12. The port is chosen when both ends are known.
IP_BIND_ADDRESS_NO_PORT = 24


def churn(server, count: int, chance: random.Random) -> None:
    """Opens and closes `count` connections, from many addresses of this machine: each has 28,000 ports."""
    for number in range(count // AT_ONCE):
        source = f"127.0.{number % 50}.{1 + number % 199}"
        lines = [dial(server, source) for _ in range(AT_ONCE)]
        for line in lines:
            match chance.randrange(4):
                case 0:
                    pass
                case 1:
                    line.sendall(ASK[: chance.randrange(1, len(ASK))])
                case 2:
                    line.sendall(ASK)
                case _:
                    ask(line)
        for line in lines:
            (line.close if chance.randrange(2) else lambda: reset(line))()


def dial(server, source: str) -> socket.socket:
    line = socket.socket()
    line.settimeout(20)
    line.setsockopt(socket.SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1)
    line.bind((source, 0))
    line.connect((server.address.host, server.address.port))
    return line


def links(server) -> dict[str, str]:
    """What each descriptor of the server is."""
    found = {}
    for link in Path(f"/proc/{server.process.pid}/fd").iterdir():
        try:
            found[link.name] = os.readlink(link)
        except OSError:
            pass  # Closed since it was listed.
    return found


def what_is_left(server, before: dict[str, str]) -> dict[str, list[str]]:
    """Descriptors that were not there before, after half a minute."""
    deadline = time.monotonic() + 30
    while len(now := links(server)) > len(before) and time.monotonic() < deadline:
        time.sleep(0.5)
    more = list((Counter(now.values()) - Counter(before.values())).elements())
    grown = len(now) - len(before)
    sockets = [link for link in more if link.startswith("socket")]
    # Sockets have new names each time, so their number is what counts.
    kept = sum(link.startswith("socket") for link in before.values())
    return {
        "socket": sockets[: max(0, sum(link.startswith("socket") for link in now.values()) - kept)],
        # One more connection that reads is two files of the database.
        "database": [link for link in more if is_of_database(link)],
        "other": [link for link in more if not link.startswith("socket") and not is_of_database(link)][: max(0, grown)],
    }


def is_of_database(link: str) -> bool:
    return link.endswith((".db", ".db-wal"))


def main() -> None:
    proof = Proof("churn")
    many_descriptors(1000)
    chance = random.Random(SEED)
    with serving(SPINDLE_IDLE_TIMEOUT="900") as server:
        with server.address.dial() as kept:
            ask(kept)
            churn(server, WARM, chance)
            settled(lambda: len(links(server)))
            opened, before = links(server), settled(lambda: resident(server))
            began = time.monotonic()
            churn(server, COUNT, chance)
            rate = COUNT / (time.monotonic() - began)
            left = what_is_left(server, opened)
            grown = (settled(lambda: resident(server)) - before) / 2**20
            ask(kept)
        proof.measure(f"sockets left after {COUNT:,} connections", len(left["socket"]), 0)
        proof.measure("files of the database, of connections that read", len(left["database"]), 2 * READERS)
        proof.measure("other descriptors left", len(left["other"]), 0)
        if left["other"]:
            proof.note(f"they are {left['other']}")
        proof.measure("resident memory gained", grown, 2, "MiB")
        proof.note(f"{rate:,.0f} connections a second; resident {before / 2**20:.1f} MiB before")
    proof.end()


if __name__ == "__main__":
    sys.exit(main())
