"""How far a study and each of its people are, as a manager is told it: counts and times, never an answer."""

from __future__ import annotations

from typing import Literal

import msgspec

Straggle = Literal["quiet", "behind"]
StudyState = Literal["running", "not dealt", "done", "locked", "archived"]


class Share(msgspec.Struct, frozen=True):
    """`count` of `n`; no share where n is 0."""

    count: int
    n: int

    @property
    def share(self) -> float | None:
        """From 0 to 1; None where n is 0."""
        return self.count / self.n if self.n else None

    def __add__(self, other: Share) -> Share:
        return Share(self.count + other.count, self.n + other.n)


NOTHING = Share(0, 0)


class FieldDisagreement(msgspec.Struct, frozen=True):
    """A question, and at how many of the items that two or more people answered they do not all say the same.

    `answered` is the same over items at which somebody gave an answer; an optional flag is one where it was raised.
    """

    field: str
    question: str
    differ: Share
    answered: Share = NOTHING


class RaterProgress(msgspec.Struct, frozen=True):
    """How far one person is. Times are UTC, null where nothing is known.

    Of `dealt` items `done` are handed in, `begun` have an answer, `left` are theirs to do. `pace` is the median of the
    seconds of work that an item took, over those handed in; `worked` their seconds of work in all, `work_left` the
    seconds that are left at this pace, `until` when they will be done if they go on as in the last seven days. `seen`
    is when they did anything last. `pilot` counts calibration answers that are right. `returned` items were taken back
    and not handed in again; `flags` were raised on those handed in, `clashes` are theirs to settle since copies were
    merged. `apart` counts answers that are not what most of the others say. `held`: they missed the pilot's bar.
    `replaced`: another goes on in their place.
    """

    rater: str
    dealt: int
    done: int
    left: int
    begun: int
    pace: float | None = None
    worked: float = 0.0
    work_left: float | None = None
    until: str | None = None
    seen: str | None = None
    consent: str | None = None
    pilot: Share = NOTHING
    held: bool = False
    replaced: bool = False
    withdrawn: bool = False
    straggler: tuple[Straggle, ...] = ()
    flags: int = 0
    returned: int = 0
    clashes: int = 0
    apart: Share = NOTHING


class JudgeProgress(msgspec.Struct, frozen=True):
    """A model or script that rates beside people: items it answered, what that cost (US dollars; null: not stored),
    and how many of its answers are not what most people say."""

    judge: str
    kind: Literal["human", "model", "script"]
    answered: int
    units: int
    cost: float | None
    apart: Share


class IntervalProgress(msgspec.Struct, frozen=True):
    """How wide the interval of a judge's corrected share is at a field, beside the width that was planned.

    `labelled` of `items` have people's labels; about `more` are wanted (0: the width is `reached`; null: so few items
    are never so narrow, or nothing is known yet). `width` is null where there is no interval yet.
    """

    judge: str
    field: str
    width: float | None
    planned: float
    labelled: int
    items: int
    more: int | None
    reached: bool


class ProgressTotal(msgspec.Struct, frozen=True):
    """Everybody together; sums but for `pace` (of all items), `until` and `seen` (the last).

    `until` is null where it is so for anybody with work left. `differ` counts items at which people do not all say the
    same, over all questions; items at which nobody raised an optional flag are left out.
    """

    people: int
    dealt: int
    done: int
    left: int
    pace: float | None
    work_left: float | None
    until: str | None
    seen: str | None
    pilot: Share
    held: int
    stragglers: int
    flags: int
    returned: int
    clashes: int
    differ: Share
    cost: float | None


class StudyProgress(msgspec.Struct, frozen=True):
    """A study under way, as it stood `at` a time (UTC). `bar` is the share of calibration answers to be right."""

    study: str
    version: int
    title: str
    protocol: str
    unit: str
    units: int
    state: StudyState
    bar: float | None
    at: str
    raters: tuple[RaterProgress, ...]
    judges: tuple[JudgeProgress, ...]
    fields: tuple[FieldDisagreement, ...]
    total: ProgressTotal
    intervals: tuple[IntervalProgress, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.study} v{self.version}" if self.version > 1 else self.study
