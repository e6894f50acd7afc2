"""Answers over time: do a rater's answers change during the study?"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from annotators.report.answer_counts import main_units
from annotators.report.sample_section import rater_name
from annotators.study_data import StudyData
from lab.core.study.protocol import Field
from lab.core.study.report import Lines, Point, Section

BLOCKS = 10
"""Maximum number of blocks of a rater's answers in order of time."""
LEAST = 5
"""Minimum number of answers in a block."""
_TITLE = "Answers over time"
_SAYS = (
    f"Each person's answers in the order in which they were given, in at most {BLOCKS} blocks of equal size and never "
    f"fewer than {LEAST}: a line that rises or falls says that the rater changed, or that the items did."
)

Values = npt.NDArray[np.float64]


def sections(study_data: StudyData) -> list[Section]:
    """Return a picture for each question with values over time, nothing if nobody gave enough answers."""
    pictures = [
        picture for field in study_data.study.protocol.fields if (picture := lines_of(study_data, field)) is not None
    ]
    return [Section(_TITLE, (_SAYS,), pictures=tuple(pictures))] if pictures else []


def lines_of(study_data: StudyData, field: Field) -> Lines | None:
    """Return each person's answers to a question over time, or None if there are none to follow."""
    columns = study_data.columns
    if field.id not in columns.fields or not columns.size:
        return None
    is_followed = (columns.field == columns.fields.index(field.id)) & (columns.value >= 0) & (columns.run == 1)
    is_followed &= main_units(study_data)[columns.unit] & np.isin(
        columns.rater, np.array(study_data.people, dtype=np.int32)
    )
    rows = np.flatnonzero(is_followed)
    followed = _measure_over_time(study_data, field, rows)
    if followed is None:
        return None
    what, least, most, value = followed
    points: list[Point] = []
    for rater in study_data.people:
        own = rows[columns.rater[rows] == rater]
        # Ties in time are broken by unit and target, so that the picture does not depend on the order of rows.
        own = own[np.lexsort((columns.target[own], columns.unit[own], columns.at[own]))]
        points += _blocks(value(own), rater_name(columns.raters[rater]))
    return Lines(f"drift-{field.id}", f"{field.id}: {what}", tuple(points), "answers so far", what, least, most) if (
        points
    ) else None  # fmt: skip


Followed = tuple[str, float, float, Callable[[npt.NDArray[np.intp]], Values]]


def _measure_over_time(study_data: StudyData, field: Field, rows: npt.NDArray[np.intp]) -> Followed | None:
    """Return a question's measure over time: the most frequent answer's share, or the mean.

    None if neither exists.
    """
    columns = study_data.columns
    values = columns.values
    match field.kind:
        case "nominal":
            answers = [values[at] for at in columns.value[rows].tolist()]
            options = [option.id for option in field.options if option.id in answers]
            if not options:
                return None
            most = max(options, key=answers.count)
            same = np.array([one == most for one in values], dtype=np.float64)
            return f"share of {most}", 0.0, 1.0, lambda own: same[columns.value[own]]
        case "ordinal" | "interval":
            scale = np.array([_number(one) for one in values], dtype=np.float64)
            answer_numbers = scale[columns.value[rows]]
            # Options that are not numbers have no mean.
            if not len(answer_numbers) or np.isnan(answer_numbers).any():
                return None
            ends = (field.least, field.most) if field.kind == "interval" else (None, None)
            options_at = [_number(option.id) for option in field.options] or [
                float(answer_numbers.min()),
                float(answer_numbers.max()),
            ]
            least = ends[0] if ends[0] is not None else min(options_at)
            top = ends[1] if ends[1] is not None else max(options_at)
            return "mean", float(least), float(top), lambda own: scale[columns.value[own]]
    return None


def _number(value: object) -> float:
    """Return an answer as a number, nan if it is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return float("nan")
    try:
        return float(value)
    except (ValueError, OverflowError):
        return float("nan")


def _blocks(values: Values, who: str) -> list[Point]:
    """Return the mean of each block of a rater's answers, at the number of its last answer."""
    many = min(BLOCKS, len(values) // LEAST)
    if many < 2:
        return []
    # Integer division spreads the remainder over the blocks.
    ends = [len(values) * at // many for at in range(many + 1)]
    return [
        Point(float(last), float(values[first:last].sum() / (last - first)), f"{who}, {first + 1} to {last}", who)
        for first, last in pairwise(ends)
    ]
