"""droidrun: events of several versions as turns, macro actions told to their calls, element lists as trees."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from lab.core.codec import decode, encode
from lab.core.run.run_records import Imported
from lab.core.run.step import Usage
from lab.core.run.trace import AnyEvent, Ended, Started, Step, fold
from store.formats import FailedRun, KnownRun, detect, read
from store.formats.droidrun.calls import calls_of

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 1080, 2400) + b"\x08\x02\x00\x00\x00"
USAGE = {"request_tokens": 30, "response_tokens": 2, "total_tokens": 32, "requests": 1}
LOOK = {"type": "CodeActInputEvent"}
RUN = "20260119_231842_da09af26"


def code(written: str, thought: str = "So.", **more: Any) -> list[dict[str, Any]]:
    """One CodeAct turn as it is recorded."""
    said = {"type": "CodeActResponseEvent", "thought": thought, "code": written, "usage": USAGE}
    return [LOOK, {**said, **more}, {"type": "CodeActCodeEvent", "code": written}]


def tool(name: str, success: bool = True, **args: Any) -> dict[str, Any]:
    return {"type": "ToolExecutionEvent", "tool_name": name, "tool_args": args, "success": success, "summary": "done"}


def invoked(*calls: str) -> dict[str, Any]:
    xml = f"<function_calls>\n{''.join(calls)}</function_calls>"
    return {"type": "FastAgentResponseEvent", "thought": "So.", "code": xml, "usage": USAGE}


def invoke(name: str, **args: str) -> str:
    given = "".join(f'<parameter name="{key}">{value}</parameter>\n' for key, value in args.items())
    return f'<invoke name="{name}">\n{given}</invoke>\n'


def tap(x: int, y: int, index: int | None = None, bounds: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {"action_type": "tap", "x": x, "y": y}
    return (
        found
        if index is None
        else {**found, "type": "TapActionEvent", "element_index": index, "element_bounds": bounds}
    )


def swipe(x1: int, y1: int, x2: int, y2: int) -> dict[str, Any]:
    ends = {"start_x": x1, "start_y": y1, "end_x": x2, "end_y": y2}
    return {"action_type": "swipe", **ends, "duration_ms": 1000}


def typed(text: str) -> dict[str, Any]:
    return {"action_type": "input_text", "text": text, "clear": False}


def put(
    root: Path,
    events: Any,
    actions: Any = None,
    shots: int = 0,
    states: dict[int, Any] | None = None,
    goal: str = "Goal",
) -> Path:
    folder = root / RUN
    for name in ("screenshots", "ui_states"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "trajectory.json").write_text(json.dumps(events))
    if actions is not None:
        held = {"version": "1.0", "description": goal, "timestamp": "20260119_231908", "actions": actions}
        (folder / "macro.json").write_text(json.dumps(held))
    for k in range(shots):
        (folder / "screenshots" / f"{k:04d}.png").write_bytes(PNG + bytes([k]))
    (folder / "screenshots" / "trajectory.gif").write_bytes(b"GIF89a")
    for k, state in (states or {}).items():
        (folder / "ui_states" / f"{k:04d}.json").write_text(json.dumps(state))
    return folder


def one(path: Path) -> Imported:
    [found] = read(path)
    assert isinstance(found, Imported), found
    for event in found.events:
        decode(encode(event), AnyEvent, "event")
    assert fold(found.events).steps is not None
    return found


def steps(of: Imported) -> list[Step]:
    return [event for event in of.events if isinstance(event, Step)]


def started(of: Imported) -> Started:
    first = of.events[0]
    assert isinstance(first, Started)
    return first


def ended(of: Imported) -> Ended:
    last = of.events[-1]
    assert isinstance(last, Ended)
    return last


def test_old_code_runs_take_their_pixels_from_the_macro(tmp_path: Path) -> None:
    events = [
        *code('# First\nopen_app("Calendar")'),
        {"type": "CodeActOutputEvent", "output": "opened"},
        *code('type(text="Tea chat", index=10, clear=True)', thought="Now the title."),
    ]
    start = {"action_type": "start_app", "package": "com.google.android.calendar", "activity": "A"}
    put(tmp_path, events, [start, tap(540, 297, 10, "0,269,1080,326"), typed("Tea chat")], shots=3)
    run = one(tmp_path)
    opened, wrote = steps(run)
    assert (opened.proposed.action.kind, opened.proposed.action.app) == ("open_app", "Calendar")
    assert opened.proposed.raw == '# First\nopen_app("Calendar")'
    assert opened.extra["output"] == "opened"
    assert opened.proposed.usage == Usage(prompt_tokens=30, completion_tokens=2)
    action = wrote.proposed.action
    assert (action.kind, action.text, action.at, action.space) == ("input_text", "Tea chat", (540, 297), "index")
    assert action.boxes == ((0, 269, 1080, 326),)
    assert action.raw == {"name": "type", "args": {"text": "Tea chat", "index": 10, "clear": True}}
    assert [made["action_type"] for made in wrote.extra["macro"]] == ["tap", "input_text"]
    assert wrote.proposed.thought == "Now the title."
    final = ended(run).final
    assert final is not None
    assert len({opened.before.image, wrote.before.image, final.image}) == 3
    assert started(run).task.instruction == "Goal"
    assert started(run).at == ""
    assert (ended(run).status, ended(run).score) == ("stopped", None)
    assert run.verdicts[0].extra["folder"] == RUN


def test_an_end_that_is_written_twice_counts_once(tmp_path: Path) -> None:
    end = {"type": "CodeActEndEvent", "success": True, "reason": "All done.", "code_executions": 1}
    put(tmp_path, [*code('system_button("Home")\ncomplete(success=True, reason="All done.")'), end, end], [], shots=1)
    run = one(tmp_path)
    assert [step.proposed.action.kind for step in steps(run)] == ["navigate_home", "status"]
    assert [step.proposed.usage is None for step in steps(run)] == [False, True]
    assert steps(run)[0].before == steps(run)[1].before
    assert (ended(run).status, ended(run).score, ended(run).reason) == ("completed", None, "All done.")
    assert [(found.name, found.value) for found in run.verdicts] == [("source", None), ("agent's claim", True)]


def test_new_runs_have_xml_calls_their_outcomes_and_what_was_not_run(tmp_path: Path) -> None:
    events = [
        {"type": "FastAgentExecuteEvent", "instruction": "Find the shop"},
        {"type": "FastAgentInputEvent"},
        invoked(
            invoke("click", index="7"),
            invoke("click", index="7"),
            invoke("type", text="007", index="8"),
            invoke("swipe", coordinate="[500, 1500]", coordinate2="[500, 300]", duration="0.5"),
        ),
        {"type": "FastAgentToolCallEvent", "tool_calls_repr": "the same"},
        tool("click", index=7),
        tool("type", text="007", index=8),
        tool("swipe", False, coordinate=[500, 1500], coordinate2=[500, 300], duration=0.5),
        {"type": "FastAgentOutputEvent", "output": "results"},
        {"type": "FastAgentInputEvent"},
        invoked(invoke("remember", information="a fact"), invoke("complete", success="false", message="No shop.")),
        tool("remember", information="a fact"),
        tool("complete", success=True) | {"tool_args": {"success": False, "message": "No shop."}},
        {"type": "FastAgentEndEvent", "success": False, "reason": "No shop.", "tool_call_count": 5},
        {"type": "ResultEvent", "success": False, "reason": "No shop.", "steps": 2},
    ]
    state = [{"index": 7, "className": "Button", "text": "Go", "bounds": "0,0,100,50", "children": []}]
    put(
        tmp_path, events, [tap(40, 20), tap(9, 9), typed("007")], goal="DroidRun automation sequence", states={0: state}
    )
    run = one(tmp_path)
    assert started(run).task.instruction == "Find the shop"
    clicked, blocked, wrote, swiped, kept, done = steps(run)
    assert (clicked.proposed.action.at, clicked.error) == ((40, 20), None)
    assert (blocked.error, blocked.proposed.action.at) == ("not run", (50, 25))
    assert (wrote.proposed.action.text, wrote.proposed.action.at) == ("007", (9, 9))
    assert swiped.error == "done"
    assert (swiped.proposed.action.vector, swiped.proposed.action.direction) == ((0, -1200), "up")
    assert swiped.proposed.action.ms == 500
    assert (kept.proposed.action.kind, kept.proposed.action.text) == ("other", "a fact")
    assert (done.proposed.action.status, done.proposed.action.text) == ("infeasible", "No shop.")
    assert [step.extra["turn"] for step in steps(run)] == [0, 0, 0, 0, 1, 1]
    assert (ended(run).status, ended(run).score) == ("completed", None)
    assert run.verdicts[1].extra["event"]["type"] == "ResultEvent"


def test_a_manager_plans_and_an_executor_acts_in_one_turn(tmp_path: Path) -> None:
    answer = {"type": "ManagerPlanDetailsEvent", "plan": "", "subgoal": "", "thought": "", "answer": "Opened."}
    events = [
        {"type": "ManagerContextEvent"},
        {"type": "ManagerResponseEvent", "response": "<plan>1. Search</plan>", "usage": USAGE},
        {
            "type": "ManagerPlanDetailsEvent",
            "plan": "1. Search",
            "subgoal": "Search",
            "memory_update": "home",
            "thought": "m",
        },
        {"type": "ExecutorContextEvent", "subgoal": "Search"},
        {"type": "ExecutorResponseEvent", "response": "### Action ###", "usage": USAGE},
        {
            "type": "ExecutorActionEvent",
            "action_json": '{ "action": "click", "index": 12 }',
            "thought": "e",
            "description": "d",
        },
        {"type": "ExecutorActionResultEvent", "action": {"action": "click", "index": 12}, "success": True, "error": ""},
        {"type": "ManagerContextEvent"},
        {"type": "ManagerResponseEvent", "response": "<plan>2</plan>", "usage": USAGE},
        {"type": "ExecutorResponseEvent", "response_text": "### again", "usage": {**USAGE, "request_tokens": 0}},
        {"type": "ExecutorToolCallEvent", "tool_calls_repr": invoke("wait", duration="2"), "thought": "w"},
        {
            "type": "ExecutorActionResultEvent",
            "actions": [{"action": "wait", "args": {"duration": 2}, "outcome": False, "error": "No.", "summary": "s"}],
        },
        {"type": "ManagerContextEvent"},
        {"type": "ManagerResponseEvent", "response": "<request_accomplished>", "usage": USAGE},
        {**answer, "success": True},
    ]
    put(tmp_path, events, [tap(539, 2207, 12, "75,2125,1004,2290")], shots=3)
    run = one(tmp_path)
    first, second, last = steps(run)
    assert first.proposed.usage == Usage(prompt_tokens=60, completion_tokens=4, tries=2)
    assert (first.proposed.instruction, first.proposed.thought, first.proposed.raw) == ("Search", "e", "### Action ###")
    assert first.extra["manager"]["memory_update"] == "home"
    assert (first.proposed.action.at, first.error) == ((539, 2207), None)
    assert (second.proposed.action.kind, second.proposed.action.ms, second.error) == ("wait", 2000, "No.")
    assert (last.proposed.action.status, last.proposed.action.text) == ("complete", "Opened.")
    assert len({step.before.image for step in steps(run)}) == 3
    assert ended(run).final is None
    assert (ended(run).status, ended(run).score, ended(run).reason) == ("completed", None, "Opened.")


def test_a_version_between_calls_its_events_internal(tmp_path: Path) -> None:
    def plan(subgoal: str, said: str, **more: Any) -> list[dict[str, Any]]:
        told = {"plan": subgoal, "current_subgoal": subgoal, "thought": "", "memory_update": "", "full_response": said}
        return [{"type": "ManagerThinkingEvent"}, {"type": "ManagerInternalPlanEvent", **told, **more}]

    def act(action: dict[str, Any], outcome: bool, summary: str) -> list[dict[str, Any]]:
        said = {"thought": f"To {action['action']}.", "full_response": "### Thought ###"}
        return [
            {"type": "ExecutorInternalActionEvent", "action_json": json.dumps(action), "description": "d", **said},
            {
                "type": "ExecutorInternalResultEvent",
                "action": action,
                "outcome": outcome,
                "error": "None",
                "summary": summary,
            },
        ]

    swipe = {"action": "swipe", "coordinate": [540, 1600], "coordinate2": [540, 800], "duration": 0.2}
    events = [
        *plan("Open it", "<plan>1</plan>", manager_answer="", success=None),
        *act({"action": "open_app", "text": "Chrome"}, True, "App started"),
        *plan("Tap it", "<plan>2</plan>"),
        *act({"action": "click", "index": 7}, True, "Clicked"),
        *plan("Swipe up", "<plan>3</plan>"),
        *act(swipe, False, "Failed to swipe"),
        *plan("", "<request_accomplished>", manager_answer="Done.", success=True),
    ]
    folder = put(tmp_path, events, states={1: [{"index": 7, "className": "EditText", "bounds": "170, 91, 807, 238"}]})
    (folder / "screenshots" / "0.png").write_bytes(PNG + b"0")
    run = one(tmp_path)
    first, second, third, last = steps(run)
    assert (first.proposed.action.kind, first.proposed.action.app, first.error) == ("open_app", "Chrome", None)
    assert (first.proposed.instruction, first.proposed.thought) == ("Open it", "To open_app.")
    assert (first.proposed.raw, first.extra["summary"]) == ("### Thought ###", "App started")
    assert first.extra["manager"] == {"plan": "Open it", "response": "<plan>1</plan>"}
    assert first.before.image is not None
    assert (second.proposed.action.at, second.proposed.action.space) == ((488, 164), "index")
    assert (third.proposed.action.vector, third.proposed.action.ms, third.error) == ((0, -800), 200, "Failed to swipe")
    assert (last.proposed.action.status, last.proposed.action.text) == ("complete", "Done.")
    assert (ended(run).status, ended(run).score) == ("completed", None)


def test_turns_of_which_nothing_came_are_kept(tmp_path: Path) -> None:
    put(tmp_path, [{"type": "ScripterThinkingEvent", "thoughts": "Off the phone."}])
    run = one(tmp_path)
    assert steps(run) == []
    source = next(verdict for verdict in run.verdicts if verdict.name == "source")
    assert source.extra["turns"][0]["events"] == [{"type": "ScripterThinkingEvent", "thoughts": "Off the phone."}]


def died(error: str, line: int | None) -> dict[str, Any]:
    """What an executor puts out whose code raised an error; `line` is None where it keeps no traceback."""
    frames = '  File "/x/executer.py", line 90, in execute_code\n    exec(code)\n'
    trace = f'Traceback (most recent call last):\n{frames}  File "<string>", line {line}, in <module>\n{error}\n'
    return {"type": "CodeActOutputEvent", "output": f"printed\nError: {error}\n{'' if line is None else trace}"}


def test_calls_after_the_line_at_which_the_code_ended_were_not_made(tmp_path: Path) -> None:
    written = 'tap_by_index(4)\nrow = rows[3]\ntap_by_index(5)\ncomplete(success=True, reason="Done.")'
    events = [*code(written), died("NameError: name 'rows' is not defined", 2), *code("tap_by_index(6)")]
    put(tmp_path, events, [tap(50, 60, 4), tap(70, 80, 6)])
    run = one(tmp_path)
    first, second, end, again = steps(run)
    assert [step.proposed.action.at for step in steps(run)] == [(50, 60), None, None, (70, 80)]
    assert (first.error, again.error) == (None, None)
    assert second.error == "not run: the code ended at line 2 (NameError: name 'rows' is not defined)"
    assert (end.error, end.proposed.action.kind) == (second.error, "status")
    assert (ended(run).status, ended(run).score) == ("stopped", None)


def test_a_call_that_raised_itself_failed(tmp_path: Path) -> None:
    events = [*code("tap_by_index(4)\ntap_by_index(9)\ntap_by_index(5)"), died("ValueError: no element 9", 2)]
    put(tmp_path, events, [tap(50, 60, 4)])
    assert [step.error for step in steps(one(tmp_path))] == [
        None,
        "failed: the code ended at line 2 (ValueError: no element 9)",
        "not run: the code ended at line 2 (ValueError: no element 9)",
    ]


def test_without_a_line_the_macro_tells_what_was_made(tmp_path: Path) -> None:
    events = [*code("tap_by_index(4)\ntap_by_index(9)\nremember('x')"), died("KeyError: 'x'", None)]
    put(tmp_path, events, [tap(50, 60, 4)])
    assert [step.error for step in steps(one(tmp_path))] == [None, "not run: the code ended (KeyError: 'x')", None]
    put(tmp_path / "unrecorded", events)
    assert [step.error for step in steps(one(tmp_path / "unrecorded"))] == [None, None, None]


def test_words_about_errors_and_code_that_ran_to_its_end_change_nothing(tmp_path: Path) -> None:
    events = [*code("tap_by_index(4)\ntap_by_index(9)"), {"type": "CodeActOutputEvent", "output": "No Error: fine"}]
    put(tmp_path, events, [tap(50, 60, 4)])
    assert [step.error for step in steps(one(tmp_path))] == [None, None]


def test_a_look_with_no_answer_keeps_its_picture_and_its_tree(tmp_path: Path) -> None:
    tree = [{"index": 1, "text": "Pay", "className": "Button", "bounds": "0,0,9,9"}]
    events = [LOOK, LOOK, {"type": "CodeActCodeEvent", "code": "tap_by_index(1)"}, LOOK]
    put(tmp_path, events, [tap(5, 5, 1)], shots=3, states={0: tree, 2: tree})
    run = one(tmp_path)
    unanswered, tapped = steps(run)
    assert (unanswered.proposed.action.kind, unanswered.error) == ("other", "the agent looked and gave no answer")
    assert unanswered.before.image is not None
    assert unanswered.before.tree is not None
    assert unanswered.before.tree.roots[0].text == "Pay"
    assert (tapped.proposed.action.kind, tapped.before.tree) == ("click", None)
    final = ended(run).final
    assert final is not None
    assert final.image not in (None, tapped.before.image)
    assert final.tree is not None


def test_an_agents_own_word_is_a_claim_and_no_score(tmp_path: Path) -> None:
    end = {"type": "CodeActEndEvent", "success": True, "reason": "All done.", "code_executions": 1}
    put(tmp_path, [*code('complete(success=True, reason="All done.")'), end], [])
    run = one(tmp_path)
    assert (ended(run).status, ended(run).score) == ("completed", None)
    claim = next(verdict for verdict in run.verdicts if verdict.name == "agent's claim")
    assert (claim.value, claim.reason, claim.extra) == (True, "All done.", {"event": end})


def test_where_macro_and_calls_do_not_match_both_sides_are_kept(tmp_path: Path) -> None:
    events = code("for i in range(3):\n    swipe((1, 900), (1, 100))\ntap_by_index(4)\nclick(5)")
    swipes = [swipe(1, 900, 1, 100) for _ in range(3)]
    key = {"action_type": "key_press", "keycode": 4}
    put(tmp_path, events, [*swipes, tap(50, 60, 5), key, swipe(7, 7, 7, 7)])
    done = [step.proposed.action for step in steps(one(tmp_path))]
    assert [action.kind for action in done] == [
        "swipe", "swipe", "swipe", "click", "click", "navigate_back", "long_press",
    ]  # fmt: skip
    assert [action.at for action in done[3:]] == [None, (50, 60), None, (7, 7)]
    assert done[5].raw == key
    assert done[0].raw == {"name": "swipe", "args": {"coordinate": [1, 900], "coordinate2": [1, 100]}}


def test_a_macro_alone_is_a_run(tmp_path: Path) -> None:
    put(tmp_path, [], [tap(1, 0), typed("x"), {"action_type": "button_press", "button": "enter"}])
    (tmp_path / RUN / "trajectory.json").unlink()
    run = one(tmp_path)
    assert [step.proposed.action.kind for step in steps(run)] == ["click", "input_text", "keyboard_enter"]
    assert steps(run)[0].proposed.action.at == (1, 0)
    assert started(run).task.instruction == "Goal"


def test_runs_of_the_same_goal_are_of_the_same_task(tmp_path: Path) -> None:
    put(tmp_path / "a", code("click(1)"), [])
    put(tmp_path / "b", code("click(2)"), [])
    first, second = (started(one(tmp_path / name)) for name in ("a", "b"))
    assert first.task.id == second.task.id
    assert first.trace != second.trace


def test_element_lists_become_trees(tmp_path: Path) -> None:
    inner = {"index": 12, "className": "TextView", "resourceId": "app:id/t", "text": "app:id/t", "bounds": "5,6,7,8"}
    state = [{"index": 1, "className": "FrameLayout", "text": "Title", "bounds": "0,0,1080,2400", "children": [inner]}]
    put(tmp_path, code("click(12)"), states={0: {"a11y_tree": state, "phone_state": {}}}, shots=1)
    [step] = steps(one(tmp_path))
    assert step.before.tree is not None
    outer, below = step.before.tree.nodes()
    assert (outer.text, outer.bounds.width, below.id, below.text) == ("Title", 1080, "app:id/t", "")
    assert (step.proposed.action.at, step.proposed.action.boxes) == ((6, 7), ((5, 6, 7, 8),))


def test_code_is_only_looked_at() -> None:
    found = calls_of("import os\nos.system('x')\nx = 3\nclick(x)\nawait_me = swipe(1, 2, 3, 4, 300)\nprint(1)")
    assert [call.raw for call in found] == [
        {"name": "click", "args": {"index": "x"}},
        {"name": "swipe", "args": {"start_x": 1, "start_y": 2, "end_x": 3, "end_y": 4, "duration_ms": 300}},
    ]
    assert calls_of("click(") == []
    assert calls_of("(" * 5000) == []
    assert calls_of("-" * 49_000 + "1") == []
    assert calls_of("click(1)" + " " * 50_000) == []
    assert [call.name for call in calls_of("click(" + "1" * 5000 + ")")] in ([], ["click"])


def test_how_runs_end(tmp_path: Path) -> None:
    out = {"type": "FastAgentEndEvent", "success": False, "reason": "Reached max step count of 15 steps"}
    put(tmp_path / "a", [*code("click(1)"), out])
    assert (ended(one(tmp_path / "a")).status, ended(one(tmp_path / "a")).score) == ("budget", None)
    put(tmp_path / "b", [*code("click(1)"), {**out, "reason": "LLM response is None."}])
    assert ended(one(tmp_path / "b")).status == "failed"
    put(tmp_path / "c", [LOOK])
    assert ended(one(tmp_path / "c")).status == "failed"


def test_others_trajectories_are_not_claimed(tmp_path: Path) -> None:
    for name, text in (("a", '[{"x": 1}]'), ("b", '{"type": "Event"}'), ("c", ""), ("d", "[")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "trajectory.json").write_text(text)
        (tmp_path / name / "macro.json").write_text('{"keys": []}')
    assert [found for found in detect(tmp_path) if getattr(found, "format", "") == "droidrun"] == []


def test_broken_files_are_told_or_left(tmp_path: Path) -> None:
    folder = put(tmp_path / "in", code("click(1)"), [], shots=1, states={0: []})
    (folder / "macro.json").write_text("[")
    (folder / "ui_states" / "0000.json").write_text("{")
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "screenshots" / "0000.png").unlink()
    (folder / "screenshots" / "0000.png").symlink_to(tmp_path / "secret.png")
    run = one(tmp_path / "in")
    [step] = steps(run)
    assert "leads out" in step.extra["screenshot"]
    assert "is not JSON" in step.extra["ui_state"]
    assert "is not JSON" in run.verdicts[0].extra["unread"]
    (folder / "trajectory.json").write_text('[{"type": "CodeActInputEvent"}, ')
    [failed] = read(tmp_path / "in")
    assert isinstance(failed, FailedRun)
    assert "is not JSON" in failed.error
    (folder / "trajectory.json").write_text('[{"type": "CodeActInputEvent"}, 7]')
    [failed] = read(tmp_path / "in")
    assert isinstance(failed, FailedRun)
    assert "field [1]: is no event" in failed.error


@pytest.mark.parametrize("wrong", [None, 7, -1, "x", [], {}, 1e300, True, [[1, 2]], 2**70, "\ud800", [1, 2, 3, 4]])
def test_wrong_types_never_end_the_reading(tmp_path: Path, wrong: Any) -> None:
    events = [*code("click(1)"), {"type": "ManagerPlanDetailsEvent", "success": True, "answer": ""}]
    events += [tool("swipe", coordinate=[1, 2], coordinate2=[3, 4]), {"type": "ResultEvent", "success": True}]
    events += [{"type": "ExecutorActionResultEvent", "action": {}, "actions": []}]
    whole = [*events, tap(1, 2, 3, "1,2,3,4"), swipe(1, 2, 3, 4)]
    count = 0
    for place, event in enumerate(whole):
        for key in event:
            changed = [dict(part) for part in whole]
            changed[place][key] = wrong
            state = [{"index": wrong, "bounds": wrong, "children": wrong}, wrong]
            put(tmp_path / f"{count}", changed[: len(events)], changed[len(events) :], states={0: state, 1: wrong})
            count += 1
    found = list(read(tmp_path, "droidrun"))
    assert len(found) == count
    for run in found:
        assert isinstance(run, Imported)
        assert [decode(encode(event), AnyEvent, "event") for event in run.events]
        encode(run.verdicts)


def test_the_same_run_is_known_the_second_time(tmp_path: Path) -> None:
    put(tmp_path, code("click(1)"), [], shots=1)
    run = one(tmp_path)
    [again] = read(tmp_path, known=lambda id: id == run.id)
    assert isinstance(again, KnownRun)
