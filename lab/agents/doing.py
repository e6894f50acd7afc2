"""A doing: what the agent is about, as a generator that yields what it proposes and is sent what came of it.

Run again over a run's history it comes to the same place, so that an agent needs no memory but the history.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple, TypeVar

from lab.turn import Proposed, Reply
from lab.uitree import UiTree

T = TypeVar("T")


class Seen(NamedTuple):
    """What came of a proposal: the screen now, the person's reply, and whether the act was done as proposed.

    `held` where the gate let nothing through, and nobody acted instead.
    """

    tree: UiTree
    reply: Reply | None = None
    done: bool = True
    held: bool = False


Doing = Generator[Proposed, Seen, T]


class GiveUp(Exception):
    """The agent cannot go on; the message says why, for the person."""


class Overtaken(Exception):
    """Someone else acted, or changed what was proposed: the errand is planned again from the screen as it is."""


def again(begin: Callable[[], Doing[T]]) -> Doing[T]:
    """A doing, begun anew whenever someone else has acted."""
    while True:
        try:
            return (yield from begin())
        except Overtaken:
            continue
