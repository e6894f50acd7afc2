"""How many raters said what at each place, and what that alone forbids."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from annotators.agreement.additive import over_traces
from annotators.agreement.ratings import Floats, Ratings

ONE_CATEGORY = "one category"
ONE_RATER = "one rater"
NO_ANSWERS = "no answers"
NO_PAIR = "no item that two rated"


def counts(ratings: Ratings) -> Floats:
    """(places x q): how many raters said each category."""
    codes, q = ratings.codes, len(ratings.categories)
    cells = (np.arange(len(codes))[:, None] * q + codes)[codes >= 0]
    return np.bincount(cells, minlength=len(codes) * q).reshape(len(codes), q).astype(np.float64)


def answers(tally: Floats) -> Floats:
    """(places): how many raters said anything; a product, which is many times faster than a sum of short rows."""
    return np.asarray(tally @ np.ones(tally.shape[1]))


def agreeing(tally: Floats, weights: Floats | None = None) -> Floats:
    """(places): the mean agreement of each two raters of a place; 0 where fewer than two rated it."""
    of = answers(tally)
    with_all = tally if weights is None else tally @ weights.T
    same = np.einsum("ij,ij->i", tally, with_all) - of
    return np.where(of >= 2, same / np.maximum(of * (of - 1), 1), 0.0)


def rated_twice(ratings: Ratings) -> npt.NDArray[np.bool_]:
    """Which places two raters or more rated."""
    there = (ratings.codes >= 0).view(np.int8)
    return np.asarray(np.einsum("ij->i", there, dtype=np.int32) >= 2)  # in whole numbers: truths are no floats


def too_few(ratings: Ratings) -> str:
    """Why nobody can agree with anybody here; empty where somebody can."""
    has_answers = (ratings.codes >= 0).any(axis=0) if ratings.codes.size else np.zeros(0, np.bool_)
    if has_answers.sum() < 2:
        return ONE_RATER if has_answers.sum() else NO_ANSWERS
    return "" if rated_twice(ratings).any() else NO_PAIR


def summed(ratings: Ratings, columns: Floats) -> Floats:
    """Columns of its places, added over its traces."""
    return over_traces(columns, ratings.trace, len(ratings.traces))


def both(ratings: Ratings) -> npt.NDArray[np.bool_]:
    """Which places every rater rated."""
    return np.asarray((ratings.codes >= 0).all(axis=1))


def over(ratings: Ratings, places: npt.NDArray[np.bool_] | npt.NDArray[np.int_]) -> Ratings:
    """Those places alone, by a mask or by their indices, of the same traces."""
    at = np.nonzero(places)[0] if places.dtype == np.bool_ else places
    items = tuple(ratings.places[i] for i in at) if ratings.places else ()
    return ratings._replace(codes=ratings.codes[at], trace=ratings.trace[at], places=items)
