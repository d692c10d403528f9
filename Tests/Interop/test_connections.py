"""The server closes slow, idle and surplus connections, and goes on answering other clients."""

import socket
import threading
import time
from contextlib import ExitStack, contextmanager

import pytest

from harness.raw import is_readable
from harness.spindle import Spindle
from harness.wire import PATIENCE, seconds_until_closed, send
from harness.world import World

REQUEST_TIMEOUT = 2
IDLE_TIMEOUT = 3
HEAD = b"POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"


@pytest.fixture(scope="module")
def world(launch) -> World:
    settings = {"SPINDLE_REQUEST_TIMEOUT": str(REQUEST_TIMEOUT), "SPINDLE_IDLE_TIMEOUT": str(IDLE_TIMEOUT)}
    return World.create(Spindle.of(launch(settings=settings)))


@contextmanager
def everybody_else(world: World):
    """Other clients, which must be answered all the while, and at least five times."""
    over, answered, failed = threading.Event(), [], []

    def ask():
        while not over.is_set() or len(answered) + len(failed) < 5:
            try:
                answered.append(world.spindle.client_credentials(world.backend).status)
            except Exception as failure:  # noqa: BLE001 - whatever it is, the test shall show it
                failed.append(failure)
            time.sleep(0.05)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(40)
    assert not failed and len(answered) >= 5 and set(answered) == {200}, (failed[:3], answered[:20])


@pytest.mark.parametrize(
    ("start", "drip"),
    [
        (b"", b""),
        (b"", HEAD * 3),
        (HEAD + b"X-Slow: ", b"a" * 500),
        (HEAD + b"Content-Length: 500\r\n\r\n", b"a" * 400),
        (HEAD + b"Content-Length: 500\r\n\r\ngrant_type=", b""),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n" * 100),
    ],
    ids=["silence", "slow request line", "slow header", "slow body", "half a body", "slow chunks"],
)
def test_a_request_that_is_never_finished_is_disconnected(world, start, drip):
    with everybody_else(world), world.spindle.address.dial() as line:
        line.sendall(start)
        seconds_until_closed(line, drip)


def test_many_slow_clients_delay_no_other_client(world):
    with everybody_else(world), ExitStack() as stack:
        lines = [stack.enter_context(world.spindle.address.dial()) for _ in range(100)]
        for line in lines:
            line.sendall(HEAD)
        for line in lines:
            seconds_until_closed(line)


def test_an_idle_connection_is_closed(world):
    with everybody_else(world), world.spindle.address.dial() as line:
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert line.recv(4096).startswith(b"HTTP/1.1 200")
        seconds_until_closed(line)


def test_a_connection_in_use_outlives_request_and_idle_timeouts(world):
    connection = world.spindle.address.connect()
    line = None
    for _ in range(10):
        assert send(connection, "GET", "/healthz").status == 200
        line = line or connection.sock
        assert connection.sock is line, "the server closed a connection that was in use"
        time.sleep(0.5)
    connection.close()


def test_a_half_open_connection_is_closed(world):
    """The client disappears after its request: it reads nothing, and sends nothing more."""
    with everybody_else(world), world.spindle.address.dial() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        line.shutdown(socket.SHUT_WR)
        seconds_until_closed(line)


def test_unused_connections_make_room_when_the_limit_is_reached(launch):
    cap = 12
    world = World.create(Spindle.of(launch(settings={"SPINDLE_MAX_CONNECTIONS": str(cap)})))

    def ask(line: socket.socket) -> None:
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")

    def is_open(line: socket.socket) -> bool:
        try:
            return not is_readable(line) or line.recv(4096) != b""
        except OSError:
            return False

    with ExitStack() as stack:
        lines = [stack.enter_context(world.spindle.address.dial(timeout=PATIENCE)) for _ in range(cap + 8)]
        for line in lines:
            ask(line)
        for line in lines:
            assert line.recv(4096).startswith(b"HTTP/1.1 200"), "no client is shut out"
        time.sleep(1)
        left = [line for line in lines if is_open(line)]
        assert 0 < len(left) <= cap, f"{len(left)} are open"
        ask(left[-1])
        assert left[-1].recv(4096).startswith(b"HTTP/1.1 200"), "who is in is served"
