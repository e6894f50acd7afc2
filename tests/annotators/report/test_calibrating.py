"""Calibration units stand apart, with kappa and what is wrong by rule; what was planned and is not there is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from annotators.agreement.agreements import agreements
from annotators.report.calibration_section import sections
from annotators.report.planned_section import with_missing_statistics
from annotators.report.report import make_report
from annotators.report.text import as_text
from lab.core.study.agreement import Agreement
from lab.core.study.report import Grid, Number, Section, Table
from lab.core.study.study import Gold, Target, Unit
from store.store import Store
from tests.answered import R1, R2, R3, Answered, M, protocol
from tests.loaded_late import LoadedLate
from tests.papers import row, sound, table, value

inter_rater = LoadedLate("statsmodels.stats.inter_rater")

TWO = (Target("a", "A"), Target("b", "B"))
GOLD = (Gold("a", "state", "completed", "It is on the screen."), Gold("b", "state", "not_completed", "Only a part."))
WORDS = {"c": "completed", "n": "not_completed"}
CALIBRATED = {
    ("p0", "a"): "ccn", ("p0", "b"): "cnn", ("p1", "a"): "ccc", ("p1", "b"): "ccc",
    ("p2", "a"): "ccc", ("p2", "b"): "nnn", ("p3", "a"): "ccc", ("p3", "b"): "ncn",
}  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def piloted(store: Store, gold: tuple[Gold, ...] = GOLD, **plan: object) -> Answered:
    """Four units of calibration, and four others at which all say the same."""
    units = [Unit(f"p{i}", (f"run-p{i}",), targets=TWO, pilot=True, gold=gold) for i in range(4)]
    units += [Unit(f"u{i}", (f"run-u{i}",), targets=TWO) for i in range(4)]
    return Answered(store, units, protocol("tdg"), **plan)  # type: ignore[arg-type]


def calibrated(store: Store, gold: tuple[Gold, ...] = GOLD) -> list[Section]:
    made = piloted(store, gold)
    made.table("state", (R1, R2, R3), CALIBRATED, WORDS)
    return sections(made.studied())


def test_kappa_of_calibration_units_is_that_of_statsmodels(store: Store) -> None:
    found = calibrated(store)
    sound(found)
    [state] = [one for one in found[0].tables if one.title == "state"]
    counts = np.array([[said.count("c"), said.count("n")] for said in CALIBRATED.values()])
    assert value(row(state, "before")["Fleiss' kappa"]) == pytest.approx(inter_rater.fleiss_kappa(counts), abs=1e-12)
    assert value(row(state, "before")["percent"]) == pytest.approx(18 / 24)
    assert row(state, "before")["Items"] == "8"


def test_raters_stand_against_gold_and_answers_by_its_rule(store: Store) -> None:
    found = calibrated(store)
    right = table(found, "calibration-gold")
    assert {str(cells[0]): value(cells[1]) for cells in right.rows} == {"R1": 6 / 8, "R2": 6 / 8, "R3": 6 / 8}
    rules = table(found, "calibration-rules-state")
    assert [cells[:3] for cells in rules.rows] == [
        ("Only a part.", "not_completed", "completed 5"), ("It is on the screen.", "completed", "not_completed 1"),
    ]  # fmt: skip
    assert [value(cells[3]) for cells in rules.rows] == [pytest.approx(5 / 12), pytest.approx(1 / 12)]
    [grid] = [one for one in found[0].pictures if isinstance(one, Grid)]
    assert (grid.down, grid.counts) == (("completed", "not_completed"), ((11, 1), (5, 7)))


def test_without_gold_the_grid_is_of_every_two_people(store: Store) -> None:
    found = calibrated(store, ())
    assert "Nothing in them has gold" in found[0].says[1]
    [grid] = [one for one in found[0].pictures if isinstance(one, Grid)]
    assert sum(map(sum, grid.counts)) == 24
    assert not [one for one in found[0].tables if "gold" in one.id or "rules" in one.id]


def test_a_study_without_calibration_says_nothing_of_it(store: Store) -> None:
    made = Answered(store, [Unit("u0", ("run-u0",), targets=TWO)], protocol("tdg"))
    made.table("state", (R1, R2, R3), {("u0", "a"): "ccn"}, WORDS)
    assert sections(made.studied()) == []


def test_before_anybody_answered_there_is_no_calibration_to_tell(store: Store) -> None:
    assert sections(piloted(store).studied()) == []


def test_calibration_changes_no_number_of_the_study(store: Store) -> None:
    made = piloted(store, dealt=[
        *((rater, f"p{i}", 1) for rater in ("R1", "R2", "R3", "R4") for i in range(4)),
        *((rater, f"u{i}", 1) for rater in ("R1", "R2", "R3") for i in range(4)),
    ], raters=("R1", "R2", "R3", "R4"))  # fmt: skip
    said = {(f"u{i}", target): words for i in range(4) for target, words in (("a", "ccc"), ("b", "ccn"))}
    made.table("state", (R1, R2, R3), said, WORDS)
    before = agreements(made.studied())
    assert "fleiss kappa" in {one.statistic for one in before if one.field == "state"}
    made.table("state", (R1, R2, R3), CALIBRATED, WORDS)
    assert agreements(made.studied()) == before


def test_it_stands_last_in_the_report_and_its_answers_nowhere_else(store: Store) -> None:
    made = piloted(store)
    made.table("state", (R1, R2, R3), CALIBRATED, WORDS)
    made.says(M, "p0", "a", "state", "completed")
    report = make_report(made.studied(), "", "")
    assert report.sections[-1].title == "Calibration"
    assert value(row(table(report.sections, "calibration-gold"), "judge (model)")["As gold"]) == 1.0
    assert [cells[3] for cells in table(report.sections, "raters").rows] == ["0", "0", "0", "0"]


# -- what was planned ------------------------------------------------------------------------------------------


def planned(store: Store, *statistics: str, judge: int = 0) -> str:
    """The first section of a report, by a study that planned these."""
    made = piloted(store, statistics=statistics)
    said = {(f"u{i}", target): words for i in range(4) for target, words in (("a", "ccc"), ("b", "ccn"))}
    made.table("state", (R1, R2, R3), said, WORDS)
    for run in range(1, judge + 1):
        for unit, target in said:
            made.says(M, unit, target, "state", "completed", run=run)
    report = make_report(made.studied(), "", "")
    assert as_text(report)
    return " ".join(report.sections[1].says)


def test_what_was_planned_and_is_not_there_is_told_with_why(store: Store) -> None:
    said = planned(store, "percent", "fleiss kappa", "majority", "consistency", "causes", "intra-rater", "f1")
    assert said == (
        "Planned, and not to be had from these answers: consistency (nobody and no judge gave the same thing more "
        "than once); causes (no study of causes stands beside it: --extra-study); intra-rater (no person rated "
        "anything twice); f1 (no judge or model rated)."
    )


def test_what_was_planned_and_is_there_is_told_no_more(store: Store) -> None:
    assert planned(store, "percent", "fleiss kappa", "ac1", "majority", "consistency", "f1", judge=2) == ""


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("share in band", {"statistic": "within 0.05"}), ("spearman", {"statistic": "mean Spearman within episodes"}),
        ("side bias", {"statistic": "share of left"}), ("wilson", {"statistic": "share", "interval": "wilson"}),
        ("intra-rater", {"statistic": "mae", "between": "the same person again"}),
        ("paired bootstrap", {"statistic": "difference of mae", "interval": "bootstrap"}),
        ("similarity", {"statistic": "Sim1"}), ("edit rate", {"statistic": "edit rate"}),
        ("precision", {"statistic": "precision of success"}), ("icc(A,1)", {"statistic": "icc(A,1)"}),
        ("consistency", {"statistic": "percent", "between": "judge's runs"}),
    ],
)  # fmt: skip
def test_a_planned_name_is_found_under_what_its_numbers_are_called(
    store: Store, name: str, told: dict[str, str]
) -> None:
    made = piloted(store, statistics=(name,)).studied()
    for statistic, lacking in ((told, 0), ({"statistic": "other"}, 1)):
        number = Number(Agreement("state", value=0.5, **statistic))  # type: ignore[arg-type]
        section = Section("One", tables=(Table("t", "T", ("", "x"), (("row", number),)),))
        assert len(with_missing_statistics(made, [section])[0].says) == lacking


def test_a_planned_number_that_is_undefined_says_why(store: Store) -> None:
    made = piloted(store, statistics=("fleiss kappa",))
    made.table("state", (R1, R2, R3), {("u0", "a"): "ccc", ("u1", "a"): "ccc"}, WORDS)
    for unit in ("u2", "u3"):
        for rater in (R1, R2, R3):
            made.hands_in(rater, unit)
    assert "fleiss kappa (one category" in " ".join(make_report(made.studied(), "", "").sections[1].says)
