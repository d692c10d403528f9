"""Runs the commands of a guide as they are written."""

import os
import subprocess
from pathlib import Path

from harness.blocks import blocks
from harness.server import binary, free_port


def walk(guide: Path, folder: Path) -> str:
    """The output of the commands between the marks of `guide`, run in an empty folder and with a free port."""
    commands = "\n".join(block.text for block in blocks(guide) if block.is_in_walk and block.language == "sh")
    assert commands, f"{guide} has no commands"
    tools = folder / "bin"
    tools.mkdir()
    (tools / "spindle").symlink_to(binary().resolve())
    place = folder / "folder"
    place.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SPINDLE_")}
    environment |= {
        "PATH": f"{tools}:{os.environ['PATH']}", "SPINDLE_LISTEN": f"127.0.0.1:{free_port()}", "TMPDIR": str(place),
    }
    # The guide's commands go into an open shell. Here the first failing command ends the shell and the server.
    guard = "set -euo pipefail\ntrap '[[ -z ${server-} ]] || kill $server 2>/dev/null || true' EXIT\n"
    done = subprocess.run(
        ["bash", "-c", guard + commands], env=environment, cwd=place,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout
    return done.stdout


def expect_in_order(output: str, *signs: str) -> None:
    """Requires a line with each of `signs`, in this order."""
    told = iter(output.splitlines())
    for sign in signs:
        assert any(sign in line for line in told), f"{sign} is not there, or not in its place:\n{output}"
