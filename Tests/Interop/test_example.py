"""The example for SPiD's users in docs/ (an app in Swift, its web view, a backend in Python) is compiled and run as it
is printed there, and so are the commands of the guide."""

import os
import re
import subprocess
import sys

import pytest

from harness.server import REPOSITORY, binary
from harness.spindle import Spindle
from harness.walk import expect_in_order, walk

EXAMPLE = REPOSITORY / "docs" / "example-spid"
USER = re.compile(r"^(?P<server>\S+) has user (?P<id>\S+), (?P<name>[^,]+), (?P<email>\S+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def the_compiler_is_there(program) -> None:
    program("swiftc", "the Swift toolchain, see swift.org")


def run(*arguments: str, **settings: str) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SPINDLE_")}
    done = subprocess.run(
        [sys.executable, EXAMPLE / "run", *arguments], env=environment | settings,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200,
    )
    print(done.stdout)
    return done


def parts(output: str) -> dict[str, str]:
    """What was printed on each way to sign in."""
    _, native, web = re.split(r"^== (?:native|web)$", output, flags=re.MULTILINE)
    return {"native": native, "web": web}


@pytest.mark.usefixtures("the_compiler_is_there")
def test_the_app_its_web_view_and_its_backend_go_from_sign_in_to_log_out(launch):
    server = launch()
    spindle = Spindle.of(server)
    done = run(server.origin, SPINDLE_ADMIN=":".join(server.admin))
    assert done.returncode == 0, done.stdout

    user = USER.search(done.stdout)
    assert user and "+" in user["email"], done.stdout
    told = spindle.administer("GET", f"users/{user['id']}").json
    assert (told["email"], told["name"]) == (user["email"], user["name"])
    assert f"backend: registered user {user['id']}, {user['name']}" in done.stdout
    for way, output in parts(done.stdout).items():
        facts = [line.removeprefix("   ✓ ") for line in output.splitlines() if line.startswith("   ✓ ")]
        assert f"the backend knows {user['name']}, user {user['id']}" in facts, way
        assert f"the page says: {user['name']} is here, user {user['id']}" in facts, way
        assert "the web view has the cookie spindle_session" in facts, way
        assert facts[-5:] == [
            "nothing can be renewed", "the access token is dead", "the web view is asked for the password",
            "the backend has its own session still", "and now has not",
        ], way
    assert "a wrong password has its own error" in done.stdout
    in_browser = [line for line in done.stdout.splitlines() if line.startswith("   browser: back at ")]
    assert ["spindle_session" in line for line in in_browser] == [True, False], "signed in, then out"

    # The server's own record: two ways to sign in, and for each the token families of the app, the backend and the
    # page. None lives. The web views' sessions end with the app's, and the browser's session has ended too.
    held = spindle.administer("GET", f"users/{user['id']}/data").json
    assert len(held["connections"]) == 2, held
    assert len(held["permissions"]) == 6 and all("ended_at" in family for family in held["permissions"]), held
    signed_in_by = sorted(session["signed_in_by"] for session in held["sessions"])
    assert signed_in_by == ["pwd", "pwd", "pwd"], "a web view has the sign-in of its token"
    assert ["bought_by" in session for session in held["sessions"]].count(True) == 2, held
    assert all("ended_at" in session for session in held["sessions"] if "bought_by" not in session), held


@pytest.mark.usefixtures("the_compiler_is_there")
def test_the_example_starts_its_own_server_when_none_runs():
    done = run(SPINDLE_BINARY=str(binary()))
    assert done.returncode == 0, done.stdout
    _, facebook = done.stdout.split("\n== facebook\n")
    for fact in ("nobody here is that person", "the backend knows Grace Weaver", "the page says: Grace Weaver is here",
                 "the access token is dead"):
        assert f"   ✓ {fact}" in facebook, fact
    assert "Everything came out as the guide has it." in facebook


@pytest.mark.usefixtures("the_compiler_is_there")
def test_the_example_fails_when_the_server_refuses(launch):
    server = launch()
    done = run(server.origin, SPINDLE_ADMIN=f"{server.admin[0]}:not the secret")
    assert done.returncode == 1 and "FAILED: /oauth/token answered 401" in done.stdout, done.stdout
    assert not Spindle.of(server).administer("GET", "users").json["items"]


def test_the_spid_guides_walk_does_what_it_says(tmp_path, program):
    for name in ("curl", "bash"):
        program(name, name)
    expect_in_order(
        walk(REPOSITORY / "docs" / "guide-spid.md", tmp_path),
        '"invalid_user_credentials"', '"server_time"', '"name": "SPP Container"', '"displayName": "Ada"',
        "302 to https://news.example/spid", "signed in", "Ada", "up",
        "OK", '"invalid_token"', '"invalid_grant"', "<h1>", "Ada",
    )
