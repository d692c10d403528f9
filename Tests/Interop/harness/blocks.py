"""The pages that users read: README.md and docs, with the code in their fenced blocks."""

import re
from dataclasses import dataclass
from pathlib import Path

from harness.server import REPOSITORY

_HEADING = re.compile(r"#+ (.+)")
_FENCE = re.compile(r" *```(\w*)")
_SAVED = re.compile(r"[Ss]ave (?:it|this) as `([^`]+)`")


@dataclass(frozen=True)
class Block:
    """A fenced block, and what the line before it tells the reader to do with it."""

    page: str
    line: int
    heading: str
    language: str
    text: str
    is_in_walk: bool
    before: str

    @property
    def file(self) -> str | None:
        """The file that the reader makes of it."""
        found = _SAVED.findall(self.before)
        return found[-1] if found else None

    @property
    def keeps_running(self) -> bool:
        """Whether its command is a server, which the reader leaves running."""
        return "leave it running" in self.before or self.text.startswith("spindle serve --dev")

    def __str__(self) -> str:
        return f"{self.page}:{self.line} ({self.language}, {self.heading})"


def pages() -> list[str]:
    return ["README.md", *sorted(str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "docs").rglob("*.md"))]


def blocks(page: str | Path) -> list[Block]:
    """The fenced blocks of a page, in their order."""
    path = REPOSITORY / page
    found: list[Block] = []
    heading, before, walk = "", "", False
    lines = iter(enumerate(path.read_text("utf-8").splitlines(), 1))
    for number, line in lines:
        if match := _FENCE.fullmatch(line):
            indentation = len(line) - len(line.lstrip())
            content: list[str] = []
            for _, line in lines:
                if line.strip() == "```":
                    break
                content.append(line[indentation:])
            text = "\n".join([*content, ""])
            name = str(path.relative_to(REPOSITORY))
            found.append(Block(name, number, heading, match[1], text, walk, before.strip()))
            before = ""
        elif line.startswith("<!--"):
            walk = {"<!-- walk -->": True, "<!-- /walk -->": False}.get(line, walk)
        elif match := _HEADING.fullmatch(line):
            heading, before = match[1], ""
        elif line:
            before += line + "\n"
        elif not before.endswith(":\n"):
            # Another paragraph: what precedes a block is one paragraph.
            before = ""
    return found
