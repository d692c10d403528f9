"""Sign-ins with a password beside Argon2 alone, and what they do to other requests.

A sign-in costs what the password hash costs, on purpose; everything else about it should not be seen. And while all
cores hash, a request that needs no hash should hardly wait for them.
"""

import concurrent.futures
import ctypes
import os
import threading
import time
from statistics import median

import bench
import load
import machine
import report
import scenarios

MEMORY, ITERATIONS, PARALLELISM = 19456, 2, 1  # PasswordHashParameters.standard
CORES = len(os.sched_getaffinity(0))
SIGN_INS = scenarios.steady("password", "/oauth/token", scenarios.passwords)
OTHERS = scenarios.steady("client_credentials", "/oauth/token", scenarios.own_tokens_by_form)


def measure(binary, options):
    runs = 4 * (options.rounds + 1)
    with bench.workplace(120 + 3 * runs * (options.seconds + 4), "libargon2-1", options=options) as (directory, stack):
        conditions = machine.describe(bench.ROOT, directory)
        product = bench.deployed(binary, directory, stack, options)
        for scenario in (SIGN_INS, OTHERS):
            scenario.check(product[1])
        (directory / "beside").mkdir()
        rounds = [turn(number, product, directory, options) for number in range(options.rounds + 1)]
        print()
        # The first round warms up and is not counted.
        return table(rounds[1:], conditions, options)


def turn(number, product, directory, options):
    """One run of each by its name; none is always the first."""
    seconds = options.seconds if number else 1
    asked = {
        "argon2": lambda: argon2_alone(seconds),
        "sign_ins": lambda: run(product, SIGN_INS, directory, options.connections, seconds),
        "without": lambda: run(product, OTHERS, directory, options.connections, seconds),
        "during": lambda: during_sign_ins(product, directory, options, seconds),
    }
    names = list(asked)
    runs = {}
    for name in names[number % 4:] + names[:number % 4]:
        product[0].settle()
        runs[name] = asked[name]()
    print(".", end="", flush=True)
    return runs


def run(product, scenario, directory, connections, seconds):
    server, deployment = product
    return load.run(server, scenario.script, scenario.plan(deployment), directory, connections, seconds)


def during_sign_ins(product, directory, options, seconds):
    """The others' run, with sign-ins from a second before it to a second after it."""
    # Enough that no hashing thread ever waits for the next one.
    connections = max(load.THREADS, 4 * CORES)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        beside = pool.submit(run, product, SIGN_INS, directory / "beside", connections, seconds + 2)
        time.sleep(1)
        others = run(product, OTHERS, directory, options.connections, seconds)
        return others | {"sign_ins": beside.result()}


def argon2_alone(seconds):
    """The hashes a second of all cores, and the processor time of one: libargon2 in a loop, a thread a core."""
    keep_freed_memory()
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        before = time.process_time()
        threads = [pool.submit(hash_for, seconds) for _ in range(CORES)]
        hashes, rates = zip(*[thread.result() for thread in threads])
        return {"per_second": sum(rates), "cpu_us": (time.process_time() - before) * 1_000_000 / sum(hashes)}


def hash_for(seconds):
    """How many hashes one thread makes, and how many a second. ctypes lets the other threads run meanwhile."""
    # The same low priority as Spindle's hashing threads: if others use the machine, both lose the same.
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
    library = ctypes.CDLL("libargon2.so.1")
    password, salt, digest = b"correct horse battery staple", os.urandom(16), ctypes.create_string_buffer(32)
    begun, hashes = time.monotonic(), 0
    while (elapsed := time.monotonic() - begun) < seconds:
        failed = library.argon2id_hash_raw(
            ctypes.c_uint32(ITERATIONS), ctypes.c_uint32(MEMORY), ctypes.c_uint32(PARALLELISM),
            password, ctypes.c_size_t(len(password)), salt, ctypes.c_size_t(len(salt)), digest, ctypes.c_size_t(32))
        if failed:
            raise SystemExit(f"libargon2 refused to hash: {failed}")
        hashes += 1
    return hashes, hashes / elapsed


def keep_freed_memory():
    """Spindle keeps its work space between two hashes; Argon2 alone must not be slower for lack of it."""
    trim_threshold, mmap_threshold = -1, -3  # malloc.h
    library = ctypes.CDLL(None)
    library.mallopt(mmap_threshold, 32 * 1024 * 1024)
    library.mallopt(trim_threshold, 64 * 1024 * 1024)


def table(rounds, conditions, options):
    def middle(value):
        return median(value(each) for each in rounds)

    def p99(name):
        return middle(lambda each: each[name]["p99"]) / 1000

    runs = [run for each in rounds for run in (
        each["sign_ins"], each["without"], each["during"], each["during"]["sign_ins"])]
    refused = sum(run["refused"] + run["broken"] for run in runs)
    rows = [
        "| | | aim |",
        "|---|---:|---:|",
        f"| Argon2 alone | {middle(lambda each: each['argon2']['per_second']):.1f} a second, "
        f"{middle(lambda each: each['argon2']['cpu_us']) / 1000:.2f} ms of CPU | |",
        f"| sign-ins | {middle(lambda each: report.per_second(each['sign_ins'])):.1f} a second, "
        f"{middle(lambda each: report.cpu_us(each['sign_ins'])) / 1000:.2f} ms of CPU | |",
        "| CPU of a sign-in in multiples of a hash's | "
        f"{middle(lambda each: report.cpu_us(each['sign_ins']) / each['argon2']['cpu_us']):.3f} | |",
        "| sign-ins in parts of Argon2's rate | "
        f"{middle(lambda each: report.per_second(each['sign_ins']) / each['argon2']['per_second']):.3f} | ≥ 0.95 |",
        f"| p99 of client_credentials | {p99('without'):.2f} ms, "
        f"{middle(lambda each: report.per_second(each['without'])):,.0f} a second | |",
        f"| while sign-ins run | {p99('during'):.2f} ms, "
        f"{middle(lambda each: report.per_second(each['during'])):,.0f} a second beside "
        f"{middle(lambda each: report.per_second(each['during']['sign_ins'])):.1f} sign-ins | |",
        "| in multiples of that without | "
        f"{middle(lambda each: each['during']['p99'] / each['without']['p99']):.2f} | ≤ 3 |",
    ]
    trouble = f" {refused:,} requests were refused or broken." if refused else ""
    said = report.filled(
        f"Argon2id with {MEMORY} KiB, {ITERATIONS} iterations, parallelism {PARALLELISM}; alone it is libargon2 in "
        f"{CORES} threads. {options.connections} connections; the sign-ins beside other requests have "
        f"{max(load.THREADS, 4 * CORES)} of their own. Medians of {options.rounds} rounds of {options.seconds} s, of "
        f"ratios within a round.{trouble} {report.storage(conditions, options)} Commit {conditions['commit']}.")
    return "\n\n".join(["\n".join(rows), *said]) + "\n"
