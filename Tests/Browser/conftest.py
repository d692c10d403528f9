"""One server and a few browsers for each worker; each test gets them without cookies or other state."""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness.server import Server, binary
from selenium.webdriver import Chrome

from stage.chromium import ChromiumMissing, Kind, start
from stage.eye import Eye, complaints
from stage.world import World
from stage.outbox import Outbox
from stage.sites import App, Attacker
from stage.window import Window

PLAIN = (Kind("en"), "wide")
NARROW = (Kind("no", scripts=False), "narrow")


def pytest_configure(config):
    config.addinivalue_line("markers", "every_way: also narrow, without scripts, and in another language")


def pytest_generate_tests(metafunc):
    """Runs the main tests twice: with everything a browser can do, and with as little as possible."""
    if "window" in metafunc.fixturenames:
        ways = [PLAIN, NARROW] if metafunc.definition.get_closest_marker("every_way") else [PLAIN]
        metafunc.parametrize("window", ways, indirect=True, ids=[f"{kind}-{width}" for kind, width in ways])


class Browsers:
    """Browser processes that are kept for the next test, by kind and by how many of the kind a test needs at once."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.drivers: dict[tuple[Kind, int], Chrome] = {}

    def take(self, kind: Kind, number: int) -> Chrome:
        """A browser without any state."""
        driver = self.drivers.get((kind, number)) or self._start(kind, number)
        # A failed test may have left another tab.
        first, *others = driver.window_handles
        for handle in others:
            driver.switch_to.window(handle)
            driver.close()
        driver.switch_to.window(first)
        driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        driver.get("about:blank")
        driver.get_log("browser")
        # Every test has its own address, so that none is throttled for what others tried.
        address = f"10.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(1, 255)}"
        driver.execute_cdp_cmd("Network.enable", {})
        driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {"X-Forwarded-For": address}})
        for file in self.downloads(kind, number).iterdir():
            file.unlink()
        return driver

    def downloads(self, kind: Kind, number: int) -> Path:
        return self.folder / f"downloads-{kind}-{number}"

    def end(self, driver: Chrome) -> None:
        self.drivers = {key: other for key, other in self.drivers.items() if other is not driver}
        driver.quit()

    def _start(self, kind: Kind, number: int) -> Chrome:
        self.downloads(kind, number).mkdir()
        self.drivers[kind, number] = start(kind, self.downloads(kind, number))
        return self.drivers[kind, number]


@pytest.fixture(scope="session", autouse=True)
def the_binary_is_there() -> None:
    assert binary().exists(), f"{binary()} does not exist; build it, or name it in SPINDLE_BINARY"


@pytest.fixture(scope="session")
def browsers(tmp_path_factory) -> Iterator[Browsers]:
    browsers = Browsers(tmp_path_factory.mktemp("browsers"))
    yield browsers
    for driver in list(browsers.drivers.values()):
        browsers.end(driver)


@pytest.fixture(scope="session")
def eye(tmp_path_factory) -> Eye:
    folder = tmp_path_factory.getbasetemp()
    # With xdist, each worker has its own folder inside that of the run.
    shared = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "seen"
    shared.mkdir(exist_ok=True)
    return Eye(shared)


@pytest.fixture(scope="session")
def app() -> Iterator[App]:
    app = App()
    yield app
    app.close()


@pytest.fixture(scope="session")
def attacker() -> Iterator[Attacker]:
    attacker = Attacker()
    yield attacker
    attacker.close()


@pytest.fixture(scope="session")
def build(tmp_path_factory, app) -> Iterator[Callable[..., World]]:
    """Creates a server with users, under a host name of this machine; `settings` are environment variables."""
    servers: list[Server] = []

    def build(host: str = "", **settings: str) -> World:
        directory = tmp_path_factory.mktemp("spindle")
        outbox = directory / "outbox"
        settings = {"SPINDLE_MAIL": f"file:{outbox}/", "SPINDLE_TRUSTED_PROXIES": "127.0.0.1/32"} | settings
        server = Server(directory, str(directory / "spindle.db"), settings)
        servers.append(server)
        if host:
            server.settings["SPINDLE_ISSUER"] = f"http://{host}:{server.address.port}"
        server.init()
        return World.build(server.start(), Outbox(outbox), app)

    yield build
    for server in servers:
        server.end()


@pytest.fixture(scope="session")
def world(build) -> World:
    return build()


@pytest.fixture
def another(browsers, world, eye) -> Iterator[Callable[..., Window]]:
    """Opens the browser of another user, or a second one of the same user."""
    windows: list[Window] = []

    def another(kind: Kind = PLAIN[0], width: str = PLAIN[1]) -> Window:
        number = sum(window.kind == kind for window in windows)
        try:
            driver = browsers.take(kind, number)
        except ChromiumMissing as absence:
            missing(str(absence))
        windows.append(Window(driver, kind, width, world.spindle.origin, eye))
        return windows[-1]

    yield another
    faults = [fault for window in windows for fault in window.faults + complaints(window.driver)]
    assert not faults, "\n".join(["faults of pages that were seen:", *dict.fromkeys(faults)])


@pytest.fixture
def window(request, another) -> Window:
    return another(*request.param)


def missing(what: str) -> None:
    """In CI a missing part is a failure, because a skipped test would go unnoticed there."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)
