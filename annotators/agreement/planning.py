"""Estimates of how many more runs would narrow an interval."""

from __future__ import annotations

from math import asinh, ceil, exp, log

from annotators.agreement.estimates import MINUS
from lab.core.agreement import Agreement

_UNBOUNDED = ("mae", "mse")


def runs_wanted(one: Agreement, width: float) -> int | None:
    """Return the total number of traces that would narrow an interval to `width`; None if unknown.

    It is an estimate for an unchanged spread. The half-width shrinks as one over the root of the number of traces, on
    the scale of the interval: log of the distance from 1, or the statistic's own if it has no such bound.
    """
    if one.value is None or one.low is None or one.high is None or one.traces < 1 or width <= 0:
        return None
    if one.high <= one.low:
        return None
    # These have no maximum of 1, so their interval was not made on the log scale.
    own = one.statistic in _UNBOUNDED or MINUS in one.between
    if own or one.high >= 1 or one.value >= 1:
        width_ratio = (one.high - one.low) / width
    else:
        half = (log(1 - one.low) - log(1 - one.high)) / 2
        middle = exp((log(1 - one.low) + log(1 - one.high)) / 2)
        # On the log scale the width is 2 * middle * sinh(half), so this half-width gives `width`.
        width_ratio = half / asinh(width / (2 * middle))
    # Without the tolerance, rounding could ask for one run too many.
    return max(2, ceil(one.traces * width_ratio * width_ratio - 1e-9))
