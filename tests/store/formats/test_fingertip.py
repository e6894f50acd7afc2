"""FingerTip-20K: folders as they are handed round and as the paper names them, and runs of ours written so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Proposed
from lab.core.run.trace import Ended, Started, Step, fold
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.task.task import Actor, Persona, Task
from store.formats import RunSource
from store.formats.fingertip.actions import action_of, source_action, written_call
from store.formats.pictures import Pictures
from store.runs.run_export import export_runs
from store.runs.run_import import import_paths
from store.store import Store
from tests.store.formats.demos import JPEG, every, failures, known_again, only, png

STAMP = "20250309_133115"
INTENT = "用美团点一份黄焖鸡"
CALLS = [
    "click(coordinates=(50,60), content='美团')",
    "type(text='黄焖鸡')",
    "scroll(coordinates=(50, 100), direction='down')",
    "press_back()",
    "finished()",
]
XML = """<?xml version='1.0' encoding='UTF-8'?><hierarchy><node index="0" class="android.widget.FrameLayout"
 bounds="Rect(0, 0 - 100, 200)"><node text="" content_desc="美团" view_id="com.x:id/icon" hint="h" clickable="true"
 bounds="[40,50][60,70]" /></node></hierarchy>"""


def real(root: Path, calls: list[str] | None = None, user: str = "55", stamp: str = STAMP, **survey: Any) -> Path:
    """An episode as it is handed round: names of screenshots as keys, each with a tree of the same number."""
    folder = root / user / stamp
    shots = folder / "Screenshots_1"
    shots.mkdir(parents=True)
    lines = []
    for i, call in enumerate(CALLS if calls is None else calls):
        name = f"screenshot_17414{98275000 + i * 1500}.jpg"
        lines.append(json.dumps({name: call}, ensure_ascii=False))
        (shots / name).write_bytes(png(salt=str(i)))
        (shots / f"tree_17414{98275000 + i * 1500}.xml").write_text(XML.replace('hint="h"', f'hint="{i}"'))
    (folder / "action.jsonl").write_text("\n".join(lines) + "\n")
    told = {"intentDescription": INTENT, "app": "com.sankuai.meituan", "scenario": "宿舍", **survey}
    (folder / "survey_result.json").write_text(json.dumps(told))
    return folder


def test_an_episode_as_it_is_handed_round(tmp_path: Path, store: Store) -> None:
    real(tmp_path, mood="好")
    (tmp_path / "user_profile.csv").write_text(
        "\ufeffuser_id,sex,age,occupation,address,marital_status,phone_brand\n5,male,1,a,b,c,d\n"
        "55,male,20,student,Beijing,single,Huawei\n"
    )
    run, trace = only(tmp_path)
    assert (trace.task.id, trace.task.kind, trace.task.instruction) == (f"55/{STAMP}", "personalized", INTENT)
    assert (trace.task.time, trace.task.place, trace.task.traits["scenario"]) == ("2025-03-09T13:31:15", "宿舍", "宿舍")
    assert (trace.task.apps, trace.task.golden_steps, trace.task.persona) == (("com.sankuai.meituan",), 5, "55")
    assert trace.persona == Persona(
        "55", "55", {
            "user_id": "55", "sex": "male", "age": "20", "occupation": "student", "address": "Beijing",
            "marital_status": "single", "phone_brand": "Huawei",
        },
    )  # fmt: skip
    assert trace.agent == Actor("human", "55")
    click, typed, scroll, back, end = (s.proposed.action for s in trace.steps)
    assert (click.kind, click.at, click.text, click.space) == ("click", (50, 60), None, "px")
    assert click.raw == {"screenshot_1741498275000.jpg": CALLS[0]}
    assert trace.steps[0].extra["content"] == "美团"
    assert trace.steps[0].extra["episode"] == {"mood": "好"}
    assert (typed.kind, typed.text) == ("input_text", "黄焖鸡")
    assert (scroll.direction, scroll.at, scroll.vector) == ("down", (50, 100), (0, -100))
    assert (back.kind, end.kind, end.status) == ("navigate_back", "status", "complete")
    assert len({s.before.image for s in trace.steps}) == len(run.images) == 5
    tree = trace.steps[0].before.tree
    assert tree is not None
    (node,) = tree.nodes_at(50, 60)[:1]
    assert (node.desc, node.id, node.clickable, tree.roots[0].bounds) == (
        "美团", "com.x:id/icon", True, Bounds(0, 0, 100, 200),
    )  # fmt: skip
    assert trace.ended is not None
    assert (trace.ended.status, trace.ended.score) == ("completed", None)
    assert import_paths(store, [tmp_path]).imported == 1
    assert import_paths(store, [tmp_path]).skipped == 1


def test_users_twice_in_the_path_and_many_episodes(tmp_path: Path) -> None:
    for second in range(3):
        real(tmp_path / "7", user="7", stamp=f"20250309_13311{second}")
    assert [fold(run.events).task.id for run in every(tmp_path)] == [f"7/20250309_13311{i}" for i in range(3)]
    assert known_again(tmp_path)


def test_one_file_of_an_episode_stands_for_it(tmp_path: Path) -> None:
    folder = real(tmp_path)
    _, trace = only(folder / "action.jsonl")
    assert len(trace.steps) == 5


ROWS: list[Any] = [
    {"action": "click", "coordinates": [50, 60], "content": "美团"},
    {"action_type": "type", "text": "x"},
    {"name": "scroll", "parameters": {"coordinates": [1, 2], "direction": "up"}},
    {"finish": {}},
]


def paper(root: Path, actions: str, file: str = "actions.json", **told: Any) -> Path:
    """An episode by the paper's own words, everything in one folder, numbered from 0."""
    folder = root / "8" / STAMP
    folder.mkdir(parents=True)
    for i in range(12):
        (folder / f"{i}.jpg").write_bytes(png(salt=str(i)))
        (folder / f"{i}.xml").write_text(XML)
    (folder / file).write_text(actions)
    if told:
        (folder / "info.json").write_text(json.dumps(told))
    return folder


@pytest.mark.parametrize(
    ("file", "actions"),
    [
        ("actions.json", json.dumps(ROWS)),
        ("episode.json", json.dumps({"intent_description": INTENT, "actions": ROWS})),
        ("actions.jsonl", "\n".join(json.dumps(row) for row in ROWS)),
        ("actions.txt", repr(ROWS)),
        ("actions.txt", "click(coordinates=(50,60), content='美团')\ntype(text='x')\n"
                        "scroll(coordinates=(1,2), direction='up')\nfinish()"),
        ("actions.json", json.dumps({f"{i}.jpg": row for i, row in enumerate(ROWS)})),
    ],
)  # fmt: skip
def test_the_papers_words_in_any_file(tmp_path: Path, file: str, actions: str) -> None:
    paper(tmp_path, actions, file, intent_description=INTENT, scenario="office", app="Clock", user_id=8)
    run, trace = only(tmp_path)
    kinds = [s.proposed.action.kind for s in trace.steps]
    assert kinds == ["click", "input_text", "scroll", "status"]
    assert [s.proposed.action.at for s in trace.steps] == [(50, 60), None, (1, 2), None]
    assert trace.task.instruction == INTENT
    shots = [run.images[s.before.image].data for s in trace.steps if s.before.image]
    assert shots == [png(salt=str(i)) for i in range(4)]
    assert all(s.before.tree is not None for s in trace.steps)


def test_what_macos_lays_beside_screens_is_none(tmp_path: Path) -> None:
    paper(tmp_path, json.dumps([{"action": "wait"}] * 11 + [{"action": "finish"}]), intent="x")
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        if path.suffix in (".jpg", ".png"):
            path = path.rename(path.with_name(f"shot_{path.name}"))
        (path.parent / f"._{path.name}").write_bytes(b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X")
    run, trace = only(tmp_path)
    assert [run.images[s.before.image].data for s in trace.steps if s.before.image] == [
        png(salt=str(i)) for i in range(12)
    ]


def test_screens_are_taken_in_natural_order(tmp_path: Path) -> None:
    paper(tmp_path, json.dumps([{"action": "wait"}] * 11 + [{"action": "finish"}]), intent="x")
    run, trace = only(tmp_path)
    assert [run.images[s.before.image].data for s in trace.steps if s.before.image] == [
        png(salt=str(i)) for i in range(12)
    ]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("8/profile.json", '{"sex": "female", "age": 33}'),
        ("8/profile.json", '{"user_id": 8, "sex": "female", "age": 33}'),
        ("profiles.json", '[{"user_id": 7}, {"user_id": 8, "sex": "female", "age": 33}]'),
        ("profiles.json", '{"7": {}, "8": {"sex": "female", "age": 33}}'),
    ],
)
def test_profiles_wherever_they_are(tmp_path: Path, file: str, text: str) -> None:
    paper(tmp_path, json.dumps(ROWS), intent="x")
    (tmp_path / file).write_text(text)
    trace = fold(every(tmp_path)[0].events)
    assert trace.persona is not None
    assert (trace.persona.facts["sex"], trace.persona.facts["age"]) == ("female", 33)


@pytest.mark.parametrize("text", ["", "[", '[{"user_id": 9}]', "5", '{"8": 7}'])
def test_a_profile_that_is_none_is_left(tmp_path: Path, text: str) -> None:
    paper(tmp_path, json.dumps(ROWS), intent="x")
    (tmp_path / "profiles.json").write_text(text)
    assert fold(every(tmp_path)[0].events).persona is None


ACTIONS: list[tuple[Any, dict[str, Any]]] = [
    ("click(coordinates=(0,0), content='')", {"kind": "click", "at": (0, 0)}),
    ('click(coordinates=(540.6, 1200), content="it\'s")', {"kind": "click", "at": (541, 1200)}),
    ("click(coordinates=(5,6), content='it's open')", {"kind": "click", "at": (5, 6)}),
    ("click(coordinates=[5,6])", {"kind": "click", "at": (5, 6)}),
    ("long_click(coordinates=(5,6), content='x')", {"kind": "long_press", "at": (5, 6)}),
    ("type(text='a\\'b')", {"kind": "input_text", "text": "a'b"}),
    ("type(text='')", {"kind": "input_text", "text": ""}),
    ("type(text='it's')", {"kind": "input_text", "text": "it's"}),
    ("scroll(coordinates=(5,6), direction='left')", {"kind": "scroll", "direction": "left", "vector": (50, 0)}),
    ("press_back()", {"kind": "navigate_back"}),
    ("press_back", {"kind": "navigate_back"}),
    ("back()", {"kind": "navigate_back"}),
    ("press_home()", {"kind": "navigate_home"}),
    ("press_recent()", {"kind": "press_recent"}),
    ("press(key='home')", {"kind": "navigate_home"}),
    ("press_key('back')", {"kind": "navigate_back"}),
    ("wait()", {"kind": "wait"}),
    ("finish()", {"kind": "status", "status": "complete"}),
    ("finished", {"kind": "status", "status": "complete"}),
    ({"1.jpg": {"action": "click", "coordinates": "(5, 6)"}}, {"kind": "click", "at": (5, 6)}),
    ({"click": {"coordinates": [5, 6]}}, {"kind": "click", "at": (5, 6)}),
    ({"screenshot": "1.jpg", "action": "click(coordinates=(5,6))"}, {"kind": "click", "at": (5, 6)}),
    ({"action": {"name": "click", "coordinates": {"x": 1}}, "x": 5, "y": 6}, {"kind": "click"}),
    ({"type": "click", "x": 5, "y": 6}, {"kind": "click", "at": (5, 6)}),
    ("click(coordinates=(1e400,0))", {"kind": "click", "at": None}),
    ("__import__('os').system('true')", {"kind": "other"}),
    ("click(coordinates=__import__('os').getcwd())", {"kind": "click", "at": None}),
    ("(" * 5000, {"kind": "other"}),
    ("fly()", {"kind": "other"}),
    ("", {"kind": "other"}),
    (None, {"kind": "other"}),
    ([1], {"kind": "other"}),
    ({}, {"kind": "other"}),
]


@pytest.mark.parametrize(("raw", "expected"), ACTIONS, ids=lambda value: str(value)[:60])
def test_each_action_in_our_words(raw: Any, expected: dict[str, Any]) -> None:
    action = action_of(source_action(raw), (100, 200))
    assert {name: getattr(action, name) for name in expected} == expected
    assert action.raw == raw


def test_a_line_that_is_cut_and_screens_that_are_missing(tmp_path: Path) -> None:
    folder = real(tmp_path)
    lines = (folder / "action.jsonl").read_text().splitlines()
    (folder / "action.jsonl").write_text("\n".join([*lines[:2], lines[2][:40]]))
    next(folder.rglob("screenshot_1741498276500.jpg")).unlink()
    next(folder.rglob("tree_1741498275000.xml")).write_text("<hierarchy><node>")
    _, trace = only(tmp_path)
    assert [s.proposed.action.kind for s in trace.steps] == ["click", "input_text", "other"]
    assert trace.steps[1].before.image is None
    assert trace.steps[1].extra["screenshot"] == "screenshot_1741498276500.jpg is not there"
    assert "is not XML" in trace.steps[0].extra["tree"]
    assert trace.steps[0].before.image is not None


def test_a_survey_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    folder = real(tmp_path)
    (folder / "survey_result.json").write_text('{"intentDescription": ')
    _, trace = only(tmp_path)
    assert trace.task.instruction == ""
    assert "is not JSON" in trace.steps[0].extra["episode"]["unread"][0]
    assert trace.task.id == f"55/{STAMP}"


def test_what_is_no_episode_is_refused_or_left_to_others(tmp_path: Path) -> None:
    folder = real(tmp_path / "a")
    (folder / "action.jsonl").write_text('{"x": 1}\n')
    (error,) = failures(tmp_path / "a")
    assert "holds no file with a list of actions" in error
    other = tmp_path / "b" / STAMP
    other.mkdir(parents=True)
    (other / "notes.json").write_text('{"a": 1}')
    (tmp_path / "c" / STAMP).mkdir(parents=True)
    (tmp_path / "c" / STAMP / "trajectory.json").write_text('[{"type": "finish", "coordinates": 1}]')
    assert every(other) == []
    assert not any(one.events for one in every(tmp_path / "c", "fingertip"))


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('["finish()"]')
    (tmp_path / "s.jpg").write_bytes(png())
    folder = real(tmp_path / "in", calls=["finished()"])
    shot = next(folder.rglob("*.jpg"))
    shot.unlink()
    shot.symlink_to(tmp_path / "s.jpg")
    _, trace = only(tmp_path / "in")
    assert trace.steps[0].before.image is None
    assert "leads out" in trace.steps[0].extra["screenshot"]
    (folder / "action.jsonl").unlink()
    (folder / "action.jsonl").symlink_to(secret)
    assert "leads out" in failures(tmp_path / "in")[0]


def test_an_episode_without_actions(tmp_path: Path) -> None:
    real(tmp_path, calls=[])
    (tmp_path / "55" / STAMP / "action.jsonl").write_text("\n")
    _, trace = only(tmp_path)
    assert trace.ended is not None
    assert (trace.ended.status, len(trace.steps)) == ("failed", 0)


# -- written ---------------------------------------------------------------------------------------------------------

ACTS: list[Action] = [
    Action("click", at=(13, 14)),
    Action("double_tap", at=(0, 0)),
    Action("long_press", at=(12, 13)),
    Action("click", at=(20, 30), boxes=((1, 1, 39, 59),)),
    Action("click"),
    Action("input_text", text="a'b\n\"c 你好"),
    Action("scroll", at=(5, 5), direction="down"),
    Action("scroll", direction="left"),
    Action("swipe", at=(1, 2), to=(1, 50), direction="down", vector=(0, 48)),
    Action("drag", at=(1, 2), to=(30, 2), vector=(29, 0)),
    Action("navigate_home"),
    Action("navigate_back"),
    Action("press_recent"),
    Action("keyboard_enter"),
    Action("open_app", app="com.x"),
    Action("wait", ms=1000),
    Action("answer", text="42"),
    Action("other", text="?"),
    Action("status", status="infeasible", text="ambiguous"),
]
TREE = UiTree((Node(Bounds(0, 0, 100, 200), children=(Node(Bounds(10, 10, 51, 41), text="Pay 'now'"),)),))


@pytest.mark.parametrize(
    ("action", "call"),
    [
        (ACTS[0], "click(coordinates=(13,14), content='x')"),
        (ACTS[2], "long_click(coordinates=(12,13), content='x')"),
        (ACTS[6], "scroll(coordinates=(5,5), direction='down')"),
        (ACTS[10], "press_home()"),
        (ACTS[11], "press_back()"),
        (ACTS[12], "press_recent()"),
        (Action("wait"), "wait()"),
        (Action("input_text", text="hi"), "type(text='hi')"),
        (Action("status", status="complete"), "finished()"),
    ],
)
def test_what_the_format_has_words_for_is_spelled_in_them(action: Action, call: str) -> None:
    assert written_call(action, "x", (100, 200)) == (call, {})


def run_of(root: Path, actions: list[Action], id: str = "a" * 32, **started: Any) -> Imported:
    pictures = Pictures(RunSource("x", root, root))
    begun = {"agent": Actor("human", "R1"), "at": "2026-11-22T07:34:04.5+00:00", **started}
    task = Task("t-1", "general", instruction="Do 'it'", place="office", apps=("com.x",))
    steps = []
    for i, action in enumerate(actions):
        seen = pictures.add(png(salt=str(i // 2)) if i else JPEG, TREE if i % 2 == 0 else None)
        steps.append(Step(index=i, proposed=Proposed(action, instruction=f"do {i}"), before=seen))
    return Imported(
        number_events([Started(trace=id, task=task, **begun), *steps, Ended(status="completed")]), pictures, []
    )


def test_a_demonstration_written_and_read_back(tmp_path: Path, store: Store) -> None:
    persona = Persona("R1", "Ann", {"sex": "female", "age": 33, "habits": ["x"]})
    run = run_of(tmp_path, ACTS, persona=persona)
    store.runs.add_all([run])
    export_runs(store, [run.id], tmp_path / "out", "fingertip")
    folder = tmp_path / "out" / "R1" / "20261122_073404"
    assert (folder / "Screenshots" / "screenshot_0001.jpg").read_bytes() == JPEG
    back, trace = only(tmp_path / "out")
    before = fold(run.events)
    assert (trace.task.id, trace.task.instruction, trace.task.apps) == ("t-1", "Do 'it'", ("com.x",))
    assert (trace.task.place, trace.task.time, trace.agent) == ("office", "", Actor("human", "R1"))
    assert trace.persona is not None
    assert {key: trace.persona.facts[key] for key in ("sex", "age", "address")} == {
        "sex": "female", "age": "33", "address": "",
    }  # fmt: skip
    for ours, theirs in zip(trace.steps, before.steps, strict=True):
        assert (ours.before.image, ours.before.tree) == (theirs.before.image, theirs.before.tree)
        assert ours.proposed.instruction == theirs.proposed.instruction
        mine, meant = ours.proposed.action, theirs.proposed.action
        for name in ("kind", "at", "to", "text", "direction", "app", "status", "ms", "boxes"):
            assert getattr(mine, name) == getattr(meant, name), (name, meant.kind)
    assert trace.steps[0].extra["content"] == "Pay 'now'"
    assert {sha: blob.data for sha, blob in back.images.items()} == {sha: b.data for sha, b in run.images.items()}


def test_runs_that_began_in_one_second_and_those_without_a_time(tmp_path: Path, store: Store) -> None:
    runs = [run_of(tmp_path, ACTS[:1], id=f"{i:032d}") for i in range(3)]
    runs.append(run_of(tmp_path, ACTS[:1], id="b" * 32, at="", agent=Actor("model", "../m")))
    store.runs.add_all(runs)
    export_runs(store, [run.id for run in runs], tmp_path / "out", "fingertip")
    folders = [path.parent.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("action.jsonl")]
    assert sorted(map(str, folders)) == [
        "R1/20261122_073404", "R1/20261122_073405", "R1/20261122_073406", "m/20000101_000000",
    ]  # fmt: skip
    traces = [fold(one.events) for one in every(tmp_path / "out")]
    assert {trace.agent for trace in traces} == {Actor("human", "R1"), Actor("model", "../m")}


def test_a_models_run_that_was_read_again_is_still_of_the_person_it_worked_for(tmp_path: Path, store: Store) -> None:
    run = run_of(tmp_path, ACTS[:1], agent=Actor("model", "m1"), persona=Persona("ines", "Ines", {}))
    store.runs.add_all([run])
    export_runs(store, [run.id], tmp_path / "out", "fingertip")
    with Store.open(tmp_path / "back.db") as back:
        assert import_paths(back, [tmp_path / "out"]).imported == 1
        export_runs(back, [one.id for one in back.runs.summaries()], tmp_path / "again", "fingertip")
    (survey,) = (tmp_path / "again").rglob("survey_result.json")
    assert (survey.parent.parent.name, json.loads(survey.read_bytes())["user_id"]) == ("ines", "ines")


def test_writing_what_was_read_keeps_it(tmp_path: Path, store: Store) -> None:
    source = real(tmp_path / "in")
    (tmp_path / "in" / "user_profile.csv").write_text("user_id,sex\n55,male\n")
    run, before = only(tmp_path / "in")
    assert import_paths(store, [tmp_path / "in"]).failed == []
    export_runs(store, [run.id], tmp_path / "out", "fingertip")
    assert (tmp_path / "out" / "55" / STAMP / "action.jsonl").is_file()
    _, after = only(tmp_path / "out")
    assert after.task == before.task
    assert after.persona is not None
    assert after.persona.facts["sex"] == "male"
    for ours, theirs in zip(after.steps, before.steps, strict=True):
        assert (ours.proposed.action.at, ours.proposed.action.text) == (
            theirs.proposed.action.at, theirs.proposed.action.text,
        )  # fmt: skip
        assert ours.extra.get("content") == theirs.extra.get("content")
        assert (ours.before.image, ours.before.tree) == (theirs.before.image, theirs.before.tree)
    calls = [next(iter(json.loads(line).values())) for line in _lines(tmp_path / "out")]
    assert calls == [call.replace("(50, 100)", "(50,100)") for call in CALLS]
    assert source.is_dir()


def _lines(root: Path) -> list[str]:
    return next(root.rglob("action.jsonl")).read_text().splitlines()
