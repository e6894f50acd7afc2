"""Counts of raters by place and category, and the reasons for no agreement that follow from them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients.additive import totals_by_trace
from annotators.agreement.ratings.ratings import Floats, Ratings

ONE_CATEGORY = "one category"
ONE_RATER = "one rater"
NO_ANSWERS = "no answers"
NO_PAIR = "no item that two rated"


def category_counts(ratings: Ratings) -> Floats:
    """Return how many raters chose each category (places x q)."""
    # One bincount over flat cell numbers instead of a loop over categories.
    codes, q = ratings.codes, len(ratings.categories)
    cells = (np.arange(len(codes))[:, None] * q + codes)[codes >= 0]
    return np.bincount(cells, minlength=len(codes) * q).reshape(len(codes), q).astype(np.float64)


def answer_counts(tally: Floats) -> Floats:
    """Return how many raters answered each place (places)."""
    # A product with ones is many times faster than a sum over short rows.
    return np.asarray(tally @ np.ones(tally.shape[1]))


def pairwise_agreement(tally: Floats, weights: Floats | None = None) -> Floats:
    """Return the mean agreement of all pairs of raters at each place (places), 0 if fewer than two rated it."""
    raters = answer_counts(tally)
    with_all = tally if weights is None else tally @ weights.T
    agreeing_pairs = np.einsum("ij,ij->i", tally, with_all) - raters
    return np.where(raters >= 2, agreeing_pairs / np.maximum(raters * (raters - 1), 1), 0.0)


def rated_twice(ratings: Ratings) -> npt.NDArray[np.bool_]:
    """Return a mask of the places that at least two raters rated."""
    is_given = (ratings.codes >= 0).view(np.int8)
    # Whole numbers, because sums of truth values would be truth values.
    return np.asarray(np.einsum("ij->i", is_given, dtype=np.int32) >= 2)  # in whole numbers: truths are no floats


def why_not_comparable(ratings: Ratings) -> str:
    """Return why no two raters can be compared, empty if they can."""
    has_answers = (ratings.codes >= 0).any(axis=0) if ratings.codes.size else np.zeros(0, np.bool_)
    if has_answers.sum() < 2:
        return ONE_RATER if has_answers.sum() else NO_ANSWERS
    return "" if rated_twice(ratings).any() else NO_PAIR


def sum_by_trace(ratings: Ratings, columns: Floats) -> Floats:
    """Sum columns over the places of each trace."""
    return totals_by_trace(columns, ratings.trace, len(ratings.traces))


def rated_by_all(ratings: Ratings) -> npt.NDArray[np.bool_]:
    """Return a mask of the places that every rater rated."""
    return np.asarray((ratings.codes >= 0).all(axis=1))


def select_places(ratings: Ratings, places: npt.NDArray[np.bool_] | npt.NDArray[np.int_]) -> Ratings:
    """Return the ratings of some places, by mask or indices, with all traces retained."""
    at = np.nonzero(places)[0] if places.dtype == np.bool_ else places
    items = tuple(ratings.places[i] for i in at) if ratings.places else ()
    return ratings._replace(codes=ratings.codes[at], trace=ratings.trace[at], places=items)
