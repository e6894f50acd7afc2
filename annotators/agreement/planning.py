"""How many more runs would narrow an interval."""

from __future__ import annotations

from math import asinh, ceil, exp, log

from annotators.agreement.estimates import MINUS
from lab.core.agreement import Agreement

_UNBOUNDED = ("mae", "mse")


def runs_wanted(one: Agreement, width: float) -> int | None:
    """How many traces in all would bring an interval to that width, its spread taken as it is; None where unknown.

    An estimate: the half-width on the scale on which the interval was made (log of the distance from 1, or the
    statistic's own where it has no such bound) is taken to shrink as one over the root of the number of traces.
    """
    if one.value is None or one.low is None or one.high is None or one.traces < 1 or width <= 0:
        return None
    if one.high <= one.low:
        return None
    own = one.statistic in _UNBOUNDED or MINUS in one.between
    if own or one.high >= 1 or one.value >= 1:
        width_ratio = (one.high - one.low) / width
    else:
        half = (log(1 - one.low) - log(1 - one.high)) / 2
        middle = exp((log(1 - one.low) + log(1 - one.high)) / 2)
        width_ratio = half / asinh(width / (2 * middle))
    return max(2, ceil(one.traces * width_ratio * width_ratio - 1e-9))
