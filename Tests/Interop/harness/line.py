"""A connection that stays open between requests, and sends bytes unchanged."""

import socket

from harness.wire import Address

_ANSWERLESS = (204, 304)


class Line:
    """Requests of any bytes to one server. When the server closes after a response, the next request reconnects."""

    def __init__(self, address: Address, source: str | None = None, timeout: float = 30):
        self.address = address
        self.source = source
        self.timeout = timeout
        self._socket: socket.socket | None = None
        self._read = b""

    def close(self) -> None:
        if self._socket:
            self._socket.close()
        self._socket, self._read = None, b""

    def send(self, method: bytes, target: bytes, headers: list[tuple[bytes, bytes]], body: bytes | None) -> int:
        """The status of the response. Reconnects once if the connection ended while it was idle."""
        lines = [method + b" " + target + b" HTTP/1.1", b"Host: " + self.address.origin.split("//")[1].encode()]
        lines += [name + b": " + value for name, value in headers]
        if body is not None:
            lines.append(b"Content-Length: %d" % len(body))
        request = b"\r\n".join(lines) + b"\r\n\r\n" + (body or b"")
        reused = self._socket is not None
        try:
            return self._converse(request)
        except TimeoutError:
            self.close()
            raise
        except OSError:
            self.close()
            if not reused:
                raise
            return self._converse(request)

    def _converse(self, request: bytes) -> int:
        if self._socket is None:
            source = (self.source, 0) if self.source else None
            self._socket = socket.create_connection((self.address.host, self.address.port), self.timeout, source)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._socket.sendall(request)
        except (BrokenPipeError, ConnectionResetError):
            pass  # The server may refuse before it has read everything; its response is still readable.
        status = 100
        while status < 200:
            status, fields = self._head()
        self._body(status, fields)
        if b"close" in fields.get(b"connection", b"").lower():
            self.close()
        return status

    def _head(self) -> tuple[int, dict[bytes, bytes]]:
        while (end := self._read.find(b"\r\n\r\n")) < 0:
            self._more()
        head, self._read = self._read[:end], self._read[end + 4:]
        first, *rest = head.split(b"\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in rest)}
        return int(first.split(b" ")[1]), fields

    def _body(self, status: int, fields: dict[bytes, bytes]) -> None:
        if status in _ANSWERLESS:
            return
        if b"content-length" in fields:
            self._skip(int(fields[b"content-length"]))
        elif b"chunked" in fields.get(b"transfer-encoding", b""):
            while True:
                while b"\r\n" not in self._read:
                    self._more()
                size, self._read = self._read.split(b"\r\n", 1)
                self._skip(int(size, 16) + 2)
                if int(size, 16) == 0:
                    return

    def _skip(self, count: int) -> None:
        while len(self._read) < count:
            self._more()
        self._read = self._read[count:]

    def _more(self) -> None:
        try:
            some = self._socket.recv(65536)
        except ConnectionResetError:
            some = b""
        if not some:
            raise ConnectionError("the server hung up without an answer")
        self._read += some
