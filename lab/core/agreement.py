"""Agreement: one coefficient with its interval, its n, and how it came about; what tables of a report are made of."""

from __future__ import annotations

from typing import Literal

import msgspec

VERSION = 1

IntervalBy = Literal["", "jackknife-t", "bootstrap", "wilson", "fisher", "binomial", "f", "profile", "t", "newcombe"]
"""How an interval came about: over traces (delete-one jackknife-t, cluster bootstrap), in closed form, by a profile
likelihood, or from the intervals of two numbers (Newcombe's)."""


class How(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How intervals are made: `level` is what they claim to cover, `resamples` and `seed` are a bootstrap's."""

    interval: Literal["jackknife-t", "bootstrap"] = "jackknife-t"
    level: float = 0.95
    resamples: int = 2000
    seed: int = 0


class Agreement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One number about a study's answers. `value` is None where `undefined` says why; it is then never printed as one.

    `field` is what was asked, `part` a part of the items (fixed, flexible, before, after; empty: all), `between` whose
    answers: "people", or two names, or "NAME against most people". `low` and `high` are the interval at `level`, None
    where `no_interval` says why. `places` is the n: items that count in it, of `units` in `traces` clusters; `raters`
    how many gave them; `missing` the share (0 to 1) of answers that were to be given and were not, `reasons` which.
    `standard_error` is that of the interval's own scale where the interval is a jackknife's. `planned`: it is among the
    statistics that were settled when the study was frozen. `clusters`: what one of the clusters is
    (run, task, user, item), where it is told.
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
"""The upper bound of each word. Source: Landis & Koch 1977; printed only beside an interval."""


def word(value: float) -> str:
    """Landis and Koch's word for a kappa: below 0 poor, up to and including .20 slight, and so on."""
    if value < 0:
        return LANDIS_KOCH[0][1]
    return next((label for most, label in LANDIS_KOCH[1:] if value <= most + 1e-12), LANDIS_KOCH[-1][1])


_SHARES = (
    "percent", "share", "exact", "same", "within", "centre", "box", "iou", "accuracy", "precision", "recall", "f1",
)  # fmt: skip


def is_share(one: Agreement) -> bool:
    """Whether a number is told as a percentage: a share of answers, by the word that its statistic begins with."""
    return one.statistic.casefold().startswith(_SHARES)


def words(one: Agreement) -> str:
    """The words of both ends of an interval ("moderate to substantial"); empty where it has none."""
    if one.value is None or one.low is None or one.high is None:
        return ""
    low, high = word(one.low), word(one.high)
    return low if low == high else f"{low} to {high}"
