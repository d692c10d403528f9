"""A gateway that treats us as Couchbase Sync Gateway does, built on the same libraries (go-oidc 2.1 and x/oauth2). The
names are those of our list of what Sync Gateway needs:

A01 the issuer in discovery is the configured one to the byte     A11 a request without state
A02 discovery is the same bytes each time, and may be kept        A12 a redirect URI with a query keeps its bytes
A03 the code flow, the client proven by Basic                     A13 an error that comes back says what and why
A04 the same, proven in the body                                  A14 keys rotate under a client that keeps them
A05 a failed Basic, then the body, with one code                  A15 `sub` is a text, always
A06 ids and secrets that are percent-encoded in Basic             A16 name, roles and channels from claims of the client
A07 a refresh brings a new ID token for the same person           A17 an ID token by the implicit flow opens a session
A08 one refresh token serves again and again                      A18 the ID token's life is the client's to say
A09 access_type=offline, and who gets refresh tokens              A19 we may restart while people sign in
A10 prompt=consent asks once

A14 to A19 are in test_go_oidc_tokens.py.
"""

import base64
import re
from urllib.parse import parse_qs, parse_qsl, quote, urlsplit

import pytest

from harness.browser import Browser
from harness.spindle import Spindle
from harness.wire import Answer
from relying_party import Guest
from relying_party.fixtures import CALLBACK, claims, gateway_program, provider, register, start, visit  # noqa: F401


def tries(visits: list[dict]) -> list[tuple[str, int]]:
    """How the client authenticated at the token endpoint, and the answer."""
    return [(visit.get("scheme") or "body", visit["status"]) for visit in visits if visit["path"] == "/oauth/token"]


@pytest.mark.parametrize("ending", ["", "/"])
def test_A01_the_issuer_is_the_configured_one_to_the_byte(prepare, start, ending):
    server = prepare()
    server.settings["SPINDLE_ISSUER"] = server.address.origin + ending
    server.init()
    gateway = start(p={"issuer": server.origin, "client_id": "0", "callback_url": CALLBACK})
    # The gateway may start first: it asks at the first sign-in, and then again.
    assert gateway.call("GET", "/db/_oidc").status == 500
    server.start()
    spindle = Spindle(server.address, server.admin)
    assert spindle.good("GET", "/.well-known/openid-configuration")["issuer"] == server.origin
    assert gateway.login().startswith(server.address.origin + "/oauth/authorize?")
    gateway = start(p=provider(spindle, register(spindle), issuer=server.origin))
    told = Guest(spindle, gateway, spindle.create_person()).sign_in()
    assert claims(told["id_token"])["iss"] == server.origin
    # A slash more or less is another issuer.
    other = start(p={"issuer": server.address.origin + ("" if ending else "/"), "client_id": "0"})
    assert "issuer did not match" in other.call("GET", "/db/_oidc").text


def test_A02_discovery_is_the_same_bytes_each_time_and_may_be_cached(world):
    line = world.spindle.address.connect()
    answers = [
        world.spindle.call("GET", path, connection=line)
        for path in ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server")
        for _ in range(50)
    ]
    line.close()
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 1
    for answer in answers:
        age = re.fullmatch(r"public, max-age=(\d+)", answer.headers["Cache-Control"])
        assert age and 60 <= int(age[1]) <= 86_400
        assert answer.headers["Content-Type"] == "application/json"


def test_A03_the_code_flow_works_with_basic(visit):
    guest = visit()
    told = guest.sign_in()
    assert tries(guest.gateway.trace()) == [("Basic", 200)]
    found = guest.gateway.whoami(told["id_token"])
    prefix = quote(guest.browser.spindle.address.origin.removeprefix("http://"), safe="")
    assert told["name"] == found["name"] == f"{prefix}_{guest.person.id}"
    assert found["email"] == guest.person.email


def test_A04_the_code_flow_works_with_the_secret_in_the_body(visit):
    guest = visit(auth_style=1)
    assert guest.sign_in()["id_token"]
    assert tries(guest.gateway.trace()) == [("body", 200)]


def test_A05_a_code_survives_a_wrong_secret_in_basic_and_is_redeemed_with_the_right_one_in_the_body(visit):
    guest = visit(spoil_basic=True)
    for _ in range(3):
        assert guest.sign_in()["id_token"]
    # Once it knows the method that works, it uses it at once.
    assert tries(guest.gateway.trace()) == [("Basic", 401), ("body", 200), ("body", 200), ("body", 200)]


@pytest.mark.parametrize("encode", [
    lambda text: text,
    # An id or secret that was encoded without need is the same.
    lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
])
def test_A06_ids_and_secrets_are_form_encoded_in_basic(world, encode):
    client = register(world.spindle)
    # Ours have no character that needs encoding, so it makes no difference whether a client encodes.
    assert quote(client.id, safe="") == client.id and quote(client.secret, safe="") == client.secret

    def ask(secret: str) -> Answer:
        pair = base64.b64encode(f"{encode(client.id)}:{secret}".encode()).decode()
        form = {"grant_type": "refresh_token", "refresh_token": "none"}
        return world.spindle.call("POST", "/oauth/token", form=form, headers={"Authorization": f"Basic {pair}"})

    assert (ask(encode(client.secret)).status, ask(encode(client.secret)).error) == (400, "invalid_grant")
    for wrong in ("s%2Be%2Fc%25%3A+x", "a+b", "a:b", "a%20b/c"):
        refused = ask(wrong)
        assert (refused.status, refused.error) == (401, "invalid_client"), wrong
        assert refused.headers["WWW-Authenticate"].startswith("Basic realm="), wrong
    # An incomplete percent escape is not a secret, in any client's request.
    assert ask("50%").status in (400, 401)


def test_A07_a_refresh_brings_a_new_id_token_of_the_same_user(visit):
    guest = visit()
    told = guest.sign_in()
    again = guest.gateway.refresh(told["refresh_token"])
    assert again.status == 200, again
    first, second = claims(told["id_token"]), claims(again.json["id_token"])
    for name in ("iss", "sub", "aud", "auth_time"):
        assert first[name] == second[name], name
    assert second["iat"] >= first["iat"] and second["exp"] >= first["exp"] and "nonce" not in second
    assert again.json["name"] == told["name"] and again.json["session_id"] != told["session_id"]
    assert guest.gateway.whoami(again.json["id_token"])["name"] == told["name"]


def test_A08_one_refresh_token_can_be_used_repeatedly(visit):
    guest = visit(include_access=True)
    token = guest.sign_in()["refresh_token"]
    # Apps pass it in an address, as it is.
    assert re.fullmatch(r"[A-Za-z0-9._~-]+", token)
    seen = set()
    for _ in range(5):
        answer = guest.gateway.refresh(token)
        assert answer.status == 200, answer
        seen.add(answer.json["access_token"])
    assert len(seen) == 5


def test_A09_the_refresh_token_grant_decides_which_clients_get_refresh_tokens(visit, world):
    # A client that may use the grant gets one, requested or not; any other client does not.
    guest = visit()
    assert guest.sign_in()["refresh_token"]
    assert guest.sign_in(guest.choose("allow"), offline="true")["refresh_token"]
    guest = visit(register(world.spindle, grant_types=["authorization_code"]))
    assert "refresh_token" not in guest.sign_in()
    assert "refresh_token" not in guest.sign_in(guest.choose("allow"), offline="true")


@pytest.mark.parametrize("offline", ["true", "false"])
def test_A09_offline_access_outlives_the_browsers_session(visit, world, offline):
    guest = visit(register(world.spindle, first_party=False, scope="openid email offline_access"))
    token = guest.sign_in(guest.choose("allow"), offline=offline)["refresh_token"]
    guest.browser.log_out()
    assert guest.gateway.refresh(token).status == (200 if offline == "true" else 500)


@pytest.mark.parametrize("first_party", [True, False])
def test_A10_prompt_consent_asks_once(visit, world, first_party):
    guest = visit(register(world.spindle, first_party=first_party))
    questions = []

    def decide(page):
        questions.append(page.url)
        return guest.choose("allow")(page)

    for count in (1, 2):
        assert parse_qs(urlsplit(guest.gateway.login(offline="true")).query)["prompt"] == ["consent"]
        assert guest.sign_in(decide, offline="true")["id_token"]
        assert len(questions) == count


def test_A11_a_request_without_state_gets_none_back(visit):
    guest = visit(disable_callback_state=True)
    address = guest.gateway.login()
    assert "state" not in parse_qs(urlsplit(address).query)
    back = guest.go(address)
    assert "state" not in parse_qs(urlsplit(back).query, keep_blank_values=True)
    assert guest.gateway.back(back).status == 200


@pytest.mark.parametrize("redirect_uri", [
    f"{CALLBACK}?provider=foo", "https://Gateway.example:443/db/%5foidc_callback?provider=foo&x=a+b%2F",
])
def test_A12_a_redirect_uri_with_a_query_keeps_its_bytes(world, start, redirect_uri):
    spindle = world.spindle
    client = register(spindle, redirect_uri)
    gateway = start("other", foo=provider(spindle, client), other=provider(spindle, client))
    guest = Guest(spindle, gateway, spindle.create_person())
    if redirect_uri.startswith(CALLBACK):
        assert guest.sign_in(provider="foo")["id_token"]
    back = guest.go(spindle.authorize_path(client, None, scope="openid", state="s t"))
    # Couchbase Lite looks for the very text it sent.
    assert back.startswith(redirect_uri + "&")
    told = dict(parse_qsl(back.removeprefix(redirect_uri + "&")))
    assert told["state"] == "s t" and told["code"]
    # An address that is not registered to the letter gets no code.
    for wrong in (CALLBACK, redirect_uri + "&y=1", redirect_uri.replace("provider=foo", "provider=bar")):
        page = guest.browser.open(spindle.authorize_path(client, None, scope="openid", redirect_uri=wrong))
        assert page.answer.status == 400 and not page.left_for


def test_A13_an_error_has_its_code_and_a_description(visit):
    for settings in ({}, {"disable_callback_state": True}):
        guest = visit(**settings)
        back = guest.go(guest.gateway.login(offline="true"), guest.choose("deny"))
        told = dict(parse_qsl(urlsplit(back).query))
        assert told["error"] == "access_denied" and told["error_description"]
        assert ("state" in told) == (not settings)
        answer = guest.gateway.back(back)
        assert answer.status == 401 and told["error_description"] in answer.json["reason"]
    wrong = Browser(guest.browser.spindle).open(guest.gateway.login().replace("response_type=code", "response_type=x"))
    assert wrong.query["error"] == "unsupported_response_type" and wrong.query["error_description"]
