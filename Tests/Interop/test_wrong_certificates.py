"""A mail server with a certificate of each wrong kind, all signed by a trusted authority."""

import datetime
import ipaddress
import json
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from harness.mail import MailServer
from harness.server import Server

# The stand-in means this.
pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")

DAY = datetime.timedelta(days=1)


class Authority:
    """Signs whatever it is told to."""

    def __init__(self, folder: Path, is_authority: bool = True, by: "Authority | None" = None, name: str = "authority"):
        self.folder, self.key = folder, ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        constraint = x509.BasicConstraints(ca=is_authority, path_length=None)
        self.certificate = (by or self).builder(self.name, self.key.public_key()).add_extension(
            constraint, critical=True).sign((by or self).key, hashes.SHA256())
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(self.pem)

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def builder(self, subject: x509.Name, key, begins: int = -1, ends: int = 2) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.timezone.utc)
        return (
            x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + begins * DAY).not_valid_after(now + ends * DAY)
        )

    def context(self, names=None, usage=ExtendedKeyUsageOID.SERVER_AUTH, more: bytes = b"", **dates) -> ssl.SSLContext:
        """The context of a server with a certificate of ours."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = names or [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
        made = self.builder(subject, key.public_key(), **dates)
        made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
        made = made.add_extension(x509.ExtendedKeyUsage([usage]), critical=False).sign(self.key, hashes.SHA256())
        file = self.folder / f"{made.serial_number}.pem"
        file.write_bytes(
            made.public_bytes(serialization.Encoding.PEM) + more + key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(file)
        return context


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def server(prepare) -> Server:
    server = prepare()
    server.init()
    return server


def stranger(authority: Authority) -> ssl.SSLContext:
    """Signed by another authority of the same name."""
    folder = authority.folder / "stranger"
    folder.mkdir(exist_ok=True)
    return Authority(folder).context()


def pretender(authority: Authority) -> ssl.SSLContext:
    """Signed by a certificate that the authority signed, but not as an authority."""
    between = Authority(authority.folder, is_authority=False, by=authority, name="between")
    return between.context(more=between.pem)


def intermediate(authority: Authority) -> ssl.SSLContext:
    between = Authority(authority.folder, by=authority, name="intermediate")
    return between.context(more=between.pem)


KINDS = {
    "good": (lambda by: by.context(), "ok"),
    "good, by an intermediate authority": (intermediate, "ok"),
    "expired": (lambda by: by.context(begins=-3, ends=-1), "bad"),
    "not yet valid": (lambda by: by.context(begins=1), "bad"),
    "of another name": (lambda by: by.context(names=[x509.DNSName("mail.example")]), "bad"),
    "of another address": (lambda by: by.context(names=[x509.IPAddress(ipaddress.ip_address("127.0.0.2"))]), "bad"),
    "of a name that is written like the address": (lambda by: by.context(names=[x509.DNSName("127.0.0.1")]), "bad"),
    "of a client": (lambda by: by.context(usage=ExtendedKeyUsageOID.CLIENT_AUTH), "bad"),
    "of another authority": (stranger, "bad"),
    "by one who is no authority": (pretender, "bad"),
}


@pytest.mark.parametrize("scheme", ["smtps", "smtp"])
@pytest.mark.parametrize(("make", "state"), KINDS.values(), ids=KINDS.keys())
def test_a_mail_servers_certificate_of_a_wrong_kind_is_refused(server, authority, scheme, make, state):
    with MailServer(certificate=make(authority), implicit=scheme == "smtps", login=("mailer", "password")) as mail:
        options = f"ca={authority.file}" + ("&starttls=required" if scheme == "smtp" else "")
        url = f"{scheme}://mailer:password@127.0.0.1:{mail.port}?{options}"
        told = server.command("doctor", "--json", SPINDLE_MAIL=url, SPINDLE_MAIL_FROM="A <a@loom.example>")
        finding = [check for check in json.loads(told.stdout)["checks"] if check["check"] == "mail"][-1]
        assert finding["state"] == state, finding
        assert bool(mail.logins) == (state == "ok"), mail.logins


def test_sslkeylogfile_gets_no_keys_of_tls_connections(server, authority, tmp_path):
    keys = tmp_path / "keys.log"
    with MailServer(certificate=authority.context(), implicit=True, login=("mailer", "password")) as mail:
        url = f"smtps://mailer:password@127.0.0.1:{mail.port}?ca={authority.file}"
        told = server.command(
            "doctor", "--json", SPINDLE_MAIL=url, SPINDLE_MAIL_FROM="A <a@loom.example>", SSLKEYLOGFILE=str(keys))
        assert mail.logins, told.stdout
    assert not keys.exists()
