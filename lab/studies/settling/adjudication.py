"""Adjudication without a screen: one person settles disagreements, seeing raters as letters until then."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from lab.core.errors import LabError
from lab.core.study.adjudication import (
    Means,
    Move,
    PlaceAnswer,
    Settlement,
    SignedSettlement,
    majority_of,
    place_answers,
    rater_letters,
)
from lab.core.study.label import Label, Missing
from lab.core.study.label_rules import check_value
from lab.core.study.protocol import Field
from lab.core.study.rating_sheet import FieldReference, fields_by_target, target_of
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from lab.studies.rating.sheet_wording import Wording

if TYPE_CHECKING:
    from annotators.adjudication import Queue
    from annotators.study_data import StudyData
    from store.store import Store


class MaskedAnswer(NamedTuple):
    """One rater's answer at a place under a mask.

    `name` is the rater's code, empty while it is hidden. `flags` are the optional flags they raised on the same target.
    """

    mask: str
    said: PlaceAnswer
    flags: tuple[str, ...] = ()
    name: str = ""

    @property
    def display_name(self) -> str:
        return self.name or self.mask


class ItemAnswers(NamedTuple):
    """A place to settle with its answers and settlement.

    `closed` is the reason why this person may not settle it, empty if they may.
    """

    unit: Unit
    spot: FieldReference
    voices: tuple[MaskedAnswer, ...]
    judges: tuple[MaskedAnswer, ...] = ()
    settled: SignedSettlement | None = None
    closed: str = ""
    field: Field | None = None

    @property
    def majority(self) -> PlaceAnswer | None:
        """The value of the majority, None if there is none."""
        return majority_of((voice.said for voice in self.voices), self.field)

    def rater_name(self, rater: str) -> str:
        """Return the shown name of a rater of this place, "somebody" if they are not among its answers."""
        return next((voice.display_name for voice in self.voices if voice.said.rater.id == rater), "somebody")


class AdjudicationSession:
    """One adjudicator at a study. Every method raises `LabError` if the store refuses."""

    def __init__(self, store: Store, study: Study, person: Actor) -> None:
        self.store = store
        self.study = study
        self.person = person

    @property
    def way(self) -> Wording:
        """The words of the study's questions and answers in its language."""
        return Wording(self.study.protocol, self.study.locale)

    def check(self) -> None:
        """Raise `LabError` if this person may not see others' answers."""
        title = f"study {self.study.name}"
        if self.store.labels.has_withdrawn(self.person.id):
            raise LabError(title, f"{self.person.id} has withdrawn.")
        kit = self.store.kit()
        if kit is not None:
            raise LabError(title, f"this file is a kit of {kit.rater}; nothing is settled in it.")
        if (later := self.store.studies.extended_by(self.study)) is not None:
            raise LabError(title, f"was extended and goes on as v{later}; what differs is settled there.")
        # A locked study takes no more answers, so nobody can be swayed.
        if self.store.studies.locked(self.study):
            return
        progress = self.store.studies.progress(self.study, self.person.id)
        if progress.dealt > progress.done or (self.person.id in self.study.raters and not progress.dealt):
            raise LabError(
                title, f"{self.person.id} rates in it and is not done; others' answers would sway them.",
                "--person CODE says who you are.",
            )  # fmt: skip

    def queue(self, study_data: StudyData) -> Queue:
        """Return the queue of disagreements, ordered by their effect on the result."""
        from annotators.adjudication import adjudication_queue

        codes = {rater.id for rater in study_data.columns.raters}
        former_raters = {
            code
            for code in codes
            if self.store.labels.has_withdrawn(code) or self.store.studies.has_left(self.study, code)
        }
        return adjudication_queue(study_data, locked=self.store.studies.locked(self.study), gone=former_raters)

    # -- one place -------------------------------------------------------------------------------------------

    def case(self, unit: Unit, spot: FieldReference) -> ItemAnswers:
        """Return a place with all its answers. Raise `LabError` if the protocol asks nothing there."""
        if not any(spot == one for one in self.places(unit)):
            raise LabError(f"unit {unit.id}", f"is not asked about {spot.field!r} of {spot.target or 'the whole'}.")
        labels = list(self.store.labels.read(self.study, unit.id))
        committed_sheets = self.store.adjudications.handed_in_sheets(
            self.study, unit.id, {label.rater.id for label in labels}
        )
        settlements = self.store.adjudications.settlements(self.study, unit.id)
        answers = place_answers(self.study, spot, labels, committed_sheets)
        letters = rater_letters(
            self.study, unit.id, [one.rater for one in self._all_answers(unit, labels, committed_sheets) if one.person]
        )
        open_ones = self._unsettled_places(unit, labels, committed_sheets, settlements)
        # Codes appear only when all disagreements of the unit are settled: one code would unmask its letter at the
        # others.
        shown_raters = "raters" not in self.study.blind and not open_ones and (unit.id, spot) in settlements
        # In the order of their letters, since any other order would show who is who.
        voices = sorted(
            MaskedAnswer(
                letters[one.rater.kind, one.rater.id],
                one,
                self._raised_flags(spot, one, labels),
                one.rater.id if shown_raters else "",
            )
            for one in answers
            if one.person
        )
        judges = self._judge_answers(unit, [one for one in answers if not one.person], unmasked=shown_raters)
        refusal = self.store.adjudications.settling_obstacle(self.study, unit, self.person)
        field = self.study.protocol.field(spot.field)
        return ItemAnswers(unit, spot, tuple(voices), judges, settlements.get((unit.id, spot)), refusal, field)

    def _judge_answers(self, unit: Unit, answers: list[PlaceAnswer], *, unmasked: bool) -> tuple[MaskedAnswer, ...]:
        order = rater_letters(self.study, unit.id, [one.rater for one in answers])
        ranked = sorted(answers, key=lambda one: order[one.rater.kind, one.rater.id])
        return tuple(
            MaskedAnswer(f"J{at}", one, (), one.rater.id if unmasked else "") for at, one in enumerate(ranked, 1)
        )

    def _raised_flags(self, spot: FieldReference, answer: PlaceAnswer, labels: Iterable[Label]) -> tuple[str, ...]:
        """Return the optional flags that the same rater raised on the same target."""
        flags = {one.id for one in self.study.protocol.fields if one.kind == "flag" and one.id != spot.field}
        theirs = [one for one in labels if one.rater == answer.rater and one.target == spot.target and one.run == 1]
        superseded_ids = {id for one in theirs for id in one.replaces}
        return tuple(
            one.field for one in theirs if one.field in flags and one.value is True and one.id not in superseded_ids
        )

    def places(self, unit: Unit) -> list[FieldReference]:
        """Return every place of a unit that can be settled, in reading order."""
        return [
            FieldReference(target, field.id)
            for target, fields in fields_by_target(self.study.protocol, unit)
            for field in fields
        ]

    def _all_answers(
        self, unit: Unit, labels: list[Label], committed_sheets: set[tuple[str, str, int]]
    ) -> list[PlaceAnswer]:
        return [one for spot in self.places(unit) for one in place_answers(self.study, spot, labels, committed_sheets)]

    def _unsettled_places(
        self, unit: Unit, labels: list[Label], committed_sheets: set[tuple[str, str, int]],
        settlements: dict[tuple[str, FieldReference], SignedSettlement],
    ) -> list[FieldReference]:  # fmt: skip
        """Return the unit's unsettled disagreements between people, free texts excepted."""
        texts = {field.id for field in self.study.protocol.fields if field.kind == "text"}
        places = []
        for spot in self.places(unit):
            words = {one.word for one in place_answers(self.study, spot, labels, committed_sheets) if one.person}
            if len(words) > 1 and spot.field not in texts and (unit.id, spot) not in settlements:
                places.append(spot)
        return places

    def check_fits(self, case: ItemAnswers, value: Any) -> None:
        """Raise `LabError` if the field does not accept the value."""
        field = self.study.protocol.field(case.spot.field)
        assert field is not None
        check_value(field.id, field, target_of(case.unit, case.spot.target), value, by=self.person.kind)

    # -- settling --------------------------------------------------------------------------------------------

    def settle(
        self,
        case: ItemAnswers,
        value: Any = None,
        *,
        reason: str,
        means: Means = "adjudicator",
        missing: Missing | None = None,
        minutes: float | None = None,
        moves: Iterable[Move] = (),
        judges_seen: bool = False,
    ) -> SignedSettlement:
        """Store what is right at a place and return the settlement, durable on return."""
        what = Settlement(
            case.spot.target, case.spot.field, means, value, missing, reason.strip(), minutes,
            tuple(self.move(case, move) for move in moves), judges_seen, reason_id=self.reason_id(reason),
        )  # fmt: skip
        return self.store.adjudications.settle(self.study, case.unit, what, self.person)

    def reason_id(self, reason: str) -> str:
        """Return the id of the protocol's reason with this text, empty if the adjudicator wrote their own."""
        return self.study.protocol.reason_id(self.study.locale, reason)

    def withdraw(self, case: ItemAnswers, reason: str) -> SignedSettlement:
        """Withdraw a place's settlement."""
        what = Settlement(case.spot.target, case.spot.field, "adjudicator", reason=reason.strip(), withdrawn=True)
        return self.store.adjudications.settle(self.study, case.unit, what, self.person)

    def move(self, case: ItemAnswers, move: Move) -> Move:
        """Return a change of mind with the rater's code instead of a letter and with their previous answer."""
        from msgspec.structs import replace

        voice = next((one for one in case.voices if move.rater in (one.mask, one.said.rater.id)), None)
        if voice is None:
            voice_names = ", ".join(one.display_name for one in case.voices) or "nobody"
            raise LabError(f"unit {case.unit.id}", f"field moves: {move.rater!r} is none of {voice_names}")
        was = move.was if move.was is not None else voice.said.reason_missing or voice.said.value
        return replace(move, rater=voice.said.rater.id, was=was)
