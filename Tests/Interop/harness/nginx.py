"""nginx in front of Spindle."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.wire import PATIENCE, Address


def find_nginx(program: Callable[[str, str], str]) -> str:
    """Debian has it where an ordinary user's PATH does not lead."""
    return shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin") or program("nginx", "nginx-light")


@contextmanager
def nginx(found: str, folder: Path, port: int, http: str) -> Iterator[None]:
    """Serves what `http` says, which listens on `port` of loopback, with its files in `folder`."""
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    (folder / "nginx.conf").write_text(
        f"{'user root;' if os.geteuid() == 0 else ''} daemon off; master_process off; pid {folder}/pid;"
        f"error_log stderr crit; events {{ worker_connections 200; }} http {{ {temporary}\n{http}\n}}")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [found, "-p", folder, "-e", "stderr", "-c", folder / "nginx.conf"], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            assert process.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
            try:
                Address("127.0.0.1", port).dial(5).close()
                break
            except OSError:
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(10)
