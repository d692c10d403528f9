"""The code of pages that is neither a walk nor a quickstart, with a reader's values in the place of its gaps."""

import json
import re
from urllib.parse import parse_qsl

import pytest

from harness.assertion import JWT_BEARER, assertion
from harness.blocks import blocks
from harness.server import Server
from harness.shell import PUBLIC, Shell
from harness.spindle import Spindle
from harness.world import World
from relying_party import Gateway, Guest
from relying_party.fixtures import claims, gateway_program

ISSUER, KEY = "https://op.example.net", "a shared secret of 32 bytes at least"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
# "a quiet loom", by bcrypt.
HASH = "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a"


def code(page: str, heading: str, language: str) -> list[str]:
    """The blocks below a heading of a page, in their order."""
    found = [block.text for block in blocks(f"docs/{page}") if (block.heading, block.language) == (heading, language)]
    assert found, f"docs/{page} has no {language} below {heading}"
    return found


def filled(text: str, *values: str) -> str:
    """The text with a value in each gap."""
    assert text.count("…") == len(values), text
    for value in values:
        text = text.replace("…", value, 1)
    return text


def lines(text: str) -> list[str]:
    """The commands of a block, without remarks and with their continuations."""
    joined = re.sub(r"\\\n\s*", "", text)
    return [line for line in (re.sub(r"(^|\s+)# .*", "", line).strip() for line in joined.splitlines()) if line]


@pytest.fixture(scope="module")
def server(launch) -> Server:
    return launch(settings={"SPINDLE_BASIC_REALM": "Notes"})


@pytest.fixture(scope="module")
def world(server) -> World:
    return World.create(Spindle.of(server))


@pytest.fixture
def shell(server, world, program, tmp_path) -> Shell:
    program("curl", "curl")
    return Shell(server, tmp_path, ADMIN=world.spindle.admin_token())


def made(world: World, path: str, content: dict) -> dict:
    """The document that administration made of the content."""
    answer = world.spindle.administer("POST", path, content)
    assert answer.status == 201, (content, answer)
    return answer.json


@pytest.mark.parametrize("page, heading", [
    ("guide-trusted-issuers.md", "What to register"),
    ("guide-facebook-google-tokens.md", "What to register"),
])
def test_administration_registers_the_issuers_that_a_page_shows(world, page, heading):
    merchant = world.spindle.create_merchant(page)
    for document in code(page, heading, "json")[0].split("\n\n"):
        gaps = document.count("…") - 1
        content = json.loads(filled(document, merchant, *["0123456789abcdef0123456789abcdef"] * gaps))
        answer = made(world, "issuers", content)
        assert content.keys() - answer.keys() <= {"app_secret"}, answer


def test_an_issuer_gets_its_button_by_the_two_requests_of_its_page(world):
    first, second = code("guide-sign-in-elsewhere.md", "Any OpenID provider, or another Spindle", "json")
    issuer = made(world, "issuers", json.loads(filled(first, world.merchant)))
    content = json.loads(filled(second, "spindle", "a secret"))
    changed = world.spindle.administer("PATCH", f"issuers/{issuer['id']}", content)
    assert (changed.status, changed.json["sign_in_name"]) == (200, "Example"), changed


@pytest.mark.parametrize("page, heading", [
    ("guide-trusted-issuers.md", "What the app sends"),
    ("guide-google.md", "In an app"),
    ("guide-apple.md", "In an app"),
    ("guide-facebook.md", "In an app: Limited Login"),
])
def test_an_app_signs_its_user_in_by_the_request_that_a_page_shows(world, page, heading):
    merchant = world.spindle.create_merchant(f"{page}, {heading}")
    world.spindle.create_issuer(merchant_id=merchant, issuer=ISSUER, secret=KEY, create_users=True, audiences=["app"])
    client = world.spindle.create_client(
        merchant, "App", "com.example.app:/back", token_endpoint_auth_method="none",
        grant_types=["authorization_code", JWT_BEARER, TOKEN_EXCHANGE])
    for block in code(page, heading, "http"):
        request, _, form = block.partition("\n")
        method, path = request.split()
        values = {"ID_TOKEN": assertion(KEY, ISSUER, "app", nonce="n"), "NONCE": "n", "APP": client.id}
        parameters = {name: values.get(value, value) for name, value in parse_qsl(form.replace("\n", ""))}
        assert set(values.values()) <= set(parameters.values())
        assert world.spindle.good(method, path, form=parameters)["access_token"]


def test_a_client_registers_reads_changes_and_deletes_itself_by_the_commands_of_its_page(world, shell):
    heading = "Clients that register themselves"
    token, register, manage = code("guide-dynamic-registration.md", heading, "sh")
    shell.variables["INITIAL"] = json.loads(shell.run(filled(token, world.merchant)))["initial_access_token"]
    client = shell.change(register)
    shell.variables["URI"] = client["registration_client_uri"]
    shell.variables["REGISTRATION"] = client["registration_access_token"]
    read, change, delete = lines(manage)
    assert json.loads(shell.run(read))["client_name"] == "Loom for the desk"
    assert shell.change(filled(change, client["client_id"]))["redirect_uris"] == ["https://desk.example/new"]
    assert shell.run(delete) == ""
    assert "invalid_token" in shell.run(read)


def test_administration_makes_the_webhook_that_dittos_page_shows(world):
    [document] = code("guide-ditto.md", "What to paste where", "json")
    # Base64, as Ditto shows it.
    content = json.loads(filled(document, world.merchant, "0000", "A" * 40))
    content["secrets"] = ["A" * 44]
    webhook = made(world, "webhooks", content)
    [queries] = code("guide-ditto.md", "Permissions", "json")
    permissions = {"read": {"everything": False, "queriesByCollection": json.loads(queries)}}
    changed = world.spindle.administer("PATCH", f"webhooks/{webhook['id']}", {
        "permissions": content["permissions"] | permissions})
    assert changed.status == 200, changed


def test_users_are_imported_by_the_commands_and_lines_of_the_pages(server, shell):
    [line] = code("guide-import.md", "A line", "json")
    [move] = code("moving-from-spid.md", "The files", "json")
    users = [json.loads(filled(line, "")), json.loads(filled(move, ""))]
    users[1] |= {"email": "ola@example.com", "consents": []}
    for user in users:
        user["password_hash"] = HASH
    file = server.directory / "people.jsonl"
    file.write_text("".join(json.dumps(user) + "\n" for user in users), "utf-8")
    shell.run("gzip -k people.jsonl")
    try_out, run, again = lines(code("guide-import.md", "Importing users from another system", "sh")[0])
    counts = ("imported", "rejected", "skipped_existing", "dry_run")
    again = again.replace("import -", "import - --json")
    reports = [json.loads(shell.run(command)) for command in (try_out, run, again)]
    told = [[report[name] for name in counts] for report in reports]
    assert told == [[2, 0, 0, True], [2, 0, 0, False], [0, 0, 2, False]]
    [report] = code("guide-import.md", "The report", "text")
    assert [line.split()[0] for line in report.splitlines()] == list(counts)
    [mapped] = code("guide-import.md", "Who became whom", "json")
    shell.run("spindle user import people.jsonl --map map.jsonl")
    first = json.loads((server.directory / "map.jsonl").read_text("utf-8").splitlines()[0])
    assert json.loads(mapped).keys() == first.keys() and first["outcome"] == "existing"


def test_a_spid_client_gets_the_session_host_of_its_page(world, shell):
    [command] = code("guide-spid.md", "Session hosts", "sh")
    client = world.spindle.create_client(world.merchant, "News", "https://news.example/back", spid_compatible=True)
    changed = json.loads(shell.run(command.replace(" ID ", f" {client.id} ")))
    assert changed["session_hosts"] == ["id.site.example"]


def test_sync_gateway_signs_users_in_by_the_settings_of_its_page(world, server, gateway_program, tmp_path):
    heading = "Code flow, through Sync Gateway"
    [settings] = code("guide-sync-gateway.md", heading, "json")
    [command] = code("guide-sync-gateway.md", heading, "sh")
    members = json.loads(filled(command.partition(" -d '")[2].rpartition("'")[0], world.merchant))
    client = made(world, "clients", members)
    settings = settings.replace("…the client_secret…", client["client_secret"]).replace(PUBLIC, server.origin)
    oidc = json.loads(filled(settings, client["client_id"]))["oidc"]
    person = world.spindle.create_person()
    world.spindle.administer("PATCH", f"users/{person.id}", {"attributes": {"roles": ["editor"], "channels": ["desk"]}})
    gateway = Gateway(gateway_program, tmp_path, oidc["default_provider"], **oidc["providers"])
    try:
        told = Guest(world.spindle, gateway, person).sign_in()
    finally:
        gateway.end()
    assert told["name"] == f"p_{person.id}"
    assert claims(told["id_token"])["sg_channels"] == ["desk"]


def test_the_realm_of_passwords_is_told_by_the_command_of_sync_gateways_page(shell):
    [command] = code("guide-sync-gateway.md", "Couchbase Lite's own name and password", "sh")
    assert 'Basic realm="Notes"' in shell.run(command)


def test_a_merchant_has_the_mail_templates_that_their_page_shows(world, server, shell):
    [templates] = code("pages.md", "A merchant's own mails", "json")
    (server.directory / "templates.json").write_text(templates, "utf-8")
    shell.run(f"spindle merchant change {world.merchant} --mail-templates templates.json")
    kept = world.spindle.administer("GET", f"merchants/{world.merchant}").json["mail_templates"]
    assert kept == json.loads(templates)
