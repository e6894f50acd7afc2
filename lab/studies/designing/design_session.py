"""One task's design while a person works on it. Each change is stored before it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.core.errors import LabError
from lab.core.task.design import (
    Act,
    Design,
    Revision,
    clash_words,
    design_items,
    first_draft,
    next_revision,
    subject_of,
    undo,
    undo_target,
)
from lab.core.task.task import Actor, Task
from lab.studies.designing.design_checks import Problem, check_sound, problems

if TYPE_CHECKING:
    from store.store import Store


class DesignSession:
    """Revision heads of one design and what this person may do with them.

    Every method raises `LabError` if the store refuses. The session keeps a refused draft and tries to store it again
    with the next act.
    """

    def __init__(self, store: Store, task: Task, person: Actor) -> None:
        self.store = store
        self.task = task
        self.person = person
        self.subject = subject_of(task)
        self.heads: list[Revision] = []
        self.authors: list[str] = []
        self.unkept: Design | None = None
        """Draft that is on the screen but not in the file, because the store refused it."""
        self.problems: list[Problem] = []

    # -- where it stands -------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read the current heads. Another person may have changed them."""
        self._accept_heads(self.store.designs.heads(self.subject))

    def _accept_heads(self, heads: list[Revision]) -> None:
        mine = [head for head in heads if head.by == self.person]
        # Their own head goes last, where `head` takes it from.
        self.heads = [head for head in heads if not mine or head is not mine[-1]] + mine[-1:]
        head = self.head
        self.authors = self.store.designs.authors(self.subject, head.version) if head else []
        self.problems = problems(self.design, self.task.apps)

    @property
    def head(self) -> Revision | None:
        """The revision this person works on, their own of several heads."""
        return self.heads[-1] if self.heads else None

    @property
    def concurrent_drafts(self) -> list[Revision]:
        """Concurrent drafts of others."""
        return self.heads[:-1]

    @property
    def design(self) -> Design:
        """The design to show."""
        return self.unkept or (self.head.design if self.head else Design())

    @property
    def marks(self) -> dict[str, str]:
        """The reviewer's words by item key. Empty words accept the item."""
        return self.head.marks if self.head else {}

    @property
    def writable(self) -> bool:
        return self.head is None or self.head.writable

    @property
    def reviewing(self) -> bool:
        """True if this person may verify the design: it is submitted, and they are not an author."""
        head = self.head
        return (
            head is not None
            and head.state == "submitted"
            and not self.concurrent_drafts
            and self.person.id not in self.authors
        )

    @property
    def unseen(self) -> list[str]:
        """Keys of the items that the reviewer has not marked yet."""
        return [key for key in design_items(self.design) if key not in self.marks]

    @property
    def objections(self) -> list[str]:
        """Keys of the items with an objection."""
        return [key for key, words in self.marks.items() if words and key in design_items(self.design)]

    # -- what is done with it --------------------------------------------------------------------------------

    def draft(self, design: Design, note: str) -> None:
        """Store a changed design."""
        if design == self.design and self.unkept is None:
            return
        self.unkept, head = design, self.head
        if head is None:
            self._append(first_draft(self.subject, self.person, design, note))
        else:
            self._append(next_revision(head, "draft", self.person, design=design, note=note))

    def undo(self) -> str:
        """Undo the last change and return its note, empty if there is none."""
        if self.unkept is not None:
            self.unkept = None
            self.load()
            return "took back what was not in the file"
        head = self.head
        if head is None or undo_target(head, self.store.designs.revision) is None:
            return ""
        back = undo(head, self.person, self.store.designs.revision)
        if back is None:
            return ""
        self.unkept = None
        self._append(back)
        return back.note

    def submit(self) -> None:
        """Submit the draft for review by another person."""
        check_sound(self.design, f"design of {self.task.id}", self.task.apps)
        self._record_act("submit")

    def mark(self, key: str, words: str) -> None:
        """Store a reviewer's words on one item. Empty words accept it."""
        self._record_act("review", marks={**self.marks, key: words})

    def check_verify(self) -> None:
        """Raise `LabError` if an item is not reviewed yet."""
        if self.unseen:
            names = ", ".join(self.unseen[:3])
            raise LabError(f"design of {self.task.id}", f"{len(self.unseen)} items are not looked at yet ({names}).")

    def verify(self) -> None:
        """Freeze the design. Raise `LabError` if an item is not reviewed yet."""
        self.check_verify()
        self._record_act("verify")

    def send_back(self, note: str) -> None:
        """Return the design to its authors with the objections."""
        self._record_act("object", note=note)

    def reopen(self) -> None:
        """Reopen it as a draft, a frozen one as a new version, and store an unsaved draft in it."""
        unkept, self.unkept = self.unkept, None
        self.load()
        if not self.writable:
            self._record_act("reopen")
        if unkept is not None:
            self.draft(unkept, "what was typed meanwhile")

    def settle(self, *, mine: bool) -> None:
        """Settle on one of two concurrent drafts: this person's or the other one.

        Raise `LabError` if the heads changed since they were shown.
        """
        head_ids = {one.id for one in self.heads}
        self.load()
        if head_ids != {one.id for one in self.heads}:
            raise LabError(f"design of {self.task.id}", "was changed meanwhile; nothing was settled.", "Look again.")
        head = self.head
        if head is None or not self.concurrent_drafts:
            raise LabError(f"design of {self.task.id}", "has one draft; there is nothing to settle.")
        draft = head if mine else self.concurrent_drafts[-1]
        rest = [one for one in self.heads if one is not draft]
        note = f"settled on the draft of {draft.by.display_name}"
        self._append(next_revision(draft, "settle", self.person, note=note, also=rest))

    def _record_act(self, act: Act, *, note: str = "", marks: dict[str, str] | None = None) -> None:
        head = self.head
        if head is None:
            raise LabError(f"design of {self.task.id}", "has no draft yet.")
        if self.concurrent_drafts and act != "reopen":
            raise LabError(f"design of {self.task.id}", clash_words(self.heads))
        self._append(next_revision(head, act, self.person, note=note, marks=marks))

    def _append(self, revision: Revision) -> None:
        try:
            heads = self.store.designs.append(revision)
        except LabError:
            # Mostly another person was quicker: show their state and hold on to this draft.
            unkept = self.unkept
            self.load()
            self.unkept = unkept
            raise
        self.unkept = None
        self._accept_heads(heads)
