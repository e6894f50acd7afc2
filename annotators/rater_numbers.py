"""What is told of one rater: their pace, and how far they agree with others, with gold and with themselves."""

from __future__ import annotations

from typing import Literal

import msgspec

from lab.core.agreement import Agreement
from lab.core.report import Grid


class Stretch(msgspec.Struct, frozen=True):
    """Some of a rater's answers in a row, from `first` to `last` (from 1): seconds, or a share; `n` count in it."""

    first: int
    last: int
    value: float | None
    n: int


class Longest(msgspec.Struct, frozen=True):
    """The most answers in a row that are the same: what was answered to which field, of how many answers to it."""

    field: str
    value: str
    length: int
    of: int


class RaterNumbers(msgspec.Struct, frozen=True):
    """One rater. `done` of `dealt` items are handed in; `answers` stand, `timed` of these took known seconds.

    `seconds` is the median of those, `quartiles` its first and third; all None where `timed` is 0. `pace` and `along`
    are seconds, and the share that is as the rest say, over answers in the order in which they were given; `drift` is
    that share in the second half minus that in the first. `before` is how much more often an answer is the same as the
    one to the item before than the rater's own margins make it, `same_before` that share, `chance_before` what the
    margins make it. `reasons` count answers that are missing on what is handed in, `flags` those that were raised.
    `fields` are of single fields against the rest, `grids` how often which answer came with which of the rest.
    """

    rater: str
    kind: Literal["person", "judge"]
    dealt: int
    done: int
    answers: int
    timed: int
    seconds: float | None
    quartiles: tuple[float, float] | None
    pace: tuple[Stretch, ...]
    rest: Agreement
    first: Agreement
    second: Agreement
    drift: Agreement
    along: tuple[Stretch, ...]
    gold: Agreement
    settled: Agreement
    before: Agreement
    same_before: float | None
    chance_before: float | None
    again: Agreement
    missing: Agreement
    reasons: dict[str, int]
    flags: dict[str, int]
    longest: Longest | None
    fields: tuple[Agreement, ...]
    grids: tuple[Grid, ...]

    @property
    def numbers(self) -> tuple[Agreement, ...]:
        """Every number with an interval, in the order in which they are told."""
        return (
            self.rest, self.first, self.second, self.drift, self.gold, self.settled, self.before, self.again,
            self.missing, *self.fields,
        )  # fmt: skip
