"""The routes in docs/api.md, each with every word that may be the name of a parameter."""

import re
from dataclasses import dataclass
from pathlib import Path

API = Path(__file__).resolve().parents[3] / "docs" / "api.md"

_SPAN = re.compile(r"`([^`\n]+)`")
_ROUTE = re.compile(r"(?:[A-Z]+ )?(/[A-Za-z0-9_{}./-]*[A-Za-z0-9_{}])(?:\?.*)?")
# Below SPiD's heading, a route has no leading slash and always a method.
_SPID_ROUTE = re.compile(r"[A-Z]+ ([A-Za-z0-9_{}][A-Za-z0-9_{}/.]*)(?:\?.*)?")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:\[\])?")
_IN_QUERY = re.compile(r"[?&]([A-Za-z0-9_]+)=")
# The beginning of other routes, and no route itself.
_PREFIXES = {"/admin/v1"}


@dataclass(frozen=True)
class Documented:
    """A path as the document writes it, with its placeholders, and the names in its section."""

    path: str
    names: tuple[str, ...]
    # Those of the names that occur in a query: `?limit=`.
    queried: tuple[str, ...] = ()


def documented(text: str | None = None) -> list[Documented]:
    """Every route, in the order of the document. A route in several sections has the names of all of them."""
    text = API.read_text("utf-8") if text is None else text
    # Examples have no lines that look like headings.
    sections = re.split(r"(?m)^(?=## |### )", text)
    names: dict[str, dict[str, None]] = {}
    queried: dict[str, dict[str, None]] = {}
    spid = False
    for section in sections:
        if section.startswith("## "):
            spid = section.startswith("## SPiD's API")
        spans = _SPAN.findall(section)
        words = {word: None for span in spans for word in _words(span)}
        for span in spans:
            if (path := _path(span, spid)) is not None:
                names.setdefault(path, {}).update(words)
                queried.setdefault(path, {}).update({word: None for span in spans for word in _IN_QUERY.findall(span)})
    return [Documented(path, tuple(words), tuple(queried[path])) for path, words in names.items()]


def _path(span: str, spid: bool) -> str | None:
    if (match := _ROUTE.fullmatch(span)) is not None:
        return None if match[1] in _PREFIXES else match[1]
    if spid and (match := _SPID_ROUTE.fullmatch(span)) is not None:
        return "/api/2/" + match[1]
    return None


def _words(span: str) -> list[str]:
    if _NAME.fullmatch(span):
        return [span]
    return _IN_QUERY.findall(span)
