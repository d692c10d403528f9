"""Clients that send requests all the time, and the results of their requests."""

import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.wire import Answer


@dataclass
class Tally:
    """What the clients saw: statuses, and failures with their time."""

    statuses: Counter = field(default_factory=Counter)
    failures: list[tuple[float, str]] = field(default_factory=list)

    @property
    def answered(self) -> int:
        return sum(self.statuses.values())


class Load:
    """`count` threads that call `ask` until `stop`. Each keeps a connection, or opens a new one each time."""

    def __init__(
        self, connect: Callable[[], http.client.HTTPConnection], ask: Callable[[http.client.HTTPConnection], Answer],
        count: int, keeps_connections: bool,
    ):
        self.tally = Tally()
        self._connect, self._ask, self._keeps = connect, ask, keeps_connections
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(count)]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def wait_for(self, answered: int, limit: float = 60) -> None:
        """Waits until that many more requests were answered."""
        goal, deadline = self.tally.answered + answered, time.monotonic() + limit
        while self.tally.answered < goal and not self.tally.failures and time.monotonic() < deadline:
            time.sleep(0.005)

    def stop(self) -> Tally:
        self._over.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive(), "a client still waits for its answer"
        return self.tally

    def _run(self) -> None:
        connection = None
        try:
            while not self._over.is_set():
                connection = connection or self._connect()
                self.tally.statuses[self._ask(connection).status] += 1
                if not self._keeps:
                    connection.close()
                    connection = None
        except (OSError, http.client.HTTPException) as failure:
            self.tally.failures.append((time.monotonic(), repr(failure)))
        finally:
            if connection is not None:
                connection.close()
