"""Intervals clustered by trace: the delete-one jackknife-t, the cluster bootstrap, differences paired over traces."""

from __future__ import annotations

from annotators.agreement.additive import Additive, Estimate
from lab.agreement import How


def estimate(one: Additive, how: How) -> Estimate:
    """A coefficient with its interval over traces; undefined values and intervals say why."""
    raise NotImplementedError


def difference(one: Additive, other: Additive, how: How) -> Estimate:
    """`one` minus `other`, both over the same traces in the same order."""
    raise NotImplementedError


def wilson(right: int, of: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a share, for counts that are not clustered."""
    raise NotImplementedError


def binomial_two_sided(right: int, of: int, share: float = 0.5) -> float:
    """The exact two-sided binomial p value (sum of all outcomes that are no likelier)."""
    raise NotImplementedError


def t_quantile(share: float, freedom: int) -> float:
    """Student's t; numpy alone, to 1e-10."""
    raise NotImplementedError
