"""Writes a judge's answers as labels, by the same rules as a person's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from annotators.judging.question import JudgedPlace
from lab.core.ids_and_clock import now, uuid7
from lab.core.label import Act, Label
from lab.core.rating_sheet import FieldReference, Sheet, answer_to
from lab.core.study import Assignment, Study
from lab.core.task import Actor
from lab.studies.judge_sheet import SheetWork
from lab.studies.rating_session import RatingSession
from store.store import Store

SOURCE = "judge"
"""Source of a judge's labels."""


class JudgeLabels:
    """Writes a judge's sheets. Each label carries `config_sha`, the hash of the judge's configuration."""

    def __init__(self, store: Store, study: Study, judge: Actor, config_sha: str) -> None:
        self._store, self._study = store, study
        self._judge, self._config_sha = judge, config_sha

    def write(self, work: SheetWork, places: Sequence[JudgedPlace]) -> None:
        """Write a sheet and hand it in, in one transaction. The first label carries the sheet's cost."""
        study, unit, run = self._study, work.unit, work.run
        says = [self._label_maker(work, place, first=not n) for n, place in enumerate(places)]
        with self._store.labels.savepoint():
            sheet = self._store.labels.record_each(study, unit, self._judge, run, says)
            if sheet.committed:
                return
            # A gold unit's hand-in goes through the session, which checks it against the gold.
            if not unit.gold:
                act = Act(uuid7(), study.id, study.version, self._judge, "commit", now(), unit.id, run)
                self._store.labels.hand_in(study, unit, act)
                return
            session = RatingSession(self._store, study, self._judge, source=SOURCE)
            session.assignment = Assignment(study.id, study.version, self._judge.id, 0, unit.id, run=run)
            session.unit, session.sheet = unit, sheet
            session.commit()

    def _label_maker(self, work: SheetWork, place: JudgedPlace, *, first: bool) -> Callable[[Sheet], Label | None]:
        study, protocol = self._study, self._study.protocol
        run = work.view.runs[place.run].id if place.step is not None and work.view.runs else None
        label = Label(
            uuid7(), study.id, study.version, work.unit.id, place.target, place.field, self._judge,
            value=place.value, run=work.run, reason_missing=place.missing, confidence=place.confidence,
            evidence=f"{run}@{place.step}" if run is not None else None, note=place.note, at=now(),
            guide_sha=protocol.guide_sha(study.locale), protocol_sha=protocol.sha, config_sha=self._config_sha,
            source=SOURCE, cost=work.usage.cost if first else None,
        )  # fmt: skip

        def say(sheet: Sheet) -> Label | None:
            spot = FieldReference(place.target, place.field)
            return answer_to(sheet, label) if sheet.asks(spot) and sheet.head(spot) is None else None

        return say
