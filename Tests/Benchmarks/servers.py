"""The two servers under load, each started on a free port of the loopback and ended again."""

import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import time

PATIENCE = 20  # seconds to become ready


class Server:
    """A child process that listens; a context manager that starts and ends it."""

    def __init__(self, directory, name):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % probe.getsockname()[1]
        self.directory = directory
        self.log = directory / f"{name}.log"

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
                self.command, cwd=self.directory, env=self.environment, stdout=log, stderr=log)
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
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def resident_memory(self):
        """KiB, a moment later, when the start or the load has settled."""
        time.sleep(1)
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


class Spindle(Server):
    """The product, on a fresh SQLite file, with its defaults: write-ahead log, synchronous=FULL."""

    def __init__(self, binary, directory):
        super().__init__(directory, "spindle")
        self.binary = str(pathlib.Path(binary).resolve())
        self.command = [self.binary, "serve"]
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("SPINDLE_")}
        self.environment = {**inherited, "SPINDLE_LISTEN": self.address, "SPINDLE_DATABASE": "benchmark.db"}

    def initialize(self):
        """Makes the database; returns the admin client's id and secret."""
        answer = subprocess.run(
            [self.binary, "init", "--json"], cwd=self.directory, env=self.environment, check=True,
            stdout=subprocess.PIPE)
        made = json.loads(answer.stdout)
        return made["admin_client_id"], made["admin_client_secret"]

    def time_to_start(self):
        """The milliseconds that one start takes; ends it again."""
        milliseconds = self.start()
        self.stop()
        return milliseconds

    def is_ready(self):
        host, port = self.address.split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


class Ceiling(Server):
    """The same framework, answering the same requests with constants of the same size."""

    def __init__(self, binary, directory, answers):
        super().__init__(directory, "ceiling")
        constants = directory / "answers.json"
        constants.write_text(json.dumps(answers))
        self.command = [str(binary), self.address.split(":")[1], str(constants)]
        self.environment = dict(os.environ)

    def is_ready(self):
        host, port = self.address.split(":")
        try:
            socket.create_connection((host, int(port)), timeout=5).close()
            return True
        except OSError:
            return False
