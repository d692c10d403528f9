"""The pages docs/with-….md: their commands register clients, and a sign-in begins at each."""

import re
import subprocess

import pytest

from harness.server import REPOSITORY
from harness.shell import PUBLIC, Shell, commands
from harness.spindle import PKCE, Client, Spindle

PAGES = sorted(path.name for path in (REPOSITORY / "docs").glob("with-*.md"))


@pytest.fixture(scope="module")
def server(launch):
    return launch()


@pytest.fixture(scope="module")
def spindle(server) -> Spindle:
    spindle = Spindle.of(server)
    spindle.create_person("ada@example.com")
    return spindle


@pytest.fixture(scope="module")
def admin(server, program) -> str:
    """An admin token, got by the command of the page on operation."""
    program("curl", "curl")
    text = (REPOSITORY / "docs" / "operating.md").read_text("utf-8")
    command = re.search(r"^```sh\n(ADMIN=.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)[1]
    identifier, secret = server.admin
    done = subprocess.run(
        ["bash", "-c", command.replace(PUBLIC, server.origin) + "printf %s $ADMIN"],
        env=server.environment(admin_client_id=identifier, admin_client_secret=secret),
        capture_output=True, text=True, timeout=60,
    )
    assert done.stdout, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", PAGES)
def test_a_sign_in_begins_at_the_client_that_a_settings_page_registers(page, server, spindle, admin, tmp_path):
    shell = Shell(server, tmp_path, merchant=spindle.create_merchant(), ADMIN=admin)
    created: list[dict] = []
    for command in commands(page):
        answer = shell.change(command)
        if command.startswith("spindle client create"):
            shell.variables["client"] = answer["client_id"]
            created.append(answer)
    assert created, f"{page} registers no client"
    for client in created:
        assert ("client_secret" in client) == (client["token_endpoint_auth_method"] != "none")
        for address in client["redirect_uris"]:
            known = Client(client["client_id"], None, address)
            login = spindle.call("GET", spindle.authorize_path(known, PKCE(), scope=client["scope"]))
            assert login.status == 200 and 'type="password"' in login.text, (address, login)


@pytest.mark.parametrize("page", PAGES)
def test_a_settings_page_says_at_its_top_whether_a_test_runs_its_library(page):
    top = (REPOSITORY / "docs" / page).read_text("utf-8").split("\n\n")[1]
    assert "Spindle's tests" in top, top
