"""What the commands for studies print, as shapes and for people: new, deal, status, show, replace."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import msgspec

from annotators.assignment import portion
from lab.output import say
from lab.protocol import Protocol
from lab.study import Study, StudyLine
from lab.tables import print_table

WORDS = {
    "run": "runs", "pair of runs": "pairs of runs", "pair of instruction sets": "pairs of instruction sets",
    "pair of texts": "pairs of texts", "step": "steps", "question": "questions", "task": "tasks",
    "task to play": "tasks to play",
}  # fmt: skip
"""What a protocol is asked of, in the plural."""


class Skipped(msgspec.Struct, frozen=True):
    """A run or task that is not in a study, and why."""

    id: str
    why: str


class StudyFrozen(msgspec.Struct, frozen=True):
    """A study's version. `new` is false where it was frozen as exactly this before, and nothing was done.

    `units` counts all, `pilot` those that come first, `mechanical` those that a rule answers; `items` what is asked
    about in them. `differs` says what is other than in the version before.
    """

    study: str
    version: int
    new: bool
    title: str
    protocol: str
    unit: str
    units: int
    pilot: int
    mechanical: int
    items: int
    raters: tuple[str, ...]
    overlap: int
    shared: float
    repeats: float
    sha: str
    sample_sha: str
    protocol_sha: str
    guide_sha: str
    differs: tuple[str, ...]
    told: tuple[str, ...]


class StudiesFrozen(msgspec.Struct, frozen=True):
    """What `study new` froze: one study, or one for each kind of task."""

    db: str
    studies: tuple[StudyFrozen, ...]
    skipped: tuple[Skipped, ...]


class RaterDealt(msgspec.Struct, frozen=True):
    """What one person has: the pilot, the rest, and what they rate once more."""

    rater: str
    pilot: int
    main: int
    repeat: int


class StudyDealt(msgspec.Struct, frozen=True):
    """What `study deal` came to: `new` assignments; `nobodys` units that a rule, a model or a script does.

    `rule_labels` were written for those that a rule answers. `withdrawn` people are dealt nothing.
    """

    study: str
    version: int
    new: int
    raters: tuple[RaterDealt, ...]
    nobodys: int
    rule_labels: int
    withdrawn: tuple[str, ...]


class RaterStatus(msgspec.Struct, frozen=True):
    """How far one person is: of `dealt` units `done` are handed in, `begun` have an answer.

    `minutes` is the time they worked, without pauses of more than five minutes; `seconds` the median for a unit they
    handed in, null where there is none. `consent` is when they agreed, null where they did not, or need not.
    `clashes` are places at which two last words of theirs stand since copies were merged: theirs to settle.
    """

    rater: str
    dealt: int
    done: int
    begun: int
    held: bool
    left: bool
    withdrawn: bool
    consent: str | None
    minutes: float
    seconds: float | None
    clashes: int = 0


class StudyStatus(msgspec.Struct, frozen=True):
    """How far everybody in one study is; never what anybody said.

    `kit` is the code of whose kit the file is, in which only theirs is; null where all of the study is here.
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


class ItemLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One item of a unit, as its raters read it: what a program that labels names as its target."""

    id: str
    says: str
    detail: str = ""
    kind: str = ""
    options: tuple[str, ...] = ()


class UnitLine(msgspec.Struct, frozen=True):
    """One unit of a study: what it is of, how many items are asked about in it, and which (none: the unit itself)."""

    id: str
    runs: tuple[str, ...]
    items: int
    stage: str
    targets: tuple[ItemLine, ...] = ()


class StudyShown(msgspec.Struct, frozen=True):
    """A study's plan as it was frozen: `study show`; nothing that its raters must not see."""

    plan: Study
    sha: str
    protocol_sha: str
    guide_sha: str
    consent_sha: str | None
    locked: bool
    units: tuple[UnitLine, ...]


class StudyLocked(msgspec.Struct, frozen=True):
    """A study that was closed; `left` counts what was still to be done."""

    study: str
    version: int
    left: int


class RaterReplaced(msgspec.Struct, frozen=True):
    """Who left, and who goes on: `stays` was handed in and stays, `dealt` is what the other has to do now."""

    study: str
    version: int
    rater: str
    by: str
    stays: int
    dealt: int


class RaterReleased(msgspec.Struct, frozen=True):
    """Who may go on."""

    study: str
    version: int
    rater: str


def items_of(protocol: Protocol, targets: int) -> int:
    """How many items a unit with so many targets asks about."""
    return targets if protocol.targets != "unit" else 1


def in_file(db: str | None) -> str:
    """The file as a command that comes next names it; empty where it was not named."""
    return f" --db {shlex.quote(db)}" if db else ""


def tell_frozen(found: StudiesFrozen, db: str | None = None) -> None:
    for one in found.studies:
        if not one.new:
            say(f"{one.study} v{one.version} is frozen as exactly this already; nothing was done")
        else:
            _tell_new(one)
    reasons: dict[str, list[str]] = {}
    for skipped in found.skipped:
        reasons.setdefault(skipped.why, []).append(skipped.id)
    for why, ids in reasons.items():
        say(f"left out  {len(ids):,}: {why} ({', '.join(id[:13] for id in ids[:3])}{', ...' if len(ids) > 3 else ''})")
    for one in found.studies:
        say(f"next: hitlab study deal {one.study}{in_file(db)}")


def _tell_new(one: StudyFrozen) -> None:
    say(f"{one.study} v{one.version}: {one.title}")
    say(f"asks      {one.protocol} (version {one.protocol_sha[:12]}, guide {one.guide_sha[:12]})")
    main = one.units - one.pilot - one.mechanical
    parts = [f"{one.pilot:,} to begin with"] * bool(one.pilot) + [f"{one.mechanical:,} by rule"] * bool(one.mechanical)
    beside = f" ({main:,}, {', '.join(parts)})" if parts else ""
    items = f", {one.items:,} items" if one.items != one.units else ""
    say(f"of        {one.units:,} {WORDS[one.unit] if one.units != 1 else one.unit}{beside}{items}")
    several = portion(one.shared, main)
    each = f"each by {one.overlap}" if one.shared == 1 else f"{several:,} by {one.overlap}, the rest by one"
    again = f", {one.repeats * 100:g} % twice" if one.repeats else ""
    say(f"by        {', '.join(one.raters)}; {each}{again}")
    for line in one.told:
        say(f"note      {line}")
    if one.differs:
        say(f"differs   from v{one.version - 1}: {'; '.join(one.differs)}")
    say(f"frozen    {one.sha}")


def tell_dealt(found: StudyDealt, db: str | None = None) -> None:
    print_table(
        ["person", "first", "then", "once more"],
        [[one.rater, str(one.pilot), str(one.main), str(one.repeat)] for one in found.raters],
    )
    if found.nobodys:
        say(f"{found.nobodys:,} to nobody: a rule, a model or a script does them")
    for code in found.withdrawn:
        replaced = f"hitlab study replace {found.study} {code} --by CODE{in_file(db)}"
        say(f"{code} has withdrawn and is dealt nothing; `{replaced}`")
    what = f"{found.new:,} dealt" if found.new else "all was dealt before; nothing was done"
    say(f"{found.study} v{found.version}: {what}")
    first = next((one.rater for one in found.raters if one.pilot + one.main + one.repeat), "")
    if first:
        say(f"next: hitlab study open {found.study} --as {first}{in_file(db)}")


def tell_studies(lines: Sequence[StudyLine]) -> None:
    if not lines:
        say("no studies; `hitlab study new PRESET --runs all --raters P1,P2` freezes one")
        return
    print_table(
        ["study", "version", "asks", "of", "people", "done", "dealt", "", "title"],
        [
            [
                one.id, str(one.version), one.protocol, f"{one.units:,}", str(one.raters), f"{one.done:,}",
                f"{one.dealt:,}", "locked" if one.locked else "", one.title,
            ]
            for one in lines
        ],
        wide="title",
    )  # fmt: skip


def tell_status(found: StudyStatus) -> None:
    say(f"{found.study} v{found.version}: {found.title}{'   locked' if found.locked else ''}")
    say(f"{found.protocol}, {found.units:,} {found.unit if found.units == 1 else WORDS.get(found.unit, found.unit)}")
    if found.kit is not None:
        say(f"This file is a kit: only what is {found.kit}'s is in it. `hitlab study take` brings it back.")
    rows = [
        [
            one.rater, f"{one.done:,}", f"{one.dealt:,}", f"{max(0, one.begun - one.done):,}",
            f"{one.minutes:.1f}", "-" if one.seconds is None else f"{one.seconds:.1f}", (one.consent or "-")[:16],
            ", ".join(
                word
                for word, is_so in (
                    ("held", one.held), ("left", one.left), ("withdrew", one.withdrawn),
                    (f"{one.clashes} to settle", one.clashes),
                )
                if is_so
            ),
        ]
        for one in found.raters
    ]  # fmt: skip
    print_table(["person", "done", "dealt", "begun", "minutes", "seconds each", "agreed", ""], rows)


def tell_shown(found: StudyShown) -> None:
    plan = found.plan
    say(f"{plan.name}: {plan.title}{'   locked' if found.locked else ''}")
    say(f"asks      {plan.protocol.id} (version {found.protocol_sha[:12]}, guide {found.guide_sha[:12]})")
    say(f"shows     {', '.join(plan.shown)}")
    hidden = [part for part in plan.blind if part not in plan.shown]  # a protocol may ask about the outcome itself
    say(f"hides     {', '.join(hidden) or 'nothing besides'}")
    say(f"by        {', '.join(plan.raters)}; each by {plan.overlap}")
    say(f"draws     shared {plan.shared:g}, repeats {plan.repeats:g}, seed {plan.seed}")
    if plan.bar is not None:
        say(f"bar       {plan.bar:g}")
    if found.consent_sha:
        say(f"consent   version {found.consent_sha[:12]}, quiz {plan.quiz}")
    say(f"reports   {', '.join(plan.statistics)}")
    if plan.note:
        say(f"note      {plan.note}")
    say(f"frozen    {found.sha}")
    rows = [[one.id, str(one.items), one.stage, ", ".join(run[:13] for run in one.runs)] for one in found.units[:20]]
    print_table(["", "items", "", "runs"], rows)
    if len(found.units) > 20:
        say(f"and {len(found.units) - 20:,} more (--json)")
