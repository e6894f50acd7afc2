"""What is asked of people: protocols, studies, and the labels they give."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from lab.task import Actor

Unit = Literal["run", "pair of runs", "pair of instruction sets", "step", "question", "task to play"]
Targets = Literal["unit", "tdg nodes", "information units", "branches", "criteria", "steps", "questions"]
Missing = Literal["not_reached", "not_applicable", "cannot_judge"]


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing asked of a rater; `options` in the order that statistics use, `key` what a person presses."""

    id: str
    ask: str
    kind: Literal["nominal", "ordinal", "interval", "flag", "text", "step", "box"]
    options: tuple[str, ...] = ()
    required: bool = True
    show_if: str = ""
    key: str = ""


class Protocol(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The questions asked about one unit; `shows` is what a rater sees before committing."""

    id: str
    version: str
    title: str
    unit: Unit
    fields: tuple[Field, ...]
    guide: str = ""
    targets: Targets = "unit"
    shows: tuple[str, ...] = ()


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A frozen plan: who rates which units by which protocol. Changing anything makes a new version."""

    id: str
    version: int
    title: str
    protocol: Protocol
    units: tuple[str, ...]
    raters: tuple[str, ...]
    overlap: int = 2
    calibration: tuple[str, ...] = ()
    blind: tuple[str, ...] = ()
    seed: int = 0


class Assignment(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One unit dealt to one rater, at its place in their order."""

    id: str
    study: str
    version: int
    unit: str
    rater: str
    position: int


class Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A signed sentence about one place in a run; never changed, only superseded.

    `value` is None where `reason_missing` says why. Times are UTC, `idle_ms` the time away while it was open.
    """

    id: str
    study: str
    study_version: int
    unit: str
    target: str
    field: str
    rater: Actor
    value: Any = None
    run: int = 1
    reason_missing: Missing | None = None
    confidence: float | None = None
    evidence: str | None = None
    region: tuple[int, int, int, int] | None = None
    note: str = ""
    shown_at: str | None = None
    first_key_at: str | None = None
    at: str = ""
    idle_ms: float = 0.0
    guide_sha: str = ""
    protocol_sha: str = ""
    config_sha: str = ""
    source: str = ""
    supersedes: str | None = None
    v: int = 1


class Agreement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One statistic over labels; `value` is None where `undefined` says why, and is then never printed as a number."""

    field: str
    statistic: str
    value: float | None
    low: float | None = None
    high: float | None = None
    units: int = 0
    traces: int = 0
    raters: int = 0
    missing: float = 0.0
    undefined: str = ""
