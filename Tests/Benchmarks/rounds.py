"""Runs of several servers in turn, so that what slows the machine for a while slows all of them."""

import load
import report
import scenarios


def measure(chosen, products, nginx, directory, options):
    """The summary of each scenario. `products` are pairs: a server that runs, and the deployment on it."""
    results = []
    for scenario in chosen:
        print(f"{scenario.name} ", end="", flush=True)
        for _, deployment in products:
            scenario.check(deployment)
        rounds = [turn(number, scenario, products, nginx, directory, options) for number in range(options.rounds + 1)]
        # The first round warms all of them up and is not counted.
        result = report.summary(scenario, rounds[1:], [server.name for server, _ in products])
        results.append(result)
        print(" " + report.line(result))
    return results


def turn(number, scenario, products, nginx, directory, options):
    """One run of each, by the server's name."""
    seconds = options.seconds if number else 1
    asked = [(nginx, scenarios.CONSTANT, None), *((server, scenario, deployment) for server, deployment in products)]
    # No server is always the first.
    first = number % len(asked)
    runs = {}
    for server, what, deployment in asked[first:] + asked[:first]:
        plan = what.plan(deployment)
        server.settle()
        runs[server.name] = load.run(server, what.script, plan, directory, options.connections, seconds)
    print(".", end="", flush=True)
    return runs
