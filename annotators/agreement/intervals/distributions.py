"""Quantiles of Student's t and of F by the incomplete beta function, and closed forms for shares of counts."""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, sqrt
from statistics import NormalDist

import numpy as np


@lru_cache(maxsize=4096)
def t_quantile(share: float, freedom: float) -> float:
    """Return the quantile of Student's t at `share`, accurate to 1e-10."""
    if not (0 < share < 1 and freedom > 0):
        raise ValueError(f"no quantile {share} of t with {freedom} degrees of freedom")
    if share < 0.5:
        return -t_quantile(1 - share, freedom)
    if share == 0.5:
        return 0.0
    # The two-sided tail, which the incomplete beta function gives directly.
    tail = 2 * (1 - share)
    # whichever of x and 1 - x is small keeps its digits
    x = _beta_quantile(tail, freedom / 2, 0.5)
    complement = _beta_quantile(1 - tail, 0.5, freedom / 2)
    return sqrt(freedom * (complement / (1 - complement) if complement < 0.5 else (1 - x) / x))


def t_share(t: float, freedom: float) -> float:
    """Return the share of Student's t below `t`, accurate to 1e-12."""
    if not freedom > 0 or t != t:
        raise ValueError(f"no share below {t} of t with {freedom} degrees of freedom")
    if t in (inf, -inf):
        return float(t > 0)
    square = t * t
    if square < freedom:  # the tail by whichever argument keeps its digits
        tail = (1 - regularised_beta(square / (freedom + square), 0.5, freedom / 2)) / 2
    else:
        tail = regularised_beta(freedom / (freedom + square), freedom / 2, 0.5) / 2
    return tail if t <= 0 else 1 - tail


def f_quantile(share: float, above: float, below: float) -> float:
    """Return the quantile of F with `above` and `below` degrees of freedom at `share`, inf if it exceeds all floats."""
    if not (0 < share < 1 and above > 0 and below > 0):
        raise ValueError(f"no quantile {share} of F with {above} and {below} degrees of freedom")
    x = _beta_quantile(share, above / 2, below / 2)
    complement = _beta_quantile(1 - share, below / 2, above / 2)
    if x >= 0.5 and not complement:
        return inf
    return below / above * (x / (1 - x) if x < 0.5 else (1 - complement) / complement)


def _beta_quantile(share: float, a: float, b: float) -> float:
    """Return the beta quantile at `share` by Newton's method, to the precision of floats.

    A step that would leave the bracket becomes a bisection.
    """
    low, high, x = 0.0, 1.0, a / (a + b)
    log_constant = lgamma(a + b) - lgamma(a) - lgamma(b)
    # 1100 bisections halve the bracket below the smallest float, so the loop always ends at a `break` or there.
    for _ in range(1100):
        excess = regularised_beta(x, a, b) - share
        low, high = (x, high) if excess < 0 else (low, x)
        # exp overflows above about 709.
        slope = exp(min(700.0, log_constant + (a - 1) * log(x) + (b - 1) * log1p(-x)))
        next_x = x - excess / slope if slope > 0 else low
        if not low < next_x < high:
            next_x = (low + high) / 2
        if not 0 < next_x < 1:  # it is nearer to an end than a number can be
            return next_x
        if abs(next_x - x) <= 1e-15 * x or not low < next_x < high:
            break
        x = next_x
    return x


def regularised_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function by its continued fraction (modified Lentz)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    # The continued fraction converges fast only below this point. Symmetry covers the rest.
    if x > (a + 1) / (a + b + 2):
        return 1 - regularised_beta(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    tiny = 1e-300
    # Lentz's ratios C and D. Neither may become zero, hence the tiny floor.
    c, d = 1.0, 1 / _avoid_zero(1 - (a + b) * x / (a + 1), tiny)
    fraction = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for part in (even, odd):
            d = 1 / _avoid_zero(1 + part * d, tiny)
            c = _avoid_zero(1 + part / c, tiny)
            change = c * d
            fraction *= change
        if abs(change - 1) < 3e-16:
            break
    return front * fraction


def _avoid_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny


def wilson(right: int, of: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of a share, for counts that are not clustered."""
    if not 0 <= right <= of or not of:
        raise ValueError(f"{right} of {of} is no share")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, square = right / of, z * z
    middle = share + square / (2 * of)
    half = z * sqrt(share * (1 - share) / of + square / (4 * of * of))
    low, high = (middle - half) / (1 + square / of), (middle + half) / (1 + square / of)
    # At 0 and 1 the formula gives an end that differs from them only by rounding.
    return (0.0 if not right else max(0.0, low)), (1.0 if right == of else min(1.0, high))


def binomial_two_sided(right: int, of: int, share: float = 0.5) -> float:
    """Return the exact two-sided binomial p value: the sum of all outcomes that are at most as likely."""
    if not 0 <= right <= of or not 0 <= share <= 1:
        raise ValueError(f"{right} of {of} with a share of {share} is no outcome")
    if share in (0.0, 1.0):
        return float(right == of * share)
    k = np.arange(of, dtype=np.float64)
    odds = log(share) - log(1 - share)
    # In logs, because the probabilities of many trials underflow.
    logs = of * log(1 - share) + np.concatenate(([0.0], np.cumsum(np.log((of - k) / (k + 1)) + odds)))
    # The tolerance counts outcomes that are equally likely but differ by rounding.
    return float(min(1.0, np.exp(logs[logs <= logs[right] + 1e-7]).sum()))
