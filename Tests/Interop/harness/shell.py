"""The shell commands of a page in docs/, run against a test's server."""

import json
import re
import subprocess

from harness.server import REPOSITORY, Server, binary

PUBLIC = "https://id.example"


def commands(page: str) -> list[str]:
    """The commands of a page, one each."""
    text = (REPOSITORY / "docs" / page).read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [command for block in blocks for command in re.split(r"\n(?=spindle |curl |$)", block) if command.strip()]


class Shell:
    """A reader's shell, in which $merchant, $client and $ADMIN have the reader's values."""

    def __init__(self, server: Server, folder, **variables: str):
        self.server = server
        self.variables = variables
        self.tools = folder / "bin"
        self.tools.mkdir()
        (self.tools / "spindle").symlink_to(binary().resolve())

    def run(self, command: str) -> str:
        """What the command prints; JSON where it is one of spindle's. It must succeed."""
        command = command.strip().replace(PUBLIC, self.server.origin)
        if command.startswith("curl "):
            command = command.replace("curl ", "curl -sS ", 1)
        if command.startswith("spindle "):
            command += " --json"
        environment = self.server.environment(PATH=f"{self.tools}:/usr/bin:/bin", **self.variables)
        done = subprocess.run(
            ["bash", "-c", "set -o pipefail\n" + command], capture_output=True, text=True, timeout=60,
            cwd=self.server.directory, env=environment,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def change(self, command: str) -> dict:
        """The document that administration answers. The members that the command sends must be in it."""
        answer = json.loads(self.run(command))
        sent = re.search(r" -d '(.*)'", command, re.DOTALL)
        for name, value in json.loads(sent[1]).items() if sent else ():
            assert answer.get(name) == value, (command, answer)
        return answer
