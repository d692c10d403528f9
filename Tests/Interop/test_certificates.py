"""A certificate is replaced under full load, and clients notice nothing but the new one."""

import os
import re
import signal
import socket
import ssl
import subprocess
import time
from contextlib import ExitStack, suppress

import pytest

from harness.load import Load
from harness.spindle import Spindle
from harness.tls import Identity, prepare_https, trusting
from harness.wire import PATIENCE, send
from harness.world import World

EXCHANGES = 10
# Answers for each kind of client between two certificate replacements.
BETWEEN = 40
H2_REQUESTS = 20_000


@pytest.fixture(scope="module")
def identities(tmp_path_factory, program) -> list[Identity]:
    folder, openssl = tmp_path_factory.mktemp("identities"), program("openssl", "openssl")
    return [Identity.make(folder, openssl, name) for name in ("first", "second")]


@pytest.fixture(scope="module")
def place(identities, tmp_path_factory) -> Identity:
    """Where the server reads its certificate and key."""
    folder = tmp_path_factory.mktemp("place")
    place = Identity(folder / "certificate.pem", folder / "key.pem")
    identities[0].install(place)
    return place


@pytest.fixture(scope="module")
def server(prepare, identities, place):
    server = prepare_https(prepare, place, trusting(*identities))
    server.init()
    return server.start()


@pytest.fixture(scope="module")
def world(server) -> World:
    return World.create(Spindle.of(server))


def shown(server) -> bytes:
    """The certificate that a new connection is shown."""
    with socket.create_connection(("127.0.0.1", server.address.port), timeout=10) as line:
        with server.address.tls.wrap_socket(line, server_hostname="127.0.0.1") as secure:
            return secure.getpeercert(binary_form=True)


def exchange(server, place: Identity, identity: Identity) -> None:
    """Puts `identity` in place, tells the server, and waits until new connections are shown it."""
    identity.install(place)
    server.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + PATIENCE
    while shown(server) != identity.encoded:
        assert server.process.poll() is None, f"SIGHUP ended the server:\n{server.log_tail()}"
        assert time.monotonic() < deadline, f"the certificate was not exchanged:\n{server.log_tail()}"
        time.sleep(0.02)


def test_a_certificate_is_replaced_without_a_failed_request(server, world, identities, place):
    def token(connection):
        return world.spindle.client_credentials(world.backend, connection=connection)

    with ExitStack() as stack:
        loads = [
            stack.enter_context(Load(world.spindle.address.connect, token, count=3, keeps_connections=kept))
            for kept in (True, False)
        ]
        for number in range(EXCHANGES):
            exchange(server, place, identities[(number + 1) % 2])
            for load in loads:
                load.wait_for(BETWEEN)
    for load in loads:
        assert not load.tally.failures and set(load.tally.statuses) == {200}, load.tally
        assert load.tally.answered >= EXCHANGES * BETWEEN


def test_http_2_requests_survive_a_certificate_replacement(server, world, identities, place, program):
    command = [program("h2load", "nghttp2-client"), "-n", str(H2_REQUESTS), "-c", "8", "-m", "20"]
    load = subprocess.Popen(
        [*command, f"{server.address.origin}/healthz"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        number = 0
        while load.poll() is None:
            number += 1
            exchange(server, place, identities[number % 2])
        told = load.stdout.read()
    finally:
        load.kill()
        load.wait()
    counts = re.search(r"(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", told)
    assert counts and [int(count) for count in counts.groups()] == [H2_REQUESTS, 0, 0, 0], told


def test_a_tls_session_is_resumed_after_a_certificate_replacement(server, world, identities, place):
    def asked(session) -> tuple[bool, ssl.SSLSession]:
        connection = server.address.connect()
        plain = socket.create_connection(("127.0.0.1", server.address.port), timeout=10)
        connection.sock = trust.wrap_socket(plain, server_hostname="127.0.0.1", session=session)
        assert send(connection, "GET", "/healthz").status == 200
        # The ticket of TLS 1.3 comes after the handshake.
        reused, latest = connection.sock.session_reused, connection.sock.session
        # Without close_notify OpenSSL's client discards the session.
        with suppress(OSError):
            connection.sock.unwrap()
        connection.close()
        return reused, latest

    trust = trusting(*identities)
    _, session = asked(None)
    reused, session = asked(session)
    assert reused, "a session is not resumed at all"
    exchange(server, place, identities[1] if shown(server) == identities[0].encoded else identities[0])
    reused, _ = asked(session)
    assert reused, "the exchange ended the sessions"


@pytest.mark.parametrize("fault", ["no certificate", "the key of another", "gone", "a pipe"])
def test_an_unusable_certificate_does_not_replace_the_current_one(server, world, identities, place, fault):
    exchange(server, place, identities[0])
    if fault == "no certificate":
        place.certificate.write_text("nothing of the kind")
    elif fault == "the key of another":
        place.key.write_bytes(identities[1].key.read_bytes())
    elif fault == "gone":
        os.unlink(place.certificate)
    else:
        place.key.unlink()
        os.mkfifo(place.key)
    before = server.log.stat().st_size
    server.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + PATIENCE
    while server.log.stat().st_size == before and time.monotonic() < deadline:
        time.sleep(0.05)
    said = server.log.read_text("utf-8", "replace")[before:]
    assert "certificate" in said.lower(), f"the log does not say so: {said}"
    assert shown(server) == identities[0].encoded
    assert world.spindle.client_credentials(world.backend).status == 200
    if fault == "a pipe":
        place.key.unlink()
    exchange(server, place, identities[1])


def test_a_server_without_tls_ignores_sighup(launch):
    server = launch()
    server.process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert server.process.poll() is None and server.get("/healthz").status == 200
