"""Units from JSON lines, and from another study's labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from annotators.protocols import protocol
from annotators.units import EarlierStudy, read_lines, units_for
from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.study.label import Label
from lab.core.study.study import Gold, Study, Target, Unit, UnitText
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7

A: dict[str, Any] = {"method": "ours", "instructions": ["Order tea", "Book a train"]}
B: dict[str, Any] = {"method": "static", "instructions": ["Search tea"]}
SETS: dict[str, Any] = {"id": "u1-1", "user": "u1", "context": "31, at sea", "A": A, "B": B}


def write(tmp_path: Path, *lines: Any) -> Path:
    path = tmp_path / "items.jsonl"
    text = "\n".join(line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    path.write_text(text, encoding="utf-8")
    return path


def made(name: str, path: Path) -> list[Unit]:
    return units_for(protocol(name), lines=read_lines(path))


def test_two_sets_of_instructions_stand_side_by_side_and_their_methods_are_hidden(tmp_path: Path) -> None:
    cards = {"Home": "a boat", "Habits": "tea at five"}
    bare = {"context": cards, "A": {"instructions": ["x"]}, "B": {"instructions": ["y"]}}
    first, second = made("pairwise-sets", write(tmp_path, SETS, "", bare))
    assert first.id == "u1-1"
    assert first.given == (
        UnitText("The person", "31, at sea"),
        UnitText("Instructions", items=("Order tea", "Book a train"), side="A"),
        UnitText("Instructions", items=("Search tea",), side="B"),
    )
    assert first.hidden == {"A": "ours", "B": "static"}
    assert first.clustered == "u1"
    assert (first.pilot, first.gold) == (False, ())
    assert (second.id, second.clustered, second.hidden) == ("line-2", "line-2", {})
    assert second.given[:2] == (UnitText("Home", "a boat"), UnitText("Habits", "tea at five"))


def test_two_texts_are_compared_and_their_source_is_hidden(tmp_path: Path) -> None:
    line = {"A": "点奶茶", "B": "点一杯奶茶", "source": "model-x", "user": "u7"}
    (unit,) = made("same-intent", write(tmp_path, line))
    assert [(given.text, given.side) for given in unit.given] == [("点奶茶", "A"), ("点一杯奶茶", "B")]
    assert [given.title for given in unit.given] == ["What was wanted", "The guess"]
    assert (unit.hidden, unit.clustered) == ({"source": "model-x"}, "u7")


def test_a_line_with_gold_is_a_calibration_unit(tmp_path: Path) -> None:
    line = {"A": "tea", "B": "coffee", "gold": {"same": "not_same"}, "reason": "other drinks"}
    (unit,) = made("same-intent", write(tmp_path, line))
    assert unit.pilot
    assert unit.gold == (Gold("", "same", "not_same", "other drinks"),)


WRONG: list[tuple[str, list[Any], str]] = [
    ("pairwise-sets", [""], "holds no line"),
    ("pairwise-sets", [SETS, "{"], ", line 2: is not JSON"),
    ("pairwise-sets", ["[1]"], ", line 1: must be a mapping, not a list"),
    ("pairwise-sets", [SETS | {"colour": 1}], ", line 1: field colour: there is none of that name"),
    ("pairwise-sets", [{"A": A}], ", line 1: field B: is not there"),
    ("pairwise-sets", [SETS | {"B": {"method": "m"}}], ", line 1: field B.instructions: is not there"),
    ("pairwise-sets", [SETS | {"B": {"instructions": []}}], ", line 1: field B.instructions: is empty"),
    ("pairwise-sets", [SETS | {"A": {"instructions": ["x", " "]}}], ", line 1: field A.instructions: holds an empty"),
    (
        "pairwise-sets",
        [SETS | {"A": {"instructions": ["x", 3]}}],
        ", line 1: field A.instructions[1]: must be text, not a whole number",
    ),
    ("pairwise-sets", [SETS | {"context": 7}], ", line 1: field context: must be text"),
    ("pairwise-sets", [SETS, "", SETS], ", line 3: field id: 'u1-1' stands in line 1 already"),
    ("pairwise-sets", [SETS | {"gold": {"best": "A"}}], ", line 1: field gold: 'best' is none of plausibility"),
    ("pairwise-sets", [SETS | {"gold": {"overall": "C"}}], ", line 1: field value: overall: 'C' is none of A, B, tie"),
    ("same-intent", [SETS], "field A: must be text, not a mapping"),
    ("same-intent", [{"A": "x", "B": " "}], ", line 1: field B: holds an empty text"),
    ("same-intent", [{"A": "x"}], ", line 1: field B: is not there"),
]


@pytest.mark.parametrize(("name", "lines", "sentence"), WRONG)
def test_what_is_wrong_is_said_with_its_line_and_field(
    tmp_path: Path, name: str, lines: list[Any], sentence: str
) -> None:
    path = write(tmp_path, *lines)
    with pytest.raises(LabError) as told:
        made(name, path)
    assert told.value.sentence.startswith(f"file {path}")
    assert sentence in told.value.sentence


# -- disagreements ---------------------------------------------------------------------------------------------

UNITS = [
    Unit(
        "run-1",
        runs=("run-1",),
        cluster="c1",
        targets=(Target("open", "Open it", "d", "fixed", requires=("x",)), Target("pay", "Pay")),
    ),
    Unit("run-2", runs=("run-2",), targets=(Target("open", "Open it"),)),
    Unit("run-0", runs=("run-0",), targets=(Target("open", "Open it"),), pilot=True),
]
STUDY = Study("before", 1, "Before", protocol("tdg"), ("R1", "R2", "R3"), 3, "")


def label(rater: str, unit: str, target: str, value: Any, field: str = "state", **more: Any) -> Label:
    kind = more.pop("kind", "human")
    return Label(uuid7(), "before", 1, unit, target, field, Actor(kind, rater), value=value, at=now(), **more)


def asked(*labels: Label, study: Study = STUDY, units: list[Unit] = UNITS) -> list[Unit]:
    return units_for(protocol("disagreement-cause"), earlier=EarlierStudy(study, units, labels))


def test_only_the_items_on_which_raters_differ_are_asked_and_nobody_is_named() -> None:
    found = asked(
        label("R1", "run-1", "open", "completed", evidence="run-1@12"),
        label("R2", "run-1", "open", "not_completed"),
        label("J1", "run-1", "open", "completed", kind="model", evidence="run-1@7"),
        label("R1", "run-1", "pay", "completed"),
        label("R2", "run-1", "pay", "completed"),
        label("R1", "run-1", "pay", True, "partial"),
        label("R1", "run-2", "open", "completed"),
        label("R2", "run-2", "open", None, reason_missing="cannot_judge"),
        label("R1", "run-0", "open", "completed"),
        label("R2", "run-0", "open", "not_completed"),
    )
    detail = "2 x completed (steps 7, 12); 1 x not completed"
    assert found == [
        Unit("run-1", runs=("run-1",), cluster="c1", targets=(Target("open", "Open it", detail, "fixed"),))
    ]
    assert not {"R1", "R2", "J1"} & set(encode(found).decode().replace('"', " ").split())


def test_what_was_taken_back_or_said_a_second_time_does_not_count() -> None:
    first = label("R1", "run-2", "open", "completed")
    mended = label("R1", "run-2", "open", "not_completed", supersedes=first.id)
    second = label("R2", "run-2", "open", "not_completed")
    repeat = label("R2", "run-2", "open", "completed")
    with pytest.raises(LabError, match="has no item on which its raters differ"):
        asked(first, mended, second, replace(repeat, run=2))
    assert [unit.id for unit in asked(first, second)] == ["run-2"]


def test_a_question_of_the_whole_is_an_item_too() -> None:
    study = Study("before", 1, "Before", protocol("success"), ("R1", "R2"), 1, "")
    units = [Unit("run-1", runs=("run-1",))]
    (unit,) = asked(
        label("R1", "run-1", "", "success", "outcome"),
        label("R2", "run-1", "", "impossible", "outcome"),
        study=study,
        units=units,
    )
    assert unit.targets == (Target("outcome", "Did this run do what was asked?", "1 x success; 1 x impossible"),)


def test_without_another_study_there_is_nothing_to_ask() -> None:
    with pytest.raises(LabError, match="needs another study, whose raters differ"):
        units_for(protocol("disagreement-cause"))
