"""Records of what people answer and do in a study: labels, acts and withdrawals."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import msgspec

from lab.core.study.study import VERSION
from lab.core.task.task import Actor

Missing = Literal["not_reached", "not_applicable", "cannot_judge", "skipped"]
ActKind = Literal[
    "sat", "rose", "idle", "break", "opened", "looked", "picture", "guide", "commit", "reopen", "gold", "held",
    "released", "consent", "quiz", "played", "interrupted", "dealt", "replaced", "left", "locked", "adjudicated",
    "archived", "restored", "invited", "entered", "revoked", "judged", "batched", "judges",
    "split", "queued", "guide_shown", "guide_read", "keys_shown", "keys_read", "practice_shown", "practice_answered",
    "practice_done", "introduction_skipped",
]  # fmt: skip
INTRODUCTION_ACTS: tuple[ActKind, ...] = (
    "guide_shown", "guide_read", "keys_shown", "keys_read", "practice_shown", "practice_answered", "practice_done",
    "introduction_skipped",
)  # fmt: skip
"""Acts of the introduction: what a rater saw before their first item, and their practice answers."""
STUDY_ACTS: tuple[ActKind, ...] = ("dealt", "locked", "archived", "restored", "split", "queued")
"""Acts that change the study itself, whoever did them."""
RATER_ACTS: tuple[ActKind, ...] = (
    "sat", "rose", "idle", "break", "opened", "looked", "picture", "guide", "commit", "reopen", "gold", "consent",
    "quiz", "played", "interrupted", "judges", *INTRODUCTION_ACTS,
)  # fmt: skip
"""Acts that the rater did in person, as signs of work. Managers do some of the others in a rater's name."""


class AnswerDetails(NamedTuple):
    """Details beside an answer's value: how sure the rater is, where it is seen, a note, a cited line of the guide."""

    confidence: float | None = None
    evidence: str | None = None
    region: tuple[int, int, int, int] | None = None
    note: str = ""
    cites: str = ""

    def fill_from(self, base: AnswerDetails) -> AnswerDetails:
        """Return these details, and those of `base` where nothing is given here. A region belongs to its evidence."""
        seen = self if self.evidence or self.region else base
        confidence = base.confidence if self.confidence is None else self.confidence
        return AnswerDetails(confidence, seen.evidence, seen.region, self.note or base.note, self.cites or base.cites)


NO_DETAILS = AnswerDetails()


class Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A signed answer at one place in a unit. It never changes, and a later label supersedes it.

    `target` is empty for the unit as a whole. `value` is None if `reason_missing` gives a reason, or if an undo left no
    answer. `run` numbers repeated ratings by the same rater. `evidence` is a step of a run (`ID@7`, steps from 1) and
    `region` are pixels (left, top, right, bottom) of its screen. `undoes` is the label that an undo takes back. The
    undo has the value before that label.

    Times are UTC. `first_key_at` is None for pasted or composed text. `idle_ms` is the absence while the question was
    open. `source` is the origin: keys, a file's name or a rule. `config_sha` is the hash of a model's prompt and
    parameters. `cost` is in US dollars: of several answers given at once, the first has all of it.

    `supersedes` is the label that it replaces, and `also` are the other heads of a clash. A label copied from an
    earlier version of an extended study `carries` its id there.
    """

    id: str
    study: str
    version: int
    unit: str
    target: str
    field: str
    rater: Actor
    value: Any = None
    run: int = 1
    act: Literal["answer", "undo"] = "answer"
    undoes: str | None = None
    reason_missing: Missing | None = None
    confidence: float | None = None
    evidence: str | None = None
    region: tuple[int, int, int, int] | None = None
    note: str = ""
    cites: str = ""
    shown_at: str | None = None
    first_key_at: str | None = None
    at: str = ""
    idle_ms: float = 0.0
    guide_sha: str = ""
    protocol_sha: str = ""
    config_sha: str = ""
    source: str = ""
    supersedes: str | None = None
    also: tuple[str, ...] = ()
    cost: float | None = None
    carries: str = ""
    v: int = VERSION

    @property
    def details(self) -> AnswerDetails:
        """Everything beside its value."""
        return AnswerDetails(self.confidence, self.evidence, self.region, self.note, self.cites)

    @property
    def replaces(self) -> tuple[str, ...]:
        """Ids of all labels that it replaces."""
        return (*((self.supersedes,) if self.supersedes else ()), *self.also)

    @property
    def cleared(self) -> bool:
        """True if it leaves its place unanswered."""
        return self.value is None and self.reason_missing is None


class Act(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Something a person did in a study besides answering: sat down, submitted a unit, opened a picture in full.

    An act copied from an earlier version of an extended study `carries` its id there.
    """

    id: str
    study: str
    version: int
    rater: Actor
    act: ActKind
    at: str
    unit: str = ""
    run: int = 1
    detail: dict[str, Any] = {}
    carries: str = ""
    v: int = VERSION


class Withdrawal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The record of a withdrawn person: their code, the time, and counts of the erased rows, without their words."""

    code: str
    at: str
    by: Actor
    counts: dict[str, int] = {}
    v: int = VERSION
