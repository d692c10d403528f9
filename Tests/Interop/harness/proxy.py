"""A proxy before PostgreSQL's socket that can fall silent: connections stay open, and no byte passes."""

import socket
import threading
from pathlib import Path


class Proxy:
    """Listens on a port of the loopback interface."""

    def __init__(self, target: Path):
        self.target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._passes = threading.Event()
        self._passes.set()
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(self, *_) -> None:
        self.is_silent = False
        self._listener.close()

    @property
    def is_silent(self) -> bool:
        return not self._passes.is_set()

    @is_silent.setter
    def is_silent(self, silent: bool) -> None:
        self._passes.clear() if silent else self._passes.set()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self.target))
            for source, sink in [(client, server), (server, client)]:
                threading.Thread(target=self._pump, args=[source, sink], daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while received := source.recv(65536):
                self._passes.wait()
                sink.sendall(received)
        except OSError:
            pass
        for end in [source, sink]:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
