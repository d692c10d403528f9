"""Texts with `{word}` for a value: they are filled for a request, matched with an answer, and made from one."""

import json
import re
import textwrap
from collections.abc import Callable

_WORD = re.compile(r"(?<!\{)\{([a-z0-9_]+)\}(?!\})")
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
        if word not in self.fixed:
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
            return "{" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower() + "}"
        return re.sub(r"\b1[5-9]\d{8}\b", "{time}", re.sub(rf"\b{_MOMENTS['date']}\b", "{date}", actual))

    # JSON

    def match_json(self, expected, actual) -> bool:
        if isinstance(expected, dict) and isinstance(actual, dict):
            named = expected.keys() - {_REST}
            whole = named == actual.keys() if _REST not in expected else named <= actual.keys()
            return whole and all(self.match_json(expected[name], actual[name]) for name in named)
        if isinstance(expected, list) and isinstance(actual, list):
            named = expected[:-1] if expected[-1:] == [_REST] else expected
            whole = len(named) == len(actual) or named != expected and len(named) <= len(actual)
            return whole and all(map(self.match_json, named, self._ordered(named, actual)))
        if isinstance(expected, str) and expected.startswith(_MARK):
            return isinstance(actual, int) and self.match(expected[1:], str(actual))
        if isinstance(expected, str) and isinstance(actual, str):
            return self.match(expected, actual)
        return type(expected) is type(actual) and expected == actual

    def _ordered(self, expected: list, actual: list) -> list:
        """`actual`, its objects in the order in which they match: a set of keys has none."""
        rest, found = list(actual), []
        for item in expected:
            at = next((at for at, one in enumerate(rest) if isinstance(one, dict) and self.match_json(item, one)), 0)
            found.append(rest.pop(at))
        return found

    def describe_json(self, actual, name: str, expected=None):
        if isinstance(actual, dict):
            known = expected if isinstance(expected, dict) else {}
            shown = {
                key: self.describe_json(value, key, known.get(key))
                for key, value in actual.items() if _REST not in known or key in known
            }
            return shown | ({_REST: _REST} if _REST in known else {})
        if isinstance(actual, list):
            if isinstance(expected, list) and self.match_json(expected, actual):
                return expected
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
            if (word := self.describe(str(actual), name)) != str(actual):
                return _MARK + word
        return actual


def read_json(text: str):
    return json.loads(_NUMBER.sub(rf'"\\u0001{{\1}}"', text))


def written_json(value, indent: str = "", before: int = 0) -> str:
    """JSON on one line if it fits behind `before` characters, otherwise on lines for its members or items."""
    line = re.sub(r'"\\u0001(\{\w+\})"', r"\1", json.dumps(value, ensure_ascii=False))
    if len(indent + line) + before <= WIDTH or not isinstance(value, dict | list):
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        names = [json.dumps(key, ensure_ascii=False) + ": " for key in value]
        items = [name + written_json(item, inner, len(name)) for name, item in zip(names, value.values())]
    else:
        items = [written_json(item, inner) for item in value]
        if not any(isinstance(item, dict | list) for item in value):
            items = textwrap.wrap(", ".join(items), WIDTH - len(inner), break_long_words=False, break_on_hyphens=False)
            items = [item.removesuffix(",") for item in items]
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    return f"{opened}\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}{closed}"
