"""The tables of a server that does not run, on either engine, for filling them."""

import contextlib
import itertools
import sqlite3
import subprocess

import filling


class SQLiteStore:
    def __init__(self, path):
        self.path = path

    def row(self, table, condition):
        with self._open() as db:
            db.row_factory = sqlite3.Row
            return dict(db.execute(f"SELECT * FROM {table} WHERE {condition} LIMIT 1").fetchone())

    def write(self, table, rows):
        with self._open() as db:
            # Until the server opens the file again, which sets its own mode: a lost file is made again.
            db.execute("PRAGMA journal_mode = DELETE")
            for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -1000000"):
                db.execute(f"PRAGMA {setting}")
            for batch in filling.batches(rows):
                names = list(batch[0])
                places = ",".join("?" * len(names))
                db.executemany(
                    f"INSERT INTO {table} ({','.join(names)}) VALUES ({places})",
                    (tuple(row.values()) for row in batch))
            db.commit()

    def number(self, sql):
        with self._open() as db:
            return db.execute(sql).fetchone()[0]

    def finish(self):
        """The server keeps no statistics: nothing to do."""

    def size(self):
        return self.path.stat().st_size

    def vacuum(self):
        with self._open() as db:
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _open(self):
        return contextlib.closing(sqlite3.connect(self.path, timeout=60))


class PostgreSQLStore:
    def __init__(self, cluster, url):
        self.cluster, self.url = cluster, url

    def row(self, table, condition):
        names = [line[0] for line in self.cluster.query(
            self.url, f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}'"
            " ORDER BY ordinal_position")]
        values = ", ".join(f"COALESCE({name}::text, '<null>')" for name in names)
        found = self.cluster.query(self.url, f"SELECT {values} FROM {table} WHERE {condition} LIMIT 1")[0]
        return {name: self._value(name, value) for name, value in zip(names, found)}

    @staticmethod
    def _value(name, text):
        if text == "<null>":
            return None
        is_number = name.endswith("_at") or name == "user_id"
        return int(text) if is_number else text

    def write(self, table, rows):
        batches = filling.batches(rows)
        first = next(batches)
        command = f"COPY {table} ({','.join(first[0])}) FROM STDIN"
        with subprocess.Popen(
                [self.cluster.programs / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1",
                 # Skips the foreign keys: every row's parent exists.
                 "-c", "SET session_replication_role = replica", "-c", command, self.url],
                stdin=subprocess.PIPE, text=True) as psql:
            for batch in itertools.chain([first], batches):
                psql.stdin.write("".join(map(_line, batch)))
            psql.stdin.close()
        if psql.returncode != 0:
            raise SystemExit(f"COPY {table} failed")

    def number(self, sql):
        return int(self.cluster.query(self.url, sql)[0][0])

    def finish(self):
        """What its autovacuum would do within minutes."""
        self.cluster.query(self.url, "VACUUM ANALYZE")

    def size(self):
        return self.number("SELECT pg_database_size(current_database())")


def _line(row):
    return "\t".join("\\N" if value is None else str(value).replace("\\", "\\\\") for value in row.values()) + "\n"
