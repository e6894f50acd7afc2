"""A study's own questions as metrics: option shares and scale means, over measured runs.

They are by majority or as settled, for one rater by their own answers, and for plays over every answer. A question
about a run's success sets the mark that papers' success rates read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from annotators.papers.marks import Marks
from annotators.papers.metrics import PaperNumber
from annotators.report.answers_section import is_played
from annotators.report.field_values import AnswerMeasure, FieldValues, Mask, field_values, missing_reasons
from annotators.report.sample_section import reason_words
from annotators.settled import success_field
from annotators.study_data import StudyData

PAPER = "study"
"""Name in place of a paper's."""


def study_numbers(
    study_data: StudyData, rater: int | None = None, runs: Collection[str] | None = None
) -> Iterator[PaperNumber]:
    """Yield the numbers of units about these runs (None: all units). `rater` is an index into the columns' raters."""
    units = {unit.id: unit for unit in study_data.units}
    played = {(one.unit, one.by.id): one.trace for one in study_data.played}
    for field in study_data.study.protocol.fields:
        of = field_values(study_data, field, None if rater is None else (rater,))
        if of is None:
            continue
        is_counted = np.ones((len(of.places), len(of.raters)), dtype=np.bool_)
        if runs is not None:
            for row, place in enumerate(of.places):
                about = set(units[place.unit].runs)
                for column, code in enumerate(of.raters):
                    is_counted[row, column] = bool(about & set(runs)) or played.get((place.unit, code)) in runs
        for measure in of.measures:
            yield _number(study_data, of, measure, is_counted, agreed=rater is None and not is_played(study_data))


def _number(
    study_data: StudyData, of: FieldValues, measure: AnswerMeasure, there: Mask,
    *, agreed: bool,
) -> PaperNumber:  # fmt: skip
    rows: Mask = np.asarray(there.any(axis=1))
    found = measure.agreed[rows] if agreed else measure.values[there]
    found = found[np.isfinite(found)]
    left_out = tuple(
        (reason_words(reason), many) for reason, many in missing_reasons(of, agreed=agreed, rows=rows).items()
    )
    is_share = measure.statistic == "share"
    return PaperNumber(
        PAPER, of.field.id, float(found.mean()) if len(found) else None, "share" if is_share else "score", len(found),
        "items" if agreed else "answers", measure.name if is_share else "mean", left_out=left_out,
        undefined="" if len(found) else "nothing is settled" if agreed else "nobody has answered it",
    )  # fmt: skip


def success_marks(study_data: StudyData, rater: int | None = None) -> list[Marks]:
    """Return marks of runs from a custom question about success, empty if the protocol has none."""
    found = success_field(study_data.study.protocol)
    if found is None:
        return []
    field, good, bad = found
    of = field_values(study_data, field, None if rater is None else (rater,))
    if of is None or not of.places:
        return []
    units = {unit.id: unit for unit in study_data.units}
    names = [option.id for option in field.options if not option.by_rule] or ["yes"]
    columns: Sequence[AnswerMeasure] = of.shares
    marks = []
    for row, place in enumerate(of.places):
        yes = float(columns[names.index(good)].agreed[row])
        no = float(columns[names.index(bad)].agreed[row]) if bad in names else 1.0 - yes
        if units[place.unit].runs and 1.0 in (yes, no):
            marks.append(Marks(units[place.unit].runs[0], marks=dict.fromkeys(("success", "sr2"), yes)))
    return marks
