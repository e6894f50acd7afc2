"""Settlement batch: open items settled in one act by the majority or one rater, and undone in one. No Textual."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from lab.core.errors import LabError
from lab.core.study.adjudication import Means, PlaceAnswer, Settlement, SignedSettlement, place_answers
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Unit
from lab.core.values.ids_and_clock import uuid7
from lab.studies.settling.adjudication import AdjudicationSession
from store.studies.adjudication import Ruling

if TYPE_CHECKING:
    from annotators.adjudication import DisputedPlace

NO_MAJORITY = "no majority"
MORE_DIFFER = "more than one differs"
NO_ANSWER = "no answer of that rater"
STILL_MASKED = "other items of the run would stay open"
NOT_YOURS = "not for you to settle"


class BatchScope(NamedTuple):
    """Open items to settle at once: of one `field` (empty: all), or with one deviating rater only (`all_but_one`).

    They are settled by the majority, or by the answers of `rater` (a code).
    """

    field: str = ""
    all_but_one: bool = False
    rater: str = ""


class BatchSettlement(NamedTuple):
    """Preview of one act: its settlements, and how many items of the scope are left by reason."""

    scope: BatchScope
    rulings: tuple[Ruling, ...]
    left: dict[str, int]

    @property
    def left_words(self) -> str:
        """The numbers of items left with their reasons, in words, empty if none."""
        return ", ".join(f"{count:,} ({why})" for why, count in self.left.items())


def batch_of(chair: AdjudicationSession, disputes: Iterable[DisputedPlace], scope: BatchScope) -> BatchSettlement:
    """Return the settlements that an adjudicator would make of open items. Store nothing.

    Items without a majority are left. A rater's answers settle all open items of a unit or none: a part of them would
    reveal that rater's letter there. Raise `LabError` if the study does not allow to name this rater.
    """
    _check_rater(chair, scope.rater)
    unsettled: Counter[str] = Counter()
    rulings: list[Ruling] = []
    by_unit: dict[str, list[DisputedPlace]] = {}
    for place in disputes:
        if place.settled is None:
            by_unit.setdefault(place.unit, []).append(place)
    for id, places in by_unit.items():
        mine = [place for place in places if scope.field in ("", place.spot.field)]
        if not mine:
            continue
        unit = chair.store.studies.unit(chair.study, id)
        if chair.store.adjudications.settling_obstacle(chair.study, unit, chair.person):
            unsettled[NOT_YOURS] += len(mine)
            continue
        answers = list(_settling_answers(chair, unit, mine, scope))
        whole = sum(not isinstance(answer, str) for _, answer in answers) == len(places)
        for place, answer in answers:
            if isinstance(answer, str):
                unsettled[answer] += 1
            elif scope.rater and not whole:
                unsettled[STILL_MASKED] += 1
            else:
                rulings.append(Ruling(unit, _build_settlement(place.spot, answer, scope)))
    return BatchSettlement(scope, tuple(rulings), dict(unsettled))


def _check_rater(chair: AdjudicationSession, rater: str) -> None:
    """Raise `LabError` if the study does not allow to settle by this rater's answers."""
    if not rater:
        return
    if "raters" in chair.study.blind:
        raise LabError(
            f"study {chair.study.name}", f"keeps hidden who said what; nothing is settled by the answers of {rater}.",
            "A study is planned with --blind without raters where codes may be named.",
        )  # fmt: skip
    if rater not in raters_of(chair):
        raise LabError(f"rater {rater}", f"is none of {', '.join(raters_of(chair)) or 'nobody'}.")


def raters_of(chair: AdjudicationSession) -> tuple[str, ...]:
    """Return the raters whose answers may settle items, empty if the study is blind to raters."""
    return () if "raters" in chair.study.blind else chair.study.raters


def _settling_answers(
    chair: AdjudicationSession, unit: Unit, places: list[DisputedPlace], scope: BatchScope
) -> Iterator[tuple[DisputedPlace, PlaceAnswer | str]]:
    """Yield the answer that would settle each place of a unit, or the reason why it is left."""
    rater_answers: dict[FieldReference, PlaceAnswer] = {}
    if scope.rater:
        labels = list(chair.store.labels.read(chair.study, unit.id))
        committed_sheets = chair.store.adjudications.handed_in_sheets(
            chair.study, unit.id, {label.rater.id for label in labels}
        )
        for place in places:
            for answer in place_answers(chair.study, place.spot, labels, committed_sheets):
                if answer.person and answer.rater.id == scope.rater:
                    rater_answers[place.spot] = answer
    for place in places:
        most = place.majority
        if scope.all_but_one and not place.all_but_one:
            yield place, MORE_DIFFER
        elif scope.rater:
            yield place, rater_answers.get(place.spot, NO_ANSWER)
        elif most is None:
            yield place, NO_MAJORITY
        else:
            missing: Any = most.missing
            yield place, PlaceAnswer(chair.person, most.value, missing)


def _build_settlement(spot: FieldReference, answer: PlaceAnswer, scope: BatchScope) -> Settlement:
    means: Means = "adjudicator" if scope.rater else "majority"
    return Settlement(spot.target, spot.field, means, answer.value, answer.reason_missing)


def settle_batch(chair: AdjudicationSession, batch: BatchSettlement, reason: str) -> list[SignedSettlement]:
    """Store all settlements of a batch, each in its own row, or none. Skip places that somebody settled meanwhile.

    Raise `LabError` if there is nothing to settle or no reason is given.
    """
    from msgspec.structs import replace

    if not batch.rulings:
        reasons = f": {batch.left_words}" if batch.left else ""
        nothing = (
            "nothing that is open has a majority" if set(batch.left) <= {NO_MAJORITY} else f"nothing fits{reasons}"
        )
        raise LabError("adjudicate", f"{nothing}; nothing was done.")
    common = {"reason": reason.strip(), "reason_id": chair.reason_id(reason), "batch": uuid7()}
    rulings = [one._replace(settlement=replace(one.settlement, **common)) for one in batch.rulings]
    # What somebody settled between preview and now stays theirs.
    return chair.store.adjudications.settle_each(chair.study, rulings, chair.person, open_only=True)


def last_batch(chair: AdjudicationSession) -> list[SignedSettlement]:
    """Return the settlements still in force of this adjudicator's newest batch."""
    mine = [
        one
        for one in chair.store.adjudications.settlements(chair.study).values()
        if one.what.batch and (one.by.kind, one.by.id) == (chair.person.kind, chair.person.id)
    ]
    newest = max(mine, key=lambda one: one.at, default=None)
    return [one for one in mine if newest is not None and one.what.batch == newest.what.batch]


def undo_batch(chair: AdjudicationSession, reason: str = "") -> list[SignedSettlement]:
    """Withdraw the settlements in force of the newest batch by further rows. A place settled anew since is not touched.

    Raise `LabError` if no batch of this adjudicator is in force.
    """
    settlements = last_batch(chair)
    if not settlements:
        raise LabError("adjudicate", f"nothing that {chair.person.id} settled at once stands; nothing was done.")
    batch = settlements[0].what.batch
    why = reason.strip() or "All that was settled at once is taken back."
    rulings = [
        Ruling(
            chair.store.studies.unit(chair.study, one.unit),
            Settlement(one.what.target, one.what.field, "adjudicator", reason=why, withdrawn=True, batch=batch),
        )
        for one in settlements
    ]
    return chair.store.adjudications.settle_each(chair.study, rulings, chair.person, of_batch=batch)
