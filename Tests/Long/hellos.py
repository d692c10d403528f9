"""TLS hellos replayed at full speed do not slow down connected clients."""

import multiprocessing
import os
import socket
import ssl
import sys
import time

from measures import Proof, hundredth, many_descriptors, secure, serving, times

from harness.process import reset
from harness.server import Server
from harness.wire import Address

ATTACKERS = 2
SECONDS = 8
ROUNDS = 3


def hello() -> bytes:
    """A client's first flight, as any client sends it."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2", "http/1.1"])
    machine = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        machine.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def attack(address: Address, flight: bytes, over, sent, answered) -> None:
    """Sends the flight on connection after connection, and resets each once the server has paid for its answer."""
    # Attackers have machines of their own; here they get the CPU that the server and its client leave.
    os.nice(19)
    while not over.is_set():
        lines = []
        for _ in range(50):
            line = socket.socket()
            line.settimeout(1)
            try:
                line.connect((address.host, address.port))
                line.sendall(flight)
                lines.append(line)
            except OSError:
                line.close()
        with sent.get_lock():
            sent.value += len(lines)
        for line in lines:
            try:
                if line.recv(65_536):
                    with answered.get_lock():
                        answered.value += 1
            except OSError:
                pass
            reset(line)


def rate_and_times(line: ssl.SSLSocket) -> tuple[float, list[float]]:
    """Requests a second on `line`, and how long they took."""
    taken, began = [], time.monotonic()
    while time.monotonic() - began < SECONDS:
        taken += times(line, 500)
    return len(taken) / (time.monotonic() - began), sorted(taken)


def under_attack(server: Server, line: ssl.SSLSocket) -> tuple[float, list[float], float, float]:
    over, sent, answered = multiprocessing.Event(), multiprocessing.Value("l"), multiprocessing.Value("l")
    arguments = (server.address, hello(), over, sent, answered)
    # An SSLContext cannot be handed to another process, and these need none.
    arguments = (Address(server.address.host, server.address.port), *arguments[1:])
    attackers = [multiprocessing.Process(target=attack, args=arguments) for _ in range(ATTACKERS)]
    for process in attackers:
        process.start()
    try:
        time.sleep(1)
        before, began = (sent.value, answered.value), time.monotonic()
        rate, taken = rate_and_times(line)
        passed = time.monotonic() - began
        return rate, taken, (sent.value - before[0]) / passed, (answered.value - before[1]) / passed
    finally:
        over.set()
        for process in attackers:
            process.join(20)
            if process.is_alive():
                process.kill()


def main() -> None:
    proof = Proof("hellos")
    many_descriptors(4096)
    with serving(tls=True) as server:
        line = secure(server, "http/1.1")
        best_p99, best_share = float("inf"), 0.0
        for _ in range(ROUNDS):
            calm, calm_times = rate_and_times(line)
            rate, taken, sent, answered = under_attack(server, line)
            proof.note(
                f"alone {calm:,.0f} requests a second, p99 {hundredth(calm_times):.2f} ms; beside {sent:,.0f} hellos a "
                f"second, {answered:,.0f} of them answered: {rate:,.0f}, p99 {hundredth(taken):.2f} ms")
            best_p99, best_share = min(best_p99, hundredth(taken)), max(best_share, rate / calm)
        proof.measure("p99 of an established client", best_p99, 20, "ms")
        proof.measure("its throughput, of what it had alone", best_share, 0.5, "times", at_least=True)
    proof.end()


if __name__ == "__main__":
    sys.exit(main())
