"""A browser that keeps no cookies is told so, at each form and step that needs one."""

from collections.abc import Iterator

import pytest

from conftest import missing
from stage.chromium import ChromiumMissing, Kind, start
from stage.window import Window


@pytest.fixture(scope="module", params=["en", "no", "sv", "de"])
def window(request, tmp_path_factory, world, eye) -> Iterator[Window]:
    """A browser whose user has blocked all cookies."""
    kind = Kind(request.param)
    try:
        # 2 is "block".
        driver = start(
            kind, tmp_path_factory.mktemp("downloads"), **{"profile.default_content_setting_values.cookies": 2})
    except ChromiumMissing as absence:
        missing(str(absence))
    window = Window(driver, kind, "wide", world.spindle.origin, eye)
    yield window
    driver.quit()
    assert not window.faults, window.faults


def test_a_sign_in_says_that_cookies_are_needed(world, window):
    person = world.person()
    for path in ["/login", world.flow().path]:
        window.open(path)
        window.form("password").fill(email=person.email, password=person.password).submit()
        window.expect_message("cookiesNeeded")


def test_a_sign_in_by_code_says_that_cookies_are_needed(world, window):
    person = world.person()
    window.open(world.flow().path)
    window.form("password").fill(email=person.email).submit('button[formaction="/login/code"]')
    window.expect_message("cookiesNeeded")
    assert not world.outbox.to(person.email)


def test_the_way_to_sign_up_says_that_cookies_are_needed(world, window):
    window.open(world.flow(prompt="create").path)
    window.expect_message("cookiesNeeded")
    window.open(world.flow().path)
    window.follow('a[href^="/signup"]')
    window.expect_message("cookiesNeeded")


def test_a_sign_up_and_a_forgotten_password_say_that_cookies_are_needed(world, window):
    email = world.address()
    window.open("/signup")
    window.form("password").fill(email=email, password=world.password()).submit()
    window.expect_message("cookiesNeeded")
    window.open("/password")
    window.form("email").fill(email=email).submit()
    window.expect_message("cookiesNeeded")
    assert not world.outbox.to(email)
