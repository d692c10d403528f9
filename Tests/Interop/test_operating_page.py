"""The commands of docs/operating.md, with an operator's values in the place of its gaps."""

import json
import re

import pytest

from harness.blocks import blocks
from harness.server import Server
from harness.shell import Shell
from harness.spindle import Spindle


def commands(heading: str, number: int = 0) -> list[str]:
    """The commands of a block below a heading, without remarks and with their continuations."""
    found = [block.text for block in blocks("docs/operating.md") if (block.heading, block.language) == (heading, "sh")]
    assert found, f"docs/operating.md has no commands below {heading}"
    joined = re.sub(r"\\\n\s*|(?<=\|)\n\s*", " ", found[number])
    return [line for line in (re.sub(r"(^|\s+)# .*", "", line).strip() for line in joined.splitlines()) if line]


def put(command: str, **values: str) -> str:
    """The command with the operator's values."""
    for name, value in values.items():
        assert re.search(rf"\b{name}\b", command), command
        command = re.sub(rf"\b{name}\b", value, command)
    return command


@pytest.fixture
def server(prepare) -> Server:
    return prepare()


@pytest.fixture
def shell(server, tmp_path) -> Shell:
    return Shell(server, tmp_path)


def test_the_first_start_is_the_three_commands_of_its_page(server, shell):
    init, serve, doctor = commands("First start")
    made = json.loads(shell.run(init))
    server.admin = made["admin_client_id"], made["admin_client_secret"]
    assert serve == "spindle serve"
    server.start()
    assert json.loads(shell.run(doctor))["healthy"]
    again = json.loads(shell.run(init))
    assert again["admin_client_id"] == made["admin_client_id"] and "admin_client_secret" not in again


def test_merchants_clients_and_users_are_made_by_the_commands_of_their_page(server, shell):
    server.init()
    server.start()
    merchant, client, user, show, listed = commands("Merchants, clients, users")
    made = json.loads(shell.run(merchant))
    backend = json.loads(shell.run(put(client, ID=made["id"])))
    assert (backend["client_name"], backend["merchant_id"]) == ("Backend", made["id"])
    (server.directory / "password.txt").write_text("a quiet loom\n", "utf-8")
    ada = json.loads(shell.run(user))
    assert json.loads(shell.run(show))["user_id"] == ada["user_id"]
    assert backend["client_id"] in shell.run(listed)

    [token] = commands("Merchants, clients, users", 1)
    shell.variables["admin_client_id"], shell.variables["admin_client_secret"] = server.admin
    shell.variables["ADMIN"] = shell.run(token + "\nprintf %s $ADMIN")
    assert Spindle.of(server).administer("GET", "merchants", token=shell.variables["ADMIN"]).status == 200


def test_a_secret_and_a_signing_key_change_by_the_commands_of_their_page(server, shell):
    server.init()
    server.start()
    spindle = Spindle.of(server)
    client = spindle.create_client(spindle.create_merchant(), "Robot", grant_types=["client_credentials"])
    add, listed, end = (put(command, ID=client.id) for command in commands("A client's secret"))
    new = json.loads(shell.run(add))["id"]
    [old] = {secret["id"] for secret in items(shell, listed)} - {new}
    shell.run(put(end, SECRET_ID=old))
    assert [secret["id"] for secret in items(shell, listed)] == [new]

    show, withdraw = commands("A stolen signing key")
    stolen = next(key["id"] for key in items(shell, show) if key["algorithm"] == "RS256")
    shell.run(put(withdraw, ID=stolen))
    assert stolen not in {key["id"] for key in items(shell, show)}


def items(shell: Shell, command: str) -> list[dict]:
    return json.loads(shell.run(command))["items"]


def test_a_backup_is_restored_and_the_master_key_changes_by_the_commands_of_their_page(server, shell, program):
    program("sqlite3", "sqlite3")
    server.init()
    server.start()
    backup, restore = commands("Backup and restore")[:2]
    shell.run(backup)
    [free] = commands("Space that deleted rows leave")
    assert shell.run(free).strip() == "0"
    server.stop()
    shell.run(restore)
    before, reseal, doctor = commands("The master key")
    shell.run(before)
    shell.run(reseal)
    [purge] = commands("Purging what was deleted")
    shell.run(purge)
    # The issuer alone is bad, since no server runs.
    checks = json.loads(shell.run(f"{doctor} --json || true"))["checks"]
    assert [check["check"] for check in checks if check["state"] == "bad"] == ["issuer"]


def test_a_postgresql_database_is_dumped_and_restored_by_the_commands_of_their_page(prepare, cluster, tmp_path):
    first, second = prepare("postgresql"), prepare("postgresql")
    second.settings["SPINDLE_MASTER_KEY"] = first.settings["SPINDLE_MASTER_KEY"]
    made = first.init()
    _, _, export, dump, restore = commands("Backup and restore")
    shell = Shell(first, tmp_path)
    for command, server in (dump, first), (restore, second):
        shell.run(f"{export}\n{command.replace('postgresql://spindle@db.example/spindle', server.database)}")
    again = json.loads(second.command("init", "--json").stdout)
    assert again["admin_client_id"] == made["admin_client_id"] and "admin_client_secret" not in again


def test_a_master_key_for_postgresql_is_made_by_the_command_of_its_page(prepare, cluster, tmp_path):
    server = prepare("postgresql")
    shell = Shell(server, tmp_path)
    key, *_, init, serve = commands("PostgreSQL")
    assert serve == "spindle serve"
    shell.run(key)
    del server.settings["SPINDLE_MASTER_KEY"]
    server.settings["SPINDLE_MASTER_KEY_FILE"] = "master.key"
    assert json.loads(shell.run(init))["admin_client_secret"]
    server.start()
