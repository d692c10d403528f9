"""No secret that was used is readable in the database, its log, or the log file at trace level."""

import base64
import secrets
import shutil
import sqlite3
from pathlib import Path

import pytest

from harness.assertion import JWT_BEARER, assertion
from harness.browser import Browser
from harness.server import Server, master_key
from harness.sought import dresses, finds
from harness.spindle import PKCE, Spindle
from harness.wire import basic
from harness.world import World


class Used(dict):
    """Every secret that went over the wire, by name."""

    def note(self, name: str, value: str) -> str:
        assert value, f"{name} is empty"
        self[f"{name}#{len(self)}"] = value.encode()
        return value

    def note_tokens(self, who: str, tokens: dict) -> dict:
        for member in ("access_token", "refresh_token", "id_token"):
            if member in tokens:
                self.note(f"{who} {member}", tokens[member])
        return tokens


def use_everything(server: Server) -> Used:
    """All requests of the core flows, refused ones too: a log reveals more about failures."""
    used = Used()
    spindle = Spindle.of(server)
    used.note("admin secret", server.admin[1])
    used.note("admin token", spindle.admin_token())
    used["master key"] = base64.b64decode(server.settings["SPINDLE_MASTER_KEY"])
    world = World.create(spindle)
    used.note("password", world.person.password)
    for client in (world.app, world.backend, world.web):
        for member in ("client_secret", "sign_secret", "registration_access_token"):
            if client.registration.get(member):
                used.note(f"{client.registration['client_name']} {member}", client.registration[member])
    second = spindle.administer("POST", f"clients/{world.backend.id}/secrets")
    assert second.status == 201, second
    used.note("second client secret", second.json["client_secret"])

    device = used.note_tokens("device", world.phone())
    for _ in range(2):
        device = used.note_tokens("device", spindle.refresh(world.app, device["refresh_token"]).json)
    code = used.note("exchange code", spindle.code(device["access_token"], world.backend))
    backend = used.note_tokens("backend", spindle.redeem(world.backend, code).json)
    used.note_tokens("client's own", spindle.client_credentials(world.backend).json)
    assert spindle.redeem(world.backend, code).status == 400
    used.note("unspent code", spindle.code(device["access_token"], world.backend))
    use_a_browser(spindle, world, device["access_token"], used)
    use_an_assertion(server, spindle, world, used)
    be_refused(spindle, world, device, used)
    spindle.me(backend["access_token"])
    spindle.introspect(world.backend, device["refresh_token"])
    spindle.revoke(world.backend, backend["access_token"])
    assert spindle.call("GET", "/logout", bearer=device["access_token"]).status == 200
    return used


def use_a_browser(spindle: Spindle, world: World, token: str, used: Used) -> None:
    session = used.note("session code", spindle.code(token, world.web, "session"))
    for browser in (Browser(spindle), Browser(spindle)):
        browser.open(f"/auth/session/{session}")
        pkce = PKCE()
        used.note("verifier", pkce.verifier)
        page = browser.open(spindle.authorize_path(world.web, pkce, state="s", scope="openid"))
        # The first was signed in by the session code; the second came too late for it and has to sign in.
        back = page if page.left_for else browser.sign_in(page, world.person)
        code = used.note("authorization code", back.query["code"])
        tokens = used.note_tokens("web", spindle.redeem(world.web, code, code_verifier=pkce.verifier).json)
        hint = tokens["id_token"]
        waiting = Browser(spindle).open(spindle.authorize_path(world.web, pkce, scope="openid", id_token_hint=hint))
        assert waiting.answer.status == 200 and waiting.forms, "the request that came with the ID token waits"
        for name, value in browser.cookies.items():
            if len(value) >= 16:
                used.note(f"cookie {name}", value)
    browser.log_out()


def use_an_assertion(server: Server, spindle: Spindle, world: World, used: Used) -> None:
    key = used.note("issuer secret", secrets.token_urlsafe(36))
    issuer = "https://trusted.example"
    spindle.create_issuer(
        merchant_id=world.merchant, issuer=issuer, secret=key, algorithms=["HS256"], create_users=True
    )
    client = spindle.create_client(world.merchant, "Bearer of assertions", grant_types=[JWT_BEARER])
    used.note("bearer's client secret", client.secret)
    for value in (assertion(key, issuer, server.origin), assertion("not the key", issuer, server.origin)):
        used.note("assertion", value)
        answer = spindle.token(client, JWT_BEARER, assertion=value)
        if answer.status == 200:
            used.note_tokens("asserted", answer.json)
    assert any("asserted" in name for name in used), f"the assertion was not taken: {answer}"


def be_refused(spindle: Spindle, world: World, device: dict, used: Used) -> None:
    """Requests that go wrong while they carry secrets, some at places where a secret does not belong."""
    guess = used.note("wrong password", secrets.token_urlsafe(15))
    wrong = used.note("wrong client secret", secrets.token_urlsafe(24))
    token = device["access_token"]
    form = {"grant_type": "password", "username": world.person.email, "password": guess} | world.app.proof
    spindle.call("POST", "/oauth/token", form=form)
    spindle.call("POST", "/oauth/token?" + f"client_secret={wrong}", form={"client_secret": wrong})
    for value in (basic(world.backend.id, wrong), f"Basic {wrong}", f"Bearer {token}.{wrong}"):
        spindle.call("POST", "/oauth/token", form={"grant_type": "x"}, headers={"Authorization": value})
        spindle.call("GET", "/me", headers={"Authorization": value})
    spindle.call("GET", f"/me?oauth_token={token}")
    spindle.call("GET", f"/auth/session/{wrong}")
    spindle.call("GET", f"/nowhere/{wrong}?code={wrong}", headers={"Cookie": f"session={wrong}"})
    spindle.call("POST", "/oauth/token", content={"grant_type": "password", "password": [guess]})
    spindle.call("POST", "/oauth/token", body=f"{{\"password\":\"{guess}".encode())
    spindle.call("POST", "/admin/v1/users", content={"email": 1, "password": guess}, bearer=spindle.admin_token())


def places(folder: Path) -> dict[str, bytes]:
    """Everything the server left in its directory: database, write-ahead log, shared memory, log, outbox."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def used_server(launch, engine):
    server = launch(engine, {"SPINDLE_LOG_LEVEL": "trace", "SPINDLE_MASTER_KEY": master_key()})
    return server, use_everything(server)


def test_no_secret_is_found_in_the_database_or_the_log(used_server, engine, request):
    server, used = used_server
    found_in = places(server.directory)
    assert len(found_in["spindle.log"]) > 1000, "the log at trace level says nothing, so the test means nothing"
    if engine == "postgresql":
        found_in["dump"] = request.getfixturevalue("cluster").dump(server.database)
        assert b"INSERT INTO public.access_tokens" in found_in["dump"]
    else:
        assert len(found_in["spindle.db"]) + len(found_in["spindle.db-wal"]) > 50_000
    assert finds(used, found_in) == []
    server.kill()
    assert finds(used, places(server.directory)) == [], "nor in what a crash leaves behind"


def test_the_search_finds_a_planted_secret_in_every_encoding(used_server, engine, request, tmp_path):
    server, used = used_server
    name, secret = next(iter(used.items()))
    for dress, form in dresses(secret).items():
        planted = b"surrounded:" + form + b":by text"
        if engine == "postgresql":
            cluster = request.getfixturevalue("cluster")
            url = cluster.create_database()
            cluster.query(url, f"CREATE TABLE planted AS SELECT '{planted.decode()}'::text AS value")
            content = {"dump": cluster.dump(url)}
        else:
            content = planted_copy(Path(server.database), tmp_path / dress, planted)
        assert any(f"{name} ({dress})" in found for found in finds({name: secret}, content)), dress


def planted_copy(original: Path, folder: Path, planted: bytes) -> dict[str, bytes]:
    """A copy of the database in which `planted` sits in the write-ahead log only, read while it is still open."""
    folder.mkdir()
    for suffix in ("", "-wal"):
        source = original.with_name(original.name + suffix)
        if source.exists():
            shutil.copy(source, folder)
    database = sqlite3.connect(folder / original.name)
    try:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA wal_autocheckpoint=0")
        with database:
            database.execute("CREATE TABLE planted (value TEXT)")
            database.execute("INSERT INTO planted VALUES (?)", (planted.decode(),))
        wal = original.name + "-wal"
        return {wal: (folder / wal).read_bytes()}
    finally:
        database.close()
