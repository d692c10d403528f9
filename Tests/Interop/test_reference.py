"""The reference, docs/api: its examples get the answers that it shows, and its tables have what there is.

`SPINDLE_REFERENCE=write` writes the answers into the pages.
"""

import os
import re
from pathlib import Path

import pytest

from harness.documented import FOLDER, PAGES, anchor, listed
from harness.pattern import Values
from harness.reference import Run
from harness.server import REPOSITORY
from harness.stage import Stage

WRITES = os.environ.get("SPINDLE_REFERENCE") == "write"
# How many requests a page has at least.
LEAST = {"README.md": 2, "administration.md": 60, "oauth.md": 100, "openid.md": 20, "pages.md": 40, "spid.md": 50}
LONGEST_SENTENCE = 40
DEVELOPMENT = "/development/"


@pytest.fixture(scope="module")
def stage(launch) -> Stage:
    return Stage(launch(settings=Stage.SETTINGS))


def test_each_page_of_the_reference_has_examples():
    assert {page.name for page in PAGES} == LEAST.keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_get_the_answers_that_it_shows(stage, page):
    run = Run(page, stage.spindle, Values(stage.values()), Stage.COMMON, WRITES).go()
    if WRITES:
        page.write_text(run.text, "utf-8")
    assert not run.faults, f"{len(run.faults)} of {run.count}; SPINDLE_REFERENCE=write\n" + "\n".join(run.faults)
    assert run.count >= LEAST[page.name]


# The routes of the program are compared with the table by Tests/FlowTests/HTTP/ReferenceTests.swift too.


def test_each_path_of_the_table_of_endpoints_takes_the_methods_that_the_table_says(stage):
    paths = {path: methods for path, methods in listed().items() if not path.startswith(DEVELOPMENT)}
    assert len(paths) > 120
    for path, methods in paths.items():
        answer = stage.spindle.call("PATCH" if "PUT" in methods else "PUT", path.replace("{", "").replace("}", ""))
        allowed = set((answer.headers["Allow"] or "").split(", ")) - {"HEAD", "OPTIONS"}
        assert (answer.status, allowed) == (405, methods), path


def test_the_table_of_endpoints_has_all_of_spids_api(stage):
    entries = stage.spindle.good("GET", "/api/2/endpoints")["data"]
    for entry in entries:
        assert entry["httpMethods"].keys() == listed().get(entry["url"]), entry["url"]


def test_the_table_of_errors_has_every_error_code():
    enumeration = "enum Code: String"
    source = (REPOSITORY / "Sources/OAuth/Refusals/OAuthError.swift").read_text("utf-8").partition(enumeration)[2]
    codes = re.findall(r'case \w+ = "(\w+)"', source.partition("}")[0])
    assert len(codes) > 20
    table = (FOLDER / "README.md").read_text("utf-8").partition("\n## Errors\n")[2]
    assert [code for code in codes if f"`{code}`" not in table] == []


@pytest.mark.parametrize(
    ("source", "least"),
    [
        ("AdminAPI/DocumentMembers.swift", 60),
        ("Directory/Clients/OpenIDSettings/OpenIDSettings.swift", 25),
        ("Directory/Clients/SPiDSettings.swift", 5),
    ])
def test_the_tables_of_administration_have_every_member(source, least):
    text = (REPOSITORY / "Sources" / source).read_text("utf-8")
    # What stands in square brackets, after `Self(`, `names =` and the like.
    names = {name for block in re.findall(r"\[([^\[\]]*)\]", text) for name in re.findall(r'"([a-z_]{3,})"', block)}
    assert len(names) >= least
    page = (FOLDER / "administration.md").read_text("utf-8")
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_sentence_of_the_reference_is_long(page):
    long = [sentence for sentence in sentences(page) if len(re.findall(r"\S*\w\S*", sentence)) > LONGEST_SENTENCE]
    assert long == []


def sentences(page: Path) -> list[str]:
    """Those of paragraphs, list items and cells; what a test received is none."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text("utf-8"))
    text = re.sub(r"(?m)^\|(?=.*\| \d{3} \|).*$", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    parts = re.split(r"\n\n|\n(?=[*|#]|\d\. )|\|", text)
    return [sentence for part in parts for sentence in re.split(r"[.!?][*)]*(?=\s|$)", part.replace("\n", " "))]


def test_every_link_to_a_heading_leads_to_one():
    pages = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]
    headings = {page.resolve(): anchors(page) for page in pages}
    missing = []
    for page in pages:
        for path, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)", page.read_text("utf-8")):
            target = (page.parent / path).resolve() if path else page.resolve()
            if anchor not in headings.get(target, {anchor} if target.suffix != ".md" else set()):
                missing.append(f"{page.relative_to(REPOSITORY)}: {path}#{anchor}")
    assert missing == []


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings get where Markdown is shown."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text("utf-8"))
    titles = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in re.findall(r"(?m)^#+ (.*)$", text)]
    return {anchor(title) for title in titles}
