"""Numbers about one rater: pace, and agreement with others, with gold and with themselves."""

from __future__ import annotations

from typing import Literal

import msgspec

from lab.core.study.agreement import Agreement
from lab.core.study.report import Grid


class Stretch(msgspec.Struct, frozen=True):
    """Successive answers of a rater, from `first` to `last` (from 1): seconds or a share, over `n` answers."""

    first: int
    last: int
    value: float | None
    n: int


class Longest(msgspec.Struct, frozen=True):
    """The longest streak of equal answers: field, value, length, and the total of answers to the field."""

    field: str
    value: str
    length: int
    of: int


class RaterNumbers(msgspec.Struct, frozen=True):
    """The numbers of one rater.

    `done` of `dealt` items are handed in. `answers` are current, `timed` of them took known seconds. `seconds` is their
    median, `quartiles` their first and third quartile, None if `timed` is 0. `pace` and `along` are seconds and the
    share of agreement with the others, over answers in order of time. `drift` is that share in the second half minus
    that in the first. `before` is how much more often an answer equals the one to the item before than the rater's own
    margins predict, `same_before` the share of such answers, `chance_before` the predicted share. `reasons` count the
    missing answers of items that are handed in, `flags` those raised. `fields` compare single fields with the others,
    `grids` count pairs of the rater's and the others' answer.
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
        """All numbers with an interval, in the order of printing."""
        return (
            self.rest, self.first, self.second, self.drift, self.gold, self.settled, self.before, self.again,
            self.missing, *self.fields,
        )  # fmt: skip
