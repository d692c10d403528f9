"""A called server's certificates name curves of its own making. Each key takes a third of a second to decode before
anything is verified, on the one thread of all outbound requests."""

import secrets
import socket
import threading

import pytest
from joserfc.jwk import ECKey

from harness.spindle import Client, Spindle
from harness.wire import PATIENCE
from harness.world import World
from test_clauses_outbound import KeySet, asks

# A prime, one more than a high power of two: square roots in its field take Tonelli and Shanks the most steps.
PRIME = 1_049_041 * 2**640 + 1


def tlv(tag: int, *parts: bytes) -> bytes:
    """A value in DER (X.690 §8.1)."""
    content = b"".join(parts)
    count = len(content)
    size = (count.bit_length() + 7) // 8
    return bytes([tag]) + (bytes([count]) if count < 128 else bytes([0x80 | size]) + count.to_bytes(size)) + content


def sequence(*parts: bytes) -> bytes:
    return tlv(0x30, *parts)


def integer(number: int) -> bytes:
    return tlv(2, number.to_bytes(number.bit_length() // 8 + 1))


def point(x: int) -> bytes:
    """The next point of y² = x³ + x + 1, compressed, whose y² is a square, and no fourth power."""
    while True:
        square = (x**3 + x + 1) % PRIME
        if pow(square, (PRIME - 1) // 2, PRIME) == 1 and pow(square, (PRIME - 1) // 4, PRIME) != 1:
            break
        x += 1
    return b"\2" + x.to_bytes((PRIME.bit_length() + 7) // 8)


def certificate() -> bytes:
    """An unsigned certificate whose key states its curve in full (RFC 3279 §2.3.5)."""
    field = sequence(bytes.fromhex("06072a8648ce3d0101"), integer(PRIME))
    curve = sequence(tlv(4, b"\1"), tlv(4, b"\1"))
    parameters = sequence(integer(1), field, curve, tlv(4, point(2)), integer(7))
    key = sequence(sequence(bytes.fromhex("06072a8648ce3d0201"), parameters), tlv(3, b"\0", point(1000)))
    algorithm, name = sequence(bytes.fromhex("06082a8648ce3d040302")), sequence()
    dates = sequence(tlv(0x17, b"250101000000Z"), tlv(0x17, b"350101000000Z"))
    said = sequence(integer(1), algorithm, name, dates, name, key)
    return sequence(said, algorithm, tlv(3, b"\0", sequence(integer(1), integer(1))))


def sized(data: bytes, size: int) -> bytes:
    return len(data).to_bytes(size) + data


class SlowServer:
    """Answers a hello in TLS 1.2 with `count` of these certificates, and sends nothing more."""

    def __init__(self, count: int):
        # With ECDHE-RSA-AES128-GCM-SHA256, no compression, and the extension for secure renegotiation (RFC 5746 §3.4).
        hello = b"\3\3" + secrets.token_bytes(32) + b"\0" + b"\xc0\x2f" + b"\0" + sized(b"\xff\1\0\1\0", 2)
        shown = sized(sized(certificate(), 3) * count, 3)
        messages = b"\2" + sized(hello, 3) + b"\x0b" + sized(shown, 3)
        parts = [messages[start:start + 16_384] for start in range(0, len(messages), 16_384)]
        self.answer = b"".join(b"\x16\3\3" + sized(part, 2) for part in parts)
        self.shown = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"https://127.0.0.1:{self.listener.getsockname()[1]}/keys"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            try:
                line, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.speak, args=[line], daemon=True).start()

    def speak(self, line: socket.socket) -> None:
        with line:
            try:
                # The whole request arrives in the first segment.
                if line.recv(65_536).startswith(b"\x16"):
                    line.sendall(self.answer)
                    self.shown.set()
                while line.recv(4096):
                    pass
            except OSError:
                pass

    def end(self) -> None:
        # Closing alone leaves accept() waiting.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


@pytest.fixture(scope="module")
def world(launch) -> World:
    return World.create(Spindle.of(launch(settings={"SPINDLE_OUTBOUND_ALLOW_PRIVATE": "127.0.0.0/8"})))


def signer(world: World, merchant: str, address: str) -> Client:
    return world.spindle.create_client(
        merchant, "Signer", grant_types=["client_credentials"], token_endpoint_auth_method="private_key_jwt",
        jwks_uri=address,
    )


# Fewer certificates fit into the 16 KB that are read at all.
@pytest.mark.parametrize("count", [40, 60])
def test_one_servers_slow_certificates_do_not_delay_requests_to_others(world, count):
    key = ECKey.generate_key("P-256")
    honest, slow = KeySet(key), SlowServer(count)
    try:
        caught = signer(world, world.merchant, slow.address)
        other = signer(world, world.spindle.create_merchant(f"Honest News {count}"), honest.address)
        statuses = []
        caller = threading.Thread(target=lambda: statuses.append(asks(world, caught, key)), daemon=True)
        caller.start()
        assert slow.shown.wait(PATIENCE), "it was not gone to"
        assert asks(world, other, key) == 200
        assert honest.asked, "its keys were not fetched"
        caller.join(PATIENCE)
        assert statuses and statuses[0] != 200, statuses
    finally:
        honest.end()
        slow.end()
