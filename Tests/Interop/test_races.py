"""Concurrent requests: one winner where there may be one, and floods that do not delay others."""

import secrets
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.browser import Browser
from harness.spindle import PKCE, Spindle
from harness.wire import Answer, send
from harness.world import World

CROWD = 50


@pytest.fixture(scope="module")
def world(launch, engine) -> World:
    return World.create(Spindle.of(launch(engine)))


def together(work, count: int = CROWD) -> list[Answer]:
    """`work(number)` on `count` threads that set off at the same moment."""
    start = threading.Barrier(count)

    def run(number: int) -> Answer:
        start.wait(30)
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_one_of_fifty_concurrent_redemptions_of_a_code_succeeds(world):
    code = world.spindle.code(world.phone()["access_token"], world.backend)
    answers = together(lambda _: world.spindle.redeem(world.backend, code))
    outcomes = Counter((answer.status, answer.error) for answer in answers)
    assert outcomes == {(200, None): 1, (400, "invalid_grant"): CROWD - 1}, outcomes
    [winner] = [answer for answer in answers if answer.status == 200]
    assert not world.spindle.is_active(world.backend, winner.json["access_token"]), "the others were replays"


def test_fifty_refreshes_of_a_token_agree_on_one_successor(world):
    device = world.phone()
    answers = together(lambda _: world.spindle.refresh(world.app, device["refresh_token"]))
    outcomes = Counter((answer.status, answer.error) for answer in answers)
    assert set(outcomes) <= {(200, None), (400, "invalid_grant")} and outcomes[(200, None)], outcomes
    [successor] = {answer.json["refresh_token"] for answer in answers if answer.status == 200}
    assert world.spindle.refresh(world.app, successor).status == 200


def test_one_of_fifty_concurrent_openings_of_a_session_code_gets_the_cookie(world):
    code = world.spindle.code(world.phone()["access_token"], world.web, "session")
    answers = together(lambda _: world.spindle.call("GET", f"/auth/session/{code}"))
    assert Counter(bool(answer.set_cookies) for answer in answers) == {True: 1, False: CROWD - 1}
    assert {answer.status for answer in answers} <= {302, 404, 410}


def test_guesses_at_a_password_are_throttled_and_its_owner_is_not_locked_out(world):
    spindle, person = world.spindle, world.spindle.create_person()
    home, attackers = "127.0.0.7", [f"127.0.1.{number}" for number in range(1, 6)]
    right = {"username": person.email, "password": person.password}
    assert spindle.token(world.app, "password", source=home, **right).status == 200

    def guess(number: int) -> Answer:
        wrong = {"username": person.email, "password": secrets.token_hex(8)}
        return spindle.token(world.app, "password", source=attackers[number % len(attackers)], **wrong)

    answers = together(guess, 60)
    assert all(answer.status in (400, 401, 429, 503) and answer.body for answer in answers), Counter(map(str, answers))
    lucky = spindle.token(world.app, "password", source=attackers[0], **right)
    assert lucky.status != 200, "after sixty guesses the right one is taken at once: nothing is throttled"
    assert spindle.token(world.app, "password", source=home, **right).status == 200, "the owner is locked out"


def test_an_ip_address_that_tries_many_users_is_throttled_and_others_are_not(world):
    spindle, person = world.spindle, world.spindle.create_person()
    right = {"username": person.email, "password": person.password}

    def guess(number: int) -> Answer:
        wrong = {"username": f"nobody-{number}@example.com", "password": secrets.token_hex(8)}
        return spindle.token(world.app, "password", source="127.0.2.1", **wrong)

    for _ in range(3):
        together(guess, 60)
    assert spindle.token(world.app, "password", source="127.0.2.1", **right).status != 200
    assert spindle.token(world.app, "password", source="127.0.2.2", **right).status == 200


def test_a_flood_of_logins_is_turned_away_and_token_traffic_goes_on(world):
    spindle = world.spindle
    people = [spindle.create_person() for _ in range(4)]
    over, meanwhile = threading.Event(), []

    def token_traffic() -> None:
        while not over.is_set():
            asked = time.monotonic()
            status = spindle.client_credentials(world.backend).status
            meanwhile.append((status, time.monotonic() - asked))

    def sign_in(number: int) -> Answer:
        person = people[number % len(people)]
        # How long a login waits for its turn to be hashed depends on the machine, so the client is patient.
        line = spindle.address.connect(timeout=150, source=f"127.0.3.{1 + number % 200}")
        try:
            return spindle.token(
                world.app, "password", connection=line, username=person.email, password=person.password)
        finally:
            line.close()

    traffic = threading.Thread(target=token_traffic)
    traffic.start()
    try:
        # More than any sensible queue holds.
        answers = together(sign_in, 400)
    finally:
        over.set()
        traffic.join(150)

    outcomes = Counter(answer.status for answer in answers)
    assert outcomes[200] > 0 and outcomes[503] > 0 and set(outcomes) <= {200, 429, 503}, outcomes
    for answer in answers:
        if answer.status == 503:
            assert int(answer.headers["Retry-After"]) > 0 and answer.body, answer
    assert len(meanwhile) >= 10 and {status for status, _ in meanwhile} == {200}, meanwhile[:20]
    assert all(spindle.password(world.app, person)["user_id"] == person.id for person in people)


def test_a_flood_of_mail_requests_does_not_delay_the_deletion_of_a_user(world):
    """Anyone may request new passwords at any rate, until nothing is sent any more."""
    spindle, person = world.spindle, world.spindle.create_person()
    browser = Browser(spindle)
    form = next(form for form in browser.open("/password").forms if "form_token" in form.fields)
    fields = form.fields | {"email": person.email}
    headers = {
        "Cookie": "; ".join(f"{name}={value}" for name, value in browser.cookies.items()), "Origin": spindle.origin}
    end, asked = time.monotonic() + 6, Counter()

    def ask(number: int) -> None:
        for network in range(1, 250):
            line = spindle.address.connect(source=f"127.7.{number}.{network}")
            # As many as one address may send.
            for _ in range(30):
                if time.monotonic() > end:
                    return line.close()
                asked[send(line, "POST", "/password", form=fields, headers=headers).status] += 1
            line.close()

    with ThreadPoolExecutor() as pool:
        asking = [pool.submit(ask, number) for number in range(8)]
        ends = Counter()
        while time.monotonic() < end:
            for disabled in (True, False):
                answer = spindle.administer("PATCH", f"users/{person.id}", {"disabled": disabled})
                ends[answer.status] += 1
        for each in asking:
            each.result()
    assert set(ends) == {200}, (ends, asked)
    assert set(asked) == {200} and asked[200] > 100, asked


def test_an_app_that_requests_without_pause_cannot_delay_its_revocation(world):
    """Each redemption is short and the revocation long, so it could lose one race after the other."""
    spindle, person, client = world.spindle, world.spindle.create_person(), world.backend
    browser, stop, ends, pkce = Browser(spindle), threading.Event(), Counter(), PKCE()

    def grants(mine: Browser) -> int:
        count = 0
        while not stop.is_set():
            page = mine.open(spindle.authorize_path(client, pkce, prompt="none", scope="profile"))
            if code := page.query.get("code"):
                count += spindle.redeem(client, code, code_verifier=pkce.verifier).status == 200
        return count

    page = browser.sign_in(browser.open(spindle.authorize_path(client, pkce, scope="profile")), person)
    for _ in range(4):
        while "code" not in page.query:
            page = browser.submit(page, page.forms[0], decision="continue")
        assert spindle.redeem(client, page.query["code"], code_verifier=pkce.verifier).status == 200
        others = [Browser(spindle) for _ in range(4)]
        for each in others:
            each.cookies = dict(browser.cookies)
        account = browser.open("/account")
        revoking = next(form for form in account.forms if form.fields.get("client") == client.id)
        stop.clear()
        with ThreadPoolExecutor() as pool:
            asking = [pool.submit(grants, each) for each in others]
            time.sleep(0.3)
            ends[browser.submit(account, revoking).answer.status] += 1
            stop.set()
            assert sum(each.result() for each in asking) > 0
        silent = browser.open(spindle.authorize_path(client, pkce, prompt="none", scope="profile"))
        assert silent.query.get("error"), "it has ended"
        page = browser.open(spindle.authorize_path(client, pkce, scope="profile"))
    assert set(ends) == {200}, ends
