"""Medians of the rounds, and the tables of them."""

import operator
import textwrap
from statistics import median

WIDTH = 120
# The most that the process may take, by the project's own aim: milliseconds, and MiB before and after the load.
READY_AIM, IDLE_AIM, LOADED_AIM = 50, 30, 60


def summary(scenario, rounds, products):
    """`rounds` are runs by the server's name: nginx's, and one of each of `products`."""
    return {
        "name": scenario.name,
        "aim": scenario.aim,
        "speed_aim": scenario.speed_aim,
        "nginx": {
            "per_second": round(median(per_second(each["nginx"]) for each in rounds)),
            "cpu_us": round(median(cpu_us(each["nginx"]) for each in rounds), 2),
        },
        **{name: _summary(scenario, name, rounds) for name in products},
        **({"cpu_ratio": against(scenario, rounds, cpu_us, *products),
            "speed_ratio": against(scenario, rounds, per_second, *products)} if len(products) == 2 else {}),
        "rounds": rounds,
    }


def _summary(scenario, name, rounds):
    counted = scenario.counts_finished
    return {
        "per_second": round(median(per_second(each[name], counted) for each in rounds)),
        "cpu_us": round(median(cpu_us(each[name], counted) for each in rounds), 2),
        "database_cpu_us": round(median(cpu_us(each[name], counted, "database_") for each in rounds), 2),
        "p50_ms": round(median(each[name]["p50"] for each in rounds) / 1000, 2),
        "p99_ms": round(median(each[name]["p99"] for each in rounds) / 1000, 2),
        # Medians of the ratios, not ratios of the medians: what slowed a round slowed both servers.
        "of_nginx": ratio(rounds, per_second, name, "nginx", counted),
        "cpu_of_nginx": ratio(rounds, cpu_us, name, "nginx", counted),
        "refused": sum(each[name]["refused"] for each in rounds),
        "broken": sum(each[name]["broken"] + each[name]["starved"] for each in rounds),
    }


def ratio(rounds, value, name, other, counted, other_counted=False):
    return round(median(value(each[name], counted) / value(each[other], other_counted) for each in rounds), 4)


def against(scenario, rounds, value, old, new):
    """The figures of `new` in parts of `old`'s, both counted alike."""
    return ratio(rounds, value, new, old, scenario.counts_finished, scenario.counts_finished)


def done(run, counts_finished=False):
    """The count: answers that were no refusals, or what the script finished."""
    return max(1, run["finished"] if counts_finished else run["requests"] - run["refused"])


def per_second(run, counts_finished=False):
    return done(run, counts_finished) / (run["microseconds"] / 1_000_000)


def cpu_us(run, counts_finished=False, whose=""):
    return run[f"{whose}cpu_seconds"] * 1_000_000 / done(run, counts_finished)


def line(result):
    """One scenario for the terminal, each product's figures in turn."""
    products = [name for name in ("spindle", "old", "new") if name in result]
    return "; ".join(
        f"{name} {result[name]['per_second']:,} a second, {microseconds(result[name])}, "
        f"{result[name]['cpu_of_nginx']:.2f} × nginx{trouble(result[name])}" for name in products)


def markdown(results):
    """The table of one binary, as docs/performance.md has it. What misses its aim is marked."""
    rows = [
        "| | a second | of nginx's | aim | p50 | p99 | CPU a request | × nginx's | aim |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for each in results["scenarios"]:
        ours = each["spindle"]
        speed = marked(ours["of_nginx"], ".2f", each["speed_aim"], operator.lt)
        cpu = marked(ours["cpu_of_nginx"], ".1f", each["aim"], operator.gt)
        rows.append(
            f"| {each['name']}{trouble(ours)} | {ours['per_second']:,} | {speed} | {aim(each['speed_aim'], '.2f')} "
            f"| {ours['p50_ms']:.2f} ms | {ours['p99_ms']:.2f} ms | {microseconds(ours)} | {cpu} "
            f"| {aim(each['aim'], 'g')} |")
    return "\n\n".join(["\n".join(rows), *paragraphs(results)]) + "\n"


def aim(value, form):
    return "" if value is None else format(value, form)


def marked(value, form, aim, misses):
    """A figure, and whether it misses its aim: as it is shown, so that a reader sees the same."""
    shown = format(value, form)
    return f"**{shown} missed**" if aim is not None and misses(float(shown), aim) else shown


def paragraphs(results):
    return filled(
        f"{beside_aims(results['spindle'])}.",
        conditions(results) + f" Commit {results['commit']}.",
        "nginx answers every request with a constant of 15 bytes, in the same rounds: "
        f"{median_of(results, 'per_second'):,.0f} a second for {median_of(results, 'cpu_us'):.1f} µs each. The factors "
        "are medians of the rounds; of the aims the first is the least, the second the most. CPU is what the server's "
        "processes used. exchange_redeem counts pairs, and the times of one request; password is bound by Argon2id, on "
        "purpose.")


def comparison(results):
    """The table of two binaries: what the new one takes of the old one's."""
    rows = [
        "| | CPU, old | new | new of old | a second, old | new | new of old | × nginx's, old | new |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for each in results["scenarios"]:
        old, new = each["old"], each["new"]
        rows.append(
            f"| {each['name']}{trouble(old)}{trouble(new)} | {microseconds(old)} | {microseconds(new)} "
            f"| {each['cpu_ratio']:.2f} | {old['per_second']:,} | {new['per_second']:,} | {each['speed_ratio']:.2f} "
            f"| {old['cpu_of_nginx']:.1f} | {new['cpu_of_nginx']:.1f} |")
    paragraphs = filled(
        f"Old: {whole(results['old'])}. New: {whole(results['new'])}.", conditions(results))
    return "\n\n".join(["\n".join(rows), *paragraphs]) + "\n"


def microseconds(product):
    """The CPU of one request: Spindle's, and that of a database server beside it."""
    database = product["database_cpu_us"]
    return f"{product['cpu_us']:,.1f}" + (f" + {database:,.1f}" if database else "") + " µs"


def whole(product):
    """What is measured of the process, once."""
    idle, loaded = (product[f"memory_{moment}_kib"] / 1024 for moment in ("idle", "after_load"))
    return (f"Ready {product['ready_ms']:.0f} ms after the start; resident {idle:.0f} MiB then, {loaded:.0f} MiB "
            "after the load")


def beside_aims(product):
    """The same, each figure with its aim."""
    ready = within(product["ready_ms"], "ms after the start", READY_AIM)
    idle = within(product["memory_idle_kib"] / 1024, "MiB then", IDLE_AIM)
    loaded = within(product["memory_after_load_kib"] / 1024, "MiB after the load", LOADED_AIM)
    return f"Ready {ready}; resident {idle}, {loaded}"


def within(value, unit, most):
    missed = ", **missed**" if round(value) > most else ""
    return f"{value:.0f} {unit} (aim {most}{missed})"


def conditions(results):
    return (
        f"{results['connections']} connections, medians of {results['rounds']} rounds of {results['seconds']} s, each "
        f"a run of nginx and of Spindle. {engine(results)}, on {place(results)}")


def storage(results, options):
    return f"{'PostgreSQL' if options.postgresql else 'SQLite'} on {place(results)}"


def place(results):
    return (
        f"{results['file_system']} (fdatasync {results['fdatasync_ms']:.2f} ms). {results['cores']} cores "
        f"({results['processor']}), which the load generator shares. {results['when']}.")


def engine(results):
    if "pgbench" not in results:
        return "SQLite with a write-ahead log and synchronous=FULL"
    rates = " and ".join(f"{rate:,} {name}s" for name, rate in results["pgbench"].items())
    return f"PostgreSQL on the same cores with fsync, on which pgbench makes {rates} a second"


def median_of(results, what):
    return median(each["nginx"][what] for each in results["scenarios"])


def filled(*paragraphs):
    return [textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False) for text in paragraphs]


def trouble(product):
    """Shown beside the name, so that no figure stands for answers that were refusals."""
    said = [f"{product[kind]:,} {kind}" for kind in ("refused", "broken") if product[kind]]
    return f" ({', '.join(said)})" if said else ""
