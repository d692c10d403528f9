"""The pages docs/with-….md: their commands register clients, and a sign-in begins at each."""

import json
import re
import subprocess

import pytest

from harness.server import REPOSITORY, binary
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
def tools(tmp_path_factory) -> str:
    """A folder with the program, for PATH."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "spindle").symlink_to(binary().resolve())
    return str(folder)


@pytest.fixture(scope="module")
def admin(server, program) -> str:
    """An admin token, got by the command of the page on operation."""
    program("curl", "curl")
    text = (REPOSITORY / "docs" / "operating.md").read_text("utf-8")
    command = re.search(r"^```sh\n(ADMIN=.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)[1]
    identifier, secret = server.admin
    done = subprocess.run(
        ["bash", "-c", command.replace("https://id.example", server.origin) + "printf %s $ADMIN"],
        env=server.environment(admin_client_id=identifier, admin_client_secret=secret),
        capture_output=True, text=True, timeout=60,
    )
    assert done.stdout, done.stderr
    return done.stdout


def commands(page: str) -> list[str]:
    """The shell commands of a page, one each."""
    text = (REPOSITORY / "docs" / page).read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [command for block in blocks for command in re.split(r"\n(?=spindle |curl |$)", block) if command.strip()]


@pytest.mark.parametrize("page", PAGES)
def test_the_client_of_a_settings_page_is_registered_as_the_page_says(page, server, spindle, tools, admin):
    variables = {"merchant": spindle.create_merchant(), "ADMIN": admin}
    created: list[dict] = []
    for command in commands(page):
        words = command.split()
        command = command.replace("https://id.example", server.origin)
        command = command.replace("curl ", "curl -sS ", 1) if words[0] == "curl" else f"{command} --json"
        done = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, timeout=60, cwd=server.directory,
            env=server.environment(PATH=f"{tools}:/usr/bin:/bin", **variables),
        )
        assert done.returncode == 0, done.stdout + done.stderr
        answer = json.loads(done.stdout)
        if words[:3] == ["spindle", "client", "create"]:
            variables["client"] = answer["client_id"]
            created.append(answer)
        elif words[0] == "curl":
            for name, value in json.loads(re.search(r" -d '(.*)'", command, re.DOTALL)[1]).items():
                assert answer.get(name) == value, (name, answer)
    assert created, f"{page} registers no client"
    for client in created:
        assert ("client_secret" in client) == (client["token_endpoint_auth_method"] != "none")
        for address in client["redirect_uris"]:
            known = Client(client["client_id"], None, address)
            page_shown = spindle.call("GET", spindle.authorize_path(known, PKCE(), scope=client["scope"]))
            assert page_shown.status == 200 and 'type="password"' in page_shown.text, (address, page_shown)


@pytest.mark.parametrize("page", PAGES)
def test_a_settings_page_says_at_its_top_whether_a_test_runs_its_library(page):
    top = (REPOSITORY / "docs" / page).read_text("utf-8").split("\n\n")[1]
    assert "Spindle's tests" in top, top
