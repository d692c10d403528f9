"""The documents of the repository, as their readers see them."""

import os
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from harness.server import REPOSITORY

_CODE = re.compile(r"(?ms)^[ \t]*```.*?^[ \t]*```$")
_TAG = re.compile(r"(?s)<!--.*?-->|<[^<>]*>")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]*)\)")
_SOURCE = re.compile(r'(?:src|srcset)="([^"]*)"')
# A list item, a heading: each begins a text that ends with it.
_BEGIN = re.compile(r"(?m)^[ \t]*(?:\* |- |\d+\. |#+ |> )")
_END = re.compile(r"(?<=[.!?])[*)”\"]*(?= |$)")
_HEADING = re.compile(r"(?m)^#+ (.*)$")


@dataclass(frozen=True)
class Page:
    """A document, by its path from the root."""

    path: str
    text: str

    def __str__(self) -> str:
        return self.path

    def sentences(self) -> list[str]:
        """Those of prose, of list items and of table cells: without code blocks, tags and the addresses of links."""
        text = _LINK.sub(r"\1", _TAG.sub("", _CODE.sub("\n\n", self.text)))
        found: list[str] = []
        for paragraph in re.split(r"\n[ \t]*\n", _BEGIN.sub("\n\n", text)):
            is_table = paragraph.lstrip().startswith("|")
            for part in re.split(r"\||\n", paragraph) if is_table else [paragraph]:
                found += [sentence.strip() for sentence in _END.split(" ".join(part.split())) if sentence.strip()]
        return found

    def links(self) -> list[tuple[str, str]]:
        """The files of the repository that it links to, by their paths from the root, each with a heading or ""."""
        text = _CODE.sub("", self.text)
        targets = [target for _, target in _LINK.findall(text)] + _SOURCE.findall(text)
        split = [target.partition("#") for target in targets if not re.match(r"[a-z]+:", target)]
        return [(self._located(path) if path else self.path, heading) for path, _, heading in split]

    def headings(self) -> set[str]:
        """The names by which a link finds its headings."""
        found: dict[str, int] = {}
        for heading in _HEADING.findall(_CODE.sub("", self.text)):
            name = re.sub(r"[^\w\- ]", "", _LINK.sub(r"\1", heading).lower()).replace(" ", "-")
            found[name] = found.get(name, -1) + 1
        return {name if again == 0 else f"{name}-{again}" for name, last in found.items() for again in range(last + 1)}

    def _located(self, target: str) -> str:
        return os.path.normpath(PurePosixPath(self.path).parent / target)


def pages() -> list[Page]:
    """The README, the other pages beside it, and all of docs and deploy."""
    files = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md"), *(REPOSITORY / "deploy").rglob("*.md")]
    return [Page(str(file.relative_to(REPOSITORY)), file.read_text("utf-8")) for file in sorted(files)]
