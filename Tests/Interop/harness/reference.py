"""The examples of docs/api: each request is sent, and its answer compared with the page or written into it.

An example is a block ```http with a request, and one with its answer. `{word}` stands for a value (`harness.pattern`).
Values in a query or a form stand there before they are encoded. A table of refusals names in its first column what is
changed in the last request before it.
"""

import base64
import copy
import html
import json
import re
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from harness.pattern import Values, read_json, written_json
from harness.spindle import Spindle
from harness.wire import Answer

FENCE = "```"
# The header fields that a new example shows, with the values that it leaves out.
SHOWN = {
    "Location": None, "WWW-Authenticate": None, "Retry-After": None, "Allow": None, "Set-Cookie": None,
    "Access-Control-Allow-Origin": None, "Access-Control-Allow-Methods": None, "Access-Control-Allow-Headers": None,
    "Content-Type": "application/json", "Cache-Control": "no-store",
}
# A script that calls a function with JSON.
SCRIPT = re.compile(r"(/\*\*/[^{]*)(\{.*\})(\);)", re.DOTALL)
# What stands before the claims of a JWT that an answer had.
PAYLOAD = re.compile(r"`\{(\w+)\}`[^`]*:\n+\Z")
REFUSALS = re.compile(r"\| *changed *\| *status *\| *`?(?:error|member)`? *\|")


@dataclass
class Request:
    method: str
    path: str
    query: list[tuple[str, str]] = field(default_factory=list)
    headers: list[tuple[str, str]] = field(default_factory=list)
    # Of a form, or JSON, or any other text.
    form: list[tuple[str, str]] | None = None
    json: dict | None = None
    text: str | None = None

    @classmethod
    def read(cls, block: str) -> "Request":
        head, _, body = block.partition("\n\n")
        first, *lines = re.sub(r"\n *(?=[?&])", "", head).split("\n")
        method, _, target = first.partition(" ")
        path, _, query = target.partition("?")
        headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        request = cls(method, path, _pairs(query), headers)
        if body and request.header("Content-Type"):
            request.text = body
        elif body.startswith("{"):
            request.json = json.loads(body)
        elif body:
            request.form = _pairs(re.sub(r"\n *(?=&)", "", body).strip())
        return request

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known.lower() == name.lower()), None)

    def changed(self, cell: str) -> "Request":
        """The request with what a row of a table of refusals says: "`name=value`", "without `name`" and the like."""
        made = copy.deepcopy(self)
        for without, span in re.findall(r"(without )?`([^`]+)`", cell):
            if re.fullmatch(r"[A-Z]+ /\S*", span):
                made.method, _, made.path = span.partition(" ")
                if made.method == "GET":
                    made.form = made.json = None
            elif without:
                made._drop(span)
            elif span.startswith('"'):
                made.json |= json.loads("{" + span + "}")
            elif header := re.fullmatch(r"([A-Z][A-Za-z-]+): (.*)", span):
                made._drop(header[1])
                made.headers.append((header[1], header[2]))
            else:
                name, _, value = span.partition("=")
                made._drop(name)
                (made.query if made.form is None else made.form).append((name, value))
        return made

    def _drop(self, name: str) -> None:
        self.headers = [pair for pair in self.headers if pair[0].lower() != name.lower()]
        self.query = [pair for pair in self.query if pair[0] != name]
        self.form = self.form and [pair for pair in self.form if pair[0] != name]
        if self.json:
            self.json.pop(name, None)

    def send(self, spindle: Spindle, values: Values, common: dict[str, str]) -> Answer:
        def filled(pairs):
            return urlencode([(values.fill(name), values.fill(value)) for name, value in pairs])

        path = "/".join(quote(values.fill(part), safe="~@:,") for part in self.path.split("/"))
        if self.query:
            path += "?" + filled(self.query)
        headers = common | {name: values.fill(value) for name, value in self.headers}
        body = None
        if self.form is not None:
            body = filled(self.form).encode()
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
        elif self.json is not None:
            body = values.fill(json.dumps(self.json)).encode()
            headers.setdefault("Content-Type", "application/json")
        elif self.text is not None:
            body = values.fill(self.text).encode()
        return spindle.call(self.method, path, body=body, headers=headers)


def _pairs(text: str) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (part.partition("=") for part in text.split("&") if part)]


# Answers


def described(answer: Answer, values: Values, expected: str) -> str:
    """The block that shows `answer`: with the header fields, the members and the words of the block `expected`."""
    head, _, body = expected.partition("\n\n")
    shown = [(name, value.strip()) for name, _, value in (line.partition(":") for line in head.split("\n")[1:])]
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"]
    for name in dict.fromkeys(name for name, _ in shown) if expected else SHOWN:
        known = [value for shown_name, value in shown if shown_name == name]
        for at, value in enumerate(answer.headers.get_all(name) or []):
            if expected or value != SHOWN[name]:
                lines.append(f"{name}: {_field(name, value, values, known[at] if at < len(known) else None)}")
    return "\n".join(lines) + "\n" + _body(answer, values, body)


def _body(answer: Answer, values: Values, expected: str) -> str:
    kind = answer.headers.get_content_type()
    if not answer.body:
        return ""
    if kind == "text/html":
        return f"\n<h1>{_heading(answer)}</h1>\n"
    if kind.endswith("json"):
        return "\n" + written_json(values.describe_json(answer.json, "", _json(expected))) + "\n"
    if script := SCRIPT.fullmatch(answer.text.strip()):
        known = SCRIPT.fullmatch(expected.strip())
        content = values.describe_json(json.loads(script[2]), "", _json(known[2]) if known else None)
        return f"\n{script[1]}{written_json(content, '', len(script[1]))}{script[3]}\n"
    return "\n" + values.describe(answer.text.strip(), "text", expected.strip()) + "\n"


def _json(text: str):
    try:
        return read_json(text)
    except ValueError:
        return None


def _field(name: str, value: str, values: Values, expected: str | None) -> str:
    if name == "Set-Cookie":
        cookie, _, rest = value.partition("=")
        content, semicolon, rest = rest.partition(";")
        word = cookie.rpartition("spindle_")[2]
        if expected is None:
            return f"{cookie}={{{word}}}{semicolon}{rest}" if content else value
    if name == "Location" and expected is None:
        return re.sub(
            r"([?&#])([a-z_]+)=([^&#]+)", lambda part: f"{part[1]}{part[2]}={values.describe(part[3], part[2])}", value)
    return values.describe(value, name.lower(), expected)


def faults(answer: Answer, values: Values, expected: str) -> list[str]:
    """In what `answer` differs from the block `expected`."""
    head, _, body = expected.partition("\n\n")
    first, *lines = head.split("\n")
    found = []
    if first.split(" ")[1] != str(answer.status):
        found.append(f"{first}, but the answer is {answer}")
    for line in lines:
        name, _, value = line.partition(": ")
        actual = answer.headers.get_all(name) or []
        if not any(values.match(value, one) for one in actual):
            found.append(f"{line}, but the answer has {actual}")
    kind, body = answer.headers.get_content_type(), body.strip()
    if kind == "text/html":
        same = body == f"<h1>{_heading(answer)}</h1>"
    elif kind.endswith("json") and answer.body:
        same = values.match_json(_json(body), answer.json)
    elif (script := SCRIPT.fullmatch(answer.text.strip())) and (known := SCRIPT.fullmatch(body)):
        same = script[1] == known[1] and values.match_json(_json(known[2]), json.loads(script[2]))
    else:
        same = values.match(body, answer.text.strip())
    return found if same else [*found, f"{body}\nis not what was answered:\n{answer.text[:3000]}"]


def _heading(answer: Answer) -> str:
    found = re.search(r"<h1[^>]*>(.*?)</h1>", answer.text, re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", found[1]))).strip() if found else ""


def refusal(answer: Answer) -> tuple[str, str, str]:
    """Status, code (of a problem document, the member at fault) and text."""
    status = str(answer.status)
    if answer.headers.get_content_type() == "text/html":
        told = " ".join(re.findall(r"<p[^>]*>(.*?)</p>", answer.text.partition("</h1>")[2].partition("</main>")[0], re.DOTALL))
        told = html.unescape(re.sub(r"<[^>]+>", "", told))
        return status, "page", " ".join(f"{_heading(answer)}: {told}".split())
    if answer.location:
        parts = urlsplit(answer.location)
        told = parse_qs(parts.query or parts.fragment)
        if "error" in told:
            return status, f"`{told['error'][0]}`", told.get("error_description", [""])[0]
        return status, "", f"`Location: {answer.location}`"
    if answer.text.startswith("/**/"):
        return status, "", f"`{answer.text}`"
    if not answer.headers.get_content_type().endswith("json"):
        return status, "", answer.text.strip()
    told = answer.json
    # Ditto tells its user's app why it was refused.
    told = told.get("clientInfo", told)
    if "detail" in told:
        named = told.get("member") or told.get("parameter")
        return status, f"`{named}`" if named else "", told["detail"]
    if isinstance(told.get("error"), dict):
        error = told["error"]
        text = error["description"]
        return status, f"`{error['type']}`", text if isinstance(text, str) else f"`{json.dumps(text)}`"
    if told.get("error"):
        return status, f"`{told['error']}`", told.get("error_description", "")
    return status, "", f"`{answer.text}`"


# Pages


@dataclass
class Run:
    """One page, example after example. `text` is the page as the answers make it."""

    page: Path
    spindle: Spindle
    values: Values
    common: dict[str, str]
    # Whether the answers are written into the page, and not compared with it.
    writes: bool = False
    count: int = 0
    faults: list[str] = field(default_factory=list)
    text: str = ""

    def go(self) -> "Run":
        lines = self.page.read_text("utf-8").split("\n")
        made: list[str] = []
        request, answer, at = None, None, 0
        while at < len(lines):
            line = lines[at]
            if line == FENCE + "http":
                end = lines.index(FENCE, at)
                block = "\n".join(lines[at + 1:end])
                if block and not block.startswith("HTTP/1.1"):
                    request, shown = Request.read(block), block
                    answer = self._sent(request, at + 1)
                else:
                    shown = described(answer, self.values, block).strip("\n") if self.writes else block
                    found = faults(answer, self.values, shown) if shown else ["no answer is shown"]
                    self.faults += [f"{self.page.name}:{at + 1}: {fault}" for fault in found]
                made += [line, shown, FENCE]
                at = end + 1
            elif line == FENCE + "json" and (named := PAYLOAD.search("\n".join(lines[:at]))):
                end = lines.index(FENCE, at)
                block = "\n".join(lines[at + 1:end])
                made += [line, self._payload(named[1], block, at + 1), FENCE]
                at = end + 1
            elif REFUSALS.match(line):
                made += lines[at:at + 2]
                at += 2
                while at < len(lines) and lines[at].startswith("|"):
                    made.append(self._refused(request, lines[at], at + 1))
                    at += 1
            else:
                made.append(line)
                at += 1
        self.text = "\n".join(made)
        return self

    def _sent(self, request: Request, number: int) -> Answer:
        self.count += 1
        try:
            answer = request.send(self.spindle, self.values, self.common)
        except KeyError as absent:
            raise AssertionError(f"{self.page.name}:{number}: {{{absent.args[0]}}} was told by no answer") from None
        if answer.headers.get_content_type() == "text/html":
            for tag in re.findall(r"<(?:input|button)[^>]*>", answer.text):
                named = dict(re.findall(r'(name|value)="([^"]*)"', tag))
                if named.get("name") and named.get("value"):
                    self.values.told[named["name"]] = html.unescape(named["value"])
        return answer

    def _payload(self, word: str, block: str, number: int) -> str:
        """The claims of the JWT for which `word` stands."""
        payload = self.values[word].split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        if self.writes:
            block = written_json(self.values.describe_json(claims, "", _json(block)))
        if not self.values.match_json(_json(block), claims):
            self.faults.append(f"{self.page.name}:{number}: {block}\nare not the claims:\n{claims}")
        return block

    def _refused(self, request: Request, line: str, number: int) -> str:
        cell, *told = [part.strip() for part in re.split(r"(?<!\\)\|", line)[1:-1]]
        answer = self._sent(request.changed(cell), number)
        seen = refusal(answer)
        if not self.writes and (told[:2] != list(seen[:2]) or not self.values.match(told[2], seen[2])):
            self.faults.append(f"{self.page.name}:{number}: {told}, but the answer is {seen}")
        code, text = self.values.describe(seen[1], "value"), self.values.describe(seen[2], "value", told[2])
        return "| " + " | ".join([cell, seen[0], code, text, *told[3:]]) + " |"
