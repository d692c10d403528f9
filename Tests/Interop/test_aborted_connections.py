"""Clients that disconnect at any point, and clients that never stop, do not affect other clients."""

import re
import socket
import subprocess
import time
from email.utils import parsedate_to_datetime

import pytest

from harness.process import busy, cpu_seconds, reset, resident, sockets
from harness.raw import converse, is_readable, read_all
from harness.refusals import HONEST, NEXT, PROOF, chunked, get, post
from harness.server import Server
from harness.spindle import Spindle
from harness.tls import Identity, prepare_https
from harness.wire import PATIENCE, send
from harness.world import World

CONFIGURATION = get(target=b"/.well-known/openid-configuration")
PIPELINED = 20_000
REQUEST_TIMEOUT = 2
# The most that a client that reads nothing may make the server keep.
MOST_MEMORY = 4 * 2**20
PAGES = [
    "/healthz", "/readyz", "/.well-known/openid-configuration", "/.well-known/jwks.json", "/login", "/logout", "/me",
    "/oauth/token", "/oauth/authorize", "/admin/v1/merchants", "/no-such-page",
]


@pytest.fixture(scope="module")
def server(launch) -> Server:
    return launch(settings={"SPINDLE_REQUEST_TIMEOUT": str(REQUEST_TIMEOUT), "SPINDLE_IDLE_TIMEOUT": "60"})


@pytest.fixture(scope="module")
def world(server) -> World:
    return World.create(Spindle.of(server))


@pytest.fixture(autouse=True)
def nothing_is_left(server, world):
    """After each test the server lives, serves, and has the sockets that it had."""
    before = sockets(server)
    yield
    assert server.process.poll() is None, server.log_tail()
    assert world.spindle.client_credentials(world.backend).status == 200
    deadline = time.monotonic() + PATIENCE
    while sockets(server) > before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert sockets(server) <= before


def bodies(world: World) -> list[bytes]:
    names = ["a body by length", "a body in two chunks", "a trailer", "Expect: 100-continue"]
    return [next(case for case in HONEST if case.name == name).bytes_for(world) for name in names]


def test_a_client_that_resets_at_any_byte_of_its_request_leaves_nothing_behind(server, world):
    for request in [NEXT, *bodies(world)]:
        for cut in range(len(request) + 1):
            line = server.address.dial()
            line.sendall(request[:cut])
            reset(line)


def test_a_client_that_ends_its_side_at_any_byte_gets_one_answer_or_none(server, world):
    for request in [NEXT, *bodies(world)]:
        for cut in range(len(request) + 1):
            with server.address.dial() as line:
                line.sendall(request[:cut])
                line.shutdown(socket.SHUT_WR)
                received = read_all(line)
            assert received.is_closed, f"{cut} of {request}: {received}"
            statuses = [answer.status for answer in received.answers]
            # A request that is not whole is never served.
            wanted = [[200]] if cut == len(request) else [[], [400], [408]]
            assert statuses in wanted and received.beginnings == len(statuses), f"{cut} of {request}: {received}"


def test_a_client_that_resets_at_any_byte_of_its_answers_leaves_nothing_behind(server):
    whole = read_all_of(server, CONFIGURATION)
    assert whole > 1_000
    for cut in range(0, whole, 7):
        line = server.address.dial()
        line.sendall(CONFIGURATION * 30)
        left = cut
        while left > 0:
            left -= len(line.recv(left))
        reset(line)


def read_all_of(server: Server, request: bytes) -> int:
    with server.address.dial() as line:
        line.sendall(request)
        line.shutdown(socket.SHUT_WR)
        return len(read_all(line).data)


def test_a_client_that_reads_no_answers_is_read_from_within_a_bound(server):
    before = resident(server)
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        line.settimeout(1)
        line.connect((server.address.host, server.address.port))
        sent = 0
        with pytest.raises(TimeoutError):
            while sent < 64 * 2**20:
                sent += line.send(CONFIGURATION * 200)
        assert resident(server) - before < MOST_MEMORY
        used = busy(server, 1)
        assert used < 0.2, f"it takes {used:.0%} of a core to wait"


def test_pipelined_requests_are_answered_in_order_and_beside_other_connections(server):
    kinds = [(NEXT, b"200"), (get(target=b"/no-such-page"), b"404"), (get(target=b"/me"), b"401")]
    asked = [kinds[number * 7 % 3] for number in range(PIPELINED)]
    data, position, slowest = b"", 0, 0.0
    stream = b"".join(request for request, _ in asked) + get(b"Connection: close")
    with server.address.dial() as line:
        line.setblocking(False)
        other = server.address.connect()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                position += line.send(stream[position : position + 65_536]) if position < len(stream) else 0
            except BlockingIOError:
                pass
            if is_readable(line, 0.01):
                part = line.recv(262_144)
                if not part:
                    break
                data += part
            if len(data) % 5 == 0:
                began = time.monotonic()
                assert send(other, "GET", "/healthz").status == 200
                slowest = max(slowest, time.monotonic() - began)
        other.close()
    assert re.findall(rb"HTTP/1\.1 (\d\d\d) ", data) == [status for _, status in asked] + [b"200"]
    assert slowest < 1, f"another client waited {slowest:.2f} s"


def test_busy_connections_do_not_starve_a_new_one(prepare, program, tmp_path):
    server = prepare_https(prepare, Identity.make(tmp_path, program("openssl", "openssl")))
    server.init()
    server.start()
    load = subprocess.Popen(
        [program("h2load", "nghttp2-client"), "-D", "30", "-c", "8", "-m", "100", f"{server.address.origin}/healthz"],
        stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    try:
        time.sleep(1)
        for _ in range(20):
            assert server.get("/healthz").status == 200
        assert load.poll() is None, "the load ended before the new connections were answered"
    finally:
        load.kill()
        load.wait()


GROWING = [
    ("fields", [get(*[b"X-%d: y" % number for number in range(count)]) for count in (3, 30, 98)]),
    ("a long field", [get(b"X: " + b"y" * count) for count in (300, 3_000, 30_000)]),
    ("a query of many", [get(target=b"/oauth/authorize?" + b"&a=b" * count) for count in (20, 200, 2_000)]),
    ("cookies", [get(b"Cookie: " + b"; ".join(b"a%d=b" % n for n in range(count))) for count in (30, 300, 3_000)]),
    ("languages", [get(b"Accept-Language: " + b",".join(b"a;q=0.%d" % (n % 9) for n in range(count)), target=b"/login")
                   for count in (30, 300, 3_000)]),
    ("small chunks", [chunked(b"1\r\na\r\n" * count + b"0\r\n\r\n") for count in (100, 1_000, 10_000)]),
    ("a form of many", [post(b"Content-Length: %d" % (4 * count), body=b"&a=b" * count)
                        for count in (100, 1_000, 10_000)]),
]


@pytest.mark.parametrize("requests", [each[1] for each in GROWING], ids=[each[0] for each in GROWING])
def test_ten_times_the_input_costs_no_more_than_ten_times_as_much(server, requests):
    costs = []
    for request in (each.replace(PROOF, b"X: y") for each in requests):
        times = max(5, 400_000 // len(request))
        began = cpu_seconds(server)
        connection = server.address.dial(PATIENCE)
        for _ in range(times):
            connection.sendall(request)
            data = b""
            while b"\r\n\r\n" not in data:
                part = connection.recv(65_536)
                assert part, f"closed: {data[:200]}"
                data += part
            head, _, body = data.partition(b"\r\n\r\n")
            left = int(re.search(rb"(?i)content-length: (\d+)", head)[1]) - len(body)
            while left > 0:
                left -= len(connection.recv(65_536))
        connection.close()
        costs.append((cpu_seconds(server) - began) / times / len(request))
    # Each request has its own fixed cost, so a byte of a large one is cheaper than one of a small one.
    assert costs[2] < 3 * min(costs[:2]) + 1e-9, [f"{cost * 1e9:.0f} ns a byte" for cost in costs]


def test_a_deadline_ends_the_connection_and_late_bytes_are_not_read(server):
    half = b"POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\nhalf"
    with server.address.dial() as line:
        line.sendall(half)
        time.sleep(REQUEST_TIMEOUT + 1)
        try:
            line.sendall(NEXT)
        except OSError:
            pass
        received = read_all(line)
    assert [answer.status for answer in received.answers] in ([400], [408], []) and received.is_closed, received
    assert received.beginnings <= 1


def test_a_connections_second_request_has_the_same_deadline_as_the_first(server):
    with server.address.dial() as line:
        line.sendall(NEXT)
        assert is_readable(line, PATIENCE) and line.recv(4096).startswith(b"HTTP/1.1 200")
        began = time.monotonic()
        for byte in NEXT:
            try:
                line.sendall(bytes([byte]))
            except OSError:
                break
            if is_readable(line, 0.2):
                break
        assert time.monotonic() - began < REQUEST_TIMEOUT + 3
        received = read_all(line)
    assert received.is_closed and not [answer for answer in received.answers if answer.status == 200], received


@pytest.mark.parametrize("path", PAGES)
def test_an_answer_to_head_has_no_body_and_the_next_request_is_read(server, path):
    head = get(target=path.encode()).replace(b"GET", b"HEAD", 1)
    received = converse(server.address, head + get(b"Connection: close"))
    first, _, others = received.data.partition(b"\r\n\r\n")
    assert others.startswith(b"HTTP/1.1 200") and others.count(b"HTTP/1.1 ") == 1, received
    assert re.match(rb"HTTP/1\.1 [2-4]", first), received


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE", "PUT"])
@pytest.mark.parametrize("path", ["/healthz", "/no-such-page", "/login", "/me", "/oauth/token"])
def test_an_unexpected_body_is_not_read_as_a_second_request(server, path, method):
    smuggled = get(target=b"/readyz")
    request = get(b"Content-Length: %d" % len(smuggled), target=path.encode()).replace(b"GET", method.encode(), 1)
    received = converse(server.address, request + smuggled + get(b"Connection: close", target=b"/no-such-page"))
    # The second request is read, or the connection was closed before; the body is never read as one.
    assert received.is_closed and 1 <= received.beginnings <= 2, received
    assert b'"ready' not in received.data and received.data.count(b" 200 ") <= 1, received


def test_the_date_header_is_current_also_after_a_silence(server):
    with server.address.dial() as line:
        for silence in (0, 2.5, 0):
            time.sleep(silence)
            line.sendall(NEXT)
            assert is_readable(line, PATIENCE)
            date = re.search(rb"\r\nDate: ([^\r]+)\r\n", line.recv(4096))[1].decode()
            assert re.fullmatch(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT", date), date
            assert abs(parsedate_to_datetime(date).timestamp() - time.time()) < 2.5, date


@pytest.mark.parametrize("byte", ["%0d%0aX-Split:%20y", "%0a", "%00", "%0D", "\u0080"])
def test_no_value_of_a_request_splits_its_answer(server, world, byte):
    client = world.web
    for name in ("state", "redirect_uri", "response_type", "scope", "nonce", "prompt"):
        values = {"client_id": client.id, "redirect_uri": "https%3A%2F%2Fshop.example%2Flanding",
                  "response_type": "code", "state": "s"}
        values[name] = values.get(name, "") + byte
        query = "&".join(f"{key}={value}" for key, value in values.items())
        target = f"/oauth/authorize?{query}".encode()
        received = converse(server.address, get(b"Connection: close", target=target))
        assert received.beginnings == 1 and len(received.answers) == 1, received
        [answer] = received.answers
        assert answer.status < 500 and answer.headers.get("X-Split") is None, received
        head = received.data.partition(b"\r\n\r\n")[0]
        assert b"\0" not in head and head.count(b"\n") == head.count(b"\r\n") == head.count(b"\r"), received
