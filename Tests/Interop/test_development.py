"""`spindle serve --dev`: where it is refused, and what it makes of an empty folder."""

import base64
import html
import json
import re
import time
from pathlib import Path
from urllib.parse import urlencode

from harness.browser import Browser
from harness.server import Server
from harness.spindle import Spindle

BAD_CONFIGURATION = 78
BAD_DATA = 65
USAGE = 64


def said(done) -> str:
    return done.stdout + done.stderr


def trying(server: Server) -> tuple[str, list[str]]:
    """The address that the server tells to open, and the redirect URI of its client."""
    log = server.log.read_text("utf-8")
    begun = log[log.rindex("Development mode:"):]
    uris = re.search(r"redirect_uri +(\S+(?:\n +\S+)*)", begun)[1].split()
    return re.search(r"open\n(http\S+)", begun)[1], uris


def test_development_mode_is_refused_under_https_and_where_others_reach_it(prepare):
    server = prepare()
    for changes, key in [
        ({"SPINDLE_ISSUER": "https://id.example"}, "issuer"),
        ({"SPINDLE_LISTEN": "0.0.0.0:8080", "SPINDLE_ISSUER": "http://127.0.0.1:8080"}, "listen"),
        ({"SPINDLE_LISTEN": "[::]:8080", "SPINDLE_ISSUER": "http://127.0.0.1:8080"}, "listen"),
        ({"SPINDLE_TLS_CERTIFICATE": "/dev/null", "SPINDLE_TLS_KEY": "/dev/null"}, "issuer"),
    ]:
        refused = server.command("serve", "--dev", **changes)
        assert refused.returncode == BAD_CONFIGURATION, said(refused)
        assert re.search(rf"^spindle: {key}: must be .* with --dev", refused.stderr, re.MULTILINE), said(refused)
    both = server.command("serve", "--dev", SPINDLE_LISTEN="0.0.0.0:8080", SPINDLE_ISSUER="https://id.example")
    assert both.returncode == BAD_CONFIGURATION and len(both.stderr.splitlines()) == 2, said(both)
    assert not Path(server.database).exists(), "nothing is made by what is refused"


def test_development_mode_does_not_administer_at_all_interfaces(prepare):
    server = prepare()
    for address in ["0.0.0.0:8081", "[::]:8081", "192.0.2.1:8081"]:
        refused = server.command("serve", "--dev", SPINDLE_ADMIN_LISTEN=address)
        assert refused.returncode == BAD_CONFIGURATION, said(refused)
        assert re.search(r"^spindle: admin_listen: must be .* with --dev", refused.stderr, re.MULTILINE), said(refused)
    assert not Path(server.database).exists(), "nothing is made by what is refused"


def test_development_mode_is_no_setting_and_its_addresses_are_checked(prepare):
    server = prepare()
    unknown = server.command("serve", SPINDLE_DEV="true")
    assert unknown.returncode == BAD_CONFIGURATION and "SPINDLE_DEV" in unknown.stderr, said(unknown)
    alone = server.command("serve", "--dev-redirect-uri", "app:/back")
    assert alone.returncode == USAGE and "--dev" in alone.stderr, said(alone)
    bad = server.command("serve", "--dev", "--dev-redirect-uri", "http://example.com/")
    assert bad.returncode == BAD_DATA and "redirect_uris: must be" in bad.stderr, said(bad)


def test_development_mode_needs_only_an_empty_folder(prepare):
    server = prepare()
    server.start("--dev", "--dev-redirect-uri", "com.example.app:/back", "--dev-redirect-uri", "http://localhost:3000/x")
    address, uris = trying(server)
    assert uris == [f"{server.origin}/development/answer", "com.example.app:/back", "http://localhost:3000/x"]
    assert "warning" in server.log_tail().lower()

    browser = Browser(Spindle(server.address, ("", "")))
    page = browser.open(address)
    form = page.forms[0]
    page = browser.open(
        form.action, "POST",
        form.fields | {"username": "alice", "id_token_lifetime": "9", "outcome": "sign_in"},
    )
    claims = json.loads(html.unescape(re.search(r"<p>Claims</p>\n<pre[^>]*>(.*?)</pre>", page.answer.text, re.S)[1]))
    assert claims["exp"] - claims["iat"] == 9 and claims["aud"] == "dev"
    assert "<h2>Refresh token</h2>" in page.answer.text
    server.stop()

    # Without the options the addresses stay; given again, they are replaced.
    server.start("--dev")
    assert trying(server)[1] == uris
    server.stop()
    server.start("--dev", "--dev-redirect-uri", "app:/back")
    assert trying(server)[1] == [uris[0], "app:/back"]
    server.stop()

    # Users may be made up.
    refused = server.command("serve", SPINDLE_ISSUER="https://id.example")
    assert refused.returncode == BAD_CONFIGURATION and "served with --dev since" in refused.stderr, said(refused)
    told = server.command("doctor")
    assert re.search(r"warning +development", told.stdout), said(told)
    told = server.command("doctor", SPINDLE_ISSUER="https://id.example")
    assert re.search(r"bad +development", told.stdout), said(told)
    server.start()
    assert server.get("/development/sign-in").status == 404
    server.stop()


def test_sync_gateway_has_a_client_of_its_own_that_takes_any_secret(prepare, engine):
    """As Sync Gateway's test provider does: a code without PKCE, redeemed with any secret."""
    server = prepare(engine)
    gateway = "http://localhost:4984/travel/_oidc_callback?provider=spindle"
    server.start("--dev", "--dev-redirect-uri", gateway, "--dev-redirect-uri", "com.example.app:/back")
    log = server.log.read_text("utf-8")
    assert re.search(r"client_id +sync_gateway, .*any secret\n +redirect_uri +" + re.escape(gateway) + "\n\n", log), log
    assert trying(server)[1] == [f"{server.origin}/development/answer", "com.example.app:/back"]

    browser = Browser(Spindle(server.address, ("", "")))
    spindle = browser.spindle

    def code() -> str:
        asked = {
            "response_type": "code", "client_id": "sync_gateway", "redirect_uri": gateway, "access_type": "offline",
            "scope": "openid email", "prompt": "login", "state": "s",
        }
        page = browser.open("/oauth/authorize?" + urlencode(asked))
        form = page.forms[0]
        page = browser.open(form.action, "POST", form.fields | {"username": "alice", "outcome": "sign_in"})
        assert page.left_for.startswith(gateway + "&"), page
        return page.query["code"]

    def redeem(secret: str | None, how: str, code: str):
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": gateway}
        if how == "body":
            return spindle.call("POST", "/oauth/token", form=form | {"client_id": "sync_gateway"} | (
                {} if secret is None else {"client_secret": secret}))
        basic = base64.b64encode(f"sync_gateway:{secret}".encode()).decode()
        return spindle.call("POST", "/oauth/token", form=form, headers={"Authorization": "Basic " + basic})

    for secret, how in [("qux", "Basic"), ("anything at all", "body")]:
        tokens = redeem(secret, how, code())
        assert tokens.status == 200 and tokens.json["id_token"] and tokens.json["refresh_token"], tokens
    last = code()
    assert redeem(None, "body", last).status == 401, "a secret all the same"
    # No other client, and only while the server is in development mode.
    spindle_dev = {"grant_type": "client_credentials", "client_id": "dev", "client_secret": "qux"}
    assert spindle.call("POST", "/oauth/token", form=spindle_dev).status == 401
    server.stop()
    server.start()
    for how in ["Basic", "body"]:
        assert redeem("qux", how, last).json["error"] == "invalid_client"
    server.stop()

    # Without the option its address stays.
    server.start("--dev")
    assert gateway in server.log.read_text("utf-8").rsplit("Development mode:", 1)[1]
    server.stop()


def test_development_mode_refuses_a_database_with_users(prepare):
    server = prepare()
    server.init()
    assert server.command("user", "create", "--email", "ada@example.com").returncode == 0
    refused = server.command("serve", "--dev")
    assert refused.returncode == BAD_CONFIGURATION and "--database dev.db" in refused.stderr, said(refused)
    assert server.command("client", "show", "dev").returncode == 1, "nothing was made"


def test_the_start_page_has_the_secrets_of_its_clients_and_no_other_host_reads_it(prepare, engine):
    server = prepare(engine)
    server.start("--dev", "--dev-redirect-uri", "http://localhost:3000/x")
    spindle = Spindle(server.address, ("", ""))

    def page(path: str = "/") -> str:
        return html.unescape(Browser(spindle).open(path).answer.text)

    def secret(client: str) -> str:
        section = next(part for part in page().split("<section") if f"<h2><code>{client}</code>" in part)
        return re.search(r"client_secret</dt>\n<dd><code[^>]*>([^<]+)", section)[1]

    def token(client: str, secret: str, **form: str):
        basic = base64.b64encode(f"{client}:{secret}".encode()).decode()
        return spindle.call(
            "POST", "/oauth/token", form={"grant_type": "client_credentials"} | form,
            headers={"Authorization": "Basic " + basic})

    secrets = {client: secret(client) for client in ["dev_backend", "dev_machine", "dev_admin"]}
    assert token("dev_machine", secrets["dev_machine"]).status == 200
    admin = token("dev_admin", secrets["dev_admin"], scope="admin").json["access_token"]
    users = spindle.call("GET", "/admin/v1/users", bearer=admin).json["items"]
    assert sorted(user["email"] for user in users) == [f"{name}@dev.example" for name in ["alice", "bob", "carol"]], users

    refused = token("dev_machine", "wrong")
    assert refused.json["reason"], refused
    assert f"reason: <code>{refused.json['reason']}</code>" in page("/development/requests")
    for path in ["/", "/development/requests", "/development/mails"]:
        for host in ["evil.example", f"localhost:{server.address.port}"]:
            assert spindle.call("GET", path, headers={"Host": host}).status == 421, (path, host)

    # The same secrets at the next start, in no log, and without --dev no page.
    server.stop()
    log = server.log.read_text("utf-8")
    assert not [client for client, value in secrets.items() if value in log]
    server.start("--dev")
    assert secret("dev_backend") == secrets["dev_backend"]
    server.stop()
    server.start()
    assert spindle.call("GET", "/").status == 404
    assert "reason" not in token("dev_machine", "wrong").json
    server.stop()


def test_mails_of_development_are_printed_with_their_code_and_link(prepare):
    server = prepare()
    server.start("--dev")
    browser = Browser(Spindle(server.address, ("", "")))
    for path, told in [("/login/code", r"code  (\d{6})"), ("/password", r"link  (http\S+)")]:
        form = browser.open("/login?page=people" if path == "/login/code" else path).forms[0]
        browser.open(path, "POST", form.fields | {"email": "alice@dev.example"})
        for _ in range(100):
            if found := re.search(r"mail to alice@dev.example: .+\n  " + told, server.log.read_text("utf-8")):
                break
            time.sleep(0.1)
        assert found, server.log_tail()
        assert f">{found[1]}<" in html.unescape(browser.open("/development/mails").answer.text)
    server.stop()
