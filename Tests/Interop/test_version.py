"""The version is named once, in Sources/Server/Spindle.swift, and CHANGELOG.md agrees with it."""

import re
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSION_FILE = "Sources/Server/Spindle.swift"
VERSION = re.search(r'version = "(.*)"', (ROOT / VERSION_FILE).read_text())[1]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


@pytest.fixture(scope="session", autouse=True)
def the_binary_is_there():
    """Not needed here: these tests read files."""


def test_the_version_is_a_semantic_version():
    assert re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?", VERSION), VERSION


def test_the_changelog_begins_with_the_programs_version():
    """`## 0.1.0 (unreleased)`, and from its release on `## 0.1.0 - 2030-01-02`."""
    headings = re.findall(r"^## (.*)$", CHANGELOG, re.M)
    assert headings[0].split(" ")[0] == VERSION, f"{VERSION_FILE} has {VERSION}: {headings[0]}"
    for heading in headings[headings[0].endswith(" (unreleased)") :]:
        version, day = re.fullmatch(r"(\S+) - (\d{4}-\d{2}-\d{2})", heading).groups()
        assert date.fromisoformat(day) and version, heading


def test_each_change_is_of_a_usual_kind():
    assert set(re.findall(r"^### (.*)$", CHANGELOG, re.M)) <= KINDS


def test_no_other_file_names_the_version():
    places = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "Package.swift")]
    places += [file for folder in ("Sources", "deploy", "docs", "migrations") for file in (ROOT / folder).rglob("*")]
    # Numbers of other programs may look the same.
    ours = re.compile(rb"(?i)(spindle|version)[^\n]{0,20}(?<![\d.])" + re.escape(VERSION).encode() + rb"(?![\d.])")
    named = [str(file.relative_to(ROOT)) for file in places if file.is_file() and ours.search(file.read_bytes())]
    assert named == [VERSION_FILE], named
