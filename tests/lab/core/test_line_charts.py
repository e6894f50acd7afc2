"""Numbers drawn in a line: where a point and its interval stand, what a scale says, how dark a cell is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.core.text.text_charts import column_of, interval_bar, scale, shade, share_bar


def test_a_point_stands_between_the_ends_of_its_interval() -> None:
    assert interval_bar(0.5, 0.2, 0.9, 11) == "··├──●───┤·"
    assert interval_bar(0.5, None, None, 11) == "·····●·····"
    assert interval_bar(None, None, None, 11) == "·" * 11


def test_what_lies_beyond_the_scale_is_an_arrow_and_zero_is_marked_inside_it() -> None:
    assert interval_bar(0.5, -0.4, 1.2, 11) == "◂────●────▸"
    assert interval_bar(0.5, 0.3, 0.8, 21, -1, 1) == "··········┊··├─●──┤··"
    assert interval_bar(-2, None, None, 5, -1, 1) == "◂·┊··"


def test_an_interval_narrower_than_a_column_is_its_point() -> None:
    assert interval_bar(0.5, 0.49, 0.51, 11) == "·····●·····"


def test_a_scale_names_its_ends_and_its_middle() -> None:
    assert scale(13) == "0    0.5    1"
    assert scale(21, -1, 1) == "-1        0         1"
    assert scale(4) == "0  1"


def test_bars_fill_by_eighths() -> None:
    assert share_bar(0.5, 4) == "██  "
    assert share_bar(1 / 8 / 4, 4) == "▏   "
    assert share_bar(2, 4) == "████"
    assert share_bar(None, 4) == "    "


@pytest.mark.parametrize(("count", "level"), [(0, 0), (1, 1), (25, 1), (26, 2), (100, 4)])
def test_a_cell_is_as_dark_as_its_share_of_the_largest(count: int, level: int) -> None:
    assert shade(count, 100) == level


NUMBERS = st.floats(-3, 3)


@given(NUMBERS, NUMBERS, NUMBERS, st.integers(1, 80), st.sampled_from([(0.0, 1.0), (-1.0, 1.0)]))
def test_a_bar_is_as_wide_as_asked_and_its_point_where_its_value_is(
    value: float, low: float, high: float, width: int, ends: tuple[float, float]
) -> None:
    low, high = sorted((low, high))
    bar = interval_bar(value, low, high, width, *ends)
    assert len(bar) == width
    assert bar[column_of(value, width, *ends)] in "●◂▸"
    assert len(scale(width, *ends)) in (0, width)
    assert len(share_bar(value, width)) == width
