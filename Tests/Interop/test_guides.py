"""The commands of the guides in docs/, as a reader pastes them."""

import json
import re
import subprocess

import pytest

from harness.blocks import blocks
from harness.server import REPOSITORY
from harness.spindle import PKCE
from harness.walk import expect_in_order, walk

# What the walk of each page prints, line after line.
SIGNS = {
    "guide-sync-gateway.md": (
        "http://127.0.0.1", '"sub": "', '"email": "ada@example.com"', '"sg_channels"', '"sport"', '"editor"',
        "Bearer", "Bearer", "Bearer", "max-age=300",
    ),
    "guide-appauth.md": (
        "http://127.0.0.1", "/oauth/authorize", "/oauth/token", "/oauth/jwks", "/logout", "/oauth/register",
        "200 ", "com.example.loom:/signed-in?error=login_required", "127.0.0.1:52113/signed-in?error=login_required",
        "400 ", "302 com.example.loom:/signed-out?state=s",
    ),
    "guide-auth0-sdks.md": (
        "http://127.0.0.1", "200 ", "login_required", "Access-Control-Allow-Origin: https://loom.example",
        "invalid_grant", "302 https://loom.example/", "200 ",
    ),
    "moving-from-spid.md": (
        "imported          2", "rejected          0", "dry_run           yes", "imported          2",
        "2 exported, 2 mapped, 0 missing, 0 renamed", "12345", "12345", "2 exported, 2 mapped, 0 missing, 0 renamed",
        "3", "liv@example.com", "12346",
    ),
}


# Pages on other issuers, and the values in their commands that readers have from elsewhere.
ISSUERS = ("guide-google.md", "guide-apple.md", "guide-facebook.md")
SECRETS = {"client_secret", "app_secret", "private_key", "team_id", "key_id"}


@pytest.mark.parametrize("guide", SIGNS)
def test_each_guides_walk_does_what_it_says(guide, tmp_path, program):
    program("curl", "curl")
    expect_in_order(walk(REPOSITORY / "docs" / guide, tmp_path), *SIGNS[guide])


# Its signature is made by openssl, not by the server.
def test_the_ditto_guides_walk_does_what_it_says(tmp_path, program):
    for name in ("curl", "bash", "openssl", "python3"):
        program(name, name)
    output = walk(REPOSITORY / "docs" / "guide-ditto.md", tmp_path)
    expect_in_order(
        output,
        '"signed": true', "/webhooks/ditto/loom-cars",
        '"authenticated": true', '"authenticate": true', '"expirationSeconds": 3', "_id.team == 'red'",
        "_id.team == 'blue'", '"authenticated":false', "invalid_client", '"OK"', '"authenticate":false',
        "unknown_token", "ditto_unsigned", "token_family_ended",
    )
    assert " 401" in output, output


@pytest.mark.parametrize("guide", sorted(SIGNS.keys() - {"moving-from-spid.md"}))
def test_each_guides_administration_requests_succeed(guide, world, program):
    """The commands outside the walk, with the reader's values filled in."""
    program("curl", "curl")
    commands = administration(guide, world)
    assert commands
    for command in commands:
        answer = done(command, world, USER=world.person.id)
        assert "client_id" in answer or "user_id" in answer, (command, answer)
        # The objects exist as they were answered.
        for name, value in json.loads(command.partition(" -d '")[2].rpartition("'")[0]).items():
            assert answer[name] == value, name


@pytest.mark.parametrize("guide", ISSUERS)
def test_the_issuer_that_a_guide_registers_has_a_sign_in_button(guide, world, program, tmp_path):
    program("curl", "curl")
    key = program("openssl", "openssl")
    subprocess.run(
        [key, "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-out", tmp_path / "AuthKey_FGHIJ67890.p8"], check=True, capture_output=True)
    registration, change = administration(guide, world)
    issuer = done(registration, world, tmp_path)["id"]
    login = world.spindle.authorize_path(world.app, PKCE())
    assert f"/login/with/{issuer}?" not in world.spindle.call("GET", login).body.decode()

    answer = done(change, world, tmp_path, ISSUER=issuer)
    assert not SECRETS & set(answer), "a secret is told"
    for name in re.findall(r'"(\w+)":', registration + change):
        assert name in answer or name in SECRETS, name
    assert f"/login/with/{issuer}?" in world.spindle.call("GET", login).body.decode()


def administration(guide: str, world) -> list[str]:
    """The administration commands outside a page's walk, with the world's server and merchant in them."""
    commands = [block.text for block in blocks(f"docs/{guide}") if block.language == "sh" and not block.is_in_walk]
    commands = [command for command in commands if "https://id.example/admin/v1/" in command]
    for old, new in (
        ("https://id.example/admin", world.spindle.origin + "/admin"),
        ('"merchant_id": "…"', f'"merchant_id": "{world.merchant}"'),
    ):
        commands = [command.replace(old, new) for command in commands]
    assert not any("…" in command for command in commands), commands
    return commands


def done(command: str, world, folder=None, **variables: str) -> dict:
    """Administration's answer to a command."""
    run = subprocess.run(
        ["bash", "-c", command.replace("curl ", "curl -sS ", 1)], capture_output=True, text=True, timeout=30,
        cwd=folder, env={"PATH": "/usr/bin:/bin", "ADMIN": world.spindle.admin_token(), **variables},
    )
    return json.loads(run.stdout)
