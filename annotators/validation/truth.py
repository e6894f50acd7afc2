"""Majority answers: of all people, and of all but one, for the comparison with that person."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients.counts import category_counts
from annotators.agreement.ratings.ratings import Floats, MissingAnswers, Ratings

Codes = npt.NDArray[np.int16]


def majority(ratings: Ratings) -> Codes:
    """Return the category of more than half of those who answered (places), -1 without a majority."""
    return _majority_codes(category_counts(ratings))


def majority_of_others(ratings: Ratings) -> Codes:
    """Return the majority without each rater's own answer (places x raters), so that nobody is their own measure."""
    tally = category_counts(ratings)
    own = np.arange(tally.shape[1])
    columns = [_majority_codes(tally - (column[:, None] == own)) for column in ratings.codes.T]
    return np.stack(columns, axis=1) if columns else np.zeros((len(ratings.codes), 0), np.int16)


def _majority_codes(tally: Floats) -> Codes:
    if not tally.size:
        return np.full(len(tally), -1, np.int16)
    best = tally.argmax(axis=1)
    most = tally[np.arange(len(tally)), best]
    # More than half, so that two tied categories never win.
    return np.where(2 * most > tally.sum(axis=1), best, -1).astype(np.int16)


def truth_and_other(ratings: Ratings, truth: npt.ArrayLike, codes: npt.ArrayLike, name: str = "judge") -> Ratings:
    """Return two columns, truth and another, at the places of `ratings`: the input of a judge's statistics.

    `truth` and `codes` (places) index its categories, -1 if missing. Raise `ValueError` if they are of other places.
    """
    two = [np.asarray(column, np.int16) for column in (truth, codes)]
    for column in two:
        if column.shape != (len(ratings.codes),):
            raise ValueError(f"{ratings.field}: {column.shape} is no column of {len(ratings.codes)} places")
        if column.size and not (int(column.min()) >= -1 and int(column.max()) < len(ratings.categories)):
            raise ValueError(f"{ratings.field}: a code is not of its {len(ratings.categories)} categories")
    return ratings._replace(codes=np.stack(two, axis=1), raters=("truth", name), missing=MissingAnswers())
