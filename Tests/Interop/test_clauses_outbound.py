"""Clauses of the standards about the servers that Spindle calls: docs/security names these tests."""

import json
import secrets
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey

from harness.spindle import Client, Spindle
from harness.tls import Identity
from harness.world import World


class KeySet:
    """A client's published keys, at an address of this machine, and how often they were fetched."""

    def __init__(self, key: ECKey, identity: Identity | None = None):
        asked = self.asked = []
        self.handshakes = 0
        body = json.dumps({"keys": [key.as_dict(private=False, kid="one", use="sig", alg="ES256")]}).encode()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        outer = self

        class Counting(ThreadingHTTPServer):
            daemon_threads = True

            def get_request(self):
                outer.handshakes += 1
                return super().get_request()

            def handle_error(self, *_):
                pass

        self.server = Counting(("127.0.0.1", 0), Handler)
        scheme = "http"
        if identity:
            scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(identity.certificate, identity.key)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.address = f"{scheme}://127.0.0.1:{self.server.server_address[1]}/keys"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def world(launch) -> World:
    return World.create(Spindle.of(launch(settings={"SPINDLE_OUTBOUND_ALLOW_PRIVATE": "127.0.0.0/8"})))


def asks(world: World, client: Client, key: ECKey) -> int:
    """The status of a token request by an assertion that `key` signed."""
    now = int(time.time())
    claims = {
        "iss": client.id, "sub": client.id, "aud": world.spindle.origin, "iat": now, "exp": now + 60,
        "jti": secrets.token_urlsafe(12),
    }
    form = {
        "grant_type": "client_credentials", "client_assertion": jwt.encode({"alg": "ES256", "kid": "one"}, claims, key),
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    }
    return world.spindle.call("POST", "/oauth/token", form=form).status


def test_a_server_with_an_untrusted_certificate_is_sent_nothing(world, program, tmp_path):
    key = ECKey.generate_key("P-256")
    identity = Identity.make(tmp_path, program("openssl", "openssl"))
    for published, works in [(KeySet(key), True), (KeySet(key, identity), False)]:
        try:
            client = world.spindle.create_client(
                world.merchant, "Signer", grant_types=["client_credentials"],
                token_endpoint_auth_method="private_key_jwt", jwks_uri=published.address,
            )
            status = asks(world, client, key)
            assert published.handshakes > 0, "it was not gone to"
            assert (status == 200) == works, status
            assert bool(published.asked) == works, published.asked
        finally:
            published.end()
