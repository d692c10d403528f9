"""What is compared between a small and a large database, and what is asked of the large one alone."""

import concurrent.futures
import statistics
import threading
import time

import load
import report

MIB = 1024


def traffic(small, large, directory, options):
    """The speed and the CPU of each request, and of the large one in parts of the small one's."""
    results = {}
    for scenarios in zip(small.scenarios(), large.scenarios()):
        rounds = []
        for number in range(options.rounds + 1):
            turn = list(zip(scenarios, (small, large)))
            runs = {}
            for scenario, product in turn[::-1] if number % 2 else turn:
                runs[product.name] = run(product, scenario, directory, options, options.seconds if number else 2)
            rounds.append(runs)
        counted = scenarios[0].counts_finished
        rounds = rounds[1:]
        results[scenarios[0].name] = {
            name: {
                "per_second": round(statistics.median(report.per_second(each[name], counted) for each in rounds)),
                "cpu_us": round(statistics.median(cpu(each[name], counted) for each in rounds), 1),
                "refused": sum(each[name]["refused"] for each in rounds),
            } for name in (small.name, large.name)
        } | {
            "speed_ratio": round(statistics.median(
                report.per_second(each["large"], counted) / report.per_second(each["small"], counted)
                for each in rounds), 3),
            "by_cpu": round(statistics.median(
                cpu(each["small"], counted) / cpu(each["large"], counted) for each in rounds), 3),
        }
        print(scenarios[0].name, results[scenarios[0].name], flush=True)
    results["memory_mib"] = {each.name: each.server.resident_memory() // MIB for each in (small, large)}
    return results


def pages(small, large, directory, options):
    """Milliseconds of administration's pages and SPiD's searches: the median, the longest of them."""
    results = {}
    for product in (small, large):
        admin = product.deployment.admin_token
        spid = product.token_of(product.spid)
        little = product.token_of(product.little, scope="admin:merchant")
        middle = product.filling.numbers[len(product.filling.numbers) // 2]
        cursor = product.ask("GET", "/admin/v1/users", admin)[1]["next"]
        own = product.filling.numbers[18 if len(product.filling.numbers) > 18 else 2]
        asked = {
            "users, first page": ("/admin/v1/users", admin),
            "users, second page": (f"/admin/v1/users?cursor={cursor}", admin),
            "users of a merchant that has none": ("/admin/v1/users", little),
            "a user": (f"/admin/v1/users/{middle}", admin),
            "a user's data": (f"/admin/v1/users/{middle}/data", admin),
            "clients": ("/admin/v1/clients", admin),
            "merchants": ("/admin/v1/merchants", admin),
            "SPiD: users": ("/api/2/users", spid),
            "SPiD: users of the merchant": ("/api/2/users?filters=merchant", spid),
            "SPiD: by address": ("/api/2/users?email=scale18@example.com", spid),
            "SPiD: by the beginning of an address": ("/api/2/users?query=scale18", spid),
            "SPiD: by one letter": ("/api/2/users?query=s", spid),
            "SPiD: by a beginning without a match": ("/api/2/users?query=zz", spid),
            "SPiD: by id": (f"/api/2/users?query={own}", spid),
            "SPiD: created since": (f"/api/2/users?since={int(time.time()) - 10}", spid),
            "SPiD: logins": ("/api/2/logins", spid),
            "SPiD: logins of the merchant": ("/api/2/logins?filters=merchant", spid),
            "SPiD: logins of a user": (f"/api/2/logins?userId={own}", spid),
            "SPiD: logins from an address": ("/api/2/logins?ip=192.0.2.1", spid),
        }
        for name, (path, token) in asked.items():
            answers = [product.ask("GET", path, token) for _ in range(7)]
            times = [milliseconds for _, _, milliseconds in answers]
            status = "" if answers[0][0] == 200 else f" status {answers[0][0]} {answers[0][1]}"
            results.setdefault(name, {})[product.name] = f"{statistics.median(times):.1f}, {max(times):.1f}{status}"
    return results


def sweep(small, large, directory, options):
    """The p99 of traffic while a million expired rows are swept, in parts of what it is before and after."""
    def p99():
        results = run(large, large.scenarios()[0], directory, options, 12)
        return {"p99_ms": results["p99"] / 1000, "per_second": round(report.per_second(results))}

    expired = "SELECT COUNT(*) FROM access_tokens WHERE expires_at < " + str(int(time.time() * 1000))
    results = []
    for _ in range(2):
        without = p99()
        large.server.stop()
        large.filling.expired(options.expired)
        large.server.start()
        begun = time.monotonic()
        while large.store.number(expired) == options.expired:
            time.sleep(0.2)
        during = p99()
        left = large.store.number(expired)
        while large.store.number(expired) and time.monotonic() - begun < 300:
            time.sleep(2)
        results.append({
            "without": without, "during": during, "after": p99(), "left_after_the_load": left,
            "seconds": round(time.monotonic() - begun),
            "ratio": round(during["p99_ms"] / without["p99_ms"], 2)})
        print(results[-1], flush=True)
    return results


def deletions(small, large, directory, options):
    """How long the request takes, how long the rows stay, and the p99 of traffic meanwhile beside that without."""
    admin = large.deployment.admin_token
    asked = {
        "client": (f"/admin/v1/clients/{large.doomed_client}", f"client_id = '{large.doomed_client}'"),
        "merchant": (f"/admin/v1/merchants/{large.doomed_merchant}", f"client_id = '{large.client_of_doomed}'"),
        "user": (f"/admin/v1/users/{large.hoarder}", f"user_id = {large.hoarder}"),
    }
    results = {}
    for name, (path, condition) in asked.items():
        count = f"SELECT COUNT(*) FROM token_families WHERE {condition}"
        row = {"families": large.store.number(count)}
        row["p99_without"] = run(large, large.scenarios()[0], directory, options, 10)["p99"] / 1000
        with concurrent.futures.ThreadPoolExecutor() as pool:
            begun = time.monotonic()
            deletion = pool.submit(large.ask, "DELETE", path, admin)
            row["p99_meanwhile"] = run(large, large.scenarios()[0], directory, options, 10)["p99"] / 1000
            while time.monotonic() - begun < 400 and (not deletion.done() or large.store.number(count)):
                time.sleep(1)
            row["gone_after_s"] = round(time.monotonic() - begun)
            row["left"] = large.store.number(count)
            status, _, milliseconds = deletion.result()
            row |= {"status": status, "request_ms": round(milliseconds)}
        results[name] = row
        print(name, row, flush=True)
    results["memory_mib"] = large.server.resident_memory() // MIB
    return results


def space(small, large, directory, options):
    """What the deletions left free in the file, and what VACUUM takes."""
    if large.cluster:
        return {"mib": large.store.size() >> 20}
    free = large.store.number("SELECT freelist_count FROM pragma_freelist_count()")
    before = large.store.size()
    large.server.stop()
    begun = time.monotonic()
    large.store.vacuum()
    results = {
        "mib": before >> 20, "free_mib": free * 4096 >> 20, "vacuum_s": round(time.monotonic() - begun),
        "mib_then": large.store.size() >> 20,
    }
    large.server.start()
    return results


def run(product, scenario, directory, options, seconds):
    plan = scenario.plan(product.deployment)
    product.server.settle()
    return load.run(product.server, scenario.script, plan, directory, options.connections, seconds)


def cpu(run, counted):
    """With that of the database's server."""
    return report.cpu_us(run, counted) + report.cpu_us(run, counted, "database_")


PARTS = {"traffic": traffic, "pages": pages, "sweep": sweep, "deletions": deletions, "space": space}
