"""Spindle's endpoints, as a client program uses them."""

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from urllib.parse import urlencode

from harness.server import Server
from harness.wire import Address, Answer, basic, send


@dataclass(frozen=True)
class Client:
    """A registered client; a public one has no secret."""

    id: str
    secret: str | None
    redirect_uri: str | None
    registration: dict = field(repr=False, default_factory=dict)

    @property
    def proof(self) -> dict[str, str]:
        """Its credentials in a form body."""
        return {"client_id": self.id} | ({"client_secret": self.secret} if self.secret else {})


@dataclass(frozen=True)
class Person:
    id: str
    email: str
    password: str


@dataclass(frozen=True)
class PKCE:
    """RFC 7636, S256."""

    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    @property
    def challenge(self) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()


class Spindle:
    """Requests to one server, each on a new connection unless one is given."""

    def __init__(self, address: Address, admin: tuple[str, str], origin: str | None = None):
        self.address = address
        self.admin = admin
        self.origin = origin or address.origin
        self._admin_token: str | None = None

    @classmethod
    def of(cls, server: Server) -> "Spindle":
        return cls(server.address, server.admin, server.origin)

    def call(self, method: str, path: str, *, connection=None, source: str | None = None, **options) -> Answer:
        line = connection or self.address.connect(source=source)
        try:
            return send(line, method, path, **options)
        finally:
            if connection is None:
                line.close()

    def good(self, method: str, path: str, status: int = 200, **options) -> dict:
        """The JSON of a request that must succeed."""
        answer = self.call(method, path, **options)
        assert answer.status == status, f"{method} {path}: {answer}"
        return answer.json if answer.body else {}

    # Administration

    def admin_token(self) -> str:
        if self._admin_token is None:
            identifier, secret = self.admin
            form = {"grant_type": "client_credentials", "scope": "admin"}
            headers = {"Authorization": basic(identifier, secret)}
            self._admin_token = self.good("POST", "/oauth/token", form=form, headers=headers)["access_token"]
        return self._admin_token

    def administer(self, method: str, path: str, content: dict | None = None, token: str | None = None) -> Answer:
        return self.call(method, f"/admin/v1/{path}", content=content, bearer=token or self.admin_token())

    def _create(self, path: str, content: dict) -> dict:
        answer = self.administer("POST", path, content)
        assert answer.status == 201, f"POST /admin/v1/{path}: {answer}"
        return answer.json

    def create_merchant(self, name: str = "Schibsted") -> str:
        return self._create("merchants", {"name": name})["id"]

    def create_client(self, merchant: str, name: str, redirect_uri: str | None = None, **members) -> Client:
        """Creates a client, confidential unless `token_endpoint_auth_method` is "none"."""
        content = {
            "merchant_id": merchant, "client_name": name, "scope": "openid email profile",
            "redirect_uris": [redirect_uri] if redirect_uri else [],
        } | ({} if redirect_uri else {"grant_types": ["client_credentials"]}) | members
        made = self._create("clients", content)
        return Client(made["client_id"], made.get("client_secret"), redirect_uri, made)

    def create_person(self, email: str | None = None, password: str | None = None) -> Person:
        email = email or f"{secrets.token_hex(6)}@example.com"
        password = password or secrets.token_urlsafe(15)
        content = {"email": email, "password": password, "email_verified": True, "name": "Kari Nordmann"}
        return Person(self._create("users", content)["user_id"], email, password)

    def create_issuer(self, **content) -> dict:
        return self._create("issuers", content)

    # Tokens

    def token(self, client: Client, grant_type: str, *, connection=None, source=None, **parameters) -> Answer:
        form = {"grant_type": grant_type} | client.proof | parameters
        return self.call("POST", "/oauth/token", form=form, connection=connection, source=source)

    def password(self, client: Client, person: Person, **parameters) -> dict:
        answer = self.token(client, "password", username=person.email, password=person.password, **parameters)
        assert answer.status == 200, f"password grant: {answer}"
        return answer.json

    def client_credentials(self, client: Client, **parameters) -> Answer:
        return self.token(client, "client_credentials", **parameters)

    def refresh(self, client: Client, refresh_token: str, **parameters) -> Answer:
        return self.token(client, "refresh_token", refresh_token=refresh_token, **parameters)

    def redeem(self, client: Client, code: str, **parameters) -> Answer:
        parameters = {"redirect_uri": client.redirect_uri} | parameters
        return self.token(client, "authorization_code", code=code, **parameters)

    def exchange(self, token: str, receiver: Client, type: str = "code", *, connection=None, **parameters) -> Answer:
        form = {"clientId": receiver.id, "type": type} | parameters
        if type == "session":
            form.setdefault("redirectUri", receiver.redirect_uri)
        return self.call("POST", "/oauth/exchange", form=form, bearer=token, connection=connection)

    def code(self, token: str, receiver: Client, type: str = "code") -> str:
        answer = self.exchange(token, receiver, type)
        assert answer.status == 200, f"exchange: {answer}"
        return answer.json["code"]

    def introspect(self, client: Client, token: str, connection=None) -> dict:
        form = {"token": token} | client.proof
        return self.good("POST", "/oauth/introspect", form=form, connection=connection)

    def is_active(self, client: Client, token: str, connection=None) -> bool:
        return self.introspect(client, token, connection)["active"]

    def revoke(self, client: Client, token: str) -> Answer:
        return self.call("POST", "/oauth/revoke", form={"token": token} | client.proof)

    def me(self, token: str) -> Answer:
        return self.call("GET", "/me", bearer=token)

    def authorize_path(self, client: Client, pkce: PKCE | None, **parameters) -> str:
        query = {"response_type": "code", "client_id": client.id, "redirect_uri": client.redirect_uri}
        if pkce:
            query |= {"code_challenge": pkce.challenge, "code_challenge_method": "S256"}
        return "/oauth/authorize?" + urlencode(query | parameters)
