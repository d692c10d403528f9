"""Three nodes behind nginx as deploy/nginx.conf has it, restarted one after the other under load."""

import re
import time
from pathlib import Path

import pytest

from harness.load import Load
from harness.nginx import find_nginx, nginx
from harness.server import REPOSITORY, Server, free_port, master_key
from harness.spindle import Spindle
from harness.tls import Identity, trusting
from harness.wire import Address, Answer, send
from harness.world import World

HOST = "id.example.com"
CLIENTS = 6
# Requests of each kind of client between two restarts.
ENOUGH = 40


@pytest.fixture(scope="module")
def nodes(prepare, cluster) -> list[Server]:
    """Three nodes on one database."""
    database, key = cluster.create_database(), master_key()
    settings = {
        "SPINDLE_DATABASE": database, "SPINDLE_MASTER_KEY": key, "SPINDLE_ISSUER": f"https://{HOST}",
        "SPINDLE_TRUSTED_PROXIES": "127.0.0.1/32",
    }
    nodes = [prepare("postgresql", dict(settings)) for _ in range(3)]
    nodes[0].init()
    for node in nodes:
        node.start()
    return nodes


@pytest.fixture(scope="module")
def world(nodes) -> World:
    return World.create(Spindle(nodes[0].address, nodes[0].admin))


@pytest.fixture(scope="module")
def failures(tmp_path_factory) -> Path:
    """nginx's log of failed nodes."""
    return tmp_path_factory.mktemp("failures") / "spindle.log"


@pytest.fixture(scope="module")
def front(program, nodes, failures, tmp_path_factory):
    """deploy/nginx.conf, with the ports, certificate and logs of this test."""
    folder = tmp_path_factory.mktemp("nginx")
    identity = Identity.make(folder, program("openssl", "openssl"), hosts=(HOST,))
    address = Address("127.0.0.1", free_port(), trusting(identity))
    places = {
        "listen 80;": f"listen 127.0.0.1:{free_port()};", "listen 443 ssl": f"listen 127.0.0.1:{address.port} ssl",
        "listen [::]:80;": "", "listen [::]:443 ssl http2;": "",
        "/etc/ssl/certs/id.example.com.pem": str(identity.certificate),
        "/etc/ssl/private/id.example.com.key": str(identity.key),
        "/var/log/nginx/spindle.log": str(failures), "/var/log/nginx/error.log": str(folder / "error.log"),
    }
    for port, node in zip(range(8080, 8083), nodes):
        places[f"server 127.0.0.1:{port} "] = f"server 127.0.0.1:{node.address.port} "
    told = (REPOSITORY / "deploy/nginx.conf").read_text()
    for ours, here in places.items():
        assert told.count(ours) == 1, f"deploy/nginx.conf has no {ours}"
        told = told.replace(ours, here)
    with nginx(find_nginx(program), folder, address.port, told):
        yield address


class Asking:
    """Clients of `front` that keep their connections, half of which ask for tokens, and half for metadata."""

    def __init__(self, front: Address, world: World):
        form = {"grant_type": "client_credentials"} | world.backend.proof
        headers = {"Host": HOST}

        def post(connection) -> Answer:
            return send(connection, "POST", "/oauth/token", form=form, headers=headers)

        def get(connection) -> Answer:
            return send(connection, "GET", "/.well-known/openid-configuration", headers=headers)

        self.loads = [Load(front.connect, ask, CLIENTS // 2, keeps_connections=True) for ask in (post, get)]

    def __enter__(self) -> "Asking":
        for load in self.loads:
            load.__enter__()
        return self

    def __exit__(self, *_) -> None:
        for load in self.loads:
            load.stop()

    def go_on(self) -> None:
        for load in self.loads:
            load.wait_for(ENOUGH)


def lines(failures: Path) -> list[dict[str, str]]:
    return [dict(re.findall(r"(\w+)=([^=]*)(?: |$)", line)) for line in failures.read_text().splitlines()]


def test_a_rolling_restart_behind_nginx_fails_no_request(front, nodes, world, failures):
    with Asking(front, world) as asking:
        for node in nodes:
            asking.go_on()
            assert node.stop() == 0
            # One node that is away for longer than a restart takes, and then the next within nginx's ten seconds.
            asking.go_on()
            time.sleep(0.3)
            node.start()
    for load in asking.loads:
        assert not load.tally.failures and set(load.tally.statuses) == {200}, load.tally
        assert load.tally.answered > 6 * ENOUGH

    told = lines(failures)
    passed_over = [line for line in told if line["upstream_status"].startswith("502")]
    assert {line["upstream"].split(",")[0] for line in passed_over} == {
        f"127.0.0.1:{node.address.port}" for node in nodes}, told[:3]
    assert {line["status"] for line in told} == {"200"}
    assert "/oauth" not in failures.read_text() and "/.well-known" not in failures.read_text()


def test_nginx_logs_the_nodes_that_it_asked_when_none_answers(front, nodes, world, failures):
    start = failures.stat().st_size if failures.exists() else 0
    for node in nodes:
        assert node.stop() == 0
    answer = Spindle(front, ("", "")).call("GET", "/healthz", headers={"Host": HOST})
    assert answer.status == 502
    deadline = time.monotonic() + 10
    while failures.stat().st_size == start and time.monotonic() < deadline:
        time.sleep(0.05)
    line = lines(failures)[-1]
    assert line["status"] == "502"
    for node in nodes:
        assert f"127.0.0.1:{node.address.port}" in line["upstream"], line
    # And it asks them again as soon as they are back, all at once.
    for node in nodes:
        node.start()
    statuses = [
        Spindle(front, ("", "")).call("GET", "/healthz", headers={"Host": HOST}).status
        for _ in range(6)]
    assert statuses == [200] * 6
