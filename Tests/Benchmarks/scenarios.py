"""What is measured: each scenario has a script of wrk's and a plan for it."""

import base64
import dataclasses
import json
import typing
import urllib.parse

import deployments
import load
from deployments import form

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclasses.dataclass
class Scenario:
    name: str
    script: str
    plan: typing.Callable  # of the deployment; made anew for each round
    check: typing.Callable = lambda deployment: None  # of the deployment: what is measured is what it says it is
    aim: float | None = None  # CPU a request in multiples of nginx's, at most, as the project set it itself
    speed_aim: float | None = None  # requests a second in parts of nginx's, at least
    counts_finished: bool = False  # the script says what counts: a pair, a rotation


def all():
    return [
        aimed(CONSTANT, 1.5, 0.75),
        aimed(steady("client_credentials_basic", "/oauth/token", own_tokens, headers=basic), 5, 0.28),
        aimed(steady("client_credentials_form", "/oauth/token", own_tokens_by_form), 5, 0.28),
        aimed(steady("introspect", "/oauth/introspect", introspections, expect='"active":true'), 3, 0.42),
        aimed(steady("refresh", "/oauth/token", refreshes), 6.5, 0.20),
        aimed(counted("refresh_rotating", "rotation.lua", rotation_plan, rotation_check), 9, 0.15),
        aimed(counted("exchange_redeem", "pairs.lua", pairs_plan), 16, 0.09),
        steady("password", "/oauth/token", passwords),
    ]


def aimed(scenario, cpu, speed):
    return dataclasses.replace(scenario, aim=cpu, speed_aim=speed)


def steady(name, path, bodies, headers=lambda deployment: {}, expect='"access_token":'):
    def plan(deployment):
        return {
            "method": "POST", "path": path, "headers": FORM | headers(deployment), "bodies": bodies(deployment),
        }

    def check(deployment):
        asked = plan(deployment)
        answer = deployment.post(path, asked["bodies"][0], asked["headers"])
        if expect not in answer.replace(" ", ""):
            raise SystemExit(f"{name}: {expect} is not in {answer}")

    return Scenario(name, "steady.lua", plan, check)


def counted(*parts):
    return Scenario(*parts, counts_finished=True)


# Requests of nginx beside every scenario, and of the product in its own.
CONSTANT = Scenario(
    "healthz", "steady.lua", lambda _: {"method": "GET", "path": "/healthz", "headers": {}, "bodies": [""]})


def own_tokens(_):
    return [form(grant_type="client_credentials")]


def basic(deployment):
    pair = ":".join(urllib.parse.quote_plus(deployment.backend[part]) for part in ("client_id", "client_secret"))
    return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}


def own_tokens_by_form(deployment):
    return [form(grant_type="client_credentials", **deployment.backend)]


def introspections(deployment):
    return [form(token=answer["access_token"], **deployment.backend) for answer in deployment.app_tokens]


def refreshes(deployment):
    """A confidential client keeps its refresh token, so that the same request always works."""
    return [
        form(grant_type="refresh_token", refresh_token=answer["refresh_token"], **deployment.backend)
        for answer in deployment.backend_tokens
    ]


def passwords(deployment):
    return [form(**deployment.password_grant(deployment.backend, number)) for number in range(deployments.USERS)]


def rotation_plan(deployment):
    # Fresh chains each round: the end of a run cuts answers off. One spare chain for each thread: wrk calls request()
    # once to try it.
    length = deployment.connections // load.THREADS + 2
    tokens = [answer["refresh_token"] for answer in deployment.sign_in(deployment.app, length * load.THREADS)]
    return {
        "path": "/oauth/token", "headers": FORM,
        "before": form(grant_type="refresh_token", **deployment.app) + "&refresh_token=",
        "chains": [tokens[thread::load.THREADS] for thread in range(load.THREADS)],
    }


def rotation_check(deployment):
    old = deployment.sign_in(deployment.app, 1)[0]["refresh_token"]
    answer = deployment.post("/oauth/token", form(grant_type="refresh_token", refresh_token=old, **deployment.app))
    if json.loads(answer)["refresh_token"] == old:
        raise SystemExit("refresh_rotating: the refresh token of a public client did not change")


def pairs_plan(deployment):
    redeem = form(grant_type="authorization_code", redirect_uri=deployments.BACKEND_ADDRESS, **deployment.backend)
    return {
        "headers": FORM,
        "tokens": [answer["access_token"] for answer in deployment.app_tokens],
        "exchange": {
            "path": "/oauth/exchange", "body": form(clientId=deployment.backend["client_id"], type="code"),
        },
        "redeem": {"path": "/oauth/token", "before": redeem + "&code="},
    }
