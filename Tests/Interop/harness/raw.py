"""Requests as bytes, sent whole or one by one, and everything received until the server closes."""

import io
import re
import select
import socket
import time
from dataclasses import dataclass

from harness.wire import Address, Answer, read_answers

# How long a response and the end of a connection may take. It need not be precise.
PATIENCE = 15


@dataclass(frozen=True)
class Received:
    """What a server sent on one connection, and whether it closed it."""

    data: bytes
    is_closed: bool

    @property
    def answers(self) -> list[Answer]:
        """Every complete final response; interim ones (1xx) are left out."""
        return read_answers(self)

    @property
    def beginnings(self) -> int:
        """The number of responses begun, complete or not: with `answers` it shows whether anything is left over."""
        return len(re.findall(rb"HTTP/1\.1 [2-5][0-9][0-9] ", self.data))

    def makefile(self, _mode: str) -> io.BytesIO:
        """Like the method of a socket."""
        return io.BytesIO(self.data)

    def __str__(self) -> str:
        return f"{self.data[:400]!r}{'' if self.is_closed else ' and the connection stays open'}"


def converse(address: Address, request: bytes, by_byte: bool = False) -> Received:
    """Sends `request` and reads until the server closes. Stops sending when the server begins to answer."""
    with address.dial(PATIENCE) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if by_byte:
                for byte in request:
                    if is_readable(line):
                        break
                    line.sendall(bytes([byte]))
            else:
                line.sendall(request)
        except OSError:
            pass  # The server may refuse early; its response is still readable.
        return read_all(line)


def read_all(line: socket.socket, seconds: float = PATIENCE) -> Received:
    """Reads until `line` is closed, or until nothing more arrives for `seconds`."""
    data, deadline = b"", time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if not is_readable(line, left):
            break
        try:
            part = line.recv(65_536)
        except OSError:
            return Received(data, True)
        if not part:
            return Received(data, True)
        data += part
    return Received(data, False)


def is_readable(line: socket.socket, seconds: float = 0) -> bool:
    """Whether data or the end of `line` arrives within `seconds`."""
    poll = select.poll()
    poll.register(line, select.POLLIN | select.POLLHUP | select.POLLERR)
    return bool(poll.poll(seconds * 1000))
