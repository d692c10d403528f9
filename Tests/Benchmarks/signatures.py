"""What a signed token costs beside the same answer without one, in multiples of OpenSSL's signature alone.

Three requests, each of a client that gets no signed token and of one for each algorithm: a redeemed code with an ID
token and without, a refresh with an ID token and without, client_credentials with a JWT access token and with an opaque
one. The difference has the claims, their JSON and a longer answer in it, besides the signature.
"""

import concurrent.futures
import dataclasses
import os
import re
import subprocess
from statistics import median

import bench
import deployments
import load
import machine
import report
import scenarios

CORES = len(os.sched_getaffinity(0))
OPENSSL = {"RS256": ("rsa2048", r"rsa +2048 bits"), "ES256": ("ecdsap256", r"256 bits ecdsa \(nistp256\)")}
# Claims, base64 and a longer answer take half as long as an ES256 signature.
AIMS = {"RS256": 1.15, "ES256": 1.6}
OPENID = {"scope": "openid " + deployments.SCOPE}


@dataclasses.dataclass
class Kind:
    """One request, of clients that differ in the signature only."""

    name: str
    scenario: scenarios.Scenario
    signed: dict  # what the client of a signed token has, besides the algorithm
    expect: str  # in the answer, if a signature is made; and not in it, if none is


KINDS = [
    Kind("exchange and redemption, ID token",
         scenarios.counted("redeem", "pairs.lua", scenarios.pairs_plan), OPENID, '"id_token"'),
    Kind("refresh, ID token",
         scenarios.steady("refresh", "/oauth/token", scenarios.refreshes), OPENID, '"id_token"'),
    Kind("client_credentials, JWT access token",
         scenarios.steady("own", "/oauth/token", scenarios.own_tokens_by_form), {"access_token_format": "jwt"}, '"eyJ'),
]


def measure(binary, options):
    runs = (1 + len(OPENSSL)) * len(KINDS) + 1
    longest = 120 + 3 * runs * (options.rounds + 1) * (options.seconds + 3)
    with bench.workplace(longest, "openssl", options=options) as (directory, stack):
        conditions = machine.describe(bench.ROOT, directory)
        server, deployment = bench.deployed(binary, directory, stack, options)
        clients = prepared(deployment)
        rounds = [turn(number, server, clients, directory, options) for number in range(options.rounds + 1)]
        print()
        # The first round warms up and is not counted.
        return table(rounds[1:], conditions, options)


def prepared(deployment):
    """The deployment as each request's client sees it, by the request and the algorithm or None."""
    app = deployment.client(
        deployment.merchant, "app with openid", grant_types=["password", "refresh_token"],
        token_endpoint_auth_method="none", redirect_uris=["https://app.example/callback"], **OPENID)
    bearers = deployment.sign_in(app, deployment.connections, OPENID["scope"])
    clients = {}
    for kind in KINDS:
        for algorithm in (None, *OPENSSL):
            signed = kind.signed | {"id_token_signed_response_alg": algorithm} if algorithm else {}
            other = clients[kind.name, algorithm] = deployment.with_backend(f"backend {algorithm}", **signed)
            other.app_tokens = bearers
            check(kind, algorithm, other)
    return clients


def check(kind, algorithm, deployment):
    """Ends the benchmark unless the answer has a signature where one is measured, and only there."""
    plan = kind.scenario.plan(deployment)
    if "redeem" in plan:
        bearer = plan["headers"] | {"Authorization": "Bearer " + plan["tokens"][0]}
        exchanged = deployment.post(plan["exchange"]["path"], plan["exchange"]["body"], bearer)
        code = re.search(r'"code" *: *"([^"]+)"', exchanged)[1]
        answer = deployment.post(plan["redeem"]["path"], plan["redeem"]["before"] + code, plan["headers"])
    else:
        answer = deployment.post(plan["path"], plan["bodies"][0], plan["headers"])
    if (kind.expect in answer) != bool(algorithm):
        raise SystemExit(f"{kind.name} {algorithm}: {kind.expect} is {'not ' if algorithm else ''}in {answer}")


def turn(number, server, clients, directory, options):
    """One run of each: the signatures of OpenSSL by the algorithm, Spindle's requests by the kind and the algorithm."""
    seconds = options.seconds if number else 1
    asked = list(clients)
    first = number * 4 % len(asked)  # none is always the first
    runs = openssl()
    for kind, algorithm in asked[first:] + asked[:first]:
        scenario = next(each.scenario for each in KINDS if each.name == kind)
        plan = scenario.plan(clients[kind, algorithm])
        server.settle()
        run = load.run(server, scenario.script, plan, directory, options.connections, seconds)
        runs[kind, algorithm] = run | {"cpu_us": report.cpu_us(run, scenario.counts_finished)}
    print(".", end="", flush=True)
    return runs


def openssl():
    """The microseconds of CPU that one signature takes by each algorithm, on all cores at once as under load.

    Not with -multi, which counts by the clock; alone, openssl counts the CPU.
    """
    names = [name for name, _ in OPENSSL.values()]

    def speed(_):
        command = ["openssl", "speed", "-seconds", "1", *names]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout

    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        printed = list(pool.map(speed, range(CORES)))
    return {
        algorithm: median(1_000_000 / float(re.search(line + r" +\S+s +\S+s +([0-9.]+)", each)[1]) for each in printed)
        for algorithm, (_, line) in OPENSSL.items()
    }


def table(rounds, conditions, options):
    rows = [
        "| | without, CPU | "
        + " | ".join(f"{algorithm} | more, × OpenSSL's (aim {AIMS[algorithm]})" for algorithm in OPENSSL) + " |",
        "|---|---:|" + "---:|---:|" * len(OPENSSL),
    ]
    for kind in KINDS:
        cells = [f"{median(each[kind.name, None]['cpu_us'] for each in rounds):.1f} µs"]
        for algorithm in OPENSSL:
            cells.append(f"{median(each[kind.name, algorithm]['cpu_us'] for each in rounds):.1f} µs")
            cells.append(format(median(
                (each[kind.name, algorithm]["cpu_us"] - each[kind.name, None]["cpu_us"]) / each[algorithm]
                for each in rounds), ".2f"))
        rows.append(f"| {kind.name} | {' | '.join(cells)} |")
    alone = " and ".join(
        f"{median(each[algorithm] for each in rounds):.1f} µs for {algorithm}" for algorithm in OPENSSL)
    runs = [run for each in rounds for run in each.values() if isinstance(run, dict)]
    refused = sum(run["refused"] + run["broken"] for run in runs)
    trouble = f" {refused:,} requests were refused or broken." if refused else ""
    said = report.filled(
        f"OpenSSL's signature alone, by openssl speed on all cores in the same rounds: {alone} of CPU. "
        f"{options.connections} connections, medians of {options.rounds} rounds of {options.seconds} s, of ratios "
        f"within a round.{trouble} {report.storage(conditions, options)} Commit {conditions['commit']}.")
    return "\n\n".join(["\n".join(rows), *said]) + "\n"
