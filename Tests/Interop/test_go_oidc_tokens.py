"""The gateway of test_go_oidc.py, whose table continues here: tokens, and how they change over time."""

import contextlib
import json
import sqlite3
from email.utils import parsedate_to_datetime
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

from harness.spindle import Spindle
from relying_party import Guest
from relying_party.fixtures import claims, gateway_program, header, provider, register, start, visit  # noqa: F401


def key_of(told: dict) -> str:
    return header(told["id_token"])["kid"]


def test_A14_keys_rotate_under_a_client_that_caches_them(prepare, start):
    server = prepare()
    server.init()
    server.start()
    spindle = Spindle.of(server)
    gateway = start(p=provider(spindle, register(spindle)))
    guest = Guest(spindle, gateway, spindle.create_person())
    old = guest.sign_in()
    assert len(gateway.trace("/oauth/jwks")) == 1

    # The next key is published, and not used yet: no client has to fetch keys again.
    kept = int(spindle.call("GET", "/oauth/jwks").headers["Cache-Control"].partition("max-age=")[2])
    assert server.command("key", "rotate").returncode == 0
    listed = server.command("key", "list", "--json").stdout
    keys = [key for key in json.loads(listed)["items"] if key["algorithm"] == "RS256"]
    first, second = sorted(keys, key=lambda key: key["signs_from"])
    assert first["id"] == key_of(old) and (lead := second["signs_from"] - second["created_at"]) > kept
    server.stop()
    server.start()
    between = gateway.refresh(old["refresh_token"]).json
    assert key_of(between) == first["id"] and gateway.trace("/oauth/jwks") == []
    late = Guest(spindle, start(p=provider(spindle, register(spindle))), guest.person)
    late.sign_in()
    assert len(late.gateway.trace("/oauth/jwks")) == 1

    # Now it signs.
    server.stop()
    with contextlib.closing(sqlite3.connect(server.database)) as database, database:
        database.execute("UPDATE signing_keys SET signs_from = signs_from - 1000 * ?", [lead])
    server.start()
    refused = gateway.refresh(old["refresh_token"])
    assert "failed to verify id token signature" in refused.text, "a client that keeps keys as long as it was told"
    gateway.put_clock_ahead(lead)
    new = gateway.refresh(old["refresh_token"]).json
    assert key_of(new) == second["id"]
    # A client that fetched the keys after the rotation had the new key already; the old key's signatures stay valid.
    assert key_of(late.sign_in()) == second["id"] and late.gateway.trace("/oauth/jwks") == []
    for one in (old, between, new):
        assert gateway.whoami(one["id_token"])["name"] == old["name"]


def server_lead(key: dict) -> int:
    return key["signs_from"] - key["created_at"]


@pytest.mark.parametrize("members", [{}, {"subject_type": "pairwise"}])
def test_A15_the_subject_is_a_string(visit, world, members):
    guest = visit(register(world.spindle, **members), include_access=True)
    told = guest.sign_in()
    subject = claims(told["id_token"])["sub"]
    assert isinstance(subject, str) and subject
    assert claims(guest.gateway.refresh(told["refresh_token"]).json["id_token"])["sub"] == subject
    assert world.spindle.good("GET", "/oauth/userinfo", bearer=told["access_token"])["sub"] == subject


def test_A16_name_roles_and_channels_come_from_claims_of_the_client(visit, world):
    members = {"roles": "sg_roles", "channels": "sg_channels", "login": "nickname_at_work", "one": "team"}
    client = register(world.spindle, id_token_claims=members)
    guest = visit(client, username_claim="login", roles_claim="roles", channels_claim="channels", user_prefix="w")

    def set_attributes(**attributes) -> None:
        answer = world.spindle.administer("PATCH", f"users/{guest.person.id}", {"attributes": attributes})
        assert answer.status == 200, answer

    set_attributes(sg_roles=["editor", "fooRole"], sg_channels=["fooChan"], nickname_at_work="kari.n", team="blue")
    told = guest.sign_in()
    found = guest.gateway.whoami(told["id_token"])
    assert (found["name"], found["roles"], found["channels"]) == ("w_kari.n", ["editor", "fooRole"], ["fooChan"])
    assert found["claims"]["one"] == "blue"

    # A refresh has the current values; an empty list is a list, and a missing value is no claim.
    set_attributes(sg_roles=[], sg_channels=None)
    found = guest.gateway.whoami(guest.gateway.refresh(told["refresh_token"]).json["id_token"])
    assert (found["roles"], found["channels"]) == ([], [])
    assert found["claims"]["roles"] == [] and "channels" not in found["claims"]
    # A user without the claim that is to be the name cannot sign in.
    set_attributes(nickname_at_work=None)
    assert guest.gateway.refresh(told["refresh_token"]).status == 500
    # The name may also be a claim that every user has.
    guest = visit(register(world.spindle), username_claim="email")
    assert guest.sign_in()["name"] == quote(guest.person.email, safe="")


@pytest.mark.parametrize("response_type", ["id_token", "id_token token"])
def test_A17_an_id_token_by_the_implicit_flow_opens_a_session(visit, world, response_type):
    client = register(
        world.spindle, "com.example.notes:/back", response_types=[response_type], grant_types=["implicit"],
        token_endpoint_auth_method="none",
    )
    guest = visit(client)
    query = {"response_type": response_type, "scope": "openid email", "nonce": "n-1", "state": "s"}
    back = guest.go(world.spindle.authorize_path(client, None, **query))
    assert back.startswith("com.example.notes:/back#")
    told = dict(parse_qsl(urlsplit(back).fragment))
    assert claims(told["id_token"])["nonce"] == "n-1" and told["state"] == "s" and "refresh_token" not in told
    assert ("access_token" in told) == ("token" in response_type.split())
    opened = guest.gateway.call("POST", "/db/_session", content={}, bearer=told["id_token"])
    assert opened.status == 200 and opened.json["userCtx"]["name"].endswith(f"_{guest.person.id}")
    forged = told["id_token"][:-8] + "AAAAAAAA"
    assert guest.gateway.call("POST", "/db/_session", content={}, bearer=forged).status == 401
    # Without a nonce no ID token comes this way (OpenID Connect Core 3.2.2.1).
    page = guest.browser.open(world.spindle.authorize_path(client, None, **query | {"nonce": ""}))
    assert dict(parse_qsl(urlsplit(page.left_for).fragment))["error"] == "invalid_request"


@pytest.mark.parametrize("life", [60, 3600, 7 * 86_400])
def test_A18_a_client_sets_the_lifetime_of_its_id_tokens(visit, world, life):
    guest = visit(register(world.spindle, id_token_lifetime=life))
    answer = guest.gateway.back(guest.go(guest.gateway.login()))
    told = claims(answer.json["id_token"])
    assert told["exp"] - told["iat"] == life
    # The session at the gateway is as long.
    jar = SimpleCookie("\n".join(line for line in answer.set_cookies if line.startswith("SyncGatewaySession")))
    assert parsedate_to_datetime(jar["SyncGatewaySession"]["expires"]).timestamp() == told["exp"]


def test_A19_a_restart_does_not_disturb_sign_ins(prepare, start, engine):
    server = prepare(engine)
    server.init()
    server.start()
    spindle = Spindle.of(server)
    gateway = start(p=provider(spindle, register(spindle)))
    guest = Guest(spindle, gateway, spindle.create_person())
    # While the login page is open …
    page = guest.browser.open(gateway.login())
    server.stop()
    server.start()
    page = guest.browser.sign_in(page, guest.person)
    # … and, without a warning, while the browser carries the code back.
    server.kill()
    server.start()
    told = gateway.back(page.left_for)
    assert told.status == 200, told
    server.kill()
    server.start()
    assert gateway.refresh(told.json["refresh_token"]).status == 200
    assert Guest(spindle, gateway, guest.person).sign_in()["name"] == told.json["name"]
