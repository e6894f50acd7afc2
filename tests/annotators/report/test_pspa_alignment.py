"""PSPA-Bench E.3: every table from a study small enough to be worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotators.agreement.agreements import agreements
from annotators.papers.pspa.alignment_table import sections
from annotators.protocols import protocol
from lab.core.study.label import Act
from lab.core.study.report import Bars, Section
from lab.core.study.study import Study, Target, Unit
from lab.core.task.task import Actor, Tdg, TdgNode
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.annotators.report.answered import number, row, say, table
from tests.studies import frozen

GRAPH = Tdg(
    (
        TdgNode("open", "Open it"),
        TdgNode("way", "Find it", alternatives=((TdgNode("search", "Search"),), (TdgNode("menu", "By the menu"),))),
        TdgNode("pick", "Pick what they like", kind="flexible", requires=("open",)),
    ),
    (("open", "way"), ("way", "pick")),
)
TARGETS = (
    Target("open", "Open it", kind="fixed"), Target("search", "Search", kind="fixed"),
    Target("menu", "By the menu", kind="fixed"), Target("pick", "Pick", kind="flexible", requires=("open",)),
)  # fmt: skip
UNITS = [Unit(f"u{at}", runs=(f"run{at}",), targets=TARGETS, tdg=GRAPH) for at in range(3)]
PILOT = Unit("pilot", runs=("run-pilot",), targets=TARGETS, tdg=GRAPH, pilot=True)
ITEMS = ("open", "search", "menu", "pick")

PEOPLE = {  # c: completed, n: not; in the order of ITEMS
    "R1": {"u0": "ccnc", "u1": "cnnc", "u2": "nnnn"},
    "R2": {"u0": "ccnc", "u1": "cnnn", "u2": "nncc"},
    "R3": {"u0": "ccnn", "u1": "cnnc", "u2": "nnnn"},
}
"""R2 holds `pick` of u2 for completed, although `open`, which it depends on, is not."""
JUDGE = [
    {"u0": "ccnc", "u1": "cncc", "u2": "nnnc"},
    {"u0": "ccnc", "u1": "cnnc", "u2": "nnnc"},
    {"u0": "ccnc", "u1": "cnnc", "u2": "cnnc"},
]


def words(letters: str) -> dict[tuple[str, str], object]:
    return {
        (item, "state"): ("completed" if letter == "c" else "not_completed", at + 1)
        for at, (item, letter) in enumerate(zip(ITEMS, letters, strict=True))
    }


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as store:
        yield store


@pytest.fixture
def study(store: Store) -> Study:
    made = frozen(store, [PILOT, *UNITS], protocol("tdg"), id="e3", raters=("R1", "R2", "R3"))
    for rater, told in PEOPLE.items():
        for unit in UNITS:
            say(store, made, unit, rater, words(told[unit.id]))
        say(store, made, PILOT, rater, words("cccc" if rater == "R1" else "nnnn"))
    for run, told in enumerate(JUDGE, 1):
        for unit in UNITS:
            say(store, made, unit, "model:judge", words(told[unit.id]), run)
    return made


def told(store: Store, *beside: str) -> list[Section]:
    return sections(load_study_data(store, store.studies.study("e3"), beside=beside))


def test_people_agree_as_by_hand_before_and_after_derivation(store: Store, study: Study) -> None:
    found = row(told(store), "pspa-e3-agreement", "Overall, as answered")
    # Twelve items; of u0 pick, u1 pick, u2 menu, u2 pick one of three differs: there 1 of 3 pairs agree.
    observed = (8 + 4 / 3) / 12
    completed = (3 + 3 + 0 + 2 + 3 + 0 + 0 + 2 + 0 + 0 + 1 + 1) / 36
    chance = completed**2 + (1 - completed) ** 2
    assert found["Pairs agree"] == pytest.approx(observed)
    assert found["All agree"] == pytest.approx(8 / 12)
    assert found["Fleiss' κ"] == pytest.approx((observed - chance) / (1 - chance))
    gwet = 2 * completed * (1 - completed)
    assert found["AC1"] == pytest.approx((observed - gwet) / (1 - gwet))
    assert found["Items"] == 12
    # The menu is on no one's path but R2's in u2, and R2's `pick` there is not completed after all.
    after = row(told(store), "pspa-e3-agreement", "Flexible, after derivation")
    assert after["Pairs agree"] == pytest.approx((1 / 3 + 1 / 3 + 1) / 3)


def test_the_pilot_counts_nowhere(store: Store, study: Study) -> None:
    section = told(store)[0]
    assert section.says == ("3 runs with 12 items, each rated by people on their own. Calibration (1) is not in it.",)
    assert number(told(store), "pspa-e3-agreement", "Overall, as answered", "Fleiss' κ").agreement.traces == 3


def test_table_7_is_of_run_1_and_of_what_most_runs_say(store: Store, study: Study) -> None:
    found = told(store)
    # Most people: u0 ccnc, u1 cnnc, u2 nnnn. Run 1 says of u1 menu and of u2 pick that they are completed.
    first = row(found, "pspa-e3-table-7-1-before", "Overall, run 1")
    assert first["Acc."] == pytest.approx(10 / 12)
    assert first["Prec."] == pytest.approx(5 / 7)
    assert first["Rec."] == pytest.approx(1.0)
    assert first["F1"] == pytest.approx(10 / 12)
    chance = 5 / 12 * 7 / 12 + 7 / 12 * 5 / 12
    assert first["κ"] == pytest.approx((10 / 12 - chance) / (1 - chance))
    assert first["Items"] == 12
    most = row(found, "pspa-e3-table-7-1-before", "Overall, most of 3 runs")
    assert most["Acc."] == pytest.approx(11 / 12)
    assert row(found, "pspa-e3-table-7-1-before", "Fixed, run 1")["Acc."] == pytest.approx(8 / 9)
    assert row(found, "pspa-e3-table-7-1-before", "Flexible, run 1")["Acc."] == pytest.approx(2 / 3)
    paper = row(found, "pspa-e3-table-7-1-before", "paper: flexible")
    assert [paper[name] for name in ("Acc.", "Prec.", "Rec.", "F1", "κ")] == ["0.91", "0.90", "0.93", "0.91", "0.83"]


def test_after_derivation_what_depends_on_nothing_completed_is_not_completed(store: Store, study: Study) -> None:
    # Run 1's `pick` of u2 depends on `open`, which it holds for not completed: after derivation it agrees.
    assert row(told(store), "pspa-e3-table-7-1-after", "Flexible, run 1")["Acc."] == pytest.approx(1.0)


def test_table_7_and_the_general_table_have_the_same_numbers(store: Store, study: Study) -> None:
    for unit, letters in zip(UNITS, ("cncc", "cncc", "cncn"), strict=True):
        say(store, study, unit, "model:menus", words(letters))
    studied = load_study_data(store, study)
    general = {
        (one.part, one.statistic): one.value
        for one in agreements(studied)
        if one.field == "state" and one.between == "menus against most people"
    }
    names = {"Acc.": "accuracy", "Prec.": "precision", "Rec.": "recall", "F1": "f1", "κ": "cohen kappa", "AC1": "ac1"}
    for stage in ("before", "after"):
        for part, type in (("", "Overall"), ("fixed, ", "Fixed"), ("flexible, ", "Flexible")):
            seven = row(told(store), f"pspa-e3-table-7-2-{stage}", f"{type}, run 1")
            for column, name in names.items():
                assert seven[column] == pytest.approx(general[part + stage, name]), (stage, type, column)
    # It goes by the menu, which is on nobody else's path: it stands alone there, and in no margin.
    assert row(told(store), "pspa-e3-table-7-2-after", "Overall, run 1")["Items"] == 6


def test_each_rater_stands_against_most_people_and_beside_each_other(store: Store, study: Study) -> None:
    found = told(store)
    agrees = {name: row(found, "pspa-e3-raters", name)["Agrees"] for name in ("R1", "R2", "R3", "judge")}
    assert agrees == pytest.approx({"R1": 1.0, "R2": 9 / 12, "R3": 11 / 12, "judge": 10 / 12})
    (bars,) = [one for section in found for one in section.pictures if isinstance(one, Bars)]
    assert bars.says == (
        "R1 and R2", "R1 and R3", "R1 and judge", "R2 and R3", "R2 and judge", "R3 and judge"
    )  # fmt: skip


def test_three_readings_of_consistency_and_two_of_how_far_apr_spreads(store: Store, study: Study) -> None:
    found = told(store)
    id = "pspa-e3-steady-1"
    # Of twelve items two differ in one run of three: u1 menu and u2 open.
    assert row(found, id, "items at which all runs say the same")["Here"] == pytest.approx(10 / 12)
    assert row(found, id, "two runs say the same")["Here"] == pytest.approx((10 + 2 / 3) / 12)
    assert row(found, id, "a run says what most runs say")["Here"] == pytest.approx((10 + 2 * 2 / 3) / 12)
    # APR by run: u0 1, 1, 1; u1 1, 2/3, 2/3 (open, pick and the menu or none); u2 0, 0, 2/3.
    means = [2 / 3, 5 / 9, 7 / 9]
    assert row(found, id, "sd of mean APR over the judge's runs")["Here"] == pytest.approx(_sd(means))
    each = [0.0, _sd([1, 2 / 3, 2 / 3]), _sd([0, 0, 2 / 3])]
    told_sd = row(found, id, "sd of APR over the judge's runs, mean of all rated runs")["Here"]
    assert told_sd == pytest.approx(sum(each) / 3)
    assert "sd is that of a sample (n - 1)." in table(found, id).notes


def test_runs_of_different_prompts_are_told_from_those_of_one(store: Store, study: Study) -> None:
    def said() -> str:
        return table(told(store), "pspa-e3-steady-1").notes[0]

    assert said() == "3 runs of the judge."
    judge = Actor("model", "judge")
    for at, sha in enumerate(("one", "one", "two")):
        time = f"2026-04-01T11:00:0{at}.000000+00:00"
        store.labels.record_act(
            Act(f"sat-{at}", "e3", 1, judge, "sat", time, detail={"config_sha": sha, "config": sha})
        )
        if at == 1:
            assert said() == "3 runs of the judge, all of one prompt and one set of parameters."
    assert "of 2 different prompts or parameters" in said()


def _sd(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return float((sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5)


def test_apr_is_algorithm_1_on_the_majority_s_answers(store: Store, study: Study) -> None:
    found = told(store)
    most = row(found, "pspa-e3-apr", "most people")
    assert (most["APR"], most["PPR"], most["Runs"]) == (pytest.approx((1 + 2 / 3 + 0) / 3), pytest.approx(2 / 3), 3)
    second = row(found, "pspa-e3-apr", "R2")
    assert second["APR"] == pytest.approx((1 + 1 / 3 + 1 / 3) / 3), "the menu of u2 alone counts, not what depends"
    assert second["Apart from most people's APR"] == pytest.approx((0 + 1 / 3 + 1 / 3) / 3)
    assert row(found, "pspa-e3-apr", "judge, run 3")["APR"] == pytest.approx(7 / 9)


def test_flags_are_shares_of_the_items_that_differ(store: Store, study: Study) -> None:
    say(store, study, UNITS[2], "model:judge", {("pick", "partial"): True})
    found = told(store)
    share = row(found, "pspa-e3-flags", "share of all items")
    assert share == {
        "Of the items at which": "share of all items", "people differ": pytest.approx(4 / 12),
        "judge and most people differ": pytest.approx(2 / 12), "paper: judge": "7 %",
    }  # fmt: skip
    partial = row(found, "pspa-e3-flags", "flagged as partial")
    assert partial["people differ"] == pytest.approx(1 / 4)
    assert partial["judge and most people differ"] == pytest.approx(1 / 2)
    assert partial["paper: judge"] == "42 %"


def test_a_study_of_causes_beside_it_tells_what_they_are_and_how_far_its_coders_agree(
    store: Store, study: Study
) -> None:
    items = {"u0": ("pick",), "u1": ("menu", "pick"), "u2": ("menu", "pick")}
    units = [Unit(id, runs=(f"run{id[1]}",), targets=tuple(Target(one, one) for one in of)) for id, of in items.items()]
    coded = frozen(store, units, protocol("disagreement-cause"), id="why", raters=("C1", "C2"))
    said = {"C1": ("partial", "partial", "slip", "partial", "ui_change"),
            "C2": ("partial", "partial", "slip", "other", "ui_change")}  # fmt: skip
    for coder, causes in said.items():
        left = iter(causes)
        for unit in units:
            say(store, coded, unit, coder, {(target.id, "cause"): (next(left), 1) for target in unit.targets})
    found = told(store, "why")
    partial = row(found, "pspa-e3-causes", "partial completion")
    assert partial["all coded items"] == pytest.approx(2 / 4)
    assert partial["judge and most people differ"] == pytest.approx(1 / 2), "u1 menu and u2 pick"
    assert row(found, "pspa-e3-causes", "coders differ (of all)")["all coded items"] == pytest.approx(1 / 5)
    coders = row(found, "pspa-e3-coders", "cause")
    chance = (3 * 2 + 1 * 1 + 1 * 1) / 25
    assert coders["Cohen's κ"] == pytest.approx((4 / 5 - chance) / (1 - chance))
    assert (coders["Pairs agree"], coders["Coders"], coders["Items"]) == (pytest.approx(0.8), 2, 5)
    assert not any("No study of causes" in said for section in found for said in section.says)
    assert any("No study of causes" in said for section in told(store) for said in section.says)


def test_without_a_judge_a_rater_or_an_answer_it_says_so(store: Store) -> None:
    made = frozen(store, UNITS, protocol("tdg"), id="e3", raters=("R1", "R2", "R3"))
    assert [section.says for section in told(store)] == [("Nobody has handed in an answer yet.",)]
    say(store, made, UNITS[0], "R1", words("ccnc"))
    found = told(store)
    assert row(found, "pspa-e3-agreement", "Overall, as answered")["Fleiss' κ"] == "one rater"
    assert any("No model or script has rated these runs" in said for section in found for said in section.says)
    say(store, made, UNITS[0], "model:judge", words("ccnc"))
    found = told(store)
    assert row(found, "pspa-e3-steady-1", "items at which all runs say the same")["Here"] == "one run of the judge"
    assert row(found, "pspa-e3-steady-1", "sd of mean APR over the judge's runs")["Here"] == "one run of the judge"
