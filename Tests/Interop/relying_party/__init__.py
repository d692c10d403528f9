"""A program like Couchbase Sync Gateway that signs its users in at Spindle, with the library that Sync Gateway uses."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, urlencode, urljoin, urlsplit

from harness.browser import Browser, Page
from harness.server import REPOSITORY
from harness.spindle import Person, Spindle
from harness.wire import Address, Answer, send

SOURCE = Path(__file__).parent / "gateway"
# Where Debian's packages install the sources of Go libraries.
LIBRARIES = "/usr/share/gocode"


def build(folder: Path) -> Path:
    """Compiles the program from its sources and the system's, without network access."""
    program = folder / "gateway"
    environment = os.environ | {
        "GO111MODULE": "off", "GOPATH": LIBRARIES, "GOPROXY": "off", "GOFLAGS": "",
        "GOCACHE": str(REPOSITORY / ".build" / "go-cache"),
    }
    done = subprocess.run(
        ["go", "build", "-o", program, "."], cwd=SOURCE, env=environment, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    return program


class Gateway:
    """A running gateway. `origin` is where its users come to."""

    def __init__(self, program: Path, folder: Path, default: str | None = None, **providers: dict):
        settings = folder / "gateway.json"
        settings.write_text(json.dumps({"default_provider": default or next(iter(providers)), "providers": providers}))
        self.process = subprocess.Popen(
            [program, settings], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.origin = self.process.stdout.readline().strip()
        assert self.origin.startswith("http://"), self.origin + self.process.stdout.read()
        self.address = Address("127.0.0.1", urlsplit(self.origin).port)
        self.cookies: dict[str, str] = {}

    def end(self) -> None:
        self.process.kill()
        self.process.wait(10)
        self.process.stdout.close()

    def call(self, method: str, path: str, **options) -> Answer:
        line = self.address.connect()
        try:
            options.setdefault("headers", {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())})
            answer = send(line, method, path, **options)
        finally:
            line.close()
        for cookie in answer.set_cookies:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer

    def good(self, method: str, path: str, **options) -> dict:
        answer = self.call(method, path, **options)
        assert answer.status == 200, f"{method} {path}: {answer}"
        return answer.json

    # Requests of an app or a browser

    def login(self, **parameters: str) -> str:
        """The identity provider's address that a user is sent to."""
        answer = self.call("GET", "/db/_oidc?" + urlencode(parameters))
        assert answer.status == 302, answer
        return answer.location

    def back(self, address: str) -> Answer:
        """Brings the browser to the gateway's callback, wherever that was registered to be."""
        return self.call("GET", "/db/_oidc_callback?" + urlsplit(address).query)

    def refresh(self, token: str, **parameters: str) -> Answer:
        # Not escaped, as Sync Gateway's clients send it.
        return self.call("GET", f"/db/_oidc_refresh?refresh_token={token}" + "".join(
            f"&{name}={quote(value)}" for name, value in parameters.items()
        ))

    def whoami(self, token: str) -> dict:
        return self.good("GET", "/db/", bearer=token)

    # For the tests

    def put_clock_ahead(self, seconds: int) -> None:
        assert self.call("POST", f"/test/clock?ahead={seconds}").status == 200

    def trace(self, path: str = "") -> list[dict]:
        """The requests it has made to its identity providers since the last call."""
        return [visit for visit in self.good("GET", "/test/trace") if visit["path"].endswith(path)]


class Guest:
    """A user with a browser who uses a gateway."""

    def __init__(self, spindle: Spindle, gateway: Gateway, person: Person):
        self.browser = Browser(spindle)
        self.gateway = gateway
        self.person = person

    def go(self, address: str, decide: Callable[[Page], Page] | None = None) -> str:
        """Goes from `address` at the identity provider to the final redirect, signing in if asked to."""
        page = self.browser.open(address)
        if any(form.password_field for form in page.forms):
            page = self.browser.sign_in(page, self.person)
        if decide and not page.left_for:
            page = decide(page)
        assert page.left_for, f"still at {page.url}: {page.answer}"
        return urljoin(page.url, page.left_for)

    def sign_in(self, decide: Callable[[Page], Page] | None = None, **parameters: str) -> dict:
        """What the gateway tells the app in the end."""
        answer = self.gateway.back(self.go(self.gateway.login(**parameters), decide))
        assert answer.status == 200, answer
        return answer.json

    def choose(self, decision: str) -> Callable[[Page], Page]:
        """Submits the consent page with every box ticked."""

        def decide(page: Page) -> Page:
            form = next((form for form in page.forms if "decision" in form.fields), None)
            assert form, f"no question at {page.url}: {page.answer}"
            fields = [(name, value) for name, value in form.fields.items() if name not in ("scope", "decision")]
            names = sorted(set(re.findall(r'name="scope" value="(\w+)"', page.answer.text)))
            scopes = [("scope", name) for name in names]
            return self.browser.open(form.action, "POST", [*fields, *scopes, ("decision", decision)])

        return decide
