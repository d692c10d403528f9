"""Shared by `run` and `compare`: options, programs, a folder for the databases, and an end that is certain."""

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

import deployments
import load
import machine
import postgresql
import rounds
import scenarios
import servers

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STARTS = 5


def options(parser):
    """Reads the command line, after what the caller asked `parser` for."""
    names = [scenario.name for scenario in scenarios.all()]
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--rounds", type=int, default=5, help="runs of each, in turn (5)")
    parser.add_argument("--seconds", type=int, default=4, help="length of a run (4)")
    parser.add_argument("--connections", type=int, default=32, help="wrk's connections (32)")
    parser.add_argument("--only", action="append", choices=names, help="this one only; may be repeated")
    parser.add_argument("--postgresql", action="store_true", help="on a throw-away PostgreSQL, beside pgbench")
    parser.add_argument("--quick", action="store_true", help="two rounds of one second: does it work at all?")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = 2, 1
    if min(options.rounds, options.seconds, options.connections // load.THREADS) < 1:
        parser.error(f"rounds and seconds are at least 1, connections at least {load.THREADS}")
    return options


def measure(binaries, options):
    """Everything about `binaries`, by name, beside nginx."""
    chosen = [each for each in scenarios.all() if not options.only or each.name in options.only]
    runs = len(chosen) * (options.rounds + 1) * (1 + len(binaries))
    with workplace(300 + 3 * runs * (options.seconds + 2), "nginx-light", options=options) as (directory, stack):
        return _measure(binaries, options, chosen, directory, stack)


@contextlib.contextmanager
def workplace(seconds, *packages, options):
    """A folder for the databases, and a stack of what must be ended, after `seconds` at the latest."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("It took three times as long as it may: given up."))
    install("wrk", *packages, *(["postgresql"] if options.postgresql else []))
    signal.alarm(seconds)
    # Beside the sources and not in the system's folder for temporary files, which is often kept in memory.
    directory = pathlib.Path(tempfile.mkdtemp(prefix=".build-run-", dir=HERE))
    try:
        with contextlib.ExitStack() as stack:
            yield directory, stack
    finally:
        signal.alarm(0)
        shutil.rmtree(directory, ignore_errors=True)


def _measure(binaries, options, chosen, directory, stack):
    results = {
        **machine.describe(ROOT, directory),
        "rounds": options.rounds, "seconds": options.seconds, "connections": options.connections,
    }
    products = []
    for name, binary in binaries.items():
        server, admin = prepared(binary, directory, stack, options, name)
        if server.cluster:
            results["pgbench"] = postgresql.pgbench(server.cluster, options.connections, options.seconds)
        results[name] = {"ready_ms": round(statistics.median(server.time_to_start() for _ in range(STARTS)), 1)}
        stack.enter_context(server)
        results[name]["memory_idle_kib"] = server.resident_memory()
        products.append((server, deployments.Deployment(server.address, admin, options.connections)))
    nginx = stack.enter_context(servers.Nginx(directory))
    results["scenarios"] = rounds.measure(chosen, products, nginx, directory, options)
    for server, _ in products:
        results[server.name]["memory_after_load_kib"] = server.resident_memory()
    return results


def prepared(binary, directory, stack, options, name="spindle"):
    """A Spindle that does not run yet, and its admin client's id and secret."""
    cluster = postgresql.new_cluster() if options.postgresql else None
    if cluster:
        stack.callback(cluster.delete)
    server = servers.Spindle(binary, directory, name, cluster)
    return server, server.initialize()


def deployed(binary, directory, stack, options):
    """A Spindle that runs, and the deployment on it."""
    server, admin = prepared(binary, directory, stack, options)
    stack.enter_context(server)
    return server, deployments.Deployment(server.address, admin, options.connections)


def built():
    """The release executable of these sources, built now as deploy/ builds it."""
    command = ["swift", "build", "--configuration", "release", "--static-swift-stdlib"]
    print("Building spindle for release …", flush=True)
    subprocess.run([*command, "--product", "spindle"], cwd=ROOT, check=True)
    folder = subprocess.run([*command, "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True)
    return pathlib.Path(folder.stdout.strip()) / "spindle"


def install(*packages):
    done = subprocess.run([ROOT / "deploy" / "system-packages", *packages])
    if done.returncode != 0:
        sys.exit(os.EX_UNAVAILABLE)
