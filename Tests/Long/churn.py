"""200,000 connections opened and closed in every manner: nothing of them is left."""

import random
import socket
import sys
import time

from measures import ASK, Proof, ask, descriptors, many_descriptors, reset, resident, serving, settled

COUNT = 200_000
WARM = 20_000
AT_ONCE = 50
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


def main() -> None:
    proof = Proof("churn")
    many_descriptors(1000)
    chance = random.Random(SEED)
    with serving() as server:
        with server.address.dial() as kept:
            ask(kept)
            churn(server, WARM, chance)
            opened, before = settled(lambda: descriptors(server)), settled(lambda: resident(server))
            began = time.monotonic()
            churn(server, COUNT, chance)
            rate = COUNT / (time.monotonic() - began)
            left = settled(lambda: descriptors(server)) - opened
            grown = (settled(lambda: resident(server)) - before) / 2**20
            ask(kept)
        proof.measure(f"descriptors left after {COUNT:,} connections", left, 0)
        proof.measure("resident memory gained", grown, 2, "MiB")
        proof.note(f"{rate:,.0f} connections a second; resident {before / 2**20:.1f} MiB before")
    proof.end()


if __name__ == "__main__":
    sys.exit(main())
