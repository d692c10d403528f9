"""docs/quickstart-single-page.md is done as its reader does it, in a browser."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from harness.reader import Reader
from harness.spindle import Spindle
from harness.wire import Address
from selenium.webdriver.support.ui import WebDriverWait

from stage.window import PATIENCE


@pytest.fixture
def reader(tmp_path):
    with Reader("docs/quickstart-single-page.md", tmp_path) as reader:
        yield reader


@pytest.fixture
def world(reader):
    """The development server of the page."""
    return SimpleNamespace(spindle=Spindle(Address("127.0.0.1", reader.port(8080)), ("", "")))


def reading(window) -> Callable[[str], None]:
    """Waits for a text on the page, which is of another origin than Spindle."""
    # Every request has the header by which tests tell browsers apart, and no page of another origin may send it.
    window.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {}})

    def told(text: str) -> None:
        WebDriverWait(window.driver, PATIENCE, 0.05).until(lambda _: text in window.text, f"no {text!r} at {window}")

    return told


def test_the_single_page_signs_a_user_in_renews_its_token_and_signs_out(reader, window):
    reader.follow()
    told = reading(window)
    page = f"http://localhost:{reader.port(3000)}/"
    window.open(page)
    told("Not signed in.")
    window.follow("#in")
    window.form("username").fill(username="alice").submit()
    told("Hello, alice. The token lives 3600 seconds.")
    assert window.url == page, "the code is not left in the address"
    window.find("#renew").click()
    told("Renewed.")
    window.open(page)
    told("Not signed in.")
    window.follow("#in")
    assert "Continue as alice" in window.text, window
    window.press("decision", "continue")
    told("Hello, alice.")
    window.follow("#out")
    told("Not signed in.")
    window.follow("#in")
    assert window.has('[name="username"]'), window


def test_the_single_page_shows_an_error_that_its_script_does_not_catch(reader, window):
    reader.follow()
    told = reading(window)
    # The address that the file server prints is no secure context: it has no `crypto.subtle`.
    window.open(f"http://0.0.0.0:{reader.port(3000)}/")
    told("Not signed in.")
    window.find("#in").click()
    told("TypeError")
    # The console tells it too, and that is no fault here.
    window.driver.get_log("browser")
