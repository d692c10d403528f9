"""A browser that keeps no cookies is told so, at each form and step that needs one."""

from collections.abc import Iterator

import pytest

from conftest import missing
from stage.chromium import ChromiumMissing, Kind, start
from stage.window import Window


@pytest.fixture(scope="module", params=["en", "no", "sv", "de"])
def blocked(request, tmp_path_factory, world, eye) -> Iterator[Window]:
    """A browser whose user has blocked all cookies."""
    kind = Kind(request.param)
    try:
        # 2 is "block".
        driver = start(
            kind, tmp_path_factory.mktemp("downloads"), **{"profile.default_content_setting_values.cookies": 2})
    except ChromiumMissing as absence:
        missing(str(absence))
    blocked = Window(driver, kind, "wide", world.spindle.origin, eye)
    yield blocked
    driver.quit()
    assert not blocked.faults, blocked.faults


def test_a_sign_in_says_that_cookies_are_needed(world, blocked):
    person = world.person()
    for path in ["/login", world.flow().path]:
        blocked.open(path)
        blocked.form("password").fill(email=person.email, password=person.password).submit()
        blocked.expect_message("cookiesNeeded")


def test_a_sign_in_by_code_says_that_cookies_are_needed(world, blocked):
    person = world.person()
    blocked.open(world.flow().path)
    blocked.form("password").fill(email=person.email).submit('button[formaction="/login/code"]')
    blocked.expect_message("cookiesNeeded")
    assert not world.outbox.to(person.email)


def test_following_sign_up_without_cookies_says_that_they_are_needed(world, blocked):
    blocked.open(world.flow(prompt="create").path)
    blocked.expect_message("cookiesNeeded")
    blocked.open(world.flow().path)
    blocked.follow('a[href^="/signup"]')
    blocked.expect_message("cookiesNeeded")


def test_a_sign_up_and_a_forgotten_password_say_that_cookies_are_needed(world, blocked):
    email = world.address()
    blocked.open("/signup")
    blocked.form("password").fill(email=email, password=world.password()).submit()
    blocked.expect_message("cookiesNeeded")
    blocked.open("/password")
    blocked.form("email").fill(email=email).submit()
    blocked.expect_message("cookiesNeeded")
    assert not world.outbox.to(email)
