"""One run, exploration or demonstration of AppAgent as events.

Screen n is the one before step n. The one after the last step is the run's final screen. Every step's prompt contains
the goal. There is no result, cost or time. The status is completed after FINISH, failed if the executor could not use
an answer, budget after `MAX_ROUNDS` steps without a further screen, else stopped. In explorations the model reflects
after each step. If it says BACK, the explorer presses back, which becomes a step here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lab.core.codec import escape_surrogates
from lab.core.run.run_records import Imported
from lab.core.run.step import Action, Observation
from lab.core.task.task import Actor, Task
from store.formats import KnownRun, RunSource
from store.formats.androidworld.answers import usage_of
from store.formats.appagent.actions import NumberedScreen, action_of, answer_parts, recorded_action
from store.formats.appagent.elements import NumberedElement, elements
from store.formats.draft import RunDraft, run_id
from store.formats.fallbacks import FallbackKind
from store.formats.model_answers import answer_text, whole_answer
from store.formats.pictures import Pictures
from store.formats.trees import tree_in
from store.formats.values import Notes, as_text, decode_utf8, notes_below

NAME = "appagent"
ROUNDS = 20
"""Default of `MAX_ROUNDS` if no `config.yaml` is found above the run."""

_GOAL = re.compile(
    r"The task you need to complete is to (.*?)(?:\. Your past actions to proceed|\s*\n\s*Now, given|\Z)", re.S
)
_APP = re.compile(r"log_(.+?)_task_")
_MAX_TITLE = 100


class LogLine(NamedTuple):
    """One line of a log, and the values of it that could not be stored unchanged."""

    value: dict[str, Any]
    notes: Notes


class Screens:
    """A run's pictures and trees by step number."""

    def __init__(
        self, source: RunSource, shots: dict[int, Path], trees: dict[int, Path], after: dict[int, Path]
    ) -> None:
        self.source = source
        self.shots = shots
        self.trees = trees
        self.after = after
        self.pictures = Pictures(source)

    def observation(self, number: int, extra: dict[str, Any]) -> tuple[Observation, bytes | None]:
        """Return the observation before a step, and its XML if readable. Errors are stored in `extra`."""
        read = tree_in(self.source, self.trees.get(number), extra)
        tree, xml = (read.tree, read.xml) if read else (None, None)
        return self.pictures.add_optional(self.shots.get(number), extra, tree), xml

    def seen_after(self, number: int, extra: dict[str, Any]) -> Observation:
        return self.pictures.add_optional(self.after.get(number), extra)


def run(
    log: Path,
    data: bytes,
    lines: list[LogLine],
    screens: Screens,
    is_known: Callable[[str], bool],
    *,
    cut_line: str = "",
    reflections: list[LogLine],
    rounds: int | None = None,
) -> Imported | KnownRun:
    """Return the run of a log.

    `cut_line` is a last line that cannot be read. `reflections` are an explorer's reflections on its steps. `rounds` is
    the maximum number of steps, None if unknown.
    """
    id = run_id(NAME, "", data)
    if is_known(id):
        return KnownRun(id, str(log))
    draft = RunDraft(
        id,
        _task(log, lines, rounds or max(ROUNDS, len(lines))),
        Actor("model", "AppAgent", model=_model(lines)),
        format=NAME,
        path=str(log),
        data=data,
        images=screens.pictures,
    )
    after = {line.value["step"]: line for line in reflections if isinstance(line.value.get("step"), int)}
    useless: set[str] = set()
    grid = False
    last = Action("other")
    number = 0
    for i, line in enumerate(lines):
        step = line.value.get("step")
        number = step if isinstance(step, int) and not isinstance(step, bool) else i + 1
        last, target = _step(draft, line, screens, number, grid, useless, after.get(number))
        grid = last.kind == "other" and last.text == "grid"
        if number in after:
            _apply_reflection(draft, screens, number, after[number], useless, target)
    if cut_line:
        screens.source.fallbacks.add("line", log, "the last line is cut short")
        draft.verdict("source", cut=cut_line)
    _end(draft, screens, last, number, _budget_reason(len(lines), rounds))
    return draft.imported()


def _model(lines: list[LogLine]) -> str:
    """Return the model's name from logs with whole responses, empty if they only have text."""
    responses = (line.value.get("response") for line in lines)
    return next((as_text(one.get("model")) for one in responses if isinstance(one, dict) and one.get("model")), "")


def _task(log: Path, lines: list[LogLine], budget: int) -> Task:
    folder = log.resolve().parent
    match = _APP.match(log.name)
    app = escape_surrogates(match[1] if match else folder.parent.parent.name)
    prompts = (line.value.get("prompt") for line in lines)
    goals = (_GOAL.search(prompt) for prompt in prompts if isinstance(prompt, str))
    goal = next((match[1].strip() for match in goals if match), "")
    name = f"{app}: {goal}"[:_MAX_TITLE] if goal else escape_surrogates(folder.name)
    traits = {"part": "exploration"} if log.name.startswith("log_explore_") else {}
    return Task(
        id=name, kind="general", title=name, instruction=goal, log="none", budget=budget, apps=(app,), traits=traits
    )


def _step(
    draft: RunDraft,
    line: LogLine,
    screens: Screens,
    number: int,
    grid: bool,
    useless: set[str],
    reflection: LogLine | None,
) -> tuple[Action, NumberedElement | None]:
    value = line.value
    extra = {key: field_value for key, field_value in value.items() if key not in ("step", "response")}
    if value.get("step") != draft.count + 1:
        extra["step"] = value.get("step")
    if line.notes:
        extra["missing"] = notes_below(line.notes)
    before, xml = screens.observation(number, extra)
    response = value.get("response")
    answer = answer_parts(response)
    screen = NumberedScreen(None if xml is None else elements(xml, useless), before.size, grid)
    call = answer.get("Function", answer.get("Action", ""))
    is_object = isinstance(response, dict) and call in response.values()
    action = action_of(call if is_object else call.partition("\n")[0], screen)
    extra |= {name: text for name, text in answer.items() if name in ("Observation", "Summary")}
    if reflection is not None:
        extra["reflection"] = reflection.value
    draft.step(
        action,
        before,
        thought=answer.get("Thought", answer.get("Intermediate Goal", "")),
        raw=response if isinstance(response, str) else msgspec.json.encode(response).decode(),
        usage=usage_of(whole_answer(response)),
        instruction=answer.get("Action", "") if "Function" in answer else "",
        error="the executor could not use this answer" if _is_unusable(action) else None,
        extra=extra,
    )
    target = next((element for element in screen.elements or () if element.box in action.boxes), None)
    return action, target


def _is_unusable(action: Action) -> bool:
    return action.kind == "other" and action.text != "grid"


def _apply_reflection(
    draft: RunDraft, screens: Screens, number: int, line: LogLine, useless: set[str], target: NumberedElement | None
) -> None:
    """Apply a reflection: drop an element from further numbering, and add a press of back."""
    response = line.value.get("response")
    decision = _decision(response)
    if decision in ("INEFFECTIVE", "BACK", "CONTINUE") and target is not None:
        # The explorer leaves the element out of all later numberings.
        useless.add(target.uid)
    if decision == "BACK":
        extra: dict[str, Any] = {"reflection_of": number}
        raw = response if isinstance(response, str) else msgspec.json.encode(response).decode()
        draft.step(Action("navigate_back", raw="BACK"), screens.seen_after(number, extra), raw=raw, extra=extra)


def _decision(response: Any) -> str:
    if isinstance(response, dict) and "Decision" in response:
        return str(response["Decision"]).strip()
    match = re.search(r"^[^\S\n]*+Decision:\s*+([A-Z]++)", answer_text(response) or "", re.M)
    return match[1] if match else ""


def _budget_reason(steps: int, rounds: int | None) -> str:
    """Return why a run with this number of steps had to end, empty if it could have continued."""
    if steps < (rounds or ROUNDS):
        return ""
    return f"{steps} steps, {'the most that its config.yaml allows' if rounds else 'the most unless told otherwise'}"


def _end(draft: RunDraft, screens: Screens, last: Action, number: int, used_up: str) -> None:
    extra: dict[str, Any] = {}
    beyond = number + 1 in screens.shots
    final = screens.observation(number + 1, extra)[0] if beyond else None
    if not beyond and number in screens.after:
        final = screens.seen_after(number, extra)
    _record_lost_screen(draft, screens, extra, number + 1)
    if not draft.count:
        draft.end("failed", reason="the source holds no steps", final=final)
    elif last.kind == "status":
        draft.end("completed", reason="FINISH", final=final)
    elif _is_unusable(last):
        draft.end("failed", reason="the executor could not use the last answer", final=final)
    elif used_up and not beyond:
        draft.end("budget", reason=used_up, final=final)
    else:
        draft.end("stopped", reason="the source holds no FINISH", final=final)


def _record_lost_screen(draft: RunDraft, screens: Screens, extra: dict[str, Any], number: int) -> None:
    """Store and count errors in reading the screen after the last step, which has no step to record them."""
    if not extra:
        return
    draft.verdict("source", **extra)
    lost: tuple[tuple[FallbackKind, str], ...] = (("picture", "screenshot"), ("tree", "tree"))
    for kind, key in lost:
        if key in extra:
            screens.source.fallbacks.add(kind, f"screen {number} in {screens.source.path}", extra[key])


def demonstration(
    folder: Path, data: bytes, goal: bytes, screens: Screens, is_known: Callable[[str], bool]
) -> Imported | KnownRun:
    """Return a person's demonstration, with a step for each line of `record.txt`."""
    here = folder.resolve()
    app = escape_surrogates(here.parent.parent.name) if here.parent.name == "demos" else ""
    id = run_id(NAME, f"{app}/{here.name}", data)
    if is_known(id):
        return KnownRun(id, str(folder))
    text = decode_utf8(goal).strip()
    name = f"{app}: {text}"[:_MAX_TITLE] if text else escape_surrogates(here.name)
    task = Task(
        id=name, kind="general", title=name, instruction=text, log="none", apps=(app,) if app else (),
        traits={"part": "demonstration"},
    )  # fmt: skip
    by = Actor("human", "demonstrator")
    path = str(folder / "record.txt")
    draft = RunDraft(id, task, by, format=NAME, path=path, data=data, images=screens.pictures)
    stopped = False
    for number, line in enumerate((line for line in decode_utf8(data).splitlines() if line.strip()), 1):
        extra: dict[str, Any] = {}
        before, xml = screens.observation(number, extra)
        action, uid = recorded_action(line, NumberedScreen(None if xml is None else elements(xml), before.size))
        if uid:
            extra["uid"] = uid
        draft.step(action, before, by=by, extra=extra)
        stopped = action.kind == "status"
    more: dict[str, Any] = {}
    final = screens.observation(draft.count + 1, more)[0] if draft.count + 1 in screens.shots else None
    _record_lost_screen(draft, screens, more, draft.count + 1)
    if draft.count:
        draft.end("completed" if stopped else "stopped", reason="" if stopped else "no stop", final=final)
    else:
        draft.end("failed", reason="the source holds no steps", final=final)
    return draft.imported()
