"""Designers share an app."""

from __future__ import annotations

import pytest

from tests.screens.shared_apps import share_loop, shared_apps

__all__ = ["shared_apps"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Hears of all tests there are; those that share an app are told apart by that."""
    share_loop(items)
