"""Each request that an SDK of SPiD's sends, to the letter, gets the answer that this SDK can read.

`sdks/<sdk>.json` has the client as it is registered, and the requests. In a request, harness/sdks.py fills in the
`{names}`. A browser in the state `page` opens the request, and `then` is what the user does there; `cookies` sends the
cookies of a browser in that state, by a script or a fetch. `times` repeats a request, `after` sends another one before
it. For an answer, `members` has for each path the JSON type that the SDK reads, "absent", {"most": N}, or the value
itself.

A request with `open` does not get this answer yet: the mark names the row of SPID_GAPS.md, or says that there is none.
The change that makes the request succeed removes the mark, because the test fails otherwise.

A request with `left_out` is refused on purpose: the mark says why, and `expect` is the refusal.
"""

import json
from pathlib import Path

import pytest

from harness.replay import Replay
from harness.sdks import FOLDER, Stage
from harness.spindle import Spindle


@pytest.fixture(scope="module")
def stage(launch, engine) -> Stage:
    server = launch(engine, {"SPINDLE_SMS": "file:outbox/"})
    return Stage(Spindle.of(server), server.directory / "outbox")


def contents(file: Path) -> dict:
    return json.loads(file.read_text("utf-8"))


def requests() -> list:
    """Every request of every file; an `open` one must fail, and for a broken promise, not for a broken test."""
    found: list = []
    for file in sorted(FOLDER.glob("*.json")):
        every = {sent["name"]: sent for sent in contents(file)["requests"]}
        for name, sent in every.items():
            failing = pytest.mark.xfail(strict=True, raises=AssertionError, reason=sent.get("open", ""))
            marks = [failing] if "open" in sent else []
            before = [every[sent["after"]]] if "after" in sent else []
            found.append(pytest.param(file.stem, [*before, sent], id=f"{file.stem}: {name}", marks=marks))
    return found


@pytest.mark.parametrize(("sdk", "sent"), requests())
def test_the_sdk_can_read_each_answer(stage, sdk, sent):
    for request in sent:
        Replay(stage, stage.client(sdk), request).run()


def test_the_recorded_requests_have_known_members_only():
    known = {
        "name", "method", "path", "query", "headers", "form", "multipart", "cookies", "page", "then", "times", "after",
        "expect", "open", "left_out",
    }
    for file in FOLDER.glob("*.json"):
        requests = contents(file)["requests"]
        assert len({sent["name"] for sent in requests}) == len(requests), f"{file}: a name is there twice"
        for sent in requests:
            odd = set(sent) - known | set(sent["expect"]) - {"status", "members", "headers", "says"}
            assert not odd, f"{file}: {sent['name']}: {odd}"
            assert ("left_out" in sent) <= (sent["expect"]["status"] >= 400), f"{file}: {sent['name']}: no refusal"
            assert sent.get("open", "row ").startswith(("row ", "Also: ", "Missing: ", "in no row: ")), sent["open"]
