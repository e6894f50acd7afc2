"""What `hitlab label` and `hitlab labels` print: shapes, and words for people."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from lab.labels import MISSING
from lab.output import say
from lab.study import ActKind, Missing
from lab.tables import print_table


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


def said_words(value: Any, missing: Missing | None) -> str:
    """An answer as people read it."""
    if missing is not None:
        return f"({MISSING[missing]})"
    if value is None:
        return "(taken back)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def done_words(done: LabelDone) -> str:
    """What became of one row, in a line."""
    if done.state == "refused":
        return f"refused  {done.where}: {done.error}"
    parts = [
        " ".join(filter(None, (one.target, one.field, "=", said_words(one.value, one.missing))))
        + (" (there already)" if one.state == "there already" and done.state == "kept" else "")
        for one in done.labels
    ]
    if done.handed_in:
        parts.append("handed in")
    if done.share is not None:
        right = sum(one.right for one in done.gold)
        parts.append(f"{right} of {len(done.gold)} right, {done.share:.0%} of the pilot so far")
    parts += ["held below the study's bar"] if done.held else []
    parts += [f"{name} {value}" for name, value in done.derived]
    again = f" run {done.run}" if done.run > 1 else ""
    return f"{done.state}  {done.unit} {done.rater}{again}: {'; '.join(parts)}"


def tell_list(told: LabelList) -> None:
    """Labels as a table, clashes by name, and whose they are."""
    if told.labels:
        columns = ["unit", "item", "question", "rater", "time", "answer", "step", "sure", "note", "given"]
        print_table(columns, [_cells(one) for one in told.labels], wide="note")
    for clash in told.clashes:
        values = " and ".join(str(value) for value in clash.values)
        place = " ".join(filter(None, (clash.target, clash.field)))
        say(f"clash  {clash.unit} {place}: {clash.rater} says {values}; {clash.rater} settles it by answering again")
    whose = f", only those of {told.only}" if told.only else ""
    standing = sum(one.current for one in told.labels)
    older = len(told.labels) - standing
    history = f", {older:,} of them superseded or taken back" if older else ""
    say(f"{len(told.labels):,} answers{history}, {len(told.clashes)} clashes in {told.study} v{told.version}{whose}")


def _cells(one: LabelLine) -> list[str]:
    answer = said_words(one.value, one.missing)
    if one.act == "undo":
        answer = f"undo: {answer}"
    if not one.current:
        answer += " (clash)" if one.clash else " (no longer)"
    sure = "-" if one.confidence is None else f"{one.confidence:g}"
    rater = one.rater if one.kind == "human" else f"{one.rater} ({one.kind})"
    step = "-" if one.step is None else str(one.step)
    return [one.unit, one.target or "-", one.field, rater, str(one.run), answer, step, sure, one.note, one.at[:19]]


def tell_pilot(told: PilotTold) -> None:
    """Each rater beside gold, what was taken for what, and each two raters beside each other."""
    if not told.raters:
        say("nobody was dealt a pilot unit")
        return
    rows = [
        [
            one.rater, f"{one.handed_in} of {one.dealt}", f"{one.right} of {one.places}",
            "-" if one.share is None else f"{one.share:.0%}", "held" if one.held else "",
        ]
        for one in told.raters
    ]  # fmt: skip
    print_table(["rater", "handed in", "as gold", "share", ""], rows)
    if told.bar is not None:
        say(f"the bar is {told.bar:.0%}")
    wrong = [[one.field, one.gold, one.said, str(one.n)] for one in told.confusion if one.gold != one.said]
    if wrong:
        say("")
        print_table(["question", "gold", "was rated", "times"], wrong)
    if told.pairs:
        say("")
        pairs = [
            [
                one.field, one.one, one.other,
                "undefined (nothing in common)" if one.percent is None else f"{one.percent:.1f} %", str(one.places),
            ]
            for one in told.pairs
        ]  # fmt: skip
        print_table(["question", "rater", "and", "the same", "n"], pairs)
    if told.only:
        say(f"only {told.only}'s own")
