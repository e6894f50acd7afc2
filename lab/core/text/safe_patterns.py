"""Regular expressions from strangers that cannot hang, because each reads only as much text as its backtracking allows.

Python's `re` backtracks and cannot be interrupted. Before an expression is used, the number of ways it can take through
N characters is bounded from above by its parts. It then reads only as many characters as need at most `STEPS` counted
steps. An expression that could not read even `LEAST` characters is refused.

Other engines change or risk more. In google-re2 (linear time) `\\w`, `\\d`, `\\s` and `\\b` know ASCII alone, so that
expressions for Chinese text stop matching, and backreferences and look-around are missing. The module `regex` (with a
time limit) has none while it compiles: 30 characters filled 2.3 GB there. What matches within a time limit depends on
the machine, too, and a script's replies must not.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

STEPS = 200_000_000
"""Counted steps of one search. In practice most ways end early. The worst known searches take some seconds."""
LEAST = 40
"""Minimum number of characters that an expression must be able to read."""
MOST = 1_000_000
"""Maximum number of characters that any expression reads."""
LONGEST = 1_000
"""Maximum length of an expression in characters."""

# Private, but the only parser of Python's syntax that is not deprecated (`sre_parse` is).
_parser: Any = importlib.import_module("re._parser")
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_SINGLE = ("LITERAL", "NOT_LITERAL", "ANY", "IN")
_ROUND_COST = 16
"""Cost factor of each round of a repeat whose body is more than one character."""
_LOOK_AHEAD = 8
"""Number of following parts to inspect."""
_UNLIMITED = 65_000
"""Upper bound of a repeat from which it counts as unlimited."""

Part = tuple[Any, Any]
"""One part of a parsed expression: its opcode and its argument."""
_OTHER: Part = ("OTHER", None)
"""A following part that may begin with anything."""
_END: Part = ("END", None)
"""The end of a whole match, after which nothing is tried again."""


class UnsafePattern(ValueError):
    """Raised for an unsafe or invalid expression. Its text is the end of a sentence with the reason."""


class Pattern(NamedTuple):
    """A compiled expression, and the number of leading characters of a text that it reads."""

    compiled: re.Pattern[str]
    reads: int

    def matches(self, text: str) -> bool:
        """Return True if it matches anywhere in the part of the text that it reads."""
        return self.compiled.search(text, 0, self.reads) is not None

    def find_all(self, text: str) -> list[str]:
        """Return every match in the part of the text that it reads."""
        return [one[0] for one in self.compiled.finditer(text, 0, self.reads)]

    def replace(self, text: str, by: str, count: int = 0) -> str:
        """Return a text with the matches in the part that it reads replaced."""
        return self.compiled.sub(by, text[: self.reads], count=count) + text[self.reads :]


@lru_cache(maxsize=512)
def compile_pattern(expression: str, *, any_case: bool = False) -> Pattern:
    """Compile a stranger's expression. Raise `UnsafePattern` if it is invalid or backtracks too much."""
    flags = re.IGNORECASE if any_case else 0
    if len(expression) > LONGEST:
        raise UnsafePattern(f"is longer than the {LONGEST:,} characters of a regular expression")
    try:
        compiled = re.compile(expression, flags)
        ways = _sequence_ways(list(_parser.parse(expression, flags)), (_END,))
    except (re.error, OverflowError) as error:
        raise UnsafePattern(f"is no regular expression ({error})") from error
    except RecursionError as error:
        raise UnsafePattern("is no regular expression (it is nested too deep)") from error
    if not ways.fits(LEAST):
        raise UnsafePattern("repeats within repeats, or too many in a row: on some texts it would never end")
    return Pattern(compiled, _longest_read(ways))


class _Ways(NamedTuple):
    """The ways in which a part can match from one position: `choices` for each choice of the lengths of `free` repeats.

    `steps` bounds the cost of one way without its repeats. `runs` is true if some repeat is unlimited but can end in
    only one place.
    """

    choices: int = 1
    free: int = 0
    steps: int = 1
    runs: bool = False

    def fits(self, length: int) -> bool:
        """Return True if a search through `length` characters needs at most `STEPS` steps."""
        # The number of ways to choose `degree` lengths that sum to at most `length`.
        degree = self.free + self.runs + 1
        return max(self.steps, 1) * self.choices * comb(length + degree, degree) <= STEPS

    def followed_by(self, other: _Ways) -> _Ways:
        return _cap_ways(
            self.choices * other.choices, self.free + other.free, self.steps + other.steps, self.runs or other.runs
        )


def _cap_ways(count: int, free: int, steps: int, runs: bool) -> _Ways:
    # Capped, because the products grow exponentially.
    return _Ways(min(count, STEPS + 1), min(free, 64), min(steps, STEPS + 1), runs)


def _longest_read(ways: _Ways) -> int:
    low, high = LEAST, MOST
    # Binary search: the cost never falls with the length.
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if ways.fits(middle) else (low, middle - 1)
    return low


def _sequence_ways(parts: Sequence[Part], after: tuple[Part, ...]) -> _Ways:
    """Return the ways of parts in sequence. `after` are the parts that follow, empty if the match is complete."""
    flat = _flatten(parts)
    whole, since = _Ways(steps=0), list[_CharacterSet | None]()
    for at, part in enumerate(flat):
        rest = (*flat[at + 1 :], *after)
        # The look-ahead is bounded, so that long expressions are checked fast.
        ways = _part_ways(part, rest if len(rest) <= _LOOK_AHEAD else (*rest[:_LOOK_AHEAD], _OTHER))
        if str(part[0]) in _SINGLE:
            since.append(_first_characters((part,)))
        elif str(part[0]) != "AT":
            if ways.runs and not ways.free and _begins_outside(part, since):
                ways = ways._replace(runs=False, steps=ways.steps + whole.steps * len(since))
            since = []
        whole = whole.followed_by(ways)
    return whole


def _begins_outside(part: Part, since: Sequence[_CharacterSet | None]) -> bool:
    """Return True if a character before a repeat is not one of its own, so that it never restarts within itself."""
    if str(part[0]) not in _REPEATS or len(part[1][2]) != 1:
        return False
    own = _first_characters((*part[1][2], _OTHER))
    return any(_are_disjoint(one, own) for one in since)


def _flatten(parts: Sequence[Part]) -> list[Part]:
    """Return the parts with plain groups replaced by their content."""
    flat_parts: list[Part] = []
    for kind, value in parts:
        plain = str(kind) == "SUBPATTERN" and not value[1] and not value[2]
        flat_parts += _flatten(value[3]) if plain else [(kind, value)]
    return flat_parts


def _part_ways(part: Part, after: tuple[Part, ...]) -> _Ways:
    kind, value = str(part[0]), part[1]
    if kind in _REPEATS:
        least, most, body = value
        return _repeat_ways(kind, int(least), int(most), list(body), after)
    if kind == "SUBPATTERN":
        flags = value[1] or value[2]  # (?i:...): what stands in it and what follows are not compared
        return _sequence_ways(value[3], (_OTHER,) if flags else after)
    if kind == "BRANCH":
        return _branch_ways(value[1], after)
    if kind == "GROUPREF_EXISTS":
        return _branch_ways([value[1], value[2] or []], (_OTHER,))
    if kind in ("ASSERT", "ASSERT_NOT"):
        return _sequence_ways(value[1], ())
    if kind == "ATOMIC_GROUP":
        return _sequence_ways(value, ())
    return _Ways(free=1) if kind == "GROUPREF" else _Ways()


def _branch_ways(parts: Sequence[Sequence[Part]], after: tuple[Part, ...]) -> _Ways:
    """Return the ways of alternatives: the sum, or the maximum if no two begin with the same character."""
    ways = [_sequence_ways(one, after) for one in parts]
    firsts = [_first_characters((*one, *after)) for one in parts]
    apart = len(parts) <= 100 and all(_are_disjoint(a, b) for a, b in combinations(firsts, 2))
    counts = [one.choices for one in ways]
    free, runs = max(one.free for one in ways), any(one.runs for one in ways)
    return _cap_ways(max(counts) if apart else sum(counts), free, sum(one.steps for one in ways), runs)


def _repeat_ways(kind: str, least: int, most: int, body: Sequence[Part], after: tuple[Part, ...]) -> _Ways:
    again = (*body, *after) if most > 1 else after
    one = _sequence_ways(body, (_OTHER,) if most > 1 and len(body) != 1 else again)
    simple = one.choices == 1 and not one.free
    last = after[:1] == (_END,)
    # A repeat has only one end if nothing is tried behind it, or if what follows cannot begin with its characters.
    ended = (
        kind == "POSSESSIVE_REPEAT"
        or not after
        or last
        or (simple and _are_disjoint(_first_characters(tuple(body)), _first_characters(after)))
    )
    one = one._replace(steps=one.steps * (1 if len(body) == 1 and str(body[0][0]) in _SINGLE else _ROUND_COST))
    steps = max(least, 1) * one.steps
    if most > _UNLIMITED:
        if not simple and not (kind == "POSSESSIVE_REPEAT" and len(body) == 1):
            # An unlimited repeat of repeats takes exponentially many ways.
            return _Ways(STEPS + 1)
        return _cap_ways(1, 0 if ended else 1, steps, (ended and not last) or one.runs)
    if simple:
        return _cap_ways(1 if ended else most - least + 1, 0, most * one.steps, one.runs)
    ways = min(one.choices, STEPS + 1) ** min(most, 64) * (most - least + 1)
    return _cap_ways(ways, one.free * most, most * one.steps, one.runs)


class _CharacterSet(NamedTuple):
    """Characters with which a part may begin: these and those of these classes, or all others."""

    others: bool
    characters: frozenset[str]
    classes: frozenset[str]


_NOTHING = _CharacterSet(False, frozenset(), frozenset())
_ALL = _CharacterSet(True, frozenset(), frozenset())
_DISJOINT_CLASSES = {
    frozenset(pair.split())
    for pair in ("DIGIT SPACE", "WORD SPACE", "SPACE NOT_SPACE", "DIGIT NOT_DIGIT", "WORD NOT_WORD", "DIGIT NOT_WORD")
}
"""Pairs of classes that share no character."""
_CLASS_TESTS: dict[str, Callable[[str], bool]] = {
    "DIGIT": str.isdecimal, "SPACE": str.isspace, "WORD": lambda char: char.isalnum() or char == "_",
}  # fmt: skip


def _first_characters(parts: tuple[Part, ...]) -> _CharacterSet | None:
    """Return the characters with which parts may begin, or None if unknown."""
    if not parts:
        return None
    (kind, value), rest = parts[0], parts[1:]
    match str(kind):
        case "LITERAL":
            return _parse_set([(kind, value)])
        case "NOT_LITERAL":
            return _CharacterSet(True, frozenset(chr(value)), frozenset())
        case "ANY":
            return _ALL
        case "IN":
            return _parse_set(value)
        case "AT" if str(value) in ("AT_END", "AT_END_STRING"):
            return _NOTHING
        case "SUBPATTERN" if not value[1] and not value[2]:
            return _first_characters((*value[3], *rest))
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            first = _first_characters((*value[2], _OTHER))
            return first if value[0] else _union(first, _first_characters(rest))
    return None


def _parse_set(items: Sequence[Part]) -> _CharacterSet | None:
    characters: set[str] = set()
    classes: set[str] = set()
    others = bool(items) and str(items[0][0]) == "NEGATE"
    for kind, value in items[1:] if others else items:
        if str(kind) == "LITERAL":
            characters.add(chr(value))
        # Larger ranges are not listed. Their set counts as unknown.
        elif str(kind) == "RANGE" and value[1] - value[0] < 256:
            characters |= set(map(chr, range(value[0], value[1] + 1)))
        elif str(kind) == "CATEGORY":
            classes.add(str(value).removeprefix("CATEGORY_"))
        else:
            return None
    return _CharacterSet(others, frozenset(characters), frozenset(classes))


def _union(one: _CharacterSet | None, other: _CharacterSet | None) -> _CharacterSet | None:
    if one is None or other is None or one.others or other.others:
        return None
    return _CharacterSet(False, one.characters | other.characters, one.classes | other.classes)


def _are_disjoint(one: _CharacterSet | None, other: _CharacterSet | None) -> bool:
    """Return True if two sets share no character in any case."""
    if one is None or other is None or (one.others and other.others):
        return False
    if one.others or other.others:
        excluded, included = (one, other) if one.others else (other, one)
        return included.characters <= excluded.characters and included.classes <= excluded.classes
    if not (_has_simple_case(one) and _has_simple_case(other)) or {c.lower() for c in one.characters} & {
        c.lower() for c in other.characters
    }:
        return False
    if any(frozenset((a, b)) not in _DISJOINT_CLASSES for a in one.classes for b in other.classes):
        return False
    pairs = [(name, char) for a, b in ((one, other), (other, one)) for name in a.classes for char in b.characters]
    return not any(_in_class(name, char) for name, char in pairs)


def _in_class(name: str, char: str) -> bool:
    base = _CLASS_TESTS[name.removeprefix("NOT_")](char)
    return not base or not char.isascii() if name.startswith("NOT_") else base


def _has_simple_case(one: _CharacterSet) -> bool:
    """Return True if no letter of a set has case variants beyond ASCII, where one may match several."""
    return all(char.isascii() or char.lower() == char.upper() for char in one.characters)
