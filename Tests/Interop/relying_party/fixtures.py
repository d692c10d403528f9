"""The fixtures of the gateway tests; a test file imports those that it uses."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.spindle import Client, Spindle
from relying_party import Gateway, Guest, build

CALLBACK = "https://gateway.example/db/_oidc_callback"
GRANTS = ["authorization_code", "refresh_token"]


@pytest.fixture(scope="module")
def gateway_program(program, tmp_path_factory) -> Path:
    program("go", "golang-go golang-github-coreos-go-oidc-dev")
    return build(tmp_path_factory.mktemp("go"))


@pytest.fixture
def start(gateway_program, tmp_path) -> Iterator[Callable[..., Gateway]]:
    """Starts a gateway with the providers of its settings; it ends with the test."""
    running: list[Gateway] = []

    def start(default: str | None = None, **providers: dict) -> Gateway:
        running.append(Gateway(gateway_program, tmp_path, default, **providers))
        return running[-1]

    yield start
    for gateway in running:
        gateway.end()


def register(spindle: Spindle, redirect_uri: str = CALLBACK, **members) -> Client:
    # Sync Gateway reads only ID tokens, and sends neither a `code_challenge` nor a `nonce`.
    members = {"grant_types": GRANTS, "id_token_scope_claims": True} | members
    members.setdefault("require_pkce", members.get("token_endpoint_auth_method") == "none")
    return spindle.create_client(spindle.create_merchant(), "Sync Gateway", redirect_uri, **members)


def provider(spindle: Spindle, client: Client, **settings) -> dict:
    """The identity provider in Sync Gateway's configuration."""
    return {
        "issuer": spindle.origin, "client_id": client.id, "validation_key": client.secret, "callback_url": CALLBACK,
    } | settings


@pytest.fixture
def visit(world, start) -> Callable[..., Guest]:
    """A user with their own gateway."""

    def visit(client: Client | None = None, **settings) -> Guest:
        client = client or register(world.spindle)
        gateway = start(p=provider(world.spindle, client, **settings))
        return Guest(world.spindle, gateway, world.spindle.create_person())

    return visit


def header(token: str) -> dict:
    return _part(token, 0)


def claims(token: str) -> dict:
    """The payload of a JWT that the gateway has already verified."""
    return _part(token, 1)


def _part(token: str, index: int) -> dict:
    part = token.split(".")[index]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
