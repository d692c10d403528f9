"""The commands of the pages in docs/ that say what to paste into other people's programs."""

import json
import re
import subprocess

import pytest

from harness.server import REPOSITORY
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
}


@pytest.mark.parametrize("guide", SIGNS)
def test_the_walk_of_a_guide_does_what_it_says(guide, tmp_path, program):
    program("curl", "curl")
    expect_in_order(walk(REPOSITORY / "docs" / guide, tmp_path), *SIGNS[guide])


@pytest.mark.parametrize("guide", SIGNS)
def test_what_a_guide_has_administration_do_is_done(guide, world, program):
    """The commands beside the walk, with what the reader fills in."""
    program("curl", "curl")
    text = (REPOSITORY / "docs" / guide).read_text("utf-8").partition("<!-- walk -->")[0]
    commands = [
        command for command in re.findall(r"^```sh\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
        if "/admin/v1/" in command
    ]
    assert commands
    for command in commands:
        command = command.replace("https://id.example/admin", world.spindle.origin + "/admin")
        command = command.replace('"merchant_id": "…"', f'"merchant_id": "{world.merchant}"')
        assert "…" not in command, command
        done = subprocess.run(
            ["bash", "-c", command.replace("curl ", "curl -sS ", 1)], capture_output=True, text=True, timeout=30,
            env={"PATH": "/usr/bin:/bin", "ADMIN": world.spindle.admin_token(), "USER": world.person.id},
        )
        answer = json.loads(done.stdout)
        assert "client_id" in answer or "user_id" in answer, (command, answer)
        # What was said is what is there.
        for name, value in json.loads(command.partition(" -d '")[2].rpartition("'")[0]).items():
            assert answer[name] == value, name
