"""Progress of a study and of each of its people, for its manager: counts and times, never an answer."""

from __future__ import annotations

from typing import Literal

import msgspec

Straggle = Literal["quiet", "behind"]
StudyState = Literal["running", "not dealt", "done", "locked", "archived"]


class Share(msgspec.Struct, frozen=True):
    """`count` of `n`. The share is undefined if n is 0."""

    count: int
    n: int

    @property
    def share(self) -> float | None:
        """The share from 0 to 1, None if n is 0."""
        return self.count / self.n if self.n else None

    def __add__(self, other: Share) -> Share:
        return Share(self.count + other.count, self.n + other.n)


NOTHING = Share(0, 0)


class FieldDisagreement(msgspec.Struct, frozen=True):
    """A question, and the share of items on which its raters differ, of those that two or more people answered.

    `answered` counts the same over items with an explicit answer. For an optional flag that means items on which
    someone set it.
    """

    field: str
    question: str
    differ: Share
    answered: Share = NOTHING


class RaterProgress(msgspec.Struct, frozen=True):
    """One rater's progress in a study. Times are UTC, null if unknown.

    Of `dealt` items, `done` are submitted, `begun` have an answer, and `left` are still to do. `pace` is the median
    working time of a submitted item in seconds. `worked` is their total working time and `work_left` the rest at this
    pace, both in seconds. `until` is the expected end if they continue as in the last seven days. `seen` is the time of
    their last act. `pilot` counts right calibration answers. `returned` items were reopened and not submitted again.
    `flags` were set on submitted items. `clashes` are theirs to settle after a merge. `apart` counts answers that
    differ from those of most others. `held` is true below the pilot's bar. `replaced` is true if another person
    continues in their place.
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

    @property
    def minutes(self) -> float:
        """Time worked, in minutes with two digits."""
        return round(self.worked / 60, 2)

    @property
    def seconds(self) -> float | None:
        """Median of an item's seconds with two digits, None without a handed-in item."""
        return None if self.pace is None else round(self.pace, 2)


class JudgeProgress(msgspec.Struct, frozen=True):
    """A model or script that rates beside people: its answered items and their cost.

    `cost` is in US dollars, null if it was not stored. `apart` counts its answers that differ from most people's.
    """

    judge: str
    kind: Literal["human", "model", "script"]
    answered: int
    units: int
    cost: float | None
    apart: Share


class IntervalProgress(msgspec.Struct, frozen=True):
    """Width of the interval of a judge's corrected share at a field, and the planned width.

    Of `items`, `labelled` have people's labels, and about `more` are needed (0: the width is `reached`; null: so few
    items never suffice, or it is not known yet). `width` is null before there is an interval.
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
    """Total of all people: sums, except `pace` (of all items), `until` and `seen` (the latest).

    `until` is null if it is null for anyone with work left. `differ` counts items on which people differ, over all
    questions, without items on which nobody set an optional flag.
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
    """A study's progress `at` a time (UTC). `bar` is the share of calibration answers that must be right."""

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


class RaterStatus(msgspec.Struct, frozen=True, rename={"replaced": "left"}):
    """The part of `RaterProgress` that `study status` prints: of `dealt` units `done` are handed in.

    `begun` units have an answer. `minutes` is the time worked, without gaps of five minutes or more and measured
    absences. `seconds` is the median for a handed-in unit, null without one. `consent` is the time of consent, null if
    there is none or none is needed. `clashes` counts places with two last labels of theirs from merged copies, for them
    to settle.
    """

    rater: str
    dealt: int
    done: int
    begun: int
    held: bool
    replaced: bool
    withdrawn: bool
    consent: str | None
    minutes: float
    seconds: float | None
    clashes: int = 0


class StudyStatus(msgspec.Struct, frozen=True):
    """Progress of everybody in one study, without any answer.

    `kit` is the rater's code if the file is a kit, which holds their part only, else null. `intervals` are judges'
    corrected intervals against the planned width, if there is one.
    """

    study: str
    version: int
    title: str
    protocol: str
    unit: str
    units: int
    locked: bool
    raters: tuple[RaterStatus, ...]
    kit: str | None = None
    intervals: tuple[IntervalProgress, ...] = ()
