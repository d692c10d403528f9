"""What is measured: each scenario has a script of wrk's, a plan for it, and one answer of the product to each path.

The ceiling gets the same requests and gives those answers, so that nothing differs but the server.
"""

import dataclasses
import json
import typing

import load
import people
from people import form

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclasses.dataclass
class Scenario:
    name: str
    script: str
    plan: typing.Callable  # of the deployment; made anew for each round
    answers: typing.Callable  # of the deployment: path -> body
    aim: float | None = None  # of the ceiling's requests, as the project set it itself
    counts_finished: bool = False  # the script says what counts: a pair, a rotation


def all():
    return [
        steady("client_credentials", "/oauth/token", client_credentials, aim=0.45),
        steady("introspect", "/oauth/introspect", introspections, aim=0.5, expect='"active":true'),
        steady("refresh", "/oauth/token", refreshes, aim=0.35),
        Scenario("refresh_rotating", "rotation.lua", rotation_plan, rotation_answers, counts_finished=True),
        Scenario("exchange_redeem", "pairs.lua", pairs_plan, pairs_answers, aim=0.15, counts_finished=True),
        steady("password", "/oauth/token", passwords),
    ]


def steady(name, path, bodies, aim=None, expect='"access_token":'):
    def plan(deployment):
        return {"path": path, "headers": FORM, "bodies": bodies(deployment)}

    def answers(deployment):
        answer = deployment.post(path, bodies(deployment)[0])
        if expect not in answer.replace(" ", ""):
            raise SystemExit(f"{name}: {expect} is not in {answer}")
        return {path: answer}

    return Scenario(name, "steady.lua", plan, answers, aim)


def client_credentials(deployment):
    return [form(grant_type="client_credentials", **deployment.backend)]


def introspections(deployment):
    return [form(token=answer["access_token"], **deployment.backend) for answer in deployment.app_tokens]


def refreshes(deployment):
    """A confidential client keeps its refresh token, so that the same request works for ever."""
    return [
        form(grant_type="refresh_token", refresh_token=answer["refresh_token"], **deployment.backend)
        for answer in deployment.backend_tokens
    ]


def passwords(deployment):
    return [form(**deployment.password_grant(deployment.backend, number)) for number in range(people.USERS)]


def rotation_plan(deployment):
    # Fresh chains each round: the end of a run cuts answers off. One to spare for each thread: wrk tries request() once.
    length = deployment.connections // load.THREADS + 2
    tokens = [answer["refresh_token"] for answer in deployment.sign_in(deployment.app, length * load.THREADS)]
    return {
        "path": "/oauth/token", "headers": FORM,
        "before": form(grant_type="refresh_token", **deployment.app) + "&refresh_token=",
        "chains": [tokens[thread::load.THREADS] for thread in range(load.THREADS)],
    }


def rotation_answers(deployment):
    old = deployment.sign_in(deployment.app, 1)[0]["refresh_token"]
    answer = deployment.post("/oauth/token", form(grant_type="refresh_token", refresh_token=old, **deployment.app))
    if json.loads(answer)["refresh_token"] == old:
        raise SystemExit("refresh_rotating: the refresh token of a public client did not change")
    return {"/oauth/token": answer}


def pairs_plan(deployment):
    redeem = form(grant_type="authorization_code", redirect_uri=people.BACKEND_ADDRESS, **deployment.backend)
    return {
        "headers": FORM,
        "tokens": [answer["access_token"] for answer in deployment.app_tokens],
        "exchange": {
            "path": "/oauth/exchange", "body": form(clientId=deployment.backend["client_id"], type="code"),
        },
        "redeem": {"path": "/oauth/token", "before": redeem + "&code="},
    }


def pairs_answers(deployment):
    plan = pairs_plan(deployment)
    bearer = {"Authorization": f"Bearer {plan['tokens'][0]}"}
    exchanged = deployment.post(plan["exchange"]["path"], plan["exchange"]["body"], FORM | bearer)
    redeemed = deployment.post(plan["redeem"]["path"], plan["redeem"]["before"] + json.loads(exchanged)["code"])
    return {plan["exchange"]["path"]: exchanged, plan["redeem"]["path"]: redeemed}
