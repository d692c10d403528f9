"""/openapi.json: a valid document, whose operations answer as it says."""

import openapi_spec_validator
import pytest

from harness.desk import Desk
from harness.schema import filled, operations, tried
from harness.server import Server
from harness.spindle import Spindle


@pytest.fixture(scope="module")
def server(launch) -> Server:
    return launch()


@pytest.fixture(scope="module")
def spindle(server) -> Spindle:
    """With one document of each kind at least, whose ids the requests use."""
    return filled(server)


@pytest.fixture(scope="module")
def document(spindle) -> dict:
    return spindle.good("GET", "/openapi.json")


def test_the_description_of_the_api_is_valid_openapi_3_1(document):
    assert document["openapi"].startswith("3.1.")
    openapi_spec_validator.validate(document, cls=openapi_spec_validator.OpenAPIV31SpecValidator)


def test_every_operation_has_an_id_a_summary_and_answers(document):
    found = operations(document)
    ids = [operation.get("operationId") for operation in found.values()]
    assert len(found) > 50 and all(ids) and len(set(ids)) == len(ids)
    for name, operation in found.items():
        assert operation.get("summary"), f"{name} has no summary"
        assert any(status[0] in "23" for status in operation["responses"]), f"{name} never succeeds"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("scope", ["admin", "admin:support"])
def test_requests_made_from_the_description_get_only_answers_that_it_declares(server, spindle, tmp_path, scope):
    token = spindle.admin_token() if scope == "admin" else Desk.of(server).token
    outcome = tried(
        spindle, token, tmp_path, "--phases", "examples,coverage,fuzzing,stateful", "--max-examples", "3",
        "--seed", "47", seconds=500)
    assert outcome.is_clean and outcome.count > 1000, outcome.printed[-20_000:]
