"""Libraries whose results the tests compare with their own: each worker collects all tests, few use any of these."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LoadedLate:
    """A module that is imported when something of it is first asked for: `stats = LoadedLate("scipy.stats")`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest asks each name of a test module whether it is a test
            raise AttributeError(name)
        return getattr(import_module(self._name), name)
