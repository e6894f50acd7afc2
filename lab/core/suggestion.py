"""What somebody may have meant who typed a name that there is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_MOST = 3
"""Names that are suggested at most: with more of them one may as well look at the list."""

_LONGEST = 100
"""Characters from which on nobody has typed a name, but pasted a text."""

_BEGINNING = 3
"""Least characters that are taken as the beginning of a longer name."""


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """The names that are nearest to `name`, in their order: none where even these are far, at most three.

    A name is near where a few slips make it (a third of the characters; letters that changed places are one slip), or
    where what was typed begins it or one of its words. Case does not count, and `-`, `_` and blanks are the same.
    """
    folded_name = _folded(name)
    if not 1 < len(folded_name) <= _LONGEST:
        return []
    slips = {
        one: distance for one in dict.fromkeys(names) if (distance := _distance(folded_name, _folded(one))) is not None
    }
    least = min(slips.values(), default=None)
    nearest = [one for one, distance in slips.items() if distance == least]
    return nearest if len(nearest) <= _MOST else []


def _distance(name: str, candidate: str) -> float | None:
    """How far two folded names are from each other; None where one is no slip of the other."""
    from rapidfuzz.distance import OSA

    most = max(1, len(name) // 3)
    slips = OSA.distance(name, candidate, score_cutoff=most)
    if slips <= most:
        return slips
    if len(name) >= _BEGINNING and f"-{name}" in f"-{candidate}":
        return most + 1 - len(name) / len(candidate)
    return None


def _folded(name: str) -> str:
    return name.casefold().replace("_", "-").replace(" ", "-")


def there_are(names: Iterable[str]) -> str:
    """The sentence that lists what there is: `There are A, B and C.`"""
    *others, last = [*names] or ["nothing"]
    return f"There are {', '.join(others)} and {last}." if others else f"There is {last}."


def none_of(name: str, names: Iterable[str]) -> str:
    """What is wrong with a name that is none of those that there are: all of these, and which may have been meant."""
    choices = list(names)
    return f"{name!r} is none of {', '.join(choices)}{suggestion(name, choices)}"


def suggestion(name: str, names: Iterable[str]) -> str:
    """What a sentence on a name that there is not ends with: `; did you mean X?`, or nothing where none is near.

    The `names` must be such as whoever reads the sentence may know of.
    """
    return question(near_names(name, names))


def question(near: Sequence[str]) -> str:
    """Names that may have been meant as the end of a sentence: `; did you mean X or Y?`; nothing of none."""
    if not near:
        return ""
    *others, last = near
    return f"; did you mean {', '.join(others)}{' or ' if others else ''}{last}?"
