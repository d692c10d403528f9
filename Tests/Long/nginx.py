"""nginx: in front of Spindle, or as the measure of what a request costs."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.wire import Address


@contextmanager
def nginx(port: int, http: str, workers: int = 1) -> Iterator[subprocess.Popen]:
    """Serves what `http` says, which listens on `port`; it ends with the block."""
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin") or sys.exit("nginx is missing")
    with tempfile.TemporaryDirectory(prefix="spindle-nginx") as folder:
        temporary = "".join(
            f"{kind}_temp_path {folder}/{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        Path(folder, "nginx.conf").write_text(f"""
            {"user root;" if os.geteuid() == 0 else ""}
            daemon off; worker_processes {workers}; pid {folder}/pid; error_log stderr crit;
            events {{ worker_connections 1024; }}
            http {{
                {temporary}
                access_log off;
                keepalive_requests 1000000000;
                {http}
            }}
        """)
        process = subprocess.Popen([program, "-p", folder, "-e", "stderr", "-c", f"{folder}/nginx.conf"])
        try:
            deadline = time.monotonic() + 20
            while True:
                try:
                    Address("127.0.0.1", port).dial(1).close()
                    break
                except OSError:
                    assert process.poll() is None and time.monotonic() < deadline, "nginx did not start"
                    time.sleep(0.05)
            yield process
        finally:
            process.terminate()
            process.wait(10)
