"""Rows as the server writes them, by the million: users, their sign-ins, and the tokens of those.

By HTTP that would take hours, so the rows are written by SQL. Nothing about a row is made up here: each is a copy of one
that the server itself wrote at a sign-in, with another id, fingerprint, owner and time.
"""

import base64
import hashlib
import itertools
import os
import random
import time

TOKENS_OF_FAMILY = 5
FAMILIES_OF_USER = 2
# The server ends a user's oldest families at a client beyond a thousand.
LIVE_OF_ONE = 250
SAMPLES = 10_000
BATCH = 10_000


class Filling:
    """`owners` are pairs of a user's number, or None for anybody, and a client: the families take turns, so that rows of
    one owner lie between those of the others. `live` says how many of them are asked for tokens, from the first on."""

    def __init__(self, store, template, tokens, owners, live=1):
        self.store, self.owners, self.live = store, owners, live
        self.families = tokens // TOKENS_OF_FAMILY
        self.count = self.families * TOKENS_OF_FAMILY
        self.user_count = self.families // FAMILIES_OF_USER
        self.rows = {
            "users": store.row("users", f"id = {template['user']}"),
            **{table: store.row(table, f"client_id = '{template['client']}' AND user_id = {template['user']}")
               for table in ("connections", "token_families", "access_tokens", "logins")},
        }
        family = self.rows["token_families"]["id"]
        self.rows["refresh_tokens"] = store.row("refresh_tokens", f"family_id = '{family}'")
        # Issued within the first half of their lives, so that none expires during the benchmark.
        token = self.rows["access_tokens"]
        self.end = int(time.time() * 1000)
        self.begin = self.end - (token["expires_at"] - token["issued_at"]) // 2
        chosen = random.Random(1)
        wanted = min(SAMPLES, self.families * live // len(owners))
        places = chosen.sample(range(self.families * live // len(owners)), wanted)
        self.asked = {place // live * len(owners) + place % live for place in places}
        self.access, self.refresh = {}, {}

    def write(self):
        begun = time.monotonic()
        self.numbers = sorted(random.Random(2).sample(range(10**15, 2**53), self.user_count))
        self.store.write("users", self._users())
        self.store.write("connections", self._by_user("connections"))
        self.store.write("logins", self._by_user("logins", id=lambda: os.urandom(12).hex()))
        self.ids = [hexadecimal(self._time(n)) + os.urandom(8).hex() for n in range(self.families)]
        self.store.write("token_families", self._families())
        self.store.write("refresh_tokens", self._refresh_tokens())
        self.store.write("access_tokens", self._access_tokens())
        self.store.finish()
        return time.monotonic() - begun

    def expired(self, count):
        """Adds access tokens that expired a minute ago."""
        row = self.rows["access_tokens"]
        end = self.end - (row["expires_at"] - row["issued_at"]) - 60_000
        self.store.write("access_tokens", (
            copy(row, at, fingerprint=hexadecimal(at) + text(os.urandom(32)))
            for at in range(end - count, end)))

    def _time(self, n):
        return self.begin + n * (self.end - self.begin) // self.count

    def _owner(self, family):
        user, client = self.owners[family % len(self.owners)]
        return {"client_id": client, "user_id": user or self.numbers[family % self.user_count]}

    def _users(self):
        for place, number in enumerate(self.numbers):
            yield copy(self.rows["users"], self.begin, id=number, email=f"scale{place}@example.com")

    def _by_user(self, table, **made):
        for place, number in enumerate(self.numbers):
            client = self.owners[place % len(self.owners)][1]
            new = {name: value() for name, value in made.items()}
            yield copy(self.rows[table], self._time(place), user_id=number, client_id=client, **new)

    def _families(self):
        for n in range(self.families):
            is_named = self.owners[n % len(self.owners)][0] is not None
            is_old = n < self.families - LIVE_OF_ONE * len(self.owners)
            ended = {"ended_at": self._time(n) + 1} if is_named and is_old else {}
            yield copy(self.rows["token_families"], self._time(n), id=self.ids[n], **self._owner(n), **ended)

    def _refresh_tokens(self):
        for n in range(self.families):
            fingerprint = self._fingerprint(self._time(n), self.refresh, n, n in self.asked)
            yield copy(
                self.rows["refresh_tokens"], self._time(n), fingerprint=fingerprint, family_id=self.ids[n])

    def _access_tokens(self):
        row = self.rows["access_tokens"]
        for n in range(self.count):
            family = n % self.families
            # One token of each family that requests use, taken from its first and its last in turn.
            is_asked = family in self.asked and (n // self.families) == family % TOKENS_OF_FAMILY
            fingerprint = self._fingerprint(self._time(n), self.access, family, is_asked)
            yield copy(row, self._time(n), fingerprint=fingerprint, family_id=self.ids[family], **self._owner(family))

    def _fingerprint(self, at, known, name, is_asked):
        """`Secret.ordered` and `Fingerprint.init(of:)`. A secret that is never used is random like a digest."""
        if not is_asked:
            return hexadecimal(at) + text(os.urandom(32))
        known[name] = secret = hexadecimal(at) + text(os.urandom(32))
        return hexadecimal(at) + text(hashlib.sha256(secret.encode()).digest())


def copy(row, at, **changed):
    """`row` as it would be, had it been written at `at`."""
    moved = at - next(row[name] for name in ("issued_at", "created_at") if name in row)
    times = {name: row[name] + moved for name in row if name.endswith("_at") and row[name] is not None}
    return row | times | changed


def batches(rows):
    rows = iter(rows)
    while batch := list(itertools.islice(rows, BATCH)):
        yield batch


def hexadecimal(milliseconds):
    return "%012x" % milliseconds


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
