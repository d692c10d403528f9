"""A merchant with an app, a backend and users, made through the admin API; and the tokens that they hold."""

import base64
import copy
import http.client
import json
import urllib.parse

SCOPE = "profile email offline_access"
PASSWORD = "correct horse battery staple"
BACKEND_ADDRESS = "https://backend.example/callback"
# With few users, each would have more token families at one client than the thousand that may live, and every pair
# would end an old one.
USERS = 32


class Deployment:
    def __init__(self, address, admin, connections, **metadata):
        """`metadata` is what its clients have besides."""
        self.address = address
        self.connections = connections
        self.admin_token = self.token(*admin, grant_type="client_credentials", scope="admin")["access_token"]
        self.merchant = merchant = self.make("merchants", name="Benchmark")["id"]
        self.app = self.client(
            merchant, "app", grant_types=["password", "refresh_token"], token_endpoint_auth_method="none",
            redirect_uris=["https://app.example/callback"], **metadata)
        self.backend = self.new_backend("backend", **metadata)
        self.users = [f"user{number}@example.com" for number in range(USERS)]
        for email in self.users:
            self.make("users", email=email, password=PASSWORD, email_verified=True, name="Benchmark")
        self.app_tokens = self.sign_in(self.app, connections)
        self.backend_tokens = self.sign_in(self.backend, connections)

    def with_backend(self, name, scope=SCOPE, **metadata):
        """The same with another backend, with a token answer for each user."""
        other = copy.copy(self)
        other.backend = self.new_backend(name, scope=scope, **metadata)
        other.backend_tokens = self.sign_in(other.backend, USERS, scope)
        return other

    def new_backend(self, name, **metadata):
        return self.client(
            self.merchant, name, token_endpoint_auth_method="client_secret_post", redirect_uris=[BACKEND_ADDRESS],
            grant_types=["client_credentials", "authorization_code", "password", "refresh_token"], **metadata)

    def client(self, merchant, name, scope=SCOPE, **metadata):
        made = self.make("clients", merchant_id=merchant, client_name=name, scope=scope, **metadata)
        identity = {"client_id": made["client_id"]}
        return identity | ({"client_secret": made["client_secret"]} if "client_secret" in made else {})

    def make(self, kind, **members):
        headers = {"Authorization": f"Bearer {self.admin_token}", "Content-Type": "application/json"}
        return json.loads(self.post(f"/admin/v1/{kind}", json.dumps(members), headers, 201))

    def sign_in(self, client, count, scope=SCOPE):
        """`count` token answers of `client`, the users taking turns."""
        return [
            json.loads(self.post("/oauth/token", form(**self.password_grant(client, number, scope))))
            for number in range(count)
        ]

    def password_grant(self, client, number, scope=SCOPE):
        return {
            "grant_type": "password", **client, "username": self.users[number % USERS], "password": PASSWORD,
            "scope": scope,
        }

    def token(self, client_id, client_secret, **parameters):
        basic = base64.b64encode(":".join(map(urllib.parse.quote_plus, (client_id, client_secret))).encode()).decode()
        headers = {"Authorization": f"Basic {basic}", "Content-Type": "application/x-www-form-urlencoded"}
        return json.loads(self.post("/oauth/token", form(**parameters), headers))

    def post(self, path, body, headers=None, expected=200):
        return post(self.address, path, body, headers, expected)


def post(address, path, body, headers=None, expected=200):
    """The body of the answer; anything but the expected status ends the benchmark with what was said."""
    host, port = address.split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    try:
        connection.request("POST", path, body, headers or {"Content-Type": "application/x-www-form-urlencoded"})
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    if answer.status != expected:
        raise SystemExit(f"POST {path}: {answer.status} instead of {expected}\n{text}")
    return text


def form(**parameters):
    return urllib.parse.urlencode(parameters)
