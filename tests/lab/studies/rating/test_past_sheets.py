"""One rater's own sheets in words: in the order handed in, blinded, and found by their words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lab.core.study.label import Act
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Assignment, Study, Unit, UnitText
from lab.core.task.task import Actor, Task
from lab.core.values.ids_and_clock import uuid7
from lab.studies.rating.past_sheets import PastSheet, past_sheets, sheets_with
from store.copies.kit_export import make_kit
from store.store import Store
from tests.blind import RUN, planted
from tests.blind import found as painted_words
from tests.studies import NODES, R1, R2, frozen, label, unit


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def say(store: Store, plan: Study, of: Unit, target: str, field: str, value: Any, **more: Any) -> None:
    store.labels.record(plan, of, label(plan, of, target, field, value, **more))


def hand_in(store: Store, plan: Study, of: str, at: str, kind: Any = "commit", by: Actor = R1) -> None:
    store.labels.record_act(Act(uuid7(), plan.id, plan.version, by, kind, f"2026-05-01T{at}:00.000000+00:00", of))


def asked(of: str, instruction: str) -> Unit:
    """A unit that is a task without a run."""
    return unit(of, runs=(), task=Task(f"t-{of}", "personalized", instruction=instruction))


UNITS = [asked("u1", "Order noodles\nfor lunch"), asked("u2", "Book a train"), asked("u3", "Call home"), unit("u4")]


@pytest.fixture
def plan(store: Store) -> Study:
    """u2 was handed in before u1, u3 is begun, u4 not; R2 answered otherwise."""
    plan = frozen(store, UNITS, replace(NODES, shows=("instruction", "screens")))
    u1, u2, u3, _ = UNITS
    say(store, plan, u1, "open", "state", "completed")
    say(store, plan, u1, "pay", "state", "not_completed", note="Ｗｒｏｎｇ APP")
    say(store, plan, u1, "pay", "why", "It paid twice")
    say(store, plan, u2, "open", "state", None, reason_missing="cannot_judge")
    say(store, plan, u2, "", "rating", 85)
    say(store, plan, u3, "open", "state", "completed", confidence=1.0)
    say(store, plan, u1, "open", "state", "completed", rater=R2, note="Znoteofother")
    hand_in(store, plan, "u2", "10:00")
    hand_in(store, plan, "u1", "11:00")
    hand_in(store, plan, "u4", "09:00", by=R2)
    return plan


def lines(sheets: list[PastSheet]) -> list[str]:
    return [one.title for one in sheets]


def test_sheets_come_as_they_were_handed_in_then_those_begun(store: Store, plan: Study) -> None:
    sheets = past_sheets(store, plan, "R1")
    assert lines(sheets) == ["Book a train", "Order noodles for lunch", "Call home"]
    assert [(one.unit, one.position, one.handed_in[11:16]) for one in sheets] == [
        ("u2", 2, "10:00"), ("u1", 1, "11:00"), ("u3", 3, ""),
    ]  # fmt: skip


def test_answers_are_in_words_with_what_they_are_about(store: Store, plan: Study) -> None:
    train, noodles, home = past_sheets(store, plan, "R1")
    assert [(one.item, one.asked, one.answer) for one in train.answers] == [
        ("Open the app", "Was it completed?", "cannot judge"), ("", "How much was done?", "85"),
    ]  # fmt: skip
    assert [(one.item, one.answer, one.note) for one in noodles.answers] == [
        ("Open the app", "completed", ""), ("Pay", "not completed", "Ｗｒｏｎｇ APP"), ("Pay", "It paid twice", ""),
    ]  # fmt: skip
    assert home.answers[0].sure == "certain"


def test_a_sheet_that_was_taken_back_is_only_begun(store: Store, plan: Study) -> None:
    hand_in(store, plan, "u2", "12:00", "reopen")
    assert [(one.unit, bool(one.handed_in)) for one in past_sheets(store, plan, "R1")] == [
        ("u1", True), ("u2", False), ("u3", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "units"),
    [
        ("wrong app", ["u1"]), ("ｗｒｏｎｇ", ["u1"]), ("APP wrong NOODLES", ["u1"]), ("twice train", []),
        ("call", ["u3"]), ("pay", ["u1"]), ("completed", ["u2", "u1", "u3"]), ("  ", ["u2", "u1", "u3"]),
        ("Znoteofother", []), ("certain", ["u3"]),
    ],
)  # fmt: skip
def test_words_are_found_in_any_case_width_and_order(store: Store, plan: Study, words: str, units: list[str]) -> None:
    assert [one.unit for one in sheets_with(past_sheets(store, plan, "R1"), words)] == units


def test_a_kit_has_its_raters_own(store: Store, plan: Study, tmp_path: Path) -> None:
    make_kit(store, plan, "R1", tmp_path / "R1.db")
    with Store.open(tmp_path / "R1.db", create=False) as kit:
        given = kit.studies.study(plan.id)
        say(kit, given, UNITS[3], "open", "state", "completed", note="in the kit")
        assert "u4" in [one.unit for one in sheets_with(past_sheets(kit, given, "R1"), "kit")]
        assert past_sheets(kit, given, "R2") == []


def test_nothing_hidden_is_read_of_a_run(store: Store) -> None:
    """Neither in the title where the instruction is hidden, nor anywhere else."""
    plant = planted()
    store.runs.add(plant.run)
    one = unit("u1", runs=(RUN,), hidden={"A": "Zoursword"})
    for at, shows in enumerate([("screens",), ("instruction", "screens")]):
        protocol = replace(NODES, shows=shows)
        plan = frozen(store, [one], protocol, id=f"s{at}")
        say(store, plan, one, "open", "state", "completed")
        [sheet] = past_sheets(store, plan, "R1")
        words = plant.hidden(plan.visible_parts)
        assert painted_words([*words, "Zoursword"], "\n".join(sheet.texts)) == set()
        assert (sheet.title == "Item 1") is (at == 0)


def test_sides_are_called_by_where_they_stood(store: Store) -> None:
    better = Field("better", "Which is better?", "nominal", (Option("A"), Option("B")), sided=True)
    pair = Unit("p1", given=(UnitText("Zours", "first text", side="A"), UnitText("Ztheirs", "other text", side="B")))
    protocol = Protocol("pair", "A pair", "pair of runs", (better,), shows=("screens",))
    plan = frozen(store, [pair], protocol, raters=("R9",))
    turned = frozen(store, [pair], protocol, raters=(), id="turned")
    store.studies.deal(turned, [Assignment("turned", 1, "R1", 0, "p1", "main", swap=True)])
    say(store, plan, pair, "", "better", "A", rater=Actor("human", "R9"))
    say(store, turned, pair, "", "better", "A")
    [usual], [swapped] = past_sheets(store, plan, "R9"), past_sheets(store, turned, "R1")
    assert (usual.title, usual.answers[0].answer) == ("first text", "left")
    assert (swapped.title, swapped.answers[0].answer) == ("other text", "right")
