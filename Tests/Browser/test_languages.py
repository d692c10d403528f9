"""The pages in every language but English, as a browser that prefers it gets them."""

import pytest

from stage.chromium import Kind


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
