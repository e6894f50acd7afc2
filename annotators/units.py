"""What one sheet is about, made from runs, tasks and files: a study's units, frozen with all that they ask."""

from __future__ import annotations

from collections.abc import Iterable

from lab.case import Case
from lab.study import Protocol, Unit


def run_units(protocol: Protocol, cases: Iterable[Case]) -> list[Unit]:
    """A unit a run, with its targets in that run's task; `LabError` where a run has none of what is asked."""
    raise NotImplementedError
