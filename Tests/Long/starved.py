"""64 descriptors and 200 clients: who is connected is answered, nothing spins, and room that comes free is used."""

import shutil
import sys
import time

from measures import ASK, Proof, ask, many_descriptors, serving

from harness.process import cpu_seconds
from harness.raw import is_readable

DESCRIPTORS = 64
CROWD = 200
ROUNDS = 5


def main() -> None:
    proof = Proof("descriptors")
    many_descriptors(1000)
    limit = [shutil.which("prlimit") or sys.exit("prlimit is missing"), f"--nofile={DESCRIPTORS}:{DESCRIPTORS}"]
    with serving(wrapper=limit) as server:
        kept = server.address.dial()
        ask(kept)
        slowest, slowest_other, busiest = 0.0, 0.0, 0.0
        for _ in range(ROUNDS):
            crowd = [server.address.dial() for _ in range(CROWD)]
            for line in crowd:
                line.sendall(ASK)
            time.sleep(0.5)
            began = time.monotonic()
            for _ in range(100):
                ask(kept)
            slowest_other = max(slowest_other, time.monotonic() - began)
            used, began = cpu_seconds(server), time.monotonic()
            time.sleep(3)
            busiest = max(busiest, (cpu_seconds(server) - used) / (time.monotonic() - began))
            served = [line for line in crowd if is_readable(line)]
            for line in crowd:
                line.close()
            began = time.monotonic()
            with server.address.dial() as fresh:
                ask(fresh)
            slowest = max(slowest, time.monotonic() - began)
        proof.note(f"{len(served)} of {CROWD} were served with {DESCRIPTORS} descriptors")
        proof.measure("100 answers on an open connection meanwhile", slowest_other, 1, "s")
        proof.measure("of a core, with nothing to do", busiest, 0.05)
        proof.measure("/healthz on a new connection once some are free", slowest, 1, "s")
    proof.end()


if __name__ == "__main__":
    sys.exit(main())
