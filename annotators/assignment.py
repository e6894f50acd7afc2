"""Who rates what, in which order: dealt from a seed, so that the same study is dealt the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence

from lab.study import Assignment, Study, Unit


def deal(study: Study, units: Sequence[Unit]) -> list[Assignment]:
    """Every assignment of a study: calibration units first and to all, then each unit to `overlap` raters in an order
    of each rater's own, and `repeats` of them once more with sides swapped.

    Plays are counterbalanced over tasks, conditions and order. Loads differ by one at most.
    """
    raise NotImplementedError
