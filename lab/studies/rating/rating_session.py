"""One rater's work on a study: each answer is stored before it is shown. No Textual here."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from annotators.calibration import CalibrationAnswer, calibration_answers, share_right
from annotators.derived import derived_words, is_success
from lab.core.errors import LabError
from lab.core.study.label import NO_DETAILS, Act, ActKind, AnswerDetails, Label, Missing
from lab.core.study.label_rules import check_open
from lab.core.study.rating_sheet import FieldReference, Sheet, answer_to, undo_of
from lab.core.study.signing import sign_act, sign_label
from lab.core.study.study import Assignment, Study, Unit
from lab.core.task.task import Actor
from lab.studies.rating.drafts import UNTIMED, Drafts, Times, draft_rows, read_drafts

if TYPE_CHECKING:
    from lab.studies.rating.practice_sheet import PracticeSheet
    from store.store import Store


class HandedIn(NamedTuple):
    """Feedback on a hand-in: the comparison with gold for a calibration unit, and whether the rater passes.

    `share` is the share of gold answers right in the pilot so far, `held` that the bar was missed.
    """

    compared: list[CalibrationAnswer]
    share: float | None = None
    held: bool = False


class UnitProgress(NamedTuple):
    """A rater's last position: a place on the sheet (None: the line that hands it in), a place in the run, and drafts.

    `times` belongs to the answers in progress.

    `known` is False if nothing is recorded, so that the sheet opens at its beginning.
    """

    spot: FieldReference | None
    place: str
    drafts: Drafts
    known: bool = False
    times: Mapping[FieldReference, Times] = {}


def _progress_of_act(act: Act) -> UnitProgress:
    item = act.detail.get("item") or []
    times = {
        FieldReference(target, field): Times(shown_at, first, begun_at, idle, act.at)
        for target, field, shown_at, first, begun_at, idle in act.detail.get("times", ())
    }
    return UnitProgress(
        FieldReference(*item) if item else None,
        str(act.detail.get("place", "")),
        read_drafts(act.detail.get("drafts", ())),
        True,
        times,
    )


def next_open(
    sheet: Sheet, after: FieldReference | None, seen_spots: Collection[FieldReference] = ()
) -> FieldReference | None:
    """Return the next open place after one, wrapping around, None if all are answered.

    Optional places count too, unless they are in `seen_spots`.
    """
    unsaid = [] if sheet.committed else may_stay_open(sheet)
    open_ones = {*sheet.unanswered, *(spot for spot in unsaid if spot not in seen_spots)}
    spots = sheet.spots
    here = spots.index(after) + 1 if after in spots else 0
    return next((spot for spot in [*spots[here:], *spots[:here]] if spot in open_ones), None)


def may_stay_open(sheet: Sheet) -> list[FieldReference]:
    """Return the optional questions without an answer. Flags are not questions."""
    fields = [(spot, sheet.protocol.field(spot.field)) for spot in sheet.spots if sheet.head(spot) is None]
    return [spot for spot, field in fields if field is not None and not field.required and field.kind != "flag"]


class RatingSession:
    """One rater at a study, at one unit at a time. Every method raises `LabError` if it is refused."""

    def __init__(
        self,
        store: Store,
        study: Study,
        person: Actor,
        *,
        source: str = "keys",
        locale: str = "",
        evidence: str | None = None,
    ) -> None:
        self.store = store
        self.study = study
        self.person = person
        self.source = source
        self.evidence = evidence
        """Evidence of the answers that have none of their own, as the run that was just played."""
        self.locale = locale or study.locale
        """Language of the guideline and of the protocol's words."""
        self.assignment: Assignment | None = None
        self.unit: Unit | None = None
        self.sheet: Sheet | None = None
        self.practice: PracticeSheet | None = None
        """Store of the answers while a practice item is open, None for a unit of the study."""
        self.prelabels: Mapping[FieldReference, Label] = {}
        """A judge's answers to the open unit, if this rater is to see them first, else empty."""

    # -- which unit ------------------------------------------------------------------------------------------

    def next_assignment(self, after: int = -1) -> Assignment | None:
        """Return the first unit not handed in, in this rater's own order, None if all are."""
        return self.store.studies.next_assignment(self.study, self.person.id, after)

    def to_settle(self) -> Assignment | None:
        """Return the first unit handed in with clashing answers of this rater, None if there is none."""
        return next(iter(self.store.labels.clashing_assignments(self.study, self.person.id)), None)

    def open(self, assignment: Assignment) -> Sheet:
        """Open a unit, and record that with what the study shows of it."""
        unit = self.store.studies.unit(self.study, assignment.unit)
        state = self.store.labels.sheet_state(self.study, unit, self.person, assignment.run)
        check_open(state, self.person.id, self.person.kind, "study")
        self.assignment, self.unit, self.sheet, self.practice = assignment, unit, state.sheet, None
        detail: dict[str, Any] = {
            "shows": list(self.study.visible_parts),
            "position": assignment.position,
            "swap": assignment.swap,
            "guide": self.study.protocol.guide_sha(self.locale),
        }
        self.prelabels = self._prelabels(unit, assignment)
        if self.study.prelabel:
            detail["prelabel"] = bool(self.prelabels)
        self.act("opened", unit.id, detail)
        return self.sheet

    def practise(self, practice: PracticeSheet) -> Sheet:
        """Open the practice item, and record that. Its answers are never labels."""
        self.practice, self.assignment, self.unit, self.prelabels = practice, None, practice.unit, {}
        practice.record_shown()
        self.sheet = practice.sheet()
        return self.sheet

    def _prelabels(self, unit: Unit, assignment: Assignment) -> Mapping[FieldReference, Label]:
        """Return the judge's answers to a unit, if this sheet is drawn to show them."""
        if not self.study.prelabel or not assignment.prelabel:
            return {}
        judge_labels = self.store.labels.sheet(self.study, unit, self.study.prelabel, kind="model").heads
        return {spot: label for spot, label in judge_labels.items() if label.reason_missing is None}

    def record_position(
        self, at: FieldReference | None, place: str, drafts: Drafts, times: Mapping[FieldReference, Times] = {}
    ) -> None:
        """Record where this rater is, with unsaved input and its times, so that a crash loses nothing."""
        if self.practice is not None:
            return
        item = list(at) if at is not None else []
        time_rows = [[*spot, *one[:-1]] for spot, one in times.items()]
        detail = {"item": item, "place": place, "drafts": [*draft_rows(drafts)], "times": time_rows}
        self.act("looked", self._open()[0].id, detail)

    def last_position(self) -> UnitProgress:
        """Return where this rater left the open unit: by the last recorded look or the last answer."""
        unit, sheet = self._open()
        acts = [] if self.practice else self.store.labels.acts(self.study, self.person.id, unit.id, self._run)
        looks = sorted((act for act in acts if act.act == "looked"), key=lambda act: (act.at, act.id))
        last = sheet.rows[-1] if sheet.rows else None
        # An answer newer than the last look moves the rater on and makes that place's draft obsolete.
        if looks and (last is None or looks[-1].at >= last.at):
            return _progress_of_act(looks[-1])
        if last is None:
            return UnitProgress(None, "", {})
        was = _progress_of_act(looks[-1]) if looks else UnitProgress(None, "", {})
        answered_fields = {
            FieldReference(row.target, row.field) for row in sheet.rows if not looks or row.at > looks[-1].at
        }
        drafts = {spot: draft for spot, draft in was.drafts.items() if spot not in answered_fields}
        times = {spot: times for spot, times in was.times.items() if spot not in answered_fields}
        last_spot = FieldReference(last.target, last.field)
        spot = last_spot if last.act == "undo" else next_open(sheet, last_spot)
        return UnitProgress(spot, last.evidence or was.place, drafts, True, times)

    # -- answering -------------------------------------------------------------------------------------------

    def answer(
        self,
        spot: FieldReference,
        value: Any = None,
        *,
        missing: Missing | None = None,
        details: AnswerDetails = NO_DETAILS,
        times: Times = UNTIMED,
    ) -> Label:
        """Store an answer at a place, durable on return."""
        unit, sheet = self._open()
        details = details.fill_from(AnswerDetails(evidence=self.evidence))
        label = answer_to(sheet, self._signed(spot, value, missing, details, times))
        self.sheet = self._record(unit, label)
        return label

    def undo(self) -> Label | None:
        """Undo the newest answer by a further row. Return None if there is nothing to undo."""
        unit, sheet = self._open()
        label = undo_of(sheet, self._signed(FieldReference("", "")))
        if label is not None:
            self.sheet = self._record(unit, label)
        return label

    def commit(self, detail: dict[str, Any] | None = None) -> HandedIn:
        """Hand the unit in. A calibration unit then reveals its gold, and a rater below the bar is held.

        One transaction records all of it, so that a crash in between lets nobody continue past the bar.
        """
        unit, _ = self._open()
        if self.practice is not None:
            self.sheet = self.practice.hand_in()
            return HandedIn(calibration_answers(self.sheet))
        learned = HandedIn([])

        # Called inside the hand-in's transaction, after the commit act is in.
        def following() -> Iterator[Act]:
            nonlocal learned
            if comparison := calibration_answers(self._as_it_stands(unit)):
                learned = self._calibration_result(comparison)
                yield self._acting("gold", unit.id)
                if learned.held:
                    yield self._acting("held", detail={"share": learned.share, "bar": self.study.bar})

        self.store.labels.hand_in(self.study, unit, self._acting("commit", unit.id, detail), following)
        self.sheet = self._as_it_stands(unit)
        return learned

    def _calibration_result(self, answers: list[CalibrationAnswer]) -> HandedIn:
        """Return the pilot's result so far. The bar applies at its end."""
        pilot = [
            assignment
            for assignment in self.store.studies.assignments(self.study, self.person.id)
            if assignment.stage == "pilot"
        ]
        sheets = []
        for assignment in pilot:
            unit = self.store.studies.unit(self.study, assignment.unit)
            sheets.append(self.store.labels.sheet(self.study, unit, self.person.id, assignment.run))
        committed_sheets = [sheet for sheet in sheets if sheet.committed]
        share = share_right(committed_sheets)
        over = len(committed_sheets) == len(sheets)
        on_hold = over and self.study.bar is not None and share is not None and share < self.study.bar
        return HandedIn(answers, share, on_hold)

    def reopen(self, detail: dict[str, Any] | None = None) -> None:
        """Reopen a unit that was handed in, if its protocol allows that and no gold was shown."""
        unit, sheet = self._open()
        if not sheet.committed:
            return
        self.store.labels.reopen(self.study, unit, self._acting("reopen", unit.id, detail))
        self.sheet = self._as_it_stands(unit)

    def derived(self, *, in_words: bool = False) -> list[tuple[str, str]]:
        """Return the conclusions from a handed-in unit's answers, by name. `in_words` formats them for people."""
        unit, sheet = self._open()
        if self.practice is not None:
            return []
        return (
            derived_words(self.study, unit, sheet, done=self._run_succeeded(unit), in_words=in_words)
            if sheet.committed
            else []
        )

    def act(self, kind: ActKind, unit: str = "", detail: dict[str, Any] | None = None) -> None:
        """Record an act."""
        self.store.labels.record_act(self._acting(kind, unit if self.practice is None else "", detail))

    def check(self) -> None:
        """Raise `LabError` if this rater may not answer about the open unit."""
        unit, _ = self._open()
        if self.practice is not None:
            self.practice.check()
            return
        state = self.store.labels.sheet_state(self.study, unit, self.person, self._run)
        check_open(state, self.person.id, self.person.kind, f"unit {unit.id}")

    def refresh(self) -> bool:
        """Read the sheet anew. Return False if it has not changed."""
        unit, sheet = self._open()
        fresh_sheet = self._as_it_stands(unit)
        same_rows = [row.id for row in fresh_sheet.rows] == [row.id for row in sheet.rows]
        if same_rows and fresh_sheet.committed == sheet.committed:
            return False
        self.sheet = fresh_sheet
        return True

    # -- beneath ---------------------------------------------------------------------------------------------

    @property
    def _run(self) -> int:
        return self.assignment.run if self.assignment is not None else 1

    def _open(self) -> tuple[Unit, Sheet]:
        if self.unit is None or self.sheet is None:
            raise LabError("study", "no unit of it is open.")
        return self.unit, self.sheet

    def _run_succeeded(self, unit: Unit) -> bool | None:
        """Return True or False for the success of the unit's run, None if raters may not know it or nothing tells."""
        may_know = unit.runs and "outcome" in self.study.visible_parts and self.store.runs.has_run(unit.runs[0])
        return is_success(self.store.runs.summary(unit.runs[0]).score) if may_know else None

    def _record(self, unit: Unit, label: Label) -> Sheet:
        return self.practice.record(label) if self.practice else self.store.labels.record(self.study, unit, label)

    def _as_it_stands(self, unit: Unit) -> Sheet:
        """Return this rater's sheet of a unit, read anew."""
        if self.practice is not None:
            return self.practice.sheet()
        return self.store.labels.sheet(self.study, unit, self.person.id, self._run, self.person.kind)

    def _acting(self, kind: ActKind, unit: str = "", detail: dict[str, Any] | None = None) -> Act:
        run = self._run if unit else 1
        return sign_act(self.study, self.person, kind, unit, run, detail=detail)

    def _signed(
        self,
        spot: FieldReference,
        value: Any = None,
        missing: Missing | None = None,
        details: AnswerDetails = NO_DETAILS,
        times: Times = UNTIMED,
    ) -> Label:
        """Return a label by this rater about the open unit, now."""
        return sign_label(
            self.study,
            self._open()[0],
            self.person,
            spot,
            source=self.source,
            locale=self.locale,
            run=self._run,
            value=value,
            reason_missing=missing,
            **details._asdict(),
            shown_at=times.shown_at,
            first_key_at=times.first_key_at,
            idle_ms=times.idle_ms,
        )


def why_closed(store: Store, study: Study, code: str) -> str:
    """Return the reason why this person cannot rate in a study now, in a sentence, empty if they can."""
    if store.labels.has_withdrawn(code):
        return f"{code} has withdrawn from studies; nothing is asked of them."
    if (later := store.studies.extended_by(study)) is not None:
        return f"This study was extended and goes on as {study.id} v{later}: what you answered is there."
    if store.studies.locked(study):
        return "This study is locked: nothing in it changes any more."
    if store.studies.has_left(study, code):
        return f"{code} has left this study; another goes on in their place."
    if not store.studies.progress(study, code).dealt:
        return f"Nothing in this study is dealt to {code}."
    return ""
