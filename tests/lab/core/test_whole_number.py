"""Whole numbers are digits alone, and few enough to be one."""

from __future__ import annotations

import pytest

from lab.core.run.ui_tree import Bounds, UiTree
from lab.core.values.whole_number import whole_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("7", 7), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_digits_are_a_number(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize("text", ["", " 7", "-7", "+7", "1_000", "7.0", "²", "٣", "9" * 19, "9" * 5000])
def test_other_texts_are_none(text: str) -> None:
    assert whole_number(text) is None


def test_a_tree_whose_numbers_are_none_is_read_without_them() -> None:
    tree = UiTree.from_xml(
        f'<hierarchy rotation="--1"><node bounds="[0,0][{"9" * 5000},5]" text="a"/>'
        f'<node bounds="[0,0][5,5]" text="b"/></hierarchy>'
    )
    assert [(node.text, node.bounds) for node in tree.roots] == [("a", Bounds(0, 0, 0, 0)), ("b", Bounds(0, 0, 5, 5))]
    assert tree.rotation == 0
