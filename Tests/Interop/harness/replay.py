"""A request of sdks/*.json: sent as the SDK sends it, and its answer compared with what the SDK reads."""

import base64
import html
import json
import re
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from harness.sdks import Blanks, Stage, decide
from harness.spindle import Client
from harness.wire import Answer

# Members that are filled in later, or are for these tests alone.
LATER = ("name", "open", "left_out", "after", "expect")
ABSENT = object()
KINDS = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "absent": lambda value: value is ABSENT,
}


@dataclass(frozen=True)
class Replay:
    """One request, for one client on a stage."""

    stage: Stage
    client: Client
    request: dict

    def run(self) -> None:
        blanks = Blanks(self.stage, self.client)
        request = blanks.fill({name: part for name, part in self.request.items() if name not in LATER})
        for _ in range(request.get("times", 1)):
            status, content, answer = self._navigate(request, blanks) if "page" in request else self._send(request)
        # Filled in only now, because the expected answer may name what was sent.
        expected, told = blanks.fill(self.request["expect"]), f"{request['method']} {request['path']}: {answer}"
        assert status == expected["status"], told
        wrong = {
            path: (kind, [f"{value!r:.200}" if value is not ABSENT else "absent" for value in found(content, path)])
            for path, kind in expected.get("members", {}).items()
            if not all(fits(value, kind) for value in found(content, path))
        }
        assert not wrong, f"expected and found: {wrong}\n{told}"
        for name, value in expected.get("headers", {}).items():
            assert answer.headers[name] == value, f"{name}: {answer.headers[name]}"
        text = html.unescape(answer.text.replace("<wbr>", ""))
        for words in expected.get("says", []):
            assert words in text, f"not a word of {words!r}\n{told}"

    def _send(self, request: dict) -> tuple[int, object, Answer]:
        """As a program sends it, or a script of a web page with the browser's cookies."""
        headers = [(name, value) for name, value in request.get("headers", {}).items()]
        if "cookies" in request:
            browser = self.stage.browser(self.client, request["cookies"])
            headers.append(("Cookie", "; ".join(f"{name}={value}" for name, value in browser.cookies.items())))
        body = None
        if "form" in request:
            body = urlencode(request["form"]).encode()
            headers.append(("Content-Type", "application/x-www-form-urlencoded"))
        elif "multipart" in request:
            body, kind = multipart(request["multipart"])
            headers.append(("Content-Type", kind))
        connection = self.stage.spindle.address.connect()
        connection.putrequest(request["method"], path(request), skip_host=any(name == "Host" for name, _ in headers))
        for name, values in headers:
            # A field that an SDK sends twice is a list.
            for value in values if isinstance(values, list) else [values]:
                connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        answer = Answer(response.status, response.headers, response.read())
        connection.close()
        return answer.status, parsed(answer, request), answer

    def _navigate(self, request: dict, blanks: Blanks) -> tuple[int, object, Answer]:
        """As a browser opens it: to the end of all redirects, answering the pages on the way."""
        connected = request["page"] == "connected"
        browser = blanks.connected_browser if connected else self.stage.browser(self.client, request["page"])
        page = browser.open(path(request), request["method"], request.get("form"))
        for step in request.get("then", []):
            match step:
                case "sign in":
                    page = browser.sign_in(page, self.stage.person)
                case "confirm":
                    form = next((form for form in page.forms if form.method == "POST"), None)
                    assert form, f"nothing to confirm at {page.url}: {page.answer}"
                    page = browser.submit(page, form)
                case decision:
                    page = decide(browser, page, decision)
        went_to = page.left_for and page.left_for.partition("?")[0]
        content = {
            "query": page.query, "password_asked": any(form.password_field for form in page.forms),
            # One of the two: where the browser was sent, or the page of ours that it stayed at.
            **({"went_to": went_to} if went_to else {"at": urlsplit(page.url).path}),
        }
        return page.answer.status, content, page.answer


def path(request: dict) -> str:
    query = urlencode(request.get("query", {}))
    return request["path"] + (f"?{query}" if query else "")


def multipart(fields: dict[str, str]) -> tuple[bytes, str]:
    """A body as libcurl makes it for an array of PHP's, and its content type."""
    boundary = "------------------------d74496d66958873e"
    parts = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items())
    return f"{parts}--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def parsed(answer: Answer, request: dict) -> object:
    """JSON, or the argument of the call in a script."""
    called = re.fullmatch(r"/\*\*/SPiD\.Talk\.response\('([^']+)', (.*)\);\s*", answer.text, re.DOTALL)
    if called:
        assert called[1] == request["query"]["callback"], answer
        return json.loads(called[2])
    try:
        return answer.json
    except ValueError:
        return {}


def found(content: object, path: str) -> list:
    """The values at `path`: names and positions between periods, * for each; it goes on into the claims of a JWT."""
    values = [content]
    for step in path.split("."):
        values = [inner for value in values for inner in inside(value, step)]
    return values or [ABSENT]


def inside(value: object, step: str) -> list:
    if isinstance(value, str) and value.count(".") == 2:
        part = value.split(".")[1]
        value = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    match value:
        case dict():
            return list(value.values()) if step == "*" else [value.get(step, ABSENT)]
        case list():
            return value if step == "*" else value[int(step) : int(step) + 1] if step.isdigit() else [ABSENT]
    return [ABSENT]


def fits(value: object, kind: object) -> bool:
    """A name of a type, {"most": N} for a number, or a literal."""
    match kind:
        case str() if kind in KINDS:
            return KINDS[kind](value)
        case {"most": most}:
            return KINDS["number"](value) and value <= most
    return type(value) is type(kind) and value == kind
