"""AppAgent: runs, explorations and demonstrations, with the numbered elements derived again from their XML."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from lab.core.run.run_records import Imported
from lab.core.run.trace import Trace, fold
from store.formats import FailedRun, KnownRun, read
from store.formats.appagent.actions import NumberedScreen, action_of, answer_parts
from store.formats.appagent.elements import NumberedElement, cell, elements
from store.runs.run_import import import_paths
from store.store import Store
from tests.screens.runs import drawn
from tests.store.formats.test_tau2 import bent

SHARED = Path(__file__).parents[3].parent / "shared" / "traces" / "appagent"
PROMPT = (
    "You are an agent.\n\nThe task you need to complete is to {goal}. Your past actions to proceed with this task are"
    " summarized as \nfollows: None\nNow, given the documentation"
)
SIZE = (540, 1200)


def node(bounds: str, children: str = "", **flags: str) -> str:
    attributes = {"index": "0", "text": "", "resource-id": "", "class": "android.view.View", "content-desc": ""}
    attributes |= {name.replace("_", "-"): value for name, value in flags.items()}
    written = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    return f'<node {written} bounds="{bounds}">{children}</node>'


def xml(*nodes: str) -> bytes:
    top = node("[0,0][540,1200]", "".join(nodes))
    return f'<?xml version="1.0" encoding="UTF-8"?><hierarchy rotation="0">{top}</hierarchy>'.encode()


SCREEN = xml(
    node("[0,0][100,100]", clickable="true", focusable="true", resource_id="app:id/a"),
    node("[10,10][92,92]", clickable="true"),
    node("[200,200][300,300]", clickable="true", resource_id="app:id/b", content_desc="Send it"),
    node("[0,600][540,1200]", focusable="true", resource_id="app:id/list"),
)
"""Four elements, of which the second lies on the first: 1 is a, 2 is b, 3 is the list."""


def response(call: str) -> str:
    return f"Observation: A list.\nThought: I tap it.\nAction: {call}\nSummary: I tapped."


def make_run(folder: Path, calls: list[Any], *, goal: str = "send it", screens: int | None = None) -> Path:
    name = folder.name
    folder.mkdir(parents=True)
    lines = []
    for i, call in enumerate(calls, 1):
        said = call if isinstance(call, dict) else response(call)
        prompt = PROMPT.format(goal=goal)
        lines.append(json.dumps({"step": i, "prompt": prompt, "image": f"{name}_{i}_labeled.png", "response": said}))
    (folder / f"log_notes_{name}.txt").write_text("\n".join(lines) + "\n")
    for i in range(1, (len(calls) + 1 if screens is None else screens) + 1):
        (folder / f"{name}_{i}.png").write_bytes(drawn([f"screen {i}"]))
        (folder / f"{name}_{i}_labeled.png").write_bytes(drawn(["labels"]))
        (folder / f"{name}_{i}.xml").write_bytes(SCREEN)
    return folder


def only(path: Path) -> tuple[Trace, Imported]:
    found = list(read(path))
    assert len(found) == 1, found
    assert isinstance(found[0], Imported), found
    return fold(found[0].events), found[0]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real AppAgent runs are not beside the project")
def test_real_runs_have_as_many_screens_as_log_lines_and_one() -> None:
    runs = {fold(found.events).task.instruction: found for found in read(SHARED) if isinstance(found, Imported)}
    assert {goal: len(found.images) for goal, found in runs.items()} == {"turn on settings": 6, "turn on wifi": 4}
    loop = fold(runs["turn on settings"].events)
    assert [step.proposed.action.raw for step in loop.steps] == ["tap(3)", "tap(3)", "tap(11)", "tap(5)", "tap(11)"]
    assert [step.proposed.action.at for step in loop.steps] == [
        (138, 1503), (540, 858), (540, 1356), (540, 1284), (540, 1356),
    ]  # fmt: skip
    assert loop.status == "stopped"
    assert loop.ended is not None
    assert loop.ended.final is not None
    assert loop.task.apps == ("system",)
    assert all(step.before.tree is not None and step.before.size == (1080, 2220) for step in loop.steps)
    wifi = fold(runs["turn on wifi"].events)
    assert wifi.steps[0].proposed.thought == "Access the device settings to find the Wi-Fi settings."
    assert wifi.steps[0].proposed.instruction == "Tap the Settings icon."
    assert wifi.steps[2].proposed.action.boxes == ((0, 558, 1080, 773),)


def test_elements_are_numbered_as_they_were_drawn() -> None:
    found = elements(SCREEN)
    assert [element.box for element in found] == [(0, 0, 100, 100), (200, 200, 300, 300), (0, 600, 540, 1200)]
    parent = "android.view.View_540_1200"
    assert [element.uid for element in found] == [
        f"{parent}_app.id_a_0", f"{parent}_app.id_b_Sendit_0", f"{parent}_app.id_list_0",
    ]  # fmt: skip
    assert [element.box for element in elements(SCREEN, {f"{parent}_app.id_a_0"})] == [
        (200, 200, 300, 300), (0, 600, 540, 1200),
    ]  # fmt: skip


def test_every_call_becomes_the_act_that_was_done(tmp_path: Path) -> None:
    calls = [
        "tap(2)",
        'text("a b(c) d")',
        "long_press(1)",
        'swipe(3, "up", "medium")',
        'swipe(3,"left","long")',
        "FINISH",
    ]
    trace, found = only(make_run(tmp_path / "task_notes_2024-01-01_10-00-00", calls))
    tap, text, hold, up, left, finish = (step.proposed.action for step in trace.steps)
    assert (tap.kind, tap.at, tap.space, tap.boxes, tap.raw) == (
        "click",
        (250, 250),
        "index",
        ((200, 200, 300, 300),),
        "tap(2)",
    )
    assert (text.kind, text.text) == ("input_text", "a b(")
    assert (hold.kind, hold.at, hold.ms) == ("long_press", (50, 50), 1000)
    assert (up.kind, up.at, up.to, up.vector, up.direction) == ("swipe", (270, 900), (270, 684), (0, -216), "up")
    assert (left.vector, left.direction, left.ms) == ((-162, 0), "left", 400)
    assert (finish.kind, finish.status) == ("status", "complete")
    assert trace.task.instruction == "send it"
    assert trace.task.id == "notes: send it"
    assert trace.steps[0].proposed.thought == "I tap it."
    assert trace.steps[0].extra["Observation"] == "A list."
    assert trace.steps[0].extra["Summary"] == "I tapped."
    assert trace.steps[0].extra["prompt"] == PROMPT.format(goal="send it")
    assert trace.status == "completed"
    assert len(found.images) == 7


def test_a_grid_is_cells_of_the_screenshot(tmp_path: Path) -> None:
    calls = ["grid()", 'tap(2, "top-left")', "grid()", 'swipe(1, "center", 9, "right")', "tap(1)"]
    trace, _ = only(make_run(tmp_path / "task_notes_2024-01-01_10-00-01", calls))
    grid, tap, _, swipe, after = (step.proposed.action for step in trace.steps)
    assert (grid.kind, grid.text) == ("other", "grid")
    assert trace.steps[0].error is None
    assert tap.at == (135 + 135 // 4, 120 // 4)  # 540 / 135 = 4 columns, 1200 / 120 = 10 rows
    assert (swipe.at, swipe.to, swipe.vector) == ((67, 60), (101, 300), (34, 240))
    assert after.at == (50, 50)
    assert cell(1, "center", (7, 5)) == (3, 2)


def test_answers_in_other_shapes(tmp_path: Path) -> None:
    as_object = {"Observation": "o", "Thought": "t", "Action": "tap(2)", "Summary": "s"}
    trace, _ = only(make_run(tmp_path / "task_notes_2024-01-01_10-00-02", [as_object, "tap(99)", "jump(1)"]))
    first, beyond, unknown = trace.steps
    assert (first.proposed.action.at, first.proposed.thought) == ((250, 250), "t")
    assert json.loads(first.proposed.raw or "") == as_object
    assert (beyond.proposed.action.kind, beyond.proposed.action.at) == ("click", None)
    assert (unknown.proposed.action.kind, unknown.error) == ("other", "the executor could not use this answer")
    assert trace.status == "failed"
    assert action_of(
        "tap(0)", NumberedScreen([NumberedElement("a", (0, 0, 2, 2)), NumberedElement("z", (4, 4, 8, 8))], SIZE)
    ).at == (6, 6)
    assert answer_parts(7) == answer_parts("I do not know.") == {}


def test_twenty_steps_with_no_screen_after_them_are_the_budget(tmp_path: Path) -> None:
    trace, _ = only(make_run(tmp_path / "task_notes_2024-01-01_10-00-03", ["tap(1)"] * 20, screens=20))
    assert trace.status == "budget"
    trace, _ = only(make_run(tmp_path / "task_notes_2024-01-01_10-00-04", ["tap(1)"] * 2, screens=2))
    assert trace.status == "stopped"


def test_the_most_steps_are_those_of_the_projects_config(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text('MODEL: "OpenAI"\nMAX_ROUNDS: 30  # the most\nMIN_DIST: 30\n')
    for name, steps in (("task_a_2024-01-01_10-00-03", 20), ("task_b_2024-01-01_10-00-04", 30)):
        make_run(tmp_path / "tasks" / name, ["tap(1)"] * steps, screens=steps)
    short, full = (fold(run.events) for run in read(tmp_path) if isinstance(run, Imported))
    assert (short.task.budget, short.status, short.ended.reason) == (30, "stopped", "the source holds no FINISH")  # type: ignore[union-attr]
    assert (full.task.budget, full.status) == (30, "budget")
    assert full.ended is not None
    assert full.ended.reason == "30 steps, the most that its config.yaml allows"
    alone, _ = only(tmp_path / "tasks" / "task_b_2024-01-01_10-00-04")
    assert (alone.task.budget, alone.status) == (30, "budget")


def test_an_exploration_leaves_out_what_it_found_useless_and_presses_back(tmp_path: Path) -> None:
    folder = tmp_path / "apps" / "notes" / "demos" / "self_explore_2024-01-01_10-00-00"
    folder.mkdir(parents=True)
    rows = [{"step": i, "prompt": PROMPT.format(goal="explore"), "response": response("tap(1)")} for i in (1, 2)]
    (folder / f"log_explore_{folder.name}.txt").write_text("\n".join(map(json.dumps, rows)))
    reflection = {"step": 1, "prompt": "p", "response": "Decision: BACK\nThought: wrong\nDocumentation: opens a"}
    (folder / f"log_reflect_{folder.name}.txt").write_text(json.dumps(reflection))
    for i in (1, 2):
        (folder / f"{i}_before.png").write_bytes(drawn([f"before {i}"]))
        (folder / f"{i}_after.png").write_bytes(drawn([f"after {i}"]))
        (folder / f"{i}.xml").write_bytes(SCREEN)
    trace, _ = only(tmp_path)
    assert [(step.proposed.action.kind, step.proposed.action.at) for step in trace.steps] == [
        ("click", (50, 50)), ("navigate_back", None), ("click", (250, 250)),
    ]  # fmt: skip
    assert trace.steps[0].extra["reflection"] == reflection
    assert trace.task.traits == {"part": "exploration"}
    assert trace.task.apps == ("notes",)
    assert trace.ended is not None
    assert trace.ended.final is not None


def demo(folder: Path, record: str, screens: int) -> Path:
    for part in ("raw_screenshots", "xml", "labeled_screenshots"):
        (folder / part).mkdir(parents=True)
    (folder / "record.txt").write_text(record)
    (folder / "task_desc.txt").write_text("send a note\n")
    for i in range(1, screens + 1):
        (folder / "raw_screenshots" / f"{folder.name}_{i}.png").write_bytes(drawn([f"demo {i}"]))
        (folder / "labeled_screenshots" / f"{folder.name}_{i}.png").write_bytes(drawn(["labels"]))
        (folder / "xml" / f"{folder.name}_{i}.xml").write_bytes(SCREEN)
    return folder


def test_a_demonstration_is_a_persons(tmp_path: Path) -> None:
    record = 'tap(2):::u_b\ntext(3:sep:"hi: there"):::u_l\nlong_press(1):::u_a\nswipe(3:sep:down):::u_l\nstop\n'
    trace, found = only(demo(tmp_path / "apps" / "notes" / "demos" / "d1", record, 5).parents[3])
    tap, text, hold, swipe, stop = (step.proposed.action for step in trace.steps)
    assert (tap.kind, tap.at, trace.steps[0].extra["uid"]) == ("click", (250, 250), "u_b")
    assert (text.kind, text.text, text.boxes) == ("input_text", "hi: there", ((0, 600, 540, 1200),))
    assert (hold.kind, hold.at) == ("long_press", (50, 50))
    assert (swipe.vector, swipe.direction) == ((0, 216), "down")
    assert (stop.kind, stop.raw) == ("status", "stop")
    assert trace.agent.kind == "human"
    assert trace.task.instruction == "send a note"
    assert trace.task.apps == ("notes",)
    assert trace.status == "completed"
    assert len(found.images) == 5


def test_two_demonstrations_alike_are_two(tmp_path: Path) -> None:
    for name in ("d1", "d2"):
        demo(tmp_path / "apps" / "notes" / "demos" / name, "tap(1):::x\nback\n", 3)
    found = [one for one in read(tmp_path) if isinstance(one, Imported)]
    assert len({one.id for one in found}) == 2
    trace = fold(found[0].events)
    assert (trace.status, trace.steps[1].proposed.action.kind) == ("stopped", "navigate_back")
    assert trace.ended is not None
    assert trace.ended.final is not None


def test_what_is_missing_or_broken_is_told(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "task_notes_2024-01-01_10-00-05", ["tap(2)", "tap(2)", "tap(2)"])
    name = folder.name
    (folder / f"{name}_1.xml").write_text("ERROR: no dump")
    (folder / f"{name}_2.png").write_bytes(b"not a picture")
    (folder / f"{name}_3.xml").unlink()
    trace, _ = only(folder)
    assert trace.steps[0].proposed.action.at is None
    assert "is not XML" in trace.steps[0].extra["tree"]
    assert trace.steps[1].proposed.action.at == (250, 250)
    assert "is not a picture" in trace.steps[1].extra["screenshot"]
    assert trace.steps[2].before.tree is None


def test_a_line_cut_short_is_left_out_and_one_in_the_middle_refused(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "task_notes_2024-01-01_10-00-06", ["tap(2)", "tap(2)"])
    log = folder / f"log_notes_{folder.name}.txt"
    whole = log.read_text()
    log.write_text(whole[:-40])
    trace, found = only(folder)
    assert len(trace.steps) == 1
    assert next(verdict for verdict in found.verdicts if verdict.name == "source").extra["cut"].startswith('{"step": 2')
    log.write_text("nonsense\n" + whole)
    failed = next(iter(read(folder)))
    assert isinstance(failed, FailedRun)
    assert "line 1" in failed.error
    log.write_text('[1]\n{"step": 1}\n')
    assert isinstance(next(iter(read(folder))), FailedRun)
    log.write_text("")
    assert only(folder)[0].status == "failed"


def test_a_picture_outside_is_not_followed(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "in" / "task_notes_2024-01-01_10-00-07", ["tap(2)"])
    (tmp_path / "secret.png").write_bytes(drawn(["secret"]))
    shot = folder / f"{folder.name}_1.png"
    shot.unlink()
    shot.symlink_to(tmp_path / "secret.png")
    trace, _ = only(tmp_path / "in")
    assert trace.steps[0].before.image is None
    assert "leads out" in trace.steps[0].extra["screenshot"]


def test_twice_is_once(store: Store, tmp_path: Path) -> None:
    make_run(tmp_path / "task_notes_2024-01-01_10-00-08", ["tap(2)", "FINISH"])
    assert import_paths(store, [tmp_path]).imported == 1
    shutil.copytree(tmp_path, tmp_path / "copy")
    again = import_paths(store, [tmp_path])
    assert (again.imported, again.skipped, again.failed) == (0, 2, [])
    assert all(isinstance(one, KnownRun) for one in read(tmp_path, known=lambda id: True))


@pytest.mark.parametrize("seed", range(20))
def test_wrong_types_in_a_log_never_crash(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    calls: list[Any] = ["tap(2)", {"Action": "tap(2)", "Thought": "t"}, 'swipe(3, "up", "long")', "grid()", "FINISH"]
    folder = make_run(tmp_path / "task_notes_2024-01-01_10-00-10", calls, screens=1)
    log = next(folder.glob("log_*"))
    lines = [bent(json.loads(line), chance, 0.15) for line in log.read_text().splitlines()]
    log.write_text("\n".join(map(json.dumps, lines)))
    assert all(isinstance(one, Imported | FailedRun) for one in read(folder))


@pytest.mark.parametrize("seed", range(40))
def test_mutated_logs_never_crash(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    calls: list[Any] = ["tap(2)", 'swipe(3, "up", "long")', "grid()", 'tap(3, "left")', "FINISH"]
    folder = make_run(tmp_path / "task_notes_2024-01-01_10-00-09", calls, screens=2)
    victim = chance.choice([path for path in folder.iterdir() if path.suffix in (".txt", ".xml")])
    data = bytearray(victim.read_bytes())
    for _ in range(chance.randrange(1, 30)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    victim.write_bytes(data[: chance.randrange(len(data))] if chance.random() < 0.3 else data)
    assert all(isinstance(one, Imported | FailedRun) for one in read(folder))
