"""The commands an operator types: what they print, what they change, and the status they end with."""

import email
import email.policy
import json
import re
import signal
import socket
import sqlite3
import stat
import subprocess
import threading
import time
from email.message import EmailMessage
from pathlib import Path

import pytest

from harness.mail import PATIENCE
from harness.server import Server, binary, master_key
from harness.spindle import Spindle
from harness.tls import Identity, prepare_https
from harness.world import World

FAILED = 1
BAD_CONFIGURATION = 78


def said(done) -> str:
    return done.stdout + done.stderr


def good(done):
    """The JSON that a successful command printed."""
    assert done.returncode == 0, f"{done.args}: {done.returncode}\n{said(done)}"
    return json.loads(done.stdout)


def rows(database):
    with sqlite3.connect(database) as connection:
        return list(connection.iterdump())


def test_init_prints_the_admin_client_once_and_a_second_run_changes_nothing(prepare, engine):
    server = prepare(engine)
    made = server.init()
    assert set(made) == {"admin_client_id", "admin_client_secret", "database", "master_key_file"} or (
        set(made) == {"admin_client_id", "admin_client_secret", "database"}
    ), made
    before = rows(server.database) if engine == "sqlite" else []

    second = server.command("init", "--json")
    again = good(second)
    assert "admin_client_secret" not in again and made["admin_client_secret"] not in said(second)
    third = server.command("init")
    assert third.returncode == 0 and made["admin_client_secret"] not in said(third)
    assert re.search("already|nothing", said(third), re.IGNORECASE), said(third)
    if engine == "sqlite":
        # The bytes may differ: opening a file whose log was folded in may count a change that changes nothing.
        assert rows(server.database) == before

    server.start()
    assert Spindle.of(server).admin_token(), "the first secret still works"


def test_a_second_init_reports_that_its_admin_client_was_deleted(prepare):
    server = prepare()
    admin = server.init()["admin_client_id"]
    assert server.command("client", "delete", "--yes", admin).returncode == 0
    told = said(server.command("init"))
    assert f"{admin} is deleted" in told and "add-secret" not in told, told
    command = re.search("spindle (client create .*)", told)[1].split()
    made = good(server.command(*command, "--json"))
    assert made["scope"] == "admin", made


@pytest.mark.parametrize("setting", ["SPINDLE_TLS_CERTIFICATE", "SPINDLE_TLS_KEY"])
def test_a_missing_certificate_file_is_a_fault_that_systemd_retries(prepare, program, tmp_path, setting):
    identity = Identity.make(tmp_path, program("openssl", "openssl"))
    server = prepare_https(prepare, identity)
    server.init()
    refused = server.command("serve", **{setting: str(tmp_path / "missing.pem")})
    assert refused.returncode == FAILED, said(refused)
    assert f"{setting.removeprefix('SPINDLE_').lower()}: cannot read" in said(refused), said(refused)


def test_the_master_key_file_is_readable_by_its_owner_only(prepare):
    server = prepare()
    made = server.init()
    assert made["master_key_file"] == server.database + ".key"
    for file in (Path(made["master_key_file"]), Path(server.database)):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, f"{file}: {oct(file.stat().st_mode)}"


def test_postgresql_requires_a_given_master_key(prepare, cluster):
    server = prepare("postgresql")
    refused = server.command("init", "--json", SPINDLE_MASTER_KEY=None)
    assert refused.returncode == BAD_CONFIGURATION, said(refused)
    assert "master" in said(refused).lower()


@pytest.mark.parametrize("fault", ["wrong", "missing", "malformed"])
def test_a_database_is_not_served_without_its_key(prepare, fault):
    server = prepare()
    key = Path(server.init()["master_key_file"])
    own = key.read_text()
    if fault == "missing":
        key.unlink()
    else:
        key.write_text(master_key() if fault == "wrong" else "c2hvcnQ=")
    refused = server.command("serve")
    assert refused.returncode == BAD_CONFIGURATION, said(refused)
    assert own.strip() not in said(refused)
    if fault == "missing":
        assert not key.exists(), "a database with content is not given a new key"
    key.write_text(own)
    key.chmod(0o600)
    server.start()


def test_every_fault_of_the_configuration_is_reported_at_once(prepare):
    server = prepare()
    server.init()
    faults = {
        "SPINDLE_LISTEN": "nonsense",
        "SPINDLE_ISSUER": "not a url",
        "SPINDLE_SESSION_SAMESITE": "perhaps",
        "SPINDLE_TRUSTED_PROXIES": "300.1.1.1/99",
        "SPINDLE_LOG_LEVEL": "loud",
        "SPINDLE_LOG_FORMAT": "poem",
    }
    refused = server.command("serve", **faults)
    assert refused.returncode == BAD_CONFIGURATION, said(refused)
    letters = re.sub("[^a-z]", "", said(refused).lower())
    silent = [name for name in faults if name.removeprefix("SPINDLE_").replace("_", "").lower() not in letters]
    assert not silent, f"not reported: {silent}\n{said(refused)}"


def test_a_server_does_not_start_with_a_fixed_swift_hash_seed(prepare):
    server = prepare()
    server.init()
    refused = server.command("serve", SWIFT_DETERMINISTIC_HASHING="1")
    assert refused.returncode == BAD_CONFIGURATION, said(refused)
    assert "SWIFT_DETERMINISTIC_HASHING" in said(refused)


def test_the_environment_overrides_the_file_and_the_file_the_default(prepare):
    server = prepare()
    server.init()
    file = server.directory / "spindle.json"
    file.write_text(json.dumps({"listen": "nonsense", "log_level": "loud"}))
    refused = server.command("serve", "--config", str(file))
    letters = re.sub("[^a-z]", "", said(refused).lower())
    assert refused.returncode == BAD_CONFIGURATION and "loglevel" in letters, said(refused)
    assert "nonsense" not in said(refused), "the environment says where to listen"


def test_migrate_reports_and_applies_missing_steps(prepare, engine):
    server = prepare(engine)
    behind = server.command("migrate", "--check")
    assert behind.returncode == 1 and behind.stdout + behind.stderr, said(behind)
    if engine == "sqlite":
        # A path without a database is more likely a mistyped one.
        refused = server.command("migrate")
        assert refused.returncode == BAD_CONFIGURATION and not Path(server.database).exists(), said(refused)
        server.init()
    assert server.command("migrate").returncode == 0
    assert server.command("migrate", "--check").returncode == 0
    assert server.command("migrate").returncode == 0, "and again, with nothing to do"


def test_doctor_has_a_line_for_each_check_and_reports_the_failing_one(launch):
    server = launch()
    healthy = server.command("doctor")
    assert healthy.returncode == 0, said(healthy)
    lines = healthy.stdout.lower()
    for subject in ("config", "pages", "database", "key", "clock", "issuer"):
        assert subject in lines, f"no line about {subject}:\n{healthy.stdout}"
    server.stop()
    assert server.command("doctor").returncode == 1, "an issuer that does not answer is bad"


def test_doctor_warns_of_secrets_that_others_can_read(prepare, tmp_path):
    server = prepare()
    server.init()
    file = tmp_path / "spindle.yaml"
    file.write_text("sms_secret: an example of a secret\nsms: https://texts.example/\n")
    file.chmod(0o600)
    warning = "other users of this machine may read or change the configuration with secrets"
    assert warning not in server.command("doctor", "--config", str(file)).stdout
    file.chmod(0o644)
    told = server.command("doctor", "--config", str(file))
    assert warning in told.stdout, said(told)
    file.write_text("log_level: info\n")
    assert warning not in server.command("doctor", "--config", str(file)).stdout


def test_doctor_warns_of_a_configuration_that_others_can_write(prepare, tmp_path):
    server = prepare()
    server.init()
    file, authorities = tmp_path / "spindle.yaml", tmp_path / "authorities.pem"
    authorities.write_text("")
    file.write_text(f"mail: smtps://mail.example?ca={authorities}\n")
    warning = "other users of this machine may change the"
    for path, name in ((file, "configuration"), (authorities, "mail server's authorities")):
        path.chmod(0o644)
        assert f"{warning} {name}" not in server.command("doctor", "--config", str(file)).stdout
        path.chmod(0o666)
        told = server.command("doctor", "--config", str(file))
        assert f"{warning} {name} {path}" in told.stdout, said(told)
        path.chmod(0o644)


def test_doctor_warns_of_folders_in_which_others_can_put_files(prepare, tmp_path):
    server = prepare()
    server.init()
    warning = "other users of this machine may change or replace what is in"
    assert warning not in server.command("doctor").stdout
    server.directory.chmod(0o777)
    assert f"{warning} {server.directory}" in server.command("doctor").stdout
    server.directory.chmod(0o700)
    templates = tmp_path / "templates"
    templates.mkdir(mode=0o700)
    server.settings["SPINDLE_TEMPLATES"] = str(templates)
    assert warning not in server.command("doctor").stdout
    page = templates / "style.css"
    page.write_text("")
    page.chmod(0o666)
    assert f"{warning} {page}" in server.command("doctor").stdout


def test_doctor_warns_of_an_https_issuer_without_trusted_proxies(prepare):
    server = prepare(settings={"SPINDLE_ISSUER": "https://id.loom.example"})
    server.init()
    warning = "every request counts as the proxy's"
    assert warning in server.command("doctor").stdout
    server.settings["SPINDLE_TRUSTED_PROXIES"] = "10.0.0.0/8"
    assert warning not in server.command("doctor").stdout


def test_doctor_warns_of_providers_asked_without_tls(prepare):
    server = prepare()
    server.init()
    told = server.command("doctor", SPINDLE_FACEBOOK_API="http://127.0.0.1:9", SPINDLE_GOOGLE_API="https://example.com")
    warnings = [line for line in told.stdout.splitlines() if "is not https: the server there" in line]
    assert len(warnings) == 1 and re.search(r"warning +configuration +facebook_api http://127", warnings[0]), told.stdout
    assert "google_api https://example.com is not the provider's own host" in told.stdout, told.stdout


def test_doctor_names_clients_whose_front_channel_tokens_may_be_exchanged(prepare):
    server = prepare()
    server.init()
    assert "front channel" not in server.command("doctor").stdout
    merchant = json.loads(server.command("merchant", "create", "--name", "Loom", "--json").stdout)["id"]
    made = server.command(
        "client", "create", "--merchant", merchant, "--name", "Old pages", "--spid-compatible",
        "--redirect-uri", "https://loom.example/cb", "--exchange-front-channel-tokens", "--json")
    client = json.loads(made.stdout)["client_id"]
    told = server.command("doctor").stdout
    assert re.search(rf"warning +front channel .*{client} \(Old pages\)", told), told
    server.command("client", "change", client, "--no-exchange-front-channel-tokens")
    assert "front channel" not in server.command("doctor").stdout


def test_doctor_names_clients_whose_codes_need_no_secret_or_are_redeemed_twice(prepare):
    server = prepare()
    server.init()
    merchant = json.loads(server.command("merchant", "create", "--name", "Loom", "--json").stdout)["id"]

    def create(*options: str) -> str:
        made = server.command(
            "client", "create", "--merchant", merchant, "--spid-compatible", "--redirect-uri", "https://loom.example/cb",
            "--json", *options)
        assert made.returncode == 0, said(made)
        return json.loads(made.stdout)["client_id"]

    earlier = create("--name", "Old app")
    app = create(
        "--name", "New app", "--token-endpoint-auth-method", "none", "--public-exchange-codes-from", earlier)
    backend = create("--name", "Java", "--codes-redeemed-twice")
    told = server.command("doctor").stdout
    assert re.search(rf"warning +public codes .*secret for 1: {app} \(New app\)", told), told
    assert re.search(rf"warning +codes +a code .*twice for 1: {backend} \(Java\)", told), told
    server.command("client", "change", app, "--public-exchange-codes-from", "")
    server.command("client", "change", backend, "--no-codes-redeemed-twice")
    assert " codes " not in server.command("doctor").stdout.replace("buy codes", "")


def test_the_refresh_leeway_of_a_browser_app_is_set_and_shown(prepare):
    server = prepare()
    server.init()
    merchant = ("--merchant", good(server.command("merchant", "create", "--name", "Loom", "--json"))["id"])
    browser = (*merchant, "--token-endpoint-auth-method", "none", "--redirect-uri", "https://app.example/in")

    def leeway(*command: str) -> int:
        return good(server.command("client", *command, "--json"))["refresh_leeway"]

    made = good(server.command("client", "create", "--name", "App", *browser, "--json"))
    assert made["refresh_leeway"] == 10
    assert leeway("change", made["client_id"], "--refresh-leeway", "0") == 0
    assert leeway("show", made["client_id"]) == 0
    assert leeway("create", "--name", "Other", *browser, "--refresh-leeway", "60") == 60
    backend = server.command("client", "create", "--name", "Backend", *merchant, "--refresh-leeway", "1")
    assert backend.returncode != 0 and "--refresh-leeway: must" in said(backend), said(backend)


def test_doctor_names_clients_whose_id_tokens_are_signed_with_a_shared_secret(launch, engine):
    server = launch(engine)
    spindle = Spindle.of(server)
    assert "ID tokens" not in server.command("doctor").stdout
    client = spindle.create_client(
        spindle.create_merchant("Loom"), "Gateway", "https://gateway.example/back",
        id_token_signed_response_alg="HS256", scope="openid")
    told = server.command("doctor").stdout
    assert re.search(rf"warning +ID tokens .*{client.id} \(Gateway\)", told), told


def test_doctor_names_clients_whose_access_tokens_go_through_addresses(launch, engine):
    server = launch(engine)
    spindle = Spindle.of(server)
    assert "response types" not in server.command("doctor").stdout
    client = spindle.create_client(
        spindle.create_merchant("Loom"), "Old pages", redirect_uris=["https://pages.example/"],
        grant_types=["implicit"], response_types=["id_token token"])
    told = server.command("doctor").stdout
    assert re.search(rf"warning +response types .*for 1: {client.id} \(Old pages\)", told), told


def test_a_templates_folder_changes_the_served_pages(launch, prepare, tmp_path):
    (tmp_path / "en.json").write_text(json.dumps({"login.title": "Step inside", "account.title": "Yours"}))
    (tmp_path / "spindle.css").write_text("h1 { color: rebeccapurple }")
    server = launch(settings={"SPINDLE_TEMPLATES": str(tmp_path)})
    page = server.get("/login", headers={"Accept-Language": "en"})
    assert page.status == 200 and "<h1>Step inside</h1>" in page.text, page
    norwegian = server.get("/login", headers={"Accept-Language": "nb"})
    assert "Step inside" not in norwegian.text and "<h1>Logg inn</h1>" in norwegian.text
    assert server.get("/assets/spindle.css").text == "h1 { color: rebeccapurple }"
    lines = server.command("doctor").stdout
    assert re.search(rf"ok +pages +.*{re.escape(str(tmp_path))}", lines), lines


def test_a_mistake_in_the_templates_folder_is_a_configuration_fault(prepare, tmp_path):
    server = prepare()
    server.init()
    (tmp_path / "login.html").write_text("<h1>[[login.titel]]</h1>")
    for arguments in (["serve"], ["serve", "--templates", str(tmp_path)], ["user", "list"]):
        refused = server.command(*arguments, SPINDLE_TEMPLATES=None if len(arguments) == 3 else str(tmp_path))
        assert refused.returncode == BAD_CONFIGURATION, said(refused)
        assert f"templates: {tmp_path}/login.html, login.titel:" in said(refused)
    told = server.command("doctor", SPINDLE_TEMPLATES=str(tmp_path))
    assert told.returncode == 1
    assert re.search(rf"bad +pages +templates: {re.escape(str(tmp_path))}/login.html", told.stdout), told.stdout


def test_the_server_serves_what_the_commands_create(prepare):
    server = prepare()
    server.init()
    merchant = good(server.command("merchant", "create", "--name", "By hand", "--json"))
    client = good(
        server.command(
            "client", "create", "--merchant", merchant["id"], "--name", "Backend", "--grant-type", "client_credentials",
            "--scope", "email", "--json",
        )
    )
    password = "correct horse battery staple"
    typing = ["user", "create", "--email", "Kari@Example.com ", "--password-stdin", "--json"]
    user = good(server.command(*typing, typed=password + "\n"))
    assert user["user_id"].isdigit() and user["email"] == "kari@example.com"
    saying = ("user", "change", user["user_id"], "--attributes")
    assert good(server.command(*saying, '{"roles": ["editor"]}', "--json"))["attributes"] == {"roles": ["editor"]}
    assert server.command(*saying, "roles").returncode == 64
    for noun, identifier in (("merchant", merchant["id"]), ("client", client["client_id"]), ("user", user["user_id"])):
        listed = server.command(noun, "list", "--json")
        assert listed.returncode == 0 and identifier in listed.stdout, said(listed)
        shown = server.command(noun, "show", identifier, "--json")
        assert good(shown) and client["client_secret"] not in shown.stdout
        plain = server.command(noun, "show", identifier)
        assert plain.returncode == 0 and plain.stdout, said(plain)

    server.start()
    form = {"client_id": client["client_id"], "client_secret": client["client_secret"]}
    form["grant_type"] = "client_credentials"
    assert Spindle.of(server).call("POST", "/oauth/token", form=form).status == 200
    for noun, identifier in (("client", client["client_id"]), ("user", user["user_id"]), ("merchant", merchant["id"])):
        gone = server.command(noun, "delete", "--yes", identifier)
        assert gone.returncode == 0, said(gone)
        assert server.command(noun, "show", identifier, "--json").returncode != 0
    deadline = time.monotonic() + 10
    # A cache may be a few seconds stale.
    while (answer := Spindle.of(server).call("POST", "/oauth/token", form=form)).status == 200:
        assert time.monotonic() < deadline, "a deleted client still gets tokens"
        time.sleep(0.2)
    assert answer.status == 401


def test_commands_take_a_users_address_or_number(prepare):
    server = prepare()
    server.init()
    user = good(server.command("user", "create", "--email", "kari@example.com", "--name", "Kari", "--json"))
    for name in (user["user_id"], "kari@example.com", " KARI@Example.com\n"):
        assert good(server.command("user", "show", name, "--json"))["user_id"] == user["user_id"]
        assert good(server.command("user", "change", name, "--name", "Ola", "--json"))["name"] == "Ola"
    for verb in ("show", "change", "delete"):
        absent = server.command("user", verb, "Nobody@example.com")
        assert absent.returncode == FAILED, said(absent)
        assert absent.stderr == "spindle: there is no user with the address nobody@example.com\n"
        absent = server.command("user", verb, "1001")
        assert (absent.returncode, absent.stderr) == (FAILED, "spindle: there is no user 1001\n")
        for wrong in ("kari", "kari@", "01001", ""):
            refused = server.command("user", verb, wrong)
            assert refused.returncode == 64, said(refused)
            assert refused.stderr == f"spindle: '{wrong}' is neither an e-mail address nor a user's number\n"
    gone = server.command("user", "delete", "--yes", "Kari@example.com")
    assert (gone.returncode, gone.stdout) == (0, f"deleted user {user['user_id']}\n"), said(gone)
    assert server.command("user", "show", "kari@example.com").returncode == FAILED


def test_lists_go_on_after_their_own_cursor_only(prepare):
    server = prepare()
    server.init()
    for number in range(3):
        good(server.command("merchant", "create", "--name", f"Merchant {number}", "--json"))
        good(server.command("user", "create", "--email", f"user{number}@example.com", "--json"))
    cursors = {}
    for noun in ("merchant", "user"):
        page = good(server.command(noun, "list", "--count", "2", "--json"))
        cursors[noun] = page["next"]
        rest = good(server.command(noun, "list", "--count", "2", "--json", "--after", page["next"]))
        assert len(page["items"]) == 2 and len(rest["items"]) == 1 and rest["next"] is None
        assert rest["items"][0] not in page["items"]
    for noun, wrong in (
        ("merchant", cursors["user"]), ("user", cursors["merchant"]), ("client", cursors["user"]), ("user", "null"),
        ("merchant", ""), ("client", cursors["merchant"][:-1]),
    ):
        refused = server.command(noun, "list", f"--after={wrong}")
        assert refused.returncode == 64 and "--after: must be the cursor" in refused.stderr, said(refused)
    server.start()
    page = Spindle.of(server).administer("GET", "users?limit=2")
    assert page.json["next"] == cursors["user"], "administration and the commands have the same cursors"


def test_a_merchants_mails_have_the_words_of_its_file(launch, tmp_path, engine):
    server = launch(engine)
    spindle = Spindle.of(server)
    merchant = good(server.command("merchant", "create", "--name", "Veveriet", "--json"))["id"]
    client = spindle.create_client(
        merchant, "News", spid_compatible=True, grant_types=["password", "client_credentials"])
    person = spindle.create_person()
    spindle.password(client, person)
    words = {"subject": "{{sender}}: nytt passord – på 24 timer", "text": "Hei!\n{{link}}\nHilsen {{app}}"}
    file = tmp_path / "mails.json"
    file.write_text(json.dumps({"resetPassword": {"en": words}}), "utf-8")
    changing = ("merchant", "change", merchant, "--json", "--mail-templates")
    assert good(server.command(*changing, str(file)))["mail_templates"]["resetPassword"]["en"] == words

    def mailed() -> EmailMessage:
        for old in (server.directory / "outbox").glob("*.eml"):
            old.unlink()
        token = spindle.client_credentials(client).json["access_token"]
        spindle.good("GET", f"/api/2/user/{person.id}/trigger/newpassword", 201, bearer=token)
        deadline = time.monotonic() + PATIENCE
        while not (found := list((server.directory / "outbox").glob("*.eml"))):
            assert time.monotonic() < deadline, "no mail came"
            time.sleep(0.05)
        return email.message_from_bytes(found[0].read_bytes(), policy=email.policy.default)

    mail = mailed()
    assert mail["Subject"] == "Veveriet: nytt passord – på 24 timer"
    lines = mail.get_body(("plain",)).get_content().splitlines()
    assert lines[0] == "Hei!" and "/password/reset/" in lines[1] and lines[2] == "Hilsen News", lines
    assert f'<a href="{lines[1]}">' in mail.get_body(("html",)).get_content()

    for wrong in ({"subject": "A\r\nBcc: x@evil.example", "text": "{{link}}"}, {"subject": "A", "text": "No link"}):
        file.write_text(json.dumps({"resetPassword": {"en": wrong}}), "utf-8")
        refused = server.command(*changing, str(file))
        assert refused.returncode == 65 and "mail_templates.resetPassword.en." in refused.stderr, said(refused)
    file.write_text("{")
    for path in (file, tmp_path / "nowhere.json"):
        refused = server.command(*changing, str(path))
        assert refused.returncode == 65 and str(path) in refused.stderr, said(refused)
    assert mailed()["Subject"] == "Veveriet: nytt passord – på 24 timer", "a refused file changed something"
    assert "mail_templates" not in good(server.command(*changing, ""))
    assert mailed()["Subject"] == "Set a new password for Veveriet"


def test_a_spid_compatible_client_is_created_and_changed(prepare):
    server = prepare()
    server.init()
    merchant = good(server.command("merchant", "create", "--name", "By hand", "--json"))["id"]
    terms = "https://client.example/terms"
    common = ["--merchant", merchant, "--redirect-uri", "https://client.example/cb", "--json"]
    asked = [*common, "--spid-compatible", "--signed-responses", "--tos-uri", terms]
    made = good(server.command("client", "create", "--name", "Backend", *asked))
    assert (made["spid_compatible"], made["signed_responses"], made["tos_uri"]) == (True, True, terms)
    plain = good(server.command("client", "create", "--name", "Plain", *common))
    assert not plain["signed_responses"] and "tos_uri" not in plain

    identifier = made["client_id"]
    other = ["--no-signed-responses", "--tos-uri", "https://client.example/terms/2", "--json"]
    changed = good(server.command("client", "change", identifier, *other))
    assert not changed["signed_responses"] and changed["tos_uri"] == "https://client.example/terms/2"
    assert "tos_uri" not in good(server.command("client", "change", identifier, "--tos-uri", "", "--json"))
    assert server.command("client", "change", identifier, "--tos-uri", "terms.html").returncode != 0
    version = server.command("--version")
    assert version.returncode == 0 and re.fullmatch(r"\d+\.\d+\.\d+\n", version.stdout), said(version)


def test_keys_are_resealed_under_a_new_master_key(prepare, tmp_path):
    server = prepare()
    key = Path(server.init()["master_key_file"])
    server.start()
    world = World.create(Spindle.of(server))
    device = world.phone()
    server.stop()

    new = tmp_path / "new.key"
    new.write_text(master_key())
    new.chmod(0o600)
    resealed = server.command("key", "reseal", "--new-key-file", str(new))
    assert resealed.returncode == 0, said(resealed)
    assert server.command("serve", SPINDLE_MASTER_KEY_FILE=str(key)).returncode == BAD_CONFIGURATION
    server.settings["SPINDLE_MASTER_KEY_FILE"] = str(new)
    server.start()
    assert world.spindle.refresh(world.app, device["refresh_token"]).status == 200


def test_a_stolen_signing_key_is_withdrawn_while_the_server_runs(launch):
    server: Server = launch()

    def listed() -> list[dict]:
        return good(server.command("key", "list", "--json"))["items"]

    def signing(algorithm: str) -> dict:
        return max((k for k in listed() if k["algorithm"] == algorithm), key=lambda k: k["signs_from"])

    # One key of each algorithm from the start; those that no client uses do not rotate.
    assert {key["algorithm"] for key in listed()} == {"RS256", "ES256", "PS256", "EdDSA"}
    old = signing("RS256")
    made = good(server.command("key", "rotate", "--json"))["items"]
    assert {key["algorithm"] for key in made} == {"RS256"}
    again = server.command("key", "rotate", "--json")
    assert json.loads(again.stdout)["items"] == [] and "nothing was changed" in again.stderr
    planned = signing("RS256")
    assert planned["signs_from"] > time.time()

    done = good(server.command("key", "withdraw", old["id"], "--json"))
    assert done == {"withdrawn": old["id"], "algorithm": "RS256", "signs_now": planned["id"]}
    assert old["id"] not in {key["id"] for key in listed()} and signing("RS256")["signs_from"] <= time.time()
    plain = server.command("key", "withdraw", planned["id"])
    assert plain.returncode == 0 and planned["id"] in plain.stdout, said(plain)
    unknown = server.command("key", "withdraw", old["id"])
    assert unknown.returncode == 1 and "there is no signing key" in unknown.stderr, said(unknown)


def test_a_server_makes_the_first_key_of_each_algorithm_before_it_listens(prepare):
    server: Server = prepare()
    server.init()
    for key in good(server.command("key", "list", "--json"))["items"]:
        # As on a database that is older than the algorithm: it has no key of it.
        with sqlite3.connect(server.database) as database:
            database.execute("DELETE FROM signing_keys WHERE id = ?", (key["id"],))
    server.start()
    published = server.get("/oauth/jwks").json["keys"]
    assert sorted(key["alg"] for key in published) == ["ES256", "EdDSA", "PS256", "RS256"]


def test_a_terminated_server_finishes_running_requests_and_refuses_new_ones(launch):
    server: Server = launch()
    world = World.create(Spindle.of(server))
    backend = world.backend
    body = f"grant_type=client_credentials&client_id={backend.id}&client_secret={backend.secret}".encode()
    head = (
        "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    statuses: list[int] = []
    with server.address.dial() as begun, server.address.dial():
        begun.sendall(head + body[:20])
        time.sleep(0.5)
        stopping = threading.Thread(target=lambda: statuses.append(server.stop()))
        stopping.start()
        time.sleep(0.5)
        assert stopping.is_alive(), "the server did not wait for a request it had begun to read"
        assert is_refused(server), "a server that is stopping takes new work"
        begun.sendall(body[20:])
        assert begun.recv(4096).startswith(b"HTTP/1.1 200"), "what was in flight was dropped"
        stopping.join(30)
    assert statuses == [0]


def test_a_reload_does_not_end_a_starting_server(prepare):
    server = prepare()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(PATIENCE)
        address = f"postgresql://spindle@127.0.0.1:{silent.getsockname()[1]}/x"
        environment = server.environment() | {"SPINDLE_MASTER_KEY": master_key()}
        with subprocess.Popen(
                [binary(), "serve", "--database", address], env=environment, cwd=server.directory,
                stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)) as serving:
            try:
                with silent.accept()[0]:
                    serving.send_signal(signal.SIGHUP)
                    with pytest.raises(subprocess.TimeoutExpired):
                        serving.wait(timeout=1)
            finally:
                serving.kill()


def test_a_terminated_server_waits_for_a_limited_time(launch):
    server = launch()
    with server.address.dial() as begun:
        begun.sendall(b"POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
        time.sleep(0.3)
        stopping = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - stopping < 20


def is_refused(server: Server) -> bool:
    try:
        with server.address.dial(timeout=1) as line:
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            return not line.recv(100)
    except (OSError, socket.timeout):
        return True


def test_a_secret_is_reported_as_lost_when_standard_output_is_closed(prepare, engine):
    server = prepare(engine)
    server.init()
    merchant = json.loads(server.command("merchant", "create", "--name", "Loom", "--json").stdout)["id"]
    command = f'exec "$0" client create --merchant {merchant} --name Loom --grant-type client_credentials >&-'
    made = subprocess.run(
        ["bash", "-c", command, str(binary())],
        env=server.environment(), cwd=server.directory, capture_output=True, text=True, timeout=60)
    assert made.returncode == 74 and "Its secret is lost" in made.stderr, made.stderr


def test_a_client_cannot_be_created_with_addresses_of_this_server(prepare):
    server = prepare()
    server.init()
    own = server.environment().get("SPINDLE_ISSUER") or "http://" + server.environment()["SPINDLE_LISTEN"]
    for option in ("--redirect-uri", "--callback-uri"):
        refused = server.command(
            "client", "create", "--name", "Loom", "--grant-type", "authorization_code", option, own + "/in")
        assert refused.returncode != 0 and "not this server's" in refused.stderr, refused.stderr


def test_a_deletion_without_a_terminal_needs_yes(prepare):
    server = prepare()
    server.init()
    merchant = good(server.command("merchant", "create", "--name", "Loom", "--json"))["id"]
    user = good(server.command("user", "create", "--email", "kari@example.com", "--json"))["user_id"]
    client = good(server.command("client", "create", "--merchant", merchant, "--name", "Web", "--redirect-uri",
                                 "https://loom.example/cb", "--json"))["client_id"]
    for noun, identifier, what in (
        ("client", client, "the client Web and all its data"),
        ("user", user, f"the user {user} (kari@example.com) and all their data"),
        ("merchant", merchant, "the merchant Loom, its clients and all their data"),
    ):
        kept = server.command(noun, "delete", identifier, typed="y\n")
        assert kept.returncode == 64, said(kept)
        assert kept.stderr == f"spindle: this deletes {what}: add --yes, as there is no terminal to ask at\n"
        assert server.command(noun, "show", identifier).returncode == 0
        assert server.command(noun, "delete", "--yes", identifier).returncode == 0


def test_a_change_of_nothing_is_refused(prepare):
    server = prepare()
    server.init()
    merchant = good(server.command("merchant", "create", "--name", "Loom", "--json"))
    user = good(server.command("user", "create", "--email", "kari@example.com", "--json"))["user_id"]
    for noun, identifier in (("merchant", merchant["id"]), ("user", user)):
        before = good(server.command(noun, "show", identifier, "--json"))
        kept = server.command(noun, "change", identifier)
        assert (kept.returncode, kept.stderr) == (
            64, "spindle: nothing to change: give what is to be changed, see --help\n"), said(kept)
        assert good(server.command(noun, "show", identifier, "--json")) == before


def test_a_client_made_with_a_name_and_a_redirect_uri_can_sign_users_in(prepare):
    server = prepare()
    server.init()
    merchant = good(server.command("merchant", "create", "--name", "Loom", "--json"))["id"]
    made = good(server.command("client", "create", "--merchant", merchant, "--name", "Web", "--redirect-uri",
                               "https://loom.example/cb", "--set", "logo_uri=https://loom.example/logo.png", "--json"))
    assert made["scope"] == "openid profile email"
    assert made["logo_uri"] == "https://loom.example/logo.png"


def test_commands_name_their_own_options(prepare):
    server = prepare()
    server.init()
    merchant = good(server.command("merchant", "create", "--name", "Loom", "--json"))["id"]
    for arguments, told in (
        (("--name", "Web", "--redirect-uri", "https://loom.example/cb"), "--merchant: must be given"),
        (("--merchant", merchant, "--name", "Web"), "--redirect-uri: must be given for a client"),
        (("--merchant", merchant, "--redirect-uri", "localhost:3000/cb"),
         "--redirect-uri: must be absolute URIs, with a scheme (did you mean http://localhost:3000/cb?)"),
        (("--merchant", merchant, "--redirect-uri", "https://loom.example/cb", "--scope", "openid,profile"),
         "--scope: must be scope tokens"),
    ):
        refused = server.command("client", "create", *arguments)
        assert refused.returncode == 65, said(refused)
        assert refused.stderr.startswith(f"spindle: {told}"), said(refused)
    for noun in ("client", "user"):
        unknown = server.command(noun, "list", "--merchant", "Acme")
        assert (unknown.returncode, unknown.stderr) == (FAILED, "spindle: there is no merchant Acme\n"), said(unknown)


def test_a_list_has_the_user_with_an_address(prepare):
    server = prepare()
    server.init()
    for name in ("kari", "ola"):
        good(server.command("user", "create", "--email", f"{name}@example.com", "--json"))
    found = good(server.command("user", "list", "--email", "KARI@example.com", "--json"))
    assert [user["email"] for user in found["items"]] == ["kari@example.com"] and found["next"] is None
    none = server.command("user", "list", "--email", "per@example.com")
    assert (none.returncode, none.stdout, none.stderr) == (0, "", "there is no user with the address per@example.com\n")


def test_tables_show_dates_and_json_seconds(prepare):
    server = prepare()
    server.init()
    made = good(server.command("merchant", "create", "--name", "Loom", "--json"))
    shown = server.command("merchant", "show", made["id"])
    assert re.search(r"^created_at +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", shown.stdout, re.M), said(shown)
    assert isinstance(made["created_at"], int)


def test_version_is_a_command_too(prepare):
    server = prepare()
    assert server.command("version").stdout == server.command("--version").stdout
