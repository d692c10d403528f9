"""A user at a browser: opens addresses, reads, fills in forms, presses buttons."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urljoin, urlsplit

from selenium.common.exceptions import TimeoutException, WebDriverException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from stage.chromium import Kind
from stage.eye import Eye, light, resize
from stage.texts import says, texts

PATIENCE = 20
# Messages after which there is nothing to do, or whose title says it all.
ENDS = {"accountDeleted", "cancelled", "sessionLinkEmbedded"}


class Window:
    """Collects the faults of the visited pages; its creator reads them at the end."""

    def __init__(self, driver: Chrome, kind: Kind, width: str, origin: str, eye: Eye):
        self.driver = driver
        self.kind = kind
        self.width = width
        self.origin = origin
        self.language = kind.language
        self.faults: list[str] = []
        self._eye = eye
        resize(driver, width)
        light(driver, "light")

    # Where it is

    @property
    def url(self) -> str:
        return self.driver.current_url

    @property
    def path(self) -> str:
        return urlsplit(self.url).path

    @property
    def is_at_home(self) -> bool:
        """Whether it shows a page of Spindle."""
        return self.url.startswith(self.origin + "/")

    @property
    def heading(self) -> str:
        return self.find("h1").text

    @property
    def text(self) -> str:
        """The readable text of the page."""
        return self.driver.find_element(By.TAG_NAME, "body").text

    def has(self, selector: str) -> bool:
        return bool(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def find(self, selector: str) -> WebElement:
        assert self.has(selector), f"no {selector} at {self}"
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def __str__(self) -> str:
        return f"{self.url}\n{self.driver.title}\n{self.text}"

    __repr__ = __str__

    # What it says

    def says(self, key: str) -> bool:
        return says(self.text, key, self.language)

    def expect(self, key: str, look: str | None = None) -> None:
        """Expects the text of `key` on the page; `look` names the page for the checks."""
        assert self.says(key), f"{texts(self.language)[key]!r} is not at {self}"
        self.look(look or key)

    def expect_message(self, *topics: str) -> None:
        """Expects one of `topics` on the page, and what to do next."""
        language = texts(self.language)
        said = [topic for topic in topics
                if self.says(f"message.{topic}.title") and self.says(f"message.{topic}.text")]
        assert said, f"none of {topics} at {self}"
        topic = said[0]
        if f"message.{topic}.hint" in language:
            assert self.says(f"message.{topic}.hint"), self
        else:
            assert topic in ENDS or self.has("main a[href], main button"), f"says nothing of what to do next: {self}"
        self.look(topic)

    def look(self, name: str) -> None:
        """Checks the page under the name of its kind."""
        self.faults += self._eye.faults(self.driver, name, self.language, self.kind.scripts, self.width)

    # What it does

    def open(self, address: str) -> "Window":
        """Opens an address as if it was typed; a path is one of Spindle's."""
        self.driver.get(urljoin(self.origin, address))
        return self

    def back(self) -> None:
        self.driver.back()

    def follow(self, selector: str) -> None:
        with self.navigation():
            self.find(selector).click()

    def form(self, field: str | None = None, action: str | None = None) -> "Form":
        """The form that shows `field`, or that posts to `action`."""
        for element in self.find_all("form"):
            target = urlsplit(element.get_property("action")).path
            fields = element.find_elements(By.CSS_SELECTOR, f'[name="{field}"]:not([type="hidden"])') if field else [1]
            if fields and (action is None or target == action):
                return Form(self, element)
        raise AssertionError(f"no form with {field or action} at {self}")

    def press(self, name: str, value: str) -> None:
        """Presses the button with this `name` and `value`."""
        self.follow(f'button[name="{name}"][value="{value}"]')

    @contextmanager
    def navigation(self) -> Iterator[None]:
        """Waits until another page has loaded."""
        mark = secrets.token_hex(8)
        self.driver.execute_script("window.markOfTheTest = arguments[0]", mark)
        yield
        arrived = "return window.markOfTheTest !== arguments[0] && document.readyState === 'complete'"
        wait = WebDriverWait(self.driver, PATIENCE, 0.02, ignored_exceptions=[WebDriverException])
        try:
            wait.until(lambda driver: driver.execute_script(arrived, mark))
        except TimeoutException as error:
            raise AssertionError(f"nothing came of it at {self}") from error

    @contextmanager
    def tab(self) -> Iterator["Window"]:
        """Another tab of the same browser, closed afterwards."""
        here = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        tab = Window(self.driver, self.kind, self.width, self.origin, self._eye)
        tab.language, tab.faults = self.language, self.faults
        try:
            yield tab
        finally:
            self.driver.close()
            self.driver.switch_to.window(here)

    @contextmanager
    def frame(self, address: str) -> Iterator[None]:
        """Loads `address` in a frame of the page and switches to it. Its console messages are dropped."""
        self.driver.execute_async_script("""
            const [address, done] = arguments, frame = document.createElement("iframe");
            frame.onload = () => done();
            frame.src = address;
            document.body.append(frame);
            """, address)
        self.driver.switch_to.frame(0)
        try:
            yield
        finally:
            self.driver.switch_to.default_content()
            self.driver.get_log("browser")

    def cookie(self, ending: str) -> dict | None:
        """The cookie whose name ends in `ending`."""
        return next((cookie for cookie in self.driver.get_cookies() if cookie["name"].endswith(ending)), None)


class Form:
    def __init__(self, window: Window, element: WebElement):
        self._window = window
        self.element = element

    def field(self, name: str) -> WebElement:
        return self.element.find_element(By.CSS_SELECTOR, f'[name="{name}"]:not([type="hidden"])')

    def has(self, name: str) -> bool:
        return bool(self.element.find_elements(By.CSS_SELECTOR, f'[name="{name}"]:not([type="hidden"])'))

    def value(self, name: str) -> str:
        return self.field(name).get_property("value")

    def fill(self, **values: str | bool) -> "Form":
        for name, value in values.items():
            field = self.field(name)
            if isinstance(value, bool):
                if field.is_selected() != value:
                    field.click()
            elif len(value) > 1000 or any(ord(letter) > 0xFFFF for letter in value) or field.tag_name == "select":
                # The driver types only the Basic Multilingual Plane, and slowly.
                self._window.driver.execute_script("arguments[0].value = arguments[1]", field, value)
            else:
                if field.get_property("value"):
                    field.clear()
                field.send_keys(value)
        return self

    def forge(self, name: str, value: str) -> "Form":
        """Changes a field that the page does not offer for change."""
        field = self.element.find_element(By.CSS_SELECTOR, f'[name="{name}"]')
        self._window.driver.execute_script("arguments[0].value = arguments[1]", field, value)
        return self

    def submit(self, selector: str = "button:not([formaction])") -> None:
        """Presses the form's button."""
        with self._window.navigation():
            self.element.find_element(By.CSS_SELECTOR, selector).click()
