"""Glewlwyd, another OAuth server for SQLite that Debian has, as a package: never installed, only unpacked and run."""

import gzip
import http.client
import json
import os
import sqlite3
import subprocess
import sys

import deployments
import servers
from deployments import form

DATABASE = "usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz"
ADMINISTRATOR = {"username": "admin", "password": "password"}  # as its documentation says
CLIENT = {"client_id": "backend", "client_secret": "a secret of the benchmark"}
SCOPE = "read"
# Two ways to run it: the name says what is in its answers.
DEFAULTS, BEST = "Glewlwyd as it comes, RS256", "Glewlwyd tuned, ES256"


def unpacked(directory):
    """The folder with the package's files, and those of packages that it needs and this system lacks."""
    archives = directory / "archives"
    (archives / "partial").mkdir(parents=True)
    download = [
        "apt-get", "install", "-q=2", "--yes", "--no-install-recommends", "--reinstall", "--download-only",
        "-o", f"Dir::Cache::archives={archives}", "-o", "Debug::NoLocking=true", "-o", "APT::Sandbox::User=root",
        "glewlwyd"]
    try:
        if not fetched(download) and (os.geteuid() != 0 or not fetched(["apt-get", "update", "-q=2"], download)):
            raise FileNotFoundError
    except (FileNotFoundError, subprocess.TimeoutExpired):
        print("Glewlwyd is not to be had here: apt-get could not download its package.", file=sys.stderr)
        sys.exit(os.EX_UNAVAILABLE)
    files = directory / "files"
    for archive in archives.glob("*.deb"):
        subprocess.run(["dpkg-deb", "--extract", archive, files], check=True, timeout=60)
    return files


def fetched(*commands):
    return all(
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=240).returncode == 0
        for command in commands)


class Glewlwyd(servers.Server):
    """One on a fresh SQLite file. `name` is `DEFAULTS` or `BEST`."""

    ready_path = "/config"

    def __init__(self, name, files, directory):
        super().__init__(name, directory)
        self.is_tuned = name == BEST
        plugins = files / "usr" / "lib" / "glewlwyd"
        port = int(self.address.split(":")[1])
        level = "NONE" if self.is_tuned else "INFO"
        settings = {
            "port": port, "bind_address": "127.0.0.1", "external_url": f"http://{self.address}", "api_prefix": "api",
            "login_url": "login.html", "admin_scope": "g_admin", "profile_scope": "g_profile", "cookie_secure": 0,
            "session_expiration": 2419200, "session_key": "session", "log_mode": "file", "log_level": level,
            "log_file": str(self.directory / "glewlwyd.log"), "hash_algorithm": "SHA512",
            "user_module_path": str(plugins / "user"), "client_module_path": str(plugins / "client"),
            "user_auth_scheme_module_path": str(plugins / "scheme"), "plugin_module_path": str(plugins / "plugin"),
        }
        file = self.directory / "glewlwyd.db"
        lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        lines.append(f"database = {{ type = \"sqlite3\"; path = {json.dumps(str(file))}; }};")
        configuration = self.directory / "glewlwyd.conf"
        configuration.write_text("\n".join(lines) + "\n")
        with sqlite3.connect(file) as database:
            database.executescript(gzip.decompress((files / DATABASE).read_bytes()).decode())
            if self.is_tuned:
                database.execute("PRAGMA journal_mode = WAL")  # which the file remembers; every commit is still synced
        libraries = [str(folder) for folder in (files / "usr" / "lib").glob("*-linux-gnu*")]
        self.environment["LD_LIBRARY_PATH"] = ":".join(libraries)
        self.command = [str(files / "usr" / "bin" / "glewlwyd"), "-c", str(configuration)]

    def deploy(self):
        """What `deployments.Deployment` makes, by Glewlwyd's API; it runs already."""
        self.cookie = self.call("auth/", ADMINISTRATOR)
        self.call("mod/plugin/", {
            "module": "oidc", "name": "oidc", "display_name": "OpenID Connect", "parameters": self.parameters()})
        self.call("scope/", {"name": SCOPE, "display_name": SCOPE, "password_required": False, "scheme": {}})
        # By default a client's secret is hashed like a password; as the member client_secret it is compared.
        secret = {"client_secret" if self.is_tuned else "password": CLIENT["client_secret"]}
        self.call("client/", {
            "client_id": CLIENT["client_id"], "name": "backend", "confidential": True, "enabled": True,
            "scope": [SCOPE], "redirect_uri": [deployments.BACKEND_ADDRESS],
            "token_endpoint_auth_method": ["client_secret_post"],
            "authorization_type": ["client_credentials", "password", "refresh_token"], **secret})
        for number in range(deployments.USERS):
            self.call("user/", {
                "username": f"user{number}", "name": "Benchmark", "email": f"user{number}@example.com",
                "password": deployments.PASSWORD, "enabled": True, "scope": [SCOPE]})

    def parameters(self):
        kind = "ecdsa" if self.is_tuned else "rsa"
        private, public = key_pair(kind)
        allowed = ["code", "token", "id-token", "none", "password", "client", "refresh"]
        return {
            "iss": f"http://{self.address}/api/oidc", "jwt-type": kind, "jwt-key-size": "256", "key": private,
            "cert": public, "access-token-duration": 3600, "refresh-token-duration": 1209600, "code-duration": 600,
            "refresh-token-rolling": True, "allow-non-oidc": True, "subject-type": "public",
            **{f"auth-type-{each}-enabled": True for each in allowed}, "auth-type-device-enabled": False,
            "introspection-revocation-allowed": True, "introspection-revocation-allow-target-client": True,
        }

    def call(self, path, members):
        """The cookie of the answer, if it has one."""
        connection = http.client.HTTPConnection(*self.address.split(":"), timeout=30)
        headers = {"Content-Type": "application/json", "Cookie": getattr(self, "cookie", None) or ""}
        connection.request("POST", f"/api/{path}", json.dumps(members), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status != 200:
            raise SystemExit(f"Glewlwyd's {path}: {answer.status}\n{text}")
        return (answer.headers["Set-Cookie"] or "").split(";")[0]

    @staticmethod
    def password_grant(number):
        return form(
            grant_type="password", username=f"user{number}", password=deployments.PASSWORD, scope=SCOPE, **CLIENT)


def key_pair(kind):
    """A private key and its public one, as PEM."""
    make = ["genrsa", "2048"] if kind == "rsa" else ["ecparam", "-genkey", "-name", "prime256v1", "-noout"]

    def openssl(*arguments, given=None):
        return subprocess.run(
            ["openssl", *arguments], input=given, check=True, capture_output=True, text=True, timeout=60).stdout

    private = openssl(*make)
    return private, openssl("pkey", "-pubout", given=private)
