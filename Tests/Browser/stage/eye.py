"""Checks a page as different users see it: narrow and wide, light and dark, with a screen reader."""

import base64
import os
import re
from importlib.metadata import distribution
from pathlib import Path

from selenium.webdriver import Chrome

WIDTHS = {"narrow": (320, 700), "wide": (1280, 900)}
SCHEMES = ["light", "dark"]
AXE = Path(distribution("axe-playwright-python").locate_file("axe_playwright_python/axe.min.js"))
CRITERIA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
RUN_AXE = """
    const done = arguments[arguments.length - 1];
    axe.run(document, {runOnly: arguments[0], resultTypes: ["violations"]}).then(
        found => done(found.violations.map(
            rule => rule.id + ": " + rule.help + ": " + rule.nodes.map(node => node.html).join(" "))),
        error => done([String(error)]));
"""


def resize(driver: Chrome, width: str) -> None:
    size = dict(zip(("width", "height"), WIDTHS[width]))
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size | {"deviceScaleFactor": 1, "mobile": False})


def light(driver: Chrome, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


class Eye:
    """Finds the faults of pages. It checks every look once for each kind of page, which the test names."""

    def __init__(self, seen: Path):
        """`seen` is a folder that the workers of a run share."""
        self._seen = seen
        folder = os.environ.get("SPINDLE_SCREENSHOTS")
        self._screenshots = Path(folder).resolve() if folder else None

    def faults(self, driver: Chrome, name: str, language: str, scripts: bool, width: str) -> list[str]:
        """The faults of the page that `driver` shows. Leaves it at `width` and in light mode."""
        found = self._faults_of_the_document(driver, language)
        if self._is_new(f"{name}-{language}-{scripts}"):
            for other in WIDTHS:
                found += self._faults_at(driver, name, language, scripts, other)
            resize(driver, width)
            light(driver, SCHEMES[0])
        elif is_too_wide(driver):
            found.append(f"scrolls sideways at {width} width")
        return [f"{name} ({language}): {fault}" for fault in found]

    def _is_new(self, look: str) -> bool:
        try:
            (self._seen / look.replace(" ", "-")).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _faults_of_the_document(self, driver: Chrome, language: str) -> list[str]:
        found = complaints(driver)
        lang, title, headings, text = driver.execute_script("""
            return [document.documentElement.lang, document.title, document.querySelectorAll("h1").length,
                    document.documentElement.outerHTML];
            """)
        # A document names Norwegian by its written form.
        if lang not in {"no": ("no", "nb")}.get(language, (language,)):
            found.append(f"says it is in {lang!r}")
        if not title.strip():
            found.append("has no title")
        if headings != 1:
            found.append(f"has {headings} headings of the first level")
        if left := re.search(r"\[\[.*?\]\]|\{\{.*?\}\}", text):
            found.append(f"shows a placeholder: {left[0]}")
        return found

    def _faults_at(self, driver: Chrome, name: str, language: str, scripts: bool, width: str) -> list[str]:
        found = []
        resize(driver, width)
        if is_too_wide(driver):
            found.append(f"scrolls sideways at {width} width")
        for scheme in SCHEMES:
            light(driver, scheme)
            if scripts:
                driver.execute_script("if (!window.axe) { " + AXE.read_text("utf-8") + " }")
                # A mail is shown inside another page, which has the landmarks.
                rules = CRITERIA + ([] if name.startswith("mail ") else ["best-practice"])
                found += [f"axe, {width} {scheme}: {fault}" for fault in driver.execute_async_script(RUN_AXE, rules)]
            if self._screenshots:
                self._photograph(driver, f"{name}-{language}{'' if scripts else '-no-scripts'}-{width}-{scheme}")
        return found

    def _photograph(self, driver: Chrome, name: str) -> None:
        self._screenshots.mkdir(parents=True, exist_ok=True)
        height = driver.execute_script("return document.documentElement.scrollHeight")
        width = driver.execute_script("return innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        taken = driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True, "clip": clip}
        )
        (self._screenshots / f"{name.replace(' ', '-')}.png").write_bytes(base64.b64decode(taken["data"]))


def complaints(driver: Chrome) -> list[str]:
    """What the browser has reported since the last call: script errors and violations of the security policy."""
    return [f"console: {entry['level']} {entry['message']}" for entry in driver.get_log("browser")
            if entry["level"] in ("WARNING", "SEVERE") and not _is_a_status(entry)]


def is_too_wide(driver: Chrome) -> bool:
    return driver.execute_script("return document.documentElement.scrollWidth > innerWidth")


def _is_a_status(entry: dict) -> bool:
    """Chromium also logs pages with an error status, which some tests are about."""
    return "Failed to load resource: the server responded" in entry["message"] and "/assets/" not in entry["message"]
