"""One run of wrk against one server."""

import json
import pathlib
import subprocess

THREADS = 2
SCRIPTS = pathlib.Path(__file__).resolve().parent / "wrk"


def run(server, script, plan, directory, connections, seconds):
    """What wrk/summary.lua printed at the end, and the processor time that the server used meanwhile."""
    file = directory / "plan.lua"
    file.write_text("return " + lua(plan))
    # The scripts are found from their own folder, where wrk looks for what they require.
    command = [
        "wrk", f"--threads={THREADS}", f"--connections={connections}", f"--duration={seconds}s", "--timeout=10s",
        f"--script={script}", f"http://{server.address}", "--", str(file),
    ]
    before, database_before = server.cpu_seconds(), server.database_cpu_seconds()
    finished = subprocess.run(
        command, cwd=SCRIPTS, check=True, stdout=subprocess.PIPE, text=True, timeout=seconds + 30)
    used, database_used = server.cpu_seconds() - before, server.database_cpu_seconds() - database_before
    return json.loads(finished.stdout.strip().splitlines()[-1]) | {
        "cpu_seconds": round(used, 6), "database_cpu_seconds": round(database_used, 6)}


def lua(value):
    """`value` as Lua source. What JSON escapes in a plain text, Lua reads alike."""
    if isinstance(value, dict):
        return "{" + ",".join(f"[{lua(key)}]={lua(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ",".join(map(lua, value)) + "}"
    if not (isinstance(value, str) and value.isascii() and value.isprintable()):
        raise ValueError(f"not for a plan: {value!r}")
    return json.dumps(value)
