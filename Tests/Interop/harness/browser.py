"""A user's browser: cookies, redirects inside one origin, forms. No scripts."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import parse_qs, urljoin, urlsplit

from harness.spindle import Person, Spindle
from harness.wire import Answer


@dataclass
class Form:
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)

    @property
    def password_field(self) -> str | None:
        return next((name for name, kind in self.kinds.items() if kind == "password"), None)

    @property
    def name_field(self) -> str | None:
        return next((name for name, kind in self.kinds.items() if kind in ("email", "text")), None)


class _Forms(HTMLParser):
    def __init__(self):
        super().__init__()
        self.forms: list[Form] = []
        self._open: Form | None = None

    def handle_starttag(self, tag, attributes):
        values = {name: value or "" for name, value in attributes}
        if tag == "form":
            self._open = Form(values.get("action", ""), values.get("method", "get").upper())
            self.forms.append(self._open)
        elif tag in ("input", "button") and self._open and values.get("name"):
            self._open.fields[values["name"]] = values.get("value", "")
            self._open.kinds[values["name"]] = values.get("type", "text" if tag == "input" else "submit")

    def handle_endtag(self, tag):
        if tag == "form":
            self._open = None


@dataclass(frozen=True)
class Page:
    """Where the browser ended: a page of Spindle, or `left_for`, the address elsewhere that it was sent to."""

    url: str
    answer: Answer
    left_for: str | None = None

    @property
    def forms(self) -> list[Form]:
        parser = _Forms()
        parser.feed(self.answer.text)
        return parser.forms

    @property
    def query(self) -> dict[str, str]:
        """The parameters that the address elsewhere received."""
        return {name: values[0] for name, values in parse_qs(urlsplit(self.left_for or "").query).items()}


class Browser:
    def __init__(self, spindle: Spindle):
        self.spindle = spindle
        self.cookies: dict[str, str] = {}
        self.cookie_lines: list[str] = []

    def open(self, url: str, method: str = "GET", form: dict | None = None, **headers: str) -> Page:
        """Navigates, as a top-level document, and follows redirects as long as they stay at Spindle."""
        url = urljoin(self.spindle.origin + "/", url)
        for _ in range(10):
            answer = self._fetch(url, method, form, headers)
            if answer.status not in (301, 302, 303, 307) or not answer.location:
                return Page(url, answer)
            target = urljoin(url, answer.location)
            if not target.startswith(self.spindle.origin + "/"):
                return Page(url, answer, left_for=target)
            if answer.status != 307:
                method, form = "GET", None
            url = target
        raise AssertionError(f"redirected in a circle at {url}")

    def submit(self, page: Page, form: Form, **values: str) -> Page:
        target = urljoin(page.url, form.action)
        return self.open(target, form.method, form.fields | values)

    def sign_in(self, page: Page, person: Person) -> Page:
        """Fills in the login form of `page`."""
        form = next((form for form in page.forms if form.password_field), None)
        assert form, f"no login form at {page.url}: {page.answer}"
        return self.submit(page, form, **{form.name_field: person.email, form.password_field: person.password})

    def is_signed_in(self) -> bool:
        """Whether /login says that this browser is signed in."""
        page = self.open("/login")
        assert page.answer.status == 200, f"/login: {page.answer}"
        return not any(form.password_field for form in page.forms) and "signed in" in page.answer.text.lower()

    def log_out(self) -> Page:
        """Opens /logout, and confirms if asked to."""
        page = self.open("/logout")
        form = next((form for form in page.forms if form.method == "POST"), None)
        return self.submit(page, form) if form else page

    def _fetch(self, url: str, method: str, form: dict | None, headers: dict[str, str]) -> Answer:
        parts = urlsplit(url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        fields = {"Accept": "text/html", "Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate"}
        if method == "POST":
            fields |= {"Origin": self.spindle.origin, "Sec-Fetch-Site": "same-origin"}
        if self.cookies:
            fields["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self.spindle.call(method, path, form=form, headers=fields)
        for line in answer.set_cookies:
            self._keep(line)
        return answer

    def _keep(self, line: str) -> None:
        self.cookie_lines.append(line)
        pair, *attributes = [part.strip() for part in line.split(";")]
        name, _, value = pair.partition("=")
        ended = any(part.lower() in ("max-age=0", "max-age=-1") or "1970" in part for part in attributes)
        if ended or not value:
            self.cookies.pop(name, None)
        else:
            self.cookies[name] = value
