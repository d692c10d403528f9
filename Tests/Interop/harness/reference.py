"""The examples of docs/api: each request is sent, and its answer compared with the page or written into it.

An example is a block ```http with a request, and one with its answer. `{word}` stands for a value (`harness.pattern`).
A table of refusals says in its column *changed* what is different in the last request before it, a table of calls what
is called with that request's header fields. A block ```json below "the claims of `{word}`:" has those of that JWT, and
a block ```text that begins with `To:` the next message to that address.
"""

import base64
import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness.example import Request, cells, described, faults, parsed, refusal, returned
from harness.pattern import Values, written_json
from harness.spindle import Spindle
from harness.wire import Answer

FENCE = "```"
CALLS = re.compile(r"\| *call *\| *status *\| *answer *\|")
CLAIMS = re.compile(r"`\{(\w+)\}`[^`]*:\n+\Z")
REFUSALS = re.compile(r"\| *changed *\| *status *\| *`?(?:error|member)`? *\|")


@dataclass
class Run:
    """One page, example after example. `text` is the page as the answers make it."""

    page: Path
    spindle: Spindle
    values: Values
    common: dict[str, str]
    # Waits for the next message to an address or a phone number.
    message: Callable[[str], tuple[str, str]]
    # Whether the answers are written into the page, and not compared with it.
    writes: bool = False
    count: int = 0
    faults: list[str] = field(default_factory=list)
    text: str = ""

    def go(self) -> "Run":
        lines = self.page.read_text("utf-8").split("\n")
        made: list[str] = []
        at = 0
        while at < len(lines):
            self._number, line = at + 1, lines[at]
            if line.startswith(FENCE):
                end = lines.index(FENCE, at + 1)
                made += [line, self._block(line, "\n".join(lines[at + 1:end]), "\n".join(made)), FENCE]
                at = end + 1
            elif (row := self._row(line)) is not None:
                made += lines[at:at + 2]
                at += 2
                while at < len(lines) and lines[at].startswith("|"):
                    self._number = at + 1
                    made.append(row(lines[at]))
                    at += 1
            else:
                made.append(line)
                at += 1
        self.text = "\n".join(made)
        return self

    def _block(self, fence: str, block: str, before: str) -> str:
        """The block as the server makes it."""
        if fence == FENCE + "http" and block and not block.startswith("HTTP/1.1"):
            self._request = Request.read(block)
            self._answer = self._sent(self._request)
            return block
        if fence == FENCE + "http":
            return self._answered(block)
        if fence == FENCE + "json" and (named := CLAIMS.search(before)):
            return self._claimed(named[1], block)
        return self._received(block) if fence == FENCE + "text" and block.startswith("To: ") else block

    def _row(self, header: str) -> Callable[[str], str] | None:
        """What to do with the rows of a table."""
        if REFUSALS.match(header):
            return self._refused
        return self._called if CALLS.match(header) else None

    def _fault(self, text: str) -> None:
        self.faults.append(f"{self.page.name}:{self._number}: {text}")

    def _sent(self, request: Request) -> Answer:
        self.count += 1
        try:
            answer = request.send(self.spindle, self.values, self.common)
        except KeyError as absent:
            raise AssertionError(f"{self.page.name}:{self._number}: no answer told {{{absent.args[0]}}}") from None
        if answer.headers.get_content_type() == "text/html":
            for tag in re.findall(r"<(?:input|button)[^>]*>", answer.text):
                named = dict(re.findall(r'(name|value)="([^"]*)"', tag))
                if (name := named.get("name")) and named.get("value"):
                    word = f"page_{name}" if name in self.values.fixed else name
                    self.values.told[word] = html.unescape(named["value"])
        return answer

    def _written(self, before: str, status: int) -> None:
        """Another status is written too, but told: perhaps it is a fault, and what follows is one of its results."""
        if self.writes and before and before != str(status):
            self._fault(f"the status was {before}, and {status} is written")

    def _answered(self, block: str) -> str:
        self._written(block[9:12], self._answer.status)
        shown = described(self._answer, self.values, block).strip("\n") if self.writes else block
        for fault in faults(self._answer, self.values, shown) if shown else ["no answer is shown"]:
            self._fault(fault)
        return shown

    def _claimed(self, word: str, block: str) -> str:
        """The claims of the JWT for which `word` stands."""
        payload = self.values[word].split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        if self.writes:
            block = written_json(self.values.describe_json(claims, "", parsed(block)))
        if not self.values.match_json(parsed(block), claims):
            self._fault(f"{block}\nare not the claims:\n{claims}")
        return block

    def _received(self, block: str) -> str:
        """The subject of the next message to an address, and its lines with a code or a link."""
        shown = block.split("\n")
        subject, text = self.message(shown[0].removeprefix("To: "))
        if self.writes:
            texts = [line for line in text.splitlines() if re.search(r"\b\d{6}\b|https://", line)]
            head = [shown[0], f"Subject: {subject}"] if subject else shown[:1]
            shown = [*head, "", *(self._worded(line) for line in texts)]
        for line in filter(None, shown[1:]):
            if not any(self.values.match(line, actual) for actual in [f"Subject: {subject}", *text.splitlines()]):
                self._fault(f"{line} is not in the message:\n{text}")
        return "\n".join(shown)

    def _worded(self, line: str) -> str:
        line = re.sub(r"\b\d{6}\b", "{mailed_code}", self.values.describe(line, "line"))
        return re.sub(r"(?<=/)[A-Za-z0-9_-]{20,}$", "{link}", line)

    def _called(self, line: str) -> str:
        cell, *told = cells(line)
        answer = self._sent(self._request.another(cell))
        self._written(told[0], answer.status)
        seen = [str(answer.status), returned(answer, self.values, told[1])]
        if not self.writes and told[:2] != seen:
            self._fault(f"{told}, but the answer is {seen}")
        return "| " + " | ".join([cell, *seen, *told[2:]]) + " |"

    def _refused(self, line: str) -> str:
        cell, *told = cells(line)
        answer = self._sent(self._request.changed(cell))
        self._written(told[0], answer.status)
        status, code, text = refusal(answer)
        if not self.writes and (told[:2] != [status, code] or not self.values.match(told[2], text)):
            self._fault(f"{told}, but the answer is {[status, code, text]}")
        text = self.values.describe(text, "value", told[2])
        return "| " + " | ".join([cell, status, self.values.describe(code, "value"), text, *told[3:]]) + " |"
