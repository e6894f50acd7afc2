"""Counts of disagreement so far, by question and for one rater against the others: fast, without coefficients.

Places are those of adjudication, the others' majority is that of `hitlab study raters`. Intervals and coefficients
are in `annotators.agreement`.
"""

from __future__ import annotations

import numpy as np

from annotators.adjudication import answered_places
from annotators.agreement.ratings.answers import places_of
from annotators.agreement.ratings.rater_sequence import sequence_of
from annotators.study_data import StudyData
from lab.core.study.study_progress import FieldDisagreement, Share


def disagreement_by_field(study_data: StudyData) -> tuple[FieldDisagreement, ...]:
    """Return the disagreement on each question but free text, in the study's order.

    An optional flag that nobody raised is an item with full agreement. `answered` leaves such items out.
    """
    places, columns = answered_places(study_data), study_data.columns
    twice = places.voices >= 2
    field = columns.field[places.first_rows]
    n, count = (np.bincount(field[mask], minlength=len(columns.fields)) for mask in (twice, twice & places.differ))
    has_two_people = places.people >= 2
    fields = []
    for at, one in enumerate(study_data.study.protocol.fields):
        answered = Share(int(count[at]), int(n[at]))
        if one.kind == "flag" and not one.required:
            n[at] = has_two_people[places_of(study_data, one).unit].sum()
        if one.kind != "text":
            fields.append(FieldDisagreement(one.id, one.display_name, Share(int(count[at]), int(n[at])), answered))
    return tuple(fields)


def disagreement_with_majority(study_data: StudyData, rater: int) -> Share:
    """Return how many of a rater's answers differ from the majority of the other people.

    The rater is an index into the columns. Only options count, at items with such a majority. A judge is compared with
    all people.
    """
    own = sequence_of(study_data, rater).compared
    return Share(int((own.code != own.majority).sum()), len(own.code))


def flags_raised(study_data: StudyData) -> dict[int, int]:
    """Return the number of flags raised by each rater (an index into the columns), without zeros."""
    columns = study_data.columns
    flags = [at for at, one in enumerate(study_data.study.protocol.fields) if one.kind == "flag"]
    raised = np.array([*(value is True for value in columns.values), False], dtype=np.bool_)
    rater = columns.rater[np.isin(columns.field, flags) & (columns.run == 1) & raised[columns.value]]
    return {at: int(count) for at, count in enumerate(np.bincount(rater)) if count}
