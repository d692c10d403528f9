"""The code of README.md and docs that no test runs, each with the reason."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from harness.blocks import Block


@dataclass(frozen=True)
class Row:
    """Blocks by page, heading and languages, each with `*` for any, and a language after `-` for any other; and what is
    to be known of them."""

    page: str
    heading: str
    languages: str
    about: str

    def holds_for(self, block: Block) -> bool:
        return (
            fnmatchcase(block.page, self.page) and fnmatchcase(block.heading, self.heading)
            and (self.languages == "*" or block.language in self.languages.split()
                 or self.languages.startswith("-") and self.languages != f"-{block.language}"))

    def __str__(self) -> str:
        return f"{self.page}, {self.heading}, {self.languages}"


# What a block prints or shows. Where it is the answer to a command, the test that runs the command compares it.
OUTPUT = ("text", "mermaid", "")

OF_A_LIBRARY = "needs a library or a system that is not here; the page says what was tried"
LONG = "takes minutes or hours; its figures are kept in the repository, and compared with the page"

NOT_RUN = [
    Row("docs/with-*.md", "*", "-sh", OF_A_LIBRARY),
    Row("docs/guide-appauth.md", "*", "swift kotlin", OF_A_LIBRARY),
    Row("docs/guide-auth0-sdks.md", "3. The apps", "swift kotlin js", OF_A_LIBRARY),
    Row("docs/guide-apple.md", "In an app", "swift", OF_A_LIBRARY),
    Row("docs/guide-ditto.md", "What to paste where", "js", OF_A_LIBRARY),
    Row("docs/guide-sync-gateway.md", "In five minutes", "bash", OF_A_LIBRARY),
    Row("docs/guide-sync-gateway.md", "Without Sync Gateway's help", "http", OF_A_LIBRARY),
    Row("docs/example-spid/README.md", "What happens", "swift", OF_A_LIBRARY),
    Row("docs/guide-import.md", "Where the export comes from", "sh python", "reads another system's users"),
    Row("docs/operating.md", "Install", "sh", "changes the machine; Tests/run and Tests/long install and build so"),
    Row("docs/operating.md", "TLS, or a proxy", "sh", "listens at all addresses; test_tls.py serves at this machine's"),
    Row("docs/operating.md", "Text messages", "json", "what a gateway gets, which the tests of text messages read"),
    Row("docs/performance.md", "How to repeat it", "sh", LONG),
    Row("docs/security/README.md", "To add a row", "sh", "is itself a test"),
    # As a whole: it has a runner of its own.
    Row("docs/api/*", "*", "*", "Tests/Interop/test_reference.py sends its requests and compares the answers"),
]


def reason(block: Block) -> str | None:
    """Why no test runs the block."""
    if installed(block):
        return "installs what Tests/Interop/requirements.txt pins, which is there already"
    return next((row.about for row in NOT_RUN if row.holds_for(block)), None)


def installed(block: Block) -> list[str]:
    """The Python packages that the block installs."""
    return [name for names in re.findall(r"(?m)^pip install (.+)$", block.text) for name in names.split()]
