"""A study: a frozen plan, the units that its people are dealt, and how far they are."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import msgspec

from lab.core.codec import encode, sha_of
from lab.core.protocol import Protocol, Show
from lab.core.task import Actor, Persona, Task, Tdg

VERSION = 1
"""The newest stored shape of a study, a unit, a label or an act that this program knows."""

Blind = Literal["people", "models", "method", "outcome", "raters"]
"""What stays hidden: other people's labels, models' labels, the method's name, outcome and scores, raters' codes."""
Stage = Literal["pilot", "main", "repeat"]
IntroductionKind = Literal["none", "full", "skippable"]
"""Whether guide, keys and a practice item come before a rater's first item, and whether these may be passed over."""


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing inside a unit that is labelled by itself: a node, an information unit, a branch, a criterion, a step.

    `kind` is its type, for tables (fixed | flexible, explicit | implicit); `step` (from 0) where it is a step;
    `options` are a branch's own ways, in place of the field's; `requires` are targets it depends on; `weight` is a
    criterion's, relative to the others'.
    """

    id: str
    says: str
    detail: str = ""
    kind: str = ""
    step: int | None = None
    options: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    weight: float = 1.0


class Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A text that a unit lays before the rater: `side` A or B where it is one of two, `items` a list in it."""

    title: str
    text: str = ""
    items: tuple[str, ...] = ()
    side: Literal["", "A", "B"] = ""


class Gold(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is right at a place, and why: a calibration unit's answer, or one that a rule sets without a person."""

    target: str
    field: str
    value: Any
    reason: str = ""


class Play(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A task to be played, and the condition: who is its user, and whether they see the phone."""

    task: Task
    persona: Persona | None = None
    user: Literal["person", "model", "script"] = "person"
    mirror: bool = True
    agent: str = "playbook"
    seed: int = 0
    vary: int = 0

    @property
    def condition(self) -> str:
        """The condition in a word, as tables name it."""
        return self.user if self.user != "person" or self.mirror else "person, no mirror"


class Unit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What one sheet is about, with everything needed to ask of it; frozen with the study.

    `runs` are trace ids: one, the two of a pair (A, B), or a run and then its reference. `cluster` is what intervals
    are clustered by (empty: the first run). `hidden` are the designers' words that no rater sees (which method a side
    is). `gold` makes it a calibration unit; `mechanical` are answers that a rule gave, so that nobody is asked.
    `owner` is the study code of whom alone it is dealt to: whose run it was. `practice`: raters try the sheet on it
    before their first item; it is dealt to nobody and counts nowhere.
    """

    id: str
    runs: tuple[str, ...] = ()
    step: int | None = None
    question: str = ""
    targets: tuple[Target, ...] = ()
    given: tuple[Given, ...] = ()
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
    """The version of a study that another goes on from: its number, and the hash of its plan and sample."""

    version: int
    sha: str


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A frozen plan: who rates which units by which protocol. Changing anything makes a new version.

    Its units stand apart (they may be many); `sample_sha` is the hash of them all, in order. `overlap` is how many
    raters a unit is dealt to, `shared` the share of units to which that applies (the others go to one), `repeats` the
    share dealt to the same rater once more, `bar` the least agreement with gold (0 to 1) by which a rater passes the
    pilot. `statistics` are what its report holds, as they were settled beforehand. `consent` is the text a participant
    agrees to, by locale; `quiz` how many questions on the persona come before a play. `shows` adds to what the protocol
    shows. `introduction` is what comes before a rater's first item, `practice` the unit of its own on which the sheet
    is tried in place of the protocol's practice. `width` is how wide a judge's corrected interval is to be at most (0
    to 1), after which nobody needs to label more. `prelabel` is the judge whose answers are shown first on a half of
    the sheets. `shadows` are models (`model:NAME`) that are silently asked what a participant is asked; who plays or
    rates is never shown what they answer. `extends` is the version that this one has all units of, and more; what was
    answered there counts here.
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
        """How people and files name this version."""
        return f"{self.id} v{self.version}"

    @property
    def shown(self) -> tuple[Show, ...]:
        """All that a rater may see before committing."""
        more: list[Show] = []
        if "method" not in self.blind:
            more.append("method")
        if "outcome" not in self.blind:
            more.append("outcome")
        return tuple(dict.fromkeys((*self.protocol.shows, *self.shows, *more)))

    @property
    def sha(self) -> str:
        """A hash of the plan and its sample: two versions of one number with different hashes are a clash."""
        return sha_of(msgspec.structs.replace(self, at="", by=None))

    def consent_sha(self, locale: str) -> str:
        """The version of the text that was agreed to."""
        return sha_of(self.consent.get(locale) or self.consent.get("en", ""))


class Assignment(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One unit dealt to one rater, at its place in their order; `run` counts how often they rate it (repeats are 2).

    `swap`: the sides of a pair are shown the other way round; `prelabel`: a judge's answers are shown first. Its id
    follows from the rest, so that dealing again deals the same.
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
    """A study in one line; `done` of `dealt` counts committed assignments of all its people.

    `archived` studies are left out of lists until they are restored.
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
        """The study as commands take it, with the version where there are several."""
        return f"{self.id} v{self.version}" if self.version > 1 else self.id


class Progress(msgspec.Struct, frozen=True):
    """How far one person is: of `dealt` units `done` are handed in, `begun` have an answer."""

    rater: str
    dealt: int
    done: int
    begun: int
    held: bool = False


def sample_sha(units: list[Unit] | tuple[Unit, ...]) -> str:
    """The hash of a study's units in their order."""
    whole = hashlib.sha256()
    for unit in units:
        whole.update(encode(unit) + b"\n")
    return whole.hexdigest()
