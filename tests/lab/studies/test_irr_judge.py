"""MemGUI-Bench's IRR analyzer over a real socket: pieces are marked, and the rate follows by the four rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from annotators.papers.memgui.irr_table import sections
from lab.core.study.study import Study, Target, Unit
from lab.core.task.task import Task
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.endpoint import Request, Said, serving
from tests.judges import MODEL, asked_of, check_nothing_hidden, judged
from tests.papers import Rated, number, row, run, sound, table, value
from tests.screens.annotate.host import lunch
from tests.screens.runs import WHOLE

NINE = tuple(Target(f"n{at}", f"Name {at}", kind="explicit") for at in range(9))
PRICES = (
    Target("one", "The price in shop one", kind="implicit"),
    Target("two", "The price in shop two", kind="implicit"),
)
TASK = Task("copy", "general", instruction="Copy nine names.")
RUNS = [run("won", TASK), run("seven", TASK, score=0.0), run("chose", TASK, score=0.0), run("early", TASK, score=0.0)]
UNITS = [
    Unit("won", runs=("won",), targets=NINE),
    Unit("seven", runs=("seven",), targets=NINE),
    Unit("chose", runs=("chose",), targets=PRICES, explicit=False),
    Unit("early", runs=("early",), targets=NINE),
]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def marks(request: Request) -> Mapping[str, str]:
    """What a model says, by what it is asked and by how the run ended."""
    asked = [item for item, _ in asked_of(request)]
    if asked == ["one", "two"]:
        return {"one": "correct", "two": "wrong"}
    if "How it ended\ncompleted, score 0" in request.text:
        return {item: "correct" if int(item[1:]) < 7 else "missing" for item in asked}
    return dict.fromkeys(asked, "correct")


def brain(says: Callable[[Request], Mapping[str, str]] = marks) -> Callable[[Request], Said]:
    def answer(request: Request) -> Said:
        if "action_description" in request.texts[-1]:
            return Said('{"action_description": "It taps.", "ui_description": "A list of dishes."}')
        entries = [
            {"item": item, "field": "use", "value": value, "reason": "r"} for item, value in says(request).items()
        ]
        return Said(json.dumps({"answers": entries}))

    return answer


def people(rated: Rated) -> None:
    for code in ("R1", "R2", "R3"):
        rated.say("won", code, {(one.id, "use"): "correct" for one in NINE})
        rated.say("seven", code, {(one.id, "use"): "correct" if int(one.id[1:]) < 8 else "missing" for one in NINE})
        rated.say("chose", code, {("one", "use"): "wrong", ("two", "use"): "wrong"})
        rated.say("early", code, {(one.id, "use"): "missing" for one in NINE})


def test_the_rate_follows_from_the_marks_by_four_rules_and_is_told_beside_peoples(store: Store) -> None:
    rated = Rated(store, "information-units", UNITS, RUNS)
    people(rated)
    order = iter(UNITS)

    def by_unit(request: Request) -> Mapping[str, str]:
        unit = next(order)
        return dict.fromkeys((one.id for one in unit.targets), "missing") if unit.id == "early" else marks(request)

    with serving(brain(by_unit)) as server:
        assert judged(store, rated.study, server).progress.done == 4
        assert len(server.requests) == 4, "without pictures no step is described"
    assert all("irr" not in one.text.casefold().replace("mirror", "") for one in server.requests), (
        "no rate is asked for"
    )
    found = sections(rated.studied())
    sound(found)
    types = table(found, "memgui-irr-types")
    assert [value(cell) for cell in row(types, MODEL).values() if not isinstance(cell, str)] == [1, 1, 1, 1]
    assert [value(cell) for cell in row(types, "people").values() if not isinstance(cell, str)] == [3, 3, 3, 3]
    judge = row(table(found, "memgui-irr-judges"), MODEL)
    assert value(judge["IRR"]) == pytest.approx((1 + 7 / 9 + 0 + 0) / 4)
    assert value(judge["People's IRR"]) == pytest.approx((1 + 8 / 9 + 0 + 0) / 4)
    assert value(judge["MAE"]) == pytest.approx(1 / 9 / 4)
    assert value(judge["Pieces agree"]) == pytest.approx(27 / 29)
    assert number(judge["Cohen's kappa"]).places == 29


def test_steps_are_described_once_for_all_runs_and_nothing_hidden_is_told(store: Store) -> None:
    store.runs.add(lunch(WHOLE))
    unit = Unit("u1", runs=(WHOLE,), targets=NINE[:2])
    rated = Rated(store, "information-units", [unit])
    rated.say("u1", "R1", {("n0", "use"): "wrong"}, note="Zother rater's words")
    with serving(brain(lambda request: {"n0": "correct", "n1": "missing"})) as server:
        assert judged(store, rated.study, server, runs=3).progress.done == 3
    assert len(server.requests) == 6 + 3
    last = server.requests[-1]
    assert last.text.count("A list of dishes.") == 6
    assert "How it ended" in last.text, "a rater of information units is told it, too"
    assert "one check failed" in last.text
    check_nothing_hidden(server, "one check failed")


def test_a_mark_that_is_none_is_repaired_once(store: Store) -> None:
    rated = Rated(store, "information-units", UNITS[2:3], RUNS[2:3])
    good = brain()

    def answer(request: Request) -> Said:
        return good(request) if "cannot be used" in request.texts[-1] else Said('{"irr_percentage": 50}')

    with serving(answer) as server:
        done = judged(store, rated.study, server)
    assert (done.progress.done, done.unusable, len(server.requests)) == (1, 0, 2)
    study: Study = rated.study
    assert [one.value for one in store.labels.read(study, rater=MODEL)] == ["correct", "wrong"]
    assert load_study_data(store, study).further.calls()[0].stage == "analysis"
