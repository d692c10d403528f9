"""The log during an outage of the database."""

import re
from collections.abc import Iterator

import pytest

from harness.cluster import Cluster
from harness.load import Load
from harness.server import Server
from harness.spindle import Spindle
from harness.world import World

CLIENTS = 4
REFUSED = 300


@pytest.fixture
def database(cluster) -> Iterator[Cluster]:
    """A database that may be stopped, unlike the one that all tests share."""
    cluster = Cluster()
    yield cluster
    cluster.delete()


@pytest.fixture
def server(prepare, database) -> Server:
    server = prepare("postgresql")
    server.database = server.settings["SPINDLE_DATABASE"] = database.create_database()
    server.init()
    return server.start()


def test_an_outage_of_the_database_is_a_few_log_lines_with_counts(server, database):
    world = World.create(Spindle.of(server))
    assert world.spindle.client_credentials(world.backend).status == 200
    start = server.log.stat().st_size
    database.stop()

    def ask(connection):
        return world.spindle.client_credentials(world.backend, connection=connection)

    with Load(server.address.connect, ask, CLIENTS, keeps_connections=True) as load:
        load.wait_for(REFUSED)
    assert not load.tally.failures and set(load.tally.statuses) == {503}, load.tally
    assert server.get("/readyz").json["checks"] == {
        "database": "unavailable", "schema": "not checked", "key": "not checked", "disk": "not checked"}
    assert server.has_line("storage unavailable", "count=", start=start), server.log_tail()

    errors = [line for line in server.log.read_text()[start:].splitlines() if " error " in line]
    assert len(errors) < 40, "\n".join(errors)
    # The first line of each cause, and then how many there have been and since when.
    refusals = [line for line in errors if "storage unavailable" in line]
    assert "count=" not in refusals[0] and "request_id=" in refusals[0]
    counts = [int(count) for line in refusals for count in re.findall(r" count=(\d+) .* since=", line)]
    assert max(counts) > 1

