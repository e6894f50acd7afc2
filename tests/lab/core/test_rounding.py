"""Rounding half up by decimal digits, against fractions and the papers' own numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.core.values.rounding import format_number


@pytest.mark.parametrize(
    ("value", "digits", "times", "told"),
    [
        (121 / 400, 1, 100, "30.3"),  # FingerTip-20K's people: 30.3 % of 400 episodes
        (1 / 8, 1, 100, "12.5"),
        (0.125, 2, 1, "0.13"),
        (1.005, 2, 1, "1.01"),
        (-0.3025, 1, 100, "-30.3"),
        (2 / 3, 3, 1, "0.667"),
        (1234567.5, 0, 1, "1,234,568"),
        (0, 1, 100, "0.0"),
        (1e-9, 2, 1, "0.00"),
        (-2e-16, 3, 1, "0.000"),
        (-0.0004, 1, 100, "0.0"),
        (-0.4, 0, 1, "0"),
        (1e300, 1, 1, f"{10**300:,}.0"),
        (float("inf"), 1, 100, "inf"),
        (float("nan"), 1, 100, "nan"),
    ],
)
def test_half_goes_up(value: float, digits: int, times: int, told: str) -> None:
    assert format_number(value, digits, times) == told


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_a_share_is_never_more_than_half_a_digit_away(some: int, all_of: int) -> None:
    told = Fraction(format_number(some / all_of, 1, 100).replace(",", ""))
    assert abs(told - Fraction(100 * some, all_of)) <= Fraction(1, 20) + Fraction(1, 10**9)
