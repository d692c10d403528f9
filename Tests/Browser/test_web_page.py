"""A client's web page: it may ask whether somebody is signed in, and show our pages in a frame, if it is registered."""

from urllib.parse import urlencode

import pytest

ASK = """
    const [address, done] = arguments, script = document.createElement("script");
    window.SPiD = {Talk: {response: (callback, answer) => done([callback, answer])}};
    script.onerror = () => done(null);
    script.src = address;
    document.head.append(script);
    """


def has_session(house, window, client, page: str, path: str = "/ajax/hasSession.js") -> list | None:
    window.open(page)
    query = urlencode({"client_id": client.id, "callback": "site.onSession"})
    answer = window.driver.execute_async_script(ASK, f"{house.spindle.origin}{path}?{query}")
    window.driver.get_log("browser")
    return answer


@pytest.mark.parametrize("path", ["/ajax/hasSession.js", "/rpc/hasSession.js"])
def test_a_page_learns_who_is_signed_in_once_the_user_is_connected(house, window, path):
    person = house.person()
    callback, answer = has_session(house, window, house.own, house.app.origin, path)
    assert callback == "site.onSession"
    assert answer["response"]["result"] is False

    house.sign_in(window, person)
    _, answer = has_session(house, window, house.own, house.app.origin, path)
    assert (answer["result"], answer["userStatus"]) == (True, "notConnected")
    assert person.id not in str(answer) and "Kari" not in str(answer)

    errand = house.errand()
    house.meet(window, errand)
    errand.tokens(window)
    _, answer = has_session(house, window, house.own, house.app.origin, path)
    assert (answer["userStatus"], answer["id"], answer["displayName"]) == ("connected", person.id, "Kari Nordmann")


def test_a_page_that_is_not_registered_learns_nothing(house, window, attacker):
    house.sign_in(window, house.person())
    assert has_session(house, window, house.own, attacker.origin) is None
    assert has_session(house, window, house.partner, house.app.origin) is None


def test_a_first_party_page_may_frame_the_sign_in(house, window):
    window.open(house.app.origin)
    with window.frame(house.spindle.origin + house.errand().path):
        assert window.has('[name="form_token"]')
    window.open(house.app.origin)
    with window.frame(house.spindle.origin + house.errand(house.partner).path):
        assert not window.has('[name="form_token"]')
