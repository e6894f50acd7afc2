"""AndroidLab: folders with `traces/trace.jsonl`, `Screen/`, `xml/`, and results elsewhere.

Each line is one step. `image` and `xml` are paths on the recording machine, of which only the file name is used. A
screenshot's name contains its time in seconds. Success is computed later and stored in `results.jsonl`, in a folder of
its own (`outputs/<run>_<time>/`).

In an action (`parsed_action`) an element is a box or a point in pixels. If the model uses its own space (0 to 999, or 0
to 1), later versions store the pixels as well (`relative_element`, `origin_element`). A swipe names the finger's
direction and is as long as in the controller's `swipe`. Type presses Enter after the text.

Sources: `recorder/json_recoder.py`, `evaluation/task.py`, `generate_result.py`, and for actions `page_executor` and
`utils_mobile/and_controller.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lab.core.codec import escape_surrogates, read_json
from lab.core.errors import LabError
from lab.core.run.run_records import Imported, Verdict
from lab.core.run.step import Action, ActionKind, Direction, Observation, Point
from lab.core.run.ui_tree import UiTree
from lab.core.task.task import Actor, Task
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.draft import RunDraft, run_id
from store.formats.failures import with_failures
from store.formats.geometry import Box, as_coordinate, box, centre, direction, point
from store.formats.pictures import Pictures
from store.formats.trees import tree_in
from store.formats.values import as_str, as_text

NAME = "androidlab"
ROUNDS = 25
"""Default maximum number of steps. A run does not record its real limit."""

# Number of equal actions after which the benchmark stops a run.
_STUCK = 5
_STAMP = re.compile(r"_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d$")
_TAKEN = re.compile(r"screenshot-(?:(\d{1,6}|end)-)?(\d{9,10}(?:\.\d+)?)(?:-before|-after)?\.(?:png|jpe?g|webp)")
# Possessive and bounded quantifiers, because a model's output may be long and must not cause backtracking.
_CALL = re.compile(r"^\W{0,64}+(?:Action:\s*+)?(?:do|finish)\s*+\(", re.M)
_PLACEHOLDERS = ("", "** XML **", "** screenshot **")
_MARKS = {"parsed_action", "xml", "ac_xml", "current_activity", "target", "window"}
"""Fields of a step, at least one of which must exist beside `trace_id` and `image`, which other tracers use, too."""
_PLACED = {
    "trace_id", "index", "image", "xml", "ac_xml", "current_activity", "window", "target", "parsed_action",
    "current_response", "response",
}  # fmt: skip


class _AndroidLabRun(NamedTuple):
    """One run's lines and the paths of its files."""

    source: RunSource
    home: Path
    path: Path
    lines: list[dict[str, Any]]
    cut: bool
    task: str


@with_failures
def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield the one run of a folder."""
    yield _run(source, is_known)


def _run(source: RunSource, is_known: Callable[[str], bool]) -> Imported | KnownRun:
    inside = (source.path / "trace.jsonl").is_file()
    path = source.path / "trace.jsonl" if inside else source.path / "traces" / "trace.jsonl"
    home = source.path.resolve().parent if inside else source.path
    name = escape_surrogates(home.resolve().name)
    data = source.text(path)
    source_path = escape_surrogates(str(path))
    id = run_id(NAME, name, data)
    if is_known(id):
        return KnownRun(id, source_path)
    lines, is_cut = _lines(data, str(path))
    trace_name = as_text(lines[0].get("trace_id")) if lines else ""
    run = _AndroidLabRun(source, home, path, lines, is_cut, _STAMP.sub("", trace_name or name))
    agent = escape_surrogates(home.resolve().parent.name) or "unknown"
    pictures = Pictures(source)
    first = next(
        (picture_time for line in lines if (picture_time := _picture_time(line.get("image"))) is not None), None
    )
    draft = RunDraft(
        id,
        _task(run),
        Actor("model", agent),
        format=NAME,
        path=source_path,
        data=data,
        model=agent,
        images=pictures,
        at=_time(first),
    )
    _steps(draft, run, pictures, first)
    score = _add_verdict(draft, run)
    if run.cut:
        run.source.fallbacks.add("line", path, "the last line is cut short")
        draft.verdict("source", None, "the last line of trace.jsonl is cut short")
    _end(draft, run, score, pictures, first)
    return draft.imported()


def _lines(data: bytes, what: str) -> tuple[list[dict[str, Any]], bool]:
    """Return the steps, and True if the last line is cut off. Raise `LabError` for an earlier broken line."""
    rows = [row for row in data.splitlines() if row.strip()]
    lines: list[dict[str, Any]] = []
    for i, row in enumerate(rows):
        try:
            value, notes = read_json(row, f"{what} line {i + 1}")
        except LabError:
            if lines and i == len(rows) - 1:
                return lines, True
            raise
        if not isinstance(value, dict):
            raise LabError(f"{what} line {i + 1}", "is no step")
        lines.append({**value, "missing": notes} if notes else value)
    return lines, False


def _task(run: _AndroidLabRun) -> Task:
    target = next((goal for line in run.lines if (goal := as_text(line.get("target")))), "")
    app = run.task.partition("_")[0] if "_" in run.task else ""
    return Task(
        id=run.task,
        kind="general",
        instruction=target.strip(),
        budget=max(ROUNDS, len(run.lines)),
        apps=(app,) if app else (),
    )


def _steps(draft: RunDraft, run: _AndroidLabRun, pictures: Pictures, first: float | None) -> None:
    """Add every line as a step. `first` is the time of the first screenshot in seconds since 1970."""
    for i, line in enumerate(run.lines):
        extra = {key: value for key, value in line.items() if key not in _PLACED and value not in (None, [], {})}
        if extra.get("prompt") in (*_PLACEHOLDERS, line.get("target")):
            extra.pop("prompt", None)
        if line.get("index") not in (i, None):
            extra["index"] = line["index"]
        picture_time = _picture_time(line.get("image"))
        before = _observation(run, line, pictures, extra)
        response = as_text(line.get("current_response", line.get("response")))
        action = action_of(line.get("parsed_action"), before.size)
        draft.step(
            action,
            before,
            thought=_thought(response),
            raw=response or None,
            error=None if line.get("parsed_action") is not None else "the source holds no action",
            extra=extra,
            at=_time(picture_time),
            ms=_elapsed_ms(first, picture_time),
        )


def _observation(run: _AndroidLabRun, line: dict[str, Any], pictures: Pictures, extra: dict[str, Any]) -> Observation:
    name = _file_name(line.get("image"))
    path = run.home / "Screen" / name if name else None
    observation = pictures.add_optional(path, extra, _tree(run, line, extra))
    window = line.get("window")
    size = point(*window) if isinstance(window, list) and len(window) == 2 else None
    if observation.size is None and size is not None and min(size) > 0:
        observation = msgspec.structs.replace(observation, size=size)
    return msgspec.structs.replace(observation, activity=as_text(line.get("current_activity")))


def _tree(run: _AndroidLabRun, line: dict[str, Any], extra: dict[str, Any]) -> UiTree | None:
    """Return the screen's tree: uiautomator's, or the accessibility service's if that failed."""
    name = next((name for key in ("xml", "ac_xml") if (name := _file_name(line.get(key))) not in ("", "ERROR")), "")
    if not name:
        return None
    read = tree_in(run.source, run.home / "xml" / name, extra)
    return read.tree if read else None


def _thought(response: str) -> str:
    """Return the text before the model's call."""
    match = _CALL.search(response)
    return (response[: match.start()] if match else response).strip()


def _add_verdict(draft: RunDraft, run: _AndroidLabRun) -> float | None:
    """Add the task's line of the nearest results.jsonl as a verdict, and return its score, or None if there is none."""
    for path in _results_files(run):
        try:
            lines, _ = _lines(run.source.text(path), str(path))
        except LabError as error:
            run.source.fallbacks.add("side file", path, error.body)
            draft.verdicts.append(Verdict("source", extra={"unread": escape_surrogates(error.sentence)}))
            continue
        line = next((line for line in reversed(lines) if line.get("task_id") == run.task), None)
        if line is None:
            continue
        result = line.get("result")
        complete = result.get("complete") if isinstance(result, dict) else None
        draft.verdicts.append(Verdict("results.jsonl", complete, extra=line))
        return float(complete) if isinstance(complete, bool) else None
    return None


def _results_files(run: _AndroidLabRun) -> Iterator[Path]:
    """Yield existing results files for this run, from its folder up to the root, also in `outputs` folders."""
    if not run.home.is_relative_to(run.source.root):
        return
    name = run.home.parent.name
    for above in (run.home, *run.home.parents):
        beside = [above / "results.jsonl"]
        outputs = above / "outputs"
        if outputs.is_dir():
            own_folders = (f for f in outputs.iterdir() if f.name == name or f.name.startswith(f"{name}_"))
            # Newest first: the names of these folders end with their time.
            beside += [folder / "results.jsonl" for folder in sorted(own_folders, reverse=True)]
        yield from (path for path in beside if path.is_file())
        if above == run.source.root:
            return


def _end(draft: RunDraft, run: _AndroidLabRun, score: float | None, pictures: Pictures, first: float | None) -> None:
    shots = run.home / "Screen"
    ends = [path for path in shots.glob("screenshot-end-*") if _TAKEN.fullmatch(path.name)] if shots.is_dir() else []
    # The names sort by time.
    final = pictures.add_final(max(ends)) if ends else None
    picture_time = _picture_time(max(ends).name) if ends else None
    status, reason = _status(run.lines, run.cut)
    draft.end(
        status,
        score,
        reason,
        final=final,
        at=_time(picture_time),
        ms=_elapsed_ms(first, picture_time),
    )


def _status(lines: list[dict[str, Any]], is_cut: bool) -> tuple[Any, str]:
    if not lines:
        return "failed", "the source holds no steps"
    raw_actions = [line.get("parsed_action") for line in lines]
    if action_of(raw_actions[-1], None).kind in ("answer", "status"):
        return "completed", ""
    if is_cut:
        return "stopped", "the last line of trace.jsonl is cut short"
    if len(raw_actions) > _STUCK and all(action == raw_actions[-1] for action in raw_actions[-_STUCK:]):
        return "stopped", "stopped by the benchmark: the same action again and again"
    return ("budget", "") if len(lines) >= ROUNDS else ("stopped", "the run ends without finish")


def _picture_time(image: Any) -> float | None:
    """Return the time in a screenshot's name, in seconds since 1970, or None if it has none."""
    match = _TAKEN.fullmatch(_file_name(image))
    return float(match[2]) if match else None


def _time(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


def _elapsed_ms(first: float | None, now: float | None) -> float | None:
    """Return milliseconds since the start of the run, or None if a time is unknown."""
    return None if first is None or now is None else round((now - first) * 1000, 3)


def _file_name(path: Any) -> str:
    """Return the file name of a path from any machine, empty if it is not a valid name."""
    name = re.split(r"[/\\]", path)[-1] if isinstance(path, str) else ""
    return "" if name in (".", "..") or "\0" in name else name


def _is_run_folder(folder: Path, names: set[str], root: Path) -> bool:
    """Return True if `traces/trace.jsonl`, or trace.jsonl itself, begins like AndroidLab's."""
    path = folder / "trace.jsonl" if "trace.jsonl" in names else folder / "traces" / "trace.jsonl"
    try:
        if not path.is_file():
            return False
        candidate = CandidateFile(path, root)
        step = candidate.value
    except (LabError, OSError):
        return False
    if not isinstance(step, dict) or "trace_id" not in step:
        return False
    return "index" in step if candidate.is_cut else "image" in step and bool(_MARKS & step.keys())


def _without_log(folder: Path, names: set[str], root: Path) -> str:
    """Return why a folder with AndroidLab's screens and trees is not a run, or empty for other folders."""
    has_screens = (folder / "Screen").is_dir() and (folder / "xml").is_dir()
    return "screens and trees, and no traces/trace.jsonl" if has_screens and "trace.jsonl" not in names else ""


ANDROIDLAB = Format(
    name=NAME,
    title="AndroidLab",
    is_run_folder=_is_run_folder,
    is_file=lambda candidate: False,
    read=read,
    is_without_log=_without_log,
)


_KINDS: dict[str, ActionKind] = {
    "tap": "click", "click": "click", "type": "input_text", "swipe": "swipe", "long press": "long_press",
    "double tap": "double_tap", "press enter": "keyboard_enter", "enter": "keyboard_enter",
    "press home": "navigate_home", "home": "navigate_home", "press back": "navigate_back", "back": "navigate_back",
    "wait": "wait", "launch": "open_app",
}  # fmt: skip
_PIXELS = ("relative_element", "origin_element")
_REACH = {"long": 3, "medium": 2}
_STEP: dict[Direction, Point] = {"up": (0, -2), "down": (0, 2), "left": (-1, 0), "right": (1, 0)}
"""Movement of a swipe in tenths of the screen's width, before its reach."""


def action_of(raw: Any, size: Point | None) -> Action:
    """Return a parsed action as hitlab's. `size` is the screen's."""
    if not isinstance(raw, dict):
        return Action("other", raw=raw)
    name = as_str(raw.get("action") or raw.get("type")) or ""
    kwargs = raw.get("kwargs")
    args: dict[str, Any] = kwargs if isinstance(kwargs, dict) else {}
    if "finish" in (name.lower(), raw.get("operation")):
        message = as_str(args.get("message", raw.get("input")))
        if message:
            return Action("answer", text=message, raw=raw)
        return Action("status", status="complete", raw=raw)
    kind = _KINDS.get(name.strip().lower().replace("_", " "), "other")
    target, at, space = _target(args, size)
    way = direction(args.get("direction")) if kind == "swipe" else None
    vector = _vector(way, args.get("dist", "medium"), size) if way else None
    if kind == "swipe" and at is None and size:
        at = size[0] // 2, size[1] // 2
    return Action(
        kind=kind,
        at=at,
        to=(at[0] + vector[0], at[1] + vector[1]) if at and vector else None,
        text=as_str(args.get("text") or args.get("instruction")) if kind in ("input_text", "other") else None,
        direction=way,
        vector=vector,
        app=as_str(args.get("app") or args.get("package")) if kind == "open_app" else None,
        raw=raw,
        space=space,
        boxes=(target,) if target and kind != "swipe" else (),
    )


def _target(args: dict[str, Any], size: Point | None) -> tuple[Box | None, Point | None, str | None]:
    """Return the box, the point, and the space in which the model wrote them."""
    element = args.get("element")
    pixels = next((args[name] for name in _PIXELS if isinstance(args.get(name), list)), None)
    place = element if isinstance(element, list) else pixels
    if place is None or len(place) not in (2, 4):
        return None, None, None
    small = all((amount := as_coordinate(value)) is not None and 0 <= amount <= 1 for value in place)
    whole = 1.0 if small and pixels is None else None
    use = place if pixels is None or len(pixels) != len(place) else pixels
    space = "0-1" if small else "0-1000" if pixels is not None and pixels != place else None
    if len(use) == 2:
        return None, point(use[0], use[1], size, whole), space or "px"
    target = box(use, size, whole)
    return target, centre(target) if target else None, space or "box"


def _vector(way: Direction, dist: Any, size: Point | None) -> Point | None:
    """Return the finger's movement: a tenth of the width, twice that vertically, times the reach."""
    if size is None:
        return None
    unit = size[0] // 10
    if isinstance(dist, str):
        unit *= _REACH.get(dist, 1)
    elif isinstance(dist, int) and abs(dist) < 100_000:
        unit = dist
    return _STEP[way][0] * unit, _STEP[way][1] * unit
