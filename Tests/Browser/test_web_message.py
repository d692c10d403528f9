"""A single-page app asks in a hidden frame, and is told by a message that no other page gets."""

ASK = """
    const [address, done] = arguments, frame = document.createElement("iframe");
    window.addEventListener("message", (event) => {
        if (event.source === frame.contentWindow) done([event.origin, event.data]);
    });
    // A page that is told is told before it has loaded.
    frame.addEventListener("load", () => setTimeout(() => done(null), 300));
    frame.src = address;
    document.body.append(frame);
    """


def ask(house, window, page: str, errand) -> list | None:
    window.open(page)
    answer = window.driver.execute_async_script(ASK, house.spindle.origin + errand.path)
    # Chromium complains of a frame that it may not show.
    window.driver.get_log("browser")
    return answer


def silent(house):
    return house.errand(response_mode="web_message", prompt="none")


def test_web_message_tells_the_page_that_login_is_required(house, window):
    errand = silent(house)
    origin, message = ask(house, window, house.app.origin, errand)
    assert origin == house.spindle.origin
    assert message["type"] == "authorization_response"
    assert message["response"]["error"] == "login_required"
    assert message["response"]["state"] == errand.state


def test_web_message_gives_the_page_a_code_for_the_signed_in_user(house, window):
    person = house.person()
    house.sign_in(window, person)
    _, message = ask(house, window, house.app.origin, silent(house))
    assert message["response"]["error"] == "consent_required", "they have never met"
    house.meet(window, house.errand())
    errand = silent(house)
    _, message = ask(house, window, house.app.origin, errand)
    assert message["response"]["state"] == errand.state
    tokens = house.spindle.redeem(errand.client, message["response"]["code"], code_verifier=errand.pkce.verifier)
    assert tokens.status == 200, tokens
    assert house.spindle.good("GET", "/me", bearer=tokens.json["access_token"])["user_id"] == person.id


def test_web_message_tells_a_page_of_another_origin_nothing(house, window, attacker):
    house.sign_in(window, house.person())
    assert ask(house, window, attacker.origin, silent(house)) is None
