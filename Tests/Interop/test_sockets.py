"""Thousands of connections: resets, silent ones, and more than there are file descriptors."""

import json
import resource
import select
import socket
import struct
import time
from contextlib import contextmanager

import pytest

from harness.raw import is_readable
from harness.refusals import HONEST, NEXT
from harness.server import Server
from harness.spindle import Spindle
from harness.wire import PATIENCE, send
from harness.world import World

RESET = 4_000
SILENT = 2_000
# Connections that are reset at once, in the middle of one group's commit.
WAVE = 100
DESCRIPTORS = 64
CROWD = 200
# The share of one core that may be used while nothing can be accepted.
BUSY = 0.25
FAILED = 1


@contextmanager
def descriptors(count: int):
    """So many of our own."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count:
        pytest.skip(f"this needs {count} descriptors, and may have {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def reset(line: socket.socket) -> None:
    """Closes `line` by a reset, whatever is on its way."""
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()


def told(lines: list[socket.socket]) -> list[bytes]:
    """What those of `lines` were sent that were sent something."""
    poll = select.poll()
    by_number = {line.fileno(): line for line in lines}
    for number in by_number:
        poll.register(number, select.POLLIN)
    return [by_number[number].recv(4096) for number, _ in poll.poll(0)]


@pytest.mark.timeout(400)
def test_a_silent_connection_gets_nothing_while_others_are_reset_during_a_commit(launch):
    with descriptors(SILENT + WAVE + 500):
        # The server has the limits of this process.
        settings = {"SPINDLE_MAX_CONNECTIONS": "10000", "SPINDLE_REQUEST_TIMEOUT": "600"}
        server: Server = launch(settings=settings)
        world = World.create(Spindle.of(server))
        request = next(case for case in HONEST if case.name == "a body by length").bytes_for(world)
        silent: list[socket.socket] = []
        for wave in range(RESET // WAVE):
            asking = [server.address.dial() for _ in range(WAVE)]
            for line in asking:
                line.sendall(request)
            # Some are reset before their request is read, some in their commit, some with the answer on its way.
            time.sleep((wave % 8) * 0.001)
            for line in asking:
                reset(line)
            # They get the descriptors of those that were just closed.
            silent += [server.address.dial() for _ in range(SILENT * WAVE // RESET)]
            assert (said := told(silent)) == [], f"wave {wave}: {len(said)} were told {said[:2]}"
        time.sleep(1)
        assert (said := told(silent)) == [], f"{len(said)} of {len(silent)} were told {said[:2]}"

        for number, line in enumerate(silent):
            line.sendall(request if number % 20 == 0 else NEXT)
        tokens = set()
        for number, line in enumerate(silent):
            assert is_readable(line, PATIENCE), f"{number} was not answered"
            answer = line.recv(8192)
            assert answer.startswith(b"HTTP/1.1 200") and answer.count(b"HTTP/1.1 ") == 1, answer
            if number % 20 == 0:
                tokens.add(json.loads(answer.partition(b"\r\n\r\n")[2])["access_token"])
        assert len(tokens) == len(silent[::20])
        for line in silent:
            line.close()
        assert server.stop() == 0


def test_the_server_recovers_from_the_limit_of_file_descriptors(prepare, program):
    server: Server = prepare(wrapper=[program("prlimit", "util-linux"), f"--nofile={DESCRIPTORS}:{DESCRIPTORS}"])
    server.init()
    server.start()
    world = World.create(Spindle.of(server))
    # None of them disconnects: unused ones make room for those that wait.
    crowd = [server.address.dial() for _ in range(CROWD)]
    for line in crowd:
        line.sendall(NEXT)
    deadline = time.monotonic() + PATIENCE
    waiting = list(crowd)
    while waiting and time.monotonic() < deadline:
        for line in [line for line in waiting if is_readable(line)]:
            assert line.recv(4096).startswith(b"HTTP/1.1 200")
            waiting.remove(line)
        time.sleep(0.05)
    assert not waiting, f"{len(waiting)} were never served"
    began = cpu_seconds(server)
    time.sleep(2)
    used = (cpu_seconds(server) - began) / 2
    assert used < BUSY, f"with nothing to do it takes {used:.0%} of a core"
    assert world.spindle.client_credentials(world.backend).status == 200
    for line in crowd:
        line.close()
    assert server.get("/healthz").status == 200
    assert server.stop() == 0


def cpu_seconds(server: Server) -> float:
    # The clock of another process's CPU time: clock_getcpuclockid(3), which Python has no name for.
    return time.clock_gettime((~server.process.pid << 3) | 2)


@pytest.mark.parametrize("which", ["SPINDLE_LISTEN", "SPINDLE_ADMIN_LISTEN"])
def test_a_port_in_use_is_an_error_at_the_start(prepare, which):
    server = prepare()
    server.init()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = "127.0.0.1:%d" % taken.getsockname()[1]
        done = server.command("serve", **{which: address})
    assert done.returncode == FAILED, done
    assert address.split(":")[1] in done.stderr and "in use" in done.stderr.lower(), done.stderr


def test_a_second_server_on_the_port_of_the_first_ends_and_the_first_goes_on(launch, prepare):
    first: Server = launch()
    second: Server = prepare(settings={"SPINDLE_LISTEN": first.settings["SPINDLE_LISTEN"]})
    second.init()
    done = second.command("serve")
    assert done.returncode == FAILED and "in use" in done.stderr.lower(), done
    for _ in range(50):
        assert first.get("/healthz").status == 200
