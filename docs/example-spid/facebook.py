"""Facebook's part of the example: answers as the Graph API does, for one app and one person. Standard library only."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

APP, SECRET = "1234567890", "the-secret-of-the-app-at-Facebook"
TOKEN = "EAAB-what-the-Facebook-SDK-gave-the-app"
PERSON = {"id": "10158000000000001", "name": "Grace Weaver", "first_name": "Grace", "last_name": "Weaver"}


class Graph(BaseHTTPRequestHandler):
    def do_GET(self):
        address = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        if address.path == "/debug_token" and query.get("access_token") == f"{APP}|{SECRET}":
            is_valid = query.get("input_token") == TOKEN
            data = {"is_valid": is_valid, "app_id": APP, "type": "USER", "user_id": PERSON["id"], "expires_at": 0}
            self.answer(200, {"data": data})
        elif address.path == "/me" and query.get("access_token") == TOKEN and query.get("appsecret_proof"):
            self.answer(200, PERSON)
        else:
            self.answer(400, {"error": {"message": "not here", "type": "OAuthException", "code": 190}})

    def answer(self, status: int, members: dict) -> None:
        body = json.dumps(members).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """What is asked of it holds secrets."""


def server() -> ThreadingHTTPServer:
    return ThreadingHTTPServer(("127.0.0.1", 0), Graph)
