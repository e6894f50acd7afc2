"""Where one rater works on a study: each answer is on the disk before it is shown. No Textual here."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from annotators.calibration import CalibrationAnswer, compared, share_right
from annotators.derived import derived, succeeded
from lab.core.errors import LabError
from lab.core.ids_and_clock import now, uuid7
from lab.core.label import Act, ActKind, Label, Missing
from lab.core.label_rules import check_open
from lab.core.rating_sheet import BESIDE, FieldReference, Sheet, answer_to, undo_of
from lab.core.study import Assignment, Study, Unit
from lab.core.task import Actor

if TYPE_CHECKING:
    from lab.studies.practice_sheet import PracticeSheet
    from store.store import Store


class HandedIn(NamedTuple):
    """What a rater learns on handing a unit in: beside gold where it is a calibration unit, and whether they pass.

    `share` is the share of gold answers that were right over the pilot so far, `held` whether the bar was missed.
    """

    compared: list[CalibrationAnswer]
    share: float | None = None
    held: bool = False


Drafts = dict[tuple[FieldReference, str], str]
"""What was said of a place and waits for its answer: by place, and what it is (`answer`, `note`, `evidence` ...)."""


class Times(NamedTuple):
    """When an answer that is not given yet was begun: shown and first key (UTC; None where no key tells).

    `begun` is whether anything was typed, `idle_ms` the time away until `left_at`, when its item was left.
    """

    shown_at: str
    first_key_at: str | None = None
    begun: bool = False
    idle_ms: float = 0.0
    left_at: str = ""


class UnitProgress(NamedTuple):
    """Where a rater left off: a place on the sheet (None: the line that hands it in), a place in the run, and drafts.

    `times` tell since when they are at the answers that are not given yet.

    `known` is false where nothing tells, so that the sheet begins at its beginning.
    """

    spot: FieldReference | None
    place: str
    drafts: Drafts
    known: bool = False
    times: Mapping[FieldReference, Times] = {}


def _rest(act: Act) -> UnitProgress:
    item = act.detail.get("item") or []
    drafts = {
        (FieldReference(target, field), kind): words for target, field, kind, words in act.detail.get("drafts", ())
    }
    times = {
        FieldReference(target, field): Times(shown_at, first, begun_at, idle, act.at)
        for target, field, shown_at, first, begun_at, idle in act.detail.get("times", ())
    }
    return UnitProgress(FieldReference(*item) if item else None, str(act.detail.get("place", "")), drafts, True, times)


def next_open(
    sheet: Sheet, after: FieldReference | None, seen_spots: Collection[FieldReference] = ()
) -> FieldReference | None:
    """The next place to answer after one, from the top again where there is none below; None where all are answered.

    Places that may stay open come, too, as long as they are not in `seen_spots`.
    """
    unsaid = [] if sheet.committed else may_stay_open(sheet)
    open_ones = {*sheet.unanswered, *(spot for spot in unsaid if spot not in seen_spots)}
    spots = sheet.spots
    here = spots.index(after) + 1 if after in spots else 0
    return next((spot for spot in [*spots[here:], *spots[:here]] if spot in open_ones), None)


def may_stay_open(sheet: Sheet) -> list[FieldReference]:
    """Questions without an answer that need none; flags are no questions."""
    fields = [(spot, sheet.protocol.field(spot.field)) for spot in sheet.spots if sheet.head(spot) is None]
    return [spot for spot, field in fields if field is not None and not field.required and field.kind != "flag"]


class RatingSession:
    """One rater's place in a study, at one unit. Every verb raises `LabError` where it is refused."""

    def __init__(self, store: Store, study: Study, person: Actor, *, source: str = "keys", locale: str = "") -> None:
        self.store = store
        self.study = study
        self.person = person
        self.source = source
        self.locale = locale or study.locale
        """The language in which the guideline and the words of the protocol are read."""
        self.assignment: Assignment | None = None
        self.unit: Unit | None = None
        self.sheet: Sheet | None = None
        self.practice: PracticeSheet | None = None
        """Where what is said is kept while a practice item is open; None where a unit of the study is."""
        self.prelabels: Mapping[FieldReference, Label] = {}
        """A judge's answers to the unit that is open, where this rater is to see them first; nothing anywhere else."""

    # -- which unit ------------------------------------------------------------------------------------------

    def next_assignment(self, after: int = -1) -> Assignment | None:
        """The first unit that is not handed in, in this rater's own order; None where all are."""
        return self.store.studies.next_assignment(self.study, self.person.id, after)

    def to_settle(self) -> Assignment | None:
        """The first unit that is handed in and in which two answers of this rater's own clash; None where none is."""
        return next(iter(self.store.labels.to_settle(self.study, self.person.id)), None)

    def settle(self, word: Label, **times: Any) -> Label:
        """Keeps that of the answers that clash at a place this one stands, with all that belongs to it."""
        details: dict[str, Any] = {name: getattr(word, name) for name in BESIDE}
        return self.answer(
            FieldReference(word.target, word.field), word.value, missing=word.reason_missing, **times, **details
        )

    def open(self, assignment: Assignment) -> Sheet:
        """Lays a unit out; recorded, with what of it is shown."""
        unit = self.store.studies.unit(self.study, assignment.unit)
        state = self.store.labels.sheet_state(self.study, unit, self.person, assignment.run)
        check_open(state, self.person.id, self.person.kind, "study")
        self.assignment, self.unit, self.sheet, self.practice = assignment, unit, state.sheet, None
        detail: dict[str, Any] = {
            "shows": list(self.study.shown),
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
        """Lays the practice item out; recorded, and of what is answered there nothing is a label."""
        self.practice, self.assignment, self.unit, self.prelabels = practice, None, practice.unit, {}
        practice.record_shown()
        self.sheet = practice.sheet()
        return self.sheet

    def _prelabels(self, unit: Unit, assignment: Assignment) -> Mapping[FieldReference, Label]:
        """What the study's judge says of a unit, where this sheet is drawn to show it."""
        if not self.study.prelabel or not assignment.prelabel:
            return {}
        judge_labels = self.store.labels.sheet(self.study, unit, self.study.prelabel, kind="model").heads
        return {spot: label for spot, label in judge_labels.items() if label.reason_missing is None}

    def look(
        self, at: FieldReference | None, place: str, drafts: Drafts, times: Mapping[FieldReference, Times] = {}
    ) -> None:
        """Keeps where this rater is, what they have typed but not yet given, and since when: a crash loses nothing."""
        if self.practice is not None:
            return
        item = list(at) if at is not None else []
        draft_rows = [[*spot, kind, words] for (spot, kind), words in drafts.items() if words]
        time_rows = [[*spot, *one[:-1]] for spot, one in times.items()]
        self.act("looked", self._open()[0].id, {"item": item, "place": place, "drafts": draft_rows, "times": time_rows})

    def rest(self) -> UnitProgress:
        """Where this rater left the unit that is open: by what they looked at last, or by their last answer."""
        unit, sheet = self._open()
        acts = [] if self.practice else self.store.labels.acts(self.study, self.person.id, unit.id, self._run)
        looks = sorted((act for act in acts if act.act == "looked"), key=lambda act: (act.at, act.id))
        last = sheet.rows[-1] if sheet.rows else None
        if looks and (last is None or looks[-1].at >= last.at):
            return _rest(looks[-1])
        if last is None:
            return UnitProgress(None, "", {})
        was = _rest(looks[-1]) if looks else UnitProgress(None, "", {})
        answered_fields = {
            FieldReference(row.target, row.field) for row in sheet.rows if not looks or row.at > looks[-1].at
        }
        drafts = {key: words for key, words in was.drafts.items() if key[0] not in answered_fields}
        times = {key: of for key, of in was.times.items() if key not in answered_fields}
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
        evidence: str | None = None,
        region: tuple[int, int, int, int] | None = None,
        note: str = "",
        cites: str = "",
        confidence: float | None = None,
        shown_at: str | None = None,
        first_key_at: str | None = None,
        idle_ms: float = 0.0,
    ) -> Label:
        """Keeps an answer at a place, durable on return."""
        unit, sheet = self._open()
        label = answer_to(
            sheet,
            self._signed(
                spot,
                value=value,
                reason_missing=missing,
                evidence=evidence,
                region=region,
                note=note,
                cites=cites,
                confidence=confidence,
                shown_at=shown_at,
                first_key_at=first_key_at,
                idle_ms=idle_ms,
            ),
        )
        self.sheet = self._recorded(unit, label)
        return label

    def undo(self) -> Label | None:
        """Takes the newest answer back, which is kept, too; None where there is nothing to take back."""
        unit, sheet = self._open()
        label = undo_of(sheet, self._signed(FieldReference("", "")))
        if label is not None:
            self.sheet = self._recorded(unit, label)
        return label

    def commit(self, detail: dict[str, Any] | None = None) -> HandedIn:
        """Hands the unit in; a calibration unit then shows its gold, and a rater below the bar is held.

        All of that is kept at once, so that nobody goes on who was cut off between the one and the other.
        """
        unit, _ = self._open()
        if self.practice is not None:
            self.sheet = self.practice.hand_in()
            return HandedIn(compared(self.sheet))
        learned = HandedIn([])

        def following() -> Iterator[Act]:
            nonlocal learned
            if comparison := compared(self._as_it_stands(unit)):
                learned = self._calibrated(comparison)
                yield self._acting("gold", unit.id)
                if learned.held:
                    yield self._acting("held", detail={"share": learned.share, "bar": self.study.bar})

        self.store.labels.hand_in(self.study, unit, self._acting("commit", unit.id, detail), following)
        self.sheet = self._as_it_stands(unit)
        return learned

    def _calibrated(self, answers: list[CalibrationAnswer]) -> HandedIn:
        """How the pilot stands for this rater; its end is where a bar is missed or met."""
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
        """Takes a handed-in unit back, where its protocol lets one go back and no gold was shown."""
        unit, sheet = self._open()
        if not sheet.committed:
            return
        self.store.labels.take_back(self.study, unit, self._acting("reopen", unit.id, detail))
        self.sheet = self._as_it_stands(unit)

    def derived(self, *, in_words: bool = False) -> list[tuple[str, str]]:
        """What follows from the answers, by name, once the unit is handed in; `in_words` as a person reads it."""
        unit, sheet = self._open()
        if self.practice is not None:
            return []
        return derived(self.study, unit, sheet, done=self._done(unit), in_words=in_words) if sheet.committed else []

    def act(self, kind: ActKind, unit: str = "", detail: dict[str, Any] | None = None) -> None:
        """Keeps something that was done beside answering."""
        self.store.labels.record_act(self._acting(kind, unit if self.practice is None else "", detail))

    def check(self) -> None:
        """Raises `LabError` where this rater may say nothing of the unit that is open."""
        unit, _ = self._open()
        if self.practice is not None:
            self.practice.check()
            return
        state = self.store.labels.sheet_state(self.study, unit, self.person, self._run)
        check_open(state, self.person.id, self.person.kind, f"unit {unit.id}")

    def take_up(self) -> bool:
        """Reads the sheet anew; False where it stands as it was read last."""
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

    def _done(self, unit: Unit) -> bool | None:
        """Whether the unit's run succeeded, where a rater may know it and its file tells."""
        may_know = unit.runs and "outcome" in self.study.shown and self.store.runs.holds(unit.runs[0])
        return succeeded(self.store.runs.summary(unit.runs[0]).score) if may_know else None

    def _recorded(self, unit: Unit, label: Label) -> Sheet:
        return self.practice.record(label) if self.practice else self.store.labels.record(self.study, unit, label)

    def _as_it_stands(self, unit: Unit) -> Sheet:
        """This rater's sheet of a unit, read anew."""
        if self.practice is not None:
            return self.practice.sheet()
        return self.store.labels.sheet(self.study, unit, self.person.id, self._run, self.person.kind)

    def _acting(self, kind: ActKind, unit: str = "", detail: dict[str, Any] | None = None) -> Act:
        run = self._run if unit else 1
        return Act(uuid7(), self.study.id, self.study.version, self.person, kind, now(), unit, run, detail or {})

    def _signed(self, spot: FieldReference, **answer_fields: Any) -> Label:
        """A label by this rater, now, of the unit that is open."""
        study, unit = self.study, self._open()[0]
        return Label(
            uuid7(),
            study.id,
            study.version,
            unit.id,
            spot.target,
            spot.field,
            self.person,
            run=self._run,
            at=now(),
            guide_sha=study.protocol.guide_sha(self.locale),
            protocol_sha=study.protocol.sha,
            source=self.source,
            **answer_fields,
        )


def why_closed(store: Store, study: Study, code: str) -> str:
    """Why this person cannot rate in a study now, in a sentence; empty where they can."""
    if store.labels.withdrew(code):
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
