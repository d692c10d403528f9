"""Database files that are locked, damaged, removed or replaced under a running server, and how an operator recovers."""

import os
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from harness.spindle import Spindle
from harness.wire import Answer
from harness.world import World

BAD_CONFIGURATION = 78
# More readers at once than there are open connections, so that new ones are opened.
CROWD = 24


@pytest.fixture
def server(launch):
    return launch()


@pytest.fixture
def world(server) -> World:
    return World.create(Spindle.of(server))


def own_tokens(world: World, count: int) -> list[str]:
    return [world.spindle.client_credentials(world.backend).json["access_token"] for _ in range(count)]


def introspected(world: World, token: str) -> Answer:
    return world.spindle.call("POST", "/oauth/introspect", form={"token": token} | world.backend.proof)


def are_active(world: World, tokens: list[str]) -> bool:
    return all(world.spindle.is_active(world.backend, token) for token in tokens)


def remove(server, *endings: str) -> None:
    for ending in endings:
        os.unlink(server.database + ending)


def test_writes_to_a_locked_database_wait_then_fail_and_reads_go_on(server, world):
    tokens, answers = own_tokens(world, 5), []
    waiting = [
        threading.Thread(target=lambda: answers.append(world.spindle.client_credentials(world.backend)))
        for _ in range(2)
    ]
    with closing(sqlite3.connect(server.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting[0].start()
        waiting[0].join(0.5)
        assert waiting[0].is_alive() and are_active(world, tokens)
        other.execute("ROLLBACK")
        waiting[0].join()
        assert [answer.status for answer in answers] == [200], "who waited was not served"

        other.execute("BEGIN IMMEDIATE")
        waiting[1].start()
        while waiting[1].is_alive():
            assert are_active(world, tokens) and server.get("/readyz").status == 200
            waiting[1].join(0.5)
        other.execute("ROLLBACK")
    assert (answers[1].status, answers[1].error) == (503, "temporarily_unavailable")
    assert server.has_line("storage unavailable", 'reason="database is locked"')
    assert are_active(world, [*tokens, answers[0].json["access_token"], *own_tokens(world, 2)])


def test_a_locked_database_does_not_hold_a_terminated_server(server, world):
    answers = []
    waiting = [
        threading.Thread(target=lambda: answers.append(world.spindle.client_credentials(world.backend)))
        for _ in range(4)
    ]
    with closing(sqlite3.connect(server.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for thread in waiting:
            thread.start()
            # Each signal comes at another moment of the server's wait for the lock, which lasts longer than a stop may
            # take.
            time.sleep(1)
        assert server.stop() == 0
        for thread in waiting:
            thread.join()
    assert [(answer.status, answer.error) for answer in answers] == [(503, "temporarily_unavailable")] * 4


def test_a_damaged_table_is_not_mistaken_for_an_empty_one_and_a_backup_reports_it(server, world):
    tokens, copy = own_tokens(world, 5), server.directory / "before.db"
    assert server.command("backup", str(copy)).returncode == 0
    assert server.stop() == 0
    damage(Path(server.database), "access_tokens")

    server.start()
    for answer in [introspected(world, tokens[0]), world.spindle.client_credentials(world.backend)]:
        assert (answer.status, answer.error) == (500, "server_error"), answer
    assert world.spindle.call("GET", "/.well-known/openid-configuration").status == 200
    assert server.has_logged("database disk image is malformed")
    done = server.command("backup", str(server.directory / "after.db"))
    assert done.returncode == 1 and "malformed" in done.stderr, done

    assert server.stop() == 0
    assert server.command("restore", str(copy), "--force").returncode == 0
    server.start()
    assert are_active(world, tokens)


def damage(file: Path, table: str) -> None:
    """Overwrites the first page of `table` and of each of its indexes."""
    with closing(sqlite3.connect(file)) as database:
        [[size]] = database.execute("PRAGMA page_size")
        pages = [page for page, in database.execute("SELECT rootpage FROM sqlite_schema WHERE tbl_name = ?", [table])]
    assert len(pages) > 1
    with file.open("r+b") as bytes:
        for page in pages:
            bytes.seek((page - 1) * size)
            bytes.write(b"a" * size)


def test_doctor_and_backup_report_a_missing_database_and_create_no_empty_one(server, world):
    tokens = own_tokens(world, 5)
    remove(server, "", "-wal", "-shm")
    # The connections that were open still have the file.
    assert introspected(world, tokens[0]).json["active"]
    doctor = server.command("doctor")
    assert doctor.returncode == 1 and "is not initialised" in doctor.stdout
    assert server.command("backup", str(server.directory / "copy.db")).returncode == BAD_CONFIGURATION
    with ThreadPoolExecutor(CROWD) as pool:
        answers = list(pool.map(lambda token: introspected(world, token), tokens * CROWD))
    assert all(answer.status == 503 or answer.json["active"] for answer in answers)
    assert server.stop() == 0
    with pytest.raises(AssertionError, match=f"spindle serve ended with {BAD_CONFIGURATION}"):
        server.start()
    assert not Path(server.database).exists()


def test_a_database_that_is_moved_away_and_back_loses_nothing(server, world):
    tokens, elsewhere = own_tokens(world, 5), server.database + ".moved"
    os.rename(server.database, elsewhere)
    assert introspected(world, tokens[0]).json["active"]
    os.rename(elsewhere, server.database)
    tokens += own_tokens(world, 5)
    assert server.stop() == 0
    server.start()
    assert are_active(world, tokens)


def test_a_removed_write_ahead_log_is_folded_into_the_database_at_sigterm(server, world):
    tokens = own_tokens(world, 5)
    remove(server, "-wal")
    assert introspected(world, tokens[0]).json["active"]
    assert server.command("doctor").returncode == 1
    assert server.stop() == 0
    server.start()
    assert are_active(world, tokens)
    assert server.stop() == 0
    with closing(sqlite3.connect(server.database)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("endings", [[""], ["-wal"], ["", "-wal", "-shm"]], ids=" ".join)
def test_no_write_to_a_removed_file_is_acknowledged(endings, server, world):
    remove(server, *endings)
    answer = world.spindle.client_credentials(world.backend)
    assert (answer.status, answer.error) == (503, "temporarily_unavailable")
    assert server.get("/readyz").status == 503


def test_a_replaced_database_is_never_mixed_with_the_old_one(server, launch, world):
    tokens, other = own_tokens(world, 5), launch()
    assert other.stop() == 0
    remove(server, "", "-wal", "-shm")
    os.rename(other.database, server.database)
    with ThreadPoolExecutor(CROWD) as pool:
        answers = list(pool.map(lambda token: introspected(world, token), tokens * CROWD * 4))
    # The other database has never had them.
    assert all(answer.status == 503 or answer.json["active"] for answer in answers)
    assert server.get("/readyz").status == 503
