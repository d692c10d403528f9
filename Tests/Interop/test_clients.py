"""HTTP clients and TLS clients that others wrote: curl, python's h2, nghttp2, OpenSSL's s_client."""

import json
import socket
import ssl
import subprocess
from urllib.parse import urlencode

import h2.config
import h2.connection
import h2.events
import pytest

from harness.server import Server
from harness.spindle import Spindle
from harness.tls import Identity, prepare_https
from harness.world import World

STREAMS = 100
H2_REQUESTS = 10_000


@pytest.fixture(scope="module")
def identity(tmp_path_factory, program) -> Identity:
    return Identity.make(tmp_path_factory.mktemp("tls"), program("openssl", "openssl"))


@pytest.fixture(scope="module")
def server(prepare, identity) -> Server:
    server = prepare_https(prepare, identity)
    server.init()
    return server.start()


@pytest.fixture(scope="module")
def world(server) -> World:
    return World.create(Spindle.of(server))


# curl


# The version in an answer is the server's own, for an older client too (RFC 9110 §6.2).
@pytest.mark.parametrize(
    ("option", "version", "keeps"), [("--http1.0", "1.1", False), ("--http1.1", "1.1", True), ("--http2", "2", True)])
def test_curl_gets_many_tokens_on_one_connection(server, world, identity, program, option, version, keeps):
    backend, count = world.backend, 5
    form = ["-d", "grant_type=client_credentials", "-u", f"{backend.id}:{backend.secret}"]
    ask = [option, "-sS", "--cacert", identity.certificate, "--max-time", "20", *form]
    ask += ["-w", "\n%{http_version} %{http_code}\nconnections %{num_connects}\n", f"{server.address.origin}/oauth/token"]
    command = [program("curl", "curl")]
    for number in range(count):
        command += (["--next"] if number else []) + ask
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    lines = [line for line in done.stdout.splitlines() if line]
    assert done.returncode == 0 and lines.count(f"{version} 200") == count, done.stdout + done.stderr
    assert len({json.loads(line)["access_token"] for line in lines if line.startswith("{")}) == count
    assert lines.count("connections 1") == (1 if keeps else count), done.stdout


@pytest.mark.parametrize("option", ["--http1.1", "--http2"])
def test_curl_is_told_that_its_body_is_too_large(server, identity, program, tmp_path, option):
    body = tmp_path / "body"
    body.write_bytes(b"a" * 5_000_000)
    done = subprocess.run(
        [program("curl", "curl"), option, "-sS", "--cacert", identity.certificate, "--max-time", "20",
         "--data-binary", f"@{body}", "-o", tmp_path / "answer", "-w", "%{http_code}",
         f"{server.address.origin}/oauth/token"],
        capture_output=True, text=True, timeout=60,
    )
    assert done.stdout.endswith("413"), done.stdout + done.stderr


# HTTP/2


class Multiplexed:
    """One connection of python's h2, and what came of each stream."""

    def __init__(self, server: Server):
        trust = ssl.create_default_context(cadata=ssl.DER_cert_to_PEM_cert(certificate_of(server)))
        trust.set_alpn_protocols(["h2"])
        plain = socket.create_connection((server.address.host, server.address.port), timeout=20)
        self.line = trust.wrap_socket(plain, server_hostname=server.address.host)
        assert self.line.selected_alpn_protocol() == "h2"
        self.machine = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self.statuses: dict[int, int] = {}
        self.bodies: dict[int, bytes] = {}
        self.ended: set[int] = set()
        self.faults: list = []
        self.authority = f"{server.address.host}:{server.address.port}"
        self.machine.initiate_connection()
        self.flush()
        while not self.machine.remote_settings.max_concurrent_streams < 2**31:
            self.read()

    def flush(self) -> None:
        self.line.sendall(self.machine.data_to_send())

    def ask(self, method: str, path: str, body: bytes = b"", *fields: tuple[str, str]) -> int:
        """Begins a request; nothing is sent before `flush`."""
        stream = self.machine.get_next_available_stream_id()
        pseudo = [(":method", method), (":scheme", "https"), (":authority", self.authority), (":path", path)]
        self.machine.send_headers(stream, [*pseudo, *fields], end_stream=not body)
        if body:
            self.machine.send_data(stream, body, end_stream=True)
        return stream

    def read(self) -> None:
        data = self.line.recv(65_536)
        assert data, "the server closed the connection"
        for event in self.machine.receive_data(data):
            match event:
                case h2.events.ResponseReceived():
                    fields = dict(event.headers)
                    self.statuses[event.stream_id] = int(fields[b":status"])
                case h2.events.DataReceived():
                    self.bodies[event.stream_id] = self.bodies.get(event.stream_id, b"") + event.data
                    self.machine.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                case h2.events.StreamEnded():
                    self.ended.add(event.stream_id)
                case h2.events.StreamReset() | h2.events.ConnectionTerminated():
                    self.faults.append(event)
        self.flush()

    def wait_for(self, streams: list[int]) -> None:
        while not self.ended.issuperset(streams) and not self.faults:
            self.read()
        assert not self.faults, self.faults


def certificate_of(server: Server) -> bytes:
    with open(server.settings["SPINDLE_TLS_CERTIFICATE"]) as file:
        return ssl.PEM_cert_to_DER_cert(file.read())


def test_a_hundred_streams_at_once_get_a_token_each(server, world):
    connection = Multiplexed(server)
    assert connection.machine.remote_settings.max_concurrent_streams == STREAMS
    form = urlencode({"grant_type": "client_credentials"} | world.backend.proof).encode()
    for _ in range(3):
        streams = [
            connection.ask("POST", "/oauth/token", form, ("content-type", "application/x-www-form-urlencoded"))
            for _ in range(STREAMS)
        ]
        connection.flush()
        connection.wait_for(streams)
        assert {connection.statuses[stream] for stream in streams} == {200}
        tokens = {json.loads(connection.bodies[stream])["access_token"] for stream in streams}
        assert len(tokens) == STREAMS
    connection.line.close()


def test_concurrent_streams_get_their_own_answers(server, world):
    connection = Multiplexed(server)
    kinds = [("/healthz", 200), ("/no-such-page", 404), ("/me", 401), ("/.well-known/openid-configuration", 200)]
    asked = [(connection.ask("GET", path), status) for path, status in kinds * (STREAMS // len(kinds))]
    connection.flush()
    connection.wait_for([stream for stream, _ in asked])
    assert [connection.statuses[stream] for stream, _ in asked] == [status for _, status in asked]
    connection.line.close()


def test_a_reset_stream_does_not_affect_its_neighbours(server, world):
    connection = Multiplexed(server)
    form = urlencode({"grant_type": "client_credentials"} | world.backend.proof).encode()
    streams = [
        connection.ask("POST", "/oauth/token", form, ("content-type", "application/x-www-form-urlencoded"))
        for _ in range(40)
    ]
    for stream in streams[::2]:
        connection.machine.reset_stream(stream, error_code=8)
    connection.flush()
    connection.wait_for(streams[1::2])
    assert {connection.statuses[stream] for stream in streams[1::2]} == {200}
    connection.line.close()


def test_h2load_gets_every_answer(server, program):
    done = subprocess.run(
        [program("h2load", "nghttp2-client"), "-n", str(H2_REQUESTS), "-c", "16", "-m", "50",
         f"{server.address.origin}/healthz"],
        capture_output=True, text=True, timeout=120,
    )
    assert f"{H2_REQUESTS} succeeded, 0 failed, 0 errored, 0 timeout" in done.stdout, done.stdout + done.stderr


# OpenSSL


def s_client(server: Server, program, *options) -> subprocess.CompletedProcess:
    """Asks /healthz by OpenSSL's own client."""
    return subprocess.run(
        [program("openssl", "openssl"), "s_client", "-connect", f"127.0.0.1:{server.address.port}",
         "-CAfile", server.settings["SPINDLE_TLS_CERTIFICATE"], "-verify_return_error", "-ign_eof", *options],
        input="GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        capture_output=True, text=True, timeout=30,
    )


@pytest.mark.parametrize(
    ("option", "protocol"), [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")], ids=["TLS 1.2", "TLS 1.3"])
def test_openssl_s_client_is_served(server, program, option, protocol):
    done = s_client(server, program, option)
    assert done.returncode == 0 and "HTTP/1.1 200" in done.stdout, done.stdout + done.stderr
    assert f"New, {protocol}, Cipher is " in done.stdout, done.stdout


@pytest.mark.parametrize(
    "options",
    [
        ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"],
        ["-tls1", "-cipher", "ALL:@SECLEVEL=0"],
        ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384:@SECLEVEL=0"],
        ["-tls1_2", "-cipher", "DHE:kRSA:@SECLEVEL=0"],
    ],
    ids=["TLS 1.1", "TLS 1.0", "no AEAD", "no ECDHE"],
)
def test_weak_tls_is_refused(server, program, options):
    done = s_client(server, program, *options)
    assert done.returncode != 0 and "HTTP/1.1" not in done.stdout, done.stdout
    assert "Cipher is (NONE)" in done.stdout, done.stdout


@pytest.mark.parametrize("cipher", [
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305",
])
def test_each_strong_cipher_of_tls_1_2_is_served(server, program, cipher):
    done = s_client(server, program, "-tls1_2", "-cipher", cipher)
    assert done.returncode == 0 and "HTTP/1.1 200" in done.stdout, done.stdout + done.stderr
