"""The documents: what they link to, how long their sentences are, and that made files are what their sources make."""

import json
import re
import runpy
import sys

import pytest

from harness.pages import Page, pages
from harness.server import REPOSITORY

DRAWINGS = REPOSITORY / "docs" / "drawings"
BENCHMARKS = REPOSITORY / "Tests" / "Benchmarks"


@pytest.fixture(scope="session", autouse=True)
def the_binary_is_there():
    """Not needed here: these tests read files."""


# Pages for those who change the code or check its promises. Their subjects are the code's, and so is the length of
# their sentences.
FOR_MAINTAINERS = ("docs/decisions/", "docs/security/", "docs/architecture.md")
LONGEST = 40
# Words that leave open who acts, or for how long.
RIDDLES = re.findall(r'"([^"]+)"', re.search(
    r"static let riddles = \[([^\]]*)\]",
    (REPOSITORY / "Tests/ArchitectureTests/StyleTests.swift").read_text("utf-8"))[1])

PAGES = pages()
READ_BY_USERS = [page for page in PAGES if not page.path.startswith(FOR_MAINTAINERS)]


@pytest.mark.parametrize("page", READ_BY_USERS, ids=str)
def test_no_sentence_that_users_read_has_more_than_40_words(page: Page):
    long = [sentence for sentence in page.sentences() if words(sentence) > LONGEST]
    assert long == [], "\n".join(f"{words(sentence)} words: {sentence}" for sentence in long)


@pytest.mark.parametrize("page", READ_BY_USERS, ids=str)
def test_no_sentence_that_users_read_leaves_open_who_acts_or_for_how_long(page: Page):
    said = [re.sub("`[^`]*`", "", sentence) for sentence in page.sentences()]
    assert RIDDLES
    found = [sentence for sentence in said for word in RIDDLES if re.search(rf"\b{word}\b", sentence, re.IGNORECASE)]
    assert found == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_leads_to_a_file_and_a_heading_that_are_there(page: Page):
    headings = {other.path: other.headings() for other in PAGES}
    for path, heading in page.links():
        assert (REPOSITORY / path).exists(), f"{page} links to {path}"
        assert not heading or heading in headings.get(path, {heading}), f"{page} links to {path}#{heading}"


def test_every_page_of_docs_is_reached_by_links_from_the_index():
    linked = {page.path: {path for path, _ in page.links()} for page in PAGES}
    reached, waiting = set(), {"docs/README.md"}
    while waiting:
        path = waiting.pop()
        reached.add(path)
        waiting |= (linked[path] & linked.keys()) - reached
    assert [path for path in linked if path.startswith("docs/") and path not in reached] == []


def test_llms_txt_says_what_the_index_of_documents_links_to():
    redocument = runpy.run_path(str(REPOSITORY / "Tests" / "redocument"))
    assert (REPOSITORY / "llms.txt").read_text("utf-8") == redocument["for_programs"](), "run Tests/redocument"


def test_the_page_of_events_lists_every_type_once_and_no_other():
    made = re.compile(r'\b(?:record|recordChange|writing|note|init)\(\s*"([a-z_]+\.[a-z_]+)"')
    sources = "\n".join(file.read_text("utf-8") for file in (REPOSITORY / "Sources").rglob("*.swift"))
    types = set(made.findall(sources))
    assert len(types) > 40, "where are the events?"
    table = (REPOSITORY / "docs/operating/events.md").read_text("utf-8").partition("\n## Types\n")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert sorted(name for row in rows for name in re.findall("`([^`]+)`", row.split("|")[1])) == sorted(types)


def words(sentence: str) -> int:
    return sum(any(letter.isalnum() for letter in word) for word in sentence.split())


@pytest.fixture(scope="module")
def report():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import report
    finally:
        sys.path.remove(str(BENCHMARKS))
    return report


@pytest.mark.parametrize("name", sorted(path.stem for path in DRAWINGS.glob("*.txt")))
def test_a_drawing_is_what_its_text_makes(name):
    draw = runpy.run_path(str(DRAWINGS / "draw"))
    drawn = draw["svg"](draw["read"]((DRAWINGS / f"{name}.txt").read_text("utf-8")))
    assert (DRAWINGS / f"{name}.svg").read_text("utf-8") == drawn, "run docs/drawings/draw"


def test_each_drawing_has_its_text():
    assert {path.stem for path in DRAWINGS.glob("*.svg")} == {path.stem for path in DRAWINGS.glob("*.txt")}


@pytest.mark.parametrize("name", ["latest", "postgresql"])
def test_a_table_of_measurements_is_what_its_figures_make(report, name):
    kept = BENCHMARKS / "results"
    figures = json.loads((kept / f"{name}.json").read_text("utf-8"))
    assert (kept / f"{name}.md").read_text("utf-8") == report.markdown(figures)


@pytest.mark.parametrize("name", ["latest", "postgresql"])
def test_only_a_figure_that_misses_its_aim_is_marked(report, name):
    """Compares each figure with the aim beside it, as a reader would."""
    figures = json.loads((BENCHMARKS / "results" / f"{name}.json").read_text("utf-8"))
    table = report.markdown(figures)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| ")]
    for scenario, _, rate, least, _, _, _, cpu, most in rows[1:]:
        assert ("missed" in rate) == (least != "" and number(rate) < float(least)), scenario
        assert ("missed" in cpu) == (most != "" and number(cpu) > float(most)), scenario
    once = re.sub(r"\s+", " ", table)
    whole = re.findall(r"(\d+) (?:ms|MiB) [a-z ]+\(aim (\d+)(, \*\*missed\*\*)?\)", once)
    assert len(whole) == 3, once
    for value, aim, missed in whole:
        assert bool(missed) == (int(value) > int(aim)), once


def number(cell: str) -> float:
    return float(re.sub(r"[^\d.]", "", cell))


ROW = "| Where? | `Sources/A.swift:{}` | `let first = 1` |\n"


@pytest.fixture
def renumber(tmp_path):
    """Tests/renumber in a repository with one page."""
    (tmp_path / "Sources").mkdir()
    (tmp_path / "page.md").write_text(ROW.format(1))
    program = runpy.run_path(str(REPOSITORY / "Tests" / "renumber"))
    program["renumber"].__globals__["ROOT"] = tmp_path
    return lambda: (program["renumber"]("page.md"), (tmp_path / "page.md").read_text())


def test_renumber_writes_the_line_of_quoted_code(renumber, tmp_path):
    (tmp_path / "Sources/A.swift").write_text("import B\n\nlet first = 1\n")
    assert renumber() == ([], ROW.format(3))


def test_renumber_finds_code_that_moved_to_another_file(renumber, tmp_path):
    (tmp_path / "Sources/A.swift").write_text("import B\n")
    (tmp_path / "Sources/B.swift").write_text("\nlet first = 1\n")
    assert renumber() == ([], ROW.format(2).replace("A.swift", "B.swift"))


@pytest.mark.parametrize("text", ["", "import B\nlet first = 1\nlet first = 1\n"])
def test_renumber_refuses_code_that_is_nowhere_or_in_several_places(renumber, tmp_path, text):
    (tmp_path / "Sources/A.swift").write_text(text)
    faults, page = renumber()
    assert len(faults) == 1 and page == ROW.format(1)
