"""A single-page app sends its request in a hidden frame, and gets a message that no other page gets."""

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


def ask(world, window, page: str, flow) -> list | None:
    window.open(page)
    answer = window.driver.execute_async_script(ASK, world.spindle.origin + flow.path)
    # Chromium reports a frame that it may not show.
    window.driver.get_log("browser")
    return answer


def silent(world):
    return world.flow(response_mode="web_message", prompt="none")


def test_web_message_tells_the_page_that_login_is_required(world, window):
    flow = silent(world)
    origin, message = ask(world, window, world.app.origin, flow)
    assert origin == world.spindle.origin
    assert message["type"] == "authorization_response"
    assert message["response"]["error"] == "login_required"
    assert message["response"]["state"] == flow.state


def test_web_message_gives_the_page_a_code_for_the_signed_in_user(world, window):
    person = world.person()
    world.sign_in(window, person)
    _, message = ask(world, window, world.app.origin, silent(world))
    assert message["response"]["error"] == "consent_required", "they have never met"
    world.meet(window, world.flow())
    flow = silent(world)
    _, message = ask(world, window, world.app.origin, flow)
    assert message["response"]["state"] == flow.state
    tokens = world.spindle.redeem(flow.client, message["response"]["code"], code_verifier=flow.pkce.verifier)
    assert tokens.status == 200, tokens
    assert world.spindle.good("GET", "/me", bearer=tokens.json["access_token"])["user_id"] == person.id


def test_web_message_tells_a_page_of_another_origin_nothing(world, window, attacker):
    world.sign_in(window, world.person())
    assert ask(world, window, attacker.origin, silent(world)) is None
