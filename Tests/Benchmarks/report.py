"""Medians of the rounds, and the table of them."""

from statistics import median


def summary(scenario, rounds):
    """`rounds` are pairs: a run of the ceiling, a run of the product."""
    ceilings = [per_second(ceiling, ceiling["requests"] - ceiling["refused"]) for ceiling, _ in rounds]
    products = [
        per_second(run, run["finished"] if scenario.counts_finished else run["requests"] - run["refused"])
        for _, run in rounds
    ]
    ratio = median(product / ceiling for product, ceiling in zip(products, ceilings))
    return {
        "name": scenario.name,
        "per_second": round(median(products)),
        "p50_ms": round(median(run["p50"] for _, run in rounds) / 1000, 2),
        "p99_ms": round(median(run["p99"] for _, run in rounds) / 1000, 2),
        "ceiling_per_second": round(median(ceilings)),
        "ratio": round(ratio, 3),
        "aim": scenario.aim,
        "refused": sum(run["refused"] for _, run in rounds),
        "broken": sum(run["broken"] + run["starved"] for _, run in rounds),
        "rounds": [{"ceiling": ceiling, "spindle": run} for ceiling, run in rounds],
    }


def per_second(run, count):
    return count / (run["microseconds"] / 1_000_000)


def markdown(results):
    rows = [
        "| | a second | p50 | p99 | ceiling a second | of the ceiling | aim |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for each in results["scenarios"]:
        rows.append(
            f"| {each['name']}{trouble(each)} | {each['per_second']:,} | {each['p50_ms']:.2f} ms "
            f"| {each['p99_ms']:.2f} ms | {each['ceiling_per_second']:,} | {each['ratio']:.2f} "
            f"| {'' if each['aim'] is None else format(each['aim'], '.2f')} |")
    memory = [results[f"memory_after_{moment}_kib"] / 1024 for moment in ("start", "load")]
    return "\n".join([
        *rows,
        "",
        f"Ready {results['ready_ms']:.0f} ms after the start; resident {memory[0]:.0f} MiB then, "
        f"{memory[1]:.0f} MiB after the load.",
        "",
        f"{results['connections']} connections, medians of {results['rounds']} rounds of {results['seconds']} s, "
        f"each a run of the ceiling and one of Spindle. SQLite with a write-ahead log and synchronous=FULL, on "
        f"{results['file_system']} (fdatasync {results['fdatasync_ms']:.2f} ms). {results['cores']} cores "
        f"({results['processor']}), which the load generator shares. Commit {results['commit']}, {results['when']}.",
        "",
        "The ceiling is the same framework answering the same requests with constants of the same size. "
        "exchange_redeem counts pairs, against the ceiling's single requests; its times are those of one request. "
        "password is bound by Argon2id, on purpose.",
        "",
    ])


def trouble(each):
    """Said beside the name, so that no number stands for answers that were refusals."""
    said = [f"{each[kind]:,} {kind}" for kind in ("refused", "broken") if each[kind]]
    return f" ({', '.join(said)})" if said else ""
