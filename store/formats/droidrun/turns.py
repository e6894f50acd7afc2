"""Turns of a droidrun run: what the agent saw, thought, called and got back, from events of any version.

CodeAct (formerly Task) writes Python, FastAgent writes XML. With reasoning, a Manager plans and an Executor acts. A
turn begins when the agent looks at the screen, so that screens and turns have the same numbers. Source: the `events.py`
files of droidrun (now mobilerun).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from lab.core.run.step import Usage
from store.formats.droidrun.calls import (
    CodeError,
    DroidrunCall,
    call_error,
    call_of,
    calls_of,
    code_error,
    with_outcomes,
)
from store.formats.values import as_text

_LOOKS = re.compile(r"(?:CodeAct|FastAgent|Task|ToolsAgent)InputEvent|ManagerContextEvent|ManagerThinkingEvent")
_ANSWERS = re.compile(r"(?:CodeAct|FastAgent|ToolsAgent)ResponseEvent|TaskThinkingEvent")
_WRITES = re.compile(r"CodeActCodeEvent|FastAgentToolCallEvent|TaskExecutionEvent|ExecutorToolCallEvent")
_PLANS = frozenset({"ManagerPlanDetailsEvent", "ManagerPlanEvent", "ManagerInternalPlanEvent"})
_YIELDS = re.compile(r"(?:CodeAct|FastAgent|ToolsAgent)OutputEvent|TaskExecutionResultEvent")
_ENDS = (
    "ResultEvent", "FinalizeEvent", "StopEvent", "FastAgentResultEvent", "CodeActResultEvent",
    "FastAgentEndEvent", "CodeActEndEvent", "TaskEndEvent",
)  # fmt: skip
"""Events about the end of a run. An earlier one in this list takes precedence."""

_PICTURES = frozenset({"ScreenshotEvent", "RecordUIStateEvent"})
_SILENT = frozenset({"ManagerInputEvent", "ExecutorInputEvent", "ExecutorResultEvent", "FastAgentExecuteEvent"})
_MANAGER = ("plan", "memory_update", "progress_summary", "answer", "thought")
_TOKENS = (("request_tokens", "prompt_tokens"), ("response_tokens", "completion_tokens"))


@dataclass
class AgentTurn:
    """One look at the screen (`screen` counts from 0), with the agent's answer and calls."""

    screen: int
    thought: str = ""
    raw: str | None = None
    usage: Usage | None = None
    instruction: str = ""
    written: list[DroidrunCall] = field(default_factory=list)
    run: list[DroidrunCall] = field(default_factory=list)
    scripts: list[DroidrunCall] = field(default_factory=list)
    success: bool | None = None
    answer: str = ""
    looked: bool = False
    answered: bool = False
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def is_answered(self) -> bool:
        """True if the agent answered or called anything in this turn."""
        return bool(self.calls or self.thought or self.raw or self.success is not None)

    @property
    def error(self) -> CodeError | None:
        """Error that ended the turn's code early, or None if there is none or it is unknown."""
        return None if self.run else code_error(self.extra.get("output"))

    @property
    def calls(self) -> list[DroidrunCall]:
        """Calls of the turn. Those after the line with the error are marked as not run."""
        error = self.error
        outcomes = with_outcomes(self.written, self.run)
        if error is not None and error.line:
            outcomes = [
                call._replace(succeeded=False, summary=error.sentence(False)) if call.line > error.line else call
                for call in outcomes
            ]
        return [*outcomes, *self.scripts]


@dataclass
class EventTurns:
    """Content of a run's events: turns, end, goal, and actions of the phone."""

    turns: list[AgentTurn] = field(default_factory=list)
    end: dict[str, Any] = field(default_factory=dict)
    goal: str = ""
    macro: list[dict[str, Any]] = field(default_factory=list)

    @property
    def turn(self) -> AgentTurn:
        if not self.turns:
            self.turns.append(AgentTurn(0))
        return self.turns[-1]


def turns_of(events: list[dict[str, Any]]) -> EventTurns:
    """Return the events of a trajectory.json as turns."""
    turns = EventTurns()
    looks = any(_LOOKS.fullmatch(_kind(event)) for event in events)
    for event in events:
        kind = _kind(event)
        if _LOOKS.fullmatch(kind):
            _begin_turn(turns)
            turns.goal = turns.goal or as_text(event.get("goal")) or as_text(event.get("instruction"))
        elif _ANSWERS.fullmatch(kind) or kind in ("ManagerResponseEvent", "ExecutorResponseEvent"):
            _add_answer(turns, event, kind, looks)
        elif kind in _ENDS:
            if not turns.end or _ENDS.index(kind) <= _ENDS.index(_kind(turns.end)):
                turns.end = event
        elif isinstance(event.get("action_type"), str):
            turns.macro.append(event)
        else:
            _add_event(turns, event, kind)
    return turns


def _begin_turn(turns: EventTurns) -> None:
    """Begin a turn with a look at the screen. Events before the first look belong to its turn."""
    if not (turns.turns and not turns.turn.looked and not turns.turn.answered):
        turns.turns.append(AgentTurn(len({turn.screen for turn in turns.turns})))
    turns.turn.looked = True


def _add_answer(turns: EventTurns, event: dict[str, Any], kind: str, looks: bool) -> None:
    """Add a model's answer. A second answer without a look in between is a turn of its own on the same screen."""
    turn = turns.turn
    manager = kind == "ManagerResponseEvent"
    if turn.answered or (manager and not looks and turn.extra.get("manager")):
        step = 0 if looks else 1
        turn = AgentTurn(turn.screen + step)
        turns.turns.append(turn)
    turn.usage = _add_usage(turn.usage, _usage(event.get("usage", event.get("tokens"))))
    response = as_text(event.get("response", event.get("response_text")))
    if manager:
        turn.extra.setdefault("manager", {})["response"] = response
        return
    turn.answered = True
    code = as_text(event.get("code"))
    turn.thought = as_text(event.get("thought", event.get("thoughts")))
    turn.raw = response or code or None
    turn.written = calls_of(code) if code else []


def _add_event(turns: EventTurns, event: dict[str, Any], kind: str) -> None:
    """Add other events to the current turn."""
    turn = turns.turn
    if kind in _PLANS:
        _add_plan(turn, event)
    elif kind == "ExecutorContextEvent":
        turn.instruction = turn.instruction or as_text(event.get("subgoal"))
    elif kind in ("ExecutorActionEvent", "ExecutorInternalActionEvent"):
        turn.thought = as_text(event.get("thought")) or turn.thought
        turn.raw = turn.raw or as_text(event.get("full_response")) or None
        turn.written = calls_of(as_text(event.get("action_json")))
        turn.extra |= {"description": event["description"]} if event.get("description") else {}
    elif kind in ("ExecutorActionResultEvent", "ExecutorInternalResultEvent"):
        _add_results(turn, event)
    elif kind == "ToolExecutionEvent":
        args = event.get("tool_args")
        success = event.get("success") if isinstance(event.get("success"), bool) else None
        name = as_text(event.get("tool_name"))
        words = call_error(event) or as_text(event.get("summary"))
        turn.run.append(DroidrunCall(name, args if isinstance(args, dict) else {}, success, words))
    elif kind.startswith("Scripter"):
        _add_script(turn, event, kind)
    elif _WRITES.fullmatch(kind):
        code = as_text(event.get("code", event.get("tool_calls_repr")))
        turn.thought = turn.thought or as_text(event.get("thought"))
        turn.written = turn.written or calls_of(code)
        turn.raw = turn.raw or as_text(event.get("full_response")) or code or None
    elif _YIELDS.fullmatch(kind):
        turn.extra["output"] = event.get("output")
    elif kind in _PICTURES:
        return
    elif kind not in _SILENT:
        turn.extra.setdefault("events", []).append(event)
    turns.goal = turns.goal or _stated_goal(event)


def _add_plan(turn: AgentTurn, event: dict[str, Any]) -> None:
    """Add the Manager's plan or final answer. One version calls the answer `manager_answer`."""
    turn.instruction = as_text(event.get("subgoal", event.get("current_subgoal")))
    answer, response = as_text(event.get("answer", event.get("manager_answer"))), as_text(event.get("full_response"))
    manager = turn.extra.setdefault("manager", {})
    manager |= {name: event[name] for name in _MANAGER if event.get(name)}
    if response:
        manager["response"] = response
    if isinstance(event.get("success"), bool):
        turn.success, turn.answer = event["success"], answer
        turn.thought = turn.thought or as_text(event.get("thought"))
    if answer:
        turn.raw = turn.raw or response or answer


def _add_results(turn: AgentTurn, event: dict[str, Any]) -> None:
    """Add the outcome of the Executor's calls. The newer form has a list of them."""
    records = event.get("actions")
    if isinstance(records, list):
        if not turn.run:
            turn.run = [call for record in records if (call := call_of(record))]
        return
    call = call_of(event.get("action"))
    outcome = event.get("outcome", event.get("success"))
    if call is None:
        return
    success = outcome if isinstance(outcome, bool) else call.succeeded
    turn.run = [
        call._replace(succeeded=success, summary=call_error(event) or as_text(event.get("summary")) or call.summary)
    ]
    turn.thought = turn.thought or as_text(event.get("thought"))


def _add_script(turn: AgentTurn, event: dict[str, Any], kind: str) -> None:
    """Add the Scripter's code, which runs off the phone for the Manager, as a call of its own."""
    turn.extra.setdefault("events", []).append(event)
    code = as_text(event.get("code"))
    if kind in ("ScripterThinkingEvent", "ScripterExecutionEvent"):
        if code and not (turn.scripts and turn.scripts[-1].args["code"] == code):
            turn.scripts.append(DroidrunCall("script", {"code": code}))
        if code:
            turn.thought = turn.thought or as_text(event.get("thoughts", event.get("thought")))
            turn.usage = _add_usage(turn.usage, _usage(event.get("usage")))
    elif turn.scripts and kind == "ScripterExecutionResultEvent":
        error = code_error(event.get("output"))
        words = error.error if error else as_text(event.get("output"))
        turn.scripts[-1] = turn.scripts[-1]._replace(succeeded=error is None, summary=words)
    elif turn.scripts and kind == "ScripterEndEvent" and event.get("success") is False:
        turn.scripts[-1] = turn.scripts[-1]._replace(succeeded=False, summary=as_text(event.get("message")))


def _stated_goal(event: dict[str, Any]) -> str:
    """Return the goal from an event that starts a task, empty for other events."""
    if not _kind(event).endswith("ExecuteEvent"):
        return ""
    task = event.get("task")
    return as_text(event.get("instruction")) or (as_text(task.get("description")) if isinstance(task, dict) else "")


def _usage(value: Any) -> Usage | None:
    """Return the tokens of a model's answer. Counts of 0 mean that they were not recorded."""
    if not isinstance(value, dict):
        return None
    counts: dict[str, Any] = {ours: _count(value.get(theirs, value.get(ours))) for theirs, ours in _TOKENS}
    return Usage(**counts, tries=_count(value.get("requests")) or 1)


def _add_usage(first: Usage | None, second: Usage | None) -> Usage | None:
    return first.plus(second) if first and second else first or second


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**53 else None


def _kind(event: dict[str, Any]) -> str:
    return as_text(event.get("type"))
