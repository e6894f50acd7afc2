"""Answers written from JSON lines and read again: by the screen's rules, and on the disk before they are told."""

from __future__ import annotations

import csv
import io
import json
import os
import select
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.protocols import protocol
from lab.cli.labels.add import refused_row
from lab.cli.labels.list_labels import LabelQuery, query_labels
from lab.cli.main import main
from lab.cli.settings.schemas import schemas
from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Proposed
from lab.core.run.trace import Ended, Started, Step
from lab.core.study.label import Act, Label
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.rating_sheet import FieldReference, current_labels, place_key
from lab.core.study.study import Gold, Study, Unit
from lab.core.task.task import Actor, Task
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.settling.label_import import Rater, RowImport
from lab.studies.settling.label_rows import rows_of
from store.copies.kit_export import make_kit
from store.store import Store
from store.studies.labels import insert_label
from tests import studied_runs
from tests.fuzzing_examples import examples
from tests.studies import NODES, R1, frozen, label, unit
from tests.typed import KEPT, PASTED
from tests.warm import Warm

DB = "lab.db"
DONE = {"unit": "u1", "target": "open", "field": "state", "value": "completed"}


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def states(self) -> list[str]:
        return [line["state"] for line in self.lines]


Hitlab = Callable[..., Done]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / DB) as opened:
        yield opened


@pytest.fixture
def plan(store: Store) -> Study:
    return frozen(store, [unit("u1"), unit("u2"), unit("v3")])


@pytest.fixture
def hitlab(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Hitlab:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    monkeypatch.setenv("HITLAB_SEAT", "designer")
    monkeypatch.chdir(tmp_path)

    def run(*args: object, db: str = DB) -> Done:
        capfd.readouterr()
        try:
            code = main([*map(str, args), "--db", db])
        except SystemExit as exit:
            code = int(exit.code or 0)
        return Done(code, *capfd.readouterr())

    return run


@pytest.fixture
def give(hitlab: Hitlab, tmp_path: Path) -> Hitlab:
    """Gives rows as R1's; `--json`, each line against its schema."""

    def run(*rows: Any, args: tuple[str, ...] = ("--as", "R1")) -> Done:
        text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
        (tmp_path / "rows.jsonl").write_text(text, "utf-8")
        done = hitlab("label", "trial", "rows.jsonl", "--json", *args)
        for line in done.lines:
            fits(line, "label" if "where" in line else "error")
        return done

    return run


def fits(document: Any, name: str) -> None:
    jsonschema.Draft202012Validator(msgspec.json.schema(schemas()[name])).validate(document)


def stands(store: Store, plan: Study, rater: str = "R1") -> dict[tuple[str, str, str], Any]:
    rows = store.labels.read(plan, rater=rater)
    return {(one.unit, one.target, one.field): one.reason_missing or one.value for one in current_labels(rows)}


# -- writing ---------------------------------------------------------------------------------------------------


def test_a_row_is_a_label_with_all_that_it_tells(give: Hitlab, store: Store, plan: Study) -> None:
    row = {**DONE, "step": 4, "note": "late", "confidence": 0.5, "region": [1, 2, 3, 4], "cites": "log 3"}
    [line] = give(row).lines
    assert (line["state"], line["unit"], line["rater"]) == ("kept", "u1", "R1")
    [kept] = store.labels.read(plan)
    assert line["labels"] == [
        {"target": "open", "field": "state", "value": "completed", "missing": None, "state": "kept", "id": kept.id}
    ]
    assert (kept.rater, kept.value, kept.evidence, kept.note) == (R1, "completed", "run-u1@4", "late")
    assert (kept.confidence, kept.region, kept.cites, kept.source) == (0.5, (1, 2, 3, 4), "log 3", "rows.jsonl")
    assert (kept.protocol_sha, kept.guide_sha) == (
        store.studies.study("trial").protocol.sha,
        NODES.guide_sha("en"),
    )
    assert (kept.shown_at, kept.first_key_at) == (None, None)


def test_a_row_cites_a_line_of_the_guide_that_is_there(give: Hitlab, store: Store, plan: Study) -> None:
    refused = give({**DONE, "cites": "§2"})
    assert refused.states == ["refused"]
    assert "'§2' is no line of the guide" in refused.out
    assert list(store.labels.read(plan)) == []
    assert give({**DONE, "cites": "§1"}).states == ["kept"]
    assert [label.cites for label in store.labels.read(plan)] == ["§1"]


def test_what_a_models_answers_cost_is_borne_by_the_first_and_told_again(
    give: Hitlab, hitlab: Hitlab, store: Store, plan: Study
) -> None:
    judge = ("--as", "judge", "--kind", "model", "--config", "be strict")
    states = {"open": "completed", "pay": "not_completed"}
    row = {"unit": "u1", "field": "state", "values": states, "cost": 0.25, "id": "one"}
    done = give(row, {**row, "unit": "u2", "cost": 0.5, "id": "two"}, args=judge)
    assert done.code == 0, done.out + done.err
    assert done.states == ["kept", "kept"]
    assert [one.cost for one in store.labels.read(plan)] == [0.25, None, 0.5, None]
    assert store.agreement.costs(plan) == {("u1", "model", "judge", 1): 0.25, ("u2", "model", "judge", 1): 0.5}
    again = {**DONE, "value": "not_completed", "cost": 1.5, "id": "three"}
    assert give(again, args=judge).states == ["kept"]
    assert store.agreement.costs(plan)["u1", "model", "judge", 1] == 1.5, "what was superseded costs nothing any more"
    told = json.loads(hitlab("labels", "trial", "--json").out)["labels"]
    assert [one["cost"] for one in told if one["unit"] == "u2"] == [0.5, None]
    done = give({**DONE, "unit": "v3", "cost": -1}, args=judge)
    assert done.code == 1
    assert "field cost: -1 is no sum of dollars" in done.out
    assert ("v3", "model", "judge", 1) not in store.agreement.costs(plan)


def test_units_are_found_by_their_beginning_or_by_their_run(give: Hitlab, store: Store, plan: Study) -> None:
    done = give({**DONE, "unit": "v"}, {**DONE, "unit": "run-u2"}, {**DONE, "unit": "run-v"}, {**DONE, "unit": "u"})
    assert done.states == ["kept", "kept", "there already", "refused"]
    assert {key[0] for key in stands(store, plan)} == {"v3", "u2"}
    assert "'u' fits 2 units (u1, u2)" in done.lines[-1]["error"]
    assert done.code == 3


def test_a_run_named_whole_is_meant_although_another_begins_so(give: Hitlab, store: Store) -> None:
    plan = frozen(store, [unit("a", runs=("run-1",)), unit("b", runs=("run-10",))])
    assert give({**DONE, "unit": "run-1"}).code == 0
    assert {key[0] for key in stands(store, plan)} == {"a"}


def test_a_field_is_left_out_where_one_alone_is_required(give: Hitlab, store: Store, plan: Study) -> None:
    give({"unit": "u1", "target": "pay", "value": "not_completed"}, {"unit": "u1", "value": 80})
    assert stands(store, plan) == {("u1", "pay", "state"): "not_completed", ("u1", "", "rating"): 80}


def test_a_row_with_several_answers_is_kept_whole_or_not_at_all(give: Hitlab, store: Store, plan: Study) -> None:
    values = {"open": "completed", "pay": {"value": "not_completed", "step": 9}, "rating": 50}
    [line] = give({"unit": "u1", "step": 2, "values": values}).lines
    assert len(line["labels"]) == 3
    assert {one.target: one.evidence for one in store.labels.read(plan)} == {
        "open": "run-u1@2", "pay": "run-u1@9", "": "run-u1@2",
    }  # fmt: skip
    done = give({"unit": "u2", "values": {"open": "completed", "pay": "perhaps"}})
    assert done.states == ["refused"]
    assert not [key for key in stands(store, plan) if key[0] == "u2"]


def test_a_second_time_everything_is_there_already(give: Hitlab, store: Store, plan: Study) -> None:
    rows = [DONE, {**DONE, "target": "pay", "missing": "cannot_judge", "value": None}, {"unit": "u1", "value": 7}]
    commit = {"unit": "u1", "commit": True}
    assert give(*rows, commit).code == 0
    again = give(*rows, commit)
    assert (again.code, again.states) == (0, ["there already"] * 4)
    assert len(list(store.labels.read(plan))) == 3
    assert len([act for act in store.labels.acts(plan, "R1") if act.act == "commit"]) == 1
    assert stands(store, plan)["u1", "pay", "state"] == "cannot_judge"


def test_another_value_supersedes_and_undo_takes_it_back(give: Hitlab, store: Store, plan: Study) -> None:
    give(DONE, {**DONE, "value": "not_completed"})
    assert stands(store, plan) == {("u1", "open", "state"): "not_completed"}
    give({"unit": "u1", "undo": True})
    assert stands(store, plan) == {("u1", "open", "state"): "completed"}
    wrong = give({"unit": "u1", "undo": True, "target": "pay", "field": "state"})
    assert "the newest answer is that to open state" in wrong.lines[0]["error"]
    give({"unit": "u1", "undo": True})
    assert stands(store, plan) == {}
    assert "nothing to take back" in give({"unit": "u1", "undo": True}).lines[0]["error"]
    assert len(list(store.labels.read(plan))) == 4


def test_rows_with_ids_of_their_own_are_taken_once_whatever_was_said_since(
    give: Hitlab, store: Store, plan: Study
) -> None:
    rows = [
        {**DONE, "id": "a"},
        {**DONE, "value": "not_completed", "id": "b"},
        {"unit": "u1", "undo": True, "id": "c"},
        {**DONE, "target": "pay", "id": "d"},
        {"unit": "u1", "undo": True, "id": "e"},
    ]
    for upto in (2, 3, 5, 5):
        assert give(*rows[:upto]).code == 0
    assert stands(store, plan) == {("u1", "open", "state"): "completed"}
    assert len(list(store.labels.read(plan))) == 5


def test_handing_in_wants_everything_answered_and_then_nothing_changes(give: Hitlab, store: Store, plan: Study) -> None:
    assert "has 3 unanswered" in give({"unit": "u1", "commit": True}).lines[0]["error"]
    whole = {"unit": "u1", "values": {"open": "completed", "pay": "completed", "rating": 100}, "commit": True}
    [line] = give(whole).lines
    assert line["handed_in"]
    assert store.labels.sheet(plan, unit("u1"), "R1").committed
    assert "has handed it in" in give({**DONE, "value": "not_completed"}).lines[0]["error"]
    assert give(DONE).states == ["there already"]
    give({"unit": "u1", "reopen": True}, {**DONE, "value": "not_completed"})
    assert stands(store, plan)["u1", "open", "state"] == "not_completed"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", "is not JSON"),
        ("[1]", "is no object"),
        ({**DONE, "vote": 1}, "field vote: there is none of that name"),
        ({**DONE, "value": "perhaps"}, "'perhaps' is none of completed, not_completed"),
        ({**DONE, "target": "shop"}, "field target: 'shop' is none of open, pay"),
        ({**DONE, "field": "mood"}, "field field: 'mood' is none of state, why"),
        ({**DONE, "field": "why", "value": "late"}, "is not asked here"),
        ({"unit": "u1", "field": "rating", "value": 101}, "101 is not from 0 to 100"),
        ('{"unit": "u1", "field": "rating", "value": NaN}', "field value: holds a nan"),
        ({**DONE, "unit": "x9"}, "'x9' is no unit of trial v1, nor a run of one"),
        ({**DONE, "unit": ""}, "field unit: is empty"),
        ({**DONE, "step": 0}, "field step: 0 is no step"),
        ({**DONE, "evidence": "run-u2@4"}, "field evidence: 'run-u2@4' is no RUN@STEP"),
        ({**DONE, "evidence": "run-u1@4", "step": 5}, "field step: 5 is not that of evidence"),
        ({**DONE, "region": [1, 2, 3, 4]}, "field region: is told without the step"),
        ({**DONE, "region": [9, 2, 3, 4], "step": 1}, "field region: is no box"),
        ({**DONE, "confidence": 7}, "field confidence: 7 is not from 0 to 1"),
        ({**DONE, "missing": "lost"}, "field missing"),
        ({**DONE, "missing": "skipped"}, "has a value and a reason"),
        ({**DONE, "value": None}, "field value: is not there"),
        ({**DONE, "run": 2}, "is not dealt to R1"),
        ({**DONE, "run": 0}, "field run: 0 is less than 1"),
        ({**DONE, "rater": "R2"}, "field rater: is R2, and labels are taken as R1"),
        ({**DONE, "study": "other"}, "field study: it was said of another study"),
        ({**DONE, "version": 2}, "field version: it was said of another study"),
        ({**DONE, "protocol_sha": "0"}, "field protocol_sha: it was said of another study"),
        ({**DONE, "clash": True}, "field clash"),
        ({"unit": "u1", "values": {"open": "completed"}, "value": "completed"}, "field values: stands beside"),
        ({"unit": "u1", "values": {"open": {"state": "completed"}}}, "values.open: field state: there is none"),
    ],
)
def test_a_bad_row_gets_a_sentence_and_leaves_nothing(
    give: Hitlab, store: Store, plan: Study, row: Any, said: str
) -> None:
    done = give(row)
    assert (done.code, done.states) == (1, ["refused"])
    assert said in done.lines[0]["error"]
    assert done.lines[0]["where"] == "rows.jsonl, line 1"
    assert not list(store.labels.read(plan))
    assert not store.labels.acts(plan)


def test_it_stops_at_the_first_bad_row_and_what_came_before_stays(give: Hitlab, store: Store, plan: Study) -> None:
    bad, late = {**DONE, "value": "?"}, {**DONE, "target": "pay"}
    done = give(DONE, bad, late)
    assert (done.code, done.states) == (3, ["kept", "refused"])
    assert "rows.jsonl, line 2 was refused, and nothing after it was read: 1 kept" in done.err
    assert set(stands(store, plan)) == {("u1", "open", "state")}
    done = give(DONE, bad, late, args=("--as", "R1", "--keep-going"))
    assert (done.code, done.states) == (3, ["there already", "refused", "kept"])
    assert set(stands(store, plan)) == {("u1", "open", "state"), ("u1", "pay", "state")}


def test_an_empty_file_and_one_that_is_not_there_are_refused(give: Hitlab, hitlab: Hitlab, plan: Study) -> None:
    done = give()
    assert (done.code, done.out) == (1, "")
    assert "holds no row" in done.err
    done = hitlab("label", "trial", "none.jsonl", "--as", "R1")
    assert (done.code, "label file none.jsonl: is not there" in done.err) == (1, True)
    assert hitlab("label", "nothing", "none.jsonl", "--as", "R1").code == 1


def test_steps_are_those_that_the_run_has(hitlab: Hitlab, store: Store, tmp_path: Path) -> None:
    store.runs.add(studied_runs.run("run-of-three", steps=3))
    [summary] = store.runs.summaries()
    plan = frozen(store, [unit("d1", runs=(summary.id,))])
    row = {**DONE, "unit": summary.id[:8], "step": summary.steps}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n" + json.dumps({**row, "step": summary.steps + 1}))
    done = hitlab("label", "trial", "rows.jsonl", "--as", "R1", "--json")
    assert done.states == ["kept", "refused"]
    assert "has no step 4; it has 3" in done.lines[1]["error"]
    assert [one.evidence for one in store.labels.read(plan)] == ["run-of-three@3"]


def test_nothing_is_written_into_a_locked_study_or_for_who_is_not_asked(
    give: Hitlab, store: Store, plan: Study
) -> None:
    assert "is not dealt to R9" in give(DONE, args=("--as", "R9")).lines[0]["error"]
    store.labels.record_act(Act("l1", "trial", 1, R1, "locked", "2026-04-01T10:00:00+00:00"))
    assert "the study is locked" in give(DONE).lines[0]["error"]
    assert "the study is locked" in give(DONE, args=("--as", "m1", "--config", "x")).lines[0]["error"]
    assert not list(store.labels.read(plan))


def test_what_a_rule_settled_nobody_is_asked(give: Hitlab, store: Store) -> None:
    plan = frozen(store, [unit("u1", mechanical=(Gold("open", "state", "completed", "ended by its limit"),))])
    for args in (("--as", "R1"), ("--as", "judge", "--config", "x")):
        done = give(DONE, {**DONE, "target": "pay"}, args=(*args, "--keep-going"))
        assert done.states == ["refused", "kept"]
        assert "a rule settled it (ended by its limit)" in done.lines[0]["error"]
    assert {one.target for one in store.labels.read(plan)} == {"pay"}


def test_what_was_settled_goes_into_the_papers_numbers(hitlab: Hitlab, store: Store, tmp_path: Path) -> None:
    store.runs.add(studied_runs.run("run-of-three", "usual_lunch"))
    assert (
        hitlab("study", "new", "tdg", "--runs", "all", "--raters", "R1,R2", "--name", "nodes", "--pilot", "0").code == 0
    )
    assert hitlab("study", "deal", "nodes").code == 0
    plan = store.studies.study("nodes")
    [of] = store.studies.units(plan)
    values = {one.id: {"value": "completed", "step": i + 1} for i, one in enumerate(of.targets[:2])}
    rest = {one.id: "not_completed" for one in of.targets[2:]}
    row = {"unit": "run-of-three", "field": "state", "values": {**values, **rest}}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    for rater in ("R1", "R2"):
        assert hitlab("label", "nodes", "rows.jsonl", "--as", rater).code == 0
    args = ("metrics", "--study", "nodes", "--paper", "pspa", "--json")
    assert "is not locked" in hitlab(*args).err
    assert "has no answers of R1 that are handed in" in hitlab(*args, "--rater", "R1").err
    (tmp_path / "rows.jsonl").write_text(json.dumps({**row, "commit": True}) + "\n")
    done = hitlab("label", "nodes", "rows.jsonl", "--as", "R1", "--json")
    derived = dict(done.lines[0]["derived"])
    told = json.loads(hitlab(*args, "--rater", "R1").out)
    fits(told, "metrics")
    assert told["rated"] == "by R1 in nodes v1, 1 run"
    apr = next(one for one in told["groups"][0]["numbers"] if one["metric"] == "APR" and not one.get("part"))
    assert (apr["n"], derived["APR"].split()[0]) == (1, f"{apr['value']:.1%}")
    assert hitlab("label", "nodes", "rows.jsonl", "--as", "R2").code == 0
    assert hitlab("study", "lock", "nodes").code == 0
    told = json.loads(hitlab(*args).out)
    assert told["rated"] == "by most of R1, R2 in nodes v1, 1 run"
    assert "rated: by most of R1, R2" in hitlab(*args[:-1]).out
    assert hitlab("metrics", "--rater", "R1").code == 2


def test_nothing_is_completed_in_a_run_of_no_steps(hitlab: Hitlab, store: Store, tmp_path: Path) -> None:
    for id, steps in (("run-of-none", 0), ("run-of-three", 3)):
        store.runs.add(studied_runs.run(id, "usual_lunch", steps=steps))
    made = ("study", "new", "tdg", "--runs", "all", "--raters", "R1", "--name", "nodes", "--pilot", "0")
    assert hitlab(*made).code == 0
    assert hitlab("study", "deal", "nodes").code == 0
    of = next(one for one in store.studies.units(store.studies.study("nodes")) if one.runs == ("run-of-none",))
    node, *others = (one.id for one in of.targets)
    row = {"unit": of.id, "target": node, "field": "state"}
    (tmp_path / "rows.jsonl").write_text(json.dumps({**row, "value": "completed"}) + "\n")
    done = hitlab("label", "nodes", "rows.jsonl", "--as", "R1", "--json")
    assert done.states == ["refused"]
    assert "field step: the run has no steps, so nothing was completed at one." in done.lines[0]["error"]
    rest = {"unit": of.id, "field": "state", "values": dict.fromkeys([node, *others], "not_completed"), "commit": True}
    (tmp_path / "rows.jsonl").write_text(json.dumps(rest) + "\n")
    assert hitlab("label", "nodes", "rows.jsonl", "--as", "R1", "--json").states == ["kept"]


def test_what_an_older_file_took_at_a_step_that_is_not_there_is_left_out_of_the_numbers(
    hitlab: Hitlab, store: Store
) -> None:
    """A study of version 0.1.0: in a run of no steps three nodes stand as completed; in one of three steps, a fourth
    was seen at the end, which the third step brought about."""
    for id, steps in (("run-of-none", 0), ("run-of-three", 3)):
        store.runs.add(studied_runs.run(id, "usual_lunch", steps=steps))
    made = ("study", "new", "tdg", "--runs", "all", "--raters", "m1", "--name", "nodes", "--pilot", "0")
    assert hitlab(*made).code == 0
    plan = store.studies.study("nodes")
    heads: dict[str, str] = {}
    for of in store.studies.units(plan):
        for i, node in enumerate(of.targets):
            evidence = {"evidence": f"{of.runs[0]}@{i + 1}"} if of.runs == ("run-of-three",) and i < 3 else {}
            value = "completed" if i < 3 else "not_completed"
            said = label(plan, of, node.id, "state", value, rater=Actor("model", "m1"), **evidence)
            if of.runs == ("run-of-three",):
                heads[node.id] = said.id
            with store.database.writing() as db:
                insert_label(db, said)
    three = next(one for one in store.studies.units(plan) if one.runs == ("run-of-three",))
    at_the_end = label(plan, three, three.targets[3].id, "state", "completed", rater=Actor("model", "m1"),
                       evidence="run-of-three@4", supersedes=heads[three.targets[3].id])  # fmt: skip
    with store.database.writing() as db:
        insert_label(db, at_the_end)
    args = ("metrics", "--study", "nodes", "--rater", "m1", "--paper", "pspa")
    told = json.loads(hitlab(*args, "--json").out)
    left = "left out: 3 items completed at a step that the run does not have"
    assert told["rated"] == f"by m1 in nodes v1, 2 runs; {left}"
    apr = next(one for one in told["groups"][0]["numbers"] if one["metric"] == "APR" and not one.get("part"))
    assert (apr["n"], apr["left_out"]) == (1, [["with a node unrated that would count", 1]])
    assert left in hitlab(*args).out


def guess_of(id: str, intent: str, said: str) -> Imported:
    """A run that guesses an intent, and says it as its final answer."""
    task = Task(f"guess {id}", "proactive", traits={"intent": intent})
    return Imported(
        number_events(
            [
                Started(trace=id, task=task, agent=Actor("model", "m")),
                Step(index=0, proposed=Proposed(Action("answer", text=said))),
                Ended(status="completed"),
            ]
        ),
        {},
        [],
    )


def test_what_most_say_of_two_texts_settles_the_guesses_that_say_so(
    hitlab: Hitlab, store: Store, tmp_path: Path
) -> None:
    """Three pairs: the same, not the same, and one on which two of three cannot tell; SR1 is 2 of 3 runs."""
    for id, said in (("g1", "order some tea"), ("g2", "order  some tea"), ("g3", "buy a kettle"), ("g4", "drink")):
        store.runs.add(guess_of(id, "order tea", said))
    pairs = [{"id": said, "A": "order tea", "B": said} for said in ("order some tea", "buy a kettle", "drink")]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    people = ("R1", "R2", "R3")
    made = ("study", "new", "same-intent", "--items", "pairs.jsonl", "--raters", ",".join(people), "--name", "same")
    assert hitlab(*made, "--overlap", "3", "--pilot", "0").code == 0
    assert hitlab("study", "deal", "same").code == 0
    words = {"order some tea": ("same", "same", "not_same"), "buy a kettle": ("not_same",) * 3,
             "drink": ("same", "cannot_tell", "cannot_tell")}  # fmt: skip
    for i, rater in enumerate(people):
        rows = [{"unit": unit, "field": "same", "value": said[i], "commit": True} for unit, said in words.items()]
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert hitlab("label", "same", "rows.jsonl", "--as", rater).code == 0
    assert hitlab("study", "lock", "same").code == 0
    args = ("metrics", "--study", "same", "--paper", "fingertip", "--json")
    told = json.loads(hitlab(*args).out)
    assert told["rated"] == "by most of R1, R2, R3 in same v1, 3 runs; not settled, in no rate of it: 1 run"
    sr1 = next(one for one in told["groups"][0]["numbers"] if one["metric"] == "SR1")
    assert (sr1["value"], sr1["n"], sr1["left_out"]) == (2 / 3, 3, [["not judged", 1]])
    assert "settles 2 pairs of texts, and no run here guessed" in hitlab(*args, "g4").err


def test_options_that_are_numbers_may_be_written_as_numbers(give: Hitlab, store: Store) -> None:
    options = tuple(Option(str(i)) for i in range(1, 6))
    plan = frozen(store, [unit("u1", targets=())], Protocol("r", "R", "run", (Field("r", "?", "ordinal", options),)))
    assert give({"unit": "u1", "value": 4}).code == 0
    assert stands(store, plan) == {("u1", "", "r"): "4"}
    assert give({"unit": "u1", "value": 6}).code == 1
    assert give({"unit": "u1", "value": True}).code == 1


# -- models ----------------------------------------------------------------------------------------------------


def test_a_model_is_dealt_nothing_and_its_answers_carry_its_configuration(
    give: Hitlab, store: Store, plan: Study, tmp_path: Path
) -> None:
    (tmp_path / "prompt.txt").write_text("Judge strictly. temperature=0")
    judge = ("--kind", "model", "--as", "gpt-4o", "--config", "prompt.txt")
    for run in range(1, 6):
        assert give({**DONE, "run": run}, args=judge).code == 0
    rows = list(store.labels.read(plan))
    assert [(one.rater.kind, one.rater.id, one.run) for one in rows] == [("model", "gpt-4o", n) for n in range(1, 6)]
    [config] = {one.config_sha for one in rows}
    assert len(config) == 64
    [act] = store.labels.acts(plan, "gpt-4o")
    assert act.detail == {"config_sha": config, "config": "Judge strictly. temperature=0"}
    other = ("--as", "gpt-4o", "--config", "Judge kindly.")
    assert "by another configuration" in give({**DONE, "unit": "u2"}, args=other).lines[0]["error"]
    assert give({**DONE, "unit": "u2"}, args=(*other, "--run", "6")).code == 0
    assert give(DONE, args=judge).states == ["there already"]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("--as", "m1", "--kind", "model"), 2, "needs --config"),
        (("--as", "R1", "--kind", "script", "--config", "x"), 2, "--config is a model's"),
        (("--config", "x"), 2, "--person says which"),
        (("--as", "R1", "--config", "x"), 1, "R1 is one of the study's people"),
        (("--as", "R2", "--kind", "script"), 1, "R2 is one of the study's people"),
        (("--as", "m1", "--config", " "), 2, "argument --config: ' ' says nothing"),
        (("--as", "R1", "--run", "0"), 2, "--run 0 is less than 1"),
    ],
)
def test_who_gives_answers_is_told_plainly(
    give: Hitlab, store: Store, plan: Study, args: tuple[str, ...], code: int, said: str
) -> None:
    done = give(DONE, args=args)
    assert (done.code, said in done.err) == (code, True)
    assert not list(store.labels.read(plan))


def test_a_scripts_answers_need_no_configuration(give: Hitlab, store: Store, plan: Study) -> None:
    assert give(DONE, args=("--as", "keywords", "--kind", "script")).code == 0
    assert [one.rater.kind for one in store.labels.read(plan)] == ["script"]


# -- calibration -----------------------------------------------------------------------------------------------


def pilot_study(store: Store, **changes: Any) -> Study:
    gold = (Gold("open", "state", "completed", "it opens at step 2"), Gold("", "rating", 50, "half of it"))
    return frozen(store, [unit("p1", gold=gold, pilot=True), unit("u2")], **changes)


def answer_all(id: str, state: str = "completed", rating: int = 55) -> dict[str, Any]:
    return {"unit": id, "values": {"open": state, "pay": "completed", "rating": rating}, "commit": True}


def test_a_pilot_unit_shows_what_is_right_and_who_misses_the_bar_is_held(give: Hitlab, store: Store) -> None:
    plan = pilot_study(store, bar=0.8)
    [line] = give(answer_all("p1", "not_completed")).lines
    assert [(one["said"], one["gold"], one["right"], one["reason"]) for one in line["gold"]] == [
        ("not_completed", "completed", False, "it opens at step 2"),
        (55, 50, True, "half of it"),
    ]
    assert (line["share"], line["held"]) == (0.5, True)
    assert "R1 is held after the pilot" in give(answer_all("u2")).lines[0]["error"]
    [line] = give(answer_all("p1"), args=("--as", "R2")).lines
    assert (line["share"], line["held"]) == (1.0, False)
    assert give(answer_all("u2"), args=("--as", "R2")).code == 0
    [line] = give(answer_all("p1"), args=("--as", "m1", "--config", "x")).lines
    assert line["gold"] == [], "a model learns nothing from it"
    assert "has shown what is right" in give({"unit": "p1", "reopen": True}).lines[0]["error"]
    assert store.studies.is_held(plan, "R1")


def test_how_the_pilot_stands_is_told_by_rater_by_answer_and_by_pair(
    give: Hitlab, hitlab: Hitlab, store: Store
) -> None:
    pilot_study(store, bar=0.8)
    give(answer_all("p1", "not_completed"))
    before = json.loads(hitlab("labels", "trial", "--pilot", "--json").out)
    fits(before, "labels-pilot")
    assert before["pairs"] == []
    give(answer_all("p1", rating=90), args=("--as", "R2"))
    told = json.loads(hitlab("labels", "trial", "--pilot", "--json").out)
    assert [(one["rater"], one["right"], one["places"], one["share"]) for one in told["raters"]] == [
        ("R1", 1, 2, 0.5),
        ("R2", 1, 2, 0.5),
    ]
    assert {(one["field"], one["gold"], one["said"]): one["n"] for one in told["confusion"]} == {
        ("state", "completed", "not_completed"): 1,
        ("state", "completed", "completed"): 1,
        ("rating", "50", "50"): 1,
        ("rating", "50", "90"): 1,
    }
    assert [(one["field"], one["percent"], one["places"]) for one in told["pairs"]] == [
        ("state", 50.0, 2),
        ("rating", 0.0, 1),
    ]
    text = hitlab("labels", "trial", "--pilot").out
    assert "1 of 2" in text
    assert f"trial v1, guideline {told['guide_sha'][:12]}, the bar is 80%" in text
    assert "50.0 %" in text


# -- reading ---------------------------------------------------------------------------------------------------


def read(hitlab: Hitlab, *args: str) -> Any:
    done = hitlab("labels", "trial", "--json", *args)
    assert done.code == 0, done.err
    document = json.loads(done.out)
    fits(document, "labels")
    return document


def test_what_stands_is_read_and_history_adds_what_was_changed(give: Hitlab, hitlab: Hitlab, plan: Study) -> None:
    give(DONE, {**DONE, "value": "not_completed", "step": 3}, {**DONE, "target": "pay"}, {"unit": "u1", "undo": True})
    [line] = read(hitlab)["labels"]
    assert (line["value"], line["step"], line["current"], line["handed_in"]) == ("not_completed", 3, True, False)
    history = read(hitlab, "--history")["labels"]
    assert [(one["target"], one["act"], one["value"], one["current"]) for one in history] == [
        ("open", "answer", "completed", False),
        ("open", "answer", "not_completed", True),
        ("pay", "answer", "completed", False),
        ("pay", "undo", None, False),
    ]
    assert read(hitlab, "--unit", "u2")["labels"] == []
    assert read(hitlab, "--rater", "R2")["labels"] == []
    text = hitlab("labels", "trial").out
    assert "not_completed" in text
    assert "1 answer in trial v1" in text


def test_a_clash_is_counted_named_and_left_out_until_its_rater_settles_it(
    give: Hitlab, hitlab: Hitlab, store: Store, plan: Study
) -> None:
    rows = [label(plan, unit("u1"), "open", "state", value) for value in ("completed", "not_completed")]
    with store.database.writing() as db:
        for row in rows:
            insert_label(db, row)
    told = read(hitlab)
    assert told["labels"] == []
    [clash] = told["clashes"]
    assert (clash["unit"], clash["target"], clash["rater"], clash["values"]) == (
        "u1", "open", "R1", ["completed", "not_completed"],
    )  # fmt: skip
    assert "R1 says completed and not_completed" in hitlab("labels", "trial").out
    assert all(one["clash"] and not one["current"] for one in read(hitlab, "--history")["labels"])
    give(DONE | {"target": "pay"}, DONE | {"target": "pay", "value": "not_completed"})
    counted = hitlab("labels", "trial", "--history").out
    assert "4 answers, 1 of them superseded or taken back, 1 clash in trial v1" in counted
    assert "1 answer, 1 clash in trial v1" in hitlab("labels", "trial").out
    assert give({**DONE, "value": "not_completed"}).states == ["kept"]
    told = read(hitlab)
    assert (told["clashes"], [one["value"] for one in told["labels"]]) == ([], ["not_completed", "not_completed"])


def test_a_clash_in_what_is_handed_in_is_counted_and_settled_by_a_row_that_says_one_of_its_words(
    give: Hitlab, hitlab: Hitlab, store: Store, plan: Study
) -> None:
    rows = [label(plan, unit("u1"), "open", "state", value, note=value) for value in ("completed", "not_completed")]
    give({"unit": "u1", "target": "pay", "value": "completed"}, {"unit": "u1", "value": 5})
    with store.database.writing() as db:
        for row in rows:
            insert_label(db, row)
    store.labels.record_act(Act(uuid7(), plan.id, 1, R1, "commit", now(), "u1"))
    assert "1 to settle" in hitlab("study", "status", "trial").out
    [status, other] = json.loads(hitlab("study", "status", "trial", "--json").out)["raters"]
    assert (status["clashes"], status["done"], other["clashes"]) == (1, 1, 0)
    assert give({**DONE, "missing": "cannot_judge"} | {"value": None}).states == ["refused"]
    assert give({**DONE, "target": "pay", "value": "not_completed"}).states == ["refused"]
    assert give({**DONE, "value": "not_completed"}).states == ["kept"]
    told = read(hitlab)
    [settled] = [one for one in told["labels"] if one["target"] == "open"]
    assert (told["clashes"], settled["value"], settled["note"]) == ([], "not_completed", "not_completed")
    assert settled["handed_in"]
    assert json.loads(hitlab("study", "status", "trial", "--json").out)["raters"][0]["clashes"] == 0


def test_csv_has_a_line_for_each_answer_and_runs_no_formula(give: Hitlab, hitlab: Hitlab, plan: Study) -> None:
    why = {**DONE, "field": "why", "value": "=1+1"}
    give({**DONE, "value": "not_completed", "note": "a,\nb"}, why, {"unit": "u1", "value": 5})
    rows = list(csv.DictReader(io.StringIO(hitlab("labels", "trial", "--csv").out, newline="")))
    assert [(row["field"], row["value"]) for row in rows] == [
        ("state", "not_completed"),
        ("why", "'=1+1"),
        ("rating", "5"),
    ]
    assert (rows[0]["note"], rows[0]["current"], rows[0]["rater"]) == ("a,\nb", "true", "R1")


def test_words_of_strangers_are_plain_characters(give: Hitlab, hitlab: Hitlab, plan: Study) -> None:
    give({**DONE, "note": "[red]\x1b[31mhot"})
    out = hitlab("labels", "trial").out
    assert "\x1b" not in out
    assert "[red]" in out


def test_what_a_person_wrote_is_read_back_as_it_was(give: Hitlab, hitlab: Hitlab, plan: Study) -> None:
    """Line ends are line feeds and controls are gone; in every form of the answers it is the same text."""
    give(
        {**DONE, "value": "not_completed"},
        {"unit": "u1", "target": "open", "field": "why", "value": PASTED, "note": PASTED},
    )
    told = json.loads(hitlab("labels", "trial", "--json").out)["labels"][-1]
    *_, row = csv.DictReader(io.StringIO(hitlab("labels", "trial", "--csv").out, newline=""))
    (past,) = json.loads(hitlab("labels", "trial", "--past", "--rater", "R1", "--json").out)["sheets"]
    assert (told["value"], told["note"], row["value"], row["note"]) == (KEPT,) * 4
    assert [(one["answer"], one["note"]) for one in past["answers"]][-1] == (KEPT, KEPT)


def test_a_rater_sees_only_their_own(
    give: Hitlab, hitlab: Hitlab, plan: Study, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    give({**DONE, "note": "mine-of-R1"})
    give({**DONE, "note": "theirs-of-R2"}, args=("--as", "R2"))
    give({**DONE, "note": "the-judges"}, args=("--as", "judge", "--config", "x"))
    assert len(read(hitlab)["labels"]) == 3, "the designer sees all"
    for seat in ("rater", "developer"):
        monkeypatch.setenv("HITLAB_SEAT", seat)
        monkeypatch.setenv("HITLAB_PERSON", "R1")
        for args in ((), ("--json", "--history", "--acts"), ("--csv",), ("--pilot", "--json"), ("--unit", "u1")):
            out = hitlab("labels", "trial", *args).out
            assert "theirs-of-R2" not in out
            assert "the-judges" not in out
            assert "R2" not in out
        assert "mine-of-R1" in hitlab("labels", "trial").out
        assert hitlab("labels", "trial", "--rater", "R2").code == 1
    store.labels.record_act(Act("l1", "trial", 1, R1, "locked", "2026-04-01T10:00:00+00:00"))
    assert "theirs-of-R2" in hitlab("labels", "trial").out, "at a developer's seat, once nothing changes any more"
    monkeypatch.setenv("HITLAB_SEAT", "rater")
    assert "theirs-of-R2" not in hitlab("labels", "trial").out
    monkeypatch.setenv("HITLAB_PERSON", "R7")
    assert "0 answers" in hitlab("labels", "trial").out


def test_a_kit_tells_its_raters_answers_alone(hitlab: Hitlab, store: Store, tmp_path: Path) -> None:
    hitlab("demo", "--headless")
    [run] = store.runs.summaries()
    plan = frozen(store, [unit("d1", runs=(run.id,))])
    make_kit(store, plan, "R1", tmp_path / "kit.db")
    (tmp_path / "rows.jsonl").write_text(json.dumps({**DONE, "unit": "d1"}) + "\n")
    for args, code in ((("--as", "R1"), 0), (("--as", "R2"), 1), (("--as", "m", "--config", "x"), 1)):
        assert hitlab("label", "trial", "rows.jsonl", *args, db="kit.db").code == code
    told = json.loads(hitlab("labels", "trial", "--json", db="kit.db").out)
    assert (told["only"], len(told["labels"])) == ("R1", 1)
    assert hitlab("labels", "trial", "--rater", "R2", db="kit.db").code == 1


def test_a_rater_gives_only_their_own_and_a_participant_nothing(
    give: Hitlab, hitlab: Hitlab, plan: Study, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HITLAB_SEAT", "rater")
    monkeypatch.setenv("HITLAB_PERSON", "R1")
    assert give(DONE, args=()).states == ["kept"]
    assert give(DONE, args=("--as", "R2")).code == 1
    assert give({**DONE, "rater": "R2"}, args=()).code == 1
    assert give(DONE, args=("--as", "judge", "--config", "x")).code == 1
    assert {one.rater.id for one in store.labels.read(plan)} == {"R1"}
    monkeypatch.setenv("HITLAB_SEAT", "participant")
    assert give(DONE, args=()).code == 1
    assert hitlab("labels", "trial").code == 1


def test_what_one_file_tells_another_takes_in_the_same(
    give: Hitlab, hitlab: Hitlab, store: Store, plan: Study, tmp_path: Path
) -> None:
    history = [
        DONE,
        {**DONE, "value": "not_completed", "step": 3, "note": "on second thoughts"},
        {**DONE, "field": "why", "value": "no network"},
        {**DONE, "target": "pay", "missing": "cannot_judge", "value": None, "confidence": 0.25},
        {"unit": "u1", "undo": True},
        {**DONE, "target": "pay", "value": "completed", "evidence": "run-u1@8", "region": [0, 0, 5, 5]},
        {"unit": "u1", "undo": True},
        {"unit": "u1", "undo": True},
        {**DONE, "target": "pay", "value": "completed"},
        {"unit": "u1", "value": 60, "commit": True},
        {"unit": "u1", "reopen": True},
        {"unit": "u1", "value": 65, "commit": True},
    ]
    assert give(*history).code == 0
    assert give(DONE, {**DONE, "value": "not_completed"}, args=("--as", "R2")).code == 0
    assert give({**DONE, "run": 2}, args=("--as", "judge", "--config", "x")).code == 0
    told = hitlab("labels", "trial", "--json", "--history", "--acts").out
    (tmp_path / "told.json").write_text(told)
    with Store.open(tmp_path / "other.db") as other:
        frozen(other, [unit("u1"), unit("u2"), unit("v3")])
        for again in (False, True):
            done = hitlab("label", "trial", "told.json", "--json", db="other.db")
            assert done.code == 0, done.out
            assert said(other, plan) == said(store, plan)
            assert set(done.states) == {"there already" if again else "kept"}
        assert [act.act for act in other.labels.acts(plan, "R1")] == ["commit", "reopen", "commit"]
        assert len(list(other.labels.read(plan))) == len(list(store.labels.read(plan)))
        assert other.labels.sheet(plan, unit("u1"), "R1").committed


ROWS = st.sampled_from([
    DONE, {**DONE, "value": "not_completed"}, {**DONE, "value": None, "missing": "skipped"},
    {**DONE, "target": "pay", "step": 2}, {**DONE, "target": "pay", "note": "x"}, {"unit": "u1", "value": 3},
    {**DONE, "field": "why", "value": "no"}, {"unit": "u1", "undo": True}, {"unit": "u1", "commit": True},
    {"unit": "u1", "reopen": True}, {"unit": "u2", "values": {"open": "completed", "rating": 9}},
])  # fmt: skip


def take_all(store: Store, rows: list[dict[str, Any]], rater: str) -> list[str]:
    taking = RowImport(store, store.studies.study("trial"), Rater(rater, "", 1, ""), "rows")
    found = [placed for i, row in enumerate(rows) for placed in rows_of(json.dumps(row).encode(), f"line {i}", i)]
    return [(refused_row(one) if isinstance(one, LabError) else taking.take(one)).state for one in found]


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(ROWS, max_size=14), st.integers(0, 14))
def test_any_history_comes_over_whole_also_after_a_stop(rows: list[dict[str, Any]], cut: int) -> None:
    with (
        TemporaryDirectory() as folder,
        Store.open(Path(folder) / "a.db") as one,
        Store.open(Path(folder) / "b.db") as other,
    ):
        plan = frozen(one, [unit("u1"), unit("u2")])
        frozen(other, [unit("u1"), unit("u2")])
        take_all(one, rows, "R1")
        told = query_labels(one, one.studies.study("trial"), LabelQuery(None, None, history=True, acts=True), "")
        document = json.loads(encode(told))
        parts = sorted([*document["labels"], *document["acts"]], key=lambda row: row["at"])
        assert "refused" not in take_all(other, parts[:cut], "")
        assert "refused" not in take_all(other, [document], "")
        assert said(other, plan) == said(one, plan)
        assert (
            other.labels.sheet(plan, unit("u1"), "R1").committed == one.labels.sheet(plan, unit("u1"), "R1").committed
        )
        assert len(list(other.labels.read(plan))) == len(list(one.labels.read(plan)))


def said(store: Store, plan: Study) -> dict[Any, Any]:
    names = ("value", "reason_missing", "confidence", "evidence", "region", "note", "cites", "config_sha")
    return {place_key(one): [getattr(one, name) for name in names] for one in current_labels(store.labels.read(plan))}


# -- over pipes ------------------------------------------------------------------------------------------------


def start(tmp_path: Path, *args: str, file: str = "-") -> Warm:
    env = {**os.environ, "HITLAB_SEAT": "designer", "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    return Warm(
        ["label", "trial", file, "--db", str(tmp_path / DB), "--json", *args],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
    )  # fmt: skip


def test_one_row_in_one_line_out_each_on_the_disk_before_it_is_told(tmp_path: Path, store: Store, plan: Study) -> None:
    process = start(tmp_path, "--as", "R1")
    assert process.stdin is not None
    assert process.stdout is not None
    for i, (target, value) in enumerate([("open", "completed"), ("pay", "not_completed"), ("open", "not_completed")]):
        process.stdin.write(json.dumps({**DONE, "target": target, "value": value}).encode() + b"\n")
        process.stdin.flush()
        assert select.select([process.stdout], [], [], 60)[0], "the answer comes before the next row"
        line = json.loads(process.stdout.readline())
        rows = list(store.labels.read(plan))
        assert (len(rows), rows[-1].id) == (i + 1, line["labels"][0]["id"])
    process.stdin.close()
    assert process.wait(180) == 0
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b"hitlab: standard input: 3 kept, 0 there already, 0 refused\n"
    process.stderr.close()


def test_killed_between_rows_what_was_told_is_there_and_the_rest_follows(tmp_path: Path, store: Store) -> None:
    units = [unit(f"u{i:03}") for i in range(60)]
    plan = frozen(store, units)
    rows = [{**DONE, "unit": one.id, "target": target} for one in units for target in ("open", "pay")]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    known: set[str] = set()
    for kill in (1, 17, 40):
        process = start(tmp_path, "--as", "R1", file=str(file))
        assert process.stdout is not None
        told = [json.loads(process.stdout.readline()) for _ in range(kill)]
        os.kill(process.pid, signal.SIGKILL)
        rest = process.stdout.read()
        told += [json.loads(line) for line in rest.splitlines(keepends=True) if line.endswith(b"\n")]
        process.wait(180)
        known |= {one["id"] for line in told for one in line["labels"]}
        assert known <= {one.id for one in store.labels.read(plan)}
        assert store.check() == []
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()
    process = start(tmp_path, "--as", "R1", file=str(file))
    out, err = process.communicate(timeout=180)
    assert process.returncode == 0, err
    assert [json.loads(line)["state"] for line in out.splitlines()].count("refused") == 0
    assert len(list(store.labels.read(plan))) == len(rows), "nothing is doubled"
    assert known <= {one.id for one in store.labels.read(plan)}


def test_several_at_once_lose_nothing_and_double_nothing(tmp_path: Path, store: Store) -> None:
    units = [unit(f"u{i}") for i in range(10)]
    plan = frozen(store, units)
    rows = b"".join(json.dumps({**DONE, "unit": one.id}).encode() + b"\n" for one in units)
    judges = [f"judge-{i}" for i in range(4)]
    processes = [start(tmp_path, "--as", name, "--config", "x") for name in judges]
    processes += [start(tmp_path, "--as", "R1"), start(tmp_path, "--as", "R1")]
    results: list[tuple[bytes, bytes]] = []
    threads = [threading.Thread(target=lambda p=p: results.append(p.communicate(rows, 120))) for p in processes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.returncode for process in processes] == [0] * 6, results
    found: list[Label] = list(store.labels.read(plan))
    assert len(found) == len({place_key(one) for one in found}) == 10 * 5
    assert all(len(out.splitlines()) == 10 for out, _ in results)


def test_the_people_and_the_models_of_a_study_are_kept_apart(give: Hitlab, store: Store, plan: Study) -> None:
    give(DONE, args=("--as", "judge", "--config", "x"))
    give({**DONE, "value": "not_completed"})
    assert (
        store.labels.sheet(plan, unit("u1"), "judge", kind="model").value(FieldReference("open", "state"))
        == "completed"
    )
    assert stands(store, plan, "R2") == {}


def test_a_raters_own_sheets_are_listed_and_found_by_their_words(
    give: Hitlab, hitlab: Hitlab, store: Store, plan: Study
) -> None:
    give({**DONE, "note": "The wrong APP"}, {**DONE, "unit": "u2", "value": "not_completed", "step": 2})
    give({**DONE, "note": "of another"}, args=("--as", "R2"))
    told = hitlab("labels", "trial", "--past", "--rater", "R1")
    assert told.code == 0
    assert "Open the app / Was it completed?: completed\n      note: The wrong APP" in told.out
    assert "of another" not in told.out
    assert told.out.splitlines()[-1] == "2 sheets of R1 in trial v1"
    sought = hitlab("labels", "trial", "--find", "app WRONG", "--rater", "R1", "--json")
    [line] = sought.lines
    fits(line, "labels-past")
    assert ([one["unit"] for one in line["sheets"]], line["total"], line["find"]) == (["u1"], 2, "app WRONG")
    for args, words in (
        (("--past",), "is no rater of trial"),
        (("--past", "--rater", "R9"), "R9 is no rater of trial"),
        (("--find", "x", "--csv", "--rater", "R1"), "--past and --find go with --json and --rater alone"),
    ):
        refused_so = hitlab("labels", "trial", *args)
        assert refused_so.code == 2
        assert words in refused_so.err


def test_two_words_in_a_pilots_item_that_showed_what_is_right_are_not_for_its_rater_to_settle(
    hitlab: Hitlab, store: Store
) -> None:
    gold = (Gold("open", "state", "completed", "it opens at step 2"),)
    plan = frozen(store, [unit("p1", gold=gold, pilot=True), unit("u2")])
    with store.database.writing() as db:
        for id in ("p1", "u2"):
            for value in ("completed", "not_completed"):
                insert_label(db, label(plan, unit(id), "open", "state", value))
    assert "2 to settle" in hitlab("study", "status", "trial").out
    for id in ("p1", "u2"):
        store.labels.record_act(Act(uuid7(), plan.id, 1, R1, "commit", now(), id))
    assert [one.unit for one in store.labels.clashing_assignments(plan, "R1")] == ["u2"]
    assert "1 to settle" in hitlab("study", "status", "trial").out
    clashes = [line for line in hitlab("labels", "trial").out.splitlines() if line.startswith("clash")]
    assert clashes[0].endswith("; it stays open: what is right was shown there, and nothing is rated again")
    assert clashes[1].endswith(", and settles it by answering again")


def test_metrics_of_a_study_are_about_its_runs_and_no_score_stands_in_for_what_people_left_open(
    hitlab: Hitlab, store: Store
) -> None:
    for id, score in (("s1", 0.0), ("s2", 1.0), ("s3", 1.0), ("s4", None)):
        run = guess_of(id, "tea", "tea")
        store.runs.add(run._replace(events=[*run.events[:-1], Ended(status="completed", score=score, seq=2)]))
    plan = frozen(store, [Unit(id, runs=(id,)) for id in ("s1", "s2")], protocol("success"))
    for value, id in (("success", "s1"), (None, "s2")):
        answer = label(plan, Unit(id), "", "outcome", value, reason_missing=None if value else "cannot_judge")
        with store.database.writing() as db:
            insert_label(db, answer)
        store.labels.record_act(Act(uuid7(), plan.id, 1, R1, "commit", now(), id))
    args = ("metrics", "--study", "trial", "--rater", "R1", "--json")
    told = json.loads(hitlab(*args).out)
    assert told["rated"] == "by R1 in trial v1, 1 run; not settled, in no rate of it: 1 run"
    assert (told["runs"], told["left_out"]) == (2, {"not of the study": 2})
    numbers = {
        (one["paper"], one["metric"], one.get("version", "")): (one["value"], one["n"])
        for one in told["groups"][0]["numbers"]
        if not one.get("part")
    }
    assert numbers["knowu", "SR", "paper"] == (1.0, 1)
    assert numbers["memgui", "SR", "paper"] == (1.0, 1)
    success = next(one for one in told["groups"][0]["numbers"] if one.get("part") == "success")
    assert (success["paper"], success["value"], success["n"]) == ("study", 1.0, 1)
    assert "The study's own questions" in hitlab(*args[:-1]).out
