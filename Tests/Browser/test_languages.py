"""The pages in every language but English, as a browser that prefers it gets them."""

import pytest

from stage.chromium import Kind


@pytest.mark.parametrize("language", ["no", "sv", "de"])
def test_a_browser_gets_its_language(house, another, language):
    person, window = house.person(), another(Kind(language), "narrow")
    for path, key, look in (
        (house.errand().path, "login.title", "login"), ("/signup", "signUp.title", "sign-up"),
        ("/password", "forgotten.title", "forgotten password"),
    ):
        window.open(path)
        window.expect(key, look)
    window.form("email").fill(email=house.address()).submit()
    window.expect_message("checkMail")
    for path, topic in (
        ("/oauth/authorize", "noClient"), ("/signup/confirm/x", "linkUnknown"), ("/no-such-page", "notFound"),
    ):
        window.open(path)
        window.expect_message(topic)

    house.sign_in(window, person)
    for path, key, look in (
        ("/login", "signedIn.title", "signed in"), ("/account", "account.title", "account"),
        ("/account/delete", "deleteAccount.title", "delete account"),
        (house.errand(house.partner).path, "consent.title", "consent"), ("/logout", "logout.title", "sign out"),
    ):
        window.open(path)
        window.expect(key, look)
    window.form(action="/logout").submit()
    window.expect("signedOut.title", "signed out")
