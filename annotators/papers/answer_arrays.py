"""Answers that a table computes itself, in the form of arrays that coefficients read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from annotators.agreement.ratings.ratings import MissingAnswers, NumericRatings, RatedItem, Ratings


class AnswerRow(NamedTuple):
    """One item with its cluster and a value for each column, None if missing. `why` has the reasons by column."""

    place: RatedItem
    cluster: str
    values: Sequence[float | str | None]
    why: Sequence[str] = ()


def numbers_by(field: str, names: Sequence[str], rows: Sequence[AnswerRow]) -> NumericRatings:
    """Return rows of numbers as ratings with these column names."""
    values = np.full((len(rows), len(names)), np.nan)
    for at, row in enumerate(rows):
        values[at] = [np.nan if value is None else float(value) for value in row.values]
    trace, traces = _clusters(rows)
    return NumericRatings(
        field, values, tuple(names), trace, traces, tuple(row.place for row in rows), _missing_answers(names, rows)
    )


def ratings_by(field: str, categories: Sequence[str], names: Sequence[str], rows: Sequence[AnswerRow]) -> Ratings:
    """Return rows of categories in declared order as ratings. A value that is not a category is missing."""
    codes = np.full((len(rows), len(names)), -1, dtype=np.int16)
    index = {name: i for i, name in enumerate(categories)}
    for at, row in enumerate(rows):
        codes[at] = [-1 if value is None else index.get(str(value), -1) for value in row.values]
    trace, traces = _clusters(rows)
    places = tuple(row.place for row in rows)
    return Ratings(
        field, tuple(categories), codes, tuple(names), trace, traces, places, missing=_missing_answers(names, rows)
    )


def _missing_answers(names: Sequence[str], rows: Sequence[AnswerRow]) -> MissingAnswers:
    """Return the cells that have a reason in place of a value."""
    reasons = sorted({reason for row in rows for reason in row.why if reason})
    why = np.full((len(rows), len(names)), -1, dtype=np.int32)
    for at, row in enumerate(rows):
        for column, (value, reason) in enumerate(zip(row.values, row.why, strict=False)):
            if value is None and reason:
                why[at, column] = reasons.index(reason)
    return MissingAnswers.from_reasons(tuple(row.place for row in rows), names, why, reasons)


def _clusters(rows: Sequence[AnswerRow]) -> tuple[np.typing.NDArray[np.int32], tuple[str, ...]]:
    traces = tuple(dict.fromkeys(row.cluster for row in rows))
    index = {name: i for i, name in enumerate(traces)}
    return np.array([index[row.cluster] for row in rows], dtype=np.int32), traces
