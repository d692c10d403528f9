"""docs/quickstart-single-page.md is done as its reader does it, in a browser."""

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


def test_the_single_page_signs_a_user_in_renews_its_token_and_signs_out(reader, window):
    reader.follow()
    # Every request has the header by which tests tell browsers apart, and no page of another origin may send it.
    window.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {}})

    def told(text: str) -> None:
        WebDriverWait(window.driver, PATIENCE, 0.05).until(lambda _: text in window.text, f"no {text!r} at {window}")

    page = f"http://localhost:{reader.port(3000)}/"
    window.open(page)
    told("Not signed in.")
    window.follow("#in")
    window.form("username").fill(username="alice").submit()
    told("Hello, alice. The token lives 3600 seconds.")
    assert window.url == page, "the code is not left in the address"
    window.find("#renew").click()
    told("Renewed.")
    window.follow("#out")
    told("Not signed in.")
    window.follow("#in")
    assert window.has('[name="username"]'), window
