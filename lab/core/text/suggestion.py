"""Suggest the name that a person may have meant when they typed an unknown one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_MOST = 3
"""Maximum number of suggested names. With more, the whole list is as helpful."""

_LONGEST = 100
"""Maximum length of a typed name. A longer text was pasted."""

_BEGINNING = 3
"""Minimum length of a prefix of a longer name."""


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """Return the names nearest to `name`, in their order: at most three, none if all are far.

    A name is near if a few slips turn one into the other (a third of the characters, swapped letters being one slip),
    or if `name` begins it or one of its words. Case does not count, and `-`, `_` and blanks are equal.
    """
    folded_name = _fold_name(name)
    if not 1 < len(folded_name) <= _LONGEST:
        return []
    slips = {
        one: distance
        for one in dict.fromkeys(names)
        if (distance := _distance(folded_name, _fold_name(one))) is not None
    }
    least = min(slips.values(), default=None)
    nearest = [one for one, distance in slips.items() if distance == least]
    return nearest if len(nearest) <= _MOST else []


def _distance(name: str, candidate: str) -> float | None:
    """Return the distance of two folded names, or None if it is too large."""
    # Imported late, because `hitlab --help` must not load it.
    from rapidfuzz.distance import OSA

    most = max(1, len(name) // 3)
    slips = OSA.distance(name, candidate, score_cutoff=most)
    if slips <= most:
        return slips
    # A beginning ranks behind every slip, and the more of the candidate it covers the nearer it is.
    if len(name) >= _BEGINNING and f"-{name}" in f"-{candidate}":
        return most + 1 - len(name) / len(candidate)
    return None


def _fold_name(name: str) -> str:
    return name.casefold().replace("_", "-").replace(" ", "-")


def list_sentence(names: Iterable[str]) -> str:
    """Return the sentence that lists the names: `There are A, B and C.`"""
    *others, last = [*names] or ["nothing"]
    return f"There are {', '.join(others)} and {last}." if others else f"There is {last}."


def unknown_name(name: str, names: Iterable[str]) -> str:
    """Return the error text for an unknown name: all valid names, and a suggestion."""
    choices = list(names)
    return f"{name!r} is none of {', '.join(choices)}{suggestion(name, choices)}"


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: `; did you mean X?`, or an empty text if none is near.

    The reader of the sentence must be allowed to know all `names`.
    """
    return did_you_mean(near_names(name, names))


def did_you_mean(near: Sequence[str]) -> str:
    """Return `; did you mean X or Y?` for suggested names, empty for none."""
    if not near:
        return ""
    *others, last = near
    return f"; did you mean {', '.join(others)}{' or ' if others else ''}{last}?"
