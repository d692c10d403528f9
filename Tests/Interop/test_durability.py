"""Nothing is answered before it is durable: an strace of the running server shows the order."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.spindle import Spindle
from harness.trace import CALLS, events, exchanges, unsynced
from harness.world import World

ROUNDS = 8


@pytest.fixture(scope="module")
def traced(prepare, program, tmp_path_factory):
    """A server that was born under strace (no permission to attach is needed), and where the trace is written."""
    trace = tmp_path_factory.mktemp("trace") / "calls"
    # -D: strace is a grandchild, so that the process we start, signal and wait for is the server itself.
    wrapper = [program("strace", "strace"), "-D", "-f", "-y", "-s", "64", "-e", f"trace={CALLS}", "-o", str(trace)]
    server = prepare(wrapper=wrapper)
    server.init()
    return server.start(), trace


@pytest.fixture(scope="module")
def world(traced) -> World:
    return World.create(Spindle.of(traced[0]))


def recorded(world: World, trace, work) -> list:
    """What the server called while `work` ran; unknown pages asked for before and after mark its place in the trace."""
    begin, end = f"/begin-{time.monotonic_ns()}", f"/end-{time.monotonic_ns()}"
    world.spindle.call("GET", begin)
    work()
    world.spindle.call("GET", end)
    deadline = time.monotonic() + 10
    while end not in (text := trace.read_text("utf-8", "replace")) and time.monotonic() < deadline:
        time.sleep(0.05)
    # Line numbers are the clock: the trace is cut at whole lines.
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines) if begin in line)
    last = next(number for number, line in enumerate(lines) if end in line)
    return events("\n".join(lines[first:last]))


def test_each_answer_of_a_single_client_waits_for_the_log_to_be_on_the_disk(world, traced):
    spindle = world.spindle
    device = world.phone()

    def one_after_the_other():
        refresh_token = device["refresh_token"]
        for _ in range(ROUNDS):
            assert spindle.client_credentials(world.backend).status == 200
            refreshed = spindle.refresh(world.app, refresh_token)
            refresh_token = refreshed.json["refresh_token"]
            assert spindle.redeem(world.backend, spindle.code(device["access_token"], world.backend)).status == 200

    trace = recorded(world, traced[1], one_after_the_other)
    # Three answers a round: token, rotation, redemption. A code of type `code` is sealed, not stored: its exchange
    # has nothing to wait for.
    asked = exchanges(trace, request="POST /oauth/token")
    assert len(asked) == 3 * ROUNDS, f"the trace shows {len(asked)} answers"
    assert unsynced(trace, asked) == []


def test_each_code_of_a_browser_session_waits_for_the_log_to_be_on_the_disk(world, traced):
    spindle = world.spindle
    token = world.phone()["access_token"]

    def one_after_the_other():
        for _ in range(ROUNDS):
            assert spindle.code(token, world.web, "session")

    trace = recorded(world, traced[1], one_after_the_other)
    asked = exchanges(trace, request="POST /oauth/exchange")
    assert len(asked) == ROUNDS, f"the trace shows {len(asked)} answers"
    assert unsynced(trace, asked) == []


def test_each_answer_of_many_clients_waits_for_the_log_to_be_on_the_disk(world, traced):
    def at_once():
        def ask(_):
            connection = world.spindle.address.connect()
            for _ in range(ROUNDS):
                assert world.spindle.client_credentials(world.backend, connection=connection).status == 200
            connection.close()

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(ask, range(8)))

    trace = recorded(world, traced[1], at_once)
    asked = exchanges(trace)
    assert len(asked) == 8 * ROUNDS, f"the trace shows {len(asked)} answers"
    assert unsynced(trace, asked) == []


GOOD = """\
7 read(20<socket:[1]>, "POST /oauth/token HTTP/1.1"..., 8192) = 300
8 pwrite64(12</t/spindle.db-wal>, "x"..., 4096, 32) = 4096
8 fdatasync(12</t/spindle.db-wal> <unfinished ...>
7 read(21<socket:[2]>, "GET /"..., 8192) = 20
8 <... fdatasync resumed>) = 0
7 write(20<socket:[1]>, "HTTP/1.1 200 OK"..., 200) = 200
"""
NEVER = "".join(line for line in GOOD.splitlines(keepends=True) if "fdatasync" not in line)
BEFORE_THE_WRITE = "\n".join(GOOD.splitlines()[i] for i in (0, 2, 4, 1, 5))
AFTER_THE_ANSWER = "\n".join(GOOD.splitlines()[i] for i in (0, 1, 2, 5, 4))
OF_THE_DATABASE = GOOD.replace("fdatasync(12</t/spindle.db-wal>", "fdatasync(12</t/spindle.db>")
FAILED = GOOD.replace("resumed>) = 0", "resumed>) = -1 EIO (Input/output error)")


def test_the_trace_reader_accepts_the_right_order():
    trace = events(GOOD)
    assert len(exchanges(trace)) == 1 and unsynced(trace, exchanges(trace)) == []


@pytest.mark.parametrize(
    "text", [NEVER, BEFORE_THE_WRITE, AFTER_THE_ANSWER, OF_THE_DATABASE, FAILED],
    ids=["never", "before the write", "after the answer", "of the database", "failed"],
)
def test_the_trace_reader_finds_an_answer_that_did_not_wait(text):
    trace = events(text)
    assert len(unsynced(trace, exchanges(trace))) == 1
