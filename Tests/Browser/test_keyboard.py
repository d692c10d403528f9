"""Everything can be reached, seen and done with the keyboard alone."""

import pytest
from selenium.webdriver import ActionChains, Keys

WANTED = """
    return [...document.querySelectorAll("a[href], button, input, select, textarea, summary")].filter(
        element => element.type !== "hidden" && !element.disabled && element.getClientRects().length);
    """
IS_MARKED = """
    const style = getComputedStyle(document.activeElement);
    return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    """
REACHED = "return arguments[0] === document.activeElement"


def press(window, *keys: str) -> None:
    ActionChains(window.driver).send_keys(*keys).perform()


@pytest.mark.every_way
def test_a_user_can_sign_in_without_a_mouse(world, window):
    person, flow = world.person(), world.flow()
    window.open(flow.path)
    for name, value in (("email", person.email), ("password", person.password)):
        tab_to(window, f'input[name="{name}"]')
        press(window, value)
    with window.navigation():
        press(window, Keys.ENTER)
    assert flow.person(window)["sub"] == person.id


@pytest.mark.parametrize("page", ["login", "sign-up", "forgotten", "consent", "account", "delete account", "sign out"])
def test_the_keyboard_reaches_every_control_in_order_with_visible_focus(world, window, page):
    if page in ("consent", "account", "delete account", "sign out"):
        world.sign_in(window, world.person())
    window.open({
        "login": world.flow().path, "sign-up": "/signup", "forgotten": "/password",
        "consent": world.flow(world.partner).path, "account": "/account", "delete account": "/account/delete",
        "sign out": "/logout",
    }[page])
    wanted = window.driver.execute_script(WANTED)
    assert wanted
    tab_to(window, None)
    for element in wanted:
        if not window.driver.execute_script(REACHED, element):
            press(window, Keys.TAB)
        name = element.get_attribute("outerHTML")
        assert window.driver.execute_script(REACHED, element), f"Tab does not get to {name}"
        assert window.driver.execute_script(IS_MARKED), f"no mark on {name}"


def tab_to(window, selector: str | None) -> None:
    """Presses Tab until the element has the focus; without one, until the page has its first focus."""
    for _ in range(30):
        focused = "return document.activeElement !== document.body && document.activeElement.matches(arguments[0])"
        if window.driver.execute_script(focused, selector or "*"):
            return
        press(window, Keys.TAB)
    raise AssertionError(f"Tab does not get to {selector} at {window}")
