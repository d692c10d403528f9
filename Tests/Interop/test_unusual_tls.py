"""Unusual but legal moves of a TLS client, made by tlslite-ng, are served or refused."""

import pytest
from tlslite.api import HandshakeSettings, TLSConnection
from tlslite.constants import AlertDescription, AlertLevel, KeyUpdateMessageType
from tlslite.errors import BaseTLSException, TLSAbruptCloseError, TLSRemoteAlert
from tlslite.messages import Alert

from harness.refusals import NEXT
from harness.server import Server
from harness.tls import Identity, prepare_https
from harness.wire import PATIENCE

TLS_1_0, TLS_1_1, TLS_1_2, TLS_1_3 = (3, 1), (3, 2), (3, 3), (3, 4)


@pytest.fixture(scope="module")
def server(prepare, tmp_path_factory, program) -> Server:
    server = prepare_https(prepare, Identity.make(tmp_path_factory.mktemp("tls"), program("openssl", "openssl")))
    server.init()
    return server.start()


@pytest.fixture(autouse=True)
def the_server_is_well(server):
    yield
    assert server.process.poll() is None, server.log_tail()
    assert server.get("/healthz").status == 200


def connect(server: Server, version=TLS_1_3, record: int | None = None, **changes) -> TLSConnection:
    """A connection after its handshake; `changes` are of the settings."""
    settings = HandshakeSettings()
    settings.minVersion = settings.maxVersion = version
    for name, value in changes.items():
        setattr(settings, name, value)
    line = TLSConnection(server.address.dial(PATIENCE))
    # A client may cut its records as it likes.
    if record:
        line.recordSize = record
    line.handshakeClientCert(settings=settings, serverName="localhost", alpn=[b"http/1.1"])
    return line


def answer(line: TLSConnection) -> bytes:
    line.sendall(NEXT)
    return bytes(line.recv(4096))


@pytest.mark.parametrize("version", [TLS_1_2, TLS_1_3])
@pytest.mark.parametrize(
    "changes",
    [
        {}, {"record": 1}, {"record": 7}, {"useExtendedMasterSecret": False}, {"useEncryptThenMAC": False},
        {"eccCurves": ["secp384r1", "secp256r1"], "keyShares": ["secp384r1"]}, {"cipherNames": ["chacha20-poly1305"]},
        {"padding_cb": lambda length, kind, most: min(200, most - length - 1)},
    ],
    ids=["as it is", "records of a byte", "records of seven", "no extended master secret", "no encrypt-then-MAC",
         "P-384", "ChaCha20", "padding"],
)
def test_an_unusual_but_valid_handshake_is_served(server, version, changes):
    line = connect(server, version, **changes)
    for _ in range(3):
        assert answer(line).startswith(b"HTTP/1.1 200")
    line.close()


def test_a_client_that_guesses_no_key_share_is_asked_for_one(server):
    # RFC 8446 §4.1.4: a second hello.
    line = connect(server, keyShares=[])
    assert answer(line).startswith(b"HTTP/1.1 200")
    line.close()


def test_a_client_may_update_its_keys_between_requests(server):
    line = connect(server)
    for _ in range(20):
        for _ in line.send_keyupdate_request(KeyUpdateMessageType.update_requested):
            pass
        assert answer(line).startswith(b"HTTP/1.1 200")
    line.close()


@pytest.mark.parametrize("version", [TLS_1_0, TLS_1_1])
def test_old_versions_are_refused_by_an_alert(server, version):
    with pytest.raises(TLSRemoteAlert) as refused:
        connect(server, version, minKeySize=1023)
    assert refused.value.description == AlertDescription.protocol_version


@pytest.mark.parametrize("cipher", ["aes128", "aes256", "3des"])
def test_a_cipher_without_authenticated_encryption_is_refused_by_an_alert(server, cipher):
    with pytest.raises(TLSRemoteAlert) as refused:
        connect(server, TLS_1_2, cipherNames=[cipher])
    assert refused.value.description == AlertDescription.handshake_failure


@pytest.mark.parametrize("level", [AlertLevel.warning, AlertLevel.fatal])
def test_a_warning_alert_is_ignored_and_a_fatal_one_ends_the_connection(server, level):
    line = connect(server, TLS_1_2)
    for _ in line._sendMsg(Alert().create(AlertDescription.user_canceled, level)):  # noqa: SLF001
        pass
    try:
        assert answer(line).startswith(b"HTTP/1.1 200") or level == AlertLevel.fatal
    except (BaseTLSException, TLSAbruptCloseError, OSError):
        assert level == AlertLevel.fatal
