"""Cases of which `make test` runs a spread and `make soak` all; a test of such cases is marked `crossed`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from typing import Any, TypeVar

import pytest

from tests.fuzzing_examples import SOAK

Case = TypeVar("Case")

crossed = pytest.mark.crossed


def each_once(*values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Each value of each list at least once, in tuples that differ from case to case; in a soak each with each."""
    if os.environ.get(SOAK):
        return list(product(*values))
    return [tuple(one[at % len(one)] for one in values) for at in range(max(map(len, values)))]


def spread(cases: Sequence[Case], count: int) -> list[Case]:
    """So many cases, spread over the whole, the first and the last among them; in a soak all."""
    if os.environ.get(SOAK) or count >= len(cases):
        return list(cases)
    return [cases[round(at * (len(cases) - 1) / (count - 1))] for at in range(count)]
