"""A disk is full for a while: writes are refused, reads are answered, and nothing acknowledged is lost."""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from measures import Proof

from harness.server import Server
from harness.spindle import Spindle
from harness.world import World

SIZE = "8m"
TOKENS = 200


@contextmanager
def small_disk():
    """A file system of a few mebibytes, which only root can mount."""
    if os.geteuid() != 0:
        sys.exit("this needs root, to mount a small file system")
    with tempfile.TemporaryDirectory(prefix="spindle-disk") as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def fill(file: Path) -> None:
    with file.open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(b"x" * 4096)
        except OSError:
            return


def main() -> None:
    proof = Proof("disk")
    with small_disk() as disk, tempfile.TemporaryDirectory(prefix="spindle-long") as folder:
        server = Server(Path(folder), str(disk / "spindle.db"))
        server.init()
        server.start()
        try:
            world = World.create(Spindle.of(server))

            def ask() -> tuple[int, str | None]:
                answer = world.spindle.client_credentials(world.backend)
                return answer.status, answer.json.get("access_token")

            tokens = [ask()[1] for _ in range(TOKENS)]
            fill(disk / "filler")
            told = [ask() for _ in range(TOKENS)]
            statuses = Counter(status for status, _ in told)
            tokens += [token for _, token in told if token]
            proof.note(f"answers while it is full: {dict(statuses)}")
            proof.measure("answers other than 200 and 503", sum(statuses.values()) - statuses[200] - statuses[503], 0)
            proof.measure("writes refused", statuses[503], 1, at_least=True)
            lost = sum(not world.spindle.is_active(world.backend, token) for token in tokens)
            proof.measure("tokens that a reader does not find meanwhile", lost, 0)
            (disk / "filler").unlink()
            proof.measure("writes refused once there is room", sum(ask()[0] != 200 for _ in range(TOKENS)), 0)
            proof.measure("exit status", server.stop(), 0)
            server.start()
            lost = sum(not world.spindle.is_active(world.backend, token) for token in tokens)
            proof.measure("tokens lost after the next start", lost, 0)
        finally:
            server.end()
    proof.end()


if __name__ == "__main__":
    sys.exit(main())
