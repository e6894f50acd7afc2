"""Distance of a judge's corrected intervals from their planned width, at which people may stop labelling."""

from __future__ import annotations

from collections.abc import Iterator

from annotators.agreement.ratings.fields import CATEGORICAL, ratings_of, truth_of
from annotators.study_data import StudyData
from annotators.validation.active_order import order_in
from annotators.validation.label_queue import labels_wanted
from annotators.validation.study_validation import corrected_shares
from lab.core.study.study_progress import IntervalProgress


def interval_progress(study_data: StudyData, planned: float) -> Iterator[IntervalProgress]:
    """Yield the progress of each judge's intervals at each categorical field with labels at places that it answered.

    For a field with more than two categories it is the one with the widest interval. The share itself is not part of
    it.
    """
    order = order_in(study_data.acts)
    for at in study_data.judges:
        for field in study_data.study.protocol.fields:
            if field.kind not in CATEGORICAL:
                continue
            judge_ratings = ratings_of(study_data, field.id, [at])
            truth = truth_of(study_data, ratings_of(study_data, field.id))
            shares = [one for _, one in corrected_shares(judge_ratings, truth, order, study_data.how.level)]
            if not shares:
                continue
            widths = [
                None if one.corrected.low is None or one.corrected.high is None
                else one.corrected.high - one.corrected.low
                for one in shares
            ]  # fmt: skip
            finite_widths = [width for width in widths if width is not None]
            width = max(finite_widths) if len(finite_widths) == len(widths) else None
            widest = shares[widths.index(width)] if width is not None else shares[0]
            reached = width is not None and width <= planned
            more = 0 if reached else labels_wanted(widest, planned, study_data.how.level)
            name = study_data.columns.raters[at].id
            yield IntervalProgress(name, field.id, width, planned, widest.labelled, widest.units, more, reached)
