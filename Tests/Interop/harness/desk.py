"""What a support agent has: a token of the scope `admin:support`, `spindle event`, and the log in JSON."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlencode

from harness.server import Server
from harness.spindle import Client, Spindle
from harness.wire import Answer

# Events and lines are written at once; a test waits longer only to fail.
PATIENCE = 20
Found = TypeVar("Found")


def soon(find: Callable[[], Found], what: str) -> Found:
    """What `find` finds, as soon as it is there."""
    deadline = time.monotonic() + PATIENCE
    while True:
        if found := find():
            return found
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(0.05)


@dataclass(frozen=True)
class Desk:
    server: Server
    spindle: Spindle
    agent: Client
    token: str

    @classmethod
    def of(cls, server: Server) -> "Desk":
        """The desk of the platform."""
        spindle = Spindle.of(server)
        made = spindle.good(
            "POST", "/admin/v1/clients", 201, bearer=spindle.admin_token(),
            content={"client_name": "Support", "scope": "admin:support", "grant_types": ["client_credentials"],
                     "redirect_uris": []})
        agent = Client(made["client_id"], made["client_secret"], None, made)
        answer = spindle.client_credentials(agent, scope="admin:support")
        assert answer.status == 200, answer
        return cls(server, spindle, agent, answer.json["access_token"])

    # The API

    def ask(self, method: str, path: str, content: dict | None = None, **query: str) -> Answer:
        path += f"?{urlencode(query)}" if query else ""
        return self.spindle.administer(method, path, content, token=self.token)

    def get(self, path: str, **query: str) -> dict:
        answer = self.ask("GET", path, **query)
        assert answer.status == 200, f"GET {path} {query}: {answer}"
        return answer.json

    def items(self, path: str, **query: str) -> list[dict]:
        return self.get(path, **query)["items"]

    def user(self, email: str) -> dict:
        """The user with this address."""
        [user] = self.items("users", email=email)
        return user

    def event(self, path: str, type: str, address: str | None = None, **query: str) -> dict:
        """The latest event of a type, below `events` or a user's own; from `address` if that is given."""
        def found() -> list[dict]:
            return [each for each in self.items(path, type=type, **query) if address in (None, each.get("address"))]

        return soon(found, f"{type} at {path}")[0]

    # The command

    def told(self, *arguments: str) -> list[dict]:
        """The events that `spindle event list` prints."""
        done = self.server.command("event", "list", *arguments, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)["items"]

    # The log

    def lines(self, **wanted: str) -> list[dict]:
        """What the lines with these values tell."""
        lines = [json.loads(line) for line in self.server.log.read_bytes().splitlines() if line.endswith(b"}")]
        told = [line["metadata"] for line in lines if "metadata" in line]
        return [each for each in told if wanted.items() <= each.items()]

    def line(self, **wanted: str) -> dict:
        """The last of them."""
        return soon(lambda: self.lines(**wanted), f"a line with {wanted}")[-1]

    def line_of(self, answer: Answer) -> dict:
        """The line of the request that was answered so: a developer sends its X-Request-Id along."""
        return self.line(request_id=answer.headers["X-Request-Id"])
