"""Events as an operator and a merchant get them: the commands of docs/operating/events.md, and the tokens that are pushed."""

import json
import queue
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from harness.assertion import assertion
from harness.desk import PATIENCE, soon
from harness.server import Server
from harness.shell import Shell, commands
from harness.spindle import Spindle
from harness.world import World


@pytest.fixture(scope="module")
def server(launch, engine) -> Server:
    return launch(engine, {"SPINDLE_OUTBOUND_ALLOW_PRIVATE": "127.0.0.0/8"})


@pytest.fixture(scope="module")
def world(server) -> World:
    return World.create(Spindle.of(server))


def events(server: Server, *arguments: str) -> list[dict]:
    done = server.command("event", "list", *arguments, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)["items"]


def link(server: Server) -> str:
    done = server.command("event", "verify", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)["link"]


def test_the_commands_of_the_page_of_events_run_as_they_are_printed(server, world, tmp_path):
    world.spindle._create("users", {"email": "ada@example.com", "password": "a quiet loom"})
    soon(lambda: not link(server).startswith("0:"), "the first link")
    last = events(server, "--type", "merchant.created")[0]["id"]
    shell = Shell(
        server, tmp_path, ADMIN=world.spindle.admin_token(), client=world.web.id, last=last, link=link(server))
    for command in commands("operating/events.md"):
        if "--follow" in command:
            command = f"timeout 3 {command.strip()} || test $? = 124"
        printed = shell.run(command.replace(" ID ", f" {world.merchant} "))
        assert "about:blank" not in printed, command
    assert [each["after"]["events_uri"] for each in events(server, "--type", "merchant.changed")] == [
        "https://news.example/events"]


def test_a_link_that_is_not_in_the_chain_is_told_by_the_status(server, world):
    soon(lambda: not link(server).startswith("0:"), "the first link")
    position, _, noted = link(server).partition(":")
    forged = ("0" if noted[0] != "0" else "1") + noted[1:]
    done = server.command("event", "verify", "--since", f"{position}:{forged}")
    assert done.returncode == 1 and f"position {position}" in done.stderr, done.stdout + done.stderr
    assert server.command("event", "verify", "--since", "4").returncode == 64


def test_a_key_that_a_command_rotates_or_withdraws_is_an_event(server, world):
    done = server.command("key", "rotate", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    [made] = json.loads(done.stdout)["items"]
    assert server.command("key", "withdraw", made["id"]).returncode == 0
    [rotated], [withdrawn] = events(server, "--type", "key.rotated"), events(server, "--type", "key.withdrawn")
    assert rotated["actor"] == withdrawn["actor"] and withdrawn["actor"]["type"] == "command"
    assert withdrawn["subject"] == {"type": "key", "id": made["id"]}


def test_a_user_that_an_administrator_deletes_is_an_event_of_the_administrator(world):
    user = world.spindle.create_person()
    assert world.spindle.administer("DELETE", f"users/{user.id}").status == 204
    found = world.spindle.administer("GET", f"events?subject={user.id}&type=user.deleted").json["items"]
    assert [each["actor"] for each in found] == [{"type": "client", "id": world.spindle.admin[0]}]


def test_a_user_that_an_issuer_makes_is_an_event(server, world):
    spindle, secret, partner = world.spindle, secrets.token_hex(32), "https://sign-in.partner.example"
    spindle.create_issuer(
        merchant_id=world.merchant, issuer=partner, secret=secret, audiences=["loom"], create_users=True)
    grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    client = spindle.create_client(world.merchant, "Partners", grant_types=[grant])
    issuer = spindle.good("GET", "/.well-known/openid-configuration")["issuer"]
    signed = assertion(secret, partner, issuer, sub="ada-17")
    answer = spindle.call("POST", "/oauth/token", form={"grant_type": grant, "assertion": signed} | client.proof)
    assert answer.status == 200, answer
    found = [each for each in events(server, "--type", "user.created") if each["actor"]["type"] == "user"]
    assert [each["after"]["issuer"] for each in found] == ["sign-in.partner.example"]
    assert found[0]["actor"] == found[0]["subject"]


class Receiver:
    """A merchant's server. It answers the first request with 503."""

    def __enter__(self) -> "Receiver":
        self.requests: queue.Queue[tuple[str, str]] = queue.Queue()
        statuses = iter([503])

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler):
                body = handler.rfile.read(int(handler.headers["Content-Length"])).decode()
                self.requests.put((handler.headers["Content-Type"], body))
                handler.send_response(next(statuses, 202))
                handler.send_header("Content-Length", "0")
                handler.end_headers()

            def log_message(handler, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/events"


def test_a_merchant_gets_its_events_as_tokens_that_a_library_verifies(world):
    spindle = world.spindle
    merchant = spindle.create_merchant("Bobbin")
    keys = KeySet.import_key_set(spindle.good("GET", "/.well-known/jwks.json"))
    issuer = spindle.good("GET", "/.well-known/openid-configuration")["issuer"]
    with Receiver() as receiver:
        assert spindle.administer("PATCH", f"merchants/{merchant}", {"events_uri": receiver.address}).status == 200
        client = spindle.create_client(merchant, "Bobbin's site")
        seen: dict[str, dict] = {}
        while not {"merchant.changed", "client.created"} <= {each["type"] for each in seen.values()}:
            kind, body = receiver.requests.get(timeout=PATIENCE)
            assert kind == "application/secevent+jwt"
            token = jwt.decode(body, keys, algorithms=["RS256"])
            claims, header = token.claims, token.header
            assert header["typ"] == "secevent+jwt"
            assert (claims["iss"], claims["aud"]) == (issuer, merchant)
            [(name, event)] = claims["events"].items()
            assert name == f"{issuer}/events/{event['type']}"
            assert (claims["jti"], claims["txn"]) == (event["id"], event["request_id"])
            assert claims["sub_id"] == {"format": "opaque", "id": event["subject"]["id"]}
            assert event["merchant_id"] == merchant
            seen[claims["jti"]] = event
    assert client.id in {event.get("client_id") for event in seen.values()}
    # What the first answer refused waits for its next turn.
    assert spindle.administer("GET", "deliveries?state=waiting").json["items"] != []
