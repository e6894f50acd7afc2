"""Records stored beside a run's events: list row, relatives, blobs, imported verdicts."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from lab.core.errors import LabError
from lab.core.run.trace import AnyEvent, Forked, Started
from lab.core.study.proofreading import Review
from lab.core.task.task import Actor, AgentName
from lab.core.text.plain_text import plain


class TraceLine(msgspec.Struct, frozen=True):
    """A run as a list row, as `hitlab traces --json` prints it. `questions` and `replies` are counts.

    `archived` runs appear only in the list of archived runs.
    """

    id: str
    task: str
    agent: str
    persona: str | None
    steps: int
    questions: int
    replies: int
    status: str
    score: float | None
    source: str | None
    tags: tuple[str, ...] = ()
    archived: bool = False


class Summary(TraceLine, frozen=True):
    """A list row with the start time (UTC). `actor` is the agent, and `agent` is its identity."""

    started: str = ""
    actor: Actor | None = None


class RelatedRun(Summary, frozen=True):
    """A list row with the position at which the run left its parent. `parent` may be missing from this file."""

    parent: str | None = None
    forked: Forked | None = None


class Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A judgement that came with an imported run, in its source's own words and fields."""

    name: str
    value: Any = None
    reason: str = ""
    extra: dict[str, Any] = {}


class Blob(NamedTuple):
    """Bytes that an event refers to by their sha256: a screenshot, or the embedded phone's state.

    `path` names the file with these bytes if an import may leave them there.
    """

    data: bytes
    mime: str
    path: str = ""

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


class Clearance(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A person's declaration that a demonstration has nothing private, from the start or since a redaction."""

    id: str
    trace: str
    by: Actor
    at: str
    v: int = 1


class RunAct(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A person's act on a run in their lists: archived, restored, tagged, untagged or renamed it.

    The last act on a run with the same `tag` applies (an empty tag for archiving). None is ever changed. `renamed`
    gives the run's agent another name, version and model under the tag `RENAMED`. With `agent` None the agent has its
    own name again.
    """

    id: str
    trace: str
    act: Literal["archived", "restored", "tagged", "untagged", "renamed"]
    by: Actor
    at: str
    tag: str = ""
    v: int = 1
    agent: AgentName | None = None


RENAMED = "agent name"
"""Tag of an act that renames an agent. It has a blank, so that no tag of a person can equal it."""


_TAG = re.compile(r"[^\W_][\w./-]{0,39}")


def normalize_tag(text: str) -> str:
    """Normalize a tag: Unicode NFC, lower case."""
    return unicodedata.normalize("NFC", text).casefold()


def check_tag(text: str) -> str:
    """Return a normalized tag. Raise `LabError` unless it is a word of at most 40 letters, digits and . / - _."""
    tag = normalize_tag(text)
    if tag == "none" or not _TAG.fullmatch(tag):
        problem = "is what finds runs without a tag" if tag == "none" else "is no tag"
        hint = "A tag is one word: letters and digits first, then also . / - _; at most 40 characters."
        raise LabError(f"tag {plain(text)[:60]!r}", f"{problem}.", hint, code=2)
    return tag


class Tombstone(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Record of an erased run, without its text. `replaced_by` is the redacted run in its place.

    `counts` are the numbers of covered or destroyed parts.
    """

    trace: str
    why: Literal["redacted", "withdrawn"]
    by: Actor
    at: str
    replaced_by: str | None = None
    counts: dict[str, int] = {}
    v: int = 1


class Kit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Mark of a kit: a file with all of a study's version that one rater may see, and nothing else.

    `sha` is the study's hash in the file it came from. `runs` and the row counts are what was exported. `digest` is the
    hash of those, by which an import tells changes from additions.
    """

    id: str
    study: str
    version: int
    sha: str
    rater: str
    at: str
    digest: str
    units: int
    assignments: int
    labels: int
    acts: int
    runs: tuple[str, ...] = ()
    v: int = 1


class Imported(NamedTuple):
    """One run from a reader: its events, the bytes they refer to, and the source's own verdicts.

    Our own format also has what people said of the run: reviews, clearances, and the tombstones of runs it replaces.
    """

    events: list[AnyEvent]
    images: Mapping[str, Blob]
    verdicts: list[Verdict]
    reviews: Sequence[Review] = ()
    clearances: Sequence[Clearance] = ()
    tombstones: Sequence[Tombstone] = ()

    @property
    def id(self) -> str:
        first = self.events[0]
        assert isinstance(first, Started)
        return first.trace


def number_events(events: Iterable[AnyEvent]) -> list[AnyEvent]:
    """Return events with `seq` from 0 in their order. A reader's last step."""
    return [msgspec.structs.replace(event, seq=i) for i, event in enumerate(events)]


def imported_id(format: str, data: bytes) -> str:
    """Return the id of an imported run: a hash of its source bytes, so that a second import finds the same run."""
    return hashlib.sha256(format.encode() + b"\0" + data).hexdigest()[:32]


INCOMPLETE = "-incomplete"
"""Suffix of the id of an imported run whose source lacked pictures. The rest is the complete run's id."""


def whole_and_incomplete(id: str) -> tuple[str, str]:
    """Return the ids of the complete and of the incomplete run, from either."""
    whole = id.removesuffix(INCOMPLETE)
    return whole, whole + INCOMPLETE
