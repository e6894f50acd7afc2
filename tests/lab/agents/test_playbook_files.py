"""Playbooks as files: what one may hold, what is said of a wrong one, who plays it, and how a run becomes one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lab.agents.playbook_draft import drafted
from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.run.step import Action, Observation, Proposed
from lab.core.run.trace import Step, Trace
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.settings import Settings
from lab.core.study.blinding import blind_unit
from lab.core.study.study import Play, Unit
from lab.core.task.playbook import PlaybookFile, apply_changes, load_playbook
from lab.core.task.task import Actor, load_task
from screens.navigation import Opening
from simulators import library
from store.store import Store
from tests.crossed import crossed, spread
from tests.lab.cli.test_commands import Hitlab, hitlab  # noqa: F401 - a fixture

GENERAL = "kind: general\ninstruction: Look.\nchecks:\n  - {name: settings, path: nav.app, equals: settings}\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("- {tap: A, open: B}", "field playbook[0]: says open and tap at once"),
        ("- back\n- {why: because}", "field playbook[1]: says nothing that is done"),
        ("- {tap: A, most: 3}", "field playbook[0].most: belongs to while_seen and until_seen, not to tap"),
        ("- {tap: ''}", "field playbook[0].tap: needs words that stand on the screen"),
        ("- {open: A, into: x}", "field playbook[0].into: belongs to ask and offer"),
        ("- {if_seen: A, then: [{tap: A}, {scroll: over}]}", "then[1].scroll"),
        ("- {until_seen: A, most: 1000, do: [back]}", "field playbook[0].most: 1000 is not 1 to 200"),
        ("- {ask: A, options: [B], into: c, usual: D}", "field playbook[0].usual: 'D' is none of its options"),
        ("- {read: {into: a}}", "field playbook[0].read: needs beside, after or until"),
        ("- {tap: A, label: x}\n- {tap: B, label: x}", "field playbook[1].label: 'x' is used twice"),
        ("- jump", "playbook[0]"),
        (
            "- {if_seen: A, then: [{tap: '{spice}'}]}",
            "field playbook[0].then[0]: {spice} is a value that no move gives",
        ),
        ("- {tap: A, colour: red}", "colour"),
        ("- back\nplaybooks:\n- {name: n, fault: f.}", "field playbooks[0]: needs either changes"),
        ("- back\nplaybooks:\n- {name: n, fault: f., changes: [{at: x, skip: true}]}", "labelled 'x'"),
        ("- {tap: A, label: x}\nplaybooks:\n- {name: n, fault: f., changes: [{at: x}]}", "needs one of replace, skip"),
        ("- back\nplaybooks:\n- {name: n n, fault: f., moves: [back]}", "'n n' is no name"),
    ],
)
def test_a_wrong_playbook_gets_a_sentence_with_its_file_and_field(tmp_path: Path, body: str, words: str) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(f"playbook:\n{body}\n", encoding="utf-8")
    with pytest.raises(LabError) as found:
        load_playbook(file)
    assert str(file) in found.value.sentence
    assert words in found.value.sentence
    task = tmp_path / "t.yaml"
    task.write_text(f"{GENERAL}playbook:\n{body}\n", encoding="utf-8")
    with pytest.raises(LabError):
        load_task(task)


def test_changes_reach_into_branches() -> None:
    raw: dict[str, Any] = {
        "playbook": [{"if_seen": "A", "then": [{"tap": "B", "label": "b"}, "back"]}, {"done": "Done.", "label": "end"}],
        "playbooks": [
            {"name": "n", "fault": "f.", "changes": [{"at": "b", "insert": ["home"]}, {"at": "end", "stop": "Over."}]}
        ],
    }
    file = msgspec.convert(raw, PlaybookFile)
    moves = json.loads(encode(apply_changes(file.playbook, file.playbooks[0].changes)))
    assert moves == [{"if_seen": "A", "then": ["home", {"tap": "B", "label": "b"}, "back"]}, {"done": "Over."}]


@pytest.mark.parametrize(("initial", "name", "words"), [("N", "Noor Haddad", "Noor Haddad"), ("陈", "", "陈")])
def test_what_a_run_touched_is_called_by_its_name_and_not_by_the_letter_of_its_picture(
    initial: str, name: str, words: str
) -> None:
    texts = [Node(Bounds(40, 400, 140, 500), initial), Node(Bounds(180, 400, 900, 460), name)]
    row = Node(Bounds(0, 380, 1080, 520), cls="android.widget.FrameLayout", clickable=True, children=tuple(texts))
    tap = Proposed(Action("click", at=(540, 450)))
    step = Step(index=0, proposed=tap, before=Observation(None, (1080, 2400), UiTree((row,)), "app"))
    moves = drafted(Trace("r", library.task("night_mode"), Actor("human", "A1"), steps=(step,)))
    assert list(msgspec.to_builtins(moves)) == [{"tap": words}]


def test_a_step_that_no_move_can_say_is_left_out_where_a_recording_calls_it_a_slip() -> None:
    acts = (Action("press_recent"), Action("wait"))
    steps = tuple(Step(i, Proposed(act), Observation()) for i, act in enumerate(acts))
    trace = Trace("r", library.task("night_mode"), Actor("human", "A1"), steps=steps)
    with pytest.raises(LabError, match=r"step 1: is a press_recent") as refused:
        drafted(trace)
    assert "replay" not in refused.value.hint
    assert drafted(msgspec.structs.replace(trace, slips=(0,))) == ("wait",)


def test_the_way_back_from_a_slip_is_no_move() -> None:
    chats, chat, other = (
        Observation(None, (1080, 2400), UiTree((Node(Bounds(0, 380, 1080, 520), words, clickable=True),)), "app")
        for words in ("Noor Haddad", "Jonas Weil", "Lin")
    )
    tap, back = Action("click", at=(540, 450)), Action("navigate_back")
    seen = [(tap, chats), (back, chat), (tap, chats), (back, chat), (Action("wait"), chats)]
    steps = tuple(Step(i, Proposed(act), before) for i, (act, before) in enumerate(seen))
    trace = Trace("r", library.task("night_mode"), Actor("human", "A1"), steps=steps, slips=(0,))
    assert list(msgspec.to_builtins(drafted(trace))) == [{"tap": "Noor Haddad"}, "back", "wait"]
    elsewhere = (*steps[:2], msgspec.structs.replace(steps[2], before=other), *steps[3:])
    led_elsewhere = msgspec.structs.replace(trace, steps=elsewhere)
    assert list(msgspec.to_builtins(drafted(led_elsewhere))) == ["back", {"tap": "Lin"}, "back", "wait"]


def test_a_participants_kit_says_nothing_of_what_goes_wrong() -> None:
    task = library.task("usual_lunch")
    for agent, names in (("playbook", ()), ("playbook:wrong-dish", ("wrong-dish",))):
        kit = blind_unit(Unit("u", play=Play(task, agent=agent)), ())
        assert kit.play is not None
        assert tuple(one.name for one in kit.play.task.playbooks) == names
        assert not [one.fault for one in task.playbooks if one.fault.encode() in encode(kit)]


def agent_of(hitlab: Hitlab, run: str, *options: str) -> str:  # noqa: F811
    """The id under which a run's agent is listed."""
    return next(str(line["agent"]) for line in hitlab("traces", "--json", *options).json if line["id"] == run)


# -- commands ----------------------------------------------------------------------------------------------------


def test_a_file_gives_any_task_a_playbook(hitlab: Hitlab, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "task.yaml").write_text(GENERAL, encoding="utf-8")
    (tmp_path / "p.yaml").write_text("playbook: [{open: Settings}, {done: There.}]", encoding="utf-8")
    task, file = str(tmp_path / "task.yaml"), str(tmp_path / "p.yaml")
    alone = hitlab("live", task, "--user", "script:usual_lunch", "--json")
    assert alone.code == 2
    assert "task task: has no playbook" in alone.err
    assert "--agent model:NAME, process:COMMAND or recorded:ID can do it" in alone.err
    told = hitlab("live", task, "--user", "script:usual_lunch", "--playbook", file, "--json").json
    assert (told["status"], told["score"]) == ("completed", 1.0)
    other = hitlab("live", task, "--playbook", file, "--agent", "model:openai/x", "--json")
    assert "is played by the agent playbook" in other.err
    assert "name that TASK alone" in hitlab("run", "usual_lunch", "way_home", "--playbook", file).err


def test_a_study_of_tasks_that_its_agent_cannot_play_is_refused(hitlab: Hitlab, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "task.yaml").write_text(GENERAL, encoding="utf-8")
    new = ["study", "new", "knowu-5c", "--db", "s.db", "--raters", "A,B"]
    assert "task task: has no playbook" in hitlab(*new, "--tasks", str(tmp_path / "task.yaml")).err
    assert "has no playbook 'nix'" in hitlab(*new, "--tasks", "way_home", "--agent", "playbook:nix").err


def test_one_that_goes_wrong_is_chosen_by_name(hitlab: Hitlab) -> None:  # noqa: F811
    told = hitlab("live", "way_home", "--agent", "playbook:not-started", "--json").json
    assert told["score"] < 1
    assert agent_of(hitlab, told["trace"]) == "playbook:not-started"
    assert (
        "'nix'; those with a name are: never-asks, not-started"
        in hitlab("run", "way_home", "--agent", "playbook:nix").err
    )


def test_rule_is_another_name_of_the_playbook(hitlab: Hitlab) -> None:  # noqa: F811
    told = hitlab("live", "way_home", "--agent", "rule", "--json").json
    assert told["score"] == 1.0
    assert agent_of(hitlab, told["trace"]) == "playbook"


@crossed
def test_what_was_done_in_a_run_is_saved_as_a_playbook_that_does_it_again(hitlab: Hitlab, tmp_path: Path) -> None:  # noqa: F811
    for name in spread(("old_screenshots", "usual_review"), 1):
        file = str(tmp_path / f"{name}.yaml")
        run = hitlab("live", name, "--json").json["trace"]
        assert "moves" in hitlab("record", "--run", run, "--save-playbook", file).out
        assert "is there already" in hitlab("record", "--run", run, "--save-playbook", file).err
        assert load_playbook(Path(file)).playbook
        assert hitlab("live", name, "--playbook", file, "--json").json["score"] == 1.0


def test_the_playbook_is_of_what_was_recorded_here_and_not_of_the_newest_run(
    hitlab: Hitlab,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def record(store: Store, settings: Settings, opening: Opening) -> int:
        assert opening.on_recording is not None
        opening.on_recording(hitlab("live", "way_home", "--json").json["trace"])
        hitlab("live", "usual_lunch", "--json")  # another terminal's, on the same file
        return 0

    monkeypatch.setattr("lab.cli.app.has_terminal", lambda: True)
    monkeypatch.setattr("lab.cli.app.run_app", record)
    file = tmp_path / "mine.yaml"
    assert hitlab("record", "way_home", "--save-playbook", str(file)).code == 0
    assert "Maps" in file.read_text()
    monkeypatch.setattr("lab.cli.app.run_app", lambda *_: pytest.fail("opened"))
    assert "is there already" in hitlab("record", "way_home", "--save-playbook", str(file)).err


def test_a_run_that_is_open_is_named_as_one_can_type_it(hitlab: Hitlab, tmp_path: Path) -> None:  # noqa: F811
    open_run, other = "0197aaaa-0000-7000-8000-000000000001", "0197aaaa-0001-7000-8000-000000000002"
    hitlab("live", "way_home", "--db", "a.db", "--json")
    with Store.open(tmp_path / "a.db") as store:
        started: Any = next(store.runs.events(store.runs.summaries(1)[0].id))
        for id in (open_run, other):
            store.runs.append_event(id, msgspec.structs.replace(started, trace=id))
    refused = hitlab("record", "--run", open_run, "--save-playbook", "b.yaml", "--db", "a.db").err
    named = refused.partition("--resume ")[2].partition("`")[0]
    assert hitlab("show", named, "--db", "a.db").code == 0


def test_a_run_of_the_first_version_is_forked_and_the_playbook_goes_on(hitlab: Hitlab, tmp_path: Path) -> None:  # noqa: F811
    """Its actor was `rule`, and its task, as it is kept, knows of no playbook."""
    run = hitlab("live", "way_home", "--db", "a.db", "--json").json["trace"]
    with Store.open(tmp_path / "a.db") as store:
        events = list(store.runs.events(run))
        started: Any = events[0]
        old = msgspec.structs.replace(
            started,
            trace="0197aaaa-0000-7000-8000-0000000000a1",
            task=msgspec.structs.replace(started.task, playbook=(), playbooks=()),
            agent=msgspec.structs.replace(started.agent, id="rule", name="rule agent"),
        )
        for event in [old, *events[1:4]]:
            store.runs.append_event(old.trace, event)
    told = hitlab("live", "--resume", old.trace, "--user", "script:way_home", "--db", "a.db", "--json").json
    assert told["score"] == 1.0
    fork = hitlab("fork", f"{old.trace}@3", "--user", "script:way_home", "--db", "a.db", "--json").json
    assert fork["score"] == 1.0
    assert agent_of(hitlab, fork["trace"], "--db", "a.db") == "playbook"
