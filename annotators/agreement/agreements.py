"""Which statistics a field gets, and all of them for a study."""

from __future__ import annotations

from annotators.studied import Studied
from lab.agreement import Agreement
from lab.report import Grid


def agreements(studied: Studied) -> list[Agreement]:
    """Everything that follows from the fields' kinds: people among themselves, each judge against most people."""
    raise NotImplementedError


def by_pairs(studied: Studied, field: str) -> list[Agreement]:
    """The field's chance-corrected statistic and percent, for each two people."""
    raise NotImplementedError


def confusion(studied: Studied, field: str, one: str = "", other: str = "") -> Grid:
    """How often answers came together: of two raters by their codes (`truth` is what most say), or of all pairs."""
    raise NotImplementedError


def disagreeing(studied: Studied, field: str, cell: tuple[str, str] | None = None) -> list[tuple[str, str]]:
    """Places (unit, target) of a field at which not all said the same, those that split most evenly first; of one cell
    of the grid where it is named."""
    raise NotImplementedError


def runs_wanted(one: Agreement, width: float) -> int | None:
    """How many traces in all would bring an interval to that width, its spread taken as it is; None where unknown."""
    raise NotImplementedError
