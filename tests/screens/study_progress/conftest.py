"""Who looks at numbers sits down at one desk."""

from __future__ import annotations

import pytest

from tests.screens.desk import desk, share_loop

__all__ = ["desk"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Hears of all tests there are; those that sit at a desk are told apart by that."""
    share_loop(items)
