"""The folder that gets one .eml file a message, read as a mail program reads it."""

import email
import email.policy
import html
import re
import time
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

PATIENCE = 20


@dataclass(frozen=True)
class Mail:
    message: EmailMessage

    @property
    def subject(self) -> str:
        return self.message["Subject"]

    @property
    def text(self) -> str:
        return self.message.get_body(("plain",)).get_content()

    @property
    def html(self) -> str:
        return self.message.get_body(("html",)).get_content()

    @property
    def html_text(self) -> str:
        """The readable text of the HTML."""
        return html.unescape(re.sub(r"<[^>]*>", "", self.html))

    @property
    def code(self) -> str:
        [code] = set(re.findall(r"(?<![\w-])\d{6}(?![\w-])", self.text))
        assert code in self.html, self.html
        return code

    @property
    def link(self) -> str:
        """The first address in the text, which must be in the HTML too."""
        links = re.findall(r"https?://[^\s<>]+", self.text)
        assert links, self.text
        assert links[0].replace("&", "&amp;") in self.html, f"{links[0]} is not in\n{self.html}"
        return links[0]


class Outbox:
    def __init__(self, folder: Path):
        self.folder = folder

    def to(self, address: str) -> list[Mail]:
        """The mails to `address`, oldest first."""
        files = sorted(self.folder.glob("*.eml"), key=lambda file: (file.stat().st_mtime_ns, file.name))
        messages = [email.message_from_bytes(file.read_bytes(), policy=email.policy.default) for file in files]
        return [Mail(message) for message in messages if address in str(message["To"])]

    def wait_for(self, address: str, count: int = 1) -> Mail:
        """The mail number `count` to `address`; mails are sent soon after the page that announces them."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if len(mails := self.to(address)) >= count:
                return mails[count - 1]
            time.sleep(0.05)
        raise AssertionError(f"{len(self.to(address))} of {count} mails to {address} after {PATIENCE} s")
