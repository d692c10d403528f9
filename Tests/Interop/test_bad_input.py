"""Bad input gets a clear error and changes nothing."""

from base64 import b64encode
from urllib.parse import urlencode

import pytest

from harness.browser import Browser
from harness.cases import BAD, CLIENT, EXCHANGE, FORM, LARGE, TOKEN, Case, Scene, raw, redemption
from harness.spindle import PKCE, Spindle
from harness.wire import Answer, basic, converse
from harness.world import World


def nothing(_: Scene) -> dict:
    return {}


def proven(**form):
    """A form with the backend's proof."""
    return lambda s: {"form": form | s.world.backend.proof}


ELSEWHERE = [
    Case("introspect: no token", "POST", "/oauth/introspect", proven(), (400,), (BAD,)),
    Case("introspect: no client", "POST", "/oauth/introspect", lambda s: {"form": {"token": s.token}}, (400, 401),
         (CLIENT, BAD)),
    Case("introspect: repeated", "POST", "/oauth/introspect",
         lambda s: {"form": [("token", "a"), ("token", "b"), *s.world.backend.proof.items()]}, (400,), (BAD,)),
    Case("introspect: JSON", "POST", "/oauth/introspect", lambda s: raw(b"{", "application/json"), (400, 401, 415),
         (BAD, CLIENT)),
    Case("revoke: no token", "POST", "/oauth/revoke", proven(), (400,), (BAD,)),
    Case("revoke: no client", "POST", "/oauth/revoke", lambda s: {"form": {"token": s.token}}, (400, 401),
         (CLIENT, BAD)),
    Case("revoke: too large", "POST", "/oauth/revoke", lambda s: raw(b"a" * 65_537), (400, 401, 413),
         (BAD, CLIENT, LARGE)),
    Case("me: no token", "GET", "/me", nothing, (401,)),
    Case("me: unknown token", "GET", "/me", lambda s: {"bearer": "D" * 43}, (401,), ("invalid_token",)),
    Case("me: refresh token", "GET", "/me", lambda s: {"bearer": s.refresh_token}, (401,), ("invalid_token",)),
    Case("me: empty token", "GET", "/me", lambda s: {"headers": {"Authorization": "Bearer "}}, (400, 401)),
    Case("me: Basic", "GET", "/me", lambda s: {"headers": {"Authorization": "Basic YTpi"}}, (400, 401)),
    Case("user: no number", "GET", "/user/abc", lambda s: {"bearer": s.token}, (400, 403, 404)),
    Case("user: enormous number", "GET", "/user/" + "9" * 40, lambda s: {"bearer": s.token}, (400, 403, 404)),
    Case("user: another's", "GET", lambda s: f"/user/{s.disabled_person.id}", lambda s: {"bearer": s.token}, (403,)),
    Case("session: unknown code", "GET", "/auth/session/" + "E" * 43, nothing, (404, 410)),
    Case("session: bad escape", "GET", "/auth/session/%zz%", nothing, (400, 404, 410)),
    Case("authorize: nothing", "GET", "/oauth/authorize", nothing, (400,)),
    Case("authorize: client unknown", "GET", "/oauth/authorize?response_type=code&client_id=nobody", nothing, (400,)),
    Case("authorize: bad escape", "GET", "/oauth/authorize?client_id=%zz&scope=%", nothing, (400,)),
    Case("authorize: bad UTF-8", "GET", "/oauth/authorize?client_id=%ff%fe", nothing, (400,)),
    Case("authorize: POST of a bad escape", "POST", "/oauth/authorize", lambda s: raw(b"scope=%zz", FORM), (400,)),
    Case("no such page", "GET", "/no/such/page", nothing, (404,)),
    Case("no such method", "DELETE", "/oauth/token", nothing, (404, 405)),
    Case("token by GET", "GET", "/oauth/token?grant_type=password", nothing, (404, 405)),
    Case("admin: no token", "GET", "/admin/v1/merchants", nothing, (401,)),
    Case("admin: a person's token", "GET", "/admin/v1/clients", lambda s: {"bearer": s.token}, (401, 403)),
    *(
        Case(f"admin: {name}", "POST", f"/admin/v1/{path}",
             lambda s, sent=sent: sent | {"bearer": s.spindle.admin_token()}, statuses)
        for name, path, sent, statuses in [
            ("merchant without a name", "merchants", {"content": {}}, (400, 422)),
            ("name is a number", "merchants", {"content": {"name": 7}}, (400, 422)),
            ("broken JSON", "merchants", raw(b'{"name":', "application/json"), (400,)),
            ("no JSON", "users", raw(b"email=a", FORM), (400, 415)),
            ("client of no merchant", "clients", {"content": {"merchant_id": "x", "client_name": "y"}},
             (400, 404, 422)),
            ("redirect URI relative", "clients", {"content": {"client_name": "y", "redirect_uris": ["/x"]}},
             (400, 422)),
            ("user without address", "users", {"content": {"password": "long enough for anyone"}}, (400, 422)),
            ("user with a bad address", "users", {"content": {"email": "nobody"}}, (400, 422)),
            ("lone surrogate", "merchants", raw(b'{"name":"\\ud800"}', "application/json"), (400, 422)),
            ("zero byte", "merchants", {"content": {"name": "a\u0000b"}}, (400, 422)),
            ("too large", "merchants", {"content": {"name": "a" * 70_000}}, (400, 413, 422)),
        ]
    ),
]


@pytest.fixture(scope="module")
def scene(launch, engine) -> Scene:
    world = World.create(Spindle.of(launch(engine)))
    spindle = world.spindle
    device = world.phone()
    backend = spindle.redeem(world.backend, spindle.code(device["access_token"], world.backend)).json
    foreign = spindle.create_client(
        spindle.create_merchant("Another house"), "Foreign", "https://foreign.example/",
        grant_types=["authorization_code"],
    )
    client = spindle.create_client(world.merchant, "Disabled", grant_types=["client_credentials"])
    person = spindle.create_person()
    for path in (f"clients/{client.id}", f"users/{person.id}"):
        assert spindle.administer("PATCH", path, {"disabled": True}).status == 200
    # Requests that must not spend the code use it: it may have expired by then, and is refused all the same.
    return Scene(
        world, device["access_token"], device["refresh_token"], backend["refresh_token"],
        spindle.code(device["access_token"], world.backend), foreign, client, person,
    )


def nothing_changed(scene: Scene) -> None:
    assert scene.spindle.me(scene.token).status == 200, "the token is gone"


@pytest.mark.parametrize("case", TOKEN + EXCHANGE + ELSEWHERE, ids=lambda case: case.name)
def test_a_bad_request_is_refused_clearly_and_changes_nothing(scene, case):
    path = case.path(scene) if callable(case.path) else case.path
    answer = scene.spindle.call(case.method, path, **case.options(scene))
    assert answer.status in case.statuses, answer
    assert answer.body.strip(), "an empty error body"
    assert answer.location is None and not answer.set_cookies
    if case.errors:
        assert answer.error in case.errors, answer
        assert isinstance(answer.json.get("error_description", ""), str)
    # A client that did not send a header gets no challenge: a browser would show its user a password prompt.
    if answer.status == 401 and answer.error != CLIENT:
        assert answer.headers.get("WWW-Authenticate"), "RFC 9110 §11.6.1: a 401 says how to authenticate"
    nothing_changed(scene)


def test_requests_that_fail_a_binding_neither_spend_a_code_nor_revoke_its_tokens(scene):
    spindle, world = scene.spindle, scene.world
    code = spindle.code(scene.token, world.backend)
    bad = [
        {"client_secret": "x" * 43}, {"redirect_uri": "https://evil.example/"}, {"redirect_uri": ""},
        {"code_verifier": "v" * 50}, {"client_id": world.web.id, "client_secret": world.web.secret},
        {"client_id": scene.foreign.id, "client_secret": scene.foreign.secret},
    ]

    def each_is_refused() -> None:
        for changes in bad:
            answer = spindle.call("POST", "/oauth/token", **redemption(scene, **({"code": code} | changes)))
            assert answer.status in (400, 401), f"{changes}: {answer}"

    each_is_refused()
    redeemed = spindle.redeem(world.backend, code)
    assert redeemed.status == 200, redeemed
    each_is_refused()
    assert spindle.is_active(world.backend, redeemed.json["access_token"])


@pytest.mark.parametrize("uri", ["https://evil.example/", "https://shop.example/landing/../x", "javascript:alert(1)",
                                 "https://shop.example/landing?x=1", "HTTPS://shop.example/landing#f"])
def test_an_unregistered_redirect_uri_is_never_redirected_to(scene, uri):
    page = Browser(scene.spindle).open(scene.spindle.authorize_path(scene.world.web, PKCE(), redirect_uri=uri))
    assert page.left_for is None and page.answer.status == 400 and page.answer.body, page.answer
    assert not any(form.password_field for form in page.forms)


def test_unknown_parameters_are_ignored_even_when_repeated_and_empty_ones_count_as_omitted(scene):
    form = [*scene.own.items(), ("x", "1"), ("x", "2"), ("utm", ""), ("scope", "")]
    assert scene.spindle.call("POST", "/oauth/token", form=form).status == 200


def test_a_json_body_is_taken_at_the_token_endpoint(scene):
    assert scene.spindle.call("POST", "/oauth/token", content=scene.own).status == 200


def test_ids_and_secrets_are_form_encoded_inside_basic(scene):
    backend = scene.world.backend
    # Every character escaped is the same secret: RFC 6749 §2.3.1 says decode.
    escaped = "".join(f"%{byte:02X}" for byte in backend.secret.encode())
    for value in (basic(backend.id, backend.secret), _basic(f"{backend.id}:{escaped}")):
        answer = scene.spindle.call(
            "POST", "/oauth/token", form={"grant_type": "client_credentials"}, headers={"Authorization": value}
        )
        assert answer.status == 200, answer


def test_a_request_of_exactly_64_kibibytes_is_read(scene):
    body = urlencode(scene.own).encode() + b"&x="
    answer: Answer = scene.spindle.call("POST", "/oauth/token", **raw(body + b"a" * (65_536 - len(body))))
    assert answer.status == 200, answer


def test_a_chunked_body_over_the_limit_is_refused(scene):
    chunk = b"1000\r\n" + b"a" * 0x1000 + b"\r\n"
    head = f"POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\nTransfer-Encoding: chunked\r\n"
    request = head.encode() + b"Connection: close\r\n\r\n" + chunk * 17 + b"0\r\n\r\n"
    [answer, *_] = converse(scene.spindle.address, request)
    assert answer.status in (400, 413) and answer.body, answer
    nothing_changed(scene)


def test_a_body_shorter_than_its_length_gets_400(scene):
    head = f"POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\nContent-Length: 100\r\n\r\n"
    for answer in converse(scene.spindle.address, head.encode() + b"grant_type=", half_close=True):
        assert answer.status == 400, answer
    nothing_changed(scene)


def _basic(pair: str) -> str:
    return "Basic " + b64encode(pair.encode()).decode()
