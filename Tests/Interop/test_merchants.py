"""Merchants, their clients and their trusted issuers: each merchant sees and changes its own only."""

import secrets
import time

import pytest

from harness.assertion import JWT_BEARER, assertion
from harness.spindle import Client, Spindle
from harness.world import World

ISSUER = "https://trusted.example"


@pytest.fixture(scope="module")
def world(launch, engine) -> World:
    return World.create(Spindle.of(launch(engine)))


@pytest.fixture(scope="module")
def elsewhere(world) -> World:
    return World.create(world.spindle)


@pytest.fixture(scope="module")
def merchant_token(world) -> str:
    """A token with which the merchant administers itself."""
    spindle = world.spindle
    client = spindle.create_client(
        world.merchant, "Back office", grant_types=["client_credentials"], scope="email admin:merchant"
    )
    by_default = spindle.client_credentials(client)
    assert "admin" not in by_default.json["scope"], "administration is never in a default scope"
    assert spindle.administer("GET", "clients", token=by_default.json["access_token"]).status in (401, 403)
    answer = spindle.client_credentials(client, scope="admin:merchant")
    assert answer.status == 200, answer
    return answer.json["access_token"]


def listed(world: World, kind: str, token: str | None = None) -> list[dict]:
    """Every page of a list, two items at a time."""
    items, cursor = [], ""
    while cursor is not None:
        page = world.spindle.administer("GET", f"{kind}?limit=2&{cursor}", token=token)
        assert page.status == 200, page
        items += page.json["items"]
        cursor = f"cursor={page.json['next']}" if page.json.get("next") else None
    return items


def test_a_merchant_reads_and_changes_its_own_only(world, elsewhere, merchant_token):
    spindle = world.spindle

    def as_merchant(method: str, path: str, content: dict | None = None):
        return spindle.administer(method, path, content, token=merchant_token)

    assert {client["merchant_id"] for client in listed(world, "clients", merchant_token)} == {world.merchant}
    assert {merchant["id"] for merchant in listed(world, "merchants", merchant_token)} == {world.merchant}
    assert as_merchant("GET", f"clients/{world.backend.id}").status == 200
    foreign = f"clients/{elsewhere.backend.id}"
    for method, path, content in [
        ("GET", foreign, None), ("PATCH", foreign, {"client_name": "Mine"}), ("DELETE", foreign, None),
        ("POST", f"{foreign}/secrets", None), ("GET", f"merchants/{elsewhere.merchant}", None),
        ("PATCH", f"merchants/{elsewhere.merchant}", {"name": "Mine"}),
        ("POST", "clients", {"merchant_id": elsewhere.merchant, "grant_types": ["client_credentials"]}),
        ("POST", "merchants", {"name": "Another"}),
        ("POST", "issuers", {"merchant_id": elsewhere.merchant, "issuer": ISSUER, "secret": "s" * 40}),
        ("POST", "clients", {"client_name": "Promoted", "scope": "admin", "grant_types": ["client_credentials"]}),
        ("PATCH", f"clients/{world.backend.id}", {"scope": "email admin:merchant"}),
    ]:
        answer = as_merchant(method, path, content)
        assert answer.status in (403, 404) and answer.body, f"{method} {path}: {answer}"
    assert spindle.client_credentials(elsewhere.backend).status == 200


def test_a_merchant_cannot_set_a_users_address_or_password(world, merchant_token):
    spindle, person = world.spindle, world.person
    world.phone()
    assert person.id in {user["user_id"] for user in listed(world, "users", merchant_token)}
    stranger = spindle.create_person()
    assert spindle.administer("GET", f"users/{stranger.id}", token=merchant_token).status in (403, 404)
    for change in ({"email": "thief@example.com"}, {"password": "chosen by the merchant"}, {"email_verified": False}):
        answer = spindle.administer("PATCH", f"users/{person.id}", change, token=merchant_token)
        assert answer.status == 403, f"{change}: {answer}"
    assert world.phone()["user_id"] == person.id


def test_lists_are_paged_by_a_cursor_that_skips_no_row(world):
    made = {world.spindle.create_merchant(f"House {number}") for number in range(7)}
    found = [merchant["id"] for merchant in listed(world, "merchants")]
    assert made <= set(found) and len(set(found)) == len(found)


def test_a_client_has_two_live_secrets_until_one_is_ended(world):
    spindle = world.spindle
    client = spindle.create_client(world.merchant, "Rotating", grant_types=["client_credentials"])
    second = spindle.administer("POST", f"clients/{client.id}/secrets").json
    successor = Client(client.id, second["client_secret"], None)
    assert spindle.client_credentials(client).status == 200
    assert spindle.client_credentials(successor).status == 200
    first = next(
        secret["id"] for secret in listed(world, f"clients/{client.id}/secrets") if secret["id"] != second["id"]
    )
    assert spindle.administer("DELETE", f"clients/{client.id}/secrets/{first}").status == 204
    soon(lambda: spindle.client_credentials(client).status == 401)
    assert spindle.client_credentials(successor).status == 200


def test_disabling_takes_effect_at_once_and_can_be_undone(world):
    spindle = world.spindle
    person = spindle.create_person()
    tokens = spindle.password(world.app, person)
    assert spindle.administer("PATCH", f"users/{person.id}", {"disabled": True}).status == 200
    assert spindle.me(tokens["access_token"]).status == 401
    assert spindle.refresh(world.app, tokens["refresh_token"]).status == 400
    assert spindle.administer("PATCH", f"users/{person.id}", {"disabled": False}).status == 200
    assert spindle.password(world.app, person)["user_id"] == person.id

    other = World.create(spindle)
    device = other.phone()
    assert spindle.administer("PATCH", f"merchants/{other.merchant}", {"disabled": True}).status == 200
    soon(lambda: spindle.client_credentials(other.backend).status == 401)
    soon(lambda: spindle.me(device["access_token"]).status == 401)


def test_a_trusted_issuers_assertion_identifies_a_user_and_works_once(world, elsewhere):
    spindle, key = world.spindle, secrets.token_urlsafe(36)
    spindle.create_issuer(
        merchant_id=world.merchant, issuer=ISSUER, secret=key, algorithms=["HS256"], create_users=True
    )
    client = spindle.create_client(world.merchant, "Partner", grant_types=[JWT_BEARER])
    foreign = spindle.create_client(elsewhere.merchant, "Partner elsewhere", grant_types=[JWT_BEARER])

    def present(value: str, by: Client = client):
        return spindle.token(by, JWT_BEARER, assertion=value)

    good = assertion(key, ISSUER, spindle.origin)
    first = present(good)
    assert first.status == 200 and spindle.me(first.json["access_token"]).status == 200, first
    again = present(assertion(key, ISSUER, spindle.origin + "/oauth/token"))
    assert again.json["user_id"] == first.json["user_id"], "the same subject is the same person"
    without_jti = assertion(key, ISSUER, spindle.origin, jti=None)
    assert present(without_jti).status == 200
    for name, value, by in [
        ("used before", good, client),
        ("used before, without jti", without_jti, client),
        ("another key", assertion("k" * 40, ISSUER, spindle.origin), client),
        ("another issuer", assertion(key, "https://nobody.example", spindle.origin), client),
        ("another audience", assertion(key, ISSUER, "https://elsewhere.example"), client),
        ("expired", assertion(key, ISSUER, spindle.origin, exp=int(time.time()) - 120), client),
        ("not yet", assertion(key, ISSUER, spindle.origin, nbf=int(time.time()) + 600), client),
        ("no subject", assertion(key, ISSUER, spindle.origin, sub=""), client),
        ("another merchant's client", assertion(key, ISSUER, spindle.origin), foreign),
        ("no JWT", "a.b.c", client),
    ]:
        refused = present(value, by)
        assert (refused.status, refused.error) == (400, "invalid_grant"), f"{name}: {refused}"


def soon(is_so) -> None:
    """A cache may be a few seconds stale."""
    deadline = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.2)
