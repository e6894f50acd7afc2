"""Data of the charts beside the numbers: coefficients of each rater pair, and confusion matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager

from annotators.agreement.agreements import agreements_by_pair, confusion
from annotators.study_data import StudyData
from lab.core.errors import LabError
from lab.core.study.agreement import Agreement
from lab.studies.progress.agreement_cache import AnswerGrid, StudyOverview
from screens.agreement.rows import raters_of

MOST_GRIDS = 1_000
"""Maximum grids computed in advance, because many raters make more pairs than anyone opens."""


def pairs_of(study_data: StudyData, field: str) -> list[Agreement]:
    """Return the coefficients of each rater pair in a field, empty if it has none."""

    def compute() -> list[Agreement]:
        try:
            return agreements_by_pair(study_data, field)
        except LabError:
            return []

    pairs: list[Agreement] = study_data.cached(("pairs", field, study_data.how), compute)
    return pairs


def confusion_of(study_data: StudyData, field: str, one: str = "", other: str = "") -> AnswerGrid:
    """Return a confusion matrix, or the reason why there is none."""
    try:
        grid = confusion(study_data, field, one, other)
    except LabError as error:
        return AnswerGrid(field, one, other, None, error.body)
    if not any(map(any, grid.counts)):
        return AnswerGrid(field, one, other, None, "No two answers came together at an item.")
    return AnswerGrid(field, one, other, grid)


def build_overview(
    study_data: StudyData,
    agreements: Sequence[Agreement],
    turn: AbstractContextManager[object],
    is_wanted: Callable[[], bool],
) -> StudyOverview:
    """Compute all pairs and grids beside these numbers, each piece in a `turn` of its own.

    Raise `CancelledError` once `is_wanted` returns False.
    """
    fields = [field.id for field in study_data.study.protocol.fields]
    pairs: dict[str, list[Agreement]] = {}
    grids: list[AnswerGrid] = []
    asks = dict.fromkeys(
        (agreement.field, *raters_of(agreement)) for agreement in agreements if agreement.field in fields
    )
    for field in fields:
        _check_wanted(is_wanted)
        with turn:
            pairs[field] = pairs_of(study_data, field)
        asks |= dict.fromkeys((field, *raters_of(agreement)) for agreement in pairs[field])
    for ask in list(asks)[:MOST_GRIDS]:
        _check_wanted(is_wanted)
        with turn:
            grids.append(confusion_of(study_data, *ask))
    columns = study_data.columns
    return StudyOverview(columns.size, len(study_data.people), len(study_data.judges), columns.open, pairs, grids)


def _check_wanted(is_wanted: Callable[[], bool]) -> None:
    if not is_wanted():
        raise CancelledError
