"""What `hitlab label` and `hitlab labels` print, as shapes."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from lab.label import ActKind, Missing


class LabelKept(msgspec.Struct, frozen=True):
    """One answer of a row: `state` says whether it was kept now, or was there already."""

    target: str
    field: str
    value: Any
    missing: Missing | None
    state: Literal["kept", "there already"]
    id: str


class GoldTold(msgspec.Struct, frozen=True):
    """One place of a calibration unit that was handed in: what was said, what is right, and why."""

    target: str
    field: str
    said: Any
    gold: Any
    right: bool
    reason: str


class LabelDone(msgspec.Struct, frozen=True):
    """What became of one row: `label --json`, a line for each row, after it is on the disk.

    `handed_in`: the unit is handed in now. Then `derived` tells what follows from its answers, and of a person's
    calibration unit `gold` what is right, `share` how much of the pilot so far was, `held` that the bar was missed.
    """

    where: str
    state: Literal["kept", "there already", "refused"]
    unit: str = ""
    rater: str = ""
    run: int = 1
    labels: tuple[LabelKept, ...] = ()
    handed_in: bool = False
    derived: tuple[tuple[str, str], ...] = ()
    gold: tuple[GoldTold, ...] = ()
    share: float | None = None
    held: bool = False
    error: str = ""


class LabelLine(msgspec.Struct, frozen=True):
    """One label; `hitlab label` reads it again. A place in a run is `evidence`, `step` (from 1) its number.

    `current`: it is the last word at its place, and no clash. `clash`: two last words stand there. `handed_in`: its
    rater has handed the unit in. `act` is `undo` where it took an answer back.
    """

    id: str
    study: str
    version: int
    unit: str
    target: str
    field: str
    rater: str
    kind: Literal["human", "model", "script"]
    run: int
    value: Any
    missing: Missing | None
    step: int | None
    evidence: str | None
    region: tuple[int, int, int, int] | None
    confidence: float | None
    note: str
    cites: str
    act: Literal["answer", "undo"]
    undoes: str | None
    supersedes: str | None
    also: tuple[str, ...]
    current: bool
    clash: bool
    handed_in: bool
    shown_at: str | None
    first_key_at: str | None
    at: str
    idle_ms: float
    guide_sha: str
    protocol_sha: str
    config_sha: str
    source: str
    cost: float | None


class ActLine(msgspec.Struct, frozen=True):
    """Something that was done beside answering."""

    id: str
    study: str
    version: int
    unit: str
    rater: str
    kind: Literal["human", "model", "script"]
    run: int
    act: ActKind
    at: str
    detail: dict[str, Any]


class ClashLine(msgspec.Struct, frozen=True):
    """A place where two merged copies have different last words; left out until its rater settles."""

    unit: str
    target: str
    field: str
    rater: str
    run: int
    values: tuple[Any, ...]


class LabelList(msgspec.Struct, frozen=True):
    """The labels of a study: `labels`. `only` names the person to whose own the list is limited, empty: to nobody's.

    Without --history `labels` are those that stand; with it all, in the order they were given. `acts` are null
    without --acts.
    """

    study: str
    version: int
    title: str
    protocol: str
    locked: bool
    only: str
    labels: tuple[LabelLine, ...]
    clashes: tuple[ClashLine, ...]
    acts: tuple[ActLine, ...] | None = None


class PilotRater(msgspec.Struct, frozen=True):
    """How one rater's pilot stands: `share` of `places` with gold that are `right`; null where none is handed in."""

    rater: str
    handed_in: int
    dealt: int
    places: int
    right: int
    share: float | None
    held: bool


class ConfusionCell(msgspec.Struct, frozen=True):
    """How often `said` was said where `gold` is right, over all raters whose sheets are handed in."""

    field: str
    gold: str
    said: str
    n: int


class PairLine(msgspec.Struct, frozen=True):
    """Two raters over pilot units that both handed in: the percent of places with the same answer; null where none."""

    field: str
    one: str
    other: str
    places: int
    same: int
    percent: float | None


class PilotTold(msgspec.Struct, frozen=True):
    """A study's pilot: `labels --pilot`. `pairs` are empty until a pair has handed in a unit in common."""

    study: str
    version: int
    bar: float | None
    guide_sha: str
    only: str
    raters: tuple[PilotRater, ...]
    confusion: tuple[ConfusionCell, ...]
    pairs: tuple[PairLine, ...]
