"""The reference, docs/api: its examples get the answers that it shows, and its table has the routes that there are.

`SPINDLE_REFERENCE=write` writes the answers into the pages.
"""

import os

import pytest

from harness.documented import PAGES
from harness.pattern import Values
from harness.reference import Run
from harness.stage import Stage

WRITES = os.environ.get("SPINDLE_REFERENCE") == "write"
LEAST = {"oauth.md": 1}


@pytest.fixture(scope="module")
def stage(launch) -> Stage:
    return Stage(launch(settings=Stage.SETTINGS))


@pytest.mark.parametrize("page", sorted(page.name for page in PAGES))
def test_the_examples_of_a_page_get_the_answers_that_it_shows(stage, page):
    path = next(known for known in PAGES if known.name == page)
    run = Run(path, stage.spindle, Values(stage.values()), Stage.COMMON, WRITES).go()
    if WRITES:
        path.write_text(run.text, "utf-8")
    assert not run.faults, f"{len(run.faults)} of {run.count}; SPINDLE_REFERENCE=write\n" + "\n".join(run.faults)
    assert run.count >= LEAST.get(page, 0)
