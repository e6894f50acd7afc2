"""A report as data: sections of tables and pictures in which every number has its provenance."""

from __future__ import annotations

from typing import Literal

import msgspec

from lab.core.study.agreement import Agreement

VERSION = 1


class Number(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A number in a table: its `agreement`, and its format in the paper (digits, times 100 or not, its unit)."""

    agreement: Agreement
    digits: int = 2
    times: int = 1
    suffix: str = ""


Cell = str | Number


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A table in the paper's own form. `source` is its place in the paper, `notes` go below it.

    Each row has one cell for each of `columns`. The first cell names the row.
    """

    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    source: str = ""
    notes: tuple[str, ...] = ()


class Grid(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="grid"):
    """A contingency table: `counts` has a row for each of `down` and a column for each of `across`."""

    id: str
    title: str
    down: tuple[str, ...]
    across: tuple[str, ...]
    counts: tuple[tuple[float, ...], ...]
    down_is: str = ""
    across_is: str = ""


class Point(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One point in a scatter or a line, with its label and its series."""

    x: float
    y: float
    says: str = ""
    series: str = ""


class Scatter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="scatter"):
    """Points with the diagonal. `band` is the half-width of the band drawn around it (0: none).

    `sorted` draws them from left to right in the order of x instead of at x, as PSPA-Bench's Figure 7 does.
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
    """Numbers side by side with their intervals, such as kappa by rater pair."""

    id: str
    title: str
    bars: tuple[Agreement, ...]
    says: tuple[str, ...]
    least: float = 0.0
    most: float = 1.0


class Lines(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="lines"):
    """Series over an ordered axis, such as labels over time (drift)."""

    id: str
    title: str
    points: tuple[Point, ...]
    across: str
    up: str
    least: float = 0.0
    most: float = 1.0


Picture = Grid | Scatter | Bars | Lines


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One part of a report: its sentences, tables and pictures."""

    title: str
    says: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Provenance of a report, enough to make it again. It has no time."""

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
