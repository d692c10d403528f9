"""A server with any number of tokens, and the requests for it."""

import http.client
import json
import time

import deployments
import filling
import postgresql
import scenarios
import servers
import stores
from deployments import form

DAY = 86_400


class Scaled:
    """One Spindle, filled. Ends what it starts."""

    def __init__(self, binary, directory, name, tokens, options):
        self.cluster = postgresql.new_cluster() if options.postgresql else None
        self.name = name
        self.server = servers.Spindle(binary, directory, name, self.cluster)
        try:
            self._fill(tokens, options)
        except BaseException:
            self.end()
            raise

    def _fill(self, tokens, options):
        admin = self.server.initialize()
        self.server.start()
        self.deployment = deployments.Deployment(
            self.server.address, admin, options.connections, access_token_lifetime=DAY)
        owners = self._owners()
        self.server.stop()
        if self.cluster:
            self.store = stores.PostgreSQLStore(self.cluster, self.server.environment["SPINDLE_DATABASE"])
        else:
            self.store = stores.SQLiteStore(self.server.directory / "benchmark.db")
        template = {"user": int(self.hoarder), "client": self.deployment.backend["client_id"]}
        self.filling = filling.Filling(self.store, template, tokens, owners, live=2)
        seconds = self.filling.write()
        print(f"{self.name}: {tokens} tokens in {seconds:.0f} s, {self.store.size() >> 20} MiB", flush=True)
        self.server.start()
        self.check()

    def _owners(self):
        """The owners of the tokens: the backend and the app send requests; one user, one client and one merchant will
        be deleted."""
        deployment = self.deployment
        grants = {"redirect_uris": ["https://doomed.example/"], "access_token_lifetime": DAY}
        self.doomed_client = deployment.client(deployment.merchant, "doomed", **grants)["client_id"]
        self.doomed_merchant = deployment.make("merchants", name="Doomed")["id"]
        self.client_of_doomed = deployment.client(self.doomed_merchant, "doomed too", **grants)["client_id"]
        self.spid = deployment.client(
            deployment.merchant, "SPiD", **grants, spid_compatible=True,
            grant_types=["client_credentials", "authorization_code", "refresh_token"])
        little = deployment.make("merchants", name="Little")["id"]
        self.little = deployment.make(
            "clients", merchant_id=little, client_name="administrator", scope="admin:merchant", redirect_uris=[],
            grant_types=["client_credentials"])
        hoarder = deployment.make(
            "users", email="hoarder@example.com", password=deployments.PASSWORD, email_verified=True, name="Hoarder")
        self.hoarder = hoarder["user_id"]
        grant = deployment.password_grant(deployment.backend, 0) | {"username": "hoarder@example.com"}
        deployment.post("/oauth/token", form(**grant))
        backend = deployment.backend["client_id"]
        single = [(None, backend), (None, deployment.app["client_id"])] + [(None, self.spid["client_id"])] * 2
        doomed = [(None, self.doomed_client), (None, self.client_of_doomed), (int(self.hoarder), backend)]
        return single + doomed * 4

    def check(self):
        """What was filled in is what the server itself would have made."""
        for scenario in (self.introspect(), self.refresh()):
            scenario.check(self.deployment)
        token = form(grant_type="refresh_token", refresh_token=self._refresh_tokens(1)[0], **self.deployment.app)
        if '"refresh_token"' not in self.deployment.post("/oauth/token", token):
            raise SystemExit("a refresh token of the app did not rotate")

    def scenarios(self):
        return [
            scenarios.steady("client_credentials", "/oauth/token", scenarios.own_tokens_by_form),
            self.introspect(), self.introspect(name="introspect, the latest", latest=500),
            self.refresh(), self.rotating(),
        ]

    def introspect(self, name="introspect", latest=None):
        tokens = sorted(self.filling.access.values())
        return scenarios.steady(
            name, "/oauth/introspect", expect='"active":true',
            bodies=lambda deployment: [form(token=token, **deployment.backend) for token in tokens[-(latest or 0):]])

    def refresh(self):
        return scenarios.steady("refresh, kept", "/oauth/token", lambda deployment: [
            form(grant_type="refresh_token", refresh_token=token, **deployment.backend)
            for token in self._refresh_tokens(0)])

    def rotating(self):
        return scenarios.Scenario("refresh, rotating", "rotation.lua", self._rotation, counts_finished=True)

    def _rotation(self, deployment):
        """Chains of the app's tokens that have not been used."""
        plan = scenarios.rotation_plan(deployment)
        unused = self._unused = getattr(self, "_unused", None) or self._refresh_tokens(1)[1:]
        for chain in plan["chains"]:
            chain[:] = [unused.pop() if unused else token for token in chain]
        return plan

    def _refresh_tokens(self, remainder):
        owners = len(self.filling.owners)
        return [secret for family, secret in self.filling.refresh.items() if family % owners == remainder]

    def token_of(self, client, **parameters):
        return self.deployment.token(
            client["client_id"], client["client_secret"], grant_type="client_credentials", **parameters)["access_token"]

    def ask(self, method, path, token):
        """The status, the answer and the milliseconds."""
        connection = http.client.HTTPConnection(*self.server.address.split(":"), timeout=600)
        begun = time.monotonic()
        connection.request(method, path, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, json.loads(body) if body else None, (time.monotonic() - begun) * 1000

    def end(self):
        if hasattr(self.server, "process"):
            self.server.stop()
        if self.cluster:
            self.cluster.delete()
