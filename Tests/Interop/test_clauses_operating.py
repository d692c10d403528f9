"""Clauses of the standards about running a server that no other test shows: docs/security names these tests."""

import json
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import quote

import pytest

from harness.nginx import find_nginx, nginx as nginx_of
from harness.server import REPOSITORY, Server, free_port
from harness.spindle import Spindle
from harness.wire import PATIENCE, Address
from harness.world import World


@pytest.fixture(scope="module")
def server(launch, engine) -> Server:
    return launch(engine, {"SPINDLE_LOG_FORMAT": "json"})


@pytest.fixture(scope="module")
def world(server) -> World:
    return World.create(Spindle.of(server))


def lines_after(server: Server, start: int, wanted: int) -> list[dict]:
    """The log from byte `start` on."""
    deadline = time.monotonic() + PATIENCE
    while True:
        lines = [json.loads(line) for line in server.log.read_bytes()[start:].splitlines() if line.endswith(b"}")]
        if len(lines) >= wanted or time.monotonic() > deadline:
            return lines
        time.sleep(0.05)


def test_every_refusal_is_logged(server, world):
    spindle = world.spindle
    token = world.phone()["access_token"]
    wrong = {"grant_type": "client_credentials", "client_id": world.backend.id, "client_secret": "a guess"}
    guess = {"grant_type": "password", "client_id": world.app.id, "username": world.person.email, "password": "a guess"}
    asked = [
        ("GET", "/me", {"bearer": "D" * 43}, 401), ("GET", "/oauth/userinfo", {"bearer": token}, 403),
        ("GET", "/admin/v1/clients", {"bearer": token}, 403), ("POST", "/oauth/token", {"form": wrong}, 401),
        ("POST", "/oauth/token", {"form": guess}, 400), ("GET", f"/user/{world.person.id}0", {"bearer": token}, 403),
    ]
    for method, path, options, status in asked:
        start = server.log.stat().st_size
        answer = spindle.call(method, path, **options)
        assert answer.status == status, f"{path}: {answer}"
        lines = lines_after(server, start, 1)
        assert lines, f"{method} {path} left no line"
        said = next(line for line in lines if "refused" in line["message"])
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", said["time"])
        assert said["metadata"]["request_id"], said
        assert token not in json.dumps(lines) and "a guess" not in json.dumps(lines)


def test_an_internal_error_is_logged_and_the_client_gets_its_request_id(launch):
    server = launch(settings={"SPINDLE_LOG_FORMAT": "json"})
    world = World.create(Spindle.of(server))
    token = world.phone()["access_token"]
    with closing(sqlite3.connect(server.database)) as database, database:
        database.execute("UPDATE users SET profile = 'damaged row'")
    start = server.log.stat().st_size
    answer = world.spindle.me(token)
    assert answer.status == 500 and answer.error == "server_error"
    assert "damaged" not in answer.text and "profile" not in answer.text and "Swift" not in answer.text
    [line] = [line for line in lines_after(server, start, 1) if line["level"] == "error"]
    assert line["metadata"]["error"] and line["metadata"]["request_id"] and line["metadata"]["route"] == "GET /me"
    assert answer.headers["X-Request-Id"] == line["metadata"]["request_id"]
    assert world.spindle.call("GET", "/healthz").status == 200, "and it goes on"


def test_an_extreme_date_does_not_end_the_server(server, world):
    spindle = world.spindle
    spid = spindle.create_client(
        world.merchant, "SPiD's", "https://spid.example/", grant_types=["client_credentials"], spid_compatible=True,
    )
    token = spindle.client_credentials(spid).json["access_token"]
    beyond = [
        "292278995-1-1 1:1:1", "292278994-08-17 07:12:55", "-292278995-1-1 1:1:1", "999999999999-12-31",
        "9223372036854775807", "-9223372036854775808", "9223372036854775808", "9" * 400, "1e400", "0000-00-00",
        "2027-13-45 99:99:99", "NaN",
    ]
    for text in beyond:
        for path in ["users", "logins", f"user/{world.person.id}/logins"]:
            for name in ["since", "until"]:
                answer = spindle.call("GET", f"/api/2/{path}?{name}={quote(text)}", bearer=token)
                assert answer.status < 500 and answer.body, f"{path} {name}={text}: {answer}"
        profile = spindle.administer("PATCH", f"users/{world.person.id}", {"birthdate": text})
        assert profile.status < 500, f"birthdate {text}: {profile}"
    assert server.process.poll() is None
    assert spindle.call("GET", "/healthz").status == 200


@pytest.fixture
def nginx(program, tmp_path) -> Iterator[Address]:
    """The part of deploy/nginx.conf that listens in the clear, on a port of ours."""
    told = (REPOSITORY / "deploy/nginx.conf").read_text()
    block = next(part for part in re.findall(r"^server \{\n.*?^\}\n", told, re.M | re.S) if "listen 80;" in part)
    address = Address("127.0.0.1", free_port())
    block = block.replace("listen 80;", f"listen 127.0.0.1:{address.port};").replace("listen [::]:80;", "")
    with nginx_of(find_nginx(program), tmp_path, address.port, block):
        yield address


def test_nginx_redirects_browsers_to_https_and_refuses_programs(nginx):
    """A redirected program would go on sending its secrets in the clear (ASVS 4.1.2)."""
    spindle = Spindle(nginx, ("", ""))
    for path in ["/login", "/oauth/authorize?client_id=x", "/account", "/", "/signup", "/menu"]:
        answer = spindle.call("GET", path, headers={"Host": "id.example.com"})
        assert (answer.status, answer.location) == (301, f"https://id.example.com{path}")
    programs = [
        "/oauth/token", "/oauth/exchange", "/oauth/introspect", "/oauth/revoke", "/oauth/userinfo", "/oauth/register",
        "/oauth/register/x", "/userinfo", "/me", "/user/1", "/api/2/me", "/api/2/oauth/token", "/admin/v1/clients",
        "/webhooks/ditto/x", "/auth/session/x", "/session/x",
    ]
    for path in programs:
        for method in ["GET", "POST"]:
            answer = spindle.call(method, path, headers={"Host": "id.example.com"}, bearer="a token")
            assert answer.status == 403 and answer.location is None, f"{method} {path}: {answer}"
