"""Dumps of agents that call the `mobile_use` tool: a folder per task with `action.jsonl` and `screenshot_<i>.png`.

A line is a tool call, or a mapping around one with the model's output, tokens and goal. `screenshot_<i>` is the screen
before action i, from 0. Screenshots numbered beyond the actions are dropped: most are an earlier run's, and nothing
identifies one that shows the screen after the last action. Without a goal in the lines, the goal is the folder's name,
which the dump cuts to 50 characters.

The tool's actions (Qwen's, MAI-UI's, GUI-Owl's) have coordinates from 0 to 1000 over the picture, unless a run's own
numbers show otherwise. A swipe names the finger's direction, a scroll the content's.

Source: forks of google-research/android_world whose agents write it (FORMATS 1.3).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from lab.core.codec import escape_surrogates, read_json
from lab.core.errors import LabError
from lab.core.run.run_records import Imported
from lab.core.run.step import Action, ActionKind, Observation, Point, Usage
from lab.core.run.ui_tree import Bounds
from lab.core.task.task import Actor, Task
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.androidworld import actions
from store.formats.androidworld.answers import usage_of
from store.formats.draft import RunDraft, run_id
from store.formats.failures import with_failures
from store.formats.files import PICTURE, SNIFFED, files_by_number
from store.formats.geometry import (
    Box,
    as_coordinate,
    box,
    centre,
    direction,
    main_direction,
    point,
    swipe_vector,
    vector_between,
)
from store.formats.json_parts import first_value, is_list
from store.formats.model_answers import answer_text
from store.formats.pictures import Pictures
from store.formats.values import Notes, as_text, decode_utf8, notes_below

NAME = "mobile_use"
_FILE = "action.jsonl"
_SHOT = re.compile(rf"\Ascreenshot_(\d{{1,6}})\.{PICTURE}\Z", re.I)
_BOX = re.compile(r"bbox_pixels=BoundingBox\(x_min=(-?[\d.]+), x_max=(-?[\d.]+), y_min=(-?[\d.]+), y_max=(-?[\d.]+)\)")
_MOST_LINES = 100_000
_SNIFFED_LINES = 5
"""Lines read to recognize a file."""
_MOST_PROMPT = 16 * 1024**2
_THOUGHTS = ("thinking", "thought", "cot", "conclusion", "explain", "summary")
_REPLIES = ("ask_user_response", "user_response", "reply")
_CALLS = ("tool_call", "function_call", "action")
_PROMPTS = ("system_prompt", "prompt")
_TOUCH_FIELDS = ("action_dict", "parsed_action", "executed_action")
"""Fields of a line that may have the touched pixel, as `x` and `y`."""
_RESOLUTION = re.compile(r"resolution is (\d{2,5})\s*[x*×]\s*(\d{2,5})")
_USED = {"name", "arguments", "goal", "response", *_CALLS}


class _CallLine(NamedTuple):
    """One line: the call's arguments, the raw call, all fields, and changes made by the tolerant reader."""

    call: dict[str, Any]
    raw: Any
    fields: dict[str, Any]
    notes: Notes


class _Frame(NamedTuple):
    """Space of a run's coordinates, and the screen size that the prompt stated."""

    space: Space
    told: Point | None = None


@with_failures
def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield the run of a folder."""
    yield _read_run(source, is_known)


def _read_run(source: RunSource, is_known: Callable[[str], bool]) -> Imported | KnownRun:
    path = source.path / _FILE
    data = source.text(path)
    name = escape_surrogates(source.path.resolve().name) or "unknown"
    id = run_id(NAME, name, data)
    source_path = escape_surrogates(str(path))
    if is_known(id):
        return KnownRun(
            id,
            source_path,
            pictures=lambda: _picture_hashes(source, data),
            read_as=lambda other: _build_run(source, other, name, data),
        )
    return _build_run(source, id, name, data)


def _picture_hashes(source: RunSource, data: bytes) -> tuple[str | None, ...]:
    """Return the sha256 of each step's picture, or None for missing or truncated ones."""
    shots = files_by_number(source.path, _SHOT)
    return Pictures(source).complete_hashes(shots.get(i) for i in range(len(_read_lines(data, _FILE))))


def _build_run(source: RunSource, id: str, name: str, data: bytes) -> Imported:
    folder = source.path
    path = folder / _FILE
    lines = _read_lines(data, str(path))
    models = Counter(model for line in lines if (model := as_text(_raw_response(line).get("model"))))
    model = models.most_common(1)[0][0] if models else ""
    shots = files_by_number(folder, _SHOT)
    goal = next((goal for line in lines if (goal := as_text(line.fields.get("goal")))), name.replace("_", " "))
    draft = RunDraft(
        id,
        Task(id=name, kind="general", instruction=goal),
        Actor("model", model or NAME),
        format=NAME,
        path=escape_surrogates(str(path)),
        data=data,
        model=model,
        images=(pictures := Pictures(source)),
    )
    frame = _detect_frame(lines, source)
    for i, line in enumerate(lines):
        _step(draft, line, pictures, shots.get(i), frame, source, folder / f"prompt_{i}.txt")
    late = [path.name for i, path in sorted(shots.items()) if i >= len(lines)]
    if late:
        draft.verdict("source", screenshots_left_out=[escape_surrogates(name) for name in late])
    _end(draft, action_of(lines[-1].call, None, frame.space) if lines else None, lines)
    return draft.imported()


def _step(
    draft: RunDraft,
    line: _CallLine,
    pictures: Pictures,
    shot: Path | None,
    frame: _Frame,
    source: RunSource,
    prompt: Path,
) -> None:
    extra = {key: value for key, value in line.fields.items() if key not in _USED and value is not None}
    if line.notes:
        extra["missing"] = notes_below(line.notes)
    before = pictures.add_optional(shot, extra)
    if activity := as_text(line.fields.get("start_page_activity")):
        before = msgspec.structs.replace(before, activity=activity)
    action = _action(line, before, frame, lambda index: _element_box(source, prompt, index))
    question, reply = None, None
    if action.kind == "ask_user":
        replies = (line.fields.get(key, line.call.get(key)) for key in _REPLIES)
        question, reply = draft.ask(action.text or "", next((text for text in replies if isinstance(text, str)), None))
    response = line.fields.get("response")
    draft.step(
        action,
        before,
        thought=_thought(line),
        raw=answer_text(response),
        usage=_usage(line),
        question=question,
        reply=reply,
        extra=extra,
    )


def _detect_frame(lines: list[_CallLine], source: RunSource) -> _Frame:
    """Return the frame of a run's coordinates, as its prompt states, else as touched pixels or the numbers suggest."""
    prompt = source.path / "prompt_0.txt"
    texts = [line.fields.get(name) for line in lines[:1] for name in _PROMPTS]
    for text in (*texts, _read_prompt(source, prompt)):
        if isinstance(text, str) and (match := _RESOLUTION.search(text)):
            size = int(match[1]), int(match[2])
            return _Frame("px", size) if max(size) > 1000 else _Frame("0-1000")
    point_pairs = [pair for line in lines if (pair := _touched_points(line)) is not None]
    # One pixel of difference comes from rounding.
    if point_pairs and all(abs(stated_point[i] - at[i]) <= 1 for stated_point, at in point_pairs for i in (0, 1)):
        return _Frame("px")
    return _Frame(space_of(line.call for line in lines))


def _touched_points(line: _CallLine) -> tuple[Point, Point] | None:
    """Return the point in a line's call, and the pixel that the line records as touched, or None without both."""
    coordinate = line.call.get("coordinate")
    for field in _TOUCH_FIELDS:
        touch = line.fields.get(field)
        if not isinstance(touch, dict) or not isinstance(coordinate, list) or len(coordinate) != 2:
            continue
        call_point, at = point(*coordinate), point(touch.get("x"), touch.get("y"))
        if call_point is not None and at is not None:
            return call_point, at
    return None


def _action(line: _CallLine, before: Observation, frame: _Frame, boxes: Callable[[int], Bounds | None]) -> Action:
    if "action_type" in line.call:
        action = actions.action_of(line.call, before.size, 1, boxes)
        return msgspec.structs.replace(action, raw=line.raw)
    if "action" in line.call:
        return action_of(scaled_call(line.call, frame.told, before.size), before.size, frame.space, line.raw)
    return Action("other", raw=line.raw)


def _read_lines(data: bytes, what: str) -> list[_CallLine]:
    """Return the non-empty lines. An invalid one becomes a line without a call, with its text."""
    if is_list(data):
        value, notes = read_json(data, what)
        return [_parse_line(item, notes if i == 0 else []) for i, item in enumerate(value)]
    numbered_lines = [
        (i, line) for i, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1) if line.strip()
    ]
    if len(numbered_lines) > _MOST_LINES:
        raise LabError(what, f"holds {len(numbered_lines):,} lines, more than the {_MOST_LINES:,} that are read")
    lines: list[_CallLine] = []
    wrong: LabError | None = None
    for i, text in numbered_lines:
        try:
            lines.append(_parse_line(*read_json(text, f"{what}, line {i}")))
        except LabError as error:
            wrong = wrong or error
            lines.append(_CallLine({}, decode_utf8(text, what), {}, []))
    if wrong and not any(line.call for line in lines):
        raise wrong
    return lines


def _parse_line(value: Any, notes: Notes) -> _CallLine:
    fields = value if isinstance(value, dict) else {}
    around = next((fields[name] for name in _CALLS if isinstance(fields.get(name), dict)), None)
    raw = value if around is None else around
    call = raw.get("arguments", raw) if isinstance(raw, dict) else raw
    if isinstance(call, str):
        try:
            call = read_json(call.encode(), "arguments").value
        except (LabError, UnicodeError):
            call = {}
    call = _with_action_name(call if isinstance(call, dict) else {}, raw)
    if around is None and "arguments" not in fields:
        return _CallLine(call, raw, {}, notes)
    return _CallLine(call, raw, fields, notes)


def _with_action_name(call: dict[str, Any], raw: Any) -> dict[str, Any]:
    """Return a call's arguments with its action, even if that is the call's own name: `{"name": "long_press", ...}`."""
    name = as_text(raw.get("name")) if isinstance(raw, dict) else ""
    if not name or name == NAME or "action" in call or "action_type" in call:
        return call
    return {"action": name, **{key: value for key, value in call.items() if key != "name"}}


def _thought(line: _CallLine) -> str:
    parsed_action = line.fields.get("parsed_action")
    for place in (parsed_action if isinstance(parsed_action, dict) else {}, line.fields, line.call):
        for name in _THOUGHTS if place is not line.call else ("thought", "explain"):
            if text := as_text(place.get(name)):
                return text
    return ""


def _raw_response(line: _CallLine) -> dict[str, Any]:
    """Return the model's whole HTTP response if a line has it, else an empty mapping."""
    answer = line.fields.get("raw_response")
    return answer if isinstance(answer, dict) else {}


def _usage(line: _CallLine) -> Usage | None:
    usage, seconds = usage_of(_raw_response(line)), as_coordinate(line.fields.get("latency_sec"))
    if seconds is None or seconds < 0:
        return usage
    return msgspec.structs.replace(usage or Usage(), seconds=seconds)


def _element_box(source: RunSource, prompt: Path, index: int) -> Bounds | None:
    """Return the box of an element by index, from the list in the step's own prompt."""
    lines = _read_prompt(source, prompt).splitlines()
    line = next((line for line in lines if line.startswith(f"UI element {index}:")), "")
    if not (match := _BOX.search(line)):
        return None
    sides = [as_coordinate(side) for side in match.groups()]
    if None in sides:
        return None
    left, right, top, bottom = (round(side or 0) for side in sides)
    return Bounds(left, top, right, bottom)


def _read_prompt(source: RunSource, path: Path) -> str:
    """Return the prompt of a step, empty if it is not recorded."""
    return decode_utf8(source.side_text(path, most=_MOST_PROMPT) or b"", str(path))


def _end(draft: RunDraft, last: Action | None, lines: list[_CallLine]) -> None:
    if last is None:
        draft.end("failed", reason="the source holds no steps")
        return
    if "action_type" in lines[-1].call:
        last = actions.action_of(lines[-1].call, None)
    if last.kind in ("status", "answer"):
        draft.end("completed", reason=last.text or "the source holds no result")
    else:
        draft.end("stopped", reason="the source holds no result")


def _is_run_folder(folder: Path, names: set[str], root: Path) -> bool:
    """Return True if the first lines of `action.jsonl` call the tool, or name an action beside screenshots."""
    if _FILE not in names:
        return False
    candidate = CandidateFile(folder / _FILE, root)
    try:
        opening = candidate.opening
    except LabError:
        return True
    has_shots = any(_SHOT.match(name) for name in names)
    ends = len(opening) < SNIFFED
    firsts = [first_value(text) for text in opening.split(b"\n")[:_SNIFFED_LINES]]
    values = [(item, candidate.is_cut) for item in candidate.items] if is_list(opening) else firsts
    if has_shots and not any(value for value, is_cut in values if not (is_cut and ends)):
        return True  # no line is complete: the file is empty or damaged
    return any(_is_call(_parse_line(value, []), has_shots) for value, _ in values)


def _is_call(line: _CallLine, has_shots: bool) -> bool:
    """Return True if a line calls the tool by name, or names a known action as only an agent's log would."""
    if isinstance(line.raw, dict) and line.raw.get("name") == NAME:
        return True
    by_agent = has_shots or bool(line.fields) or "action_type" in line.call or "coordinate" in line.call
    return by_agent and _action(line, Observation(), _Frame("px"), lambda _: None).kind != "other"


def _without_log(folder: Path, names: set[str], root: Path) -> str:
    """Return why a folder with the dump's screens is not a run, or empty for other folders."""
    shots = sum(_SHOT.match(name) is not None for name in names)
    return f"{shots} screens, and no {_FILE}" if shots and _FILE not in names else ""


MOBILE_USE = Format(
    name=NAME,
    title="mobile_use dumps",
    is_run_folder=_is_run_folder,
    is_file=lambda candidate: False,
    read=read,
    is_without_log=_without_log,
)


Space = Literal["0-1000", "0-1", "px"]
_WHOLE: dict[str, float | None] = {"0-1000": 1000, "0-1": 1, "px": None}

_KINDS: dict[str, ActionKind] = {
    "open": "open_app",
    "open_app": "open_app",
    "launch": "open_app",
    "click": "click",
    "tap": "click",
    "left_click": "click",
    "double_click": "double_tap",
    "double_tap": "double_tap",
    "left_double": "double_tap",
    "long_press": "long_press",
    "long_click": "long_press",
    "type": "input_text",
    "input_text": "input_text",
    "swipe": "swipe",
    "scroll": "scroll",
    "drag": "drag",
    "wait": "wait",
    "answer": "answer",
    "interact": "ask_user",
    "ask_user": "ask_user",
    "call_user": "ask_user",
    "terminate": "status",
    "status": "status",
    "complete": "status",
    "finished": "status",
    "finish": "status",
    "done": "status",
    "fail": "status",
    "infeasible": "status",
    "press_home": "navigate_home",
    "navigate_home": "navigate_home",
    "press_back": "navigate_back",
    "navigate_back": "navigate_back",
    "keyboard_enter": "keyboard_enter",
}
_BUTTONS: dict[str, ActionKind] = {
    "back": "navigate_back",
    "home": "navigate_home",
    "enter": "keyboard_enter",
    "recent": "press_recent",
    "recents": "press_recent",
    "app_switch": "press_recent",
}
_FAILED = frozenset({"fail", "failed", "failure", "infeasible", "impossible"})
_PLACES = ("coordinate", "start_coordinate", "point", "start")
_ENDS = ("coordinate2", "end_coordinate", "end")
_APPS = ("app_name", "app", "package")
_TEXTS = ("text", "value", "content", "message", "summary", "question")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def space_of(calls: Iterable[dict[str, Any]]) -> Space:
    """Return the space of a run's coordinates: pixels if any exceeds 1000, shares if they are fractions up to 1."""
    numbers = [n for call in calls for name in (*_PLACES, *_ENDS) for n in _coordinates(call.get(name))]
    if any(n > 1000 for n in numbers):
        return "px"
    return "0-1" if any(n % 1 for n in numbers) and all(n <= 1 for n in numbers) else "0-1000"


def action_of(call: dict[str, Any], size: Point | None, space: Space, raw: Any = None) -> Action:
    """Return a call's arguments as an action. Unknown ones become `other`. `raw` is stored with it."""
    name = str(call.get("action", "")).strip().lower().replace(" ", "_")
    kind = _KINDS.get(name, "other")
    if name in ("system_button", "key"):
        button = str(call.get("button") or call.get("text") or "").strip().lower().removeprefix("keycode_")
        kind = _BUTTONS.get(button.replace(" ", "_"), "other")
    start, target = _locate(call, _PLACES, size, space)
    end, _ = _locate(call, _ENDS, size, space)
    way = direction(call.get("direction"))
    vector = vector_between(start, end)
    vector = vector or swipe_vector(kind, way, size)
    if kind == "swipe" and way is None and vector is not None:
        way = main_direction(vector)
    text = next((str(call[key]) for key in _TEXTS if isinstance(call.get(key), str | int | float)), None)
    if name == "system_button" and kind == "other" and call.get("button"):
        text = str(call["button"])
    return Action(
        kind=kind,
        at=start,
        to=end,
        text=None if kind == "open_app" else text,
        direction=way,
        vector=vector,
        app=text or next((as_text(call.get(key)) for key in _APPS if call.get(key)), None)
        if kind == "open_app"
        else None,
        status=_status(name, call.get("status")) if kind == "status" else None,
        ms=_milliseconds(call.get("time", call.get("duration"))) if kind in ("wait", "long_press") else None,
        raw=call if raw is None else raw,
        space=space if any(_coordinates(call.get(key)) for key in (*_PLACES, *_ENDS)) else None,
        boxes=(target,) if target else (),
    )


def scaled_call(call: dict[str, Any], stated_point: Point | None, size: Point | None) -> dict[str, Any]:
    """Return a call with coordinates converted to the picture's pixels, if they refer to a screen of another size."""
    if stated_point is None or size is None or stated_point == size:
        return call
    shares = size[0] / stated_point[0], size[1] / stated_point[1]
    return {
        key: [n * shares[i % 2] for i, n in enumerate(numbers)]
        if key in (*_PLACES, *_ENDS) and (numbers := _coordinates(value))
        else value
        for key, value in call.items()
    }


def _status(name: str, status: Any) -> Literal["complete", "infeasible"]:
    first = status[0] if isinstance(status, list) and status else status
    return "infeasible" if {name, str(first).strip().lower()} & _FAILED else "complete"


def _milliseconds(seconds: Any) -> int | None:
    amount = as_coordinate(seconds)
    return None if amount is None or not 0 <= amount <= 2**20 else round(amount * 1000)


def _coordinates(value: Any) -> list[float]:
    """Return the coordinates in a list, or in text such as `(500, 300)`."""
    parts = _NUMBER.findall(value[:200]) if isinstance(value, str) else value if isinstance(value, list) else []
    amounts = [as_coordinate(part) for part in parts]
    return [n for n in amounts if n is not None] if len(parts) in (2, 4) and None not in amounts else []


def _locate(
    call: dict[str, Any], names: tuple[str, ...], size: Point | None, space: Space
) -> tuple[Point | None, Box | None]:
    """Return the pixel that a call names, and its box if it names one."""
    whole = _WHOLE[space]
    for name in names:
        numbers = _coordinates(call.get(name))
        if len(numbers) == 2:
            return point(numbers[0], numbers[1], size, whole), None
        if len(numbers) == 4 and (target := box(numbers, size, whole)):
            return centre(target), target
    return None, None
