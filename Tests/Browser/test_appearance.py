"""Pages in a merchant's colour, whichever it is, and in every language but English."""

import pytest

from stage.chromium import Kind

COLOURS = {"yellow": "#ffd700", "nearly black": "#101010", "grey": "#777777"}


@pytest.mark.parametrize("colour", COLOURS.values(), ids=COLOURS)
def test_a_merchants_pages_have_its_colour(world, window, colour):
    merchant = world.spindle.create_merchant("Fargehandel")
    painted = world.spindle.administer("PATCH", f"merchants/{merchant}", {"accent_color": colour})
    assert painted.status == 200, painted
    client = world.spindle.create_client(
        merchant, "Maling", world.app.callback, grant_types=["authorization_code"], first_party=False
    )
    window.open(world.flow(client).path)
    assert "Fargehandel" in window.driver.title + window.text
    assert window.has(f'link[rel="stylesheet"][href^="/assets/brand/{merchant}.css"]')
    window.look(f"login in {colour}")
    person = world.person()
    window.form("password").fill(email=person.email, password=person.password).submit()
    window.look(f"consent in {colour}")


@pytest.mark.parametrize("language", ["no", "sv", "de"])
def test_a_browser_gets_its_language(world, another, language):
    person, window = world.person(), another(Kind(language), "narrow")
    for path, key, look in (
        (world.flow().path, "login.title", "login"), ("/signup", "signUp.title", "sign-up"),
        ("/password", "forgotten.title", "forgotten password"),
    ):
        window.open(path)
        window.expect(key, look)
    window.form("email").fill(email=world.address()).submit()
    window.expect_message("checkMail")
    for path, topic in (
        ("/oauth/authorize", "noClient"), ("/signup/confirm/x", "linkUnknown"), ("/no-such-page", "notFound"),
    ):
        window.open(path)
        window.expect_message(topic)

    world.sign_in(window, person)
    for path, key, look in (
        ("/login", "signedIn.title", "signed in"), ("/account", "account.title", "account"),
        ("/account/delete", "deleteAccount.title", "delete account"),
        (world.flow(world.partner).path, "consent.title", "consent"), ("/logout", "logout.title", "sign out"),
    ):
        window.open(path)
        window.expect(key, look)
    window.form(action="/logout").submit()
    window.expect("signedOut.title", "signed out")
