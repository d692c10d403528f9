"""Administration finds users, clients and anything by its id, and acts on what a user has, on both engines."""

from urllib.parse import quote

import pytest

from harness.spindle import Spindle
from harness.world import World


@pytest.fixture(scope="module")
def town(launch, engine) -> World:
    return World.create(Spindle.of(launch(engine)))


def administrator(world: World, scope: str, merchant: str | None = None) -> str:
    """The token of a client with `scope`: of the merchant's, or of another one's."""
    client = world.spindle.create_client(merchant or world.merchant, f"For {scope}", scope=scope)
    return world.spindle.good(
        "POST", "/oauth/token", form={"grant_type": "client_credentials", "scope": scope} | client.proof
    )["access_token"]


def items(world: World, path: str, token: str | None = None, status: int = 200) -> list[dict]:
    answer = world.spindle.administer("GET", path, token=token)
    assert answer.status == status, f"{path}: {answer}"
    return answer.json["items"]


def pages(world: World, path: str, member: str) -> list[str]:
    """The whole list, page by page of one item."""
    found, cursor = [], None
    while True:
        answer = world.spindle.administer("GET", f"{path}&limit=1" + (f"&cursor={cursor}" if cursor else ""))
        assert answer.status == 200, f"{path}: {answer}"
        found += [item[member] for item in answer.json["items"]]
        cursor = answer.json["next"]
        if not cursor:
            return found


def wrong_password(world: World, times: int, headers: dict | None = None) -> int:
    """The status of the last of so many sign-ins with a wrong password."""
    form = {"grant_type": "password", "username": world.person.email, "password": "wrong"} | world.app.proof
    for _ in range(times):
        status = world.spindle.call("POST", "/oauth/token", form=form).status
    return status


def test_each_search_finds_its_user_and_no_other(town):
    user, email = town.person.id, town.person.email
    for query, found in [
        (f"email={quote(email.upper())}", [user]), (f"user_id={user}", [user]), (f"sub={user}", [user]),
        ("name_prefix=KARI%20n", [user]), ("name_prefix=kari%20x", []), ("disabled=true", []),
        (f"email_prefix={email[:6]}", [user]), ("email_prefix=zzzz", []), ("created_before=1", []),
        (f"email_prefix={email[:6]}&disabled=false", [user]), (f"email_prefix={email[:6]}&disabled=true", []),
        ("identity=unknown:1", []), ("phone_number=%2B4790000000", []), ("client_id=unknown", []),
    ]:
        answer = town.spindle.administer("GET", f"users?{query}&count=true")
        assert answer.status == 200, f"{query}: {answer}"
        assert [item["user_id"] for item in answer.json["items"]] == found, query
        assert answer.json["count"] == len(found), query


def test_lists_of_users_have_an_order_that_pages_keep(town):
    emails = []
    for letter in ["b", "Z", "_", "é"]:
        person = town.spindle.create_person(f"sorted{len(emails)}@example.com")
        town.spindle.administer("PATCH", f"users/{person.id}", {"name": f"{letter} Sorted"})
        emails.append(person.email)
    assert pages(town, "users?email_prefix=sorted", "email") == emails
    assert pages(town, "users?email_prefix=SORTED&sort=-email", "email") == emails[::-1]
    names = [name for name in pages(town, "users?sort=name", "name") if name.endswith("Sorted")]
    assert names == ["_ Sorted", "b Sorted", "Z Sorted", "é Sorted"]
    assert pages(town, "users?sort=-name", "name")[::-1] == pages(town, "users?sort=name", "name")
    times = pages(town, "users?sort=created_at", "created_at")
    assert times == sorted(times) and len(times) >= 5
    assert pages(town, "users?sort=-created_at", "user_id")[::-1] == pages(town, "users?sort=created_at", "user_id")
    answer = town.spindle.administer("GET", "users?email_prefix=sorted&sort=name")
    assert answer.status == 400 and answer.json["parameter"] == "sort"


def test_a_merchants_administrator_finds_only_its_own(town):
    town.phone()
    stranger = town.spindle.create_person("stranger@example.com")
    token = administrator(town, "admin:merchant")
    for query in [
        "email=stranger@example.com", f"user_id={stranger.id}", "email_prefix=strang", "sort=email&disabled=true",
    ]:
        answer = town.spindle.administer("GET", f"users?{query}&count=true", token=token)
        assert answer.json["items"] == [] and answer.json["count"] == 0 and answer.json["next"] is None, query
    for query in ["", "sort=created_at", "sort=-email", "sort=name", f"client_id={town.app.id}", "name_prefix=kari"]:
        assert [item["user_id"] for item in items(town, f"users?{query}", token)] == [town.person.id], query
    for text in [stranger.id, "stranger@example.com", town.spindle.admin[0]]:
        assert items(town, f"find?q={text}", token) == [], text
    for part in ["sessions", "tokens", "logins", "mails"]:
        answer = town.spindle.administer("GET", f"users/{stranger.id}/{part}", token=token)
        assert answer.status == 404, part


def test_clients_and_merchants_are_found_by_name_and_redirect_uri(town):
    uri = quote(town.web.redirect_uri, safe="")
    assert [c["client_id"] for c in items(town, f"clients?redirect_uri={uri}")] == [town.web.id]
    assert [c["client_id"] for c in items(town, f"clients?client_id={town.app.id}")] == [town.app.id]
    assert [m["id"] for m in items(town, f"merchants?redirect_uri={uri}")] == [town.merchant]
    assert [m["id"] for m in items(town, "merchants?name=Schibsted")] == [town.merchant]
    names = pages(town, f"clients?merchant_id={town.merchant}&sort=client_name", "client_name")
    assert names == sorted(names)


def test_an_id_leads_to_what_has_it(town):
    town.phone()
    family = items(town, f"users/{town.person.id}/tokens")[0]["id"]
    key = items(town, "keys")[0]["id"]
    for text, kind in [
        (town.person.id, "user"), (town.person.email, "user"), (town.app.id, "client"), (town.merchant, "merchant"),
        (family, "tokens"), (key, "key"),
    ]:
        found = items(town, f"find?q={quote(text)}")
        assert [item["kind"] for item in found] == [kind], f"{text}: {found}"
        assert found[0]["href"].startswith("/admin/v1/")
    assert items(town, "find?q=unknown") == []


def test_token_families_end_one_by_one_and_all_together(town):
    first, second, third = town.phone(), town.phone(), town.phone()
    path = f"users/{town.person.id}/tokens"
    families = items(town, path)
    assert town.spindle.administer("DELETE", f"{path}/{families[-1]['id']}").status == 204
    assert town.spindle.me(third["access_token"]).status == 401
    assert town.spindle.me(first["access_token"]).status == 200
    assert town.spindle.administer("DELETE", f"{path}/{families[-1]['id']}").status == 404
    assert town.spindle.administer("DELETE", path).status == 204
    assert items(town, path) == []
    assert town.spindle.me(first["access_token"]).status == town.spindle.me(second["access_token"]).status == 401


def test_an_apps_access_is_taken_away(town):
    tokens = town.phone()
    path = f"users/{town.person.id}/consents"
    assert [item["client_id"] for item in items(town, path)] == [town.app.id]
    assert town.spindle.administer("DELETE", f"{path}/{town.app.id}").status == 204
    assert town.spindle.me(tokens["access_token"]).status == 401
    assert items(town, path) == []
    assert town.spindle.administer("DELETE", f"{path}/{town.app.id}").status == 404


def test_support_unlocks_a_user_who_typed_wrong_passwords(town):
    support = administrator(town, "admin:support")
    town.phone()
    # The address and the phone are known, so the pair is what fills.
    assert wrong_password(town, 12) == 429
    path = f"users/{town.person.id}"
    throttles = items(town, f"{path}/throttles")
    assert any(item["wait"] > 0 for item in throttles), throttles
    assert items(town, f"{path}/throttles", support) == []
    lifted = town.spindle.administer("POST", f"{path}/unlock")
    assert lifted.status == 200 and lifted.json["lifted"] == len(throttles)
    assert items(town, f"{path}/throttles") == []
    assert town.phone()["access_token"]
    logins = items(town, f"{path}/logins")
    assert logins[0]["succeeded"] is True and {item["succeeded"] for item in logins} == {True, False}
    assert pages(town, f"{path}/logins?", "id") == [item["id"] for item in logins]


def test_a_mail_waits_until_it_is_dropped(town):
    person = town.spindle.create_person()
    path = f"users/{person.id}/mails"
    for kind, status in [("reset", 202), ("verify", 409), ("other", 400)]:
        assert town.spindle.administer("POST", path, {"kind": kind}).status == status, kind
    assert town.spindle.administer("POST", path, {"kind": "reset", "to": "x"}).status == 400
    statuses = {town.spindle.administer("POST", path, {"kind": "reset"}).status for _ in range(8)}
    assert statuses == {202, 429}
    assert town.spindle.administer("POST", f"users/{person.id}/unlock").json["lifted"] > 0
    assert town.spindle.administer("POST", path, {"kind": "reset"}).status == 202
    assert town.spindle.administer("DELETE", path).status == 204
    assert items(town, path) == []


def test_support_begins_a_deletion_that_an_administrator_cancels(town):
    person = town.spindle.create_person()
    path = f"users/{person.id}/deletion"
    merchants = administrator(town, "admin:merchant")
    assert town.spindle.administer("POST", path, token=merchants).status == 403
    begun = town.spindle.administer("POST", path)
    assert begun.status == 200, begun
    shown = town.spindle.administer("GET", f"users/{person.id}").json
    assert shown["deletion_due_at"] == begun.json["deletion_due_at"]
    assert town.spindle.administer("DELETE", path).status == 204
    assert "deletion_due_at" not in town.spindle.administer("GET", f"users/{person.id}").json
    assert town.spindle.administer("DELETE", path).status == 409


def test_keys_are_listed_rotated_and_withdrawn(town):
    before = items(town, "keys")
    assert {key["state"] for key in before} == {"current"}
    assert all("d" not in key["public_key"] for key in before)
    made = town.spindle.administer("POST", "keys")
    assert made.status == 201, made
    assert {key["state"] for key in made.json["items"]} == {"next"}
    algorithm = made.json["items"][0]["algorithm"]
    old = next(key for key in before if key["algorithm"] == algorithm)
    assert town.spindle.administer("DELETE", f"keys/{old['id']}").status == 204
    assert town.spindle.administer("DELETE", f"keys/{old['id']}").status == 404
    now = [key for key in items(town, "keys") if key["algorithm"] == algorithm]
    assert [key["state"] for key in now] == ["current"] and now[0]["id"] == made.json["items"][0]["id"]
    for scope in ["admin:merchant", "admin:support"]:
        assert town.spindle.administer("GET", "keys", token=administrator(town, scope)).status == 403


def test_counts_and_deliveries_are_for_those_who_may(town):
    counts = town.spindle.administer("GET", "counts").json
    assert counts["users"] >= 1 and counts["clients"] >= 4 and counts["deliveries_failed"] == 0
    own = town.spindle.administer("GET", "counts", token=administrator(town, "admin:merchant")).json
    assert own["clients"] >= 4 and "merchants" not in own
    assert items(town, "deliveries?state=failed") == []
    assert town.spindle.administer("GET", "deliveries?state=gone").json["parameter"] == "state"
    assert town.spindle.administer("POST", "deliveries/unknown/retry").status == 404
    assert town.spindle.administer("DELETE", "deliveries/unknown").status == 404
    assert town.spindle.administer("GET", "deliveries", token=administrator(town, "admin:merchant")).status == 403


def test_a_call_with_a_key_is_made_once(town):
    key = {"Idempotency-Key": "made-once"}

    def make(content: dict, headers: dict, token: str | None = None):
        return town.spindle.call(
            "POST", "/admin/v1/clients", content=content, bearer=token or town.spindle.admin_token(), headers=headers)

    content = {"merchant_id": town.merchant, "client_name": "Once", "grant_types": ["client_credentials"]}
    first, again = make(content, key), make(content, key)
    assert first.status == again.status == 201 and first.body == again.body
    assert len(items(town, "clients?client_name=Once")) == 1
    assert make(content | {"client_name": "Twice"}, key).status == 409
    assert make(content, {"Idempotency-Key": "another"}).json["client_id"] != first.json["client_id"]
    # Another administrator's keys are others.
    merchants = administrator(town, "admin:merchant")
    assert make(content, key, merchants).json["client_id"] != first.json["client_id"]
    assert make(content, {"Idempotency-Key": "two words"}).status == 400
    # A refusal made nothing, so the key is free.
    refused = {"Idempotency-Key": "refused"}
    assert make({"merchant_id": town.merchant}, refused).status == 400
    assert make(content, refused).status == 201


def test_calls_with_one_key_at_the_same_time_make_one_thing(town):
    from concurrent.futures import ThreadPoolExecutor

    content = {"merchant_id": town.merchant, "client_name": "Race", "grant_types": ["client_credentials"]}
    token = town.spindle.admin_token()

    def make(_):
        return town.spindle.call(
            "POST", "/admin/v1/clients", content=content, bearer=token, headers={"Idempotency-Key": "race"})

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(make, range(8)))
    made = [answer for answer in answers if answer.status == 201]
    assert made and {answer.status for answer in answers} <= {201, 409}
    assert len({answer.body for answer in made}) == 1
    assert len(items(town, "clients?client_name=Race")) == 1


def test_a_change_of_an_outdated_document_is_refused(town):
    person = town.spindle.create_person()
    issuer = town.spindle.create_issuer(
        merchant_id=town.merchant, issuer="https://tagged.example", secret="0123456789abcdef0123456789abcdef",
        algorithms=["HS256"], audiences=["us"])
    for path, change, other in [
        (f"users/{person.id}", {"name": "First"}, {"name": "Second"}),
        (f"clients/{town.web.id}", {"client_name": "First"}, {"client_name": "Second"}),
        (f"merchants/{town.merchant}", {"accent_color": "#112233"}, {"accent_color": "#445566"}),
        (f"issuers/{issuer['id']}", {"max_age": 60}, {"max_age": 61}),
    ]:
        read = town.spindle.administer("GET", path)
        tag = read.headers["ETag"]
        assert tag and tag == town.spindle.administer("GET", path).headers["ETag"]

        def patch(content, match):
            return town.spindle.call(
                "PATCH", f"/admin/v1/{path}", content=content, bearer=town.spindle.admin_token(),
                headers={"If-Match": match})

        changed = patch(change, tag)
        assert changed.status == 200, f"{path}: {changed}"
        assert changed.headers["ETag"] == town.spindle.administer("GET", path).headers["ETag"] != tag
        assert patch(other, tag).status == 412, path
        assert patch(other, f'"x", {changed.headers["ETag"]}').status == 200
        assert patch(change, "*").status == 200


def test_ids_are_chosen_and_given_once(town):
    spindle = town.spindle
    content = {"email": "chosen@example.com", "user_id": "4711", "sub": "spid:4711"}
    made = spindle.administer("POST", "users", content)
    assert made.status == 201 and made.json["user_id"] == "4711" and made.json["sub"] == "spid:4711", made
    assert [user["user_id"] for user in items(town, "users?sub=spid:4711")] == ["4711"]
    for member, content in [
        ("user_id", {"email": "other@example.com", "user_id": "4711"}),
        ("sub", {"email": "other@example.com", "sub": "spid:4711"}),
        ("sub", {"email": "other@example.com", "sub": town.app.id}),
    ]:
        answer = spindle.administer("POST", "users", content)
        assert answer.status == 409 and answer.json["member"] == member, answer
    client = {"merchant_id": town.merchant, "client_name": "Chosen", "grant_types": ["client_credentials"]}
    assert spindle.administer("POST", "clients", client | {"client_id": "my-backend"}).json["client_id"] == "my-backend"
    taken = spindle.administer("POST", "clients", client | {"client_id": "my-backend"})
    assert taken.status == 409 and taken.json["member"] == "client_id", taken
    assert spindle.administer("POST", "clients", client | {"client_id": "a b"}).json["member"] == "client_id"
    merchants = administrator(town, "admin:merchant")
    assert spindle.administer("POST", "clients", client | {"client_id": "mine"}, token=merchants).status == 403
    assert spindle.administer("POST", "users", {"email": "x@example.com", "sub": "y"}, token=merchants).status == 403
