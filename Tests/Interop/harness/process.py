"""What a server takes of its machine, and a connection that ends without a word."""

import os
import socket
import struct
import time
from pathlib import Path

from harness.server import Server


def resident(server: Server) -> int:
    """Bytes of memory that the process has; under a sanitizer none, since it keeps what the server has freed."""
    if "TEST_SANITIZER" in os.environ:
        return 0
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def sockets(server: Server) -> int:
    """How many sockets it has; files of the database may be opened and closed at any time."""
    found = 0
    for link in Path(f"/proc/{server.process.pid}/fd").iterdir():
        try:
            found += os.readlink(link).startswith("socket:")
        except OSError:
            pass  # Closed since it was listed.
    return found


def cpu_seconds(server: Server) -> float:
    """The clock of another process's CPU time: clock_getcpuclockid(3), which Python has no name for."""
    return time.clock_gettime((~server.process.pid << 3) | 2)


def busy(server: Server, seconds: float) -> float:
    """How much of a core it takes meanwhile."""
    began = cpu_seconds(server)
    time.sleep(seconds)
    return (cpu_seconds(server) - began) / seconds


def reset(line: socket.socket) -> None:
    """Closes `line` by a reset, whatever is on its way."""
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()
