"""A `spindle serve` process with its files and its log, in its own directory."""

import base64
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import time
from pathlib import Path

from harness.wire import Address, Answer, send

REPOSITORY = Path(__file__).resolve().parents[3]
START_LIMIT = 30
STOP_LIMIT = 30


def binary() -> Path:
    """The program under test."""
    named = Path(os.environ.get("SPINDLE_BINARY", ".build/debug/spindle"))
    return named if named.is_absolute() else REPOSITORY / named


def free_port() -> int:
    """A port without a listener, below the range from which the system takes ports of outgoing connections."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw") or 0)
    lowest = 20_000 + (worker % 6) * 2_000
    for port in random.SystemRandom().sample(range(lowest, lowest + 2_000), 200):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise RuntimeError("no free port")


def master_key() -> str:
    return base64.b64encode(secrets.token_bytes(32)).decode()


class Server:
    """A server that can be initialised, started, killed and started again on the same files."""

    def __init__(self, directory: Path, database: str, settings: dict[str, str] | None = None, wrapper=()):
        self.directory = directory
        self.database = database
        self.log = directory / "spindle.log"
        self.address = Address("127.0.0.1", free_port())
        self.wrapper = list(wrapper)
        self.settings = {
            "SPINDLE_DATABASE": database,
            "SPINDLE_LISTEN": f"127.0.0.1:{self.address.port}",
            **(settings or {}),
        }
        self.admin: tuple[str, str] | None = None
        self.process: subprocess.Popen | None = None

    @property
    def origin(self) -> str:
        return self.settings.get("SPINDLE_ISSUER", self.address.origin)

    def environment(self, **changes: str | None) -> dict[str, str]:
        """This machine's environment with only the test's SPINDLE_ settings; a change to None removes a setting."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("SPINDLE_", "PG"))}
        merged = {**inherited, **self.settings, **changes}
        return {name: value for name, value in merged.items() if value is not None}

    def command(self, *arguments: str, typed: str = "", **changes: str | None) -> subprocess.CompletedProcess:
        """Runs a `spindle` command to its end, with `typed` on its standard input."""
        return subprocess.run(
            [binary(), *arguments], env=self.environment(**changes), cwd=self.directory,
            capture_output=True, text=True, timeout=60, input=typed,
        )

    def init(self) -> dict:
        done = self.command("init", "--json")
        assert done.returncode == 0, f"spindle init: {done.returncode}\n{done.stdout}\n{done.stderr}"
        made = json.loads(done.stdout)
        self.admin = (made["admin_client_id"], made["admin_client_secret"])
        return made

    def start(self, *arguments: str) -> "Server":
        """Starts `spindle serve` with `arguments` and waits until it is ready."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.wrapper, binary(), "serve", *arguments], env=self.environment(), cwd=self.directory,
                stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            )
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"spindle serve ended with {self.process.returncode}\n{self.log_tail()}")
            if self.is_ready():
                return self
            time.sleep(0.03)
        self.kill()
        raise AssertionError(f"not ready after {START_LIMIT} s\n{self.log_tail()}")

    def is_ready(self) -> bool:
        try:
            return self.get("/readyz", timeout=5).status == 200
        except OSError:
            return False

    def get(self, path: str, timeout: float = 30, **options) -> Answer:
        connection = self.address.connect(timeout)
        try:
            return send(connection, "GET", path, **options)
        finally:
            connection.close()

    def kill(self) -> None:
        """Sends SIGKILL: no warning, no last write."""
        self.process.kill()
        self.process.wait(STOP_LIMIT)

    def stop(self) -> int:
        """Sends SIGTERM and waits; returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_LIMIT)

    def end(self) -> None:
        """Ends the server however the test went, so that nothing stays behind."""
        if self.process is None or self.process.poll() is not None:
            return
        try:
            self.stop()
        except subprocess.TimeoutExpired:
            self.kill()

    def has_logged(self, text: str, start: int = 0) -> bool:
        """Whether the log has `text` after byte `start`, or gets it soon: lines are written after the responses."""
        deadline = time.monotonic() + 10
        while text.encode() not in self.log.read_bytes()[start:]:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def has_line(self, *parts: str, start: int = 0) -> bool:
        """Whether a line of the log after byte `start` has all `parts`, or there soon is one."""
        deadline = time.monotonic() + 10
        while True:
            lines = self.log.read_bytes()[start:].decode("utf-8", "replace").splitlines()
            if any(all(part in line for part in parts) for line in lines):
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)

    def log_tail(self) -> str:
        return self.log.read_text("utf-8", "replace")[-4000:] if self.log.exists() else "(no log)"
