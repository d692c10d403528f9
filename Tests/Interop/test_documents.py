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
