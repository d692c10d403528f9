"""Commands on a database of another program or on none, and answers that cannot be written."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from harness.server import Server, binary, master_key

FAILED = 1
NOT_MADE = 73
NOT_WRITTEN = 74
BAD_CONFIGURATION = 78
LOOKING = [("migrate", "--check"), ("migrate",), ("doctor",), ("backup", "copy.db")]


def said(done) -> str:
    return done.stdout + done.stderr


def files(server: Server) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in server.directory.iterdir()}


@pytest.mark.parametrize("command", [*LOOKING, ("init",)])
def test_commands_refuse_another_programs_database_unchanged(prepare, command):
    server = prepare()
    with closing(sqlite3.connect(server.database)) as other:
        other.execute("CREATE TABLE recipes (title TEXT)")
        other.commit()
    before = files(server)
    refused = server.command(*command)
    assert refused.returncode in (FAILED, BAD_CONFIGURATION), said(refused)
    assert files(server) == before, "neither another journal mode nor another file"
    if command == ("init",):
        assert refused.returncode == BAD_CONFIGURATION and "another program" in said(refused), said(refused)


def test_a_forced_restore_does_not_replace_another_programs_database(prepare):
    server = prepare()
    server.init()
    copy, recipes = server.directory / "copy.db", server.directory / "recipes.db"
    assert (done := server.command("backup", str(copy))).returncode == 0, said(done)
    with closing(sqlite3.connect(recipes)) as other:
        other.execute("CREATE TABLE recipes (title TEXT)")
        other.commit()
    restore = ("restore", str(copy), "--force", "--database", str(recipes))
    before = files(server)
    refused = server.command(*restore)
    assert refused.returncode == BAD_CONFIGURATION and "another program" in said(refused), said(refused)
    assert files(server) == before
    # An unreadable file may be a damaged database of ours.
    recipes.write_bytes(b"nothing " * 1000)
    assert (done := server.command(*restore)).returncode == 0, said(done)


def test_a_forced_restore_does_not_replace_a_pipe_or_folder(prepare):
    server = prepare()
    server.init()
    copy, pipe = server.directory / "copy.db", server.directory / "pipe"
    assert (done := server.command("backup", str(copy))).returncode == 0, said(done)
    os.mkfifo(pipe)
    refused = server.command("restore", str(copy), "--force", "--database", str(pipe))
    assert refused.returncode == NOT_MADE and "a device or a pipe" in said(refused), said(refused)
    assert pipe.is_fifo()
    (server.directory / "folder").mkdir()
    refused = server.command("restore", str(copy), "--force", "--database", str(server.directory / "folder"))
    assert refused.returncode == NOT_MADE, said(refused)


def test_commands_roll_back_the_journal_of_a_killed_process(prepare):
    server = prepare()
    server.init()
    copy, hot = server.directory / "copy.db", server.directory / "hot.db"
    assert (done := server.command("backup", str(copy))).returncode == 0, said(done)
    with closing(sqlite3.connect(copy, isolation_level=None)) as other:
        assert other.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
        other.execute("PRAGMA cache_size = 1")
        other.execute("BEGIN")
        for number in range(200):
            other.execute("INSERT INTO throttles (name, theoretical_arrival) VALUES (?, 0)", (f"{number:0500}",))
        for ending in ("", "-journal"):
            shutil.copy(f"{copy}{ending}", f"{hot}{ending}")
        other.execute("ROLLBACK")
    for command in (("doctor",), ("user", "list")):
        done = server.command(*command, "--database", str(hot), "--master-key-file", str(server.database) + ".key")
        assert "readonly" not in said(done), said(done)
    assert done.returncode == 0, said(done)
    with closing(sqlite3.connect(hot)) as mended:
        assert mended.execute("SELECT count(*) FROM throttles WHERE theoretical_arrival = 0").fetchone() == (0,)


@pytest.mark.parametrize("command", LOOKING)
def test_commands_that_only_look_leave_an_empty_file_empty(prepare, command):
    server = prepare()
    Path(server.database).touch()
    refused = server.command(*command)
    assert refused.returncode in (FAILED, BAD_CONFIGURATION), said(refused)
    assert files(server) == {"spindle.db": b""}
    assert server.command("init").returncode == 0, "which fills it"


@pytest.mark.parametrize("command", [("init",), ("migrate",), ("serve", "--migrate")])
def test_a_schema_with_another_programs_tables_is_refused(prepare, cluster, command):
    server = prepare("postgresql")
    cluster.query(server.database, "CREATE TABLE recipes (title TEXT)")
    refused = server.command(*command)
    assert refused.returncode == BAD_CONFIGURATION and "another program" in said(refused), said(refused)
    made = cluster.query(server.database, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    assert made == [["recipes"]]
    # In another schema they do no harm.
    cluster.query(server.database, "CREATE SCHEMA kitchen; ALTER TABLE recipes SET SCHEMA kitchen")
    assert (done := server.command("init")).returncode == 0, said(done)


@pytest.mark.parametrize("command", [
    ("migrate", "--check"), ("migrate",), ("doctor",), ("init",), ("serve",), ("serve", "--migrate"),
    ("client", "list")])
def test_a_database_of_an_unreleased_version_is_refused_and_not_changed(prepare, cluster, engine, command):
    server = prepare(engine)
    steps = unreleased(server, cluster, engine)
    refused = server.command(*command)
    assert refused.returncode == (FAILED if command == ("doctor",) else BAD_CONFIGURATION), said(refused)
    assert "made by an unreleased version of Spindle" in said(refused), said(refused)
    assert "Run `spindle init` with a new database" in said(refused), said(refused)
    assert "newer" not in said(refused), said(refused)
    assert unreleased_steps(server, cluster, engine) == steps


def test_a_backup_of_an_unreleased_version_is_not_restored(prepare, cluster):
    server = prepare()
    unreleased(server, cluster, "sqlite")
    copy = server.directory / "copy.db"
    assert (done := server.command("backup", str(copy))).returncode == 0, said(done)
    refused = server.command("restore", str(copy), "--force")
    assert refused.returncode == BAD_CONFIGURATION, said(refused)
    assert "made by an unreleased version of Spindle" in said(refused), said(refused)


def unreleased(server: Server, cluster, engine: str) -> list[list[str]]:
    """Makes the table of schema steps as versions before the first release did: more steps, with other texts."""
    made = """
        CREATE TABLE schema_steps (
            version BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL);
        """ + "".join(
            f"INSERT INTO schema_steps VALUES ({step}, 'step {step}', 'of step {step}', 1);" for step in range(1, 47))
    if engine == "sqlite":
        with closing(sqlite3.connect(server.database)) as database:
            database.executescript(made)
    else:
        cluster.query(server.database, made)
    return unreleased_steps(server, cluster, engine)


def unreleased_steps(server: Server, cluster, engine: str) -> list[list[str]]:
    asked = "SELECT checksum FROM schema_steps ORDER BY version"
    if engine == "postgresql":
        return cluster.query(server.database, asked)
    with closing(sqlite3.connect(server.database)) as database:
        return [list(row) for row in database.execute(asked)]


def test_a_migrated_postgresql_database_needs_init_before_other_commands(prepare):
    server = prepare("postgresql")
    assert server.command("migrate").returncode == 0
    refused = server.command("client", "list", SPINDLE_MASTER_KEY=master_key())
    assert refused.returncode == BAD_CONFIGURATION and "spindle init" in said(refused), said(refused)
    assert (done := server.command("init")).returncode == 0, said(done)
    assert server.command("client", "list").returncode == 0


def test_key_rotate_without_a_key_points_to_init(prepare):
    server = prepare()
    server.init()
    with closing(sqlite3.connect(server.database)) as database:
        database.execute("DELETE FROM signing_keys")
        database.commit()
    refused = server.command("key", "rotate")
    assert refused.returncode == FAILED and "there are no signing keys: run `spindle init`" in said(refused)
    assert server.command("init").returncode == 0
    assert server.command("key", "rotate").returncode == 0


def unread(server: Server, *arguments: str) -> str:
    """The error output of a command whose answer does not fit on the disk."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [binary(), *arguments], env=server.environment(), cwd=server.directory, stdout=full,
            stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == NOT_WRITTEN and "the output cannot be written" in done.stderr, done
    return done.stderr


def test_only_a_command_that_made_a_secret_reports_it_as_lost(prepare):
    server = prepare()
    made = server.init()
    assert "secret" not in unread(server, "client", "list")
    assert "secret" not in unread(server, "client", "show", made["admin_client_id"], "--json")
    assert "client add-secret" in unread(server, "client", "add-secret", made["admin_client_id"])


def test_a_lost_secret_of_client_secret_jwt_is_not_replaced_by_add_secret(prepare):
    server = prepare()
    server.init()
    new = ("client", "create", "--scope", "admin", "--grant-type", "client_credentials", "--json")
    assert "client add-secret" in unread(server, *new, "--id", "usual")
    told = unread(server, *new, "--id", "signing", "--token-endpoint-auth-method", "client_secret_jwt")
    assert "add-secret" not in told and "cannot change" in told, told
    refused = server.command("client", "add-secret", "signing")
    assert refused.returncode == FAILED and "cannot change" in refused.stderr, said(refused)
