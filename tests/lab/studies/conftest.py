"""What the tests of judges share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from lab.studies.judging import judge_view


@pytest.fixture(scope="session", autouse=True)
def _a_picture_is_scaled_once() -> Iterator[None]:
    """Most judges are shown the same run: its screens are made small for the first of them, and known from then on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge_view, "scaled_down", cache(judge_view.scaled_down))
        yield
