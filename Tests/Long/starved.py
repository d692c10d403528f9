"""64 descriptors and 200 clients that stay: unused connections make room for new ones, and no CPU is wasted."""

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
        slowest, slowest_other, busiest = 0.0, 0.0, 0.0
        for _ in range(ROUNDS):
            began = time.monotonic()
            crowd = [server.address.dial() for _ in range(CROWD)]
            for line in crowd:
                line.sendall(ASK)
            waiting = crowd
            while waiting and time.monotonic() - began < 60:
                time.sleep(0.05)
                waiting = [line for line in waiting if not is_readable(line)]
            slowest = max(slowest, time.monotonic() - began)
            began = time.monotonic()
            with server.address.dial() as fresh:
                for _ in range(100):
                    ask(fresh)
            slowest_other = max(slowest_other, time.monotonic() - began)
            used, began = cpu_seconds(server), time.monotonic()
            time.sleep(3)
            busiest = max(busiest, (cpu_seconds(server) - used) / (time.monotonic() - began))
            for line in crowd:
                line.close()
        proof.measure(f"{CROWD} clients that stay are answered with {DESCRIPTORS} descriptors", slowest, 10, "s")
        proof.measure("100 answers on a new connection then", slowest_other, 2, "s")
        proof.measure("of a core, with nothing to do", busiest, 0.05)
    proof.end()


if __name__ == "__main__":
    sys.exit(main())
