"""HTTPS and HTTP/2, directly and behind a proxy that ends TLS."""

import socket
import ssl
import subprocess
from pathlib import Path

import pytest

from harness.browser import Browser
from harness.cases import FORM
from harness.http2 import (
    CONTINUATION, DATA, END_HEADERS, HEADERS, PING, PREFACE, SETTINGS, dial, frame, headers, seconds_until_refused,
)
from harness.server import Server
from harness.spindle import Spindle
from harness.tls import Identity, prepare_https
from harness.wire import seconds_until_closed
from harness.world import WEB_REDIRECT, World


@pytest.fixture(scope="module")
def certificate(tmp_path_factory, program) -> Path:
    return Identity.make(tmp_path_factory.mktemp("tls"), program("openssl", "openssl")).certificate


@pytest.fixture(scope="module")
def server(prepare, certificate) -> Server:
    identity = Identity(certificate, certificate.with_suffix(".key"))
    server = prepare_https(prepare, identity, SPINDLE_REQUEST_TIMEOUT="2", SPINDLE_IDLE_TIMEOUT="3")
    server.init()
    return server.start()


@pytest.fixture(scope="module")
def world(server) -> World:
    return World.create(Spindle.of(server))


def buy_session(world: World) -> tuple[Browser, str]:
    browser = Browser(world.spindle)
    landed = browser.open(f"/auth/session/{world.spindle.code(world.phone()['access_token'], world.web, 'session')}")
    assert landed.left_for == WEB_REDIRECT, landed.answer
    [cookie] = landed.answer.set_cookies
    return browser, cookie


def is_host_cookie(cookie: str) -> bool:
    """RFC 6265bis §4.1.3.2."""
    attributes = [part.strip().lower() for part in cookie.split(";")[1:]]
    return (
        cookie.startswith("__Host-") and "secure" in attributes and "httponly" in attributes
        and "path=/" in attributes and not any(part.startswith("domain") for part in attributes)
    )


def test_the_session_cookie_of_an_https_issuer_is_bound_to_its_host(world):
    browser, cookie = buy_session(world)
    assert is_host_cookie(cookie), cookie
    assert browser.is_signed_in()


def test_http_2_is_negotiated(server, certificate):
    trust = ssl.create_default_context(cafile=str(certificate))
    trust.set_alpn_protocols(["h2", "http/1.1"])
    with socket.create_connection(("127.0.0.1", server.address.port), timeout=10) as line:
        with trust.wrap_socket(line, server_hostname="127.0.0.1") as secure:
            assert secure.selected_alpn_protocol() == "h2"
            assert secure.version() in ("TLSv1.2", "TLSv1.3")


def test_a_token_is_given_over_http_2(server, world, certificate, program):
    backend = world.backend
    form = ["-d", "grant_type=client_credentials"]
    form += ["-d", f"client_id={backend.id}", "-d", f"client_secret={backend.secret}"]
    answer = subprocess.run(
        [program("curl", "curl"), "-sS", "--http2", "--cacert", certificate, "--max-time", "15", *form,
         "-w", "\n%{http_version} %{http_code}", f"{server.address.origin}/oauth/token"],
        capture_output=True, text=True, timeout=30,
    )
    assert answer.stdout.splitlines()[-1] == "2 200", f"{answer.stdout}\n{answer.stderr}"
    assert '"access_token"' in answer.stdout


@pytest.mark.parametrize("said", [b"", b"\x16\x03\x01\x02\x00\x01\x00"], ids=["never begins", "never ends"])
def test_an_unfinished_handshake_is_closed(server, world, said):
    with socket.create_connection(("127.0.0.1", server.address.port), timeout=10) as line:
        line.sendall(said)
        seconds_until_closed(line)
    assert world.spindle.call("GET", "/healthz").status == 200


@pytest.mark.parametrize(
    ("start", "drip"), [(b"", b""), (b"POST /oauth/token HTTP/1.1\r\nX: ", b"a" * 400)], ids=["silence", "slow header"]
)
def test_a_slow_client_inside_tls_is_disconnected(server, world, certificate, start, drip):
    with dial(server.address, str(certificate), "http/1.1") as line:
        line.sendall(start)
        seconds_until_closed(line, drip)
    assert world.spindle.call("GET", "/healthz").status == 200


HALF_A_HEADER = frame(HEADERS, 0, 1, headers("/oauth/token"))
HALF_A_REQUEST = frame(HEADERS, END_HEADERS, 1, headers("/oauth/token", (b"content-type", FORM.encode())))


@pytest.mark.parametrize(
    ("start", "drip"),
    [
        (b"", b""),
        (PREFACE + frame(SETTINGS, 0, 0), b""),
        (PREFACE + frame(SETTINGS, 0, 0) + HALF_A_HEADER, b""),
        (PREFACE + frame(SETTINGS, 0, 0) + HALF_A_HEADER, frame(CONTINUATION, 0, 1)),
        (PREFACE + frame(SETTINGS, 0, 0), frame(PING, 0, 0, b"still me")),
        (PREFACE + frame(SETTINGS, 0, 0) + HALF_A_REQUEST, b""),
        (PREFACE + frame(SETTINGS, 0, 0) + HALF_A_REQUEST, frame(DATA, 0, 1, b"a")),
        (PREFACE + frame(SETTINGS, 0, 0) + HALF_A_REQUEST, frame(PING, 0, 0, b"still me")),
    ],
    ids=[
        "silence", "no stream", "half a header", "slow header", "only pings", "half a request", "slow body",
        "half a request and pings",
    ],
)
def test_a_slow_http_2_client_is_disconnected(server, world, certificate, start, drip):
    with dial(server.address, str(certificate), "h2") as line:
        line.sendall(start)
        seconds_until_refused(line, 1, drip)
    assert world.spindle.call("GET", "/healthz").status == 200


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tls_versions_before_1_2_are_refused(server):
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection(("127.0.0.1", server.address.port), timeout=10) as line:
        with pytest.raises((ssl.SSLError, OSError)):
            old.wrap_socket(line).do_handshake()


def test_behind_a_trusted_proxy_an_https_issuer_serves_plain_http(launch):
    settings = {"SPINDLE_ISSUER": "https://login.example", "SPINDLE_TRUSTED_PROXIES": "127.0.0.1/32"}
    world = World.create(Spindle.of(launch(settings=settings)))
    browser, cookie = buy_session(world)
    assert is_host_cookie(cookie), cookie
    assert browser.is_signed_in()
