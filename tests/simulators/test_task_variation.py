"""Worlds by seed: what changes, what stays, and that a run in one is scored, stored and gone on with as any other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.core.codec import encode
from lab.runs.session import Session
from lab.runs.spec import Spec, in_world, resume_spec
from simulators import library, task_variation
from simulators.phone.phone import Phone
from simulators.users.scripted import Script
from store.store import Store
from tests.crossed import soak


def test_the_world_of_seed_nought_is_the_files_own() -> None:
    task = library.task("usual_lunch")
    assert task_variation.world(0).task(task) == task
    state = Phone(4).snapshot()
    assert task_variation.world(0).state(state) == state


@pytest.mark.parametrize("seed", [1, 2, 3, 11])
def test_no_new_name_holds_an_old_one(seed: int) -> None:
    """So that a world applied to what it has changed already would change nothing more."""
    changed = task_variation.world(seed).names
    pattern = task_variation._pattern(tuple(changed))
    assert [other for other in changed.values() if pattern.search(other)] == []


def test_two_things_are_never_called_the_same() -> None:
    """The names within a group are one thing's: they may be the same."""
    every = [other for group in task_variation.groups() for other in {o for others in group.values() for o in others}]
    assert sorted(other for other in set(every) if every.count(other) > 1) == []


def test_another_seed_is_another_world() -> None:
    worlds = [task_variation.world(seed) for seed in range(1, 9)]
    assert len({world.factor for world in worlds}) > 2
    assert len({tuple(sorted(world.names.items())) for world in worlds}) > 4


def test_names_change_as_whole_words_in_any_case_and_within_chinese() -> None:
    world = task_variation.World({"Ada": "Bo", "ada": "bo", "陈伟": "王芳", "Ada Lund": "Bo Riis"}, 1.0)
    said = world.script(Script("s", replies=()))
    assert said == Script("s")
    assert world.state({"Ada": "Ada Lund, Adam, ada; 请告诉陈伟。"}) == {"Bo": "Bo Riis, Adam, bo; 请告诉王芳。"}


def test_money_changes_everywhere_alike_and_nothing_else_does() -> None:
    world = task_variation.World({}, 1.25)
    state = {
        "price": 4.0, "rating": 4.0, "minutes": 30, "quantity": 2, "text": "under $60, or $4.40; 60 people, 4.40",
        "option_groups": {"Milk": [["Oat", 0.8]]}, "rule": {"path": "orders[-1].total", "most": 20.0},
        "other": {"path": "orders[-1].rating", "most": 20.0},
    }  # fmt: skip
    assert world.state(state) == {
        "price": 5.0, "rating": 4.0, "minutes": 30, "quantity": 2, "text": "under $75, or $5.50; 60 people, 4.40",
        "option_groups": {"Milk": [["Oat", 1.0]]}, "rule": {"path": "orders[-1].total", "most": 25.0},
        "other": {"path": "orders[-1].rating", "most": 20.0},
    }  # fmt: skip


def test_what_was_dearer_stays_dearer() -> None:
    prices = [0.5, 1.99, 2.0, 59.99, 60.0, 60.01]
    for seed in range(1, 6):
        changed = [task_variation.world(seed).price(price) for price in prices]
        assert changed == sorted(set(changed))


@soak
def test_a_run_in_another_world_passes_and_keeps_that_world(tmp_path: Path) -> None:
    task = library.task("usual_lunch")
    with Store.open(tmp_path / "a.db") as store:
        spec = in_world(Spec(task, library.persona(task.persona), user="script"), 3)
        session = Session(store, spec)
        session.start()
        session.join()
        trace = store.runs.trace(session.trace_id)
    assert trace.ended is not None
    assert trace.ended.score == 1.0
    assert trace.conditions.vary == 3
    assert trace.task.id == task.id
    old = re.compile("|".join(re.escape(name) for name in ("Sesame dan noodles", "Copper Ladle", "PennyPurse")))
    seen = b"".join(encode(step.before.tree) for step in trace.steps if step.before.tree is not None).decode()
    assert not old.search(encode(trace.task).decode())
    assert not old.search(seen)


def test_an_open_run_goes_on_in_its_world(tmp_path: Path) -> None:
    task = library.task("usual_lunch")
    with Store.open(tmp_path / "a.db") as store:
        spec = in_world(Spec(task, library.persona(task.persona), user="human"), 3)
        session = Session(store, spec)
        session.start()
        session.leave()
        session.join()
        trace = store.runs.trace(session.trace_id)
        again = Session(store, resume_spec(trace, user="script"), trace)
        again.start()
        again.join()
        ended = store.runs.trace(trace.id).ended
    assert ended is not None
    assert ended.score == 1.0
