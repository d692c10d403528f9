"""The code blocks of README.md and docs that no test runs, each with the reason."""

from harness.blocks import Block

INSTALLED = "installs the packages that Tests/Interop/requirements.txt pins, which is where the test has them from"

# A page and a heading of it, with the beginning of the block where others below the heading are run.
NOT_RUN: dict[tuple[str, str], str] = {}


def reason(block: Block) -> str | None:
    """Why no test runs the block."""
    if block.language == "sh" and "\npip install " in block.text:
        return INSTALLED
    return NOT_RUN.get((block.page, block.heading))
