"""What is kept beside a run's events and told of it in short: its line in a list, its kin, its bytes, verdicts."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.core.proofreading import Review
from lab.core.task import Actor, AgentName
from lab.core.trace import AnyEvent, Forked, Started


class TraceLine(msgspec.Struct, frozen=True):
    """A run in one line, as `hitlab traces --json` prints it; `questions` and `replies` are counts.

    `archived` runs are in no list but that of what is archived.
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
    """A run in one line, and when it began (UTC); `actor` is its agent, of which `agent` is the identity."""

    started: str = ""
    actor: Actor | None = None


class RelatedRun(Summary, frozen=True):
    """A run in one line, and where it left its parent; `parent` may be a run that is not in this file."""

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

    `path` names the file whose bytes these are, where an import may leave them there.
    """

    data: bytes
    mime: str
    path: str = ""

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


class Clearance(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A person's word that a demonstration holds nothing private, or no longer."""

    id: str
    trace: str
    by: Actor
    at: str
    v: int = 1


class RunAct(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a person did with a run in their lists: archived or restored it, put a tag on it or took it off.

    Of the acts on one run with one `tag` (empty: whether it is archived) the last one holds; none is ever changed.
    `renamed` gives the run's agent another name, version and model; its `tag` is `RENAMED`. None: its own again.
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
"""Stands where an act that renames an agent has no tag; no tag may be so written."""


_TAG = re.compile(r"[^\W_][\w./-]{0,39}")


def tag_of(text: str) -> str:
    """A tag as it is kept: in small letters, so that what was typed otherwise is the same one."""
    return unicodedata.normalize("NFC", text).casefold()


def check_tag(text: str) -> str:
    """A tag as it is kept; `LabError` where it is none: a word of letters, digits and . / - _ of at most 40."""
    tag = tag_of(text)
    if tag == "none" or not _TAG.fullmatch(tag):
        problem = "is what finds runs without a tag" if tag == "none" else "is no tag"
        hint = "A tag is one word: letters and digits first, then also . / - _; at most 40 characters."
        raise LabError(f"tag {plain(text)[:60]!r}", f"{problem}.", hint, code=2)
    return tag


class Tombstone(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What stays of a run that was erased: never a word of it. `replaced_by` is the redacted run in its place.

    `counts` says how much of what was covered or destroyed.
    """

    trace: str
    why: Literal["redacted", "withdrawn"]
    by: Actor
    at: str
    replaced_by: str | None = None
    counts: dict[str, int] = {}
    v: int = 1


class Kit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What marks a file as a kit: all of a study's version that one rater may see, and nothing else.

    `sha` is the whole study's, as it stands where the kit came from. `runs` went out with it, and so many rows of
    each kind; `digest` is the hash of all that, so that what was changed since can be told from what was added.
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
    """What a reader yields for one run: its events, the bytes they refer to, the source's own verdicts.

    Our own format brings further what people said of the run here: reviews, clearances, and the runs it replaces.
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


def numbered(events: Iterable[AnyEvent]) -> list[AnyEvent]:
    """Events with `seq` set from 0 in their order; what a reader calls last."""
    return [msgspec.structs.replace(event, seq=i) for i, event in enumerate(events)]


def imported_id(format: str, data: bytes) -> str:
    """The id of an imported trace: the same source bytes make the same run, so importing twice is once."""
    return hashlib.sha256(format.encode() + b"\0" + data).hexdigest()[:32]


INCOMPLETE = "-incomplete"
"""What the id of an imported run ends in whose source lacked pictures; without it, it is the whole run's."""


def whole_and_incomplete(id: str) -> tuple[str, str]:
    """The ids of a whole run and of the one that came in without some of its pictures, by either."""
    whole = id.removesuffix(INCOMPLETE)
    return whole, whole + INCOMPLETE
