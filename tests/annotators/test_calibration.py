"""Answers beside gold: what counts as right, what is taken for what, and gold files that are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotators.calibration import (
    calibration_answers,
    confusion,
    pairwise,
    pilot_line,
    same_answer,
    share_right,
    tolerance_of,
)
from annotators.gold import read_gold, with_gold
from lab.core.errors import LabError
from lab.core.study.label import Act
from lab.core.study.protocol import Field, Protocol
from lab.core.study.rating_sheet import Sheet
from lab.core.study.study import Gold, Unit
from lab.core.task.task import Actor
from tests.studies import NODES, R1, STATE, TWO, label, study, unit

PLAN = study([unit()])


def sheet(of: Unit, said: dict[tuple[str, str], Any], *, done: bool = True, rater: Actor = R1) -> Sheet:
    rows = [
        label(PLAN, of, target, field, None if value == "?" else value, rater=rater,
              **({"reason_missing": "cannot_judge"} if value == "?" else {}))
        for (target, field), value in said.items()
    ]  # fmt: skip
    acts = [Act("a", "trial", 1, rater, "commit", "2026-04-02T00:00:00+00:00", of.id)] if done else []
    return Sheet(NODES, of, rows, acts)


GOLD = unit("g1", pilot=True, gold=(Gold("open", "state", "completed", "why"), Gold("", "rating", 50)))


@pytest.mark.parametrize(
    ("said", "gold", "near", "right"),
    [
        ("completed", "completed", 0, True),
        ("not_completed", "completed", 0, False),
        (None, "completed", 0, False),
        ("cannot judge", "completed", 0, False),
        (55, 50, 5.0, True),
        (45.0, 50, 5.0, True),
        (56, 50, 5.0, False),
        (0.85, 0.9, 0.05, True),
        (0.8, 0.9, 0.05, False),
        (3, 4, 0, False),
        (None, 50, 5.0, False),
        (True, True, 0, True),
        (None, False, 0, True),
        (None, True, 0, False),
        (1, True, 0, True),
        ("yes", True, 0, False),
        (" Buy  milk ", "buy milk", 0, True),
        ("buy bread", "buy milk", 0, False),
        ([1, 2, 3, 4], (1, 2, 3, 4), 0, True),
        ([1, 2, 3, 5], (1, 2, 3, 4), 0, False),
    ],
)
def test_what_counts_as_right(said: Any, gold: Any, near: float, right: bool) -> None:
    assert same_answer(said, gold, near) is right


@given(st.integers(0, 100), st.integers(0, 100))
def test_a_number_is_right_within_five_of_a_hundred(said: int, gold: int) -> None:
    found = calibration_answers(sheet(unit(gold=(Gold("", "rating", gold),)), {("", "rating"): said}))
    assert [one.right for one in found] == [abs(said - gold) <= 5]


def test_nearness_is_of_the_fields_own_range() -> None:
    assert tolerance_of(Field("x", "?", "interval", least=0, most=1, step=0.05)) == 0.05
    assert tolerance_of(Field("x", "?", "interval", least=1, most=5)) == pytest.approx(0.2)
    assert tolerance_of(Field("x", "?", "interval", least=0)) == 0
    assert tolerance_of(STATE) == 0 == tolerance_of(None)


def test_the_share_right_is_over_places_of_all_units() -> None:
    assert share_right([sheet(GOLD, {("open", "state"): "completed", ("", "rating"): 0})]) == 0.5
    assert share_right([sheet(unit(), {("open", "state"): "completed"})]) is None
    line = pilot_line("R1", [sheet(GOLD, {("open", "state"): "completed"}), sheet(GOLD, {}, done=False)])
    assert (line.handed_in, line.dealt, line.places, line.right, line.share) == (1, 2, 2, 1, 0.5)
    assert pilot_line("R1", [sheet(GOLD, {}, done=False)]).share is None


def test_confusion_counts_what_was_taken_for_what_and_only_what_is_handed_in() -> None:
    sheets = [
        sheet(GOLD, {("open", "state"): "completed", ("", "rating"): 53}),
        sheet(GOLD, {("open", "state"): "?", ("", "rating"): 90}),
        sheet(GOLD, {("open", "state"): "not_completed"}),
        sheet(GOLD, {("open", "state"): "not_completed"}, done=False),
    ]
    found = confusion(sheets)
    assert {(cell.field, cell.gold, cell.said): cell.n for cell in found} == {
        ("state", "completed", "completed"): 1,
        ("state", "completed", "cannot judge"): 1,
        ("state", "completed", "not_completed"): 1,
        ("rating", "50", "50"): 1,
        ("rating", "50", "90"): 1,
        ("rating", "50", "(no answer)"): 1,
    }


def test_pairs_agree_by_field_over_units_that_both_handed_in() -> None:
    one = [
        sheet(GOLD, {("open", "state"): "completed", ("pay", "state"): "?", ("", "rating"): 50}),
        sheet(unit("u2"), {("open", "state"): "completed"}, done=False),
    ]
    other = [
        sheet(GOLD, {("open", "state"): "not_completed", ("pay", "state"): "?", ("", "rating"): 54}),
        sheet(unit("u2"), {("open", "state"): "completed"}),
    ]
    found = pairwise({"R2": other, "R1": one})
    assert [(line.field, line.one, line.other, line.same, line.places) for line in found] == [
        ("state", "R1", "R2", 1, 2),
        ("rating", "R1", "R2", 1, 1),
    ]
    assert pairwise({"R1": one}) == []


@given(st.lists(st.tuples(st.sampled_from(["completed", "not_completed", "?"]), st.sampled_from(["completed", "?"]))))
def test_who_says_the_same_agrees_wholly(answers: list[tuple[str, str]]) -> None:
    sheets = [sheet(unit(f"u{i}"), {("open", "state"): a, ("pay", "state"): b}) for i, (a, b) in enumerate(answers)]
    assert all(line.percent == 100 for line in pairwise({"R1": sheets, "R2": sheets}))


# -- gold files ------------------------------------------------------------------------------------------------

UNITS = [unit("u1"), unit("u2"), unit("v3")]


def lines(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "gold.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return path


def test_gold_is_laid_into_the_units_it_is_about(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        {"unit": "u2", "target": "open", "field": "state", "value": "completed", "reason": "step 3 shows it"},
        {"run": "run-v3", "value": 70},
        {"unit": "u2", "target": "pay", "value": "not_completed"},
    )
    one, two, three = with_gold(NODES, UNITS, read_gold(path))
    assert one == UNITS[0]
    assert two.gold == (
        Gold("open", "state", "completed", "step 3 shows it"),
        Gold("pay", "state", "not_completed"),
    )
    assert (two.pilot, three.pilot, three.gold) == (True, True, (Gold("", "rating", 70),))


def test_a_run_named_whole_is_meant_although_another_begins_so(tmp_path: Path) -> None:
    units = [unit("a", runs=("run-1",)), unit("b", runs=("run-10",))]
    one, two = with_gold(NODES, units, read_gold(lines(tmp_path, {"run": "run-1", "value": 70})))
    assert (len(one.gold), len(two.gold)) == (1, 0)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "holds no line"),
        (["{"], "line 1: is not JSON"),
        ([{"unit": "u1", "target": "open"}], "line 1: field value: is not there"),
        ([{"unit": "u1", "value": 1, "vote": 2}], "line 1: field vote: there is none of that name"),
        ([{"value": 1}], "line 1: field unit: names no unit and no run"),
        ([{"unit": "u1", "run": "run-u1", "value": 1}], "line 1: names a unit and a run"),
        ([{"unit": "u", "value": 1}], "line 1: field unit: u fits 2 units (u1, u2)"),
        ([{"run": "x", "value": 1}], "line 1: field run: x is no unit's"),
        ([{"unit": "u1", "target": "shop", "value": "completed"}], "field target: 'shop' is none of open, pay"),
        ([{"unit": "u1", "target": "open", "value": "perhaps"}], "'perhaps' is none of completed, not_completed"),
        ([{"unit": "u1", "field": "state", "value": "completed"}], "field field: 'state' is none of rating"),
        ([{"unit": "u1", "value": 101}], "101 is not from 0 to 100"),
        ([{"unit": "u1", "value": 1}, {"unit": "u1", "field": "rating", "value": 2}], "line 2: field target"),
    ],
)
def test_a_wrong_gold_file_gets_a_sentence(tmp_path: Path, rows: list[Any], said: str) -> None:
    with pytest.raises(LabError) as error:
        with_gold(NODES, UNITS, read_gold(lines(tmp_path, *rows)))
    assert said in error.value.sentence
    assert "gold.jsonl" in error.value.sentence


def test_a_study_of_whole_units_has_no_targets(tmp_path: Path) -> None:
    whole = Protocol("w", "W", "run", (STATE,))
    found = with_gold(whole, [unit("u1", targets=())], read_gold(lines(tmp_path, {"unit": "u1", "value": "completed"})))
    assert found[0].gold == (Gold("", "state", "completed"),)
    path = lines(tmp_path, {"unit": "u1", "target": TWO[0].id, "value": "completed"})
    with pytest.raises(LabError, match="field target: 'open' is told, and the unit as a whole is asked"):
        with_gold(whole, [unit("u1")], read_gold(path))
