"""The texts of the pages, read from their translations."""

import json
import re
from functools import cache

from harness.server import REPOSITORY

FOLDER = REPOSITORY / "Sources/Pages/Texts"


@cache
def texts(language: str) -> dict[str, str]:
    return json.loads((FOLDER / f"{language}.json").read_text("utf-8"))


def says(page: str, key: str, language: str) -> bool:
    """Whether `page` contains the text of `key`, with anything in place of its placeholders."""
    # Users see no markup, and white space is folded.
    words = _folded(re.sub(r"<[^>]*>", "", texts(language)[key]))
    pattern = ""
    for part in re.split(r"(\{\{#.*?\{\{/.*?\}\}|\{\{.*?\}\})", words):
        if part.startswith("{{#"):
            pattern += ".*?"
        else:
            pattern += r"\S.*?" if part.startswith("{{") else re.escape(part)
    return re.search(pattern, _folded(page)) is not None


def _folded(text: str) -> str:
    return re.sub(r"\s+", " ", text)
