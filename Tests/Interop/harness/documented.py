"""The routes in docs/api, each with every word that may be the name of a parameter."""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "api"
PAGES = sorted(FOLDER.glob("*.md"))

_ROW = re.compile(r"\| ((?:`[A-Z]+`,? ?)+) \| `(/[^`]*)` \| ([^|]*) \| [^|]* \| \[[^]]*\]\(([^)]*)\) \|")
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


@dataclass(frozen=True)
class _Row:
    methods: frozenset[str]
    link: str


def _rows() -> dict[str, _Row]:
    """The paths of the table of endpoints. A path beside another has its methods and its section."""
    return {
        name: _Row(frozenset(_SPAN.findall(methods)), link)
        for methods, path, also, link in _ROW.findall((FOLDER / "README.md").read_text("utf-8"))
        for name in [path, *_SPAN.findall(also)]
    }


def listed() -> dict[str, frozenset[str]]:
    """The paths of the table of endpoints, with their methods."""
    return {path: row.methods for path, row in _rows().items()}


def documented() -> list[Documented]:
    """Every route, in the order of the table. It has the names of its section, and of those that mention it."""
    rows = _rows()
    named: dict[str, dict[str, None]] = {path: {} for path in rows}
    queried: dict[str, dict[str, None]] = {path: {} for path in rows}
    for page in PAGES:
        if page.name == "README.md":
            continue
        text = _EXAMPLE.sub("", page.read_text("utf-8"))
        heading = ""
        for section in re.split(r"(?m)^(?=##+ )", text):
            title = section.partition("\n")[0]
            if not title.startswith("###"):
                heading = f"{page.name}#{anchor(title)}"
            spans = _SPAN.findall(section)
            words = {word: None for span in spans for word in _words(span)}
            asked = {word: None for span in spans for word in _IN_QUERY.findall(span)}
            mentioned = {match[1] for span in spans if (match := _ROUTE.fullmatch(span))}
            links = {heading, f"{page.name}#{anchor(title)}"}
            for path in rows:
                if path in mentioned or rows[path].link in links:
                    named[path].update(words)
                    queried[path].update(asked)
    return [Documented(path, tuple(named[path]), tuple(queried[path])) for path in rows]


def anchor(title: str) -> str:
    """The anchor that a heading gets where Markdown is shown."""
    return re.sub(r"[^\w\- ]", "", title.lstrip("# ").lower()).replace(" ", "-")


def _words(span: str) -> list[str]:
    return [span] if _NAME.fullmatch(span) else _IN_QUERY.findall(span)
