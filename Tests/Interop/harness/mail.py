"""A mail server in this process, with TLS, passwords, refusals and silence."""

import asyncio
import email
import email.policy
import queue
import ssl
import threading
from dataclasses import dataclass, field
from email.message import EmailMessage

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from harness.server import free_port

# The server's mail arrives at once; a test waits longer only to fail.
PATIENCE = 30


@dataclass(frozen=True)
class Received:
    sender: str
    recipients: list[str]
    content: bytes
    is_encrypted: bool
    login: str | None

    @property
    def message(self) -> EmailMessage:
        return email.message_from_bytes(self.content, policy=email.policy.default)

    @property
    def text(self) -> str:
        return self.message.get_body(("plain",)).get_content()

    @property
    def html(self) -> str:
        return self.message.get_body(("html",)).get_content()


@dataclass
class MailServer:
    """`answers` has the replies to RCPT or DATA that replace success, used up one by one."""

    port: int = field(default_factory=free_port)
    certificate: ssl.SSLContext | None = None
    # Whether TLS starts with the first byte and not with STARTTLS.
    implicit: bool = False
    login: tuple[str, str] | None = None
    answers: dict[str, list[str]] = field(default_factory=dict)
    # Whether it takes the message and does not reply until `release` is called.
    is_silent: bool = False

    def __post_init__(self):
        self._arrivals: queue.Queue[Received] = queue.Queue()
        self.logins: list[str] = []
        # Every received message, accepted or not.
        self.attempts: list[Received] = []
        self.reached = threading.Event()
        self._released = threading.Event()
        options = {"auth_required": True, "authenticator": self._check} if self.login else {}
        if self.certificate and not self.implicit:
            options |= {"tls_context": self.certificate, "require_starttls": True}
        elif self.login:
            # aiosmtpd requires STARTTLS for passwords and does not count implicit TLS.
            options["auth_require_tls"] = False
        self._controller = Controller(
            self, hostname="127.0.0.1", port=self.port,
            ssl_context=self.certificate if self.implicit else None, **options,
        )

    def __enter__(self) -> "MailServer":
        self._controller.start()
        return self

    def __exit__(self, *_) -> None:
        self.release()
        self._controller.stop(no_assert=True)

    def release(self) -> None:
        self._released.set()

    def receive(self) -> Received:
        """The next message, as soon as it arrives."""
        try:
            return self._arrivals.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError("no mail came") from None

    @property
    def is_empty(self) -> bool:
        return self._arrivals.empty()

    def _check(self, server, session, envelope, mechanism, data) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.logins.append(data.login.decode())
        is_right = (data.login.decode(), data.password.decode()) == self.login
        # Not handled, so that aiosmtpd itself sends the reply.
        return AuthResult(success=is_right, handled=False)

    def _answer(self, command: str) -> str | None:
        answers = self.answers.get(command)
        return answers.pop(0) if answers else None

    # The hooks of aiosmtpd

    async def handle_RCPT(self, server, session, envelope, address, options) -> str:
        if answer := self._answer("RCPT"):
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope) -> str:
        encrypted = self.implicit or session.ssl is not None
        login = self.logins[-1] if session.authenticated else None
        received = Received(envelope.mail_from, envelope.rcpt_tos, envelope.content, encrypted, login)
        self.attempts.append(received)
        self.reached.set()
        if self.is_silent:
            await asyncio.get_running_loop().run_in_executor(None, self._released.wait)
        if answer := self._answer("DATA"):
            return answer
        self._arrivals.put(received)
        return "250 OK"
