"""Each known flood of HTTP/2 ends at its bound, and other clients are answered meanwhile."""

import socket
import ssl
import time

import pytest

from harness.http2 import (
    CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, PREFACE, RST_STREAM, SETTINGS, Frames, dial,
    frame, headers,
)
from harness.process import busy, reset, resident, sockets
from harness.server import Server
from harness.spindle import Spindle
from harness.tls import Identity, prepare_https
from harness.wire import PATIENCE
from harness.world import World

PRIORITY, WINDOW_UPDATE, UNKNOWN = 2, 8, 0x42
PADDED, PRIORITIZED = 8, 0x20
GREETING = PREFACE + frame(SETTINGS, 0, 0)
WHOLE = END_HEADERS | END_STREAM
CANCEL = (8).to_bytes(4, "big")
PROTOCOL_ERROR, REFUSED_STREAM, ENHANCE_YOUR_CALM = 1, 7, 11
# The bounds of every flood: frames until its sender sees the end (HTTP2LimitTests counts how many the server takes),
# and memory of the server.
MOST_FRAMES = 40_000
MOST_MEMORY = 24 * 2**20
REQUEST_TIMEOUT = 2
IDLE_TIMEOUT = 3


def get(path: str = "/healthz") -> bytes:
    """GET as a block of HPACK."""
    return b"\x82" + headers(path)[1:]


@pytest.fixture(scope="module")
def server(prepare, tmp_path_factory, program) -> Server:
    identity = Identity.make(tmp_path_factory.mktemp("tls"), program("openssl", "openssl"))
    settings = {"SPINDLE_REQUEST_TIMEOUT": str(REQUEST_TIMEOUT), "SPINDLE_IDLE_TIMEOUT": str(IDLE_TIMEOUT)}
    server = prepare_https(prepare, identity, **settings)
    server.init()
    return server.start()


@pytest.fixture(scope="module")
def world(server) -> World:
    return World.create(Spindle.of(server))


@pytest.fixture
def well(server, world):
    """After the test the server is alive, at rest, and about as large as before."""
    before = resident(server)
    yield
    assert server.process.poll() is None, server.log_tail()
    assert world.spindle.client_credentials(world.backend).status == 200
    grown = resident(server) - before
    assert grown < MOST_MEMORY, f"{grown / 2**20:.0f} MiB more"
    deadline = time.monotonic() + PATIENCE
    while (used := busy(server, 0.5)) > 0.2:
        assert time.monotonic() < deadline, f"with nothing to do it takes {used:.0%} of a core"


def attacker(server: Server):
    line = dial(server.address, server.settings["SPINDLE_TLS_CERTIFICATE"], "h2")
    line.sendall(GREETING)
    return line


def flood(server: Server, first: bytes, again, frames_each: int, reads: bool = True):
    """Sends `first`, then what `again` makes of 0, 1, 2 …, until the server ends the connection.

    Returns how many frames that took, and what came.
    """
    line = attacker(server)
    received, sent = Frames(), 0
    try:
        line.sendall(first)
        while sent < MOST_FRAMES and not received.of(GOAWAY):
            try:
                line.settimeout(PATIENCE)
                line.sendall(again(sent // frames_each))
                sent += frames_each
                line.settimeout(0.002)
                if not reads:
                    time.sleep(0.002)
                elif not received.add(line.recv(65_536)):
                    break
            except TimeoutError:
                continue
            except OSError:
                received.is_over = True
                break
        received.wait(line, lambda: received.of(GOAWAY))
        assert ends(line), f"after {sent} frames the connection still stands: {received}"
    finally:
        line.close()
    return sent, received


def ends(line: ssl.SSLSocket) -> bool:
    """Whether the server closes, too, once we have nothing more to say."""
    try:
        line.shutdown(socket.SHUT_WR)
        line.settimeout(PATIENCE)
        while line.recv(65_536):
            pass
        return True
    except TimeoutError:
        return False
    except OSError:
        return True


OPEN_BODY = frame(HEADERS, END_HEADERS, 1, headers("/oauth/token", (b"content-type", b"application/x")))
IDLE = [
    ("settings", b"", frame(SETTINGS, 0, 0), True),
    ("settings of many entries", b"", frame(SETTINGS, 0, 0, (b"\0\4" + (65_535).to_bytes(4, "big")) * 30), True),
    ("settings that change the windows", OPEN_BODY, frame(SETTINGS, 0, 0, b"\0\4" + (70_000).to_bytes(4, "big")), True),
    ("settings, unread", b"", frame(SETTINGS, 0, 0), False),
    ("acknowledgements", b"", frame(SETTINGS, 1, 0), True),
    ("pings", b"", frame(PING, 0, 0, b"12345678"), True),
    ("pings, unread", b"", frame(PING, 0, 0, b"12345678"), False),
    ("answers to pings", b"", frame(PING, 1, 0, b"12345678"), True),
    ("priorities of an idle stream", b"", frame(PRIORITY, 0, 9, b"\0\0\0\0\1"), True),
    ("priority updates", b"", frame(0x10, 0, 0, b"\0\0\0\x09u=1"), True),
    ("empty DATA", OPEN_BODY, frame(DATA, 0, 1), True),
    ("DATA of padding", OPEN_BODY, frame(DATA, PADDED, 1, b"\x05" + bytes(5)), True),
    ("DATA a byte each", OPEN_BODY, frame(DATA, 0, 1, b"a"), True),
    ("windows of the connection", b"", frame(WINDOW_UPDATE, 0, 0, b"\0\0\0\1"), True),
    ("windows of a stream", OPEN_BODY, frame(WINDOW_UPDATE, 0, 1, b"\0\0\0\1"), True),
    ("unknown frames", b"", frame(UNKNOWN, 0, 0, b"x"), True),
    ("resets of a closed stream", OPEN_BODY + frame(RST_STREAM, 0, 1, CANCEL), frame(RST_STREAM, 0, 1, CANCEL), True),
]


@pytest.mark.parametrize(("first", "again", "reads"), [each[1:] for each in IDLE], ids=[each[0] for each in IDLE])
def test_a_flood_of_frames_without_content_ends_the_connection(server, well, first, again, reads):
    sent, received = flood(server, first, lambda _: again * 50, 50, reads=reads)
    # A client that does not read does not see the end, and its further frames are dropped.
    assert sent < MOST_FRAMES or not reads, received
    assert received.codes(GOAWAY) in ([ENHANCE_YOUR_CALM], [PROTOCOL_ERROR]), received


def test_rapid_resets_end_the_connection(server, well):
    def pair(number: int) -> bytes:
        stream = 2 * number + 1
        return frame(HEADERS, WHOLE, stream, get()) + frame(RST_STREAM, 0, stream, CANCEL)

    sent, received = flood(server, b"", pair, 2)
    assert sent < MOST_FRAMES, received
    assert received.codes(GOAWAY) in ([ENHANCE_YOUR_CALM], []), received


def test_unread_refusals_of_streams_end_the_connection(server, well):
    """Each refusal is a reset of twelve times the size, which the server keeps until it can send it."""
    line = attacker(server)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    windows = (4).to_bytes(2, "big") + b"\x7f\xff\xff\xff"
    line.sendall(frame(SETTINGS, 0, 0, windows) + frame(WINDOW_UPDATE, 0, 0, b"\x7f\xff\0\0"))
    most, sent = 400_000, 0
    try:
        line.settimeout(PATIENCE)
        # Enough answers that the socket is full and a hundred streams stay open.
        while sent < 1_200:
            line.sendall(frame(HEADERS, WHOLE, 2 * sent + 1, get("/assets/spindle.css")))
            sent += 1
        time.sleep(0.5)
        while sent < most:
            some = range(sent, sent + 1_000)
            line.sendall(b"".join(frame(HEADERS, WHOLE, 2 * number + 1, get()) for number in some))
            sent += len(some)
    except OSError:
        pass
    finally:
        line.close()
    assert sent < most, "all of them were taken"


MADE = [
    ("a window of nothing", lambda stream: frame(WINDOW_UPDATE, 0, stream, bytes(4))),
    ("a window overflow", lambda stream: frame(WINDOW_UPDATE, 0, stream, b"\x7f\xff\xff\xff")),
    ("DATA over its length", lambda stream: frame(DATA, END_STREAM, stream, b"a" * 50)),
    ("DATA under its length", lambda stream: frame(DATA, END_STREAM, stream)),
    ("trailers with a pseudo-field", lambda stream: frame(HEADERS, WHOLE, stream, b"\x84")),
    ("a dependency on itself", lambda stream: frame(PRIORITY, 0, stream, stream.to_bytes(4, "big") + b"\1")),
]


@pytest.mark.parametrize("provoke", [each[1] for each in MADE], ids=[each[0] for each in MADE])
def test_resets_that_the_server_is_made_to_send_end_the_connection(server, well, provoke):
    def made(number: int) -> bytes:
        stream = 2 * number + 1
        fields = headers("/oauth/token", (b"content-length", b"5"), (b"content-type", b"application/x"))
        return frame(HEADERS, END_HEADERS, stream, fields) + provoke(stream)

    sent, received = flood(server, b"", made, 2)
    assert sent < MOST_FRAMES, received


@pytest.mark.parametrize("piece", [b"", b"\0\1a\1b", b"\0\1a\1b" * 3_000], ids=["empty", "small", "large"])
def test_endless_continuation_ends_the_connection(server, well, piece):
    first = frame(HEADERS, END_STREAM, 1, get())
    sent, received = flood(server, first, lambda _: frame(CONTINUATION, 0, 1, piece), 1)
    assert sent < MOST_FRAMES, received
    assert not received.of(HEADERS), received


def literal(name: bytes, value: bytes, kind: bytes = b"\0") -> bytes:
    return kind + len(name).to_bytes(1, "big") + name + len(value).to_bytes(1, "big") + value


# An entry of the dynamic table, of 4,000 bytes, and references to it (RFC 7541 §6.1).
ENTRY = b"\x40\x01a" + b"\x7f" + bytes([(4_000 - 127) & 127 | 128, (4_000 - 127) >> 7]) + b"b" * 4_000
# The shortest code of Huffman's table, five bits for "0": 8,000 bytes become 12,800 (RFC 7541 appendix B).
HUFFMAN = b"\0\x01a" + b"\xff" + bytes([(8_000 - 127) & 127 | 128, (8_000 - 127) >> 7]) + bytes(8_000)
BOMBS = [
    ("references to one entry", ENTRY + b"\xbe" * 10_000, [431, None]),
    ("empty names", b"\0\0\0" * 5_000, [None]),
    ("thousands of small fields", literal(b"a", b"") * 4_000, [431, None]),
    ("cookie crumbs", literal(b"cookie", b"a") * 1_500, [431, None]),
    ("a value of Huffman codes", HUFFMAN, [200, 431]),
    ("sizes of the table", b"", [200]),
]


@pytest.mark.parametrize(("block", "outcomes"), [each[1:] for each in BOMBS], ids=[each[0] for each in BOMBS])
def test_a_header_block_that_grows_when_decoded_reaches_no_handler(server, well, block, outcomes):
    """100 streams with this block, whose client does not let answers out."""
    line = attacker(server)
    try:
        # Changes of the table's size come before the first field, and end the connection where there are three.
        line.sendall(frame(SETTINGS, 0, 0, b"\0\4" + bytes(4)))
        streams = [2 * number + 1 for number in range(100)]
        for stream in streams:
            whole = (b"\x20" if not block else b"") + get() + block
            line.sendall(split(stream, whole))
        received = Frames()
        deadline = time.monotonic() + PATIENCE
        line.settimeout(0.2)
        while len(received.first_of(streams)) < 100 and time.monotonic() < deadline and not received.of(GOAWAY):
            try:
                if not received.add(line.recv(65_536)):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        answered = received.first_of(streams)
        assert answered and set(answered.values()) <= set(outcomes), (len(answered), set(answered.values()), received)
    finally:
        line.close()


CONNECTIONS = 20


def test_references_to_one_header_entry_do_not_fill_memory_while_bodies_are_pending(server):
    """13 KiB on each connection: 100 requests with 28 KiB of fields each, whose bodies do not come."""
    fields = headers("/oauth/token", (b"content-type", b"application/x"))
    lines, before = [], resident(server)
    try:
        for _ in range(CONNECTIONS):
            lines.append(attacker(server))
            blocks = [fields + (b"\xbe" * 7 if number else ENTRY + b"\xbe" * 6) for number in range(100)]
            lines[-1].sendall(b"".join(
                frame(HEADERS, END_HEADERS, 2 * number + 1, block) for number, block in enumerate(blocks)))
        time.sleep(REQUEST_TIMEOUT / 2)
        each = (resident(server) - before) / CONNECTIONS
        assert each < 1024 * 1024, f"{each / 1024:.0f} KiB a connection"
    finally:
        for line in lines:
            line.close()


def split(stream: int, block: bytes) -> bytes:
    """A header block in as few frames as there can be."""
    parts = [block[at : at + 16_384] for at in range(0, len(block), 16_384)]
    kinds = [HEADERS] + [CONTINUATION] * (len(parts) - 1)
    return b"".join(
        frame(kind, (END_STREAM if kind == HEADERS else 0) | (END_HEADERS if part is parts[-1] else 0), stream, part)
        for kind, part in zip(kinds, parts))


def test_the_hundred_and_first_stream_is_refused_before_any_settings_are_acknowledged(server, well):
    line = attacker(server)
    fields = headers("/oauth/token", (b"content-type", b"application/x"))
    line.sendall(b"".join(frame(HEADERS, END_HEADERS, 2 * number + 1, fields) for number in range(120)))
    received = Frames()
    received.wait(line, lambda: len(received.of(RST_STREAM)) >= 20)
    refused = {at for at, payload in received.of(RST_STREAM) if int.from_bytes(payload, "big") == REFUSED_STREAM}
    assert refused == {2 * number + 1 for number in range(100, 120)}, received
    line.close()


@pytest.mark.parametrize("window", [0, 1])
def test_answers_behind_a_closed_window_are_given_up_and_cost_no_time_meanwhile(server, well, window):
    """100 answers behind a closed window, and pings for as long as the server reads."""
    line = attacker(server)
    line.sendall(frame(SETTINGS, 0, 0, b"\0\4" + window.to_bytes(4, "big")))
    for number in range(100):
        line.sendall(frame(HEADERS, WHOLE, 2 * number + 1, get("/.well-known/openid-configuration")))
    received = Frames()
    received.wait(line, lambda: len(received.of(HEADERS)) >= 100)
    used = busy(server, 1)
    assert used < 0.2, f"it takes {used:.0%} of a core to wait"
    # The control frames are read: an honest client on the same connection needs them.
    line.sendall(frame(PING, 0, 0, b"are you?") + frame(WINDOW_UPDATE, 0, 1, (60_000).to_bytes(4, "big")))
    received.wait(line, lambda: received.of(PING) and received.ends(1))
    line.close()


UNREAD_CONNECTIONS = 120
# 64 MiB of answers, what one turn of a loop adds to them, and the memory of streams and connections.
MOST_UNREAD = 110 * 2**20


def test_unread_answers_do_not_fill_the_memory(server):
    """100 style sheets of 8 KiB on each connection, all unread: 96 MiB."""
    path = b"/assets/spindle.css"
    block = b"\x82\x87\x01\x09localhost\x04" + bytes([len(path)]) + path
    streams = b"".join(frame(HEADERS, WHOLE, 2 * number + 1, block) for number in range(100))
    # Handshakes first: later ones have to wait while pages are made.
    honest, lines = attacker(server), [attacker(server) for _ in range(UNREAD_CONNECTIONS)]
    before, most = resident(server), 0
    try:
        for line in lines:
            try:
                line.sendall(frame(SETTINGS, 0, 0, b"\0\4" + bytes(4)) + streams)
            except OSError:
                pass  # It is over already.
        deadline = time.monotonic() + 5 * PATIENCE
        while "its answers are not read" not in server.log_tail() and time.monotonic() < deadline:
            most = max(most, resident(server))
            time.sleep(0.1)
        received = Frames()
        honest.sendall(frame(HEADERS, WHOLE, 1, get()))
        received.wait(honest, lambda: received.ends(1))
        most = max(most, resident(server))
        assert most - before < MOST_UNREAD, f"{(most - before) / 2**20:.0f} MiB more"
        assert "its answers are not read" in server.log_tail(), server.log_tail()
    finally:
        for line in [honest, *lines]:
            line.close()


def test_data_after_a_reset_does_not_use_up_the_connections_window(server, world, well):
    line = attacker(server)
    data = frame(DATA, 0, 1, b"a" * 16_000)
    line.sendall(OPEN_BODY + frame(RST_STREAM, 0, 1, CANCEL) + data * 4)
    received = Frames()
    # Either the connection ends, or its window was given back, except for one frame.
    received.wait(line, lambda: received.of(GOAWAY) or sum(
        int.from_bytes(payload, "big") for at, payload in received.of(WINDOW_UPDATE) if at == 0) >= 32_000)
    line.close()


def test_open_requests_are_answered_after_goaway(server, well):
    line = attacker(server)
    line.sendall(frame(HEADERS, WHOLE, 1, get()) + OPEN_BODY.replace(b"\0\0\0\1", b"\0\0\0\3", 1))
    line.sendall(frame(GOAWAY, 0, 0, bytes(8)))
    received = Frames()
    received.wait(line, lambda: received.ends(1))
    assert received.first_of([1]) == {1: 200}, received
    line.sendall(frame(DATA, END_STREAM, 3, b"grant_type=none"))
    received.wait(line, lambda: received.ends(3) or received.is_over)
    line.close()


def test_a_body_that_never_ends_is_answered_at_its_deadline(server, well):
    line = attacker(server)
    line.sendall(OPEN_BODY)
    received, began = Frames(), time.monotonic()
    line.settimeout(0.1)
    while not received.of(HEADERS) and not received.of(RST_STREAM) and not received.is_over:
        assert time.monotonic() - began < PATIENCE
        try:
            line.sendall(frame(DATA, 0, 1, b"a" * 40))
            received.add(line.recv(65_536))
        except TimeoutError:
            continue
        except OSError:
            break
    assert time.monotonic() - began < REQUEST_TIMEOUT + 5
    line.close()


FATAL = [
    ("a window overflow of the connection", frame(WINDOW_UPDATE, 0, 0, b"\x7f\xff\xff\xff")),
    ("an even stream", frame(HEADERS, WHOLE, 2, get())),
    ("DATA on an idle stream", frame(DATA, 0, 7, b"a")),
    ("DATA on the connection", frame(DATA, 0, 0, b"a")),
    ("HEADERS on the connection", frame(HEADERS, WHOLE, 0, get())),
    ("RST_STREAM on an idle stream", frame(RST_STREAM, 0, 7, CANCEL)),
    ("RST_STREAM on the connection", frame(RST_STREAM, 0, 0, CANCEL)),
    ("WINDOW_UPDATE on an idle stream", frame(WINDOW_UPDATE, 0, 7, b"\0\0\0\1")),
    ("SETTINGS on a stream", frame(SETTINGS, 0, 1)),
    ("PING on a stream", frame(PING, 0, 1, bytes(8))),
    ("CONTINUATION out of place", frame(CONTINUATION, END_HEADERS, 1, get())),
    ("a frame within a header block", frame(HEADERS, 0, 1, get()) + frame(PING, 0, 0, bytes(8))),
    ("PUSH_PROMISE", frame(5, END_HEADERS, 1, b"\0\0\0\2" + get())),
    ("a frame over the limit", frame(DATA, 0, 1, bytes(16_385))),
    ("PING of 7 bytes", frame(PING, 0, 0, bytes(7))),
    ("SETTINGS of 5 bytes", frame(SETTINGS, 0, 0, bytes(5))),
    ("SETTINGS with a window over the limit", frame(SETTINGS, 0, 0, b"\0\4\xff\xff\xff\xff")),
    ("SETTINGS that allow a push as 2", frame(SETTINGS, 0, 0, b"\0\2\0\0\0\2")),
    ("a frame size below the least", frame(SETTINGS, 0, 0, b"\0\5\0\0\0\1")),
    ("padding over its frame", OPEN_BODY + frame(DATA, PADDED, 1, b"\x09a")),
    ("HEADERS too short for its priority", frame(HEADERS, WHOLE | PRIORITIZED, 1, b"\0\0\0")),
    ("an index of HPACK that is none", frame(HEADERS, WHOLE, 1, b"\xff\xff\xff\xff\x0f")),
    ("an endless integer of HPACK", frame(HEADERS, WHOLE, 1, b"\xff" + b"\xff" * 40)),
    ("a table of HPACK over the limit", frame(HEADERS, WHOLE, 1, b"\x3f\xe1\xff\xff\x07" + get())),
]


@pytest.mark.parametrize("wrong", [each[1] for each in FATAL], ids=[each[0] for each in FATAL])
def test_a_misplaced_frame_ends_the_connection_and_nothing_after_it_is_read(server, well, wrong):
    line = attacker(server)
    received = Frames()
    late = frame(0xA, 0, 0, b"\0\0alt") + frame(0x10, 0, 0, b"\0") + frame(HEADERS, WHOLE, 99, get())
    try:
        line.sendall(wrong + late)
    except OSError:
        pass
    received.wait(line, lambda: received.of(GOAWAY))
    assert ends(line), received
    assert received.of(GOAWAY) or not received.frames[1:], received
    assert not received.first_of([99]), received
    line.close()


def test_a_skipped_stream_number_cannot_be_used_later(server, well):
    line = attacker(server)
    line.sendall(b"".join(frame(HEADERS, WHOLE, stream, get()) for stream in (5, 3, 7)))
    received = Frames()
    received.wait(line, lambda: received.ends(7))
    assert received.first_of([3, 5, 7]) == {5: 200, 7: 200}, received
    line.close()


def test_a_connection_reset_within_a_header_block_leaves_nothing_behind(server, world, well):
    whole = frame(HEADERS, END_STREAM, 1, get()) + frame(CONTINUATION, END_HEADERS, 1, literal(b"a", b"b"))
    before = sockets(server)
    for cut in range(1, len(whole)):
        line = attacker(server)
        line.sendall(whole[:cut])
        reset(line)
    deadline = time.monotonic() + PATIENCE
    while sockets(server) > before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert sockets(server) <= before
