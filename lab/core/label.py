"""What people say and do at a study: labels, acts, and what stays of who withdrew."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from lab.core.study import VERSION
from lab.core.task import Actor

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
"""What a rater was shown before their first item, and what they answered in practice."""
STUDY_ACTS: tuple[ActKind, ...] = ("dealt", "locked", "archived", "restored", "split", "queued")
"""Acts that are about a study, not about who did them: without them it would be in another state."""
RATER_ACTS: tuple[ActKind, ...] = (
    "sat", "rose", "idle", "break", "opened", "looked", "picture", "guide", "commit", "reopen", "gold", "consent",
    "quiz", "played", "interrupted", "judges", *INTRODUCTION_ACTS,
)  # fmt: skip
"""Acts that their rater did: signs that somebody was at work. Of the others a manager did some in a rater's name."""


class Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A signed sentence about one place in a unit; never changed, only superseded.

    `target` is empty where the unit as a whole is meant. `value` is None where `reason_missing` says why, or where an
    undo left nothing. `run` tells repeated ratings by the same rater apart. `evidence` is a place in a run (`ID@7`,
    steps from 1), `region` pixels (left, top, right, bottom) there. An undo restores what stood before the label that
    it `undoes`. Times are UTC, `first_key_at` None for paste or composition; `idle_ms` is the time away while it was
    open. `source` says how it came: keys, a file's name, a rule; `config_sha` is a model's prompt and parameters,
    `cost` what its answer cost in US dollars (of several given at once, the first has it all).
    It `supersedes` what stood there, and where that was a clash, `also` the other last words. One that was given in an
    earlier version of an extended study `carries` the id that it has there.
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
    def replaces(self) -> tuple[str, ...]:
        """All that it takes the place of."""
        return (*((self.supersedes,) if self.supersedes else ()), *self.also)

    @property
    def cleared(self) -> bool:
        """Whether it leaves its place unanswered."""
        return self.value is None and self.reason_missing is None


class Act(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Something a person did at a study beside answering: sat down, handed a unit in, looked at a picture in full.

    One that was done in an earlier version of an extended study `carries` the id that it has there.
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
    """What stays of a person who withdrew: their code, when, and how much was erased; never a word of theirs."""

    code: str
    at: str
    by: Actor
    counts: dict[str, int] = {}
    v: int = VERSION
