"""Certificates for the tests, and servers that speak HTTPS with them."""

import os
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness.server import Server
from harness.wire import Address


@dataclass(frozen=True)
class Identity:
    """A self-signed certificate for this machine and its key, in two PEM files."""

    certificate: Path
    key: Path

    @classmethod
    def make(cls, folder: Path, openssl: str, name: str = "identity", hosts: tuple[str, ...] = ()) -> "Identity":
        made = cls(folder / f"{name}.pem", folder / f"{name}.key")
        subprocess.run(
            [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", f"/CN={name}", "-addext",
             ",".join(["subjectAltName=IP:127.0.0.1,DNS:localhost", *(f"DNS:{host}" for host in hosts)]),
             "-keyout", made.key, "-out", made.certificate],
            check=True, capture_output=True, timeout=30,
        )
        return made

    def wrap(self, socket):
        """A listening socket that speaks HTTPS with it."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context.wrap_socket(socket, server_side=True)

    @property
    def encoded(self) -> bytes:
        """The certificate as sent in a handshake."""
        return ssl.PEM_cert_to_DER_cert(self.certificate.read_text())

    def install(self, place: "Identity") -> None:
        """Replaces the files of `place` as tools that renew certificates do: each file completely or not at all."""
        for own, other in ((self.certificate, place.certificate), (self.key, place.key)):
            fresh = other.with_suffix(".new")
            fresh.write_bytes(own.read_bytes())
            os.replace(fresh, other)


def trusting(*identities: Identity) -> ssl.SSLContext:
    """A client's context that trusts only `identities`."""
    return ssl.create_default_context(cadata="".join(each.certificate.read_text() for each in identities))


def prepare_https(prepare, identity: Identity, trust: ssl.SSLContext | None = None, **settings: str) -> Server:
    """A server that speaks HTTPS as `identity`, not started yet."""
    server = prepare(settings={
        "SPINDLE_TLS_CERTIFICATE": str(identity.certificate), "SPINDLE_TLS_KEY": str(identity.key), **settings,
    })
    server.address = Address("127.0.0.1", server.address.port, trust or trusting(identity))
    server.settings["SPINDLE_ISSUER"] = server.address.origin
    return server
