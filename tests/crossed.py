"""What `make test` leaves to `make soak`: of many cases all but a spread, and of long tests the whole.

A test of which some cases run in `make test`, or with what was packed before, is marked `crossed`. One that runs in
`make soak` alone is marked `soak`: it kills, fuzzes, lasts long or keeps another program busy for seconds, and shorter
tests look at the same parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, TypeVar

import pytest

from tests.fuzzing_examples import soaking

Case = TypeVar("Case")

crossed = pytest.mark.crossed
soak = pytest.mark.soak
IN_SOAK = soaking()


def each_once(*values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Each value of each list at least once, in tuples that differ from case to case; in a soak each with each."""
    if IN_SOAK:
        return list(product(*values))
    return [tuple(one[at % len(one)] for one in values) for at in range(max(map(len, values)))]


def spread(cases: Sequence[Case], count: int) -> list[Case]:
    """So many cases, spread over the whole from the first on; in a soak all."""
    if IN_SOAK or count >= len(cases):
        return list(cases)
    return [cases[at * (len(cases) - 1) // max(count - 1, 1)] for at in range(count)]
