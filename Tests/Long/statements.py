"""A million statements of SQLite, counted where the server calls it: each is used again or finalised."""

import mmap
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

from churn import is_of_database, links
from measures import Proof, serving, settled

from harness.process import resident
from harness.spindle import Spindle
from harness.world import World

COUNT = 1_000_000
# Requests of each kind at a time.
ROUND = 20_000
# Until SQLite's caches are full, of 16 MB a connection.
WARM = 400_000
CLIENTS = 16
SOURCE = Path(__file__).with_name("statements.c")


class Counters:
    """How many statements a server that is given `settings` has run, and has now."""

    def __init__(self, directory: Path):
        library, file = directory / "statements.so", directory / "statements"
        compiler = shutil.which("cc") or shutil.which("clang") or sys.exit("a compiler of C is missing")
        subprocess.run([compiler, "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
        file.write_bytes(bytes(16))
        with file.open("r+b") as opened:
            self._map = mmap.mmap(opened.fileno(), 16)
        self.settings = {"LD_PRELOAD": str(library), "STATEMENTS": str(file)}

    @property
    def run(self) -> int:
        return self._read(0)

    @property
    def alive(self) -> int:
        return self._read(1)

    def _read(self, which: int) -> int:
        return struct.unpack("2Q", self._map[:])[which]


def load(server, path: str, form: Path) -> int:
    """How many of `ROUND` requests were answered otherwise than with 2xx."""
    done = subprocess.run(
        [shutil.which("h2load") or sys.exit("h2load is missing"), "--h1", "-n", str(ROUND), "-c", str(CLIENTS),
         "-d", str(form), "-H", "content-type: application/x-www-form-urlencoded", server.address.origin + path],
        check=True, capture_output=True, text=True, timeout=600)
    return ROUND - int(re.search(r"status codes: (\d+) 2xx", done.stdout)[1])


def descriptors(server) -> int:
    """How many there are besides the database's: one more connection that reads is two of its files."""
    return sum(not is_of_database(link) for link in links(server).values())


def main() -> None:
    proof = Proof("statements")
    with tempfile.TemporaryDirectory(prefix="spindle-statements") as folder:
        counters = Counters(Path(folder))
        with serving(**counters.settings) as server:
            world = World.create(Spindle.of(server))
            token = world.spindle.client_credentials(world.backend).json["access_token"]
            forms = {"/oauth/token": {"grant_type": "client_credentials"}, "/oauth/introspect": {"token": token}}
            asked = []
            for path, form in forms.items():
                asked.append((path, Path(folder, path.replace("/", "-"))))
                asked[-1][1].write_text(urlencode(form | world.backend.proof))

            refused = 0

            def run(count: int) -> None:
                nonlocal refused
                goal = counters.run + count
                while counters.run < goal:
                    refused += sum(load(server, path, form) for path, form in asked)

            run(WARM)
            before, opened, alive = settled(lambda: resident(server)), descriptors(server), counters.alive
            began, first = time.monotonic(), counters.run
            run(COUNT)
            statements, seconds = counters.run - first, time.monotonic() - began
            grown = (settled(lambda: resident(server)) - before) / 2**20
            left = settled(lambda: descriptors(server)) - opened
            proof.note(f"{statements / seconds:,.0f} statements a second; resident {before / 2**20:.1f} MiB before; "
                       f"{alive} statements alive before")
            proof.measure("requests refused", refused, 0)
            proof.note("they are more when a job runs for the first time, or one more connection reads")
            proof.measure(f"statements kept after {statements:,} runs, more than before", counters.alive - alive, 100)
            proof.measure("resident memory gained", grown, 4, "MiB")
            proof.measure("descriptors left, besides the database's", left, 0)
            proof.measure("exit status", server.stop(), 0)
            proof.measure("statements that are not finalised then", counters.alive, 0)
    proof.end()


if __name__ == "__main__":
    sys.exit(main())
