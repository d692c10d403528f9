"""The app's backend: it takes the app's code, asks SPiD who that is, and keeps sessions of its own.

It needs SPID_SERVER, CLIENT_ID, CLIENT_SECRET and PORT in the environment, and nothing that Python lacks.
"""

import json
import os
import secrets
import sys
from html import escape
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import Request, urlopen

NOT_SIGNED_IN = 401, {"error": "not signed in"}


class SPiD:
    """SPiD's endpoints, as a backend calls them."""

    def __init__(self, server: str, client_id: str, client_secret: str, redirect_uri: str):
        self.server = server
        self.client = {"client_id": client_id, "client_secret": client_secret}
        self.redirect_uri = redirect_uri

    def redeem(self, code: str) -> str:
        """The access token that a code is good for, whether the app bought it or a browser brought it."""
        grant = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.redirect_uri}
        return self._send("/oauth/token", grant | self.client)["access_token"]

    def me(self, token: str) -> dict:
        return self._send("/api/2/me", token=token)["data"]

    def log_out(self, token: str) -> None:
        """Ends this token and the refresh token that came with it; the person's app and browser stay signed in."""
        self._send("/api/2/logout", token=token)

    def sign_in_page(self, state: str) -> str:
        query = {"response_type": "code", "client_id": self.client["client_id"], "redirect_uri": self.redirect_uri}
        return f"{self.server}/flow/login?{urlencode(query | {'scope': 'profile', 'state': state})}"

    def _send(self, path: str, form: dict | None = None, token: str | None = None) -> dict:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        body = urlencode(form).encode() if form else None
        with urlopen(Request(self.server + path, body, headers), timeout=20) as answer:
            return json.load(answer)


def reason(refusal: HTTPError) -> str:
    """What SPiD says to us. An API error has its words in the container, a token's are flat."""
    try:
        error = json.load(refusal)["error"]
    except (ValueError, KeyError):
        return str(refusal)
    return str(error["description"] if isinstance(error, dict) else error)


class Backend(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, spid: SPiD):
        super().__init__(("127.0.0.1", port), Handler)
        self.spid = spid
        self.people: dict[str, str] = {}  # SPiD's number of a person -> the name we know
        self.sessions: dict[str, tuple[str, str]] = {}  # our own token -> the person, SPiD's token

    def sign_in(self, code: str) -> str:
        token = self.spid.redeem(code)
        person = self._register(self.spid.me(token))
        session = secrets.token_urlsafe(32)
        self.sessions[session] = (person, token)
        return session

    def log_out(self, session: str) -> bool:
        """Whether the session existed."""
        if not (kept := self.sessions.pop(session, None)):
            return False
        try:
            self.spid.log_out(kept[1])
        except HTTPError as refusal:  # SPiD's token was dead already; ours is now.
            print(f"backend: {reason(refusal)}", file=sys.stderr, flush=True)
        return True

    def who_brought(self, code: str) -> str:
        """The person of a browser. Nothing is kept: SPiD's own session is what signs the browser in the next time."""
        token = self.spid.redeem(code)
        try:
            return self._register(self.spid.me(token))
        finally:
            self.spid.log_out(token)

    def _register(self, user: dict) -> str:
        person = user["userId"]
        if person not in self.people:
            print(f"backend: registered user {person}, {user['displayName']}", file=sys.stderr, flush=True)
        self.people[person] = user["displayName"]
        return person


class Handler(BaseHTTPRequestHandler):
    server: Backend
    timeout = 20

    def do_POST(self):
        match urlsplit(self.path).path:
            case "/sign-in":
                try:
                    self._json(200, {"token": self.server.sign_in(self._form().get("code", ""))})
                except HTTPError as refusal:
                    self._json(400, {"error": reason(refusal)})
            case "/log-out":
                self._json(*((200, {}) if self.server.log_out(self._token()) else NOT_SIGNED_IN))
            case _:
                self._json(404, {"error": "not found"})

    def do_GET(self):
        parts = urlsplit(self.path)
        match parts.path:
            case "/greeting":
                person, _ = self.server.sessions.get(self._token(), (None, None))
                known = (200, {"user_id": person, "name": self.server.people.get(person)})
                self._json(*(known if person else NOT_SIGNED_IN))
            case "/page":
                self._page({name: values[0] for name, values in parse_qs(parts.query).items()})
            case _:
                self._json(404, {"error": "not found"})

    def _page(self, query: dict[str, str]) -> None:
        """A page for people who are signed in. Who is not, or came back with an answer to another question than this
        browser was sent with, is sent to SPiD; a browser with a session there comes back at once."""
        state = SimpleCookie(self.headers.get("Cookie", "")).get("page_state")
        if "state" not in query or state is None or not secrets.compare_digest(
            query["state"].encode(), state.value.encode()
        ):
            fresh = secrets.token_urlsafe(16)
            cookie = f"page_state={fresh}; Path=/page; Max-Age=600; HttpOnly; SameSite=Lax"
            return self._answer(302, b"", {"Location": self.server.spid.sign_in_page(fresh), "Set-Cookie": cookie})
        cookie = {"Set-Cookie": "page_state=; Path=/page; Max-Age=0; HttpOnly; SameSite=Lax"}
        try:
            person = self.server.who_brought(query.get("code", ""))
            status, words = 200, f"{self.server.people[person]} is here, user {person}"
        except HTTPError as refusal:
            status, words = 403, f"Not signed in: {query.get('error') or reason(refusal)}"
        html = f"<!doctype html><title>Page</title><h1>{escape(words)}</h1>".encode()
        self._answer(status, html, {"Content-Type": "text/html; charset=utf-8"} | cookie)

    def _token(self) -> str:
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        return token if scheme == "Bearer" else ""

    def _form(self) -> dict[str, str]:
        length = min(int(self.headers.get("Content-Length") or 0), 65536)
        return {name: values[0] for name, values in parse_qs(self.rfile.read(length).decode()).items()}

    def _json(self, status: int, content: dict) -> None:
        self._answer(status, json.dumps(content).encode(), {"Content-Type": "application/json"})

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body)), "Cache-Control": "no-store"}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        """Addresses of pages have codes in them: nothing is logged."""


if __name__ == "__main__":
    port = int(os.environ["PORT"])
    spid = SPiD(
        os.environ["SPID_SERVER"], os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"],
        redirect_uri=f"http://127.0.0.1:{port}/page",
    )
    Backend(port, spid).serve_forever()
