"""docs/commands.md and docs/configuration.md say what the program says of its commands and settings."""

import os
import re
import runpy
import subprocess

import pytest

from harness.server import REPOSITORY, binary

CONFIGURATION = REPOSITORY / "docs" / "configuration.md"
EXAMPLE = REPOSITORY / "deploy" / "spindle.example.yaml"
SOURCE = REPOSITORY / "Sources" / "Server" / "Configuration" / "SpindleConfiguration.swift"
BAD_CONFIGURATION = 78


def test_the_page_of_commands_is_what_the_programs_help_makes():
    redocument = runpy.run_path(str(REPOSITORY / "Tests" / "redocument"))
    made = redocument["commands_page"](binary())
    assert (REPOSITORY / "docs" / "commands.md").read_text("utf-8") == made, "run Tests/redocument"


def test_the_page_of_commands_has_each_exit_status():
    failure = (REPOSITORY / "Sources" / "Server" / "Commands" / "CommandFailure.swift").read_text("utf-8")
    statuses = re.findall(r"(?m)^        case \w+ = (\d+)$", failure)
    page = (REPOSITORY / "docs" / "commands.md").read_text("utf-8")
    assert len(statuses) >= 7
    assert re.findall(r"(?m)^\| (\d+) \|", page) == ["0", *statuses]


def test_the_page_of_settings_names_settings_that_the_program_knows(faults):
    unknown = [text for text in faults.values() if "no such setting" in text]
    assert unknown == []


def test_each_setting_has_an_option_but_those_that_the_page_calls_secret(tmp_path):
    told = run("help", "serve", folder=tmp_path).stdout + run("help", "settings", folder=tmp_path).stdout
    without = {name for name in settings() if f"--{name.replace('_', '-')} " not in told}
    sentence = re.search(r"Settings that hold a secret have no option[^.]*\.", CONFIGURATION.read_text("utf-8"))[0]
    assert without == set(re.findall("`([a-z_]+)`", sentence))


def test_the_page_of_settings_has_the_limits_that_the_program_keeps(faults):
    """Each setting of the page is given what none can be, and the program says what it must be."""
    limits = {name: found.groups() for name, text in faults.items() if (found := re.search(r"(\d+) to (\d+)", text))}
    assert len(limits) >= 8, faults
    for name, (least, most) in limits.items():
        meaning = settings()[name][1].replace(",", "")
        assert f"{least} to {most}" in meaning, f"{name}: {least} to {most}"


def test_the_page_of_settings_has_the_defaults_of_the_example():
    example = dict(re.findall(r"(?m)^([a-z_]+): (.*)$", EXAMPLE.read_text("utf-8")))
    for name, (default, _) in settings().items():
        shown = example.get(name, "none").replace("[]", "none")
        # The others depend on another setting, and say so.
        if default == "none" or re.fullmatch("`[^`]+`", default) and "<" not in default:
            assert default.strip("`") == shown or f"# {name}: {default.strip('`')}" in EXAMPLE.read_text("utf-8"), name


def test_the_page_of_settings_has_the_numbers_that_are_the_programs_defaults():
    numbers = re.findall(r"\.(\w+), of: [^?]*\?\? ([\d_]+)", SOURCE.read_text("utf-8"))
    assert len(numbers) >= 6
    for name, default in numbers:
        name = re.sub("([A-Z])", r"_\1", name).lower()
        assert settings()[name][0] == f"`{default.replace('_', '')}`", name


def test_the_program_takes_the_example_of_a_configuration_file(tmp_path):
    done = run("init", "--config", str(EXAMPLE), "--database", str(tmp_path / "spindle.db"), folder=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def faults(tmp_path_factory) -> dict[str, str]:
    """What the program says must be in place of a value that no setting can have."""
    folder = tmp_path_factory.mktemp("faults")
    nonsense = {f"SPINDLE_{name.upper()}": "\x01" for name in settings()}
    done = run("serve", folder=folder, **nonsense)
    assert done.returncode == BAD_CONFIGURATION, done.stderr
    return dict(re.findall(r"(?m)^spindle: (\w+): (.*)$", done.stderr))


def settings() -> dict[str, tuple[str, str]]:
    """The default and the meaning of each setting in docs/configuration.md, by its name in a file."""
    found = {}
    for line in CONFIGURATION.read_text("utf-8").splitlines():
        if line.startswith("| `SPINDLE_"):
            names, defaults, meaning = [cell.strip() for cell in line.strip("|").split("|", 2)]
            names = re.findall(r"`SPINDLE_(\w+)`", names)
            apart = defaults.split(", ") if len(names) > 1 and defaults.count(", ") else [defaults] * len(names)
            found |= {name.lower(): (default, meaning) for name, default in zip(names, apart, strict=True)}
    return found


def run(*words: str, folder, **settings: str) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SPINDLE_")}
    return subprocess.run(
        [binary(), *words], cwd=folder, env=environment | settings, capture_output=True, text=True, timeout=60)
