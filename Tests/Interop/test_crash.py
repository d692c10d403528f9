"""A crashed process is restarted at once, and leaves nothing of its memory: no backtrace, no core."""

import re
import resource
import signal
import time

import pytest

from harness.server import REPOSITORY
from harness.spindle import Spindle
from harness.world import World

DEPLOY = REPOSITORY / "deploy"
QUIET = {"SWIFT_BACKTRACE": "enable=no"}
# Marks of the backtraces of Swift and of libc.
TRACES = ["Backtrace", "backtrace", "Thread ", "Registers", "Crash", "crashed", "*** ", "0x", " in ", "Images"]


def unit() -> dict[str, list[str]]:
    """The settings of deploy/spindle.service, by section and name."""
    found: dict[str, list[str]] = {}
    section = ""
    for line in (DEPLOY / "spindle.service").read_text("utf-8").splitlines():
        if match := re.fullmatch(r"\[(\w+)\]", line):
            section = match[1]
        elif match := re.fullmatch(r"([A-Za-z]+)=(.*)", line):
            found.setdefault(f"{section}.{match[1]}", []).append(match[2])
    return found


def test_systemd_restarts_the_process_at_once_and_prevents_core_dumps():
    settings = unit()
    assert settings["Service.Restart"] == ["always"]
    [pause] = settings["Service.RestartSec"]
    assert re.fullmatch(r"[1-9]\d{0,2}ms", pause), "at once is less than a second"
    assert settings["Unit.StartLimitIntervalSec"] == ["0"], "systemd would give up after five crashes in ten seconds"
    assert "SWIFT_BACKTRACE=enable=no" in settings["Service.Environment"]
    assert settings["Service.LimitCORE"] == ["0"]
    # A failure that no restart mends is not tried again.
    assert settings["Service.RestartPreventExitStatus"] == ["78"]


def test_a_container_writes_no_core_dump_and_is_restarted():
    dockerfile = (DEPLOY / "Dockerfile").read_text("utf-8")
    last = dockerfile[dockerfile.rindex("\nFROM "):]
    assert re.search(r"^ENV (.* )?SWIFT_BACKTRACE=enable=no\b", last, flags=re.MULTILINE)
    compose = (DEPLOY / "compose.yaml").read_text("utf-8")
    spindle = re.search(r"(?ms)^  spindle:\n(.*?)^  \w", compose)[1]
    assert re.search(r"^      SWIFT_BACKTRACE: enable=no$", spindle, flags=re.MULTILINE)
    assert re.search(r"^    restart: (always|unless-stopped)$", spindle, flags=re.MULTILINE)
    assert re.search(r"^    ulimits:\n      core: 0$", spindle, flags=re.MULTILINE)


def test_the_server_forbids_itself_core_dumps(launch):
    assert resource.prlimit(launch().process.pid, resource.RLIMIT_CORE) == (0, 0)


@pytest.mark.parametrize("end", ["SIGSEGV", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE"])
def test_a_crash_prints_no_backtrace_and_the_next_process_serves_the_same_users(prepare, end):
    server = prepare(settings=QUIET, wrapper=["prlimit", "--core=0"])
    server.init()
    world = World.create(Spindle.of(server.start()))
    token = world.phone()["access_token"]
    told = server.log.stat().st_size
    assert resource.prlimit(server.process.pid, resource.RLIMIT_CORE) == (0, 0)

    server.process.send_signal(getattr(signal, end))
    assert server.process.wait(30) == -getattr(signal, end)

    after = server.log.read_bytes()[told:].decode("utf-8", "replace")
    assert not [sign for sign in TRACES if sign in after], f"{end}: {after}"
    assert not list(server.directory.glob("core*"))
    began = time.monotonic()
    server.start()
    assert time.monotonic() - began < 10
    assert world.spindle.me(token).json["user_id"] == world.person.id
