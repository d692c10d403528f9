"""docs/troubleshooting.md: each text of Spindle's in a title is provoked, so that page and program say the same.

An entry's line `<!-- provoked by NAME -->` names the function below. When a text of the program changes, change the
title alone.
"""

import html
import json
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from harness.assertion import JWT_BEARER, assertion
from harness.browser import Browser
from harness.server import REPOSITORY, Server, master_key
from harness.shell import Shell, commands
from harness.spindle import PKCE, Client, Person, Spindle
from harness.tls import Identity, prepare_https
from harness.wire import Answer, basic

PAGE = "troubleshooting.md"
TEXT = (REPOSITORY / "docs" / PAGE).read_text("utf-8")
OF_OTHERS = "## Browsers, proxies and libraries"
ENTRIES = re.findall(r"^### (.+)\n(?:<!-- provoked by (\w+) -->\n)?", TEXT, flags=re.MULTILINE)
BACK = "https://shop.example/callback"
ISSUER, KEY = "https://op.example", "a shared secret of 32 bytes at least"
VERIFIER = PKCE()


def said(answer: Answer) -> str:
    """The words of an answer: of its address, its JSON or its page."""
    if answer.location:
        parts = urlsplit(answer.location)
        return " ".join(value for values in parse_qs(parts.query or parts.fragment).values() for value in values)
    if "json" in answer.headers.get("Content-Type", ""):
        return " ".join(str(value) for value in answer.json.values())
    return html.unescape(re.sub(r"<[^>]+>", " ", answer.text))


@dataclass
class Place:
    """A server with clients of each kind, and one with an https issuer and a mail server that does not answer."""

    server: Server
    spindle: Spindle
    merchant: str
    web: Client
    page: Client
    machine: Client
    person: Person
    behind: Spindle
    behind_log: Server
    secure: Server
    folder: Path

    def authorize(self, client: Client | None = None, pkce: PKCE | None = VERIFIER, **parameters) -> Answer:
        path = self.spindle.authorize_path(client or self.web, pkce, **{"scope": "openid"} | parameters)
        return self.spindle.call("GET", path, headers={"Accept": "text/html"})

    def command(self, *arguments: str, **changes: str | None) -> str:
        done = self.server.command(*arguments, **changes)
        return done.stdout + done.stderr

    def administer(self, method: str, path: str, content: dict) -> Answer:
        return self.spindle.administer(method, path, content)


@pytest.fixture(scope="module")
def place(launch, prepare, program, tmp_path_factory) -> Place:
    server = launch()
    secure = prepare_https(prepare, Identity.make(tmp_path_factory.mktemp("tls"), program("openssl", "openssl")))
    secure.init()
    secure.start()
    spindle = Spindle.of(server)
    merchant = spindle.create_merchant()
    spindle.create_issuer(merchant_id=merchant, issuer=ISSUER, secret=KEY, create_users=True, audiences=[])
    behind = launch(settings={"SPINDLE_ISSUER": "https://id.example", "SPINDLE_MAIL": "smtp://127.0.0.1:1"})
    return Place(
        server, spindle, merchant,
        spindle.create_client(
            merchant, "Shop", BACK, grant_types=["authorization_code", "refresh_token", JWT_BEARER],
            scope="openid email"),
        spindle.create_client(merchant, "Page", BACK, token_endpoint_auth_method="none"),
        spindle.create_client(merchant, "Machine", grant_types=["client_credentials"], scope="read"),
        spindle.create_person("ada@example.com"),
        Spindle.of(behind), behind, secure, tmp_path_factory.mktemp("place"),
    )


PROVOCATIONS = {}


def provocation(function):
    PROVOCATIONS[function.__name__] = function
    return function


# Redirect URIs


@provocation
def unregistered_redirect_uri(place):
    return place.authorize(redirect_uri=BACK + "/")


@provocation
def unknown_client(place):
    return place.authorize(client_id="unknown")


@provocation
def no_client_id(place):
    return place.authorize(client_id="")


def with_code(place) -> tuple[Browser, str]:
    """A browser with a session, and the code that it brings from its sign-in."""
    browser = Browser(place.spindle)
    page = browser.open(place.spindle.authorize_path(place.web, VERIFIER, scope="openid"))
    return browser, browser.sign_in(page, place.person).query["code"]


def signed_in(place) -> tuple[Browser, dict]:
    """A browser with a session, and the tokens of its sign-in."""
    browser, code = with_code(place)
    return browser, place.spindle.redeem(place.web, code, code_verifier=VERIFIER.verifier).json


@provocation
def unregistered_post_logout_redirect_uri(place):
    browser, tokens = signed_in(place)
    return browser.open(
        f"/logout?id_token_hint={tokens['id_token']}&post_logout_redirect_uri=https://shop.example/").answer


@provocation
def logout_by_a_server(place):
    browser, tokens = signed_in(place)
    answer = place.spindle.call("GET", f"/logout?id_token_hint={tokens['id_token']}")
    assert browser.is_signed_in()
    return answer


# Authorization requests


@provocation
def no_challenge(place):
    return place.authorize(pkce=None)


@provocation
def no_challenge_of_a_public_client(place):
    return place.authorize(place.page, pkce=None, nonce="n")


@provocation
def plain_challenge(place):
    return place.authorize(code_challenge_method="plain")


@provocation
def no_registered_scope(place):
    return place.authorize(scope="openid,email")


@provocation
def unregistered_response_type(place):
    return place.authorize(response_type="token")


@provocation
def silent_request(place):
    return place.authorize(prompt="none")


@provocation
def unregistered_resource(place):
    return place.authorize(resource="https://api.example/")


# Token requests


@provocation
def wrong_secret(place):
    return place.spindle.token(Client(place.web.id, "wrong", None), "authorization_code")


@provocation
def no_client(place):
    return place.spindle.call("POST", "/oauth/token", form={"grant_type": "client_credentials"})


@provocation
def two_credentials(place):
    return place.spindle.call(
        "POST", "/oauth/token", form={"grant_type": "client_credentials"} | place.machine.proof,
        headers={"Authorization": basic(place.machine.id, place.machine.secret)})


@provocation
def malformed_basic(place):
    return place.spindle.call(
        "POST", "/oauth/token", form={"grant_type": "client_credentials"}, headers={"Authorization": "Basic !"})


@provocation
def unknown_code(place):
    return place.spindle.redeem(place.web, "unknown")


@provocation
def no_verifier(place):
    return place.spindle.redeem(place.web, with_code(place)[1])


@provocation
def unknown_refresh_token(place):
    return place.spindle.refresh(place.web, "unknown")


@provocation
def wide_scope(place):
    return place.spindle.client_credentials(place.machine, scope="write")


@provocation
def unregistered_grant(place):
    return place.spindle.client_credentials(place.web)


@provocation
def unknown_grant(place):
    return place.spindle.token(place.web, "urn:ietf:params:oauth:grant-type:device_code")


def machine(place, **members) -> Client:
    """A client that lists an API."""
    return place.spindle.create_client(
        place.merchant, "Machine", grant_types=["client_credentials"], scope="read",
        resources=["https://api.example/"], **members)


@provocation
def get_at_the_token_endpoint(place):
    return place.spindle.call("GET", "/oauth/token")


@provocation
def content_type(place):
    return place.spindle.call("POST", "/oauth/token", body=b"x", headers={
        "Content-Type": "text/plain", "Authorization": basic(place.machine.id, place.machine.secret)})


@provocation
def wrong_path(place):
    return place.spindle.call("POST", "/oauth2/token", form={})


# Access tokens


@provocation
def no_token(place):
    return place.spindle.call("GET", "/oauth/userinfo")


@provocation
def unknown_token(place):
    return place.spindle.call("GET", "/oauth/userinfo", bearer="unknown")


@provocation
def token_of_another_merchant(place):
    token = place.spindle.client_credentials(place.machine).json["access_token"]
    other = place.spindle.create_client(place.spindle.create_merchant(), "Other")
    return place.spindle.call("POST", "/oauth/introspect", form={"token": token} | other.proof).text


@provocation
def token_for_a_resource(place):
    client = machine(place, access_token_format="jwt")
    token = place.spindle.client_credentials(client, resource="https://api.example/").json["access_token"]
    return place.spindle.call("GET", "/oauth/userinfo", bearer=token)


@provocation
def token_without_a_user(place):
    token = place.spindle.client_credentials(place.machine).json["access_token"]
    return place.spindle.call("GET", "/oauth/userinfo", bearer=token)


@provocation
def missing_scope(place):
    token = place.spindle.client_credentials(place.machine).json["access_token"]
    return place.spindle.administer("GET", "clients", token=token)


# Administration


@provocation
def broken_json(place):
    return place.spindle.call(
        "POST", "/admin/v1/merchants", body=b'{"name": "Shop",}', headers={"Content-Type": "application/json"},
        bearer=place.spindle.admin_token())


@provocation
def form_at_administration(place):
    return place.spindle.call(
        "POST", "/admin/v1/merchants", form={"name": "Shop"}, bearer=place.spindle.admin_token())


@provocation
def unknown_member(place):
    return place.administer("PATCH", f"clients/{place.web.id}", {"redirect_uri": BACK})


@provocation
def sign_in_name_without_client_id(place):
    return place.administer("POST", "issuers", {
        "merchant_id": place.merchant, "issuer": "https://login.example.com", "sign_in_name": "Example",
        "discovery_url": "https://login.example.com/.well-known/openid-configuration"})


# Pages and cookies


@provocation
def https_issuer_over_http(place):
    """A browser at http sends http as the origin of the form, and has not kept the cookie."""
    login = place.behind.call("GET", "/login", headers={"Accept": "text/html"})
    token = re.search(r'name="form_token" value="([^"]+)"', login.text)[1]
    return place.behind.call(
        "POST", "/login", form={"form_token": token, "email": "ada@example.com", "password": "x"},
        headers={"Accept": "text/html", "Origin": place.behind.address.origin})


@provocation
def foreign_form(place):
    """A browser that comes from another site."""
    browser = Browser(place.spindle)
    page = browser.open("/login")
    form = next(form for form in page.forms if form.password_field)
    return browser.open(
        form.action, "POST", form.fields, Origin="https://elsewhere.example", Sec_Fetch_Site="cross-site").answer


@provocation
def no_cookie(place):
    browser = Browser(place.spindle)
    page = browser.open("/login")
    browser.cookies.clear()
    return browser.sign_in(page, place.person).answer


@provocation
def old_page(place):
    """The request began in another browser."""
    page = Browser(place.spindle).open(place.spindle.authorize_path(place.web, VERIFIER, scope="openid"))
    onward = next(form.fields["continue"] for form in page.forms if "continue" in form.fields)
    return Browser(place.spindle).open(f"/oauth/authorize?continue={onward}").answer


@provocation
def throttled(place):
    client = place.spindle.create_client(place.merchant, "App", grant_types=["password"])
    for _ in range(40):
        # Its own address, so that the other tests' sign-ins are not counted with these.
        answer = place.spindle.token(
            client, "password", source="127.0.0.9", username="liv@example.com", password="wrong")
        if answer.status == 429:
            break
    return answer


# https and proxies


@provocation
def https_without_proxies(place):
    return place.command("doctor", SPINDLE_ISSUER="https://id.example")


def answer_to(server: Server, first: bytes) -> bytes:
    with socket.create_connection((server.address.host, server.address.port), timeout=10) as line:
        line.sendall(first)
        parts = []
        try:
            while part := line.recv(4096):
                parts.append(part)
        except ConnectionResetError:
            pass
        return b"".join(parts)


@provocation
def http_to_the_tls_port(place):
    told = answer_to(place.secure, b"GET / HTTP/1.1\r\nHost: id.example\r\n\r\n").decode()
    assert told.startswith("HTTP/1.1 400 ") and "\r\nX-Request-Id: " in told and "Strict-Transport" not in told
    assert place.secure.has_logged("reason=http_on_tls_port")
    return told


@provocation
def tls_to_the_plain_port(place):
    assert answer_to(place.server, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03") == b""
    assert place.server.has_logged("reason=tls_on_plain_port")
    return place.server.log_tail()


@provocation
def unreachable_issuer(place):
    return re.sub(r" +", " ", place.command("doctor", SPINDLE_ISSUER="http://127.0.0.1:1"))


# Mail


@provocation
def mail_to_a_folder(place):
    return place.command("doctor", SPINDLE_ISSUER="https://id.example")


@provocation
def unreachable_mail_server(place):
    person = place.behind.create_person()
    browser = Browser(place.behind)
    page = browser.open("/password")
    browser.submit(page, page.forms[0], email=person.email)
    assert place.behind_log.has_logged("delivery postponed")
    return place.behind_log.log_tail()


# Clocks


def asserted(place, **claims) -> Answer:
    sent = assertion(KEY, ISSUER, place.spindle.origin, **claims)
    return place.spindle.token(place.web, JWT_BEARER, assertion=sent)


@provocation
def assertion_from_the_future(place):
    return asserted(place, iat=4_000_000_000)


@provocation
def expired_assertion(place):
    return asserted(place, iat=1_000_000_000, exp=1_000_000_060)


# Commands and the start


@provocation
def port_in_use(place):
    return place.command("serve")


@provocation
def no_database(place):
    return place.command("serve", SPINDLE_DATABASE=str(place.folder / "none.db"))


@provocation
def users_before_development(place):
    return place.command("serve", "--dev")


@provocation
def unknown_setting(place):
    return place.command("serve", SPINDLE_ISUER="https://id.example")


@provocation
def wrong_master_key(place):
    return place.command("serve", SPINDLE_MASTER_KEY=master_key())


@provocation
def unknown_merchant(place):
    return place.command("client", "create", "--merchant", "Acme", "--name", "Shop",
                         "--redirect-uri", "https://shop.example/signed-in")


# The tests


def texts(title: str) -> list[str]:
    """The texts in a title: what stands between backticks, one or two."""
    return [text.strip() for _, text in re.findall(r"(`+)(.+?)\1(?!`)", title)]


@pytest.mark.parametrize("title, name", [entry for entry in ENTRIES if entry[1]], ids=lambda part: part[:60])
def test_the_program_still_says_the_text_of_an_entry(title, name, place):
    answer = PROVOCATIONS[name](place)
    words = " ".join((said(answer) if isinstance(answer, Answer) else answer).split())
    assert texts(title), title
    for text in texts(title):
        pattern = ".+?".join(re.escape(part) for part in text.split("…"))
        assert re.search(pattern, words), f"not said: {text}\nbut: {words}"


def test_each_entry_of_spindles_own_texts_is_provoked():
    own, others = TEXT.split(OF_OTHERS)
    assert {name for _, name in ENTRIES if name} == PROVOCATIONS.keys()
    assert own.count("\n### ") == own.count("<!-- provoked by ")
    assert others.count("\n### ") > 0 and "<!-- provoked by " not in others


def test_each_reason_of_the_page_is_in_the_table_of_reasons():
    named = re.findall(r"\breason `(\w+)`", TEXT, flags=re.IGNORECASE)
    tables = re.findall(r"^\| `reason` \|.*\n\|.*\n((?:\|.*\n)+)", TEXT, flags=re.MULTILINE)
    listed = [reason for table in tables for reason in re.findall(r"^\| `(\w+)`", table, flags=re.MULTILINE)]
    reasons = (REPOSITORY / "docs" / "operating" / "reasons.md").read_text("utf-8")
    assert named and listed
    assert [reason for reason in named + listed if f"`{reason}`" not in reasons] == []


def test_each_command_of_the_page_succeeds(place, tmp_path, program):
    program("curl", "curl")
    client = place.spindle.create_client(place.merchant, "Shop", BACK)
    shell = Shell(place.server, tmp_path, client=client.id, ADMIN=place.spindle.admin_token())
    for command in commands(PAGE):
        answer = shell.run(command)
        if "-X PATCH" in command:
            assert json.loads(answer)["client_id"] == client.id, (command, answer)
        assert answer
