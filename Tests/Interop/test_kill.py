"""kill -9 in the middle of traffic: whatever was acknowledged is still true after the next start."""

import os
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.ledger import Ledger, Phone, Traffic
from harness.spindle import Spindle
from harness.world import World

KILLS = {"sqlite": 5, "postgresql": 2}
# Tests/kills sets more, on each engine.
if asked := os.environ.get("TEST_KILLS"):
    KILLS = dict.fromkeys(KILLS, int(asked))
SECONDS_A_KILL = 80
# Acknowledged requests of each kind (token, rotation, redemption) before each kill.
ENOUGH = 60
# A spent code, which is the token family of its redemption, without the token that it made.
LOST_CODES = """
    SELECT count(*) FROM token_families
    WHERE redeemed_by IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM access_tokens WHERE access_tokens.family_id = token_families.id)
"""
SPENT_CODES = "SELECT count(*) FROM token_families WHERE redeemed_by IS NOT NULL"


@pytest.mark.timeout(SECONDS_A_KILL * max(KILLS.values()))
def test_a_killed_server_keeps_everything_it_acknowledged(launch, engine, request, tmp_path):
    server = launch(engine)
    world = World.create(Spindle.of(server))
    phones = [Phone(world.phone()["refresh_token"]) for _ in range(3)]
    source = world.phone()["access_token"]
    cut_rotations = 0

    for kill in range(KILLS[engine]):
        traffic = Traffic(world, phones, source).start()
        traffic.wait_for(each=ENOUGH, limit=40)
        server.kill()
        ledger = traffic.finish()
        assert not ledger.surprises, ledger.surprises[:3]
        assert min(ledger.counts) >= ENOUGH, f"kill {kill}: too little to mean anything: {ledger.counts}"

        spent, lost = counted(server, request, tmp_path / str(kill), SPENT_CODES, LOST_CODES)
        assert spent >= len(ledger.redeemed), "an acknowledged redemption is not in the database"
        assert lost == 0, "a code was spent and its tokens are not there"

        server.start()
        cut_rotations += sum(phone.in_doubt for phone in phones)
        every_phone_goes_on(world, phones)
        every_token_lives(world, ledger)
        every_code_is_redeemable_or_redeemed(world, ledger)
        no_redeemed_code_is_taken_again(world, ledger)

    assert cut_rotations > 0, "no rotation was ever cut off, so the lost answer was not tried"
    assert spindle_ends_well(server)


def every_phone_goes_on(world: World, phones: list[Phone]) -> None:
    """The latest refresh token of each chain works, and so does the old one of a rotation that was cut off."""
    for phone in phones:
        answer = world.spindle.refresh(world.app, phone.refresh_token)
        assert answer.status == 200, f"a phone was logged out (rotation cut off: {phone.in_doubt}): {answer}"
        phone.refresh_token, phone.in_doubt = answer.json["refresh_token"], False
        assert world.spindle.me(answer.json["access_token"]).status == 200


def every_token_lives(world: World, ledger: Ledger) -> None:
    tokens = ledger.own_tokens + ledger.rotated_tokens + [token for _, token in ledger.redeemed]
    alive = each(lambda token: world.spindle.is_active(world.backend, token), tokens)
    assert all(alive), f"{alive.count(False)} of {len(alive)} acknowledged tokens are lost"


def every_code_is_redeemable_or_redeemed(world: World, ledger: Ledger) -> None:
    """
    An untried code is redeemed now. A code whose redemption was cut off is either unspent and gives its tokens once, or it
    was spent and committed with them: the second attempt is then a replay like any other.
    """
    for code in ledger.untouched:
        if code.is_fresh:
            assert world.spindle.redeem(world.backend, code.value).status == 200, "an acknowledged code is lost"
    for code in ledger.in_doubt:
        answer = world.spindle.redeem(world.backend, code.value)
        assert answer.status == 200 or (answer.status, answer.error) == (400, "invalid_grant"), answer
        if answer.status == 200:
            assert world.spindle.is_active(world.backend, answer.json["access_token"])
            again = world.spindle.redeem(world.backend, code.value)
            assert (again.status, again.error) == (400, "invalid_grant"), again


def no_redeemed_code_is_taken_again(world: World, ledger: Ledger) -> None:
    """Runs last, because a replay in time revokes what the first redemption gave."""

    def is_refused(entry) -> bool:
        answer = world.spindle.redeem(world.backend, entry[0].value)
        return (answer.status, answer.error) == (400, "invalid_grant")

    assert all(each(is_refused, ledger.redeemed)), "a code was redeemed twice"


def each(check, items) -> list:
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(check, items))


def counted(server, request, directory: Path, *queries: str) -> list[int]:
    """The answers of the database to `queries` as the kill left it; SQLite recovers a copy, not the original."""
    if server.database.startswith("postgresql"):
        cluster = request.getfixturevalue("cluster")
        return [int(cluster.query(server.database, query)[0][0]) for query in queries]
    directory.mkdir()
    for suffix in ("", "-wal"):
        shutil.copy(server.database + suffix, directory / f"copy.db{suffix}")
    database = sqlite3.connect(directory / "copy.db")
    try:
        return [database.execute(query).fetchone()[0] for query in queries]
    finally:
        database.close()


def spindle_ends_well(server) -> bool:
    return server.stop() == 0
