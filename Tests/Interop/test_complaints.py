"""Complaints that reach a support desk. A script makes each; a support agent solves it with a token of `admin:support`,
`spindle event` and the log alone. docs/operating/complaints.md is the same as a page."""

import json
import secrets
from collections.abc import Iterator

import pytest

from harness.browser import Browser
from harness.desk import Desk, soon
from harness.mail import MailServer
from harness.server import Server
from harness.shell import Shell, commands
from harness.spindle import PKCE, Client, Person, Spindle
from harness.wire import Answer
from harness.world import World

# Documentation addresses (RFC 5737), behind a trusted proxy.
HOME, CAFE = "203.0.113.7", "198.51.100.20"


@pytest.fixture(scope="module")
def mail() -> Iterator[MailServer]:
    with MailServer() as server:
        yield server


@pytest.fixture(scope="module")
def server(launch, engine, mail) -> Server:
    return launch(engine, {
        "SPINDLE_LOG_FORMAT": "json", "SPINDLE_TRUSTED_PROXIES": "127.0.0.0/8",
        "SPINDLE_MAIL": f"smtp://127.0.0.1:{mail.port}", "SPINDLE_MAIL_FROM": "Loom <no-reply@loom.example>",
    })


@pytest.fixture(scope="module")
def world(server) -> World:
    return World.create(Spindle.of(server))


@pytest.fixture(scope="module")
def desk(server) -> Desk:
    return Desk.of(server)


@pytest.fixture
def person(world) -> Person:
    return world.spindle.create_person()


def signs_in(world: World, person: Person, password: str | None = None, client: Client | None = None,
             address: str = HOME) -> Answer:
    """The answer that the app of a user at `address` gets."""
    form = {"grant_type": "password", "username": person.email, "password": password or person.password}
    return world.spindle.call(
        "POST", "/oauth/token", form=form | (client or world.app).proof, headers={"X-Forwarded-For": address})


def code(world: World, client: Client, person: Person, pkce: PKCE) -> str:
    """The code with which a browser comes back to the client."""
    browser = Browser(world.spindle)
    return browser.sign_in(browser.open(world.spindle.authorize_path(client, pkce)), person).query["code"]


def forgets_password(world: World, person: Person) -> None:
    browser = Browser(world.spindle)
    page = browser.open("/password")
    form = next(form for form in page.forms if form.name_field)
    assert browser.submit(page, form, email=person.email).answer.status == 200


# "X cannot sign in"


def test_the_events_of_a_user_say_that_the_password_is_wrong_and_from_where(desk, world, person):
    assert signs_in(world, person, "a guess").error == "invalid_grant"
    user = desk.user(person.email)
    event = desk.event(f"users/{user['user_id']}/events", "sign_in.refused")
    assert (event["outcome"], event["reason"]) == ("refused", "wrong_password")
    assert event["subject"] == {"type": "user", "id": user["user_id"]}
    assert (event["client_id"], event["address"]) == (world.app.id, HOME)
    assert event["id"] in {each["id"] for each in desk.told("--user", person.email)}
    assert desk.line(request_id=event["request_id"])["reason"] == event["reason"]


def test_a_user_who_does_not_exist_is_found_by_no_address_and_the_log_says_so(desk, world):
    mistyped = Person("", f"{secrets.token_hex(6)}@example.com", "a guess of a password")
    answer = signs_in(world, mistyped)
    assert desk.items("users", email=mistyped.email) == []
    assert desk.line_of(answer)["reason"] == "unknown_user"
    assert mistyped.email not in desk.server.log.read_text()


def test_the_events_of_a_user_say_that_they_are_disabled(desk, world, person):
    world.spindle.administer("PATCH", f"users/{person.id}", {"disabled": True})
    assert signs_in(world, person).error == "invalid_grant"
    assert desk.user(person.email)["disabled"]
    assert desk.event(f"users/{person.id}/events", "sign_in.refused")["reason"] == "disabled_user"


def test_the_log_says_that_the_address_of_a_user_is_not_verified_and_the_desk_sends_another_mail(desk, world, mail):
    strict = world.spindle.create_client(
        world.merchant, "Strict app", token_endpoint_auth_method="none", grant_types=["password"], redirect_uris=[],
        require_verified_email=True)
    made = world.spindle._create("users", {"email": f"{secrets.token_hex(6)}@example.com", "password": "a quiet loom"})
    person = Person(made["user_id"], made["email"], "a quiet loom")
    answer = signs_in(world, person, client=strict)
    assert answer.status == 400
    user = desk.user(person.email)
    assert not user["email_verified"]
    line = desk.line_of(answer)
    assert (line["reason"], line["client"], line["user"]) == ("unverified_user", strict.id, person.id)
    assert desk.ask("POST", f"users/{user['user_id']}/mails", {"kind": "verify"}).status == 202
    soon(lambda: mail.receive().recipients == [person.email], "the mail")


def test_a_throttled_user_is_shown_with_the_end_of_the_wait_and_the_desk_unlocks_them(desk, world, person):
    for _ in range(10):
        assert signs_in(world, person, "a guess").status == 400
    answer = signs_in(world, person)
    assert (answer.status, answer.headers["Retry-After"] is not None) == (429, True)
    user = desk.user(person.email)
    event = desk.event(f"users/{user['user_id']}/events", "throttle.began")
    assert event["address"] == HOME
    throttles = desk.items(f"users/{user['user_id']}/throttles")
    assert [each for each in throttles if each["wait"] > 0 and each.get("address") == HOME], throttles
    assert desk.ask("POST", f"users/{user['user_id']}/unlock").json["lifted"] == len(throttles)
    assert desk.items(f"users/{user['user_id']}/throttles") == []
    assert signs_in(world, person).status == 200
    lifted = desk.event(f"users/{user['user_id']}/events", "throttle.lifted")
    assert lifted["actor"] == {"type": "client", "id": desk.agent.id}


# "My client gets invalid_grant"


def test_the_log_says_at_the_request_id_why_a_code_was_refused(desk, world, person):
    pkce = PKCE()
    redeemed = code(world, world.web, person, pkce)
    wrong = world.spindle.redeem(world.web, redeemed, code_verifier=PKCE().verifier)
    assert wrong.error == "invalid_grant"
    line = desk.line_of(wrong)
    assert (line["reason"], line["client"], line["route"]) == ("wrong_verifier", world.web.id, "POST /oauth/token")


def test_the_log_says_that_a_code_was_used_twice_and_the_events_which_tokens_that_ended(desk, world, person):
    pkce = PKCE()
    redeemed = code(world, world.web, person, pkce)
    assert world.spindle.redeem(world.web, redeemed, code_verifier=pkce.verifier).status == 200
    again = world.spindle.redeem(world.web, redeemed, code_verifier=pkce.verifier)
    line = desk.line_of(again)
    assert (line["reason"], line["client"]) == ("code_replayed", world.web.id)
    assert desk.get(f"clients/{line['client']}")["client_name"] == "Web site"


def test_a_refresh_token_that_is_used_twice_names_its_client_and_its_user(desk, world, person):
    first = world.spindle.password(world.app, person)["refresh_token"]
    second = world.spindle.refresh(world.app, first).json["refresh_token"]
    assert world.spindle.refresh(world.app, second).status == 200
    answer = world.spindle.refresh(world.app, first)
    assert answer.error == "invalid_grant"
    line = desk.line_of(answer)
    assert (line["client"], line["user"]) == (world.app.id, person.id)
    assert line["reason"] == "refresh_token_replayed"
    assert desk.event(f"users/{person.id}/events", "token_family.ended")["reason"] == "used_again"


# "My client gets invalid_client"


def test_an_ended_secret_is_found_by_the_log_and_the_events_of_its_client(desk, world):
    client = world.spindle.create_client(world.merchant, "Robot", grant_types=["client_credentials"])
    first = secrets_of(desk.server, client)
    assert desk.server.command("client", "add-secret", client.id).returncode == 0
    assert desk.server.command("client", "end-secret", client.id, *first).returncode == 0
    answer = soon(lambda: refused(world, client), "a refusal")
    assert answer.error == "invalid_client"
    line = desk.line_of(answer)
    assert (line["reason"], line["client"]) == ("wrong_secret", client.id)
    event = desk.event("events", "client.secret_ended", client_id=client.id)
    assert event["actor"]["type"] == "command"


def secrets_of(server: Server, client: Client) -> list[str]:
    """The ids of its live secrets."""
    listed = json.loads(server.command("client", "end-secret", client.id, "--json").stdout)
    return [each["id"] for each in listed["items"]]


def refused(world: World, client: Client) -> Answer | None:
    answer = world.spindle.client_credentials(client)
    return answer if answer.status != 200 else None


def test_a_disabled_client_is_found_by_its_id_with_the_administrator_who_disabled_it(desk, world):
    client = world.spindle.create_client(world.merchant, "Robot", grant_types=["client_credentials"])
    world.spindle.administer("PATCH", f"clients/{client.id}", {"disabled": True})
    answer = world.spindle.client_credentials(client)
    assert desk.line_of(answer)["reason"] == "disabled_client"
    event = desk.event("events", "client.changed", client_id=client.id)
    assert event["actor"] == {"type": "client", "id": world.spindle.admin[0]}
    assert (event["before"], event["after"]) == ({"disabled": False}, {"disabled": True})


# "The mails do not arrive"


def test_the_log_says_that_a_mail_was_held_back_and_the_limits_of_the_user_until_when(desk, world, person):
    for _ in range(7):
        forgets_password(world, person)
    line = desk.line(reason="mailbox_throttled", user=person.id)
    assert line["kind"]
    assert [each for each in desk.items(f"users/{person.id}/throttles") if each["wait"] > 0]
    assert desk.ask("POST", f"users/{person.id}/mails", {"kind": "reset"}).status == 429
    desk.ask("POST", f"users/{person.id}/unlock")
    assert desk.ask("POST", f"users/{person.id}/mails", {"kind": "reset"}).status == 202


def test_a_mail_that_the_mail_server_refuses_is_shown_with_its_code(desk, world, person, mail):
    soon(lambda: not desk.items("deliveries", state="waiting"), "the end of others' mails")
    mail.answers["RCPT"] = ["550 5.1.1 no such mailbox"]
    forgets_password(world, person)
    [failed] = soon(lambda: [each for each in desk.items(f"users/{person.id}/mails") if each["state"] == "failed"],
                    "a failed mail")
    assert "550" in failed["error"]
    assert failed["id"] in {each["id"] for each in desk.items("deliveries", state="failed")}
    assert "550" in desk.line(user=person.id, kind=failed["kind"])["reason"]


# "Too many requests"


def test_a_throttled_address_is_shown_with_its_client_and_the_end_of_the_wait(desk, world):
    guesses = (Person("", f"guest{number}@example.com", "a guess") for number in range(200))
    answer = next(answer for guess in guesses if (answer := signs_in(world, guess, address=CAFE)).status == 429)
    line = desk.line_of(answer)
    assert (line["reason"], line["client"], line["address"]) == ("sign_in_throttled", world.app.id, CAFE)
    assert line["retry_after"] == answer.headers["Retry-After"]
    event = desk.event("events", "throttle.began", client_id=world.app.id, address=CAFE)
    assert event["reason"] == "sign_in_throttled"


# "redirect_uri mismatch"


def test_a_redirect_uri_that_is_not_registered_is_found_in_the_log_and_the_events_say_who_removed_it(desk, world):
    client = world.spindle.create_client(world.merchant, "Shop", "https://shop.example/old")
    world.spindle.administer("PATCH", f"clients/{client.id}", {"redirect_uris": ["https://shop.example/new"]})

    def refusal() -> Answer | None:
        answer = world.spindle.call(
            "GET", world.spindle.authorize_path(client, PKCE()), headers={"Accept": "text/html"})
        return answer if answer.status == 400 else None

    line = desk.line_of(soon(refusal, "a refusal"))
    assert (line["reason"], line["client"]) == ("unregistered_redirect_uri", client.id)
    assert desk.get(f"clients/{client.id}")["redirect_uris"] == ["https://shop.example/new"]
    event = desk.event("events", "client.changed", client_id=client.id)
    assert event["before"]["redirect_uris"] == ["https://shop.example/old"]
    assert event["after"]["redirect_uris"] == ["https://shop.example/new"]
    assert event["actor"]["type"] == "client"


# "I was signed out"


def test_the_events_of_a_user_say_which_act_ended_their_session_and_whose(desk, world, person):
    browser = signed_in(world, person)
    world.spindle.administer("DELETE", f"users/{person.id}/sessions")
    assert not browser.is_signed_in()
    event = desk.event(f"users/{person.id}/events", "session.ended")
    assert event["actor"] == {"type": "client", "id": world.spindle.admin[0]}


def test_the_events_of_a_user_say_that_they_signed_out_themselves(desk, world, person):
    browser = signed_in(world, person)
    browser.log_out()
    event = desk.event(f"users/{person.id}/events", "session.ended")
    assert event["actor"] == {"type": "user", "id": person.id}


def signed_in(world: World, person: Person) -> Browser:
    browser = Browser(world.spindle)
    browser.sign_in(browser.open(world.spindle.authorize_path(world.web, PKCE())), person)
    assert browser.is_signed_in()
    return browser


# "Who disabled this user?"


def test_the_events_of_a_user_say_which_administrator_disabled_them(desk, world, person):
    world.spindle.administer("PATCH", f"users/{person.id}", {"disabled": True})
    event = desk.event(f"users/{person.id}/events", "user.changed")
    assert event["actor"] == {"type": "client", "id": world.spindle.admin[0]}
    assert (event["before"], event["after"]) == ({"disabled": False}, {"disabled": True})
    assert desk.get(f"clients/{event['actor']['id']}")["client_id"] == world.spindle.admin[0]


def test_the_events_of_a_user_say_which_command_disabled_them(desk, world, person):
    done = desk.server.command("user", "change", person.email, "--disabled")
    assert done.returncode == 0, done.stderr
    event = desk.event(f"users/{person.id}/events", "user.changed")
    assert event["actor"]["type"] == "command" and "@" in event["actor"]["id"]
    assert event["after"] == {"disabled": True}


# The page


def test_the_commands_of_the_page_run_as_they_are_printed(server, world, tmp_path):
    ada = world.spindle._create("users", {"email": "ada@example.com", "password": "a quiet loom", "name": "Ada"})
    refusal = signs_in(world, Person(ada["user_id"], "ada@example.com", "a guess"))
    forgets_password(world, Person("", "mistyped@example.com", ""))
    shell = Shell(
        server, tmp_path, user=ada["user_id"], client=world.web.id, request=refusal.headers["X-Request-Id"])
    create, token, *rest = commands("operating/complaints.md")
    made = json.loads(shell.run(create))
    shell.variables["support_client_id"], shell.variables["support_client_secret"] = (
        made["client_id"], made["client_secret"])
    shell.variables["SUPPORT"] = shell.run(token + "\nprintf %s $SUPPORT")
    for command in rest:
        assert "about:blank" not in shell.run(command), command
