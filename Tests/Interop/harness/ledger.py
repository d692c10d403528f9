"""The answers that clients got, noted only after a response was read to its end."""

import http.client
import threading
import time
from dataclasses import dataclass, field

from harness.wire import Answer
from harness.world import World

# What a client sees when the server is killed: the request's outcome is then in doubt.
CUT_OFF = (OSError, http.client.HTTPException)


@dataclass
class Phone:
    """A chain of rotated refresh tokens. `in_doubt` is set when the response to a rotation never came."""

    refresh_token: str
    in_doubt: bool = False


@dataclass(frozen=True)
class Code:
    value: str
    made: float = field(default_factory=time.monotonic)

    @property
    def is_fresh(self) -> bool:
        """Whether it is well within its lifetime of 30 seconds."""
        return time.monotonic() - self.made < 20


@dataclass
class Ledger:
    """One round of traffic, from a start to a kill."""

    own_tokens: list[str] = field(default_factory=list)
    rotated_tokens: list[str] = field(default_factory=list)
    redeemed: list[tuple[Code, str]] = field(default_factory=list)
    # Codes that were issued but never redeemed, and those whose redemption was cut off.
    untouched: list[Code] = field(default_factory=list)
    in_doubt: list[Code] = field(default_factory=list)
    # A response that is neither success nor a cut: always a bug.
    surprises: list[str] = field(default_factory=list)

    @property
    def counts(self) -> tuple[int, int, int]:
        return len(self.own_tokens), len(self.rotated_tokens), len(self.redeemed)


class Traffic:
    """Clients of every kind, each on its own thread and connection, until the server goes away."""

    def __init__(self, world: World, phones: list[Phone], source_token: str):
        self.world = world
        self.source_token = source_token
        self.ledger = Ledger()
        self._over = threading.Event()
        jobs = [(self._own_token, ())] * 2 + [(self._redeem, ())] * 2
        jobs += [(self._rotate, (phone,)) for phone in phones]
        self._threads = [threading.Thread(target=self._repeat, args=job, daemon=True) for job in jobs]

    def start(self) -> "Traffic":
        for thread in self._threads:
            thread.start()
        return self

    def wait_for(self, each: int, limit: float) -> None:
        """Waits until requests of every kind were acknowledged `each` times."""
        deadline = time.monotonic() + limit
        while min(self.ledger.counts) < each and time.monotonic() < deadline and not self.ledger.surprises:
            time.sleep(0.002)

    def finish(self) -> Ledger:
        self._over.set()
        for thread in self._threads:
            thread.join(40)
            assert not thread.is_alive(), "a client waits for an answer from a dead server"
        return self.ledger

    def _repeat(self, job, arguments) -> None:
        connection = self.world.spindle.address.connect(timeout=30)
        try:
            while not self._over.is_set():
                job(connection, *arguments)
        except CUT_OFF:
            pass
        finally:
            connection.close()

    def _is_good(self, answer: Answer, what: str) -> bool:
        if answer.status != 200:
            self.ledger.surprises.append(f"{what}: {answer}")
            self._over.set()
        return answer.status == 200

    def _own_token(self, connection) -> None:
        answer = self.world.spindle.client_credentials(self.world.backend, connection=connection)
        if self._is_good(answer, "client_credentials"):
            self.ledger.own_tokens.append(answer.json["access_token"])

    def _rotate(self, connection, phone: Phone) -> None:
        phone.in_doubt = True
        answer = self.world.spindle.refresh(self.world.app, phone.refresh_token, connection=connection)
        if self._is_good(answer, "refresh_token"):
            phone.refresh_token, phone.in_doubt = answer.json["refresh_token"], False
            self.ledger.rotated_tokens.append(answer.json["access_token"])

    def _redeem(self, connection) -> None:
        exchanged = self.world.spindle.exchange(self.source_token, self.world.backend, connection=connection)
        if not self._is_good(exchanged, "exchange"):
            return
        code = Code(exchanged.json["code"])
        if self._over.is_set():
            self.ledger.untouched.append(code)
            return
        try:
            answer = self.world.spindle.redeem(self.world.backend, code.value, connection=connection)
        except CUT_OFF:
            self.ledger.in_doubt.append(code)
            raise
        if self._is_good(answer, "redeem"):
            self.ledger.redeemed.append((code, answer.json["access_token"]))
