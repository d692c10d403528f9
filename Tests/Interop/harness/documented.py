"""The routes in docs/api, each with every word that may be the name of a parameter."""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "api"
PAGES = sorted(FOLDER.glob("*.md"))

_ROW = re.compile(r"\| ((?:`[A-Z]+`,? ?)+) \| `(/[^`]*)` \| ([^|]*) \|")
_SPAN = re.compile(r"`([^`\n]+)`")
_ROUTE = re.compile(r"(?:[A-Z]+ )?(/[^\s?]*)(?:\?.*)?")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:\[\])?")
_IN_QUERY = re.compile(r"[?&]([A-Za-z0-9_]+)=")
_EXAMPLE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Documented:
    """A path as the document writes it, with its placeholders, and the names in its sections."""

    path: str
    names: tuple[str, ...]
    # Those of the names that occur in a query: `?limit=`.
    queried: tuple[str, ...] = ()


def listed() -> dict[str, set[str]]:
    """The paths of the table of endpoints, with their methods. A path beside another has its methods."""
    found: dict[str, set[str]] = {}
    for methods, path, also in _ROW.findall((FOLDER / "README.md").read_text("utf-8")):
        for name in [path, *re.findall(r"`(/[^`]*)`", also)]:
            found.setdefault(name, set()).update(_SPAN.findall(methods))
    return found


def documented() -> list[Documented]:
    """Every route, in the order of the table. A route in several sections has the names of all of them."""
    names: dict[str, dict[str, None]] = {path: {} for path in listed()}
    queried: dict[str, dict[str, None]] = {path: {} for path in names}
    for page in PAGES:
        for section in re.split(r"(?m)^(?=##+ )", _EXAMPLE.sub("", page.read_text("utf-8"))):
            spans = _SPAN.findall(section)
            words = {word: None for span in spans for word in _words(span)}
            for path in {match[1] for span in spans if (match := _ROUTE.fullmatch(span))} & names.keys():
                names[path].update(words)
                queried[path].update({word: None for span in spans for word in _IN_QUERY.findall(span)})
    return [Documented(path, tuple(words), tuple(queried[path])) for path, words in names.items()]


def _words(span: str) -> list[str]:
    return [span] if _NAME.fullmatch(span) else _IN_QUERY.findall(span)
