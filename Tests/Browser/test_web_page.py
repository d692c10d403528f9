"""A client's registered web page may ask for the session, and show Spindle's pages in a frame."""

from urllib.parse import urlencode

import pytest

ASK = """
    const [address, done] = arguments, script = document.createElement("script");
    window.SPiD = {Talk: {response: (callback, answer) => done([callback, answer])}};
    script.onerror = () => done(null);
    script.src = address;
    document.head.append(script);
    """


def has_session(world, window, client, page: str, path: str = "/ajax/hasSession.js") -> list | None:
    window.open(page)
    query = urlencode({"client_id": client.id, "callback": "site.onSession"})
    answer = window.driver.execute_async_script(ASK, f"{world.spindle.origin}{path}?{query}")
    window.driver.get_log("browser")
    return answer


@pytest.mark.parametrize("path", ["/ajax/hasSession.js", "/rpc/hasSession.js"])
def test_a_page_gets_the_signed_in_user_once_the_user_is_connected(world, window, path):
    person = world.person()
    callback, answer = has_session(world, window, world.own, world.app.origin, path)
    assert callback == "site.onSession"
    assert answer["response"]["result"] is False and answer["response"]["expiresIn"] == 300

    world.sign_in(window, person)
    _, answer = has_session(world, window, world.own, world.app.origin, path)
    assert (answer["result"], answer["userStatus"]) == (False, "notConnected")
    assert person.id not in str(answer) and "Kari" not in str(answer)

    flow = world.flow()
    world.meet(window, flow)
    flow.tokens(window)
    _, answer = has_session(world, window, world.own, world.app.origin, path)
    assert answer["result"] is True
    assert (answer["userStatus"], answer["id"], answer["displayName"]) == ("connected", person.id, "Kari Nordmann")


def test_a_page_that_is_not_registered_learns_nothing(world, window, attacker):
    world.sign_in(window, world.person())
    assert has_session(world, window, world.own, attacker.origin) is None
    assert has_session(world, window, world.partner, world.app.origin) is None


def test_a_first_party_page_may_frame_the_sign_in(world, window):
    window.open(world.app.origin)
    with window.frame(world.spindle.origin + world.flow().path):
        assert window.has('[name="form_token"]')
    window.open(world.app.origin)
    with window.frame(world.spindle.origin + world.flow(world.partner).path):
        assert not window.has('[name="form_token"]')
