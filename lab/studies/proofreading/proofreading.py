"""One demonstration while a person proofreads it: each verdict is stored before it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from lab.core.errors import LabError
from lab.core.study.proofreading import (
    WHOLE,
    Act,
    Proof,
    ProofreadingSheet,
    ProofreadingState,
    ProofreadPlace,
    Review,
    action_of,
    plain_value,
    proof_of,
    proofreading_state,
    visible_rows,
    without_undone,
)
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.runs.fork.incomplete_action import action_problem

if TYPE_CHECKING:
    from store.store import Store


class ProofreadingSession:
    """One demonstration and one person's review of it. Every method raises `LabError` if it is refused."""

    def __init__(self, store: Store, trace_id: str, person: Actor) -> None:
        self.store = store
        self.person = person
        trace = store.runs.trace(trace_id)
        self.demo: Proof = proof_of(trace)
        self.size = trace.device.size
        self.slips = trace.slips
        """Steps (from 0) that the annotator marks as slips."""
        self.rows: list[Review] = []
        self.load()

    def load(self) -> None:
        """Read the current reviews. Another person may have added to them."""
        self.rows = self.store.reviews.of_run(self.demo.trace)

    @property
    def sheet(self) -> ProofreadingSheet:
        return ProofreadingSheet(self.demo, self.rows, self.person.id)

    @property
    def standing(self) -> ProofreadingState:
        return proofreading_state(self.demo, self.rows)

    @property
    def writable(self) -> bool:
        """True if this person may still proofread it: not their own, not handed in, and not by two others."""
        taken = len(self.standing.proofreaders) >= 2
        return self.person.id != self.demo.annotator.id and not self.sheet.committed and not taken

    @property
    def settling(self) -> bool:
        """True if this person is the third, who settles differences."""
        two = self.standing.proofreaders
        return len(two) >= 2 and self.person.id not in (*two, self.demo.annotator.id)

    @property
    def open_standing(self) -> ProofreadingState:
        """The state as far as this person may know it: nothing of others' reviews until two have handed theirs in."""
        state = self.standing
        return state if len(state.proofreaders) >= 2 else ProofreadingState("unreviewed")

    def value(self, place: ProofreadPlace) -> Any:
        """Return the value of a place for this person: their own, or as a third the agreed one."""
        if self.settling:
            return self.standing.values.get(place, self.demo.values[place])
        return self.sheet.value(place)

    @property
    def visible(self) -> list[Review]:
        """The rows that this person may see."""
        return visible_rows(self.demo, self.rows, self.person.id)

    def accept(self, steps: list[int | None]) -> None:
        """Accept steps, and the whole (None), with this person's current values."""
        sheet = self.sheet
        self._store_rows(
            [
                self._review_row(verdict_place(step), "accept", sheet.value(verdict_place(step)), "accept")
                for step in steps
            ]
        )

    def write(self, place: ProofreadPlace, value: Any) -> None:
        """Change a field's value, as a proofreader or as the third who settles."""
        if plain_value(value) == self.value(place) and not self._differs(place):
            return
        if self.settling:
            self.settle(place, value)
        else:
            self.edit(place, value)

    def _differs(self, place: ProofreadPlace) -> bool:
        return self.settling and any(one.place == place for one in self.standing.differences)

    def edit(self, place: ProofreadPlace, value: Any) -> None:
        """Change a field's value."""
        self._check_value(place, value)
        self._store_rows([self._review_row(place, "edit", self.sheet.value(place), value)])

    def reject(self, step: int | None, reason: str) -> None:
        """Reject a step, or the whole (None), with a reason."""
        place = verdict_place(step)
        self._store_rows([self._review_row(place, "reject", self.sheet.value(place), "reject", reason)])

    def settle(self, place: ProofreadPlace, value: Any, note: str = "") -> None:
        """Settle a difference between two proofreaders."""
        self._check_value(place, value)
        old = self.demo.values.get(place, "accept")
        self._store_rows(
            [msgspec.structs.replace(self._review_row(place, "settle", old, value, note), supersedes=None)]
        )

    @property
    def last_word(self) -> Review | None:
        """This person's newest row that can still be undone."""
        if not (self.writable or self.settling):
            return None
        settlements = [row for row in without_undone(self.rows) if row.by.id == self.person.id and row.act == "settle"]
        words = settlements if self.settling else self.sheet.words
        return words[-1] if words else None

    def undo(self) -> list[Review]:
        """Undo the newest row and the others of the same act. Return the undone rows."""
        last = self.last_word
        if last is None:
            raise LabError(f"review of run {self.demo.trace}", "there is nothing of yours to take back.")
        words = [
            row for row in without_undone(self.rows) if (row.by.id, row.at, row.act) == (last.by.id, last.at, last.act)
        ]
        self._store_rows([self._undo_review(row) for row in words])
        return words

    def _undo_review(self, word: Review) -> Review:
        return Review(
            uuid7(), word.trace, word.step, word.field, "undo", self.person, now(), word.new, word.old,
            supersedes=word.id, v=2,
        )  # fmt: skip

    def commit(self) -> None:
        """Hand in this person's review. It does not change any more."""
        self._store_rows([self._review_row(WHOLE, "commit", None, None)])

    def _check_value(self, place: ProofreadPlace, value: Any) -> None:
        if place.field == "action":
            action = action_of(value)
            wrong = action_problem(action, self.size)
            if wrong:
                raise LabError(
                    f"action {action.kind}", wrong, "`hitlab settings schema action` says what it may hold.", code=2
                )

    def _review_row(self, place: ProofreadPlace, act: Act, old: Any, new: Any, note: str = "") -> Review:
        head = self.sheet.heads.get(place) if act != "commit" else None
        return Review(
            uuid7(), self.demo.trace, place.step, place.field, act, self.person, now(), old, new, note,
            head.id if head is not None else None,
        )  # fmt: skip

    def _store_rows(self, rows: list[Review]) -> None:
        """Store the rows of one act with one time, by which `undo` finds them together."""
        rows = [msgspec.structs.replace(row, at=rows[0].at) for row in rows]
        self.rows = self.store.reviews.append(self.demo, rows)


def verdict_place(step: int | None) -> ProofreadPlace:
    return WHOLE if step is None else ProofreadPlace(step, "step")
