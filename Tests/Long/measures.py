"""Shared by the long tests: a server, a line for each figure, and medians."""

import gc
import resource
import socket
import ssl
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Interop"))

from harness.server import Server  # noqa: E402
from harness.tls import Identity, prepare_https  # noqa: E402

ASK = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Proof:
    """One long test: its figures, each beside its bound, and whether all of them were kept."""

    def __init__(self, name: str):
        self.name, self.failed = name, 0

    def measure(self, what: str, figure: float, bound: float, unit: str = "", at_least: bool = False) -> None:
        """Prints one line: name, figure, bound, and whether it is kept."""
        kept = figure >= bound if at_least else figure <= bound
        self.failed += not kept
        sign = "at least" if at_least else "at most"
        print(f"{self.name}: {what} | {figure:.4g} {unit} | {sign} {bound:.4g} {unit} | "
              f"{'passed' if kept else 'FAILED'}".replace("  ", " "), flush=True)

    def note(self, text: str) -> None:
        print(f"{self.name}: {text}", flush=True)

    def end(self) -> None:
        sys.exit(1 if self.failed else 0)


@contextmanager
def serving(tls: bool = False, wrapper=(), **settings: str) -> Iterator[Server]:
    """A server in a directory that goes away; it ends with the block."""
    with tempfile.TemporaryDirectory(prefix="spindle-long") as folder:
        place = Path(folder)

        def prepare(settings: dict[str, str]) -> Server:
            return Server(place, str(place / "spindle.db"), settings, wrapper)

        if tls:
            server = prepare_https(prepare, Identity.make(place, "openssl"), **settings)
        else:
            server = prepare(settings)
        server.init()
        server.start()
        try:
            yield server
        finally:
            server.end()


def many_descriptors(count: int) -> None:
    """Raises the limit of descriptors of this process, which the server inherits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count:
        sys.exit(f"this needs {count} descriptors, and may have {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))


def settled(value, seconds: float = 20, every: float = 0.5) -> int:
    """`value()` once it has not fallen for a second, or after so many seconds."""
    deadline, lowest, since = time.monotonic() + seconds, value(), time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - since < 1:
        time.sleep(every)
        if (latest := value()) < lowest:
            lowest, since = latest, time.monotonic()
    return lowest


def secure(server: Server, protocol: str, context: ssl.SSLContext | None = None) -> ssl.SSLSocket:
    """A TLS connection that agreed on `protocol`."""
    context = context or client_context(server, protocol)
    return context.wrap_socket(server.address.dial(20), server_hostname="127.0.0.1")


def client_context(server: Server, protocol: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=server.settings["SPINDLE_TLS_CERTIFICATE"])
    context.set_alpn_protocols([protocol])
    return context


def ask(line: socket.socket) -> None:
    """One request on `line`, and its whole answer."""
    line.sendall(ASK)
    data = b""
    while b"\r\n\r\n" not in data or len(data.partition(b"\r\n\r\n")[2]) < 15:
        part = line.recv(4096)
        assert part, "closed by the server"
        data += part
    assert data.startswith(b"HTTP/1.1 200"), data


def times(line: socket.socket, count: int) -> list[float]:
    """How long each of `count` requests took, in milliseconds, sorted."""
    taken = []
    gc.disable()
    for _ in range(count):
        began = time.perf_counter()
        ask(line)
        taken.append((time.perf_counter() - began) * 1000)
    gc.enable()
    return sorted(taken)


def hundredth(taken: list[float]) -> float:
    """What all but the slowest hundredth of sorted times stay below."""
    return taken[len(taken) * 99 // 100]
