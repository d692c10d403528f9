"""Reads an strace of the server: was the log on disk before the response was sent?"""

import re
from dataclasses import dataclass

# A thread number, then a complete call, its beginning, or its end.
LINE = re.compile(r"^(?P<thread>\d+)\s+(?P<rest>.*)$")
CALL = re.compile(r"^(?P<name>\w+)\((?P<fd>\d+)<(?P<path>[^>]*)>(?P<arguments>.*)$")
RESUMED = re.compile(r"^<\.\.\. (?P<name>\w+) resumed>(?P<arguments>.*)$")
RESULT = re.compile(r"= (?P<result>-?\d+)[^=]*$")

READS = {"read", "readv", "recvfrom", "recvmsg"}
WRITES = {"write", "writev", "sendto", "sendmsg"}
SYNCS = {"fdatasync", "fsync"}
CALLS = ",".join(sorted(READS | WRITES | SYNCS | {"pwrite64", "pwritev", "pwritev2"}))


@dataclass(frozen=True)
class Event:
    """A call: the line on which it began, the line on which it returned, and what it did."""

    began: int
    returned: int
    name: str
    fd: int
    path: str
    arguments: str
    result: int


def events(text: str) -> list[Event]:
    """The calls of a trace, in the order in which they returned, without calls that never returned."""
    found: list[Event] = []
    open_calls: dict[str, tuple[int, re.Match, str]] = {}
    for number, line in enumerate(text.splitlines()):
        if not (parsed := LINE.match(line)):
            continue
        thread, rest = parsed["thread"], parsed["rest"]
        if resumed := RESUMED.match(rest):
            if thread not in open_calls:
                continue
            began, call, arguments = open_calls.pop(thread)
            arguments += resumed["arguments"]
        elif call := CALL.match(rest):
            if rest.endswith("<unfinished ...>"):
                open_calls[thread] = (number, call, call["arguments"])
                continue
            began, arguments = number, call["arguments"]
        else:
            continue
        result = RESULT.search(arguments)
        found.append(
            Event(
                began, number, call["name"], int(call["fd"]), call["path"], arguments,
                int(result["result"]) if result else -1,
            )
        )
    return found


@dataclass(frozen=True)
class Exchange:
    """A request as it was read and the beginning of its response, on one connection."""

    read: Event
    answer: Event


def exchanges(trace: list[Event], request: str = "POST /oauth/", status: str = "HTTP/1.1 200") -> list[Exchange]:
    """Requests that begin with `request` and were answered with `status`."""
    found: list[Exchange] = []
    waiting: dict[int, Event] = {}
    for event in trace:
        if event.name in READS and request in event.arguments and event.result > 0:
            waiting[event.fd] = event
        elif event.name in WRITES and "HTTP/1.1 " in event.arguments:
            read = waiting.pop(event.fd, None)
            if read and status in event.arguments:
                found.append(Exchange(read, event))
    return found


def unsynced(trace: list[Event], asked: list[Exchange]) -> list[Exchange]:
    """
    The exchanges answered too early. The log must be written after the request was read, and a sync of it must begin
    after that and return before the response is sent.
    """
    logged = [event for event in trace if event.name.startswith("pwrite") and event.path.endswith("-wal")]
    synced = [event for event in trace if event.name in SYNCS and event.path.endswith("-wal") and event.result == 0]
    early = []
    for exchange in asked:
        written = [write for write in logged if exchange.read.returned < write.returned]
        since = written[0].returned if written else exchange.answer.began
        if not any(since < sync.began and sync.returned < exchange.answer.began for sync in synced):
            early.append(exchange)
    return early
