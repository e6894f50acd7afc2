"""droidrun (now mobilerun): folders with trajectory.json, macro.json, `screenshots/` and `ui_states/`.

Screen k is what the agent saw in turn k (see `turns`). A turn with several calls becomes several steps on one screen,
of which the first has its thought, text and tokens. The goal is the macro's description. The success is only the
agent's own claim, so it is not a score. There is no time of day: the folder's name has the recording machine's clock
without a zone. Source: `agent/trajectory/writer.py`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lab.core.codec import escape_surrogates, read_json
from lab.core.errors import LabError
from lab.core.run.run_records import Imported, Verdict
from lab.core.run.step import Action, Observation
from lab.core.task.task import Actor, Task
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.draft import RunDraft, run_id
from store.formats.droidrun.actions import action_of, unmatched_action
from store.formats.droidrun.calls import DroidrunCall
from store.formats.droidrun.macro import MACRO_KINDS, assign_macro, is_recorded, kind_of
from store.formats.droidrun.screens import RecordedScreen, state_of
from store.formats.droidrun.turns import AgentTurn, EventTurns, turns_of
from store.formats.failures import with_failures
from store.formats.files import PICTURE, files_by_number, unreadable_reason
from store.formats.pictures import Pictures
from store.formats.values import as_mappings, as_text

NAME = "droidrun"
CLAIM = "agent's claim"
"""Name of the verdict for the agent's own claim of success. Nobody checked it, so it is not a score."""
_NUMBERED = re.compile(rf"\A(\d{{1,6}})\.(?:{PICTURE}|json)\Z", re.I)
_FOLDER = re.compile(r"\d{8}_\d{6}_[0-9a-f]{8}")
_DEFAULT_GOALS = ("", "DroidRun automation sequence", "Mobilerun automation sequence")
_OUT_OF_STEPS = re.compile(r"max(?:imum)?[ _]?(?:step|iteration)|step limit", re.I)
_MIN_BUDGET = 30
_EVENT = re.compile(
    r"(?:CodeAct|FastAgent|Task|Tools?|Manager|Executor|Droid|Scripter|Planner|Plan|Reflection|Reasoning"
    r"|Result|Finalize|Start|Stop|Screenshot|RecordUIState|Macro|TextManipulator|Tap|Swipe|Drag|Wait|InputText|KeyPress"
    r"|Button)\w*Event"
)
_TOUCH = re.compile(r"(?:Start|Stop|Screenshot|Tap|Swipe|Drag|Wait|InputText|KeyPress|Button)\w*Event")
_MACRO_FIELDS = {"version", "description", "timestamp", "total_actions"}
"""Fields besides a macro's actions."""


class _DroidrunRun(NamedTuple):
    """Contents of a folder. `recorded` is True if the phone's actions were stored beside the events."""

    found: RunSource
    timeline: EventTurns
    macro: dict[str, Any]
    shots: dict[int, Path]
    states: dict[int, Path]
    recorded: bool


@with_failures
def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield the one run of a folder."""
    yield _read_run(source, is_known)


def _read_run(run_source: RunSource, is_known: Callable[[str], bool]) -> Imported | KnownRun:
    main = run_source.path / "trajectory.json"
    alone = not main.is_file()
    main = run_source.path / "macro.json" if alone else main
    data = run_source.text(main)
    name = escape_surrogates(run_source.path.resolve().name)
    id = run_id(NAME, name, data)
    path = escape_surrogates(str(main))
    if is_known(id):
        return KnownRun(id, path)
    macro, unread = _read_macro(run_source)
    if alone and unread:
        raise LabError(path, unread)
    events = [] if alone else as_mappings(read_json(data, path).value, path, "event")
    timeline = turns_of(events)
    has_macro = isinstance(macro.get("actions"), list) or bool(timeline.macro)
    if not isinstance(macro.get("actions"), list):
        macro["actions"] = timeline.macro
    run = _DroidrunRun(
        run_source,
        timeline,
        macro,
        files_by_number(run_source.path / "screenshots", _NUMBERED),
        files_by_number(run_source.path / "ui_states", _NUMBERED),
        has_macro,
    )
    pictures = Pictures(run_source)
    task = _task(run, name)
    draft = RunDraft(id, task, _agent(events), format=NAME, path=path, data=data, images=pictures)
    idle = _steps(draft, run, pictures)
    source = {key: value for key, value in macro.items() if key not in ("actions", "description")} | {"folder": name}
    if idle:
        source["turns"] = idle
    if unread:
        source["unread"] = unread
    draft.verdicts.append(Verdict("source", extra=source))
    _end(draft, run, pictures)
    return draft.imported()


def _agent(events: list[dict[str, Any]]) -> Actor:
    """Return droidrun with the names of its deciding agents, derived from event names."""
    decided = {match[1] for event in events if (match := _DECIDES.match(as_text(event.get("type"))))}
    kinds = ["Manager"] if "Manager" in decided else sorted(decided)
    return Actor("model", "droidrun", arguments=(("agent", "+".join(kinds)),) if kinds else ())


_DECIDES = re.compile(r"(CodeAct|FastAgent|ToolsAgent|Manager)(?:Input|Context|Thinking|Response)Event")


def _read_macro(source: RunSource) -> tuple[dict[str, Any], str]:
    """Return the content of macro.json, and the reason if it cannot be read."""
    path = source.path / "macro.json"
    if not path.is_file():
        return {}, ""
    try:
        value = read_json(source.text(path), str(path)).value
    except LabError as error:
        return _macro_failure(source, path, unreadable_reason(path, error))
    if not isinstance(value, dict) or not isinstance(value.get("actions"), list):
        return _macro_failure(source, path, "macro.json field actions: is no list")
    actions = [action for action in value["actions"] if isinstance(action, dict)]
    return {**value, "actions": actions}, ""


def _macro_failure(source: RunSource, path: Path, why: str) -> tuple[dict[str, Any], str]:
    source.fallbacks.add("side file", path, why)
    return {}, why


def _task(run: _DroidrunRun, name: str) -> Task:
    """Return a task identified by its goal, so that runs with one goal share it, or by the run without a goal."""
    description = run.macro.get("description")
    goal = (
        description.strip()
        if isinstance(description, str) and description.strip() not in _DEFAULT_GOALS
        else run.timeline.goal.strip()
    )
    words = "-".join(re.findall(r"\w+", goal)[:8])[:60]
    digest = hashlib.sha256(goal.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    budget = max(_MIN_BUDGET, len(run.timeline.turns))
    return Task(id=f"{words}-{digest}" if goal else name, kind="general", instruction=goal, budget=budget)


def _steps(draft: RunDraft, run: _DroidrunRun, pictures: Pictures) -> list[dict[str, Any]]:
    """Add each call as a step. Return extra fields of turns without any answer or call."""
    turns = run.timeline.turns
    idle: list[dict[str, Any]] = []
    actions = run.macro["actions"]
    places_by_call, leftovers = assign_macro([call for turn in turns for call in turn.calls], actions)
    _add_unmatched_actions(draft, [actions[j] for j in leftovers.get(-1, [])])
    at = 0
    for number, turn in enumerate(turns):
        extra = {**turn.extra, "turn": number}
        state = _read_state(run, turn.screen, extra)
        before = pictures.add_optional(run.shots.get(turn.screen), extra, state.tree)
        words: dict[str, Any] = {"thought": turn.thought, "raw": turn.raw, "usage": turn.usage}
        words["instruction"] = turn.instruction
        if turn.is_answered and not turn.calls:
            draft.step(_action_without_call(turn), before, extra=extra, **words)
        elif not turn.is_answered and number < len(turns) - 1 and (before.image or before.tree):
            draft.step(Action("other"), before, error="the agent looked and gave no answer", extra=extra, **words)
        elif not turn.is_answered and turn.extra:
            idle.append(extra)
        calls = _mark_failed_calls(turn, places_by_call[at : at + len(turn.calls)], run.recorded)
        for i, call in enumerate(calls, at):
            macro_actions = [actions[j] for j in places_by_call[i]]
            if macro_actions:
                extra["macro"] = macro_actions
            if call.summary:
                extra["summary"] = call.summary
            error = (call.summary or "failed") if call.succeeded is False else None
            draft.step(action_of(call, macro_actions, state.boxes), before, error=error, extra=extra, **words)
            extra, words = {"turn": number}, {"instruction": turn.instruction}
            _add_unmatched_actions(draft, [actions[j] for j in leftovers.get(i, [])], before, extra)
        at += len(calls)
    return idle


def _mark_failed_calls(turn: AgentTurn, places_by_call: list[list[int]], has_macro: bool) -> list[DroidrunCall]:
    """Return a turn's calls. If an error ended its code, calls without macro actions are marked failed or not run."""
    error = turn.error
    if error is None:
        return turn.calls
    last = max((i for i, macro_places in enumerate(places_by_call) if macro_places), default=-1)
    return [
        call._replace(succeeded=False, summary=error.sentence(was_run=call.line == error.line))
        if call.succeeded is None
        and not places_by_call[i]
        and is_recorded(call)
        and (call.line == error.line or (has_macro and not error.line and i > last))
        else call
        for i, call in enumerate(turn.calls)
    ]


def _add_unmatched_actions(
    draft: RunDraft, actions: list[dict[str, Any]], before: Any = None, extra: dict[str, Any] | None = None
) -> None:
    """Add steps for the phone's actions that belong to no known call."""
    for action in actions:
        draft.step(unmatched_action(action), before, extra={**(extra or {}), "macro": [action]})


def _action_without_call(turn: AgentTurn) -> Action:
    """Return the action of a turn without a call: the Manager's final answer, or an answer that called nothing."""
    if turn.success is None:
        return Action("other", raw=turn.raw)
    return action_of(DroidrunCall("complete", {"success": turn.success, "reason": turn.answer}), [], {})


def _read_state(run: _DroidrunRun, screen: int, extra: dict[str, Any]) -> RecordedScreen:
    path = run.states.get(screen)
    if path is None:
        return RecordedScreen(None, {})
    try:
        return state_of(read_json(run.found.text(path), str(path)).value)
    except LabError as error:
        extra["ui_state"] = unreadable_reason(path, error)
        return RecordedScreen(None, {})


def _end(draft: RunDraft, run: _DroidrunRun, pictures: Pictures) -> None:
    end, turns = run.timeline.end, run.timeline.turns
    success, reason = end.get("success"), end.get("reason") or end.get("output")
    closing = next((turn for turn in reversed(turns) if turn.success is not None), None)
    if not isinstance(success, bool) and closing is not None:
        success, reason = closing.success, closing.answer
    text = reason if isinstance(reason, str) else ""
    if isinstance(success, bool):
        draft.verdict(CLAIM, success, text, **({"event": end} if end else {}))
    calls = [call for turn in turns for call in turn.calls]
    is_closed = closing is not None or any(call.name == "complete" and call.succeeded is not False for call in calls)
    draft.end(_status(success, text, is_closed, draft.count), None, text, final=_final_observation(run, pictures))


def _final_observation(run: _DroidrunRun, pictures: Pictures) -> Observation | None:
    """Return the last screen after the last answer, or None if there is none."""
    answered_screens = [turn.screen for turn in run.timeline.turns if turn.is_answered]
    beyond = [screen for screen in {*run.shots, *run.states} if screen > max(answered_screens, default=-1)]
    if not beyond:
        return None
    extra: dict[str, Any] = {}
    tree, shot = _read_state(run, max(beyond), extra).tree, run.shots.get(max(beyond))
    if why := extra.get("ui_state"):
        run.found.fallbacks.add("tree", f"screen {max(beyond)} in {run.found.path}", why)
    observation = pictures.add_final(shot, tree) if shot else Observation(tree=tree)
    return observation if observation.image or observation.tree else None


def _status(success: Any, reason: str, is_closed: bool, steps: int) -> Any:
    if not steps:
        return "failed"
    if not isinstance(success, bool):
        return "stopped"
    if success or is_closed:
        return "completed"
    return "budget" if _OUT_OF_STEPS.search(reason) else "failed"


def _is_run_folder(folder: Path, names: set[str], root: Path) -> bool:
    """Return True if the folder's files begin like droidrun's. A macro alone is enough."""
    for name, tells in (("trajectory.json", _is_event_list), ("macro.json", _is_macro)):
        path = folder / name
        if name not in names or not path.is_file():
            continue
        try:
            if tells(CandidateFile(path, root).value):
                return True
        except LabError:
            continue
    return False


def _is_event_list(value: Any) -> bool:
    """Return True if a value is a list of droidrun's events, and not only touches, which other recorders name alike."""
    events = [event for event in value if isinstance(event, dict)] if isinstance(value, list) else []
    kinds = [kind for event in events if isinstance(kind := event.get("type"), str) and _EVENT.fullmatch(kind)]
    return any(not _TOUCH.fullmatch(kind) for kind in kinds) or any("action_type" in event for event in events if kinds)


def _is_macro(value: Any) -> bool:
    """Return True if a value is a recorded macro: it has a field about itself, and at least one known action."""
    if not isinstance(value, dict) or not isinstance(value.get("actions"), list) or not _MACRO_FIELDS & value.keys():
        return False
    return any(isinstance(action, dict) and kind_of(action) in MACRO_KINDS for action in value["actions"])


def _without_log(folder: Path, names: set[str], root: Path) -> str:
    """Return why a folder named by droidrun, or an empty list of events, is not a run, or empty for other folders."""
    has_own_name = _FOLDER.fullmatch(folder.name) is not None
    if "trajectory.json" in names:
        try:
            is_empty = CandidateFile(folder / "trajectory.json", root).value == []
        except LabError:
            return ""
        return "trajectory.json holds no events" if is_empty else ""
    return "no trajectory.json" if has_own_name else ""


DROIDRUN = Format(
    name=NAME,
    title="droidrun",
    is_run_folder=_is_run_folder,
    is_file=lambda candidate: False,
    read=read,
    is_without_log=_without_log,
)
