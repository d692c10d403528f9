"""Backup and restore, and the checks that keep an operator from restoring the wrong copy."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from harness.server import binary, master_key
from harness.spindle import Spindle
from harness.world import World

CANNOT_CREATE = 73
IN_USE = 69
BAD_DATA = 65
BAD_USAGE = 64
BAD_CONFIGURATION = 78


def said(done) -> str:
    return done.stdout + done.stderr


def test_a_backup_of_a_running_server_is_consistent_and_can_be_restored(launch):
    server = launch()
    world = World.create(Spindle.of(server))
    device = world.phone()
    copy = server.directory / "copy.db"
    assert (done := server.command("backup", str(copy))).returncode == 0, said(done)
    assert copy.stat().st_mode & 0o077 == 0
    assert Path(server.database + ".key").read_text().strip().encode() not in copy.read_bytes()
    assert server.command("backup", str(copy)).returncode == CANNOT_CREATE, "a backup is not overwritten"
    late = world.spindle.create_merchant("Made after the backup")

    assert server.command("restore", str(copy)).returncode == CANNOT_CREATE, "not without --force"
    refused = server.command("restore", str(copy), "--force")
    assert refused.returncode == IN_USE and "stop the server" in said(refused), said(refused)
    # After a kill the last writes are in the log beside the database, which must not end up in the restored one.
    server.kill()
    assert (done := server.command("restore", str(copy), "--force")).returncode == 0, said(done)

    server.start()
    assert world.spindle.refresh(world.app, device["refresh_token"]).status == 200
    assert server.command("merchant", "show", late).returncode == 1


def is_intact(database: Path | str) -> bool:
    with closing(sqlite3.connect(database)) as opened:
        return opened.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.parametrize("ending", ["killed", "stopped"])
def test_the_log_of_a_removed_database_is_not_applied_to_the_restored_one(launch, ending):
    server = launch()
    world = World.create(Spindle.of(server))
    copy = server.directory / "copy.db"
    assert (done := server.command("backup", str(copy))).returncode == 0, said(done)
    for _ in range(20):
        assert world.spindle.client_credentials(world.backend).status == 200
    late = world.spindle.create_merchant("Made after the backup")
    if ending == "killed":
        server.kill()
        os.unlink(server.database)
    else:
        os.unlink(server.database)
        server.stop()
    assert Path(server.database + "-wal").stat().st_size > 0, "there is no log to be mistaken"

    assert (done := server.command("restore", str(copy))).returncode == 0, said(done)
    assert is_intact(server.database)
    assert server.command("merchant", "show", late).returncode == 1
    assert server.command("merchant", "show", world.merchant).returncode == 0
    server.start()


def test_a_leftover_log_is_not_applied_to_a_new_backup_of_the_same_name(launch):
    server = launch()
    world = World.create(Spindle.of(server))
    copy = server.directory / "copy.db"
    # An earlier copy of the same name, once opened, leaves this log behind when only the copy is removed.
    shutil.copy(server.database + "-wal", f"{copy}-wal")
    late = world.spindle.create_merchant("Made since")
    assert (done := server.command("backup", str(copy))).returncode == 0, said(done)
    assert not Path(f"{copy}-wal").exists() and is_intact(copy)
    with closing(sqlite3.connect(copy)) as opened:
        assert opened.execute("SELECT name FROM merchants WHERE id = ?", [late]).fetchall() == [("Made since",)]


def test_a_restore_does_not_overwrite_a_server_that_started_meanwhile(prepare):
    server = prepare()
    server.init()
    copy, slow = server.directory / "copy.db", server.directory / "slow.db"
    assert server.command("backup", str(copy)).returncode == 0
    # The copy of the backup waits for this test.
    os.mkfifo(slow)
    restoring = subprocess.Popen(
        [binary(), "restore", str(slow), "--force"], env=server.environment(), cwd=server.directory,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    with slow.open("wb") as pipe:
        server.start()
        late = World.create(Spindle.of(server)).spindle.create_merchant("Made meanwhile")
        pipe.write(copy.read_bytes())
    output, _ = restoring.communicate(timeout=60)
    assert restoring.returncode == IN_USE and "stop the server" in output, output
    assert server.command("merchant", "show", late).returncode == 0
    server.stop()
    server.start()
    assert server.command("merchant", "show", late).returncode == 0


def test_concurrent_restores_check_and_install_their_own_files(prepare):
    server = prepare()
    server.init()
    copies = [server.directory / name for name in ("first.db", "second.db")]
    ids = []
    for copy in copies:
        ids.append(json.loads(server.command("merchant", "create", "--name", copy.name, "--json").stdout)["id"])
        assert server.command("backup", str(copy)).returncode == 0
    slow = server.directory / "slow.db"
    os.mkfifo(slow)
    first = subprocess.Popen(
        [binary(), "restore", str(slow), "--force"], env=server.environment(), cwd=server.directory,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    with slow.open("wb") as pipe:
        pipe.write(copies[0].read_bytes())
        pipe.flush()
        assert (done := server.command("restore", str(copies[1]), "--force")).returncode == 0, said(done)
        assert server.command("merchant", "show", ids[1]).returncode == 0
    output, _ = first.communicate(timeout=60)
    assert first.returncode == 0, output
    assert is_intact(server.database)
    assert server.command("merchant", "show", ids[0]).returncode == 0
    assert server.command("merchant", "show", ids[1]).returncode == 1, "made after the first"
    assert not list(server.directory.glob("*restoring*"))


def left_behind(server) -> list[str]:
    return [file.name for file in server.directory.iterdir() if "restoring" in file.name or "unfinished" in file.name]


def wait_for_one(server):
    deadline = time.monotonic() + 20
    while not left_behind(server):
        assert time.monotonic() < deadline, "it has no file of its own"
        time.sleep(0.01)


def undisturbed() -> None:
    """Lets signals end the child that the shell of these tests may ignore."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_restore_leaves_no_copy_and_the_old_database(prepare, number):
    server = prepare()
    server.init()
    slow, before = server.directory / "slow.db", Path(server.database).read_bytes()
    os.mkfifo(slow)
    with subprocess.Popen(
            [binary(), "restore", str(slow), "--force"], env=server.environment(), cwd=server.directory,
            preexec_fn=undisturbed) as restoring:
        with slow.open("wb") as pipe:
            pipe.write(before[:4096])
            pipe.flush()
            wait_for_one(server)
            restoring.send_signal(number)
            assert restoring.wait(timeout=20) == -number
    assert left_behind(server) == [] and Path(server.database).read_bytes() == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_backup_leaves_no_copy(prepare, number):
    server = prepare()
    server.init()
    # strace delays each write, and ends by the signal that ended its child.
    slow = ["strace", "-f", "-o", "/dev/null", "-e", "trace=pwrite64", "-e", "inject=pwrite64:delay_enter=200000"]
    with subprocess.Popen(
            [*slow, binary(), "backup", "copy.db"], env=server.environment(), cwd=server.directory,
            preexec_fn=undisturbed) as tracer:
        wait_for_one(server)
        child = int(Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text().split()[0])
        os.kill(child, number)
        assert tracer.wait(timeout=20) == -number
    assert left_behind(server) == [] and not (server.directory / "copy.db").exists()


def test_a_hangup_does_not_end_a_command_under_nohup(prepare):
    server = prepare()
    server.init()
    slow = server.directory / "slow.db"
    os.mkfifo(slow)
    with subprocess.Popen(
            ["nohup", binary(), "restore", str(slow), "--force"], env=server.environment(), cwd=server.directory,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as restoring:
        with slow.open("wb") as pipe:
            wait_for_one(server)
            restoring.send_signal(signal.SIGHUP)
            pipe.write(Path(server.database).read_bytes())
        output, _ = restoring.communicate(timeout=60)
    assert restoring.returncode == 0, output


def test_a_restore_warns_of_withdrawn_keys_that_it_brings_back(prepare):
    server = prepare()
    server.init()
    copy = server.directory / "copy.db"
    assert server.command("backup", str(copy)).returncode == 0
    key = json.loads(server.command("key", "list", "--json").stdout)["items"][0]["id"]
    assert server.command("key", "withdraw", key).returncode == 0
    assert (done := server.command("restore", str(copy), "--force")).returncode == 0, said(done)
    assert key in said(done) and "withdraw" in said(done), said(done)
    # With no key withdrawn since, there is no warning.
    assert "withdraw" not in said(server.command("restore", str(copy), "--force"))


def test_doctor_reports_a_postgresql_database_whose_restore_did_not_finish(prepare, cluster):
    server = prepare("postgresql")
    server.init()
    assert "restore did not finish" not in server.command("doctor").stdout
    cluster.query(server.database, "ALTER TABLE webhooks DROP CONSTRAINT webhooks_merchant_id_fkey")
    doctor = server.command("doctor")
    assert doctor.returncode == 1 and "keys are missing of webhooks" in doctor.stdout, said(doctor)


def test_restoring_a_file_that_is_not_this_installations_backup_changes_nothing(prepare):
    server, other = prepare(), prepare()
    server.init()
    other.init()
    copy = other.directory / "copy.db"
    assert other.command("backup", str(copy)).returncode == 0
    garbage = other.directory / "garbage.db"
    garbage.write_bytes(b"nothing " * 1000)
    before = sorted(file.name for file in server.directory.iterdir() if file.suffix not in (".db-shm", ".db-wal"))
    absent = other.directory / "absent.db"
    for file, status in ((copy, BAD_CONFIGURATION), (garbage, BAD_DATA), (absent, CANNOT_CREATE)):
        refused = server.command("restore", str(file), "--force")
        assert refused.returncode == status, said(refused)
        assert said(refused).startswith("spindle: "), said(refused)
        assert status == BAD_CONFIGURATION or str(file) in said(refused), said(refused)
    after = sorted(file.name for file in server.directory.iterdir() if file.suffix not in (".db-shm", ".db-wal"))
    assert after == before
    server.start()


def test_a_backup_is_restored_on_a_new_machine_that_has_the_key(prepare):
    server, new = prepare(), prepare()
    made = server.init()
    copy = server.directory / "copy.db"
    assert server.command("backup", str(copy)).returncode == 0
    assert (done := new.command("restore", str(copy))).returncode == 0, said(done)
    assert new.command("serve").returncode == BAD_CONFIGURATION, "not without its key"
    assert not Path(new.database + ".key").exists(), "and it is given no other"
    Path(new.database + ".key").write_text(Path(made["master_key_file"]).read_text())
    new.admin = server.admin
    new.start()
    assert Spindle.of(new).admin_token()


def test_keys_are_not_resealed_under_a_running_server(launch):
    server = launch()
    key = server.directory / "new.key"
    key.write_text(master_key())
    key.chmod(0o600)
    assert server.command("key", "reseal", "--new-key-file", str(key)).returncode == IN_USE
    server.stop()
    assert server.command("key", "reseal", "--new-key-file", str(key)).returncode == 0


def test_reseal_with_the_present_master_key_is_refused_without_asking_to_destroy_it(prepare, engine):
    server = prepare(engine)
    server.init()
    present = server.directory / "present.key"
    own = Path(server.database + ".key") if engine == "sqlite" else None
    present.write_text(own.read_text() if own else server.settings["SPINDLE_MASTER_KEY"])
    refused = server.command("key", "reseal", "--new-key-file", str(present))
    assert refused.returncode == BAD_USAGE and "current master key" in said(refused), said(refused)
    assert "destroy" not in said(refused), said(refused)


def test_postgresql_is_backed_up_by_its_own_tools(prepare):
    server = prepare("postgresql")
    refused = server.command("backup", "copy.db")
    assert refused.returncode == BAD_USAGE and "pg_dump" in said(refused), said(refused)
    assert server.command("restore", "copy.db").returncode == BAD_USAGE


def test_a_backup_with_a_write_ahead_log_beside_it_is_not_restored(launch, prepare):
    server = launch()
    world = World.create(Spindle.of(server))
    late = world.spindle.create_merchant("In the log only")
    server.kill()
    copy = server.directory / "cut.db"
    shutil.copyfile(server.database, copy)
    shutil.copyfile(server.database + "-wal", str(copy) + "-wal")
    refused = server.command("restore", str(copy), "--force")
    assert refused.returncode == BAD_DATA and "-wal" in said(refused), said(refused)
    itself = server.command("restore", server.database, "--force")
    assert itself.returncode == BAD_USAGE, said(itself)
    # The advice of the message works.
    whole = server.directory / "whole.db"
    done = server.command("backup", str(whole), "--database", str(copy))
    assert done.returncode == 0, said(done)
    assert (done := server.command("restore", str(whole), "--force")).returncode == 0, said(done)
    assert server.command("merchant", "show", late).returncode == 0


def test_a_backup_with_a_write_ahead_log_is_not_restored_through_a_link(launch):
    server = launch()
    late = World.create(Spindle.of(server)).spindle.create_merchant("In the log only")
    server.kill()
    folder = server.directory / "copies"
    folder.mkdir()
    copy, link = folder / "cut.db", server.directory / "latest.db"
    shutil.copyfile(server.database, copy)
    shutil.copyfile(server.database + "-wal", f"{copy}-wal")
    link.symlink_to(copy)
    second = server.directory / "second.db"
    second.symlink_to(link.name)
    for path in (copy, link, second):
        refused = server.command("restore", str(path), "--force")
        assert refused.returncode == BAD_DATA and "cut.db-wal" in said(refused), said(refused)
    # A link to a whole copy works like the copy.
    whole = folder / "whole.db"
    done = server.command("backup", str(whole), "--database", str(copy))
    assert done.returncode == 0, said(done)
    link.unlink()
    link.symlink_to(whole)
    assert (done := server.command("restore", str(second), "--force")).returncode == 0, said(done)
    assert server.command("merchant", "show", late).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_root_restores_and_reseals_for_the_owner_of_the_database(prepare):
    server = prepare()
    server.init()
    copy = server.directory / "copy.db"
    assert server.command("backup", str(copy)).returncode == 0
    nobody = 65534
    for path in [server.directory, Path(server.database), Path(server.database + ".key")]:
        os.chown(path, nobody, nobody)
    assert (done := server.command("restore", str(copy), "--force")).returncode == 0, said(done)
    assert os.stat(server.database).st_uid == nobody
    new = server.directory / "new.key"
    assert (done := server.command("key", "reseal", "--new-key-file", str(new))).returncode == 0, said(done)
    assert os.stat(new).st_uid == nobody and os.stat(new).st_mode & 0o777 == 0o600
    server.settings["SPINDLE_MASTER_KEY_FILE"] = str(new)
    os.chown(new, 0, 0)
    assert "belong to different users" in server.command("doctor").stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("planted", ["database", "key"])
def test_init_refuses_a_file_of_another_user(prepare, planted):
    server = prepare()
    path = Path(server.database + (".key" if planted == "key" else ""))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(master_key() + "\n" if planted == "key" else "")
    os.chown(path, 65534, 65534)
    refused = server.command("init")
    assert refused.returncode != 0 and "belongs to another user" in said(refused), said(refused)
    path.unlink()
    assert server.command("init").returncode == 0


def test_reseal_refuses_a_key_file_that_others_can_read(prepare):
    server = prepare()
    server.init()
    new = server.directory / "new.key"
    new.write_text(master_key() + "\n")
    new.chmod(0o644)
    refused = server.command("key", "reseal", "--new-key-file", str(new))
    assert refused.returncode == BAD_CONFIGURATION and str(new) in said(refused), said(refused)
    new.chmod(0o600)
    assert (done := server.command("key", "reseal", "--new-key-file", str(new))).returncode == 0, said(done)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_reseal_refuses_a_key_file_of_another_user(prepare):
    server = prepare()
    server.init()
    new = server.directory / "new.key"
    new.write_text(master_key() + "\n")
    new.chmod(0o600)
    os.chown(new, 65534, 65534)
    refused = server.command("key", "reseal", "--new-key-file", str(new))
    assert refused.returncode == BAD_CONFIGURATION and "belongs to another user" in said(refused), said(refused)
    assert server.command("client", "list").returncode == 0, "the key is what it was"


def test_a_restore_replaces_the_database_behind_a_link_and_keeps_the_link(prepare):
    server = prepare()
    server.init()
    copy = server.directory / "copy.db"
    assert server.command("backup", str(copy)).returncode == 0
    real = server.directory / "disk" / "real.db"
    real.parent.mkdir(mode=0o700)
    Path(server.database).rename(real)
    for rest in ["-wal", "-shm"]:
        Path(server.database + rest).unlink(missing_ok=True)
    Path(server.database).symlink_to(real)
    before = real.stat().st_ino
    assert (done := server.command("restore", str(copy), "--force")).returncode == 0, said(done)
    assert Path(server.database).is_symlink() and real.stat().st_ino != before and is_intact(real)


def test_a_restore_refuses_a_dangling_link(prepare):
    server = prepare()
    server.init()
    copy, link = server.directory / "copy.db", Path(server.database)
    assert server.command("backup", str(copy)).returncode == 0
    link.unlink()
    link.symlink_to(server.directory / "disk" / "real.db")
    refused = server.command("restore", str(copy))
    assert refused.returncode == CANNOT_CREATE and "symbolic link" in said(refused), said(refused)
    assert link.is_symlink()


def test_a_backup_that_finds_a_file_in_its_place_keeps_that_files_log(prepare):
    server = prepare()
    server.init()
    slow = ["strace", "-f", "-o", "/dev/null", "-e", "trace=pwrite64", "-e", "inject=pwrite64:delay_enter=20000"]
    with subprocess.Popen(
            [*slow, binary(), "backup", "copy.db"], env=server.environment(), cwd=server.directory,
            stderr=subprocess.DEVNULL) as tracer:
        wait_for_one(server)
        (server.directory / "copy.db").write_bytes(b"another")
        (server.directory / "copy.db-wal").write_bytes(b"its log")
        assert tracer.wait(timeout=60) == CANNOT_CREATE
    assert (server.directory / "copy.db-wal").read_bytes() == b"its log" and left_behind(server) == []


def test_a_backup_under_a_name_like_a_uri_is_whole(prepare):
    server = prepare()
    server.init()
    made = server.command("backup", "file:copy.db")
    assert made.returncode == 0, made.stderr
    copy = server.directory / "file:copy.db"
    assert copy.read_bytes().startswith(b"SQLite format 3") and left_behind(server) == []


def test_a_database_behind_a_symbolic_link_can_be_used(prepare):
    server = prepare()
    server.init()
    real, link = Path(server.database), server.directory / "linked.db"
    link.symlink_to(real)
    Path(f"{link}.key").write_bytes(Path(f"{real}.key").read_bytes())
    Path(f"{link}.key").chmod(0o600)
    listed = server.command("client", "list", "--database", str(link))
    assert listed.returncode == 0, listed.stderr


@pytest.mark.parametrize("command", [("client", "list"), ("serve",), ("key", "list")])
def test_a_refused_file_of_another_program_is_not_changed(prepare, command):
    server = prepare()
    foreign, empty = server.directory / "foreign.db", server.directory / "empty.db"
    with sqlite3.connect(foreign) as database:
        database.execute("CREATE TABLE theirs (a)")
    empty.touch()
    for file in (foreign, empty):
        before = file.read_bytes()
        refused = server.command(*command, "--database", str(file))
        assert refused.returncode == 78 and file.read_bytes() == before, refused.stderr
