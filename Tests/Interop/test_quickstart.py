"""deploy/quickstart on machines where it cannot build. Tests/run shows that it works where it can."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.server import REPOSITORY

INSTALL_PAGE = "https://www.swift.org/install/linux/"


@pytest.fixture
def machine(tmp_path) -> Path:
    """A folder of programs that is the whole PATH: without Swift, and without any package that the script wants."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ["bash", "dirname", "head", "printf", "rm", "sed", "sort", "tail"]:
        (folder / name).symlink_to(shutil.which(name))
    add(folder, "dpkg-query", "exit 1")
    add(folder, "apt-get", f"echo apt-get >>{tmp_path / 'installed'}")
    return folder


def add(folder: Path, name: str, script: str) -> None:
    program = folder / name
    program.write_text(f"#!{shutil.which('bash')}\n{script}\n")
    program.chmod(0o755)


def run(machine: Path) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if name != "SPINDLE_BINARY"}
    return subprocess.run(
        [machine / "bash", REPOSITORY / "deploy/quickstart", "--once"], env=environment | {"PATH": str(machine)},
        capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


def test_quickstart_without_swift_installs_nothing_and_says_where_swift_is(machine, tmp_path):
    done = run(machine)
    assert done.returncode == 1, done
    assert "no swift in PATH" in done.stderr and "Swift 6.2 or later" in done.stderr, done
    assert INSTALL_PAGE in done.stderr, done
    assert not (tmp_path / "installed").exists(), done


def test_quickstart_with_an_older_swift_installs_nothing_and_names_its_version(machine, tmp_path):
    add(machine, "swift", "echo 'Swift version 5.10.1 (swift-5.10.1-RELEASE)'")
    done = run(machine)
    assert done.returncode == 1, done
    assert "5.10.1" in done.stderr and INSTALL_PAGE in done.stderr, done
    assert not (tmp_path / "installed").exists(), done
