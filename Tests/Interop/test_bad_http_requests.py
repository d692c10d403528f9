"""Requests that HTTP/1.1 forbids are refused and their connection closed; other clients are served."""

import time

import pytest

from harness.raw import converse, is_readable, read_all
from harness.refusals import HONEST, NEXT, REFUSED, Case, get, post
from harness.spindle import Spindle
from harness.wire import send
from harness.world import World

PIPELINED = 50
# Between the two halves of the neighbour's request, and for requests that come byte by byte.
REQUEST_TIMEOUT = 60


def each_way(cases: list[Case]) -> list:
    """Each case whole, and the short ones byte by byte."""
    whole = [pytest.param(case, False, id=case.name) for case in cases]
    return whole + [pytest.param(case, True, id=f"{case.name}, byte by byte") for case in cases if case.is_short]


@pytest.fixture(scope="module")
def world(launch) -> World:
    return World.create(Spindle.of(launch(settings={"SPINDLE_REQUEST_TIMEOUT": str(REQUEST_TIMEOUT)})))


@pytest.fixture(scope="module")
def kept(world):
    """A connection from before the first bad request to after the last."""
    connection = world.spindle.address.connect()
    assert send(connection, "GET", "/healthz").status == 200
    line = connection.sock
    yield connection
    assert connection.sock is line, "the neighbour's connection was closed"
    connection.close()


@pytest.mark.parametrize(("case", "by_byte"), each_way(REFUSED))
def test_a_bad_request_is_refused_once_and_its_connection_closed(world, kept, case, by_byte):
    with world.spindle.address.dial() as beside:
        beside.sendall(NEXT[:20])
        # A good request after the bad one is not read: it may be part of the bad one.
        received = converse(world.spindle.address, case.bytes_for(world) + NEXT, by_byte)
        beside.sendall(NEXT[20:])
        assert is_readable(beside, 10) and beside.recv(4096).startswith(b"HTTP/1.1 200"), "a neighbour was not served"
    assert received.is_closed, received
    assert received.beginnings == 1 and len(received.answers) == 1, received
    [answer] = received.answers
    assert answer.status in case.statuses, answer
    assert (answer.headers.get("Connection") or "").lower() == "close", received
    assert "access_token" not in answer.text
    assert send(kept, "GET", "/healthz").status == 200


@pytest.mark.parametrize("by_byte", [False, True])
def test_tls_on_a_plain_port_is_closed_without_an_answer(world, kept, by_byte):
    hello = bytes.fromhex("16030100c8010000c40303") + b"\x5a" * 194 + b"\r\n\r\n"
    received = converse(world.spindle.address, hello + NEXT, by_byte)
    assert received.is_closed and received.data == b"", received
    assert send(kept, "GET", "/healthz").status == 200


@pytest.mark.parametrize(("case", "by_byte"), each_way(HONEST))
def test_a_valid_request_is_answered_and_its_connection_kept(world, case, by_byte):
    last = get(b"Connection: close")
    with world.spindle.address.dial() as line:
        request = case.bytes_for(world) + last
        for piece in ([bytes([byte]) for byte in request] if by_byte else [request]):
            line.sendall(piece)
        received = read_all(line)
    assert received.is_closed, received
    assert [answer.status for answer in received.answers] == [200, 200], received
    assert received.beginnings == 2, received


def test_http_1_0_is_answered_without_a_host_and_closed(world):
    received = converse(world.spindle.address, b"GET /healthz HTTP/1.0\r\n\r\n")
    assert received.is_closed and [answer.status for answer in received.answers] == [200], received


def test_a_client_that_waits_for_100_continue_is_told_to_go_on(world):
    backend = world.backend
    whole = next(case for case in HONEST if case.name == "Expect: 100-continue").bytes_for(world)
    head, body = whole.split(b"\r\n\r\n")
    with world.spindle.address.dial() as line:
        line.sendall(head + b"\r\n\r\n")
        assert is_readable(line, 10) and line.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n", backend.id
        line.sendall(body)
        assert is_readable(line, 10) and line.recv(4096).startswith(b"HTTP/1.1 200")


def test_pipelined_requests_are_answered_in_order(world):
    kinds = [(get(), 200), (get(target=b"/no-such-page"), 404), (get(target=b"/me"), 401), (post_of(world), 200)]
    asked = [kinds[number * 7 % len(kinds)] for number in range(PIPELINED)]
    request = b"".join(each for each, _ in asked) + get(b"Connection: close")
    received = converse(world.spindle.address, request)
    assert [answer.status for answer in received.answers] == [status for _, status in asked] + [200]
    assert received.beginnings == PIPELINED + 1 and received.is_closed
    tokens = [answer.json["access_token"] for answer in received.answers if "access_token" in answer.text]
    assert len(set(tokens)) == len(tokens) > 0


def test_the_sender_of_a_refused_large_body_can_read_the_answer(world):
    case = Case("a large body", post(b"Content-Length: 1000000", body=b"a" * 1_000_000))
    for _ in range(20):
        received = converse(world.spindle.address, case.bytes_for(world))
        assert [answer.status for answer in received.answers] == [413] and received.is_closed, received


def test_the_server_is_healthy_after_the_refusals(world):
    time.sleep(0.1)
    assert world.spindle.call("GET", "/readyz").status == 200
    assert world.spindle.client_credentials(world.backend).status == 200


def post_of(world: World) -> bytes:
    return next(case for case in HONEST if case.name == "a body by length").bytes_for(world)
