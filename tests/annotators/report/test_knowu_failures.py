"""Why runs failed: counts in the paper's order, Wilson's intervals, coders, second reasons; by hand."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import msgspec
import pytest

from annotators.papers.knowu.failure_table import PAPER, sections
from annotators.protocols import protocol
from lab.core.codec import encode
from lab.core.study.adjudication import Settlement
from lab.core.study.label import Act
from lab.core.study.report import Grid, Number, Section
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.rated import Answer, rated

ONE = {"u0": "clarify", "u1": "clarify", "u2": "clarify", "u3": "partial", "u4": "gui", "u5": "gui", "u6": "clarify"}
TWO = {**ONE, "u5": "preference", "u6": "partial"}
UNITS = [Unit(id, runs=(f"run-{id}",)) for id in ONE]


def study(store: Store) -> Study:
    """Two coders differ on u5 and u6; u6 is then settled as partial. R1 cannot judge u4 in a second reason."""
    said = {
        "R1": {id: {("", "primary"): one} for id, one in ONE.items()},
        "R2": {id: {("", "primary"): one} for id, one in TWO.items()},
    }
    said["R1"]["u0"] = {("", "primary"): "clarify", ("", "secondary"): "gui"}
    plan = rated(store, UNITS, protocol("failure-mode-knowu-personalized"), said, id="five-b")
    what = Settlement("", "primary", "adjudicator", value="partial", reason="the main wish was met")
    detail = msgspec.to_builtins(what)
    at = "2026-04-02T10:00:00+00:00"
    store.labels.record_act(Act("a1", "five-b", 1, Actor("human", "A1"), "adjudicated", at, "u6", detail=detail))
    return plan


def told(store: Store, plan: Study) -> Section:
    (section,) = sections(load_study_data(store, plan))
    return section


def wilson(right: int, of: int) -> tuple[float, float]:
    z = 1.959963984540054
    share, spread = right / of, z * z / of
    half = z * sqrt(share * (1 - share) / of + spread / (4 * of)) / (1 + spread)
    middle = (share + spread / 2) / (1 + spread)
    return middle - half, middle + half


def test_reasons_stand_in_the_papers_order_with_wilsons_interval(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        section = told(store, study(store))
    shares = next(table for table in section.tables if table.id == "failures")
    assert [row[0] for row in shares.rows] == [
        "insufficient clarification", "partial preference satisfaction", "GUI navigation failure",
        "preference misidentification",
    ]  # fmt: skip
    found = [[cell.agreement for cell in row if isinstance(cell, Number)] for row in shares.rows]
    assert [count.value for count, _ in found] == [3, 2, 1, 0]
    assert [share.value for _, share in found] == [0.5, 2 / 6, 1 / 6, 0]
    for (_, share), right in zip(found, (3, 2, 1, 0), strict=True):
        assert (share.low, share.high) == pytest.approx(wilson(right, 6))
        assert (share.interval, share.places) == ("wilson", 6)
    assert [row[-1] for row in shares.rows] == [
        "66.7 % (32 of 48)",
        "27.1 % (13 of 48)",
        "4.2 % (2 of 48)",
        "2.1 % (1 of 48)",
    ]
    assert "6 of 7 failed runs are decided." in section.says
    assert any(says.startswith("On 1 the coders differ") for says in section.says)


def test_the_papers_counts_are_those_of_its_shares() -> None:
    """Of 86 runs 44.2 % succeeded, of 64 44 did; its percentages, rounded to one digit, come out of the counts."""
    personalized, proactive = (sum(one.values()) for one in PAPER.values())
    assert (personalized, proactive) == (round(86 * (1 - 0.442)), 5 + 15)


def test_coders_and_their_agreement(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        section = told(store, study(store))
    coders = next(table for table in section.tables if table.id == "coders")
    assert coders.rows == (("R1", "4", "1", "2", "0", "0"), ("R2", "3", "2", "1", "1", "0"))
    agreement = next(table for table in section.tables if table.id == "coding")
    percent, alpha, ac1 = (cell.agreement.value for cell in agreement.rows[0] if isinstance(cell, Number))
    assert percent == pytest.approx(5 / 7)
    counts = (7, 3, 3, 1)
    by_chance = sum(one * (one - 1) for one in counts) / (14 * 13)
    assert alpha == pytest.approx(1 - (2 / 7) / (1 - by_chance))
    shares = [one / 14 for one in counts]
    gwet = sum(one * (1 - one) for one in shares) / 3
    assert ac1 == pytest.approx((5 / 7 - gwet) / (1 - gwet))


def test_second_reasons_stand_beside_the_first(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        section = told(store, study(store))
    (grid,) = [one for one in section.pictures if isinstance(one, Grid)]
    assert grid.across == ("GUI navigation failure", "none")
    assert grid.counts == ((1.0, 6.0), (0.0, 3.0), (0.0, 3.0), (0.0, 1.0))


def test_a_reason_for_having_no_answer_is_no_reason_of_failure(tmp_path: Path) -> None:
    said: dict[str, dict[str, Any]] = {
        name: {"u0": {("", "primary"): Answer(missing="cannot_judge")}, "u1": {("", "primary"): "gui"}}
        for name in ("R1", "R2")
    }
    with Store.open(tmp_path / "lab.db") as store:
        plan = rated(store, UNITS[:2], protocol("failure-mode-knowu-proactive"), said, id="five-b")
        section = told(store, plan)
    shares = next(table for table in section.tables if table.id == "failures")
    assert [cell.agreement.value for row in shares.rows for cell in row[1:2] if isinstance(cell, Number)] == [
        0,
        0,
        1,
        0,
    ]
    coders = next(table for table in section.tables if table.id == "coders")
    assert [row[-1] for row in coders.rows] == ["1", "1"]
    assert encode(section)


def test_an_empty_study_has_no_share(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        plan = rated(store, UNITS, protocol("failure-mode-knowu-proactive"), {"R1": {}, "R2": {}}, id="five-b")
        section = told(store, plan)
    shares = next(table for table in section.tables if table.id == "failures")
    assert all(row[2].agreement.value is None for row in shares.rows if isinstance(row[2], Number))
    assert all(row[2].agreement.undefined == "no run is decided" for row in shares.rows if isinstance(row[2], Number))
    assert section.pictures == ()
