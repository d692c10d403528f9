"""A throw-away PostgreSQL for one product, with durability on, and what pgbench does on it: the measure there."""

import importlib.util
import pathlib
import re
import subprocess

import servers

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# A row as wide as that of an access token, with its two indexes; the select finds one of ten thousand.
TABLES = """
    CREATE TABLE written (
        fingerprint TEXT PRIMARY KEY, family TEXT, client TEXT NOT NULL, user_id BIGINT, scope TEXT NOT NULL,
        issued_at BIGINT NOT NULL, expires_at BIGINT NOT NULL);
    CREATE INDEX written_by_expiry ON written (expires_at);
    CREATE TABLE found AS SELECT md5(n::text) AS fingerprint, md5((-n)::text) AS family, 'a client' AS client,
        n AS user_id, 'profile email' AS scope, 1 AS issued_at, 2 AS expires_at FROM generate_series(1, 10000) n;
    ALTER TABLE found ADD PRIMARY KEY (fingerprint);
"""
SCRIPTS = {
    "insert": r"""
\set r random(1, 2000000000)
INSERT INTO written VALUES (md5(:r::text || clock_timestamp()::text), NULL, 'client', NULL, 'profile', :r, :r + 3600);
""",
    "select": r"""
\set r random(1, 10000)
SELECT * FROM found WHERE fingerprint = md5(:r::text);
""",
}


def new_cluster():
    """A cluster as the interop tests make it."""
    place = ROOT / "Tests" / "Interop" / "harness" / "cluster.py"
    specification = importlib.util.spec_from_file_location("cluster", place)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.Cluster()


def cpu_seconds(cluster):
    """What all processes of `cluster` have used so far. Connections are kept, so hardly any of them ends."""
    postmaster = int((cluster.directory / "data" / "postmaster.pid").read_text().split()[0])
    return servers.cpu_seconds_of(postmaster)


def pgbench(cluster, connections, seconds):
    """Transactions a second of each of `SCRIPTS`."""
    url = cluster.create_database()
    cluster.query(url, TABLES)
    rates = {}
    for name, script in SCRIPTS.items():
        file = cluster.directory / f"{name}.sql"
        file.write_text(script.lstrip())
        printed = subprocess.run(
            [cluster.programs / "pgbench", "-n", "-M", "prepared", "-c", str(connections), "-j", "2", "-T",
             str(seconds), "-f", str(file), url],
            check=True, capture_output=True, text=True, timeout=seconds + 60).stdout
        rates[name] = round(float(re.search(r"tps = ([0-9.]+)", printed)[1]))
    return rates
