"""A temporary PostgreSQL cluster on a private socket, with durability on, as in production."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path


class PostgreSQLMissing(Exception):
    """No PostgreSQL server is installed here."""


class Cluster:
    """initdb, start, create databases, dump them, stop, delete."""

    def __init__(self):
        installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
        if not installed:
            raise PostgreSQLMissing("no PostgreSQL server in /usr/lib/postgresql (apt-get install postgresql)")
        self.programs = installed[-1]
        # A socket path is limited to 107 bytes, so it cannot be under pytest's long directories.
        self.directory = Path(tempfile.mkdtemp(prefix="spindle-pg-"))
        self._count = 0
        # PostgreSQL refuses to run as root.
        self._owner = "postgres" if os.geteuid() == 0 else None
        if self._owner:
            account = pwd.getpwnam(self._owner)
            os.chown(self.directory, account.pw_uid, account.pw_gid)
        self._fill()
        self.start()

    def _fill(self) -> None:
        self._run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")

    def start(self) -> None:
        """Starts the server. A standby is ready when it answers reads."""
        options = f"-k {self.directory} -c listen_addresses='' -c max_connections=200"
        self._run("pg_ctl", "start", "-w", "-D", self.data, "-l", str(self.directory / "log"), "-o", options)

    def stop(self) -> None:
        """Stops the server; its data stay."""
        self._run("pg_ctl", "stop", "-w", "-m", "fast", "-D", self.data)

    @property
    def data(self) -> str:
        return str(self.directory / "data")

    def create_database(self, encoding: str = "UTF8") -> str:
        """A new database's URL."""
        self._count += 1
        name = f"spindle_{self._count}"
        kind = ["-T", "template0", "-E", encoding, "--locale=C"]
        self._run("createdb", "-h", str(self.directory), "-U", "postgres", *kind, name)
        return f"postgresql://postgres@/{name}?host={self.directory}"

    def query(self, url: str, sql: str) -> list[list[str]]:
        printed = self._run("psql", "-X", "-A", "-t", "-F", "\t", "-c", sql, url)
        return [line.split("\t") for line in printed.splitlines() if line]

    def dump(self, url: str) -> bytes:
        return self._run("pg_dump", "--inserts", url).encode()

    def delete(self) -> None:
        subprocess.run(
            [self.programs / "pg_ctl", "stop", "-m", "immediate", "-D", self.data],
            user=self._owner, capture_output=True, timeout=60,
        )
        shutil.rmtree(self.directory, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> str:
        # The server that pg_ctl starts inherits its output, so it is a file: a pipe would never end.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(
                [self.programs / program, *arguments], user=self._owner, cwd="/", timeout=120,
                stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            )
            output.seek(0)
            printed = output.read()
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.returncode}\n{printed}")
        return printed


class Standby(Cluster):
    """A server that follows `primary`, and answers reads."""

    def __init__(self, primary: Cluster):
        self._primary = primary
        super().__init__()

    def _fill(self) -> None:
        source = f"host={self._primary.directory} user=postgres"
        self._run("pg_basebackup", "-D", self.data, "-R", "-c", "fast", "-d", source)
