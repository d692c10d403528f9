"""Every command and every piece of code in README.md and docs is run by a test, or has a reason why not."""

import re

import pytest

from harness.blocks import Block, blocks, pages
from harness.not_run import NOT_RUN, OUTPUT, Row, installed, reason
from harness.server import REPOSITORY

BLOCKS = [block for page in pages() for block in blocks(page) if block.language not in OUTPUT]
INTEROP = "Tests/Interop/"
COMMAND = re.compile(r"(?:spindle|curl|sudo|python3|pip|docker|export) |deploy/|Tests/")

# Blocks, and the file of the test that runs them. "walk" stands for the blocks between the marks of a page's walk.
RUN = [
    Row("README.md", "*", "sh", "test_readme.py"),
    Row("docs/quickstart-single-page.md", "*", "sh html", "../Browser/test_quickstart_single_page.py"),
    *(Row(f"docs/quickstart-{name}.md", "*", "sh python swift", "test_quickstarts.py")
      for name in ("web-python", "native", "machine", "protect-an-api")),
    *(Row(f"docs/guide-{name}.md", "In five minutes", "sh json", "test_quickstarts.py")
      for name in ("sync-gateway", "ditto", "spid")),
    Row("docs/guide-development.md", "*", "sh", "test_quickstarts.py"),
    Row("docs/with-*.md", "*", "sh", "test_settings_pages.py"),
    Row("docs/troubleshooting.md", "*", "sh", "test_troubleshooting.py"),
    Row("docs/operating/complaints.md", "*", "sh", "test_complaints.py"),
    Row("docs/operating/events.md", "*", "sh", "test_events.py"),
    *(Row(page, "walk", "*", "test_guides.py") for page in (
        "docs/guide-appauth.md", "docs/guide-auth0-sdks.md", "docs/guide-sync-gateway.md", "docs/guide-ditto.md",
        "docs/moving-from-spid.md")),
    Row("docs/guide-spid.md", "walk", "*", "test_example.py"),
    Row("docs/walk.md", "walk", "*", "test_readme.py"),
    Row("docs/walk.md", "The walk, by hand", "sh", "test_readme.py"),
    Row("docs/guide-appauth.md", "1. The client", "sh", "test_guides.py"),
    Row("docs/guide-auth0-sdks.md", "2. The clients", "sh", "test_guides.py"),
    *(Row("docs/guide-sync-gateway.md", heading, "sh", "test_guides.py") for heading in (
        "Code flow, through Sync Gateway", "Without Sync Gateway's help", "Names, roles, channels")),
    *(Row(f"docs/guide-{name}.md", "Here: *", "sh", "test_guides.py") for name in ("google", "apple", "facebook")),
    *(Row(f"docs/guide-{name}.md", "In an app*", "http", "test_page_code.py")
      for name in ("google", "apple", "facebook")),
    Row("docs/guide-trusted-issuers.md", "*", "json http", "test_page_code.py"),
    Row("docs/guide-facebook-google-tokens.md", "What to register", "json", "test_page_code.py"),
    Row("docs/guide-sign-in-elsewhere.md", "Any OpenID provider, or another Spindle", "json", "test_page_code.py"),
    Row("docs/guide-dynamic-registration.md", "*", "sh", "test_page_code.py"),
    Row("docs/guide-ditto.md", "What to paste where", "json", "test_page_code.py"),
    Row("docs/guide-ditto.md", "Permissions", "json", "test_page_code.py"),
    *(Row("docs/guide-import.md", heading, "sh json", "test_page_code.py") for heading in (
        "Importing users from another system", "A line", "Who became whom")),
    Row("docs/moving-from-spid.md", "The files", "json", "test_page_code.py"),
    Row("docs/guide-spid.md", "Session hosts", "sh", "test_page_code.py"),
    Row("docs/guide-sync-gateway.md", "Code flow, through Sync Gateway", "json", "test_page_code.py"),
    Row("docs/guide-sync-gateway.md", "Couchbase Lite's own name and password", "sh", "test_page_code.py"),
    Row("docs/pages.md", "A merchant's own mails", "json", "test_page_code.py"),
    Row("docs/example-spid/README.md", "An app and its backend that speak SPiD", "sh", "test_example.py"),
    *(Row("docs/operating.md", heading, "sh", "test_operating_page.py") for heading in (
        "First start", "Merchants, clients, users", "PostgreSQL", "Backup and restore",
        "Space that deleted rows leave", "Purging what was deleted", "A client's secret", "The master key",
        "A stolen signing key")),
]


@pytest.fixture(scope="session", autouse=True)
def the_binary_is_there():
    """Not needed here: these tests read files."""


def holds(row: Row, block: Block) -> bool:
    return row.page == block.page if row.heading == "walk" and block.is_in_walk else row.holds_for(block)


@pytest.mark.parametrize("page", pages())
def test_each_code_block_of_a_page_is_run_by_one_test_or_has_a_reason(page):
    for block in BLOCKS:
        if block.page == page and not installed(block):
            tests = [row.about for row in RUN if holds(row, block) and block.is_in_walk == (row.heading == "walk")]
            assert len(tests) == (0 if reason(block) else 1), f"{block}: run by {tests}, not run: {reason(block)}"


def test_a_block_of_commands_says_that_it_is_one():
    # The page of commands shows how each is used, not a use.
    shown = [block for page in pages() if page != "docs/commands.md" for block in blocks(page)]
    hidden = [str(block) for block in shown if block.language in OUTPUT and COMMAND.match(block.text)]
    assert hidden == []


@pytest.mark.parametrize("row", [*RUN, *NOT_RUN], ids=str)
def test_each_row_of_the_lists_is_about_a_block_that_is_there(row):
    assert any(holds(row, block) for block in BLOCKS)


@pytest.mark.parametrize("row", RUN, ids=str)
def test_each_listed_test_names_the_page_whose_code_it_runs(row):
    text = (REPOSITORY / INTEROP / row.about).resolve().read_text("utf-8")
    name = row.page.removeprefix("docs/")
    # Pages of one kind are named by a pattern, or by what differs in their names.
    parts = [name, name.removesuffix(".md").removeprefix("guide-"), name.removesuffix("/README.md")]
    assert any(part in text for part in parts), f"{row.about} does not name {row.page}"


def test_the_packages_that_a_page_installs_are_those_of_the_tests():
    pinned = set(re.findall(r"(?m)^([\w-]+)==", (REPOSITORY / INTEROP / "requirements.txt").read_text("utf-8")))
    wanted = {name for block in BLOCKS for name in installed(block)}
    assert wanted and wanted <= pinned
