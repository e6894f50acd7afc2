"""Input at the places of a sheet that is not an answer yet, and its form in a recorded position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from lab.core.study.label import NO_DETAILS, AnswerDetails
from lab.core.study.rating_sheet import FieldReference

LinePurpose = Literal["answer", "note", "cites", "search"]


class AnswerDraft(NamedTuple):
    """Input at a place that is not an answer yet: typed text, chosen options as text, and details of the answer."""

    text: str = ""
    options: str = ""
    details: AnswerDetails = NO_DETAILS


Drafts = dict[FieldReference, AnswerDraft]


class Times(NamedTuple):
    """Times of an answer in progress: shown and first key (UTC, None if no key was pressed).

    `begun` is True if anything was typed, `idle_ms` the time away until `left_at`, when the rater left its item.
    """

    shown_at: str | None = None
    first_key_at: str | None = None
    begun: bool = False
    idle_ms: float = 0.0
    left_at: str = ""


UNTIMED = Times()


@dataclass
class ItemEntry:
    """Input at the current item: since when it is shown, time away until then, and the digits pressed so far."""

    spot: FieldReference | None = None
    shown_at: str | None = None
    away: float = 0.0
    idle_ms: float = 0.0
    """Milliseconds away during earlier times as the current item."""
    first_key_at: str | None = None
    digits: str = ""
    begun: bool = False
    follows: bool = False
    """True if the key before answered the item before. Enter then confirms that answer, and does nothing else."""

    def touch(self, at: str | None) -> None:
        """Record the first key of an answer at that time, or None if no key shows the time (paste, composition)."""
        if not self.begun:
            self.begun, self.first_key_at = True, at


@dataclass
class TypedLine:
    """An open line: its purpose, what it says around the text, and when its typing began."""

    purpose: LinePurpose
    title: str
    hint: str
    text: str = ""
    begun: bool = False
    first_key_at: str | None = None


def draft_rows(drafts: Drafts) -> Iterable[list[str]]:
    """Yield each part of each draft that has one: target, field, kind, text."""
    for spot, draft in drafts.items():
        details = draft.details
        parts = {
            "answer": draft.text,
            "set": draft.options,
            "confidence": "" if details.confidence is None else str(details.confidence),
            "evidence": details.evidence or "",
            "region": ",".join(map(str, details.region or ())),
            "note": details.note,
            "cites": details.cites,
        }
        yield from ([*spot, kind, text] for kind, text in parts.items() if text)


def read_drafts(rows: Iterable[Sequence[str]]) -> Drafts:
    """Return the drafts that `draft_rows` yielded."""
    parts: dict[FieldReference, dict[str, str]] = {}
    for target, field, kind, text in rows:
        parts.setdefault(FieldReference(target, field), {})[kind] = text
    drafts: Drafts = {}
    for spot, part in parts.items():
        left, top, right, bottom = map(int, part["region"].split(",")) if "region" in part else (0, 0, 0, 0)
        details = AnswerDetails(
            float(part["confidence"]) if "confidence" in part else None,
            part.get("evidence"),
            (left, top, right, bottom) if "region" in part else None,
            part.get("note", ""),
            part.get("cites", ""),
        )
        drafts[spot] = AnswerDraft(part.get("answer", ""), part.get("set", ""), details)
    return drafts
