"""A judge's answers that are shown first: where that is drawn, taken over by one key, and nowhere else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lab.core.study.label import Act, Label
from lab.core.study.study import Assignment, Study, Unit, sample_sha
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from store.store import Store
from tests.crossed import IN_SOAK, crossed
from tests.screens.annotate.sample_studies import NODES, nodes, ready, session, sheet
from tests.screens.resting import press
from tests.screens.runs import WHOLE, painted, whole_run
from tests.screens.shared_apps import SharedApps
from tests.studies import label

Until = Callable[..., Awaitable[None]]
JUDGE = Actor("model", "zjudge")
NOTE = "zjudgenote"


def shown_first(store: Store, locale: str, prelabel: str = JUDGE.id) -> Study:
    """Three units that a judge answered: it is shown on the first and the third, and not on the second."""
    store.runs.add(whole_run())
    units = [Unit(f"u{i}", (WHOLE,), targets=nodes(2)) for i in (1, 2, 3)]
    plan = Study(
        "s", 1, "A study", NODES, ("R1",), len(units), sample_sha(units), prelabel=prelabel, locale=locale
    )  # fmt: skip
    store.studies.freeze(plan, units)
    for one in units:
        for target, value in (("n1", "completed"), ("n2", "not_completed")):
            word = label(plan, one, target, "completed", value, rater=JUDGE, config_sha="c" * 64, note=NOTE)
            store.labels.record(plan, one, word)
        store.labels.hand_in(plan, one, Act(uuid7(), plan.id, 1, JUDGE, "commit", now(), one.id))
    dealt = [Assignment(plan.id, 1, "R1", at, one.id, prelabel=at != 1) for at, one in enumerate(units)]
    store.studies.deal(plan, dealt)
    return plan


def said(store: Store, plan: Study, unit: str) -> list[tuple[str, Any]]:
    labels: list[Label] = [one for one in store.labels.read(plan, unit, "R1") if one.field == "completed"]
    return [(one.target, one.value) for one in labels]


@crossed
@pytest.mark.parametrize(
    ("size", "locale", "words", "accepts"),
    [
        ((64, 18), "en", "A model's answer: completed", "a: take it over"),
        ((80, 24), "zh", "模型的答案：completed", "a: 采用"),
        *([((120, 40), "en", "A model's answer: completed", "a: take it over")] if IN_SOAK else []),
    ],
)
async def test_one_key_takes_it_over_and_another_answers_otherwise(
    store: Store, shared_apps: SharedApps, until: Until, size: tuple[int, int], locale: str, words: str, accepts: str
) -> None:
    plan = shown_first(store, locale)
    app = shared_apps.rating(store, plan)
    async with shared_apps.at(size=size) as pilot:
        await until(pilot, lambda: ready(app))
        await until(pilot, lambda: words in painted(app))
        assert accepts in painted(app)
        assert NOTE not in painted(app)
        await press(pilot, "a")  # the first as the judge says
        await until(pilot, lambda: words.replace("completed", "not completed") in painted(app))
        await press(pilot, "1")  # the second otherwise
        assert said(store, plan, "u1") == [("n1", "completed"), ("n2", "completed")]
        assert words not in painted(app)
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: sheet(app).session is not None and sheet(app).sheet.unit.id == "u2")
        await until(pilot, lambda: sheet(app).item is not None)
        for key in ("a", "down", "a", "up"):
            assert words.partition(":")[0].partition("：")[0] not in painted(app)
            assert JUDGE.id not in painted(app)
            await press(pilot, key)
        assert said(store, plan, "u2") == []
    opened = [(act.unit, act.detail["prelabel"]) for act in store.labels.acts(plan, "R1") if act.act == "opened"]
    assert dict(opened) == {"u1": True, "u2": False}


async def test_without_this_declared_nothing_of_a_judge_is_seen(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    plan = shown_first(store, "en", prelabel="")
    app = shared_apps.rating(store, plan)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        for key in ("a", "m", "escape", "t", "t", "question_mark", "escape", "down", "a"):
            await press(pilot, key)
            for hidden in (JUDGE.id, NOTE, "A model's answer"):
                assert hidden not in painted(app)
        assert session(app).prelabels == {}
    assert said(store, plan, "u1") == []
    (opened,) = [act for act in store.labels.acts(plan, "R1") if act.act == "opened"]
    assert "prelabel" not in opened.detail
