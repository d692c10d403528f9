"""The first time at a merchant, an app on the device that could be any, and an address that nobody vouched for."""

import pytest
from harness.spindle import Client


@pytest.mark.every_way
def test_a_user_new_to_a_merchant_is_asked_once(house, window):
    house.sign_in(window, house.person())
    errand = house.errand()
    house.meet(window, errand)
    assert "code" in errand.answer(window)
    again = house.errand()
    assert "code" in again.answer(window.open(again.path))


@pytest.mark.every_way
def test_a_user_new_to_a_merchant_can_continue_as_another_user(house, window):
    house.sign_in(window, house.person())
    other, errand = house.person(), house.errand()
    window.open(errand.path)
    window.follow('p a[href*="select_account"]')
    window.form("password").fill(email=other.email, password=other.password).submit()
    assert errand.person(window)["sub"] == other.id


@pytest.mark.every_way
def test_an_app_on_the_device_is_answered_after_a_tap(house, window):
    person = house.person()
    assert house.can_sign_in(person.email, person.password), "the app has met them"
    house.sign_in(window, person)
    errand = house.errand(house.phone)
    window.open(errand.path)
    window.expect("introduction.device", look="introduction on a device")
    assert "Phone" in window.text and person.email in window.text


@pytest.mark.every_way
def test_a_self_registered_clients_address_is_left_for_by_a_click_only(house, window):
    made = house.spindle.administer("POST", "initial-access-tokens", {"merchant_id": house.merchant})
    told = house.spindle.good(
        "POST", "/oauth/register", 201, bearer=made.json["initial_access_token"],
        content={"client_name": "Found on the Web", "redirect_uris": [house.app.callback]},
    )
    client = Client(told["client_id"], told["client_secret"], house.app.callback)
    errand = house.errand(client, scope="nonsense")
    window.open(errand.path)
    window.expect_message("leaving")
    assert "Found on the Web" in window.text
    window.follow("main a.button")
    assert errand.answer(window)["error"] == "invalid_scope"
