"""Every route and every parameter that docs/api names, with values that no honest client sends: never a 5xx.

The walk is made from the document, so that a new route or parameter is walked without anybody's thinking of it; of
SPiD's API the server itself lists more (`/api/2/endpoints`).
"""

import json
import os
import random

import pytest

from harness.cast import Cast, Steady
from harness.documented import Documented, documented
from harness.legs import Leg, Requests, Walk, actors, plan
from harness.line import Line
from harness.spindle import Spindle

ENGINES = 2
PARTS = 6
# Of a whole run: all parts, on both engines.
LEAST = 20_000
SETTINGS = {"SPINDLE_TRUSTED_PROXIES": "127.0.0.0/8", "SPINDLE_BASIC_REALM": "Spindle", "SPINDLE_LOG_FORMAT": "json"}


def routes(spindle: Spindle) -> list[Documented]:
    """Those of the document that are there without --dev, and those of SPiD's API that the server lists."""
    found = {route.path: route for route in documented() if not route.is_of_development}
    assert len(found) > 80, "where are the routes of the document?"
    of_spid = found["/api/2/me"].names
    for entry in spindle.good("GET", "/api/2/endpoints")["data"]:
        own = [name for method in entry["httpMethods"].values() for name in method["required"] + method["optional"]]
        path = "/api/2/" + entry["path"].lstrip("/")
        found[path] = Documented(path, tuple(dict.fromkeys([*own, *of_spid])))
    return list(found.values())


@pytest.fixture(scope="module")
def server(launch, engine):
    return launch(engine, SETTINGS)


@pytest.fixture(scope="module")
def cast(server) -> Cast:
    return Cast(Steady.of(server))


@pytest.mark.parametrize("part", range(PARTS))
def test_no_extreme_value_gets_a_500(server, cast, engine, part):
    walk = Walk(cast, f"{engine} {part} {os.environ.get('SPINDLE_WALK', '')}")
    for number, leg in enumerate(plan(routes(cast.spindle))[part::PARTS]):
        walk.go(leg, part * 1000 + number)
    print(walk.sent, walk.statuses)
    assert not walk.bad, f"{len(walk.bad)} of {walk.sent}\n" + "\n".join(walk.bad[:40])
    assert walk.sent * PARTS * ENGINES >= LEAST
    # Otherwise the walk never reached the endpoints.
    assert walk.statuses[200] > walk.sent / 20 and walk.statuses[400] > walk.sent / 20, walk.statuses
    the_server_is_well(server, cast)


def the_server_is_well(server, cast: Cast) -> None:
    """The process that was started still runs and serves."""
    assert server.process.poll() is None
    spindle, world = cast.spindle, cast.world
    assert spindle.call("GET", "/readyz").status == 200
    assert spindle.client_credentials(world.backend).status == 200
    token = spindle.password(world.app, world.person, source="127.0.0.10")["access_token"]
    assert spindle.me(token).json["user_id"] == world.person.id
    # Every log line is a whole line, whatever a client sent, and none reports a fault of the server.
    for line in server.log.read_text("utf-8").splitlines():
        assert json.loads(line)["level"] in ("info", "warning"), line


def answers(cast: Cast, route: Documented) -> set[int]:
    """The answers of a path to its first actor, for any method."""
    found = set()
    for method in ("GET", "POST", "DELETE"):
        requests = Requests(cast, Leg(route.path, (), method, actors(route)[0]), random.Random(0))
        line = Line(cast.spindle.address)
        found.add(line.send(method.encode(), requests.target(), requests.identity, b"" if method == "POST" else None))
        line.close()
    return found


def test_every_documented_route_exists(cast):
    for route in routes(cast.spindle):
        assert answers(cast, route) - {404}, f"{route.path} is nowhere"


def test_every_documented_development_route_exists(prepare):
    server = prepare()
    server.init()
    cast = Cast(Steady.of(server.start("--dev")))
    found = [route for route in documented() if route.is_of_development]
    assert found
    walk = Walk(cast, "development")
    for route in found:
        assert answers(cast, route) - {404}, f"{route.path} is nowhere"
    for number, leg in enumerate(plan(found)):
        walk.go(leg, number)
    assert not walk.bad, "\n".join(walk.bad)
    assert server.process.poll() is None
