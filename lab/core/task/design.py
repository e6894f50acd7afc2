"""A designer's annotation of a task as revisions: drafted, submitted, verified by another person, then frozen."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.task.task import Actor, Branch, InformationUnit, Rubric, Task, Tdg
from lab.core.values.ids_and_clock import now, uuid7

VERSION = 1
"""Newest stored version of a revision that this program knows."""

Section = Literal["tdg", "branches", "units", "rubric"]
SECTIONS: tuple[Section, ...] = ("tdg", "branches", "units", "rubric")
Act = Literal["draft", "submit", "review", "object", "verify", "reopen", "settle"]
State = Literal["draft", "submitted", "objected", "verified"]

_STATE_AFTER: dict[Act, State] = {
    "draft": "draft", "submit": "submitted", "review": "submitted", "object": "objected", "verify": "verified",
    "reopen": "draft", "settle": "draft",
}  # fmt: skip
_STATES_BEFORE: dict[Act, tuple[State, ...]] = {
    "draft": ("draft", "objected"),
    "submit": ("draft", "objected"),
    "review": ("submitted",),
    "object": ("submitted",),
    "verify": ("submitted",),
    "reopen": ("submitted", "verified"),
    "settle": ("draft", "submitted", "objected", "verified"),
}
WRITING: tuple[Act, ...] = ("draft", "submit")
"""Acts that make a person an author of a version. Reopening it or settling between drafts does not."""
_REVIEWING: tuple[Act, ...] = ("review", "object", "verify")


class Subject(NamedTuple):
    """The task that a design describes: its id, and a hash of its request that is the same in every run of it."""

    task: str
    asked: str


def subject_of(task: Task) -> Subject:
    """Return a task's subject, equal for the task's file and for its runs. Its phone and checks do not count.

    A proactive task has no instruction. Its title, persona, time and place identify its request instead.
    """
    persona = task.persona.rpartition("/")[2]  # a persona of one's own is named by its path, which may move
    context = () if task.instruction.strip() else (task.title, persona, task.time, task.place)
    task_words = encode((task.kind, task.instruction.strip(), *context))
    return Subject(task.id, hashlib.sha256(task_words).hexdigest()[:16])


class Design(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A task's graph, decision points, information units and rubric, in the form of a task file.

    `evidence` maps an item's key (see `design_items`) to the steps that show the item, as `RUN@STEP`.
    """

    tdg: Tdg = Tdg()
    branches: tuple[Branch, ...] = ()
    units: tuple[InformationUnit, ...] = ()
    rubric: Rubric = Rubric()
    evidence: dict[str, tuple[str, ...]] = {}


class Parts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Parts of a design that a file replaces in a draft. None leaves a part unchanged."""

    tdg: Tdg | None = None
    branches: tuple[Branch, ...] | None = None
    units: tuple[InformationUnit, ...] | None = None
    rubric: Rubric | None = None

    def apply_to(self, design: Design) -> Design:
        """Return the design with these parts in place of its own."""
        parts = {name: getattr(self, name) for name in SECTIONS if getattr(self, name) is not None}
        return drop_stale_evidence(msgspec.structs.replace(design, **parts))


class Revision(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One act on a design, with the whole design after it. It never changes, and a later revision supersedes it.

    `marks` are a reviewer's words by item key, empty for an accepted item. `note` describes the act or gives its
    reason. `undoes` is the id of the revision that an undo took back.
    """

    id: str
    task: str
    asked: str
    version: int
    act: Act
    by: Actor
    at: str
    design: Design
    supersedes: tuple[str, ...] = ()
    note: str = ""
    marks: dict[str, str] = {}
    undoes: str = ""
    v: int = VERSION

    @property
    def state(self) -> State:
        return _STATE_AFTER[self.act]

    @property
    def subject(self) -> Subject:
        return Subject(self.task, self.asked)

    @property
    def writable(self) -> bool:
        """True if another draft may follow."""
        return self.state in _STATES_BEFORE["draft"]


class RevisionLine(msgspec.Struct, frozen=True):
    """One act on a design as a line of its history."""

    id: str
    version: int
    act: Act
    by: str
    at: str
    note: str


def design_items(design: Design) -> dict[str, Any]:
    """Return the parts that are drafted and reviewed one by one, by a key such as `tdg/find_dish`, in outline order.

    A node's value holds the edges that lead to it and the ids of its paths, but not the nodes in them.
    """
    by_key: dict[str, Any] = {}
    for node in design.tdg.walk():
        paths = tuple(tuple(inner.id for inner in path) for path in node.alternatives)
        before = tuple(a for a, b in design.tdg.edges if b == node.id)
        by_key[f"tdg/{node.id}"] = (msgspec.structs.replace(node, alternatives=()), paths, before)
    by_key |= {f"branches/{branch.id}": branch for branch in design.branches}
    by_key |= {f"units/{unit.id}": unit for unit in design.units}
    return by_key | {f"rubric/{criterion.id}": criterion for criterion in design.rubric.criteria}


def drop_stale_evidence(design: Design) -> Design:
    """Return the design without evidence for removed items."""
    item_keys = design_items(design)
    evidence = {key: links for key, links in design.evidence.items() if key in item_keys and links}
    return design if evidence == design.evidence else msgspec.structs.replace(design, evidence=evidence)


def first_draft(subject: Subject, by: Actor, design: Design, note: str = "") -> Revision:
    """Return the first revision of a task's first version."""
    return Revision(uuid7(), *subject, version=1, act="draft", by=by, at=now(), design=design, note=note)


def next_revision(
    head: Revision,
    act: Act,
    by: Actor,
    *,
    design: Design | None = None,
    note: str = "",
    marks: dict[str, str] | None = None,
    undoes: str = "",
    also: Sequence[Revision] = (),
) -> Revision:
    """Return the revision that an act adds after `head`. `also` are the other heads that a `settle` supersedes.

    Reopening a frozen version begins the next one. Marks of changed items are dropped. An objection stays until the
    design is submitted again.
    """
    new_design = head.design if design is None else design
    frozen = any(one.state == "verified" for one in (head, *also)) and act in ("reopen", "settle")
    # True counts as 1: a frozen version begins the next one.
    version = max(one.version for one in (head, *also)) + frozen
    new_marks = _carry_marks(head, new_design, act) if marks is None else marks
    supersedes = (head.id, *(one.id for one in also))
    return Revision(
        uuid7(), *head.subject, version=version, act=act, by=by, at=now(), design=new_design, supersedes=supersedes,
        note=note, marks=new_marks, undoes=undoes,
    )  # fmt: skip


def _carry_marks(head: Revision, design: Design, act: Act) -> dict[str, str]:
    if head.state == "verified":
        return {}
    before, after = design_items(head.design), design_items(design)
    # `head` as the default equals no item, so that a removed item loses its mark.
    same = {key: words for key, words in head.marks.items() if before.get(key) == after.get(key, head)}
    # A submission answers the objections, and acceptances stay.
    return {key: words for key, words in same.items() if not (words and act == "submit")}


def check_next(superseded: Sequence[Revision], new: Revision, authors: Collection[str], *, heads: int) -> None:
    """Raise `LabError` if the rules do not let `new` follow the revisions it supersedes.

    `authors` are the codes of the people who drafted or submitted `new.version`. `heads` counts the other heads.
    """
    what = f"design of {new.task}"
    if not superseded:
        if new.act != "draft":
            raise LabError(
                what, "has no draft yet; nothing can be done with it.", "`hitlab tasks design TASK` drafts one."
            )
        return
    for one in superseded:
        if one.state not in _STATES_BEFORE[new.act]:
            raise LabError(what, _state_problem(one, new.act), _state_hint(one))
    if heads and new.act not in ("draft", "settle", "reopen"):
        raise LabError(what, _CLASH.format(heads + 1), "Settle which of them stands first.")
    if new.act == "settle" and len(superseded) < 2:
        raise LabError(what, "has one draft; there is nothing to settle.")
    if new.act not in ("draft", "settle") and new.design != superseded[0].design:
        raise LabError(what, f"cannot be changed by the act {new.act!r}.")
    if new.act in _REVIEWING:
        _check_reviewer(what, new, authors)


def _check_reviewer(what: str, new: Revision, authors: Collection[str]) -> None:
    """Raise `LabError` unless a person who is not an author reviews.

    An objection needs words, and a verification must not have objections.
    """
    if new.by.kind != "human":
        raise LabError(what, "is verified by a person.")
    if new.by.id in authors:
        raise LabError(
            what,
            f"was drafted by {new.by.id}; another person verifies it.",
            "--person CODE says who sits here; R (or --reopen) takes a submitted design back into a draft.",
        )
    objections = [key for key, words in new.marks.items() if words]
    if new.act == "verify" and objections:
        raise LabError(what, f"has objections ({', '.join(objections[:3])}); it is verified when there are none.")
    if new.act == "object" and not (new.note.strip() or objections):
        raise LabError(what, "needs words to object.", "Say what is wrong.")


_CLASH = "stands as {0} drafts beside each other, made at the same time; nothing of them is lost."


def clash_words(heads: Sequence[Revision]) -> str:
    """Return the sentence for a design with several heads."""
    who = ", ".join(sorted({head.by.display_name for head in heads}))
    return f"{_CLASH.format(len(heads))} They are by {who}."


def _state_problem(head: Revision, act: Act) -> str:
    if head.state == "verified":
        return f"is verified: version {head.version} never changes."
    if head.state == "submitted":
        return "is submitted and waits for another person; it does not change until then."
    return "is a draft; it is verified once it was submitted." if act != "reopen" else "is a draft already."


def _state_hint(head: Revision) -> str:
    if head.state == "verified":
        return f"Reopen it: that makes version {head.version + 1}."
    return "Reopen takes it back into a draft." if head.state == "submitted" else "Submit it first."


def undo_target(head: Revision, fetch: Callable[[str], Revision]) -> Revision | None:
    """Return the draft that an undo after `head` takes back, or None if this version has none left."""
    revision = head
    # Skip each earlier undo together with the draft that it took back.
    while revision.undoes:
        undone = fetch(revision.undoes)
        if not undone.supersedes:
            return None
        revision = fetch(undone.supersedes[0])
    return revision if revision.act == "draft" else None


def undo(head: Revision, by: Actor, fetch: Callable[[str], Revision]) -> Revision | None:
    """Return the revision that takes the last draft back, or None if there is nothing to undo."""
    last = undo_target(head, fetch)
    if last is None or not head.writable:
        return None
    before = fetch(last.supersedes[0]).design if last.supersedes else Design()
    return next_revision(head, "draft", by, design=before, note=f"took back: {last.note}", undoes=last.id)
