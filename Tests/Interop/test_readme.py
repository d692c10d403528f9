"""Every command of the README is run, and docs/walk.md prints what it says."""

import os
import re
import subprocess
import time
from urllib.parse import urlsplit

import pytest

from harness.blocks import blocks
from harness.browser import Browser
from harness.server import REPOSITORY, binary, free_port
from harness.spindle import Spindle
from harness.walk import walk
from harness.wire import Address

SERVE = '.build/release/spindle serve --dev --database "$(mktemp -d)/dev.db"'

# Each command of the README that is not run here, and the file that runs it: Tests/run would start itself endlessly if
# a test ran it, and a release build takes minutes.
RUN_ELSEWHERE = {
    "deploy/system-packages": ("Tests/run", "deploy/system-packages"),
    "swift build --configuration release --product spindle --static-swift-stdlib": (
        "Tests/long", "swift build --configuration release --product spindle --static-swift-stdlib"),
    "deploy/quickstart": ("Tests/run", "run walk 15 deploy/quickstart --once"),
    "Tests/run": (".ci/run", "Tests/run"),
}


def test_every_command_of_the_readme_is_run_by_a_test():
    assert set(commands("README.md")) == {SERVE, *RUN_ELSEWHERE}
    for command, (file, line) in RUN_ELSEWHERE.items():
        assert line in (REPOSITORY / file).read_text("utf-8"), f"{file} does not run {command}"


def test_the_readmes_first_command_leads_to_a_decoded_token(tmp_path):
    """Follows the README like a reader: the printed address, and a name."""
    built = tmp_path / ".build" / "release"
    built.mkdir(parents=True)
    (built / "spindle").symlink_to(binary().resolve())
    address = Address("127.0.0.1", free_port())
    printed = tmp_path / "printed"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SPINDLE_")}
    environment |= {"SPINDLE_LISTEN": f"127.0.0.1:{address.port}", "TMPDIR": str(tmp_path)}
    with printed.open("w") as output:
        server = subprocess.Popen(
            ["bash", "-c", "exec " + SERVE], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT)
    try:
        page = signed_in(Browser(Spindle(address, ("", ""))), opened(printed, server))
    finally:
        server.terminate()
        server.wait(timeout=30)
    for told in ["<h2>ID token</h2>", "Signature good", "<h2>Access token</h2>", "<h2>Refresh token</h2>"]:
        assert told in page, page
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("tmp.")) == [".build", "printed"]


def test_the_walk_by_hand_prints_the_answers_on_its_page(tmp_path, program):
    for name in ("curl", "openssl"):
        program(name, name)
    page = REPOSITORY / "docs" / "walk.md"
    told = "".join(re.findall(r"^```text\n(.*?)^```$", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL))
    pattern = ".+".join(re.escape(part) for part in told.split("…"))
    printed = walk(page, tmp_path)
    assert re.fullmatch(pattern, printed), f"expected:\n{told}\nprinted:\n{printed}"


@pytest.mark.parametrize("page", ["README.md", "docs/walk.md", "docs/operating.md"])
def test_the_program_is_built_by_one_command_everywhere(page):
    builds = {command for command in commands(page) if command.startswith("swift build")}
    assert builds <= RUN_ELSEWHERE.keys(), builds


def commands(page: str) -> list[str]:
    """The lines of a page's sh blocks, without remarks."""
    lines = "".join(block.text for block in blocks(page) if block.language == "sh").splitlines()
    return [line for line in (re.sub(r"(^|\s+)# .*", "", line).strip() for line in lines) if line]


def opened(printed, server) -> str:
    """The address that the server tells to open."""
    for _ in range(300):
        said = printed.read_text("utf-8")
        # The log, on the standard error, comes before or after.
        if (found := re.search(r"open\n(http\S+)\n", said)) and " listening " in said:
            return found[1]
        assert server.poll() is None, said
        time.sleep(0.1)
    raise AssertionError(printed.read_text("utf-8"))


def signed_in(browser: Browser, address: str) -> str:
    """The page that a user with any name gets."""
    assert urlsplit(address).netloc == urlsplit(browser.spindle.origin).netloc
    form = browser.open(address).forms[0]
    return browser.open(form.action, "POST", form.fields | {"username": "alice", "outcome": "sign_in"}).answer.text
