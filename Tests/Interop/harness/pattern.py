"""Texts with `{word}` for a value: they are filled for a request, matched with an answer, and made from one."""

import json
import re
from collections.abc import Callable

_WORD = re.compile(r"\{([a-z0-9_]+)\}")
# A word that stands for a number in JSON is marked, and remains one.
_NUMBER = re.compile(r"(?<=[\s\[:,])\{([a-z0-9_]+)\}(?=[\s,\]}])")
_MARK = "\u0001"
_REST = "…"
_MOMENTS = {"time": r"\d+", "date": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"}
_RANDOM = re.compile(r"(?=.*\d)[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]*)*|\d{12,}")
WIDTH = 112


class Values:
    """What the words stand for: `fixed` holds throughout, or is made when it is first needed; answers tell the rest."""

    def __init__(self, fixed: dict[str, str | Callable[[], str]]):
        self.fixed = fixed
        self.told: dict[str, str] = {}

    def __getitem__(self, word: str) -> str:
        if word in self.told:
            return self.told[word]
        if callable(value := self.fixed[word]):
            self.fixed[word] = value = value()
        return value

    def fill(self, text: str) -> str:
        return _WORD.sub(lambda match: self[match[1]], text)

    def match(self, expected: str, actual: str) -> bool:
        """Whether `actual` has the form of `expected`. The words that it is the first to tell are kept."""
        seen: set[str] = set()

        def pattern(match: re.Match) -> str:
            word = match[1]
            if word in _MOMENTS:
                return _MOMENTS[word]
            if word in self.fixed:
                return re.escape(self[word])
            if word in seen:
                return f"(?P={word})"
            seen.add(word)
            return f"(?P<{word}>.+?)"

        pieces, end = [], 0
        for match in _WORD.finditer(expected):
            pieces += [re.escape(expected[end:match.start()]), pattern(match)]
            end = match.end()
        found = re.fullmatch("".join(pieces) + re.escape(expected[end:]), actual, re.DOTALL)
        if found:
            self.told |= found.groupdict()
        return found is not None

    def describe(self, actual: str, name: str, expected: object = None) -> str:
        """`actual` with words, those of `expected` where it matches."""
        if isinstance(expected, str) and _WORD.search(expected) and self.match(expected, actual):
            return expected
        known = {value: word for word, value in self.fixed.items() if isinstance(value, str)}
        known |= {value: word for word, value in self.told.items()}
        for value in sorted(known, key=len, reverse=True):
            if actual == value or len(value) >= 8 and value in actual:
                actual = actual.replace(value, f"{{{known[value]}}}")
        if _RANDOM.fullmatch(actual):
            return f"{{{name}}}"
        return "{date}" if re.fullmatch(_MOMENTS["date"], actual) else actual

    # JSON

    def match_json(self, expected, actual) -> bool:
        if isinstance(expected, dict) and isinstance(actual, dict):
            named = expected.keys() - {_REST}
            whole = named == actual.keys() if _REST not in expected else named <= actual.keys()
            return whole and all(self.match_json(expected[name], actual[name]) for name in named)
        if isinstance(expected, list) and isinstance(actual, list):
            named = expected[:-1] if expected[-1:] == [_REST] else expected
            whole = len(named) == len(actual) or named != expected and len(named) <= len(actual)
            return whole and all(map(self.match_json, named, actual))
        if isinstance(expected, str) and expected.startswith(_MARK):
            return isinstance(actual, int) and self.match(expected[1:], str(actual))
        if isinstance(expected, str) and isinstance(actual, str):
            return self.match(expected, actual)
        return type(expected) is type(actual) and expected == actual

    def describe_json(self, actual, name: str, expected=None):
        if isinstance(actual, dict):
            known = expected if isinstance(expected, dict) else {}
            shown = {
                key: self.describe_json(value, key, known.get(key))
                for key, value in actual.items() if _REST not in known or key in known
            }
            return shown | ({_REST: _REST} if _REST in known else {})
        if isinstance(actual, list):
            known = expected if isinstance(expected, list) else []
            is_open = known[-1:] == [_REST]
            shown = actual[:len(known) - 1] if is_open else actual
            known = known + [None] * len(shown)
            return [self.describe_json(value, name, known[at]) for at, value in enumerate(shown)] + [_REST] * is_open
        if isinstance(actual, str):
            return self.describe(actual, name, expected)
        if isinstance(actual, int) and not isinstance(actual, bool):
            if isinstance(expected, str) and expected.startswith(_MARK):
                return expected
            if actual > 1_500_000_000:
                return _MARK + "{time}"
            if (word := self.describe(str(actual), name)) != str(actual):
                return _MARK + word
        return actual


def read_json(text: str):
    return json.loads(_NUMBER.sub(rf'"\\u0001{{\1}}"', text))


def written_json(value, indent: str = "") -> str:
    """JSON on one line if it fits, otherwise with a member or an item a line."""
    line = json.dumps(value, ensure_ascii=False)
    line = re.sub(r'"\\u0001(\{\w+\})"', r"\1", line)
    if len(indent + line) <= WIDTH or not isinstance(value, dict | list):
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        items = [f"{json.dumps(key, ensure_ascii=False)}: {written_json(item, inner)}" for key, item in value.items()]
    else:
        items = [written_json(item, inner) for item in value]
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    return f"{opened}\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}{closed}"
