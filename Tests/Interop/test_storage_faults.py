"""A disk that fails under SQLite: refused writes leave nothing, and acknowledged ones stay."""

import resource
import shutil
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from harness.faults import Disk
from harness.spindle import Spindle
from harness.world import World

WRITERS = 16
# Words that an answer must not contain: it reveals nothing of the machine.
INNER_WORDS = ["sqlite", "disk", "i/o", "database", "wal"]
WRITING_FAILS = ["write .db-wal", "sync .db-wal", "room .db-wal"]
FOLDING_FAILS = ["write spindle.db", "sync spindle.db", "room spindle.db"]
NOT_AVAILABLE = 69
NOT_READY = {
    "status": "not_ready", "checks": {"database": "ok", "schema": "ok", "key": "ok", "disk": "writes fail"},
}
# Codes that are spent without the token they made; see test_kill.
HALF_REDEEMED = """
    SELECT count(*) FROM token_families
    WHERE redeemed_by IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM access_tokens WHERE access_tokens.family_id = token_families.id)
"""


@pytest.fixture(scope="module")
def disk(program, tmp_path_factory) -> Disk:
    return Disk(shutil.which("cc") or program("clang", "clang"), tmp_path_factory.mktemp("disk"))


@pytest.fixture(scope="module")
def world_of_the_disk(disk, launch):
    server = launch(settings=disk.settings)
    return server, World.create(Spindle.of(server))


@pytest.fixture
def server(world_of_the_disk):
    """A running server, however the last test left it."""
    server = world_of_the_disk[0]
    return server if server.process.poll() is None else server.start()


@pytest.fixture
def world(world_of_the_disk) -> World:
    return world_of_the_disk[1]


def own_tokens(world: World, count: int) -> list[str]:
    return [world.spindle.client_credentials(world.backend).json["access_token"] for _ in range(count)]


def are_active(world: World, tokens: list[str]) -> bool:
    return all(world.spindle.is_active(world.backend, token) for token in tokens)


def asked(server, query: str):
    """The database's own answer; it is closed before the server goes on."""
    with closing(sqlite3.connect(server.database)) as database:
        return database.execute(query).fetchone()[0]


def token_count(server) -> int:
    return asked(server, "SELECT count(*) FROM access_tokens")


def ends_whole(server) -> bool:
    return server.stop() == 0 and asked(server, "PRAGMA integrity_check") == "ok"


def is_refused(answer) -> bool:
    """Refused for now, in words that reveal nothing of the machine."""
    assert not [word for word in INNER_WORDS if word in answer.text.lower()], answer
    return (answer.status, answer.error) == (503, "temporarily_unavailable") and answer.headers["Retry-After"] == "1"


@pytest.mark.parametrize("wish", WRITING_FAILS)
def test_a_failed_write_is_refused_and_undone_and_reads_go_on(wish, server, world, disk):
    spindle, phone = world.spindle, world.phone()
    code, tokens = spindle.code(phone["access_token"], world.backend), own_tokens(world, 5)
    count, start = token_count(server), server.log.stat().st_size
    with disk.failing(wish):
        assert is_refused(spindle.redeem(world.backend, code))
        assert is_refused(spindle.refresh(world.app, phone["refresh_token"]))
        assert is_refused(spindle.revoke(world.backend, tokens[0]))
        with ThreadPoolExecutor(WRITERS) as pool:
            answers = list(pool.map(lambda _: spindle.client_credentials(world.backend), range(4 * WRITERS)))
        assert all(map(is_refused, answers)), Counter(answer.status for answer in answers)
        assert are_active(world, tokens) and spindle.me(phone["access_token"]).status == 200
        # No further writes come, and the state stays.
        for _ in range(3):
            answer = server.get("/readyz")
            assert answer.status == 503 and answer.json == NOT_READY, answer
        assert server.get("/healthz").status == 200
    assert disk.told[wish] > 0
    assert server.get("/readyz").status == 200, "ready again before anything is changed"
    reason = "database or disk is full" if wish.startswith("room") else "disk I/O error"
    assert server.has_line("storage unavailable", f'reason="{reason}"', start=start)

    # Nothing of the refused requests is stored, and nothing that they were to end has ended.
    assert token_count(server) == count and are_active(world, tokens)
    assert spindle.redeem(world.backend, code).status == 200
    assert spindle.refresh(world.app, phone["refresh_token"]).status == 200
    tokens += own_tokens(world, 5)
    assert ends_whole(server)
    server.start()
    assert are_active(world, tokens)


@pytest.mark.parametrize("wish", WRITING_FAILS)
def test_a_crash_on_a_full_disk_keeps_what_was_acknowledged(wish, server, world, disk):
    spindle, phone = world.spindle, world.phone()
    code, tokens = spindle.code(phone["access_token"], world.backend), own_tokens(world, 5)
    with disk.failing(wish):
        assert is_refused(spindle.refresh(world.app, phone["refresh_token"]))
        assert is_refused(spindle.redeem(world.backend, code))
        server.kill()
    assert asked(server, HALF_REDEEMED) == 0
    server.start()
    # A write that a failed sync refused may be found in the log after all; then it is as if the answer had been lost.
    assert spindle.refresh(world.app, phone["refresh_token"]).status == 200
    answer = spindle.redeem(world.backend, code)
    assert answer.status == 200 or wish.startswith("sync") and answer.error == "invalid_grant", answer
    tokens += own_tokens(world, 5)
    assert are_active(world, tokens) and ends_whole(server)


def test_a_server_at_its_file_size_limit_refuses_writes_and_recovers(launch):
    server = launch()
    world = World.create(Spindle.of(server))
    token = own_tokens(world, 1)
    full = Path(server.database + "-wal").stat().st_size
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (full, resource.RLIM_INFINITY))
    assert is_refused(world.spindle.client_credentials(world.backend)), server.log_tail()
    assert are_active(world, token)
    assert server.get("/readyz").json == NOT_READY
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert server.get("/readyz").status == 200
    assert are_active(world, own_tokens(world, 1)) and ends_whole(server)


@pytest.mark.parametrize("wish", FOLDING_FAILS)
def test_a_write_ahead_log_that_cannot_be_folded_in_is_kept(wish, server, world, disk):
    tokens = own_tokens(world, 5)
    with disk.failing(wish):
        assert server.stop() == 0
        assert disk.told[wish] > 0
        server.start()
        tokens += own_tokens(world, 5)
        assert are_active(world, tokens)
        server.kill()
    server.start()
    assert are_active(world, tokens) and ends_whole(server)


def test_a_failed_read_is_an_error_and_never_an_answer(server, world, disk):
    tokens, made_up, start = own_tokens(world, 5), "of-nobody", server.log.stat().st_size
    with disk.failing("read .db-wal"):
        answers = [
            world.spindle.call("POST", "/oauth/introspect", form={"token": token} | world.backend.proof)
            for token in [*tokens, made_up]
        ]
        # SQLite reports a page that the disk does not return as damaged.
        assert {(answer.status, answer.error) for answer in answers} == {(500, "server_error")}, answers
    assert server.has_logged("database disk image is malformed", start)
    assert are_active(world, tokens) and not world.spindle.is_active(world.backend, made_up)
    assert ends_whole(server)


@pytest.mark.parametrize("wish", ["read spindle.db", "read .db-wal"])
def test_a_server_that_cannot_read_its_database_does_not_start(wish, server, world, disk):
    tokens, start = own_tokens(world, 5), server.log.stat().st_size
    server.kill()
    with disk.failing(wish):
        assert server.command("doctor").returncode == 1
        with pytest.raises(AssertionError, match=f"spindle serve ended with {NOT_AVAILABLE}"):
            server.start()
    assert server.has_logged("the database is not available: disk I/O error", start)
    server.start()
    assert are_active(world, tokens) and ends_whole(server)


def test_writes_acknowledged_after_a_failed_sync_survive_a_power_cut(server, world, disk):
    """Linux forgets that pages are to be written once a sync of them has failed: they are read, and never on the disk.

    A process that crashes then leaves the commit that it refused in the log. The next one finds it whole.
    """
    phone = world.phone()
    log = Path(server.database + "-wal")
    durable = log.read_bytes()
    with disk.failing("sync .db-wal"):
        assert is_refused(world.spindle.refresh(world.app, phone["refresh_token"]))
        server.kill()
    forgotten = log.read_bytes()
    server.start()
    tokens = own_tokens(world, 5)
    server.kill()
    log.write_bytes(after_a_power_cut(log.read_bytes(), durable, forgotten))
    Path(server.database + "-shm").unlink()
    server.start()
    assert are_active(world, tokens)


def after_a_power_cut(log: bytes, durable: bytes, forgotten: bytes) -> bytes:
    """`log` without the frames that were written between `durable` and `forgotten`, and never again."""
    header, frame = 32, 24 + 4096
    kept = bytearray(log)
    for at in range(header, len(forgotten), frame):
        end = at + frame
        if forgotten[at:end] != durable[at:end] and log[at:end] == forgotten[at:end]:
            kept[at:end] = bytes(frame)
    return bytes(kept)
