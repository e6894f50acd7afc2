"""A study: its frozen plan, the units dealt to its people, and their progress."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import msgspec

from lab.core.codec import encode, sha_of
from lab.core.study.protocol import Protocol, Show
from lab.core.task.task import Actor, Persona, Task, Tdg

VERSION = 1
"""Newest stored version of a study, a unit, a label or an act that this program knows."""

Blind = Literal["people", "models", "method", "outcome", "raters"]
"""Hidden parts: other people's labels, models' labels, the method's name, outcome and scores, raters' codes."""
Stage = Literal["pilot", "main", "repeat"]
IntroductionKind = Literal["none", "full", "skippable"]
"""Introduction before a rater's first item (guide, keys, practice): none, mandatory, or one that they may skip."""


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A thing in a unit with labels of its own: a node, an information unit, a branch, a criterion, a step.

    `kind` is its type, for tables (fixed or flexible, explicit or implicit). `step` (from 0) is set for a step.
    `options` are a branch's own options, in place of the field's. `requires` are the targets it depends on. `weight` is
    a criterion's, relative to the others.
    """

    id: str
    says: str
    detail: str = ""
    kind: str = ""
    step: int | None = None
    options: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    weight: float = 1.0


class UnitText(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A text that a unit shows to the rater. `side` is A or B if it is one of two, `items` is a list in it."""

    title: str
    text: str = ""
    items: tuple[str, ...] = ()
    side: Literal["", "A", "B"] = ""


class Gold(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The right answer at a place with its reason, of a calibration unit or as set by a rule without a person."""

    target: str
    field: str
    value: Any
    reason: str = ""


class Play(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A task to be played, and the condition: its user, and if they see the phone."""

    task: Task
    persona: Persona | None = None
    user: Literal["person", "model", "script"] = "person"
    mirror: bool = True
    agent: str = "playbook"
    seed: int = 0
    vary: int = 0

    @property
    def condition(self) -> str:
        """Name of the condition, as in tables."""
        return self.user if self.user != "person" or self.mirror else "person, no mirror"


class Unit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The subject of one sheet, with everything needed to ask about it. Frozen with the study.

    `runs` are run ids: one, the two of a pair (A, B), or a run and its reference. `cluster` groups units for intervals
    (empty: the first run). `hidden` are the designers' words that no rater sees (such as the method of a side). `gold`
    makes it a calibration unit. `mechanical` are answers by rule, so that nobody is asked. `owner` is the study code of
    the only person it may be dealt to, whose run it was. `practice` marks the unit on which raters try the sheet before
    their first item. It is never dealt and does not count.
    """

    id: str
    runs: tuple[str, ...] = ()
    step: int | None = None
    question: str = ""
    targets: tuple[Target, ...] = ()
    given: tuple[UnitText, ...] = ()
    tdg: Tdg = Tdg()
    explicit: bool | None = None
    task: Task | None = None
    play: Play | None = None
    cluster: str = ""
    hidden: dict[str, str] = {}
    gold: tuple[Gold, ...] = ()
    mechanical: tuple[Gold, ...] = ()
    pilot: bool = False
    owner: str = ""
    practice: bool = False
    v: int = VERSION

    @property
    def clustered(self) -> str:
        return self.cluster or (self.runs[0] if self.runs else self.id)


class Predecessor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The version of a study that another one extends: its number, and the hash of its plan and sample."""

    version: int
    sha: str


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A frozen plan: who rates which units by which protocol. Any change makes a new version.

    The units are stored separately, because there may be many. `sample_sha` is the hash of all, in order. `overlap` is
    the number of raters of a unit, `shared` the share of units for which that holds (the others have one rater).
    `repeats` is the share dealt to the same rater again. `bar` is the minimum agreement with gold (0 to 1) to pass the
    pilot. `statistics` are the statistics of the report, settled beforehand. `consent` is the text that a participant
    agrees to, by locale. `quiz` is the number of questions on the persona before a play.

    `shows` adds to what the protocol shows. `introduction` comes before a rater's first item. `practice` is the study's
    own practice unit, in place of the protocol's. `width` is the maximum width of a judge's corrected interval (0 to
    1): once reached, no more labels are needed. `prelabel` is the judge whose answers are shown first on half of the
    sheets. `shadows` are models (`model:NAME`) that are silently asked a participant's questions. Players and raters
    never see their answers. `extends` is the version whose units this one includes, and whose answers count here.
    """

    id: str
    version: int
    title: str
    protocol: Protocol
    raters: tuple[str, ...]
    units: int
    sample_sha: str
    overlap: int = 2
    shared: float = 1.0
    repeats: float = 0.0
    blind: tuple[Blind, ...] = ("people", "models", "method", "outcome", "raters")
    shows: tuple[Show, ...] = ()
    seed: int = 0
    locale: str = "en"
    bar: float | None = None
    consent: dict[str, str] = {}
    quiz: int = 0
    rest_minutes: int = 45
    introduction: IntroductionKind = "none"
    practice: str = ""
    preset: str = ""
    note: str = ""
    statistics: tuple[str, ...] = ()
    width: float | None = None
    prelabel: str = ""
    shadows: tuple[str, ...] = ()
    by: Actor | None = None
    at: str = ""
    extends: Predecessor | None = None
    v: int = VERSION

    @property
    def name(self) -> str:
        """The name of this version for people and files."""
        return f"{self.id} v{self.version}"

    @property
    def visible_parts(self) -> tuple[Show, ...]:
        """All parts that a rater may see before submitting."""
        more: list[Show] = []
        if "method" not in self.blind:
            more.append("method")
        if "outcome" not in self.blind:
            more.append("outcome")
        return tuple(dict.fromkeys((*self.protocol.shows, *self.shows, *more)))

    @property
    def sha(self) -> str:
        """A hash of the plan and its sample. Two versions of one number with different hashes are a clash."""
        # Without time and author: the same plan frozen twice is the same study.
        return sha_of(msgspec.structs.replace(self, at="", by=None))

    def consent_sha(self, locale: str) -> str:
        """Return the version of the consent text in a locale."""
        return sha_of(self.consent.get(locale) or self.consent.get("en", ""))


class Assignment(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One unit dealt to one rater, at a position in their order. `run` numbers their ratings of it (a repeat is 2).

    `swap` shows a pair's sides the other way round. `prelabel` shows a judge's answers first. The id follows from the
    other fields, so that dealing again deals the same.
    """

    study: str
    version: int
    rater: str
    position: int
    unit: str
    stage: Stage = "main"
    run: int = 1
    swap: bool = False
    condition: str = ""
    prelabel: bool = False
    at: str = ""
    v: int = VERSION


class StudyLine(msgspec.Struct, frozen=True):
    """A study as a list row. `done` of `dealt` counts submitted assignments of all its people.

    Lists omit `archived` studies until they are restored.
    """

    id: str
    version: int
    title: str
    protocol: str
    unit: str
    units: int
    raters: int
    dealt: int
    done: int
    locked: bool
    at: str
    archived: bool = False

    @property
    def name(self) -> str:
        """The study's name in commands, with the version if there are several."""
        return f"{self.id} v{self.version}" if self.version > 1 else self.id


class Progress(msgspec.Struct, frozen=True):
    """One person's progress: of `dealt` units `done` are submitted, and `begun` have an answer."""

    rater: str
    dealt: int
    done: int
    begun: int
    held: bool = False


def sample_sha(units: list[Unit] | tuple[Unit, ...]) -> str:
    """Return the hash of a study's units in their order."""
    whole = hashlib.sha256()
    for unit in units:
        # JSON has no line feeds, so different lists never give the same bytes.
        whole.update(encode(unit) + b"\n")
    return whole.hexdigest()
