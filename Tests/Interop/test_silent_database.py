"""PostgreSQL falls silent: its connections stay open, and nothing more arrives."""

import threading
import time

import pytest

from harness.proxy import Proxy
from harness.server import Server, master_key
from harness.spindle import Spindle
from harness.world import World

# One request for each connection to the database, and some that find none free.
CROWD = 24


@pytest.fixture
def proxy(cluster):
    with Proxy(cluster.directory / ".s.PGSQL.5432") as proxy:
        yield proxy


@pytest.fixture
def server(prepare, cluster, proxy) -> Server:
    name = cluster.create_database().split("/")[3].split("?")[0]
    server = prepare("postgresql")
    server.database = f"postgresql://postgres@127.0.0.1:{proxy.port}/{name}?connect_timeout=2"
    server.settings["SPINDLE_DATABASE"] = server.database
    server.init()
    yield server.start()
    proxy.is_silent = False


@pytest.fixture
def world(server) -> World:
    return World.create(Spindle.of(server))


class Crowd:
    """Requests at the same time, each on its own connection."""

    def __init__(self, world: World, server: Server):
        self.answers, self.failures = [], []
        self.threads = [threading.Thread(target=self.ask, args=[world, server], daemon=True) for _ in range(CROWD)]
        for thread in self.threads:
            thread.start()

    def ask(self, world: World, server: Server) -> None:
        connection = server.address.connect(90)
        try:
            self.answers.append(world.spindle.client_credentials(world.backend, connection=connection))
        except OSError as failure:
            self.failures.append(failure)
        finally:
            connection.close()

    def told(self) -> list[tuple]:
        for thread in self.threads:
            thread.join(100)
        assert not self.failures and len(self.answers) == CROWD, self.failures
        return sorted({(answer.status, answer.error, answer.headers.get("Retry-After")) for answer in self.answers})


REFUSED = [(503, "temporarily_unavailable", "1")]


@pytest.mark.timeout(300)
def test_requests_and_readiness_are_refused_while_the_database_is_silent(server, world, proxy):
    proxy.is_silent = True
    crowd = Crowd(world, server)
    # No thread and no connection to the database is free, and yet it answers.
    assert server.get("/readyz", timeout=10).status == 503
    assert server.get("/healthz").status == 200
    assert crowd.told() == REFUSED
    assert server.has_logged("PostgreSQL did not answer in time")
    assert server.get("/readyz", timeout=10).status == 503
    assert Crowd(world, server).told() == REFUSED

    proxy.is_silent = False
    deadline = time.monotonic() + 60
    while not server.is_ready() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert world.spindle.client_credentials(world.backend).status == 200


@pytest.mark.timeout(300)
def test_a_silent_database_does_not_hold_a_terminated_server(server, world, proxy):
    proxy.is_silent = True
    crowd = Crowd(world, server)
    assert server.get("/readyz", timeout=10).status == 503
    assert server.stop() == 0
    assert crowd.told() == REFUSED


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_postgresql_database_of_another_encoding_is_refused(prepare, cluster, encoding):
    server = prepare("postgresql", {"SPINDLE_MASTER_KEY": master_key()})
    server.settings["SPINDLE_DATABASE"] = cluster.create_database(encoding)
    for command in ["init", "serve", "migrate"]:
        done = server.command(command)
        assert done.returncode == 78, done
        assert encoding in done.stderr and "createdb -E UTF8" in done.stderr, done
    doctor = server.command("doctor")
    assert doctor.returncode == 1 and encoding in doctor.stdout and "createdb -E UTF8" in doctor.stdout
