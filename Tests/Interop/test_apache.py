"""Apache with mod_auth_openidc as Debian ships it, in front of a page for signed-in users only."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import requests

from conftest import missing
from harness.browser import Browser, Page
from harness.server import free_port
from harness.spindle import Client, Spindle

MODULES = Path("/usr/lib/apache2/modules")
CONFIGURATION = """
ServerRoot {folder}
DefaultRuntimeDir {folder}
PidFile {folder}/apache.pid
Mutex file:{folder} default
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
ErrorLog {folder}/error.log
DocumentRoot {folder}/pages

OIDCProviderMetadataURL {issuer}/.well-known/openid-configuration
OIDCClientID {client}
OIDCClientSecret {secret}
OIDCRedirectURI {origin}/oidc
OIDCCryptoPassphrase {folder}
OIDCScope "openid email profile"
{flow}

<Location />
    AuthType openid-connect
    Require valid-user
    Header set X-Person "%{{OIDC_CLAIM_sub}}e %{{OIDC_CLAIM_email}}e"
</Location>
<Location /bye>
    Require all granted
</Location>
"""
FLOWS = {
    "code": "OIDCResponseType code\nOIDCPKCEMethod S256",
    "id_token": "OIDCResponseType id_token\nOIDCResponseMode form_post",
}


class Apache:
    """One server, in the foreground, as an unprivileged system user."""

    def __init__(self, port: int, spindle: Spindle, client: Client, flow: str):
        self.port = port
        self.folder = Path(tempfile.mkdtemp(prefix="apache-"))
        (self.folder / "pages" / "bye").mkdir(parents=True)
        (self.folder / "pages" / "index.html").write_text("for members")
        (self.folder / "pages" / "bye" / "index.html").write_text("good bye")
        names = ["mpm_event", "authn_core", "authz_core", "authz_user", "dir", "headers", "auth_openidc"]
        modules = "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in names)
        (self.folder / "apache.conf").write_text(modules + CONFIGURATION.format(
            folder=self.folder, port=port, origin=self.origin, issuer=spindle.origin, client=client.id,
            secret=client.secret, flow=FLOWS[flow],
        ))
        user = None
        if os.geteuid() == 0:
            user = "www-data"
            for path in [self.folder, *self.folder.rglob("*")]:
                shutil.chown(path, user, user)
        self.process = subprocess.Popen(
            ["/usr/sbin/apache2", "-D", "FOREGROUND", "-f", self.folder / "apache.conf"], user=user, group=user,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        deadline = time.monotonic() + 30
        while not self.is_up():
            assert self.process.poll() is None, self.process.stdout.read() + self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.05)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        log = self.folder / "error.log"
        return log.read_text("utf-8", "replace") if log.exists() else ""

    def is_up(self) -> bool:
        try:
            return requests.get(self.origin + "/bye/", timeout=5).status_code == 200
        except requests.ConnectionError:
            return False

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        self.process.stdout.close()
        shutil.rmtree(self.folder)


@pytest.fixture(params=list(FLOWS))
def flow(request) -> str:
    return request.param


@pytest.fixture
def spindle(launch) -> Spindle:
    # Back-channel logout goes to Apache on this machine.
    return Spindle.of(launch(settings={"SPINDLE_OUTBOUND_ALLOW_PRIVATE": "127.0.0.0/8"}))


@pytest.fixture
def apache(spindle, flow) -> Iterator[Apache]:
    for file in (Path("/usr/sbin/apache2"), MODULES / "mod_auth_openidc.so"):
        if not file.exists():
            missing(f"{file} is missing (apt-get install apache2-bin libapache2-mod-auth-openidc)")
    port = free_port()
    here = f"http://127.0.0.1:{port}"
    client = spindle.create_client(
        spindle.create_merchant(), "Members' pages", f"{here}/oidc", response_types=[flow],
        grant_types=["authorization_code" if flow == "code" else "implicit"],
        post_logout_redirect_uris=[f"{here}/bye/"], backchannel_logout_uri=f"{here}/oidc?logout=backchannel",
    )
    apache = Apache(port, spindle, client, flow)
    yield apache
    apache.end()


class SiteUser:
    """A user's browser: the cookies it keeps for Apache and for Spindle."""

    def __init__(self, spindle: Spindle, apache: Apache):
        self.apache = apache
        self.there = requests.Session()
        self.browser = Browser(spindle)
        self.person = spindle.create_person()

    def ask(self, path: str = "/") -> requests.Response:
        return self.there.get(self.apache.origin + path, allow_redirects=False, timeout=20)

    def sign_in(self) -> requests.Response:
        page = self.browser.open(self.ask().headers["Location"])
        if any(form.password_field for form in page.forms):
            page = self.browser.sign_in(page, self.person)
        return self.carry(page)

    def carry(self, page: Page) -> requests.Response:
        """Takes Spindle's answer to Apache, by its address or by the form that submits itself."""
        if page.left_for:
            assert parse_qs(urlsplit(page.left_for).query)["code"]
            return self.there.get(page.left_for, timeout=20)
        form = page.forms[0]
        assert form.action == self.apache.origin + "/oidc" and form.fields["id_token"]
        return self.there.post(form.action, data=form.fields, headers={"Origin": "null"}, timeout=20)


def test_mod_auth_openidc_signs_users_in_and_out(spindle, apache):
    user = SiteUser(spindle, apache)
    shown = user.sign_in()
    assert (shown.status_code, shown.text) == (200, "for members"), apache.log
    assert shown.headers["X-Person"] == f"{user.person.id} {user.person.email}"
    assert user.ask().status_code == 200

    # The module ends its own session and sends the browser to Spindle, with the ID token as a hint.
    away = user.ask(f"/oidc?logout={quote(apache.origin + '/bye/', safe='')}").headers["Location"]
    assert parse_qs(urlsplit(away).query)["id_token_hint"]
    assert user.browser.open(away).left_for.startswith(apache.origin + "/bye/")
    assert not user.browser.is_signed_in()
    assert user.ask().status_code == 302


def test_signing_out_at_spindle_ends_the_session_of_mod_auth_openidc(spindle, apache):
    user, other = SiteUser(spindle, apache), SiteUser(spindle, apache)
    for one in (user, other):
        assert one.sign_in().text == "for members", apache.log
    user.browser.log_out()
    deadline = time.monotonic() + 30
    while user.ask().status_code == 200:
        assert time.monotonic() < deadline, f"still signed in there:\n{apache.log}"
        time.sleep(0.05)
    assert other.ask().status_code == 200, "the logout was of one session"
