"""/openapi.json, and schemathesis: requests made from it, and answers compared with it."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from harness.server import REPOSITORY, Server
from harness.spindle import Spindle
from harness.world import World

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
SETTINGS = REPOSITORY / "Tests" / "Interop" / "schemathesis.toml"


def filled(server: Server) -> Spindle:
    """A server with a document of each kind at least: requests use the ids that answers have."""
    world = World.create(Spindle.of(server))
    spindle = world.spindle
    spindle.create_issuer(merchant_id=world.merchant, issuer="https://op.example", secret="s" * 40, audiences=["shop"])
    everything = {"everything": True, "queriesByCollection": {}}
    spindle._create("webhooks", {
        "merchant_id": world.merchant, "name": "cars", "permissions": {"read": everything, "write": everything}})
    world.phone()
    return spindle


def operations(document: dict) -> dict[str, dict]:
    """Each operation by its method and path."""
    return {
        f"{method.upper()} {path}": operation for path, item in document["paths"].items()
        for method, operation in item.items() if method in METHODS
    }


@dataclass(frozen=True)
class Outcome:
    """How a run of schemathesis ended."""

    is_clean: bool
    printed: str

    @property
    def count(self) -> int:
        """The number of requests that were made."""
        found = re.search(r"([\d,]+) generated", self.printed)
        return int(found[1].replace(",", "")) if found else 0


def tried(spindle: Spindle, token: str, folder: Path, *options: str, seconds: int) -> Outcome:
    """Sends requests that the document describes, and requests that it excludes, with `token`. Each answer must be one
    that it declares. Gives up after `seconds`."""
    origin = spindle.address.origin
    done = subprocess.run(
        [Path(sys.executable).with_name("schemathesis"), "--config-file", SETTINGS, "--no-color", "run",
         f"{origin}/openapi.json", "--url", origin, "--header", f"Authorization: Bearer {token}", *options],
        cwd=folder, env={**os.environ, "COLUMNS": "120"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=seconds)
    return Outcome(done.returncode == 0, done.stdout)
