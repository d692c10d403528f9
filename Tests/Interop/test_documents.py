"""Files that a script of the repository writes are what the script makes of their sources."""

import json
import re
import runpy
import sys

import pytest

from harness.server import REPOSITORY

DRAWINGS = REPOSITORY / "docs" / "drawings"
BENCHMARKS = REPOSITORY / "Tests" / "Benchmarks"


@pytest.fixture(scope="session", autouse=True)
def the_binary_is_there():
    """Not needed here: these tests read files."""


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
