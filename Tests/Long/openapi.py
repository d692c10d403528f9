"""Half an hour of requests made from /openapi.json, with the tokens of an administrator and of a support agent in turn:
each answer is one that it declares, and none is 5xx."""

import re
import sys
import tempfile
from pathlib import Path

from measures import Proof, serving

from harness.desk import Desk
from harness.schema import Outcome, filled, tried

SECONDS = 900


def faults(outcome: Outcome) -> int:
    """How many different ones it found; at least one if it did not end well."""
    found = re.search(r"(\d+) unique failure", outcome.printed)
    return int(found[1]) if found else 0 if outcome.is_clean else 1


def main() -> None:
    proof = Proof("openapi")
    with serving() as server, tempfile.TemporaryDirectory(prefix="spindle-long") as folder:
        spindle = filled(server)
        for scope, token in ("admin:support", Desk.of(server).token), ("admin", spindle.admin_token()):
            outcome = tried(spindle, token, Path(folder), "--max-time", str(SECONDS), seconds=SECONDS + 600)
            print(outcome.printed, flush=True)
            proof.note(f"{outcome.count:,} requests with {scope} in {SECONDS} s")
            proof.measure(f"answers that are not declared, with {scope}", faults(outcome), 0)
        proof.measure("exit status", server.stop(), 0)
    proof.end()


if __name__ == "__main__":
    sys.exit(main())
