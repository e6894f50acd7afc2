"""Spearman's correlation by mid-ranks, ranked anew in each resample."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from annotators.agreement.additive import EPSILON, ratio
from annotators.agreement.ratings import Floats

Ints = npt.NDArray[np.int32]

_CELLS = 4_000_000
"""Maximum size of a table that is ranked at once, in cells: 32 MB."""

_PAIRED = 20_000_000
"""Maximum size of a table of traces by pairs if there are more pairs than traces, in cells: 160 MB."""


def joint_sums(x: Floats, y: Floats, trace: Ints, traces: int) -> tuple[Floats, Floats, Floats, Ints]:
    """Return sums that suffice to compute ranks, values x and y, and the column with the frequency of each pair.

    The sums are the frequencies of distinct pairs (traces x pairs) if that table fits into 160 MB or pairs are fewer
    than traces, else the identity (traces x traces): a resample then holds the frequency of each trace and so of its
    places. Both are exact.
    """
    pairs, which = np.unique(np.column_stack((x, y)), axis=0, return_inverse=True)
    if len(pairs) > traces and len(pairs) * traces > _PAIRED:
        return np.eye(traces), x, y, trace
    tally = np.zeros((traces, len(pairs)))
    np.add.at(tally, (trace, which.reshape(-1)), 1.0)
    return tally, pairs[:, 0], pairs[:, 1], np.arange(len(pairs), dtype=np.int32)


def spearman_of(sums: Floats, x: Floats, y: Floats, column: Ints) -> Floats:
    """Map sums (..., p) to the correlation of mid-ranks (...) of (x, y), each pair as frequent as its column says."""
    flat = sums.reshape(-1, sums.shape[-1])
    out = np.empty(len(flat))
    step = max(1, _CELLS // max(1, len(column)))
    for start in range(0, len(flat), step):
        out[start : start + step] = _rank_correlations(flat[start : start + step, column], x, y)
    return out.reshape(sums.shape[:-1])


def _rank_correlations(weights: Floats, x: Floats, y: Floats) -> Floats:
    n = weights.sum(axis=1, keepdims=True)
    one, other = _mid_ranks(weights, x) - (n + 1) / 2, _mid_ranks(weights, y) - (n + 1) / 2
    xx, yy = (weights * one * one).sum(axis=1), (weights * other * other).sum(axis=1)
    below = np.sqrt(xx * yy)
    return ratio((weights * one * other).sum(axis=1), np.where(below > EPSILON * n[:, 0] ** 3, below, 0.0))


def _mid_ranks(weights: Floats, values: Floats) -> Floats:
    """Return the mid-rank of each value (B x n), if value i occurs weights[:, i] times."""
    different, which = np.unique(values, return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(len(different)), side="right") - 1
    upto = np.cumsum(weights[:, order], axis=1)[:, ends]
    before = np.concatenate((np.zeros((len(weights), 1)), upto[:, :-1]), axis=1)
    return np.asarray(((before + upto + 1) / 2)[:, which.reshape(-1)])
