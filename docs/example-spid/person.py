"""A person with a browser: cookies, redirects, the forms of sign-in and log-out. No scripts."""

from html.parser import HTMLParser
from http.cookiejar import CookieJar
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, Request, build_opener


class _Form(HTMLParser):
    """The first form of a page: where it goes, and what it holds."""

    def __init__(self, page: str):
        super().__init__()
        self.action: str | None = None
        self.fields: dict[str, str] = {}
        self._is_over = False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        values = {name: value or "" for name, value in attributes}
        if self._is_over:
            return
        if tag == "form":
            self.action = values["action"]
        elif tag == "input" and self.action and values.get("type") != "checkbox":
            self.fields[values["name"]] = values.get("value", "")

    def handle_endtag(self, tag):
        self._is_over = self._is_over or tag == "form"


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Person:
    def __init__(self, email: str, password: str):
        self.email, self.password = email, password
        self.cookies = CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self.cookies), _NoRedirects)

    def open(self, url: str) -> str:
        """Goes where the address leads, fills in what is asked there, and returns the address of another scheme to
        which the browser is sent in the end: the app's."""
        form = None
        for _ in range(12):
            if not url.startswith(("http:", "https:")):
                return url
            status, location, page = self._request(url, form)
            if location:
                url, form = urljoin(url, location), None
                continue
            asked = _Form(page)
            if status >= 400 or not asked.action:
                break
            url, form = urljoin(url, asked.action), asked.fields
            if "password" in form:
                form |= {"email": self.email, "password": self.password}
        raise RuntimeError(f"the browser is stuck at {url.partition('?')[0]}: {status}\n{page}")

    def _request(self, url: str, form: dict[str, str] | None) -> tuple[int, str | None, str]:
        body = urlencode(form).encode() if form else None
        try:
            answer = self._opener.open(Request(url, body), timeout=20)
        except HTTPError as error:  # Redirects too, because they are not followed.
            answer = error
        with answer:
            return answer.status, answer.headers.get("Location"), answer.read().decode()
