"""How deep rows nest is told from their bytes, whatever their texts hold."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lab.core.errors import LabError
from lab.core.run import input_limits
from lab.core.values import json_size
from lab.core.values.json_size import check_depth

VALUES = st.recursive(
    st.none() | st.integers() | st.text('[]{},:"\\u\n✓', max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('[{"\\', max_size=3), inner, max_size=4),
    max_leaves=30,
)


def depth(value: Any) -> int:
    if not isinstance(value, list | dict):
        return 0
    return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)


def is_read(text: str | bytes, bound: int, patch: pytest.MonkeyPatch) -> bool:
    with patch.context() as patched:
        patched.setattr(input_limits, "ROW_DEPTH", bound)
        try:
            check_depth(text, "x")
        except LabError as error:
            assert "nested too deeply" in error.body  # noqa: PT017
            return False
    return True


@given(value=VALUES, indent=st.none() | st.just(1))
@example(value=[["\\", '\\"[', ["]"]]], indent=None)
def test_as_many_levels_are_read_as_the_bound_says(value: Any, indent: int | None) -> None:
    levels = depth(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_size, "_PIECE", 7)
        for text in (json.dumps(value, indent=indent), json.dumps(value, ensure_ascii=False).encode()):
            assert is_read(text, levels, patch)
            assert levels == 0 or not is_read(text, levels - 1, patch)


def test_brackets_in_a_long_text_are_no_levels() -> None:
    check_depth(json.dumps({"text": '[{"' * 400_000}), "x")
