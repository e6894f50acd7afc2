"""Counts of each rater's answers to each question, and of their sheets dealt and handed in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.study_data import StudyData

Counts = npt.NDArray[np.int64]


class AnswerCounts(NamedTuple):
    """Counts over the units that are not for calibration.

    `answers` and `without` are raters x the protocol's fields, `reasons` raters x fields x the columns' reasons.
    `dealt` and `handed` count sheets by rater.
    """

    answers: Counts
    without: Counts
    reasons: Counts
    dealt: Counts
    handed: Counts


def main_units(study_data: StudyData) -> npt.NDArray[np.bool_]:
    """Return a mask of the columns' units that count: all but those for calibration."""
    main = {unit.id for unit in study_data.units if not unit.pilot}
    return np.array([unit in main for unit in study_data.columns.units], dtype=np.bool_)


def answer_counts(study_data: StudyData) -> AnswerCounts:
    """Return the counts of answers, missing answers, reasons and sheets."""
    columns = study_data.columns
    fields = [field.id for field in study_data.study.protocol.fields]
    # Columns may hold fields that the protocol lacks. They count nowhere.
    place = {name: at for at, name in enumerate(fields)}
    field_at = np.array([*(place.get(name, -1) for name in columns.fields), -1], dtype=np.int64)[columns.field]
    main = main_units(study_data)
    countable = (field_at >= 0) & (main[columns.unit] if columns.size else np.zeros(0, dtype=np.bool_))
    raters, many = len(columns.raters), len(fields)
    reasons = np.zeros((raters, many, len(columns.reasons)), dtype=np.int64)
    answers, without = (np.zeros((raters, many), dtype=np.int64) for _ in range(2))
    with_value, lacking = countable & (columns.value >= 0), countable & (columns.value < 0)
    # `add.at`, because plain indexing would count repeated pairs once.
    np.add.at(answers, (columns.rater[with_value], field_at[with_value]), 1)
    np.add.at(without, (columns.rater[lacking], field_at[lacking]), 1)
    reasoned = lacking & (columns.reason >= 0)
    np.add.at(reasons, (columns.rater[reasoned], field_at[reasoned], columns.reason[reasoned]), 1)
    sheet_counts, handed_counts = (np.zeros(raters, dtype=np.int64) for _ in range(2))
    if len(columns.dealt):
        sheets = main[columns.dealt[:, 0]]
        np.add.at(sheet_counts, columns.dealt[sheets, 1], 1)
        np.add.at(handed_counts, columns.dealt[sheets & columns.handed, 1], 1)
    return AnswerCounts(answers, without, reasons, sheet_counts, handed_counts)
