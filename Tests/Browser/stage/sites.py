"""Small web servers of other parties: the app that users return to, and a hostile site."""

import html
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from harness.tls import Identity


@dataclass(frozen=True)
class SeenRequest:
    """A request that a site got."""

    method: str
    path: str
    values: dict[str, str]
    headers: dict[str, str]


class Site:
    """Answers each request with the page it is given, and records the requests; with an identity by HTTPS."""

    def __init__(self, page: Callable[[SeenRequest], str], host: str = "127.0.0.1", identity: Identity | None = None):
        self.requests: list[SeenRequest] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self._answer(urlsplit(self.path).query)

            def do_POST(self):
                self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())

            def _answer(self, form: str):
                request = SeenRequest(
                    self.command, urlsplit(self.path).path, dict(parse_qsl(form)), dict(self.headers.items())
                )
                if request.path == "/favicon.ico":
                    self.send_response(204)
                    self.end_headers()
                    return
                site.requests.append(request)
                body = page(request).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_arguments):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self.origin = f"{'https' if identity else 'http'}://{host}:{self.port}"
        if identity:
            self._server.socket = identity.wrap(self._server.socket)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def document(title: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<main><h1>{title}</h1>{body}</main></html>"
    )


class App(Site):
    """The app that a client's users return to."""

    def __init__(self):
        super().__init__(lambda request: document("Back in the app", ""))

    @property
    def callback(self) -> str:
        return f"{self.origin}/callback"

    @property
    def goodbye(self) -> str:
        return f"{self.origin}/goodbye"


class Attacker(Site):
    """A hostile site: the button of its form posts to any address."""

    def __init__(self):
        self.target = ""
        self.fields: dict[str, str] = {}
        super().__init__(lambda request: document("A prize", self._form()))

    def lure(self, target: str, **fields: str) -> str:
        """The address of a page whose only button posts `fields` to `target`."""
        self.target, self.fields = target, fields
        return f"{self.origin}/prize"

    def _form(self) -> str:
        inputs = "".join(
            f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
            for name, value in self.fields.items()
        )
        return f'<form method="post" action="{html.escape(self.target)}">{inputs}<button>Take it</button></form>'
