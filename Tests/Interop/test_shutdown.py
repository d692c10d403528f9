"""SIGTERM under full load: every request on an accepted connection is answered, and every answer is kept."""

import http.client
import signal
import socket
import threading
import time
from dataclasses import dataclass, field

import pytest

from harness.server import Server, free_port
from harness.spindle import Spindle
from harness.world import World

ROUNDS = 5
CLIENTS = 8
# Tokens for each kind of client before the signal.
ENOUGH = 60


@dataclass
class Told:
    """The answers to clients that never repeat a request."""

    tokens: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)


class Clients:
    """Each requests tokens on new connections, or on one that it keeps until the server answers `close`."""

    def __init__(self, world: World, keeps: bool):
        self.world, self.keeps = world, keeps
        self.told = Told()
        self.signalled = threading.Event()
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def run(self) -> None:
        while True:
            connection = self.world.spindle.address.connect()
            try:
                connection.connect()
            except OSError as refused:
                # The answer announces the end to the client.
                if not self.signalled.is_set():
                    self.told.surprises.append(f"refused before the signal: {refused}")
                return
            try:
                if not self.use(connection, before=not self.signalled.is_set()):
                    return
            finally:
                connection.close()

    def use(self, connection, before: bool) -> bool:
        """Asks on `connection`; returns whether to go on with another one."""
        while True:
            try:
                answer = self.world.spindle.client_credentials(self.world.backend, connection=connection)
            except (OSError, http.client.HTTPException) as failure:
                # A connection begun after the signal may not have reached the server.
                if before:
                    self.told.lost.append(repr(failure))
                return False
            if answer.status != 200:
                self.told.surprises.append(str(answer))
                return False
            self.told.tokens.append(answer.json["access_token"])
            # http.client closes a connection whose answer announced its end.
            if not self.keeps or connection.sock is None:
                return True

    def finish(self) -> Told:
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive(), "a client still waits for its answer"
        return self.told


@pytest.mark.timeout(400)
@pytest.mark.parametrize("keeps", [False, True], ids=["new connections", "kept connections"])
def test_a_terminated_server_loses_no_request_that_it_had_accepted(launch, keeps):
    server: Server = launch()
    world = World.create(Spindle.of(server))
    for number in range(ROUNDS):
        clients = Clients(world, keeps)
        deadline = time.monotonic() + 60
        while len(clients.told.tokens) < ENOUGH and not clients.told.surprises and time.monotonic() < deadline:
            time.sleep(0.002)
        clients.signalled.set()
        assert server.stop() == 0
        told = clients.finish()
        assert not told.lost and not told.surprises, f"round {number}: {told.lost[:3]} {told.surprises[:3]}"
        assert len(told.tokens) >= ENOUGH
        server.start()
        alive = [world.spindle.is_active(world.backend, token) for token in told.tokens]
        assert all(alive), f"round {number}: {alive.count(False)} of {len(alive)} tokens are lost"


def test_silent_and_stalled_connections_do_not_hold_a_terminated_server(launch):
    server = launch()
    silent = [server.address.dial() for _ in range(100)]
    stalled = [server.address.dial() for _ in range(100)]
    for line in stalled:
        line.sendall(b"POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
    assert server.get("/healthz").status == 200
    began = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - began < 20
    for line in silent + stalled:
        line.close()


def test_a_stalled_request_to_the_admin_address_does_not_keep_the_public_one_open(launch):
    admin = free_port()
    server = launch(settings={"SPINDLE_ADMIN_LISTEN": f"127.0.0.1:{admin}"})
    with socket.create_connection(("127.0.0.1", admin)) as line:
        line.sendall(b"POST /admin/v1/clients HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
        time.sleep(0.2)
        server.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + 3
        with pytest.raises(ConnectionRefusedError):
            while time.monotonic() < deadline:
                server.address.dial().close()
                time.sleep(0.05)
        assert server.stop() == 0


@pytest.mark.parametrize("name", ["SIGUSR1", "SIGUSR2", "SIGHUP"])
def test_a_signal_for_rotated_logs_does_not_end_a_server(launch, name):
    server = launch()
    for _ in range(2):
        server.process.send_signal(getattr(signal, name))
        time.sleep(0.1)
        assert server.process.poll() is None and server.get("/healthz").status == 200
    assert server.stop() == 0
