"""The sheet of a practice item: each answer is an act, stored before it is shown, and never a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotators.calibration import calibration_answers
from lab.core.codec import convert
from lab.core.errors import LabError
from lab.core.study.label import Act, ActKind, Label
from lab.core.study.label_rules import SheetState, check_next, check_open
from lab.core.study.rating_sheet import Sheet
from lab.core.study.signing import sign_act
from lab.core.study.study import Assignment, Study
from lab.core.task.task import Actor

if TYPE_CHECKING:
    from lab.studies.rating.practice import PracticeItem
    from store.store import Store

_ANSWERED: ActKind = "practice_answered"
_DONE: ActKind = "practice_done"
_PLACE = ("id", "target", "field")
_BESIDE = (
    "at", "value", "act", "undoes", "reason_missing", "confidence", "evidence", "region",
    "note", "cites", "shown_at", "first_key_at", "idle_ms", "supersedes", "also", "source",
)  # fmt: skip
"""Fields of an answer stored in its act. Study, unit and rater follow from the act itself."""


class PracticeSheet:
    """One rater's practice, read from their acts, so that an interrupted rater resumes it."""

    def __init__(self, store: Store, study: Study, person: Actor, item: PracticeItem) -> None:
        self.item = item
        self.unit = item.unit
        self._store = store
        self._study = study
        self._person = person

    def record_shown(self) -> None:
        """Record that the item is shown."""
        self._act("practice_shown", {})

    def check(self) -> None:
        """Raise `LabError` if this person may not answer in the study now."""
        check_open(self._state(), self._person.id, self._person.kind, f"study {self._study.name}")

    def record(self, label: Label) -> Sheet:
        """Store one answer by the rules of every sheet, durable on return. Return the updated sheet."""
        check_next(self._state(), label)
        answer = {name: getattr(label, name) for name in _PLACE}
        answer |= {name: getattr(label, name) for name in _BESIDE if getattr(label, name) not in (None, "", ())}
        self._act(_ANSWERED, {"answer": answer})
        return self.sheet()

    def hand_in(self) -> Sheet:
        """Record the hand-in with the number of right answers. Return the sheet."""
        sheet = self.sheet()
        if unanswered := len(sheet.unanswered):
            raise LabError("practice", f"has {unanswered} unanswered.", "Answer or skip them.")
        answers = calibration_answers(sheet)
        self._act(_DONE, {"right": sum(one.right for one in answers), "of": len(answers)})
        return self.sheet()

    def sheet(self) -> Sheet:
        """Return the sheet with the answers so far."""
        acts = [act for act in self._acts() if act.detail.get("practice") == self.item.sha]
        labels = [self._label(act.detail["answer"]) for act in acts if act.act == _ANSWERED]
        sheet = Sheet(self._study.protocol, self.unit, labels)
        sheet.committed_at = next((act.at for act in acts if act.act == _DONE), None)
        return sheet

    def _label(self, answer: dict[str, Any]) -> Label:
        whole = {
            "study": self._study.id, "version": self._study.version, "unit": self.unit.id,
            "rater": {"kind": self._person.kind, "id": self._person.id}, **answer,
        }  # fmt: skip
        label: Label = convert(whole, Label, "a practice answer in the file")
        return label

    def _acts(self) -> list[Act]:
        return self._store.labels.acts(self._study, self._person.id, "")

    def _state(self) -> SheetState:
        """Return the state for the label rules: the study's current state, with this sheet as if dealt."""
        now_there = self._store.labels.sheet_state(self._study, self.unit, self._person)
        assignment = Assignment(self._study.id, self._study.version, self._person.id, 0, self.unit.id, "pilot")
        return now_there._replace(assignment=assignment, sheet=self.sheet(), is_held=False)

    def _act(self, kind: ActKind, detail: dict[str, Any]) -> None:
        whole = {"practice": self.item.sha, **detail}
        self._store.labels.record_act(sign_act(self._study, self._person, kind, detail=whole))
