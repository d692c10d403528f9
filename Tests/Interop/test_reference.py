"""The reference, docs/api: its examples get the answers that it shows, and its tables have what there is.

`SPINDLE_REFERENCE=write` writes the answers into the pages.
"""

import os
import re
import runpy

import pytest

from harness.documented import FOLDER, PAGES, listed
from harness.pattern import Values
from harness.reference import Run
from harness.server import REPOSITORY
from harness.stage import Stage

WRITES = os.environ.get("SPINDLE_REFERENCE") == "write"
# How many requests a page has at least.
LEAST = {"README.md": 2, "administration.md": 60, "oauth.md": 100, "openid.md": 20, "pages.md": 40, "spid.md": 50}


@pytest.fixture(scope="module")
def stage(launch) -> Stage:
    return Stage(launch(settings=Stage.SETTINGS))


def test_each_page_of_the_reference_has_examples():
    assert {page.name for page in PAGES} == LEAST.keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_get_the_answers_that_it_shows(stage, page):
    run = Run(page, stage.spindle, Values(stage.values()), Stage.COMMON, stage.message, WRITES).go()
    if WRITES:
        page.write_text(run.text, "utf-8")
    assert not run.faults, f"{len(run.faults)} of {run.count}; SPINDLE_REFERENCE=write\n" + "\n".join(run.faults)
    assert run.count >= LEAST[page.name]


# The routes of the program are compared with the table by Tests/FlowTests/HTTP/ReferenceTests.swift too.


def test_each_path_of_the_table_of_endpoints_takes_the_methods_that_the_table_says(stage):
    rows = {path: row for path, row in listed().items() if not row.is_of_development}
    assert len(rows) > 120
    for path, row in rows.items():
        answer = stage.spindle.call("PATCH" if "PUT" in row.methods else "PUT", path.replace("{", "").replace("}", ""))
        allowed = set((answer.headers["Allow"] or "").split(", ")) - {"HEAD", "OPTIONS"}
        assert (answer.status, allowed) == (405, row.methods), path


def test_the_table_of_endpoints_has_all_of_spids_api(stage):
    entries = stage.spindle.good("GET", "/api/2/endpoints")["data"]
    for entry in entries:
        assert entry["httpMethods"].keys() == listed()[entry["url"]].methods, entry["url"]


def test_each_endpoint_of_the_reference_has_an_example():
    texts = [page.read_text("utf-8") for page in PAGES]
    calls = {call for text in texts for call in re.findall(r"```http\n([A-Z]+) (/[^\s?]*)", text)}
    calls |= {call for text in texts for call in re.findall(r"(?m)^\| `([A-Z]+) (/[^\s?`]*)[^|]*\| \d{3} \|", text)}
    missing = []
    for path, row in listed().items():
        if row.is_alias or row.is_of_development:
            continue
        form = re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)))
        shown = {method for method, called in calls if form.fullmatch(called)}
        # A form's address may have the page with the form elsewhere.
        needed = row.methods - {"GET"} if "POST" in row.methods else row.methods
        missing += [f"{method} {path}" for method in needed - shown]
    assert missing == []


def test_the_table_of_errors_has_every_error_code():
    enumeration = "enum Code: String"
    source = (REPOSITORY / "Sources/OAuth/Refusals/OAuthError.swift").read_text("utf-8").partition(enumeration)[2]
    codes = re.findall(r'case \w+ = "(\w+)"', source.partition("}")[0])
    assert len(codes) > 20
    table = (FOLDER / "README.md").read_text("utf-8").partition("\n## Errors\n")[2].partition("\n## ")[0]
    assert [code for code in codes if f"`{code}`" not in table] == []


def test_the_tables_of_administration_are_what_the_description_of_the_api_makes(stage):
    redocument = runpy.run_path(str(REPOSITORY / "Tests" / "redocument"))
    description = stage.spindle.good("GET", "/openapi.json")
    page = (FOLDER / "administration.md").read_text("utf-8")
    assert redocument["administration_page"](page, description) == page, "run Tests/redocument"


def test_the_tables_of_administration_have_every_member_that_can_be_set(stage):
    schemas = stage.spindle.good("GET", "/openapi.json")["components"]["schemas"]
    sent = [schema for name, schema in schemas.items() if re.match("New|.*Change$", name)]
    names = {name for schema in sent for name in schema["properties"]}
    assert len(names) > 100
    page = (FOLDER / "administration.md").read_text("utf-8")
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []
