"""A report as data: sections of tables and pictures, in which every number carries how it came about."""

from __future__ import annotations

from typing import Literal

import msgspec

from lab.core.agreement import Agreement

VERSION = 1


class Number(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A number in a table: the `agreement` it is, and how the paper prints it (digits, times 100 or not, its unit)."""

    agreement: Agreement
    digits: int = 2
    times: int = 1
    suffix: str = ""


Cell = str | Number


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A table in the paper's own form; `source` is where the paper has it, `notes` stand below it.

    Each row has one cell for each of `columns`; the first says what the row is of.
    """

    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    source: str = ""
    notes: tuple[str, ...] = ()


class Grid(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="grid"):
    """How often answers came together: `counts` has a row for each of `down`, a column for each of `across`."""

    id: str
    title: str
    down: tuple[str, ...]
    across: tuple[str, ...]
    counts: tuple[tuple[float, ...], ...]
    down_is: str = ""
    across_is: str = ""


class Point(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing in a scatter or a line: where it is, what it is called, of which series."""

    x: float
    y: float
    says: str = ""
    series: str = ""


class Scatter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="scatter"):
    """Points with the diagonal; `band` is the half-width beside it that is drawn (0: none).

    `sorted` draws them from left to right by their x in place of at it, as PSPA-Bench's Figure 7 does.
    """

    id: str
    title: str
    points: tuple[Point, ...]
    across: str
    up: str
    least: float = 0.0
    most: float = 1.0
    band: float = 0.0
    diagonal: bool = True
    sorted: bool = False


class Bars(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="bars"):
    """Numbers beside one another with their intervals, such as kappa by rater pair."""

    id: str
    title: str
    bars: tuple[Agreement, ...]
    says: tuple[str, ...]
    least: float = 0.0
    most: float = 1.0


class Lines(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="lines"):
    """Series over something ordered, such as labels over time (drift)."""

    id: str
    title: str
    points: tuple[Point, ...]
    across: str
    up: str
    least: float = 0.0
    most: float = 1.0


Picture = Grid | Scatter | Bars | Lines


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One part of a report: what it says in sentences, its tables, its pictures."""

    title: str
    says: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Out of what a report was made, so that another can make it again; holds no clock."""

    study: str
    version: int
    study_sha: str
    sample_sha: str
    protocol: str
    protocol_sha: str
    guide_sha: str
    locale: str
    labels_sha: str
    code: str
    platform: str
    interval: Literal["jackknife-t", "bootstrap"] = "jackknife-t"
    level: float = 0.95
    resamples: int | None = None
    seed: int | None = None
    beside: tuple[str, ...] = ()


class Report(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A study's report."""

    title: str
    provenance: Provenance
    sections: tuple[Section, ...]
    v: int = VERSION
