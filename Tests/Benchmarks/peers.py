"""Spindle on SQLite beside Glewlwyd on SQLite, as it comes and tuned, asked for the same in turn.

Glewlwyd's access tokens are JWTs; so Spindle is asked for JWTs of the same algorithm too, besides opaque tokens. Each
answer counts only with what was asked for in it: a token, or that the token is active.
"""

import dataclasses
import json
import re
from statistics import median

import bench
import deployments
import glewlwyd
import load
import machine
import report
import scenarios
import servers
from deployments import form

OPAQUE, RS256, ES256 = "Spindle, opaque", "Spindle, RS256", "Spindle, ES256"
# Who is compared with whom: the tokens are of the same kind.
PAIRS = {RS256: glewlwyd.DEFAULTS, ES256: glewlwyd.BEST}
TOKEN, ACTIVE = r'"access_token"%s*:%s*"', r'"active"%s*:%s*true'  # patterns of Lua


@dataclasses.dataclass
class Peer:
    """A server, and what it is asked for: for each request a path and bodies."""

    name: str
    server: servers.Server
    asked: dict

    def plan(self, request):
        path, bodies, expect = self.asked[request]
        return {"method": "POST", "path": path, "headers": scenarios.FORM, "bodies": bodies, "expect": expect}

    def ask(self, request, index=0):
        """One answer, which must have in it what counts."""
        plan = self.plan(request)
        text = deployments.post(self.server.address, plan["path"], plan["bodies"][index], plan["headers"])
        if not re.search(plan["expect"].replace("%s", r"\s"), text):
            raise SystemExit(f"{self.name}, {request}: not what was asked for in {text}")
        return json.loads(text)


def measure(binary, options):
    if options.postgresql:
        raise SystemExit("--peers compares on SQLite.")
    connections = max(load.THREADS, options.connections // 4)
    runs = 4 * (len(PAIRS) * 2 + 1) * (options.rounds + 1)
    longest = 600 + 3 * runs * (options.seconds + 2)
    with bench.workplace(longest, "openssl", options=options) as (directory, stack):
        conditions = machine.describe(bench.ROOT, directory)
        files = glewlwyd.unpacked(directory)
        server, deployment = bench.deployed(binary, directory, stack, options)
        peers = ours(server, deployment)
        for name in PAIRS.values():
            peers.append(theirs(stack.enter_context(glewlwyd.Glewlwyd(name, files, directory))))
        rows = {}
        for request in peers[0].asked:
            for peer in peers:
                peer.ask(request)
            print(f"{request} ", end="", flush=True)
            rounds = [
                turn(number, request, peers, directory, connections, options.seconds if number else 1)
                for number in range(options.rounds + 1)]
            print()
            rows[request] = rounds[1:]  # the first one warms up
        return table(rows, [peer.name for peer in peers], conditions, connections, options)


def ours(server, deployment):
    metadata = {
        OPAQUE: {},
        RS256: {"access_token_format": "jwt", "id_token_signed_response_alg": "RS256"},
        ES256: {"access_token_format": "jwt", "id_token_signed_response_alg": "ES256"},
    }
    peers = []
    for name, members in metadata.items():
        other = deployment.with_backend(name, **members)
        is_jwt = other.backend_tokens[0]["access_token"].startswith("eyJ")
        if is_jwt != (name != OPAQUE):
            raise SystemExit(f"{name}: the access token is of the other kind")
        other.app_tokens = other.backend_tokens
        peers.append(Peer(name, server, {
            "client_credentials": ("/oauth/token", scenarios.own_tokens_by_form(other), TOKEN),
            "introspect": ("/oauth/introspect", scenarios.introspections(other), ACTIVE),
            "refresh": ("/oauth/token", scenarios.refreshes(other), TOKEN),
            "password": ("/oauth/token", scenarios.passwords(other), TOKEN),
        }))
    return peers


def theirs(server):
    server.deploy()
    path, client = "/api/oidc/token", glewlwyd.CLIENT
    peer = Peer(server.name, server, {
        "client_credentials": (path, [form(grant_type="client_credentials", scope=glewlwyd.SCOPE, **client)], TOKEN),
        "password": (path, [server.password_grant(number) for number in range(deployments.USERS)], TOKEN),
    })
    answers = [peer.ask("password", number) for number in range(deployments.USERS)]
    peer.asked["introspect"] = (
        "/api/oidc/introspect", [form(token=each["access_token"], **client) for each in answers], ACTIVE)
    peer.asked["refresh"] = (
        path, [form(grant_type="refresh_token", refresh_token=each["refresh_token"], **client) for each in answers],
        TOKEN)
    return peer


def turn(number, request, peers, directory, connections, seconds):
    """One run of each, by the peer's name; none is always the first."""
    first = number % len(peers)
    runs = {}
    for peer in peers[first:] + peers[:first]:
        peer.server.settle()
        runs[peer.name] = load.run(
            peer.server, "counted.lua", peer.plan(request), directory, connections, seconds)
    print(".", end="", flush=True)
    return runs


def table(rows, names, conditions, connections, options):
    lines = [
        "| a second, and CPU of one | " + " | ".join(names) + " | " + " | ".join(
            f"{mine.removeprefix('Spindle, ')}: × a second, CPU" for mine in PAIRS) + " |",
        "|---|" + "---:|" * (len(names) + len(PAIRS)),
    ]
    for request, rounds in rows.items():
        cells = [
            f"{median(report.per_second(each[name], True) for each in rounds):,.0f}, "
            f"{milliseconds(median(report.cpu_us(each[name], True) for each in rounds))}" for name in names]
        for mine, other in PAIRS.items():
            faster = median(report.per_second(each[mine], True) / report.per_second(each[other], True)
                            for each in rounds)
            cheaper = median(report.cpu_us(each[mine], True) / report.cpu_us(each[other], True) for each in rounds)
            cells.append(f"{faster:.1f}, {cheaper:.3f}")
        lines.append(f"| {request} | {' | '.join(cells)} |")
    wrong = sum(max(0, run["requests"] - run["finished"]) for rounds in rows.values() for each in rounds
                for run in each.values())
    trouble = f" {wrong:,} answers were others, and are not counted." if wrong else ""
    said = report.filled(
        "An answer counts with a token in it, or that the token is active. Glewlwyd tuned: a write-ahead log, no log "
        "lines, the client's secret compared instead of hashed, ES256. Passwords: Argon2id in Spindle, PBKDF2 in "
        f"Glewlwyd, which say nothing about each other. {connections} connections, medians of {options.rounds} rounds "
        f"of {options.seconds} s, of ratios within a round.{trouble} {report.storage(conditions, options)} Commit "
        f"{conditions['commit']}.")
    return "\n\n".join(["\n".join(lines), *said]) + "\n"


def milliseconds(microseconds):
    return f"{microseconds / 1000:.2f} ms" if microseconds >= 1000 else f"{microseconds:.1f} µs"
