"""`spindle user import`: users of another system sign in with the passwords they had there."""

import base64
import hashlib
import json
import secrets
import sqlite3

import pytest

from harness.assertion import JWT_BEARER, assertion
from harness.browser import Browser
from harness.server import Server
from harness.spindle import Client, Person, Spindle
from harness.world import World

DATA_FAULT = 65
CANNOT_CREATE = 73


def plain(data: bytes) -> str:
    """Base64 as the PHC form has it."""
    return base64.b64encode(data).decode().rstrip("=")


def scrypt(password: str) -> str:
    salt = secrets.token_bytes(16)
    digest = hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1, dklen=32)
    return f"$scrypt$ln=14,r=8,p=1${plain(salt)}${plain(digest)}"


def pbkdf2(function: str, password: str) -> str:
    """As passlib writes it."""
    salt = secrets.token_bytes(16)
    digest = hashlib.pbkdf2_hmac(function, password.encode(), salt, 20_000)
    name = {"sha1": "pbkdf2"}.get(function, f"pbkdf2-{function}")
    return f"${name}$20000${plain(salt).replace('+', '.')}${plain(digest).replace('+', '.')}"


def django(password: str) -> str:
    salt = secrets.token_hex(11)
    digest = hashlib.pbkdf2_hmac("sha256", password.encode(), salt.encode(), 30_000)
    return f"pbkdf2_sha256$30000${salt}${base64.b64encode(digest).decode()}"


# Published by the authors of each: Python has neither of the two.
BCRYPT = ("U*U*U", "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a")
ARGON2 = ("password", "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA")

# A password with a letter that has two spellings, as it was typed then: in two code points.
TYPED = "bla\u030abærsyltetøy på brød"
PEOPLE = {
    "bcrypt": BCRYPT,
    "argon2": ARGON2,
    "scrypt": (TYPED, scrypt(TYPED)),
    "pbkdf2-sha1": (TYPED, pbkdf2("sha1", TYPED)),
    "pbkdf2-sha256": (TYPED, pbkdf2("sha256", TYPED)),
    "pbkdf2-sha512": (TYPED, pbkdf2("sha512", TYPED)),
    "django": (TYPED, django(TYPED)),
}


def write(path, *documents) -> str:
    lines = [one if isinstance(one, str) else json.dumps(one) for one in documents]
    path.write_text("".join(line + "\n" for line in lines))
    return str(path)


def said(done) -> str:
    return done.stdout + done.stderr


def emails(server: Server) -> set[str]:
    listed = server.command("user", "list", "--count", "1000", "--json")
    assert listed.returncode == 0, listed.stderr
    return {item["email"] for item in json.loads(listed.stdout)["items"]}


def test_imported_users_sign_in_with_their_old_password(launch, tmp_path, engine):
    server = launch(engine)
    world = World.create(Spindle.of(server))
    people = [
        {"email": f"{name}@example.com", "email_verified": True, "name": name, "password_hash": hash}
        for name, (_, hash) in PEOPLE.items()
    ]
    done = server.command("user", "import", write(tmp_path / "people.jsonl", *people), "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout) == {
        "imported": len(PEOPLE), "rejected": 0, "skipped_existing": 0, "dry_run": False, "rejections": [],
    }

    def sign_in(name: str, password: str):
        return world.spindle.token(
            world.app, "password", username=f"{name}@example.com", password=password, scope="openid profile email"
        )

    for name, (password, _) in PEOPLE.items():
        assert sign_in(name, password + "x").status == 400, name
        answer = sign_in(name, password)
        assert answer.status == 200, f"{name}: {answer}"
        me = world.spindle.good("GET", "/me", bearer=answer.json["access_token"])
        assert (me["email"], me["email_verified"], me["name"]) == (f"{name}@example.com", True, name)
        # Now the hash is ours, of the same password, in either spelling.
        assert sign_in(name, password).status == 200, name
        assert sign_in(name, password.replace("a\u030a", "å")).status == 200, name
    if engine == "sqlite":
        with sqlite3.connect(server.database) as connection:
            stored = dict(connection.execute("SELECT email, password_hash FROM users"))
        for name in PEOPLE:
            assert stored[f"{name}@example.com"].startswith("$argon2id$v=19$"), name


@pytest.fixture(scope="module")
def empty(prepare) -> Server:
    server = prepare()
    server.init()
    return server


SECRET = "opal heron under glass"


def test_each_refused_line_is_reported_without_its_content(empty, tmp_path):
    refused = {
        2: '{"email": "%s@example.com"' % SECRET,
        3: {"email": f"{SECRET} at example.com"},
        5: {"email": "plain@example.com", "password": SECRET},
        6: {"email": "md5@example.com", "password_hash": hashlib.md5(SECRET.encode()).hexdigest()},
        7: {"email": "bomb@example.com", "password_hash": scrypt(SECRET).replace("ln=14", "ln=30")},
        8: {"email": "more@example.com", SECRET: SECRET},
        9: {"email": "long@example.com", "name": SECRET * 5000},
    }
    lines = [refused.get(number, {"email": f"refused-{number}@example.com"}) for number in range(1, 11)]
    lines[3] = ""
    file = write(tmp_path / "people.jsonl", *lines)

    rehearsal = empty.command("user", "import", file, "--dry-run", "--json")
    assert rehearsal.returncode == 1, rehearsal.stdout + rehearsal.stderr
    assert emails(empty) == set()

    done = empty.command("user", "import", file)
    assert done.returncode == 1
    told = [line.split(":")[0] for line in done.stderr.splitlines() if line.startswith("line ")]
    assert told == [f"line {number}" for number in refused], done.stderr
    totals = dict(line.split() for line in done.stdout.splitlines())
    assert totals == {"imported": "2", "rejected": "7", "skipped_existing": "0", "dry_run": "no"}
    assert emails(empty) == {"refused-1@example.com", "refused-10@example.com"}

    again = empty.command("user", "import", file, "--json")
    report = json.loads(again.stdout)
    assert again.returncode == 1
    assert (report["imported"], report["rejected"], report["skipped_existing"]) == (0, 7, 2)
    assert [rejection["line"] for rejection in report["rejections"]] == list(refused)
    assert all(rejection["reason"] for rejection in report["rejections"])
    assert report["rejections"] == json.loads(rehearsal.stdout)["rejections"]
    for run in (rehearsal, done, again):
        assert "heron" not in run.stdout + run.stderr and "$scrypt" not in run.stdout + run.stderr


def test_import_reads_standard_input_and_imports_no_user_twice(empty):
    typed = "".join(json.dumps({"email": f"typed-{number}@example.com"}) + "\n" for number in range(1000))
    first = empty.command("user", "import", "-", "--json", typed=typed)
    assert first.returncode == 0 and json.loads(first.stdout)["imported"] == 1000, first.stderr
    second = empty.command("user", "import", "-", typed=typed.upper().replace("EMAIL", "email"))
    assert second.returncode == 0, second.stderr
    totals = dict(line.split() for line in second.stdout.splitlines())
    assert (totals["imported"], totals["skipped_existing"]) == ("0", "1000")
    assert len([email for email in emails(empty) if email.startswith("typed-")]) >= 990


def test_a_missing_import_file_is_a_fault(empty, tmp_path):
    for place in (tmp_path / "nowhere.jsonl", tmp_path):
        done = empty.command("user", "import", str(place))
        assert done.returncode == DATA_FAULT, f"{place}: {done.returncode}\n{done.stdout}{done.stderr}"
        assert done.stdout == "" and "Traceback" not in done.stderr


def claims(token: str) -> dict:
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def test_an_import_keeps_what_clients_and_users_know(launch, tmp_path, engine):
    """The number, the sub and the uuid, the age, subjects at identity providers, the clients that users use."""
    server = launch(engine)
    spindle = Spindle.of(server)
    world = World.create(spindle)
    made = server.command(
        "client", "create", "--id", "4cf36fa274dea2117e030000", "--merchant", world.merchant, "--name", "News",
        "--spid-compatible", "--scope", "openid email", "--grant-type", "password", "--grant-type",
        "client_credentials", "--json")
    assert made.returncode == 0, said(made)
    news = Client("4cf36fa274dea2117e030000", json.loads(made.stdout)["client_secret"], None, json.loads(made.stdout))
    assert json.loads(made.stdout)["client_id"] == news.id
    for bad in ["4cf36fa274dea2117e030000", "a", "no spaces", "a/b", "x" * 101, ""]:
        again = server.command(
            "client", "create", "--id", bad, "--merchant", world.merchant, "--name", "News", "--grant-type",
            "client_credentials")
        assert again.returncode and "id" in again.stderr, said(again)
    partner = spindle.create_client(
        world.merchant, "Partner", "https://partner.example/back", first_party=False,
        grant_types=["authorization_code"], require_pkce=False)
    key = secrets.token_urlsafe(36)
    issuer = spindle.create_issuer(
        merchant_id=world.merchant, issuer="https://trusted.example", secret=key, algorithms=["HS256"],
        create_users=False)
    bearer = spindle.create_client(world.merchant, "Bearer", grant_types=[JWT_BEARER])

    password, hash = BCRYPT
    uuid = "b5d1a5a0-1234-5678-9abc-def012345678"
    kari = {
        "email": "kari@example.com", "email_verified": True, "password_hash": hash, "name": "Kari", "user_id": 12345,
        "sub": uuid, "created": 1273017600,
        "identities": [{"issuer_id": issuer["id"], "subject": "u-1"}],
        "consents": [
            {"client_id": news.id, "created": 1300000000},
            {"client_id": partner.id, "scope": "openid email"},
        ],
    }
    ola = {"email": "ola@example.com", "password_hash": hash}
    refused = [
        {"email": "x1@example.com", "user_id": 12345},
        {"email": "x2@example.com", "identities": [{"issuer_id": issuer["id"], "subject": "u-1"}]},
        {"email": "x3@example.com", "identities": [{"issuer_id": "nobody", "subject": "u-1"}]},
        {"email": "x4@example.com", "consents": [{"client_id": "nobody"}]},
        {"email": "x5@example.com", "consents": [{"client_id": partner.id, "scope": "admin"}]},
        # The `sub` of a client's own tokens is its id.
        {"email": "x6@example.com", "sub": partner.id},
    ]
    file = write(tmp_path / "people.jsonl", kari, ola, *refused)
    map = tmp_path / "map.jsonl"
    rehearsal = server.command("user", "import", file, "--dry-run", "--json")
    assert rehearsal.returncode == 1 and json.loads(rehearsal.stdout)["imported"] == 2, said(rehearsal)
    told = {line["line"]: line["reason"] for line in json.loads(rehearsal.stdout)["rejections"]}
    assert told == {
        3: "user_id: another user has it", 4: "identities: another user has it",
        5: "identities: must name an existing one", 6: "consents: must name an existing one",
        7: "consents: must name an existing one", 8: "sub: another user has it",
    }
    assert server.command("user", "import", file, "--dry-run", "--map", str(map)).returncode == 64
    done = server.command("user", "import", file, "--map", str(map), "--json")
    assert done.returncode == 1, said(done)
    assert {line["line"]: line["reason"] for line in json.loads(done.stdout)["rejections"]} == told
    lines = [json.loads(line) for line in map.read_text().splitlines()]
    assert lines[0] == {
        "line": 1, "email": "kari@example.com", "user_id": "12345", "sub": uuid, "uuid": uuid, "outcome": "imported"}
    assert lines[1]["email"] == "ola@example.com" and lines[1]["sub"] == lines[1]["user_id"], lines
    assert len(lines) == 2 and map.stat().st_mode & 0o777 == 0o600
    # A map is never overwritten. A second run tells whom the lines stand for.
    assert server.command("user", "import", file, "--map", str(map)).returncode == CANNOT_CREATE
    again = server.command("user", "import", file, "--map", str(tmp_path / "again.jsonl"), "--json")
    assert json.loads(again.stdout)["skipped_existing"] == 2, said(again)
    anew = [json.loads(line) for line in (tmp_path / "again.jsonl").read_text().splitlines()]
    assert anew == [line | {"outcome": "existing"} for line in lines]

    # The apps' view.
    answer = spindle.token(news, "password", username="kari@example.com", password=password, scope="openid email")
    assert answer.status == 200 and answer.json["user_id"] == "12345", answer
    token = answer.json["access_token"]
    told = claims(answer.json["id_token"])
    assert told["sub"] == uuid and told["legacy_user_id"] == "12345", told
    assert spindle.good("GET", "/oauth/userinfo", bearer=token)["sub"] == uuid
    me = spindle.good("GET", "/me", bearer=token)
    assert me["sub"] == uuid and me["user_id"] == "12345", me
    assert spindle.good("GET", "/user/12345", bearer=token)["user_id"] == "12345"
    introspected = spindle.introspect(world.backend, token)
    assert introspected["sub"] == uuid and introspected["user_id"] == "12345", introspected
    own = spindle.client_credentials(news).json["access_token"]
    for bearer_token in (token, own):
        for name in ("12345", uuid):
            user = spindle.good("GET", f"/api/2/user/{name}", bearer=bearer_token)["data"]
            assert user["uuid"] == uuid and user["userId"] == "12345", user
            assert user["published"].startswith("2010-05-05"), user
    connected = spindle.good("GET", f"/api/2/user/12345/connected?clientId={news.id}", bearer=own)
    assert connected["data"]["connected"] is True
    # A user whom no client of the merchant has met cannot be found by it.
    assert spindle.call("GET", f"/api/2/user/{lines[1]['uuid']}", bearer=own).status == 403
    answer = spindle.token(bearer, JWT_BEARER, assertion=assertion(key, "https://trusted.example", server.origin))
    assert answer.status == 200 and answer.json["user_id"] == "12345", answer
    # The partner need not ask again for what it was allowed.
    browser = Browser(spindle)
    page = browser.open(spindle.authorize_path(partner, None, scope="openid email", state="s"))
    page = browser.sign_in(page, Person("12345", "kari@example.com", password))
    assert page.query.get("code"), page
    assert claims(spindle.redeem(partner, page.query["code"]).json["id_token"])["sub"] == uuid


def test_the_id_of_a_deleted_client_is_taken_for_31_days_if_it_had_a_token_and_else_free_at_once(launch, engine):
    server = launch(engine)
    world = World.create(Spindle.of(server))

    def create():
        return server.command(
            "client", "create", "--id", "kept-in-apps", "--merchant", world.merchant, "--name", "News",
            "--grant-type", "client_credentials", "--json")

    def delete() -> None:
        gone = server.command("client", "delete", "--yes", "kept-in-apps")
        assert gone.returncode == 0, said(gone)

    assert create().returncode == 0
    delete()
    made = create()
    assert made.returncode == 0, said(made)
    client = Client("kept-in-apps", json.loads(made.stdout)["client_secret"], None)
    assert world.spindle.client_credentials(client).status == 200
    taken = create()
    assert (taken.returncode, taken.stderr.count("an id that no client has")) == (65, 1), said(taken)
    delete()
    refused = create()
    assert refused.returncode == 65 and " until 2" in refused.stderr, said(refused)

