"""The machine on which the figures were taken."""

import datetime
import os
import pathlib
import platform
import re
import statistics
import subprocess
import time


def describe(root, directory):
    processor = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text())
    return {
        "when": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(root),
        "processor": processor[1] if processor else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "file_system": file_system(directory),
        "fdatasync_ms": fdatasync(directory / "probe"),
    }


def commit(root):
    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "--", "Sources", "migrations", "Package.swift")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + (" with changes" if changed else "")


def file_system(directory):
    """The type of the file system that the database lies on: in memory, durability would cost nothing."""
    mounts = [line.split()[1:3] for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
    holding = [(point, kind) for point, kind in mounts if directory.is_relative_to(point)]
    return max(holding, key=lambda mount: len(mount[0]))[1]


def fdatasync(file, times=200):
    """The median milliseconds that the disk takes to keep four more KiB: the price of one commit."""
    taken = []
    with open(file, "wb", buffering=0) as out:
        for _ in range(times):
            out.write(b"\0" * 4096)
            begun = time.monotonic()
            os.fdatasync(out.fileno())
            taken.append((time.monotonic() - begun) * 1000)
    file.unlink()
    return round(statistics.median(taken), 3)
