"""Starts headless Chromium, with and without scripts, in a user's language."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

# As browsers send it when the user chose that language in the settings.
ACCEPT_LANGUAGE = {"en": "en-GB,en", "no": "nb-NO,nb,no,en", "sv": "sv-SE,sv", "de": "de-DE,de"}


class ChromiumMissing(Exception):
    pass


@dataclass(frozen=True)
class Kind:
    """What distinguishes one browser from another."""

    language: str = "en"
    scripts: bool = True

    def __str__(self) -> str:
        return f"{self.language}-{'scripts' if self.scripts else 'no-scripts'}"


def start(kind: Kind, downloads: Path, profile: Path | None = None, switches: tuple[str, ...] = (),
          **more: object) -> Chrome:
    """Starts a new process; `profile` is a folder that may outlive it, `switches` are further arguments, `more` preferences."""
    options = ChromeOptions()
    options.binary_location = _program("chromium")
    # The sandbox needs privileges that containers lack, and the pages are trusted.
    arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
                 f"--lang={kind.language}", *switches]
    if profile:
        arguments.append(f"--user-data-dir={profile}")
    for argument in arguments:
        options.add_argument(argument)
    preferences = {
        "intl.accept_languages": ACCEPT_LANGUAGE[kind.language],
        "download.default_directory": str(downloads),
        "credentials_enable_service": False,
        "profile.password_manager_leak_detection": False,
        **more,
    }
    if not kind.scripts:
        # 2 is "block". The driver's own scripts still run.
        preferences["profile.managed_default_content_settings.javascript"] = 2
    options.add_experimental_option("prefs", preferences)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(_program("chromedriver", "chromium-driver")))
    driver.set_page_load_timeout(30)
    driver.set_script_timeout(30)
    return driver


def _program(name: str, package: str | None = None) -> str:
    if found := shutil.which(name):
        return found
    raise ChromiumMissing(f"{name} is not installed (apt-get install {package or name})")
