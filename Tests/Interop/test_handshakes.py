"""TLS handshakes that are cut, altered, repeated or never finished cost once and leave nothing behind."""

import random
import signal
import socket
import ssl
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from harness.http2 import END_HEADERS, END_STREAM, HEADERS, PREFACE, SETTINGS, dial, frame, headers
from harness.process import busy, reset, resident, sockets
from harness.refusals import NEXT
from harness.server import Server
from harness.tls import Identity, prepare_https, trusting
from harness.wire import PATIENCE

SEED = 20_261_122
MUTANTS = 1_500
SILENT = 1_000
# The largest length that a record's header may state (RFC 8446 §5.1), and the largest hello that OpenSSL accepts:
# nothing of either has come.
RECORD = b"\x16\x03\x01\x40\x00"
HELLO = RECORD + b"\x01\x01\xff\xff"
REQUEST_TIMEOUT = 4


@pytest.fixture(scope="module")
def openssl(program) -> str:
    return program("openssl", "openssl")


@pytest.fixture(scope="module")
def server(prepare, tmp_path_factory, openssl) -> Server:
    identity = Identity.make(tmp_path_factory.mktemp("tls"), openssl)
    settings = {"SPINDLE_REQUEST_TIMEOUT": str(REQUEST_TIMEOUT), "SPINDLE_MAX_CONNECTIONS": "4096"}
    server = prepare_https(prepare, identity, **settings)
    server.init()
    return server.start()


@pytest.fixture(autouse=True)
def nothing_is_left(server):
    """After each test: the server lives, serves, is at rest, and has the sockets that it had."""
    before = sockets(server)
    yield
    assert server.process.poll() is None, server.log_tail()
    deadline = time.monotonic() + PATIENCE
    while sockets(server) > before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert sockets(server) <= before
    assert server.get("/healthz").status == 200
    while (used := busy(server, 0.5)) > 0.2:
        assert time.monotonic() < deadline, f"with nothing to do it takes {used:.0%} of a core"


class Client:
    """A client's end of TLS whose bytes the test carries itself."""

    def __init__(self, server: Server, version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3, protocols=("http/1.1",)):
        context = trusting(Identity(Path(server.settings["SPINDLE_TLS_CERTIFICATE"]), Path("unused")))
        context.minimum_version = context.maximum_version = version
        if protocols:
            context.set_alpn_protocols(list(protocols))
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.machine = context.wrap_bio(self.incoming, self.outgoing, server_hostname="127.0.0.1")

    def flight(self) -> bytes:
        """The client's next flight."""
        try:
            self.machine.do_handshake()
        except ssl.SSLWantReadError:
            pass
        return self.outgoing.read()

    def hear(self, line: socket.socket) -> bytes:
        """The client's answer to these bytes of the server."""
        answer = b""
        while not answer:
            part = line.recv(65_536)
            assert part, "the server closed within the handshake"
            self.incoming.write(part)
            answer = self.flight()
        return answer

    def sealed(self, data: bytes) -> bytes:
        self.machine.write(data)
        return self.outgoing.read()

    def opened(self) -> bytes:
        """The server's next record, if it is whole."""
        try:
            return self.machine.read(65_536)
        except ssl.SSLWantReadError:
            return b""


VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_handshake_cut_at_any_byte_leaves_nothing_behind(server, version):
    hello = Client(server, version).flight()
    for cut in range(0, len(hello)):
        line = server.address.dial(PATIENCE)
        line.sendall(hello[:cut])
        (line.close if cut % 2 else lambda: reset(line))()
    last = 1
    cut = 0
    while cut < last:
        client = Client(server, version)
        with server.address.dial(PATIENCE) as line:
            line.sendall(client.flight())
            second = client.hear(line)
            last = len(second)
            line.sendall(second[:cut])
            if cut % 2:
                reset(line)
        cut += 3


@pytest.mark.parametrize("version", VERSIONS)
def test_a_handshake_that_arrives_byte_by_byte_succeeds(server, version):
    client = Client(server, version)
    with server.address.dial(PATIENCE) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        drip(line, client.flight())
        drip(line, client.hear(line))
        if version is ssl.TLSVersion.TLSv1_2:
            client.incoming.write(line.recv(65_536))
            client.flight()
        drip(line, client.sealed(NEXT))
        # In TLS 1.3 the first records may be tickets.
        client.incoming.write(line.recv(65_536))
        while not (answer := client.opened()):
            client.incoming.write(line.recv(65_536))
        assert answer.startswith(b"HTTP/1.1 200")


def drip(line: socket.socket, data: bytes) -> None:
    for byte in data:
        line.sendall(bytes([byte]))


def test_altered_client_hellos_are_refused_or_served_and_leak_no_memory(server):
    chance = random.Random(SEED)
    hellos = [Client(server, version, protocols).flight() for version in VERSIONS for protocols in ((), ("h2",))]
    for _ in range(MUTANTS):
        hello = bytearray(chance.choice(hellos))
        for _ in range(chance.randrange(1, 4)):
            match chance.randrange(4):
                case 0:
                    hello[chance.randrange(len(hello))] = chance.randrange(256)
                case 1:
                    del hello[chance.randrange(5, len(hello)):][: chance.randrange(1, 40)]
                case 2:
                    place = chance.randrange(5, len(hello))
                    hello[place:place] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 20)))
                case _:
                    # Its own length is right again, so that its content is read.
                    hello[3:5] = (len(hello) - 5).to_bytes(2, "big")
        with server.address.dial(PATIENCE) as line:
            try:
                line.sendall(hello)
                line.shutdown(socket.SHUT_WR)
                while line.recv(65_536):
                    pass
            except OSError:
                pass


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [([], None), (["http/1.1"], "http/1.1"), (["smtp", "h2"], "h2"), (["http/1.1", "h2"], "h2")])
def test_the_connection_speaks_the_protocol_that_alpn_chose(server, offered, chosen):
    context = ssl.create_default_context(cafile=server.settings["SPINDLE_TLS_CERTIFICATE"])
    if offered:
        context.set_alpn_protocols(offered)
    with context.wrap_socket(server.address.dial(PATIENCE), server_hostname="127.0.0.1") as line:
        assert line.selected_alpn_protocol() == chosen
        if chosen == "h2":
            # Another protocol than was agreed on: no answer of HTTP/1.1 comes, and the connection ends.
            line.sendall(NEXT * 2)
            assert b"HTTP/1.1" not in rest(line)
        else:
            line.sendall(PREFACE)
            assert rest(line).startswith(b"HTTP/1.1 505")


def rest(line: ssl.SSLSocket) -> bytes:
    data = b""
    try:
        while part := line.recv(65_536):
            data += part
            # The server waits for the client's end before its own; its answer has arrived.
            line.settimeout(1)
    except OSError:
        pass
    return data


@pytest.mark.parametrize(
    "junk", [NEXT, b"SSH-2.0-x\r\n", b"\0" * 100, b"\x15\x03\x03\0\2\2\0", b"\x17\x03\x03\0\5hello"])
def test_bytes_that_are_no_handshake_close_the_connection(server, junk):
    for _ in range(50):
        with server.address.dial(PATIENCE) as line:
            line.sendall(junk)
            data = b""
            try:
                while part := line.recv(4096):
                    data += part
            except OSError:
                pass
            # A request is told that the port speaks https.
            answer = b"HTTP/1.1 400 Bad Request\r\n" if junk == NEXT else b""
            assert data.startswith(answer) and data.count(b"HTTP/1.1") == (junk == NEXT), data


BROKEN = {
    "a record over the limit": lambda record: b"\x17\x03\x03\x48\x00" + bytes(0x4800),
    "another version": lambda record: b"\x17\x02\x00" + record[3:],
    "a wrong tag": lambda record: record[:-1] + bytes([record[-1] ^ 1]),
    "a wrong length": lambda record: record[:3] + (len(record) - 6).to_bytes(2, "big") + record[5:],
    "no TLS at all": lambda record: NEXT,
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("bend", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_record_ends_the_connection_at_once(server, version, bend):
    client = Client(server, version)
    with server.address.dial(PATIENCE) as line:
        line.sendall(client.flight())
        line.sendall(client.hear(line))
        if version is ssl.TLSVersion.TLSv1_2:
            client.incoming.write(line.recv(65_536))
            client.flight()
        began = time.monotonic()
        try:
            line.sendall(bend(client.sealed(NEXT)))
            while line.recv(65_536):
                pass
        except TimeoutError as silence:
            raise AssertionError("the connection stands") from silence
        except OSError:
            pass
        assert time.monotonic() - began < REQUEST_TIMEOUT, "it ended by its deadline alone"


@pytest.mark.parametrize("said", [RECORD, HELLO], ids=["a record", "a hello"])
def test_stalled_handshakes_hold_little_memory_and_delay_no_other_client(server, said):
    before = resident(server)
    with ExitStack() as stack:
        for _ in range(SILENT):
            stack.enter_context(server.address.dial(PATIENCE)).sendall(said)
        began = time.monotonic()
        assert server.get("/healthz").status == 200
        assert time.monotonic() - began < 2
        each = (resident(server) - before) / SILENT
        print(f"{each / 1024:.0f} KiB each")
        assert each < 64 * 1024, f"{each / 1024:.0f} KiB each"


# OpenSSL's own client


def s_client(server: Server, openssl: str, *options: str, said: str = "", wait: float = 0) -> str:
    """The output of s_client; `said` is typed, and `wait` seconds later its input ends."""
    process = subprocess.Popen(
        [openssl, "s_client", "-connect", f"127.0.0.1:{server.address.port}",
         "-CAfile", server.settings["SPINDLE_TLS_CERTIFICATE"], *options],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        if wait:
            time.sleep(0.5)
            process.stdin.write(said)
            process.stdin.flush()
            time.sleep(wait)
            said = ""
        return process.communicate(said, timeout=30)[0]
    finally:
        process.kill()
        process.wait()


def test_a_client_that_renegotiates_is_refused(server, openssl):
    told = s_client(server, openssl, "-tls1_2", said="R\n", wait=1)
    assert "RENEGOTIATING" in told and "no renegotiation" in told, told


def test_a_session_offers_no_early_data_and_is_forgotten_with_its_keys(prepare, tmp_path, openssl):
    server = prepare_https(prepare, Identity.make(tmp_path, openssl))
    server.init()
    server.start()
    session = str(tmp_path / "session")
    ask = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    told = s_client(server, openssl, "-tls1_3", "-ign_eof", "-sess_out", session, said=ask)
    assert "New, TLSv1.3" in told and "Max Early Data: 0" in told, told
    assert "Reused, TLSv1.3" in s_client(server, openssl, "-tls1_3", "-ign_eof", "-sess_in", session, said=ask)
    server.stop()
    server.start()
    told = s_client(server, openssl, "-tls1_3", "-ign_eof", "-sess_in", session, said=ask)
    assert "New, TLSv1.3" in told and "HTTP/1.1 200" in told, told


@pytest.mark.parametrize("kind", [["rsa:2048"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"]], ids=["RSA", "EC"])
def test_a_certificate_chain_is_sent_whole(prepare, tmp_path, openssl, kind):
    def run(*arguments) -> None:
        subprocess.run([openssl, *arguments], check=True, capture_output=True, timeout=60, cwd=tmp_path)

    run("req", "-x509", "-newkey", *kind, "-nodes", "-days", "2", "-subj", "/CN=root", "-keyout", "root.key",
        "-out", "root.pem")
    (tmp_path / "ca").write_text("basicConstraints=critical,CA:true\n")
    (tmp_path / "leaf").write_text("subjectAltName=IP:127.0.0.1\n")
    for name, by, extensions in [("between", "root", "ca"), ("own", "between", "leaf")]:
        run("req", "-newkey", *kind, "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        run("x509", "-req", "-in", f"{name}.csr", "-CA", f"{by}.pem", "-CAkey", f"{by}.key", "-CAcreateserial",
            "-days", "2", "-extfile", extensions, "-out", f"{name}.pem")
    (tmp_path / "chain.pem").write_bytes((tmp_path / "own.pem").read_bytes() + (tmp_path / "between.pem").read_bytes())
    # A client that knows the root only.
    trust = ssl.create_default_context(cafile=str(tmp_path / "root.pem"))
    server = prepare_https(prepare, Identity(tmp_path / "chain.pem", tmp_path / "own.key"), trust)
    server.init()
    server.start()
    assert server.get("/healthz").status == 200


def test_clients_that_stall_in_every_state_do_not_hold_a_terminated_server(prepare, tmp_path, openssl):
    server = prepare_https(prepare, Identity.make(tmp_path, openssl), SPINDLE_REQUEST_TIMEOUT="120")
    server.init()
    server.start()
    certificate = server.settings["SPINDLE_TLS_CERTIFICATE"]
    stuck = frame(SETTINGS, 0, 0, b"\0\4" + bytes(4))
    whole = b"\x82" + headers("/.well-known/openid-configuration")[1:]
    states = {
        "nothing said": lambda: server.address.dial(),
        "half a hello": lambda: begun(server.address.dial(), RECORD + b"\1\0\2"),
        "no request": lambda: dial(server.address, certificate, "http/1.1"),
        "half a request": lambda: begun(dial(server.address, certificate, "http/1.1"), NEXT[:20]),
        "no stream": lambda: begun(dial(server.address, certificate, "h2"), PREFACE + frame(SETTINGS, 0, 0)),
        "half a header": lambda: begun(
            dial(server.address, certificate, "h2"), PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, 0, 1, whole)),
        "a window of nothing": lambda: begun(
            dial(server.address, certificate, "h2"),
            PREFACE + stuck + frame(HEADERS, END_HEADERS | END_STREAM, 1, whole)),
    }
    lines = [begin() for begin in states.values() for _ in range(10)]
    time.sleep(0.3)
    server.process.send_signal(signal.SIGTERM)
    # And errors while it ends.
    for line in lines[::3]:
        try:
            line.sendall(b"\xff" * 100)
        except OSError:
            pass
    assert server.process.wait(20) == 0
    for line in lines:
        line.close()


def begun(line: socket.socket, said: bytes) -> socket.socket:
    line.sendall(said)
    return line
