"""What resources a server uses, and a connection that ends abruptly."""

import os
import socket
import struct
import time
from pathlib import Path

from harness.server import Server


def resident(server: Server) -> int:
    """The process's memory in bytes; 0 under a sanitizer, which keeps freed memory."""
    if "TEST_SANITIZER" in os.environ:
        return 0
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def sockets(server: Server) -> int:
    """The number of its sockets; database files may be opened and closed at any time."""
    found = 0
    for link in Path(f"/proc/{server.process.pid}/fd").iterdir():
        try:
            found += os.readlink(link).startswith("socket:")
        except OSError:
            pass  # Closed since it was listed.
    return found


def cpu_seconds(server: Server) -> float:
    """The CPU time of another process by clock_getcpuclockid(3), for which Python has no function."""
    return time.clock_gettime((~server.process.pid << 3) | 2)


def busy(server: Server, seconds: float) -> float:
    """The share of a core that it uses during `seconds`."""
    began = cpu_seconds(server)
    time.sleep(seconds)
    return (cpu_seconds(server) - began) / seconds


def reset(line: socket.socket) -> None:
    """Closes `line` with a reset, whatever is in transit."""
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()
