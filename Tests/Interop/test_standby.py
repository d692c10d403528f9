"""A PostgreSQL server with a standby, both named in the address of the database."""

import time
from collections.abc import Callable, Iterator

import pytest

from harness.cluster import Cluster, Standby
from harness.server import Server
from harness.spindle import Spindle
from harness.world import World


@pytest.fixture
def primary(cluster) -> Iterator[Cluster]:
    """A server that may be stopped, unlike the one that all tests share."""
    primary = Cluster()
    yield primary
    primary.delete()


@pytest.fixture
def name(primary) -> str:
    return primary.create_database().split("/")[3].split("?")[0]


@pytest.fixture
def standby(primary, name) -> Iterator[Cluster]:
    standby = Standby(primary)
    yield standby
    standby.delete()


@pytest.fixture
def server(prepare, primary, standby, name) -> Server:
    server = prepare("postgresql")
    # The standby is named first: a client that takes the first one that answers reads from it, and can never write.
    server.database = f"postgresql://postgres@/{name}?host={standby.directory},{primary.directory}"
    server.settings["SPINDLE_DATABASE"] = server.database
    server.init()
    return server.start()


def until(happens: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not happens():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.timeout(300)
def test_a_server_without_its_primary_is_not_ready_and_writes_again_when_it_returns(server, primary):
    world = World.create(Spindle.of(server))

    def status() -> int:
        return world.spindle.client_credentials(world.backend).status

    assert status() == 200
    primary.stop()
    assert until(lambda: server.get("/readyz").status == 503), "a standby alone is not enough"
    # Each connection has to find out by itself.
    assert {status() for _ in range(40)} == {503}
    assert server.get("/readyz").status == 503
    primary.start()
    assert until(lambda: status() == 200), server.log_tail()
    assert until(lambda: server.get("/readyz").status == 200)
    assert {status() for _ in range(40)} == {200}
    assert server.stop() == 0


@pytest.mark.timeout(300)
def test_a_server_connected_to_a_standby_is_not_ready_and_moves_to_the_primary(
    server, primary, standby,
):
    """A name or a proxy leads to one of them, and only the server's answers tell which."""
    assert server.stop() == 0
    server.database += "&target_session_attrs=any"
    server.settings["SPINDLE_DATABASE"] = server.database
    standby.stop()
    server.start()
    world = World.create(Spindle.of(server))
    standby.start()
    primary.stop()

    def status() -> int:
        return world.spindle.client_credentials(world.backend).status

    assert until(lambda: server.get("/readyz").status == 503), "it can be read, and not written"
    assert {status() for _ in range(40)} == {503}
    assert server.has_logged("during recovery")
    primary.start()
    standby.stop()
    assert until(lambda: status() == 200), server.log_tail()
    assert until(lambda: server.get("/readyz").status == 200)
