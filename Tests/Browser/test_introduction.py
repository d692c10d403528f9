"""Introduction pages: a user's first visit to a merchant, an app on the device, and a self-registered client."""

import pytest
from harness.spindle import Client


@pytest.mark.every_way
def test_a_user_new_to_a_merchant_confirms_once(world, window):
    world.sign_in(window, world.person())
    flow = world.flow()
    world.meet(window, flow)
    assert "code" in flow.answer(window)
    again = world.flow()
    assert "code" in again.answer(window.open(again.path))


@pytest.mark.every_way
def test_a_user_new_to_a_merchant_can_continue_as_another_user(world, window):
    world.sign_in(window, world.person())
    other, flow = world.person(), world.flow()
    window.open(flow.path)
    window.follow('p a[href*="select_account"]')
    window.press("decision", "another")
    window.form("password").fill(email=other.email, password=other.password).submit()
    assert flow.person(window)["sub"] == other.id


@pytest.mark.every_way
def test_an_app_on_the_device_gets_its_answer_after_a_tap(world, window):
    person = world.person()
    assert world.can_sign_in(person.email, person.password), "the app has met them"
    world.sign_in(window, person)
    flow = world.flow(world.phone)
    window.open(flow.path)
    window.expect("introduction.device", look="introduction on a device")
    assert "Phone" in window.text and person.email in window.text


@pytest.fixture
def newcomer(world):
    """A client that registered itself."""
    made = world.spindle.administer("POST", "initial-access-tokens", {"merchant_id": world.merchant})
    told = world.spindle.good(
        "POST", "/oauth/register", 201, bearer=made.json["initial_access_token"],
        content={"client_name": "Found on the Web", "redirect_uris": [world.app.callback]},
    )
    return Client(told["client_id"], told["client_secret"], world.app.callback)


@pytest.mark.every_way
def test_a_self_registered_clients_page_is_reached_by_a_click_only(world, window, newcomer):
    flow = world.flow(newcomer, scope="nonsense")
    window.open(flow.path)
    window.expect_message("leaving")
    assert "Found on the Web" in window.text
    window.follow("main a.button")
    assert flow.answer(window)["error"] == "invalid_scope"


@pytest.mark.every_way
def test_a_self_registered_client_gets_an_error_by_form_post(world, window, newcomer):
    flow = world.flow(newcomer, scope="nonsense", response_mode="form_post")
    window.open(flow.path)
    window.expect_message("leaving")
    window.look("leaving by a form")
    assert "Found on the Web" in window.text and not window.has("main a.button")
    window.follow("main form button")
    assert flow.answer(window)["error"] == "invalid_scope"
    assert world.app.requests[-1].method == "POST" and "error" not in window.url


def test_a_silent_request_of_a_self_registered_client_is_answered_in_a_window(world, window, newcomer):
    flow = world.flow(newcomer, prompt="none")
    window.open(flow.path)
    assert flow.answer(window)["error"] == "login_required"
