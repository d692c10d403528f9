"""Mail to a real mail server: delivery, waiting, and what is never sent in the clear."""

import json
import re
import sqlite3
import ssl
import stat
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from harness.browser import Browser
from harness.mail import PATIENCE, MailServer
from harness.server import Server, free_port
from harness.spindle import Person, Spindle

# The stand-in means this.
pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")

SENDER = "Veveriet <no-reply@loom.example>"
LOGIN = ("mailer@loom.example", "p:a/ss@wörd%")
QUOTED_LOGIN = "mailer%40loom.example:p%3Aa%2Fss%40w%C3%B6rd%25"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory, program) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        [program("openssl", "openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", key, "-out", certificate],
        check=True, capture_output=True, timeout=30,
    )
    return certificate, key


@pytest.fixture
def context(certificate) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate)
    return context


@pytest.fixture
def house(launch):
    """Starts a server whose mail goes to `url`, with one user."""

    def house(url: str, **settings: str) -> tuple[Server, Person]:
        server = launch(settings={"SPINDLE_MAIL": url, "SPINDLE_MAIL_FROM": SENDER} | settings)
        return server, Spindle.of(server).create_person(f"kari+mail@{free_port()}.example")

    return house


def forget_password(server: Server, person: Person) -> None:
    """Asks for a link to set a new password, as on the page."""
    browser = Browser(Spindle.of(server))
    page = browser.open("/password")
    form = next(form for form in page.forms if form.name_field)
    answer = browser.submit(page, form, email=person.email).answer
    assert answer.status == 200, answer


def waiting(server: Server) -> list[tuple[int, int]]:
    """Attempts and due time of what is still in the outbox."""
    with closing(sqlite3.connect(server.database, timeout=10)) as database:
        return database.execute("SELECT attempts, due_at FROM deliveries WHERE failed_at IS NULL").fetchall()


def time_passes(server: Server) -> None:
    """Every delivery that waits for its next attempt is due now."""
    with closing(sqlite3.connect(server.database, timeout=10)) as database, database:
        database.execute("UPDATE deliveries SET due_at = 0")


def until(condition, what: str):
    """The value of `condition` as soon as it has one."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen")


def until_postponed(server: Server, attempts: int = 1) -> None:
    def is_postponed() -> bool:
        return server.log.read_text().count("delivery postponed") >= attempts

    until(is_postponed, f"failed attempt {attempts}")
    assert len(waiting(server)) == 1, "a mail that may still arrive is not thrown away"


def mail_finding(server: Server) -> dict:
    checks = json.loads(server.command("doctor", "--json").stdout)["checks"]
    return [check for check in checks if check["check"] == "mail"][-1]


def test_a_mail_arrives_once_and_complete(house):
    with MailServer() as mail:
        server, person = house(f"smtp://127.0.0.1:{mail.port}")
        forget_password(server, person)
        received = mail.receive()
        assert received.sender == "no-reply@loom.example"
        assert received.recipients == [person.email]
        message = received.message
        assert message["From"] == SENDER and message["To"].addresses[0].addr_spec == person.email
        assert message["Auto-Submitted"] == "auto-generated"
        assert message["Message-ID"].endswith("@loom.example>")
        assert abs(message["Date"].datetime.timestamp() - time.time()) < 300
        assert message["Subject"] and not message.defects
        link = f"{server.origin}/password/reset/"
        assert link in received.text and link in received.html
        lines = received.content.split(b"\r\n")
        assert all(len(line) <= 998 and line.isascii() and b"\n" not in line for line in lines)
        until(lambda: not waiting(server), "an empty outbox")
        assert server.stop() == 0
        assert mail.is_empty


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
def test_a_mail_is_sent_over_tls_with_authentication(house, context, certificate, scheme):
    with MailServer(certificate=context, implicit=scheme == "smtps", login=LOGIN) as mail:
        options = f"ca={certificate[0]}" + ("&starttls=required" if scheme == "smtp" else "")
        server, person = house(f"{scheme}://{QUOTED_LOGIN}@127.0.0.1:{mail.port}?{options}")
        assert mail_finding(server)["state"] == "ok"
        forget_password(server, person)
        received = mail.receive()
        assert received.is_encrypted and received.login == LOGIN[0]
        assert received.recipients == [person.email]


@pytest.mark.parametrize(
    ("scheme", "host", "trusts"),
    [("smtps", "127.0.0.1", False), ("smtp", "127.0.0.1", False), ("smtps", "localhost", True),
     ("smtp", "localhost", True)],
)
def test_a_mail_server_with_an_invalid_certificate_gets_neither_mail_nor_password(
    house, context, certificate, scheme, host, trusts
):
    with MailServer(certificate=context, implicit=scheme == "smtps", login=LOGIN) as mail:
        options = (["starttls=required"] if scheme == "smtp" else []) + ([f"ca={certificate[0]}"] if trusts else [])
        server, person = house(f"{scheme}://{QUOTED_LOGIN}@{host}:{mail.port}?{'&'.join(options)}")
        assert mail_finding(server)["state"] == "bad"
        forget_password(server, person)
        until_postponed(server)
        assert not mail.logins and mail.is_empty


def test_a_mail_server_without_required_starttls_gets_nothing(house):
    with MailServer(login=LOGIN) as mail:
        server, person = house(f"smtp://{QUOTED_LOGIN}@127.0.0.1:{mail.port}?starttls=required")
        forget_password(server, person)
        until_postponed(server)
        assert not mail.logins and mail.is_empty


def test_a_wrong_smtp_password_loses_no_mail_and_is_not_logged(house, context, certificate):
    with MailServer(certificate=context, implicit=True, login=("mailer", "right")) as mail:
        server, person = house(f"smtps://mailer:SECRET-PASSWORD@127.0.0.1:{mail.port}?ca={certificate[0]}")
        finding = mail_finding(server)
        assert finding["state"] == "bad" and "SECRET" not in finding["detail"]
        forget_password(server, person)
        until_postponed(server)
        assert mail.is_empty
        assert "SECRET" not in server.log.read_text()


def test_a_mail_waits_for_a_server_that_is_down(house):
    port = free_port()
    server, person = house(f"smtp://127.0.0.1:{port}")
    assert mail_finding(server)["state"] == "bad"
    forget_password(server, person)
    until_postponed(server)
    with MailServer(port=port) as mail:
        time_passes(server)
        assert mail.receive().recipients == [person.email]
        until(lambda: not waiting(server), "an empty outbox")
    assert person.email not in server.log.read_text()


@pytest.mark.parametrize("command", ["RCPT", "DATA"])
def test_a_temporarily_refused_mail_is_sent_again(house, command):
    with MailServer(answers={command: ["451 4.7.1 later"]}) as mail:
        server, person = house(f"smtp://127.0.0.1:{mail.port}")
        forget_password(server, person)
        until_postponed(server)
        time_passes(server)
        assert mail.receive().recipients == [person.email]


@pytest.mark.parametrize("command", ["RCPT", "DATA"])
def test_a_permanently_refused_mail_is_given_up(house, command):
    with MailServer(answers={command: ["550 5.1.1 <kari+mail@x.example> nobody of that name"]}) as mail:
        server, person = house(f"smtp://127.0.0.1:{mail.port}")
        forget_password(server, person)
        until(lambda: "delivery given up" in server.log.read_text(), "giving up")
        until(lambda: not waiting(server), "an empty outbox")
        assert mail.is_empty
        log = server.log.read_text()
        assert "550" in log and "kari" not in log and "/password/reset/" not in log


def test_a_mail_survives_a_kill_while_it_is_sent(house):
    with MailServer(is_silent=True) as mail:
        server, person = house(f"smtp://127.0.0.1:{mail.port}")
        forget_password(server, person)
        assert mail.reached.wait(PATIENCE), "it was not sent"
        server.kill()
        [(attempts, due)] = waiting(server)
        assert attempts == 1 and due > time.time() * 1000, "it is leased while it is being sent"
        mail.is_silent = False
        mail.release()
        # The dead server's lease has expired.
        time_passes(server)
        server.start()
        received = mail.receive()
        assert received.recipients == [person.email]
        first, second = mail.attempts
        assert first.content == second.content, "a reader can see that it is the same"
        until(lambda: not waiting(server), "an empty outbox")


def test_a_silent_mail_server_does_not_delay_the_stop(house):
    with MailServer(is_silent=True) as mail:
        server, person = house(f"smtp://127.0.0.1:{mail.port}")
        forget_password(server, person)
        assert mail.reached.wait(PATIENCE), "it was not sent"
        assert server.stop() == 0
        [(_, due)] = waiting(server)
        assert due <= time.time() * 1000, "the next server may send it at once"


def test_a_silent_mail_server_delays_no_other_mail(house):
    with MailServer(is_silent=True) as mail:
        server, person = house(f"smtp://127.0.0.1:{mail.port}")
        forget_password(server, person)
        assert mail.reached.wait(PATIENCE), "it was not sent"
        mail.is_silent = False
        other = Spindle.of(server).create_person()
        forget_password(server, other)
        assert mail.receive().recipients == [other.email]


def test_a_mail_folder_gets_one_private_file_for_each_mail(house):
    server, person = house("file:post/out")
    assert mail_finding(server)["state"] == "ok"
    assert not (server.directory / "post").exists(), "doctor makes nothing"
    forget_password(server, person)
    folder = server.directory / "post" / "out"
    [file] = until(lambda: list(folder.glob("*.eml")), "a file")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert re.search(rb"^To: <" + re.escape(person.email.encode()) + rb">\r$", file.read_bytes(), re.MULTILINE)
    assert [path.name for path in folder.iterdir()] == [file.name]


def test_doctor_warns_of_undelivered_and_of_unencrypted_mail(prepare):
    server = prepare(settings={"SPINDLE_ISSUER": "https://id.loom.example"})
    server.init()
    assert mail_finding(server)["state"] == "warning"
    server.settings["SPINDLE_MAIL"] = "file:/dev/null/outbox"
    assert mail_finding(server)["state"] == "bad"
    server.settings["SPINDLE_MAIL"] = "smtp://mail.invalid?starttls=never-insecure"
    checks = json.loads(server.command("doctor", "--json").stdout)["checks"]
    assert [check["state"] for check in checks if check["check"] == "mail"] == ["warning", "bad"]
