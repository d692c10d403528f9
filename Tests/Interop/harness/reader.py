"""A reader, who does what a page says from its first block to its last."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from harness.blocks import Block, blocks
from harness.not_run import reason
from harness.server import REPOSITORY, binary, free_port

PATIENCE = 60
_PORT = re.compile(r"(127\.0\.0\.1:|localhost:|\"localhost\", |port=|http\.server )(8080|3000)\b")


class Reader:
    """One shell in an empty folder, with `spindle` in its path. Servers run beside it, at free ports in the place of
    those that the page names."""

    def __init__(self, page: str, folder: Path):
        self.page = page
        self.folder = folder
        self._left = [block for block in blocks(page) if not reason(block)]
        self._ports: dict[int, int] = {}
        self._servers: list[subprocess.Popen] = []
        self._open: set[int] = set()
        self._copied = ""
        # By each command, in their order.
        self.printed: list[str] = []
        self.tools = folder / "tools"
        self.tools.mkdir()
        (self.tools / "spindle").symlink_to(binary().resolve())
        self.place = folder / "place"
        self.place.mkdir()
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SPINDLE_")}
        self._environment = environment | {
            "PATH": f"{self.tools}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "SPINDLE_LISTEN": f"127.0.0.1:{self.port(8080)}", "TMPDIR": str(folder),
        }
        self._shell = subprocess.Popen(
            ["bash", "-euo", "pipefail"], env=self._environment, cwd=self.place, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self._shell.stdin.close()
        for process in [self._shell, *self._servers]:
            # The whole group: a command of the shell may wait for a browser that never comes.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)

    def port(self, of_the_page: int) -> int:
        """The free port in the place of one that the page names."""
        while of_the_page not in self._ports:
            # Nothing listens yet at the other ones.
            if (port := free_port()) not in self._ports.values():
                self._ports[of_the_page] = port
        return self._ports[of_the_page]

    def follow(self, until: str | None = None) -> None:
        """Does what the next blocks say, up to the heading `until` or to the end of the page, and compares what is
        printed."""
        printed: str | Path | None = None
        while self._left and self._left[0].heading != until:
            block = self._left.pop(0)
            if block.file:
                self._save(block.file, block.text)
            elif block.language == "swift":
                assert block.text in self._copied, f"{block} is in no file that the reader copies"
            elif block.language in ("text", ""):
                # Before the first command it is a drawing.
                if printed is not None:
                    self._compare(block, printed)
            elif block.language == "sh" and block.keeps_running:
                printed = self._leave_running(block)
            elif block.language == "sh":
                printed = self._type(block)
                self.printed.append(printed)
            else:
                raise AssertionError(f"the page does not say what {block} is for")
        assert until is None or self._left, f"{self.page} has no blocks below {until}"

    def copy(self, file: str) -> None:
        """Copies a file of the repository, of which the page shows parts."""
        text = (REPOSITORY / file).read_text("utf-8")
        self._copied += text
        self._save(Path(file).name, text)

    def _save(self, name: str, text: str) -> None:
        (self.place / name).write_text(self._here(text), "utf-8")

    def _here(self, text: str) -> str:
        return _PORT.sub(lambda match: match[1] + str(self.port(int(match[2]))), text)

    def _compare(self, block: Block, printed: str | Path) -> None:
        """Compares what is printed, or what a server prints into a file among other things, with the page."""
        pattern = re.compile("[^\n]+".join(re.escape(part) for part in self._here(block.text).split("…")))
        deadline = time.monotonic() + (PATIENCE if isinstance(printed, Path) else 0)
        while True:
            said = printed.read_text("utf-8") if isinstance(printed, Path) else printed
            if pattern.search(said) if isinstance(printed, Path) else pattern.fullmatch(said):
                return
            assert time.monotonic() < deadline, f"{block} is not what is printed:\n{said}"
            time.sleep(0.05)

    def _type(self, block: Block) -> str:
        end = "the block is done"
        typed = self.folder / f"line{block.line}.sh"
        typed.write_text(self._here(block.text), "utf-8")
        # From a file, so that no command of the block takes the next ones for its input.
        self._shell.stdin.write(f". {typed} </dev/null; echo '{end}'\n")
        self._shell.stdin.flush()
        printed = ""
        for line in self._shell.stdout:
            if line.rstrip("\n").endswith(end):
                return printed + line.rstrip("\n").removesuffix(end)
            printed += line
        raise AssertionError(f"{block} failed:\n{printed}")

    def _leave_running(self, block: Block) -> Path:
        """Returns once a port is open that was not, with the file that it prints into."""
        log = self.folder / f"server{len(self._servers)}.log"
        with log.open("w") as output:
            server = subprocess.Popen(
                ["bash", "-euc", "exec " + self._here(block.text)], env=self._environment, cwd=self.place,
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        self._servers.append(server)
        deadline = time.monotonic() + PATIENCE
        while not (new := {port for port in self._ports.values() if is_open(port)} - self._open):
            assert server.poll() is None, f"{block} ended:\n{log.read_text('utf-8')}"
            assert time.monotonic() < deadline, f"{block} does not listen:\n{log.read_text('utf-8')}"
            time.sleep(0.05)
        self._open |= new
        return log


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
