"""Agreement: one coefficient with its interval and its n. The tables of a report consist of these."""

from __future__ import annotations

from typing import Literal

import msgspec

VERSION = 1

IntervalBy = Literal["", "jackknife-t", "bootstrap", "wilson", "fisher", "binomial", "f", "profile", "t", "newcombe"]
"""Method of an interval.

It resamples traces (delete-one jackknife-t, cluster bootstrap), or it is in closed form, a profile likelihood, or a
combination of the intervals of two numbers (Newcombe).
"""


class IntervalTerms(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Parameters of intervals: `level` is the nominal coverage, `resamples` and `seed` apply to a bootstrap."""

    interval: Literal["jackknife-t", "bootstrap"] = "jackknife-t"
    level: float = 0.95
    resamples: int = 2000
    seed: int = 0


class Agreement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One number about a study's answers. `value` is None if `undefined` gives the reason.

    `field` is the question and `part` a part of the items (fixed, flexible, before, after, or empty for all). `between`
    names the raters: "people", two names, or "NAME against most people". `low` and `high` are the interval at `level`,
    None if `no_interval` gives the reason.

    `places` is the n: the items that count, of `units` in `traces` clusters. `clusters` is the kind of cluster (run,
    task, user, item) if known. `raters` counts the raters. `missing` is the share (0 to 1) of expected answers that are
    missing, and `reasons` counts them by reason. `standard_error` is on the interval's own scale, for jackknife
    intervals only. `planned` is true for statistics that were fixed when the study was frozen.
    """

    field: str
    statistic: str
    value: float | None = None
    undefined: str = ""
    part: str = ""
    between: str = "people"
    low: float | None = None
    high: float | None = None
    no_interval: str = ""
    interval: IntervalBy = ""
    level: float = 0.95
    resamples: int | None = None
    seed: int | None = None
    places: int = 0
    units: int = 0
    traces: int = 0
    raters: int = 0
    missing: float = 0.0
    reasons: dict[str, int] = {}
    standard_error: float | None = None
    planned: bool = False
    clusters: str = ""
    v: int = VERSION


LANDIS_KOCH: tuple[tuple[float, str], ...] = (
    (0.0, "poor"), (0.20, "slight"), (0.40, "fair"), (0.60, "moderate"), (0.80, "substantial"), (1.0, "almost perfect"),
)  # fmt: skip
"""Upper bound of each word. Source: Landis & Koch 1977. Only printed beside an interval."""


def landis_koch_word(value: float) -> str:
    """Return Landis and Koch's word for a kappa: below 0 poor, up to and including .20 slight, and so on."""
    if value < 0:
        return LANDIS_KOCH[0][1]
    # The tolerance gives .20 its own word although a computed .20 may be slightly above it.
    return next((label for most, label in LANDIS_KOCH[1:] if value <= most + 1e-12), LANDIS_KOCH[-1][1])


_SHARES = (
    "percent", "share", "exact", "same", "within", "centre", "box", "iou", "accuracy", "precision", "recall", "f1",
)  # fmt: skip


def is_share(one: Agreement) -> bool:
    """Return True if a number is printed as a percentage, by the word with which its statistic begins."""
    return one.statistic.casefold().startswith(_SHARES)


def interval_text(one: Agreement) -> str:
    """Return the words for both ends of an interval ("moderate to substantial"), empty without an interval."""
    if one.value is None or one.low is None or one.high is None:
        return ""
    low, high = landis_koch_word(one.low), landis_koch_word(one.high)
    return low if low == high else f"{low} to {high}"
