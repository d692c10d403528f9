"""The servers under load, each started on a free port of the loopback and ended again."""

import base64
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

import postgresql

PATIENCE = 20  # seconds to become ready, and to fall idle


class Server:
    """A child process that listens; a context manager that starts and ends it."""

    ready_path = "/healthz"

    def __init__(self, name, directory):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % probe.getsockname()[1]
        self.name = name
        self.directory = directory / name
        self.directory.mkdir()
        self.log = self.directory / "log"
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SPINDLE_")}

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Starts the process; returns the milliseconds until it was ready."""
        begun = time.monotonic()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=self.directory, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, process_group=0)
        try:
            while not self.is_ready():
                if self.process.poll() is not None or time.monotonic() - begun > PATIENCE:
                    raise SystemExit(f"{self.command[0]} did not start:\n{self.log.read_text()[-2000:]}")
                time.sleep(0.001)
        except BaseException:
            self.stop()
            raise
        return (time.monotonic() - begun) * 1000

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                pass
        # Ends its children too, however it ended: the process group is ours alone.
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def is_ready(self):
        host, port = self.address.split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=5)
        try:
            connection.request("GET", self.ready_path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def cpu_seconds(self):
        """The processor time that the server has used so far, all of its processes and threads."""
        return cpu_seconds_of(self.process.pid)

    def database_cpu_seconds(self):
        """That of a database server that works for it alone."""
        return 0

    def settle(self):
        """Waits until the server has nothing left to do."""
        before = self.cpu_seconds()
        for _ in range(PATIENCE * 10):
            time.sleep(0.1)
            after = self.cpu_seconds()
            if after - before < 0.005:
                return
            before = after

    def resident_memory(self):
        """KiB, a moment later, when the start or the load has settled."""
        time.sleep(1)
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

def cpu_seconds_of(pid):
    """That of a process and its children."""
    children = map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return sum(map(_cpu_seconds, [pid, *children]))


def _cpu_seconds(pid):
    # The clock of another process's CPU time (clock_getcpuclockid(3)), which Python has no name for: what
    # /proc/PID/stat says in hundredths of a second, with threads that have ended, but exact.
    return time.clock_gettime((~pid << 3) | 2)


class Spindle(Server):
    """The product, on a fresh SQLite file with its defaults (write-ahead log, synchronous=FULL), or on `cluster`."""

    ready_path = "/readyz"

    def __init__(self, binary, directory, name="spindle", cluster=None):
        super().__init__(name, directory)
        self.cluster = cluster
        database = cluster.create_database() if cluster else "benchmark.db"
        self.binary = str(pathlib.Path(binary).resolve())
        self.command = [self.binary, "serve"]
        self.environment |= {"SPINDLE_LISTEN": self.address, "SPINDLE_DATABASE": database}
        if cluster:
            self.environment["SPINDLE_MASTER_KEY"] = base64.b64encode(os.urandom(32)).decode()

    def initialize(self):
        """Makes the database; returns the admin client's id and secret."""
        answer = subprocess.run(
            [self.binary, "init", "--json"], cwd=self.directory, env=self.environment, check=True,
            stdout=subprocess.PIPE, timeout=60)
        made = json.loads(answer.stdout)
        return made["admin_client_id"], made["admin_client_secret"]

    def database_cpu_seconds(self):
        return postgresql.cpu_seconds(self.cluster) if self.cluster else 0

    def time_to_start(self):
        """The milliseconds that one start takes; ends it again."""
        milliseconds = self.start()
        self.stop()
        return milliseconds


class Nginx(Server):
    """The measure: nginx with a worker a core, answering every request with a constant."""

    def __init__(self, directory):
        super().__init__("nginx", directory)
        configuration = self.directory / "nginx.conf"
        temporary = "".join(
            f"{kind}_temp_path {self.directory}/{kind};" for kind in
            ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        configuration.write_text(f"""
            {"user root;" if os.geteuid() == 0 else ""}
            daemon off;
            pid {self.directory}/pid;
            error_log stderr error;
            worker_processes {len(os.sched_getaffinity(0))};
            events {{ worker_connections 1024; }}
            http {{
                {temporary}
                access_log off;
                keepalive_requests 1000000000;
                default_type application/json;
                server {{ listen {self.address}; return 200 '{{"status":"ok"}}'; }}
            }}
        """)
        self.command = [program("nginx"), "-p", str(self.directory), "-e", "stderr", "-c", str(configuration)]


def program(name):
    """The path of a program of this machine, also where only an administrator's shell would look."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
