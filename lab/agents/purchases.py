"""What a person usually buys together, out of the purchases that the log tells of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from lab.agents.goals.buying import Buy, Thing

T = TypeVar("T", bound=Hashable)
_SHARE = 0.75
"""The share of purchases from which on something belongs to the usual one."""


def merged_buys(buys: Sequence[Buy]) -> Buy:
    """One purchase out of several of the same kind: the things, numbers, traits and places that nearly all share."""
    names = Counter(name for buy in buys for name in dict.fromkeys(thing.name for thing in buy.things))
    usual = [name for name, n in names.items() if n >= _SHARE * len(buys)]
    last = buys[-1]
    return Buy(
        tuple(_merged(name, buys) for name in usual),
        app=prevailing((buy.app for buy in buys), 0.5) or last.app,
        label=last.label,
        source=prevailing((buy.source for buy in buys), 0.5) or "",
        to=prevailing((buy.to for buy in buys), 0.5) or "",
        payment=prevailing((buy.payment for buy in buys), 0.5) or "",
        remark=prevailing((buy.remark for buy in buys), 0.5) or "",
        when=prevailing(buy.when for buy in buys),
    )


def _merged(name: str, buys: Sequence[Buy]) -> Thing:
    every = [thing for buy in buys for thing in buy.things if thing.name == name]
    traits = Counter(trait for thing in every for trait in thing.traits)
    settled = tuple(trait for trait, n in traits.items() if n >= _SHARE * len(every))
    return Thing(name, prevailing(thing.quantity for thing in every) or 0, settled)


def prevailing(values: Iterable[T], share: float = _SHARE) -> T | None:
    """The value that at least so great a share of the cases has; None where none has."""
    counts = Counter(values)
    for value, n in counts.most_common(1):
        if n >= share * counts.total():
            return value
    return None
