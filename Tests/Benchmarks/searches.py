"""Administration's searches among any number of users: each is sent over HTTP, one request after the other."""

import http.client
import json
import random
import statistics
import time
import urllib.parse

import deployments
import filling
import postgresql
import servers
import stores

DAY = 86_400_000
AIM_MS = 20
REQUESTS = 300
# The first are asked without being counted: they warm the caches.
WARMING = 20
GIVEN = ["Ada", "Berit", "Dag", "Erik", "Frida", "Guro", "Hanne", "Ida", "Jonas", "Kari", "Lars", "Nils", "Ola", "Siri"]
FAMILY = ["Berg", "Dahl", "Eide", "Fossum", "Haugen", "Iversen", "Lie", "Moen", "Olsen", "Ruud", "Strand", "Vik"]
CLIENTS = 200


class Crowd:
    """A server with `count` users, on either engine. Ends what it starts."""

    def __init__(self, binary, directory, count, options):
        self.count = count
        self.cluster = postgresql.new_cluster() if options.postgresql else None
        self.server = servers.Spindle(binary, directory, "crowd", self.cluster)
        self.now = int(time.time() * 1000)
        try:
            self._fill(options)
        except BaseException:
            self.end()
            raise

    def _fill(self, options):
        admin = self.server.initialize()
        self.server.start()
        self.deployment = deployment = deployments.Deployment(self.server.address, admin, 1)
        self.issuer = deployment.make(
            "issuers", merchant_id=deployment.merchant, issuer="https://op.example", secret="s" * 40,
            audiences=["benchmark"])["id"]
        self.clients = [
            deployment.client(
                deployment.merchant, f"Client {place}", token_endpoint_auth_method="none",
                redirect_uris=[self.address_of(place)])["client_id"]
            for place in range(CLIENTS)]
        template = deployment.make(
            "users", email="template@example.com", password=deployments.PASSWORD, email_verified=True,
            name="Template")["user_id"]
        deployment.post("/oauth/token", deployments.form(
            **deployment.password_grant(deployment.backend, 0) | {"username": "template@example.com"}))
        self.server.stop()
        if self.cluster:
            self.store = stores.PostgreSQLStore(self.cluster, self.server.environment["SPINDLE_DATABASE"])
        else:
            self.store = stores.SQLiteStore(self.server.directory / "benchmark.db")
        owner = f"user_id = {template} AND client_id = '{deployment.backend['client_id']}'"
        self.rows = {
            "users": self.store.row("users", f"id = {template}"),
            "connections": self.store.row("connections", owner),
            "token_families": self.store.row("token_families", owner),
        }
        begun = time.monotonic()
        for table in ("users", "connections", "issuer_subjects", "token_families"):
            self.store.write(table, getattr(self, f"_{table}")())
        self.store.finish()
        print(f"{self.count} users in {time.monotonic() - begun:.0f} s, {self.store.size() >> 20} MiB", flush=True)
        self.server.start()
        self.connection = http.client.HTTPConnection(*self.server.address.split(":"), timeout=600)

    # What the user at a place among all has. Ids say nothing about the time of creation, as in the program.

    def number(self, place):
        return 10**15 + place * ((2**53 - 10**15) // self.count)

    def made_at(self, place):
        return self.now - (place * 7919 % self.count) * 3 * 365 * DAY // self.count - DAY

    def name(self, place):
        return f"{GIVEN[place % len(GIVEN)]} {FAMILY[place // len(GIVEN) % len(FAMILY)]} {place}"

    def email(self, place):
        return f"{self.name(place).lower().replace(' ', '.')}@example.com"

    def phone(self, place):
        return f"+479{place:08}"

    def client(self, place):
        """A fifth of all users is of the first client."""
        return self.clients[0 if place % 5 == 0 else place % CLIENTS]

    @staticmethod
    def address_of(client):
        return f"https://client{client}.example/callback"

    def family(self, place):
        return filling.hexadecimal(self.made_at(place)) + f"{place:022}"

    # Rows

    def _users(self):
        for place in range(self.count):
            name, at = self.name(place), self.made_at(place)
            yield filling.copy(self.rows["users"], at) | {
                "id": self.number(place), "email": self.email(place), "profile": json.dumps({"name": name}),
                "search_name": name.lower(), "subject": f"imported-{place}" if place % 10 == 0 else None,
                "verified_phone": self.phone(place) if place % 3 == 0 else None,
                "phone_verified_at": at if place % 3 == 0 else None,
                "disabled_at": at if place % 1000 == 0 else None,
            }

    def _connections(self):
        for place in range(self.count):
            yield filling.copy(
                self.rows["connections"], self.made_at(place), user_id=self.number(place),
                client_id=self.client(place))

    def _issuer_subjects(self):
        for place in range(0, self.count, 2):
            yield {"issuer_id": self.issuer, "subject": f"op-{place}", "user_id": self.number(place),
                   "is_confined": 0, "created_at": self.made_at(place)}

    def _token_families(self):
        for place in range(self.count):
            yield filling.copy(
                self.rows["token_families"], self.made_at(place), id=self.family(place), path=self.family(place),
                user_id=self.number(place), client_id=self.client(place), expires_at=self.now + 30 * DAY)

    # Requests

    def searches(self):
        """The path and the query of each search for the user at a place. It may be another's where that one has no
        imported `sub`, phone or identity."""
        large = self.clients[0]

        def users(**query):
            return "users", query

        def day(place):
            start = self.made_at(place) // 1000
            return {"created_after": start, "created_before": start + 86_400}

        return {
            "users": lambda place: users(),
            "users, newest first": lambda place: users(sort="-created_at"),
            "users, by name": lambda place: users(sort="name"),
            "users, counted": lambda place: users(count="true"),
            "users of email": lambda place: users(email=self.email(place)),
            "users of user_id": lambda place: users(user_id=self.number(place)),
            "users of sub": lambda place: users(sub=f"imported-{place // 10 * 10}"),
            "users of phone_number": lambda place: users(phone_number=self.phone(place // 3 * 3)),
            "users of identity": lambda place: users(identity=f"{self.issuer}:op-{place // 2 * 2}"),
            "users of client_id, small": lambda place: users(client_id=self.clients[place % (CLIENTS - 1) + 1]),
            "users of client_id, large": lambda place: users(client_id=large),
            "users of client_id, large, counted": lambda place: users(client_id=large, count="true"),
            "users of name_prefix, one": lambda place: users(name_prefix=self.name(place)),
            "users of name_prefix, many": lambda place: users(name_prefix=self.name(place).split()[0]),
            "users of name_prefix, many, counted": lambda place: users(
                name_prefix=self.name(place).split()[0], count="true"),
            "users of name_prefix at the large client": lambda place: users(
                name_prefix=self.name(place), client_id=large),
            "users of email_prefix, one": lambda place: users(email_prefix=self.email(place)[:-8]),
            "users of email_prefix, many": lambda place: users(email_prefix=self.email(place)[:2]),
            "users disabled": lambda place: users(disabled="true"),
            "users disabled at the large client": lambda place: users(disabled="true", client_id=large),
            "users disabled, of name_prefix, many": lambda place: users(
                disabled="true", name_prefix=self.name(place).split()[0]),
            "users created on a day": lambda place: users(**day(place)),
            "users created on a day at the large client": lambda place: users(**day(place), client_id=large),
            "clients of client_name": lambda place: ("clients", {"client_name": f"Client {place % CLIENTS}"}),
            "clients of redirect_uri": lambda place: ("clients", {"redirect_uri": self.address_of(place % CLIENTS)}),
            "merchants of name": lambda place: ("merchants", {"name": "Benchmark"}),
            "find a user": lambda place: ("find", {"q": self.number(place)}),
            "find an address": lambda place: ("find", {"q": self.email(place)}),
            "find a token family": lambda place: ("find", {"q": self.family(place)}),
            "find a client": lambda place: ("find", {"q": self.client(place)}),
            "find nothing": lambda place: ("find", {"q": f"{place:032x}"}),
        }

    def measure(self):
        """Milliseconds of each search, and how many items an answer has."""
        results = {}
        chosen = random.Random(3)
        for name, query in self.searches().items():
            times, found = [], []
            for _ in range(REQUESTS + WARMING):
                path, parameters = query(chosen.randrange(self.count))
                begun = time.perf_counter()
                status, answer = self._ask(path, parameters)
                times.append((time.perf_counter() - begun) * 1000)
                if status != 200:
                    raise SystemExit(f"{path} {parameters}: {status} {answer}")
                found.append(len(answer["items"]))
            times = sorted(times[WARMING:])
            results[name] = {
                "p50_ms": round(statistics.median(times), 2), "p99_ms": round(times[len(times) * 99 // 100], 2),
                "items": round(statistics.mean(found), 1)}
            print(f"{name:44} {json.dumps(results[name])}"
                  f"{'' if results[name]['p99_ms'] < AIM_MS else '  slower than the aim'}", flush=True)
        return results

    def _ask(self, path, parameters):
        query = f"?{urllib.parse.urlencode(parameters)}" if parameters else ""
        self.connection.request(
            "GET", f"/admin/v1/{path}{query}", headers={"Authorization": f"Bearer {self.deployment.admin_token}"})
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def end(self):
        if hasattr(self.server, "process"):
            self.server.stop()
        if self.cluster:
            self.cluster.delete()
