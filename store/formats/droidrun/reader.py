"""Runs of droidrun (now mobilerun): folders with trajectory.json, macro.json, `screenshots/` and `ui_states/`.

Screen k is what the agent saw in turn k (see `turns`); a turn with several calls is several steps on one
screen, and its thought, words and tokens stand at the first. The goal is the macro's description, the success the
agent's own word. No time of day is kept: the folder's name has the recording machine's clock without its zone.
Source: `agent/trajectory/writer.py`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lab.errors import LabError
from lab.records import Imported, Verdict
from lab.task import Actor, Task
from lab.turn import Action
from lab.wire import escape_surrogates, read_json
from store.formats import Failed, Format, Found, Known, Seen
from store.formats.draft import Draft, run_id
from store.formats.droidrun.actions import action_of, done_of
from store.formats.droidrun.calls import Call
from store.formats.droidrun.macro import shared
from store.formats.droidrun.screens import State, state_of
from store.formats.droidrun.turns import Told, Turn, told
from store.formats.failures import failures_told
from store.formats.files import numbered, read_within, unread
from store.formats.pictures import Pictures
from store.formats.values import as_mappings

NAME = "droidrun"
_NUMBERED = re.compile(r"\A(\d{1,6})\.(?:png|jpe?g|json)\Z", re.I)
_UNTOLD = ("", "DroidRun automation sequence", "Mobilerun automation sequence")
_OUT_OF_STEPS = re.compile(r"max(?:imum)?[ _]?(?:step|iteration)|step limit", re.I)
_LEAST = 30
_EVENT = re.compile(
    rb'"type"\s*:\s*"(?:CodeAct|FastAgent|Task|Tools?|Manager|Executor|Droid|Scripter|Planner|Plan|Reflection|Reasoning'
    rb"|Result|Finalize|Start|Stop|Screenshot|RecordUIState|Macro|TextManipulator|Tap|Swipe|Drag|Wait|InputText|KeyPress"
    rb'|Button)\w*Event"'
)
_MACRO = re.compile(rb'"actions"\s*:\s*\[(?s:.*)"action_type"')


class _Run(NamedTuple):
    found: Found
    told: Told
    macro: dict[str, Any]
    shots: dict[int, Path]
    states: dict[int, Path]


@failures_told
def read(found: Found, known: Callable[[str], bool]) -> Iterator[Imported | Known | Failed]:
    """The one run of a folder."""
    yield _run(found, known)


def _run(found: Found, known: Callable[[str], bool]) -> Imported | Known:
    main = found.path / "trajectory.json"
    alone = not main.is_file()
    main = found.path / "macro.json" if alone else main
    data = read_within(found.root, main)
    name = escape_surrogates(found.path.resolve().name)
    id = run_id(NAME, name, data)
    path = escape_surrogates(str(main))
    if known(id):
        return Known(id, path)
    macro, unread = _macro(found)
    if alone and unread:
        raise LabError(path, unread)
    happened = told([] if alone else _events(data, path))
    if not isinstance(macro.get("actions"), list):
        macro["actions"] = happened.macro
    run = _Run(
        found,
        happened,
        macro,
        numbered(found.path / "screenshots", _NUMBERED),
        numbered(found.path / "ui_states", _NUMBERED),
    )
    pictures = Pictures(found.root)
    task = _task(run, name)
    draft = Draft(id, task, Actor("model", "droidrun"), format=NAME, path=path, data=data, images=pictures)
    idle = _steps(draft, run, pictures)
    source = {key: held for key, held in macro.items() if key not in ("actions", "description")} | {"folder": name}
    if idle:
        source["turns"] = idle
    if unread:
        source["unread"] = unread
    draft.verdicts.append(Verdict("source", extra=source))
    _end(draft, run, pictures)
    return draft.imported()


def _events(data: bytes, what: str) -> list[dict[str, Any]]:
    return as_mappings(read_json(data, what).value, what, "event")


def _macro(found: Found) -> tuple[dict[str, Any], str]:
    """What macro.json holds, and why it could not be read where it could not."""
    path = found.path / "macro.json"
    if not path.is_file():
        return {}, ""
    try:
        value = read_json(read_within(found.root, path), str(path)).value
    except LabError as error:
        return {}, unread(path, error)
    if not isinstance(value, dict) or not isinstance(value.get("actions"), list):
        return {}, "macro.json field actions: is no list"
    actions = [action for action in value["actions"] if isinstance(action, dict)]
    return {**value, "actions": actions}, ""


def _task(run: _Run, name: str) -> Task:
    """The task by its goal, so that runs of the same goal are of the same task; by the run where none is told."""
    said = run.macro.get("description")
    goal = said.strip() if isinstance(said, str) and said.strip() not in _UNTOLD else run.told.goal.strip()
    words = "-".join(re.findall(r"\w+", goal)[:8])[:60]
    digest = hashlib.sha256(goal.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    budget = max(_LEAST, len(run.told.turns))
    return Task(id=f"{words}-{digest}" if goal else name, kind="general", instruction=goal, budget=budget)


def _steps(draft: Draft, run: _Run, pictures: Pictures) -> list[dict[str, Any]]:
    """Each call as a step; what the source tells of turns in which nothing was said or done."""
    turns = run.told.turns
    idle: list[dict[str, Any]] = []
    calls = [call for turn in turns for call in turn.calls]
    actions = run.macro["actions"]
    owned, left = shared(calls, actions)
    _loose(draft, [actions[j] for j in left.get(-1, [])])
    at = 0
    for number, turn in enumerate(turns):
        extra = {**turn.extra, "turn": number}
        state = _state(run, turn.screen, extra)
        before = pictures.seen(run.shots.get(turn.screen), extra, state.tree)
        words: dict[str, Any] = {"thought": turn.thought, "raw": turn.raw, "usage": turn.usage}
        words["instruction"] = turn.instruction
        if not turn.calls and (turn.success is not None or turn.thought or turn.raw):
            draft.step(_uncalled(turn), before, extra=extra, **words)
        elif not turn.calls and turn.extra:
            idle.append(extra)
        for call in turn.calls:
            made = [actions[j] for j in owned[at]]
            if made:
                extra["macro"] = made
            if call.summary:
                extra["summary"] = call.summary
            error = (call.summary or "failed") if call.done is False else None
            draft.step(action_of(call, made, state.boxes), before, error=error, extra=extra, **words)
            extra, words = {"turn": number}, {"instruction": turn.instruction}
            _loose(draft, [actions[j] for j in left.get(at, [])], before, extra)
            at += 1
    return idle


def _loose(
    draft: Draft, actions: list[dict[str, Any]], before: Any = None, extra: dict[str, Any] | None = None
) -> None:
    """Steps for what was done on the phone without a call that is known for it."""
    for action in actions:
        draft.step(done_of(action), before, extra={**(extra or {}), "macro": [action]})


def _uncalled(turn: Turn) -> Action:
    """A turn without a call: the Manager's last word, or an answer that called nothing."""
    if turn.success is None:
        return Action("other", raw=turn.raw)
    return action_of(Call("complete", {"success": turn.success, "reason": turn.answer}), [], {})


def _state(run: _Run, screen: int, extra: dict[str, Any]) -> State:
    path = run.states.get(screen)
    if path is None:
        return State(None, {})
    try:
        return state_of(read_json(read_within(run.found.root, path), str(path)).value)
    except LabError as error:
        extra["ui_state"] = unread(path, error)
        return State(None, {})


def _end(draft: Draft, run: _Run, pictures: Pictures) -> None:
    end, turns = run.told.end, run.told.turns
    success, reason = end.get("success"), end.get("reason") or end.get("output")
    closing = next((turn for turn in reversed(turns) if turn.success is not None), None)
    if not isinstance(success, bool) and closing is not None:
        success, reason = closing.success, closing.answer
    said = reason if isinstance(reason, str) else ""
    if isinstance(success, bool):
        draft.verdict("success", success, said, **({"event": end} if end else {}))
    last = max((turn.screen for turn in turns), default=-1)
    beyond = [shot for shot in run.shots if shot > last]
    final = pictures.seen(run.shots[max(beyond)], {}) if beyond else None
    score = float(success) if isinstance(success, bool) else None
    closed = closing is not None or any(call.name == "complete" for turn in turns for call in turn.calls)
    draft.end(_status(success, said, closed, draft.count), score, said, final=final)


def _status(success: Any, reason: str, closed: bool, steps: int) -> Any:
    if not steps:
        return "failed"
    if not isinstance(success, bool):
        return "stopped"
    if success or closed:
        return "completed"
    return "budget" if _OUT_OF_STEPS.search(reason) else "failed"


def _is_run_folder(folder: Path, names: set[str]) -> bool:
    """Whether the folder's own files begin as droidrun's do; a recorded macro alone is a run, too."""
    for name, opens, mark in (("trajectory.json", b"[", _EVENT), ("macro.json", b"{", _MACRO)):
        path = folder / name
        if name not in names or not path.is_file():
            continue
        try:
            opening = Seen(path).opening
        except LabError:
            continue
        if opening.startswith(opens) and mark.search(opening):
            return True
    return False


DROIDRUN = Format(
    name=NAME,
    title="droidrun",
    is_run_folder=_is_run_folder,
    is_file=lambda seen: False,
    read=read,
)
