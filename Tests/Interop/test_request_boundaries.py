"""Two parsers of one byte stream agree on where each request ends: Spindle and h11, and Spindle behind nginx."""

import os
import random
import re
from urllib.parse import parse_qsl

import h11
import pytest

from harness.nginx import find_nginx, nginx
from harness.raw import converse
from harness.refusals import BODY, CHUNKED, CHUNKS, HEADER_LIMIT, HONEST, LENGTH, REFUSED, Case, chunked, get, post
from harness.server import free_port
from harness.spindle import Spindle
from harness.wire import Address, send
from harness.world import World

SEED = 20_261_122
# Tests/long sets more.
MUTANTS = int(os.environ.get("TEST_MUTANTS", "1500"))
# A second for each of these requests, on a busy machine, and the start of the server.
ENOUGH_TIME = 240 + MUTANTS // 25
# Bytes that separate, end and hide requests.
SCRAPS = [
    b"\r\n", b"\n", b"\r", b" ", b"\t", b"\0", b":", b",", b";", b"0\r\n\r\n", b"\r\n\r\n", b"1\r\na\r\n", b"\x0b",
    b"+", b"-", b"0x", CHUNKED + b"\r\n", LENGTH + b"\r\n", b"Content-Length: 0\r\n", b"Connection: close\r\n", b"\xff",
    b"Transfer-Encoding: identity\r\n", b"Host: y\r\n", b"HTTP/1.0", b"HTTP/1.1", b"GET /healthz HTTP/1.1\r\n",
]
# Its answer shows where the request before it ended, and the one after it where it did.
FIELD = dict(parse_qsl(BODY))
MARK, LAST = get(target=b"/no-such-page"), get(b"Connection: close")


@pytest.fixture(scope="module")
def world(launch) -> World:
    return World.create(Spindle.of(launch()))


class FramingTrailer(Exception):
    """A trailer has Transfer-Encoding or Content-Length."""


LAST_CHUNK = re.compile(rb"\r\n0+(;[^\r\n]*)?\r\n")
FRAMING = re.compile("Transfer-Encoding|Content-Length")


def read_by_h11(stream: bytes) -> list[tuple[bytes, bytes]]:
    """The targets and bodies of the requests that h11 finds whole in `stream`."""
    found: list[tuple[bytes, bytes]] = []
    rest: bytes | None = stream
    while rest:
        # One or two empty lines before a request are skipped (RFC 9112 §2.2); h11 refuses them.
        rest = first_of(rest.removeprefix(b"\r\n").removeprefix(b"\r\n"), found)
    return found


def first_of(stream: bytes, found: list[tuple[bytes, bytes]]) -> bytes | None:
    """Adds the first request of `stream` to `found`; returns what follows, unless the connection ends with it."""
    machine, target, body = h11.Connection(h11.SERVER, max_incomplete_event_size=2 * HEADER_LIMIT), None, b""
    machine.receive_data(stream)
    machine.receive_data(b"")
    try:
        while True:
            event = machine.next_event()
            if isinstance(event, h11.Request):
                target = event.target
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                found.append((target, body))
                machine.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
                machine.send(h11.EndOfMessage())
                return machine.trailing_data[0] if machine.our_state is h11.DONE else None
            elif event in (h11.NEED_DATA, h11.PAUSED) or isinstance(event, h11.ConnectionClosed):
                return None
    except h11.ProtocolError as refused:
        # The server drops trailers, as RFC 9112 §7.1.2 allows; h11 refuses those that would frame a message.
        if FRAMING.search(str(refused)) and LAST_CHUNK.search(stream) and target is not None:
            raise FramingTrailer from refused
        return None


def mutants(world: World):
    chance = random.Random(SEED)
    # Requests with a body, where a parser can go wrong, more often than the others.
    bodies = [post(LENGTH), chunked(CHUNKS), chunked(b"5\r\ngrant\r\n0\r\nX: y\r\n\r\n")] * 5
    cases = [case for case in HONEST if case.is_short] + [Case("a body", request) for request in bodies]
    sources = [case.bytes_for(world) for case in cases]
    for number in range(MUTANTS):
        request = bytearray(chance.choice(sources))
        if number % 10 == 0:
            yield bytes(request)
            continue
        if number % 10 == 1:
            # Spliced: the beginning of one request, the end of another.
            other = chance.choice(sources)
            yield bytes(request[: chance.randrange(len(request))]) + other[chance.randrange(len(other)) :]
            continue
        for _ in range(chance.randrange(1, 3)):
            place = chance.randrange(len(request))
            match chance.randrange(4):
                case 0:
                    request[place] = chance.randrange(256)
                case 1:
                    del request[place : place + chance.randrange(1, 4)]
                case _:
                    request[place:place] = chance.choice(SCRAPS)
        yield bytes(request)


@pytest.mark.timeout(ENOUGH_TIME)
def test_h11_reads_the_same_requests_as_this_server(world):
    outcomes, framing_trailers = {"taken": 0, "refused": 0, "bodies": 0}, 0
    for number, request in enumerate(mutants(world)):
        stream = request + MARK + LAST
        received = converse(world.spindle.address, stream)
        statuses = [answer.status for answer in received.answers]
        told = f"mutant {number}: {stream}\nwe answered {statuses}"
        assert received.is_closed and len(statuses) == received.beginnings, f"{told}\n{received}"
        assert all(status < 500 or status in (501, 505) for status in statuses), told
        # The last answer may be a refusal; all before it belong to requests that the server took for whole.
        try:
            found = read_by_h11(stream)
        except FramingTrailer:
            framing_trailers += 1
            continue
        assert len(statuses) - 1 <= len(found), f"{told}, h11 found {found}"
        if statuses[-2:] == [404, 200]:
            alike = found[-2:] == [(b"/no-such-page", b""), (b"/healthz", b"")] and len(found) == len(statuses)
            assert alike, f"{told}, h11 found {found}"
            # A token is issued for one body only, or for one that reads as the same form.
            for answer, (target, body) in zip(received.answers, found):
                if "access_token" in answer.text:
                    assert body == BODY or dict(parse_qsl(body)) | FIELD == dict(parse_qsl(body)), f"{told}: {body}"
                    outcomes["bodies"] += 1
            outcomes["taken"] += 1
        else:
            outcomes["refused"] += 1
    # Otherwise the mutants were all of one kind.
    assert min(outcomes.values()) > MUTANTS // 20, outcomes
    assert framing_trailers <= MUTANTS // 100, framing_trailers
    print(outcomes, "and trailers that say how a message is framed:", framing_trailers)


@pytest.fixture(scope="module")
def proxy(world, program, tmp_path_factory):
    """nginx in front, with one connection to the server for all clients."""
    folder = tmp_path_factory.mktemp("nginx")
    address = Address("127.0.0.1", free_port())
    http = f"""
        access_log off;
        upstream spindle {{ server 127.0.0.1:{world.spindle.address.port}; keepalive 1; }}
        server {{
            listen 127.0.0.1:{address.port};
            location / {{
                proxy_pass http://spindle;
                proxy_http_version 1.1;
                proxy_request_buffering off;
                proxy_set_header Connection "";
                proxy_set_header Host $http_host;
            }}
        }}
    """
    with nginx(find_nginx(program), folder, address.port, http):
        yield address


def honest_clients_get_their_own_answers(proxy: Address) -> None:
    """On nginx's connection to the server: half a request left there would shift the answers."""
    connection = proxy.connect()
    for path, status in [("/healthz", 200), ("/no-such-page", 404), ("/me", 401), ("/healthz", 200)]:
        answer = send(connection, "GET", path)
        assert answer.status == status, f"{path}: {answer}"
    connection.close()


def test_no_request_that_nginx_forwards_shifts_another_clients_answer(world, proxy):
    for case in REFUSED:
        with proxy.dial(2) as line:
            try:
                line.sendall(case.bytes_for(world) + MARK)
                line.recv(65_536)
            except OSError:
                pass
        honest_clients_get_their_own_answers(proxy)


@pytest.mark.timeout(ENOUGH_TIME)
def test_no_mutated_request_behind_nginx_shifts_another_clients_answer(world, proxy):
    for number, request in enumerate(mutants(world)):
        if number % 5 == 0:
            with proxy.dial(0.2) as line:
                try:
                    line.sendall(request + MARK)
                    line.recv(65_536)
                except OSError:
                    pass
            honest_clients_get_their_own_answers(proxy)
