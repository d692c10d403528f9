"""Servers for the tests: the real binary, on either engine, in temporary directories."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.cluster import Cluster, PostgreSQLMissing
from harness.server import Server, binary, master_key
from harness.spindle import Spindle
from harness.world import World

ENGINES = ["sqlite", "postgresql"]


def missing(what: str) -> None:
    """In CI a missing part is a failure, because a skipped test would go unnoticed there."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


def pytest_generate_tests(metafunc):
    """Runs a test with the argument `engine` on both engines."""
    if "engine" in metafunc.fixturenames:
        metafunc.parametrize("engine", ENGINES, scope="module")


@pytest.fixture(scope="session", autouse=True)
def the_binary_is_there() -> None:
    assert binary().exists(), f"{binary()} does not exist; build it, or name it in SPINDLE_BINARY"


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    try:
        cluster = Cluster()
    except PostgreSQLMissing as absence:
        missing(str(absence))
    yield cluster
    cluster.delete()


@pytest.fixture(scope="session")
def program() -> Callable[[str, str], str]:
    """Finds a program on this machine by its name and package."""

    def find(name: str, package: str) -> str:
        return shutil.which(name) or missing(f"{name} is not installed (apt-get install {package})")

    return find


@pytest.fixture(scope="module")
def prepare(request, tmp_path_factory) -> Iterator[Callable[..., Server]]:
    """Prepares servers without starting them. Servers that still run when the module ends are stopped."""
    made: list[Server] = []

    def prepare(engine: str = "sqlite", settings: dict[str, str] | None = None, wrapper=()) -> Server:
        directory: Path = tmp_path_factory.mktemp("spindle")
        settings = dict(settings or {})
        if engine == "postgresql":
            database = request.getfixturevalue("cluster").create_database()
            settings.setdefault("SPINDLE_MASTER_KEY", master_key())
        else:
            database = str(directory / "spindle.db")
        server = Server(directory, database, settings, wrapper)
        made.append(server)
        return server

    yield prepare
    for server in made:
        server.end()


@pytest.fixture(scope="module")
def launch(prepare) -> Callable[..., Server]:
    """Prepares, initialises and starts a server."""

    def launch(engine: str = "sqlite", settings: dict[str, str] | None = None, wrapper=()) -> Server:
        server = prepare(engine, settings, wrapper)
        server.init()
        return server.start()

    return launch


@pytest.fixture(scope="module")
def world(launch) -> World:
    """A populated server on SQLite that the tests of a module share."""
    return World.create(Spindle.of(launch()))
