"""Requests as bytes, sent whole or one at a time, and all that comes back until the server closes."""

import io
import re
import select
import socket
import time
from dataclasses import dataclass

from harness.wire import Address, Answer, read_answers

# How long an answer and the end of a connection may take. No precision is asked for.
PATIENCE = 15


@dataclass(frozen=True)
class Received:
    """What a server sent on one connection, and whether it closed it."""

    data: bytes
    is_closed: bool

    @property
    def answers(self) -> list[Answer]:
        """Every whole response; those that only say to go on (1xx) are not among them."""
        return read_answers(self)

    @property
    def beginnings(self) -> int:
        """How many responses were begun, whole or not: with `answers` it tells whether anything was left over."""
        return len(re.findall(rb"HTTP/1\.1 [2-5][0-9][0-9] ", self.data))

    def makefile(self, _mode: str) -> io.BytesIO:
        """As a socket has it."""
        return io.BytesIO(self.data)

    def __str__(self) -> str:
        return f"{self.data[:400]!r}{'' if self.is_closed else ' and the connection stays open'}"


def converse(address: Address, request: bytes, by_byte: bool = False) -> Received:
    """Sends `request` and reads until the server closes. Stops sending when the server has begun to answer."""
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
            pass  # The server may refuse early; what it said is still there to be read.
        return read_all(line)


def read_all(line: socket.socket, seconds: float = PATIENCE) -> Received:
    """Everything until `line` is closed, or until nothing more has come for `seconds`."""
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
    """Whether something has come on `line`, or its end, within `seconds`."""
    poll = select.poll()
    poll.register(line, select.POLLIN | select.POLLHUP | select.POLLERR)
    return bool(poll.poll(seconds * 1000))
