"""AITZ (Android in the Zoo, CoAT): demonstrations as JSON lists of steps, `<SUBSET>-<episode_id>/<same>.json`.

Screenshots are `<same>_<step>.png` beside it. A file may hold the steps of several episodes. A step's description
(`coat_action_desc`) becomes its instruction. All `coat_` fields except the thought are also stored unchanged.
An action's coordinates are shares of the screen, y first, and -1 for none. AgentCPM-GUI's data of the same shape adds
the action types 0, 1 and 12.

Source: IMNearth/CoAT, for actions its `coat/action_utils.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lab.core.codec import escape_surrogates, read_json
from lab.core.errors import LabError
from lab.core.run.run_records import Imported
from lab.core.run.step import Action, Direction, Point
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.task.task import Task
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.demonstrations import ANNOTATOR, ImageFinder, demonstration_end, episode_bytes
from store.formats.draft import RunDraft, run_id
from store.formats.geometry import as_coordinate, point, vector_between
from store.formats.pictures import Pictures
from store.formats.values import Notes, notes_below, numbers, remaining_fields, words

SPACE = "0-1"
RAW = ("result_action_type", "result_action_text", "result_touch_yx", "result_lift_yx", "result_action_app_name")
"""Fields of a step that spell its action."""

_MAX_TAP = 0.04
"""Maximum movement of a tap, as a share of the screen."""
_STEEP = 0.9
"""Ratio of vertical to horizontal movement from which on a swipe counts as up or down."""
_NAMED = {
    "LONG_POINT": 0, "NO_ACTION": 1, "TYPE": 3, "DUAL_POINT": 4, "PRESS_BACK": 5, "PRESS_HOME": 6, "PRESS_ENTER": 7,
    "STATUS_TASK_COMPLETE": 10, "STATUS_TASK_IMPOSSIBLE": 11, "OPEN_APP": 12,
}  # fmt: skip


def action_of(step: dict[str, Any], size: Point | None) -> Action:
    """Return a step's action. Unknown types become `other`.

    `size` is the screenshot's. Without it positions are None.
    """
    raw = {key: step[key] for key in RAW if key in step}
    text = words(step.get("result_action_text"))
    match _action_type(step.get("result_action_type")):
        case 0:
            return Action("long_press", at=_pixel(step.get("result_touch_yx"), size), raw=raw, space=SPACE)
        case 1:
            return Action("wait", raw=raw, space=SPACE)
        case 3:
            return Action("input_text", text=text, raw=raw, space=SPACE)
        case 4:
            return _gesture(step, size, raw)
        case 5:
            return Action("navigate_back", raw=raw, space=SPACE)
        case 6:
            return Action("navigate_home", raw=raw, space=SPACE)
        case 7:
            return Action("keyboard_enter", raw=raw, space=SPACE)
        case 10:
            return Action("status", status="complete", text=text or None, raw=raw, space=SPACE)
        case 11:
            return Action("status", status="infeasible", text=text or None, raw=raw, space=SPACE)
        case 12:
            return Action("open_app", app=words(step.get("result_action_app_name")) or None, raw=raw, space=SPACE)
    return Action("other", text=text or None, raw=raw, space=SPACE)


def _action_type(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().upper() in _NAMED:
        return _NAMED[value.strip().upper()]
    amount = as_coordinate(value)
    return int(amount) if amount is not None and amount == int(amount) else None


def _gesture(step: dict[str, Any], size: Point | None, raw: dict[str, Any]) -> Action:
    """Return a tap if the finger hardly moved, else a swipe with its vector."""
    touch, lift = _relative_position(step.get("result_touch_yx")), _relative_position(step.get("result_lift_yx"))
    if touch is None:
        return Action("other", raw=raw, space=SPACE)
    at = point(touch[1], touch[0], size, 1)
    if lift is None or math.dist(touch, lift) <= _MAX_TAP:
        return Action("click", at=at, raw=raw, space=SPACE)
    to = point(lift[1], lift[0], size, 1)
    return Action(
        "swipe",
        at=at,
        to=to,
        direction=_main_direction(lift[1] - touch[1], lift[0] - touch[0]),
        vector=vector_between(at, to),
        raw=raw,
        space=SPACE,
    )


def _main_direction(across: float, down: float) -> Direction:
    if abs(down) >= _STEEP * abs(across):
        return "up" if down < 0 else "down"
    return "left" if across < 0 else "right"


def _relative_position(value: Any) -> tuple[float, float] | None:
    """Return a position as y and x, or None if it is missing (-1, -1 in the source) or invalid."""
    shares = [as_coordinate(coordinate) for coordinate in numbers(value)]
    if len(shares) != 2 or shares[0] is None or shares[1] is None or shares == [-1, -1]:
        return None
    return shares[0], shares[1]


def _pixel(value: Any, size: Point | None) -> Point | None:
    share = _relative_position(value)
    return point(share[1], share[0], size, 1) if share else None


def tree_of(step: dict[str, Any], size: Point | None) -> UiTree | None:
    """Return the elements detected on the screenshot, with text and type, or None if there are none.

    A box is y, x, height and width: in pixels, or in shares of the screen if none is above 1.
    """
    boxes = [numbers(box) for box in numbers(step.get("ui_positions"))]
    texts, types = numbers(step.get("ui_text")), numbers(step.get("ui_types"))
    shares = all((as_coordinate(part) or 0) <= 1 for box in boxes for part in box)
    nodes = []
    for i, box in enumerate(boxes):
        bounds = _bounds(box, size, 1 if shares else None)
        if bounds is not None:
            text = words(texts[i]) if i < len(texts) else ""
            cls = words(types[i]) if i < len(types) else ""
            nodes.append(Node(bounds, text=text, cls=cls))
    return UiTree(tuple(nodes)) if nodes else None


def _bounds(box: list[Any], size: Point | None, whole: float | None) -> Bounds | None:
    if len(box) != 4:
        return None
    start, extent = point(box[1], box[0], size, whole), point(box[3], box[2], size, whole)
    if start is None or extent is None or min(extent) < 0:
        return None
    return Bounds(*start, start[0] + extent[0], start[1] + extent[1])


NAME = "aitz"
_PLACED = {
    *RAW, "episode_id", "episode_length", "instruction", "step_id", "image_path", "image_full_path",
    "coat_action_think", "ui_positions", "ui_text", "ui_types", "image_width", "image_height", "low_instruction",
}  # fmt: skip
_MARKS = ("result_action_type", "result_touch_yx")
_SUBSETS = ("GENERAL", "INSTALL", "GOOGLE_APPS", "SINGLE", "WEB_SHOPPING")


class _EpisodeFile(NamedTuple):
    """A file being read."""

    found: RunSource
    notes: Notes
    shots: ImageFinder
    pictures: Pictures


def read(run_source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield every episode of a file in order of first appearance."""
    path = str(run_source.path)
    try:
        value, notes = read_json(run_source.text(run_source.path), path)
        if not isinstance(value, list):
            raise LabError(path, "holds no list of steps")
        episodes = _episode_places(value, path)
    except LabError as error:
        yield FailedRun(path, error.sentence)
        return
    shots = ImageFinder(run_source.root, run_source.path.parent)
    for key, places in episodes.items():
        source = _EpisodeFile(run_source, notes, shots, Pictures(run_source))
        yield _run(source, key, [(i, value[i]) for i in places], is_known)


def _episode_places(steps: list[Any], path: str) -> dict[str, list[int]]:
    """Return the indices of each episode's steps, sorted by the episode's own step numbers."""
    places: dict[str, list[int]] = {}
    for i, step in enumerate(steps):
        if not isinstance(step, dict):
            raise LabError(path, f"field [{i}]: is no step")
        places.setdefault(words(step.get("episode_id")), []).append(i)
    for step_places in places.values():
        step_places.sort(key=lambda i: (as_coordinate(steps[i].get("step_id")) or 0, i))
    return places


def _run(
    source: _EpisodeFile, key: str, steps: list[tuple[int, dict[str, Any]]], is_known: Callable[[str], bool]
) -> Imported | KnownRun:
    data = episode_bytes([step for _, step in steps])
    id = run_id(NAME, key, data)
    path = escape_surrogates(str(source.found.path))
    if is_known(id):
        return KnownRun(id, path)
    stated_length = as_coordinate(steps[0][1].get("episode_length"))
    length = int(stated_length) if stated_length and stated_length > 0 else None
    task = _task(source.found, key, steps[0][1], length)
    draft = RunDraft(id, task, ANNOTATOR, format=NAME, path=path, data=data, images=source.pictures)
    actions = [_step(source, draft, place, step) for place, step in steps]
    end = demonstration_end(actions, length)
    draft.end(end.status, reason=end.reason)
    return draft.imported()


def _task(source: RunSource, key: str, step: dict[str, Any], length: int | None) -> Task:
    subset = _subset(source, step)
    return Task(
        id=key or escape_surrogates(source.path.stem),
        kind="general",
        log="none",
        instruction=words(step.get("instruction")),
        golden_steps=length,
        traits={"platform": "android", **({"subset": subset} if subset else {})},
    )


def _step(source: _EpisodeFile, draft: RunDraft, place: int, step: dict[str, Any]) -> Action:
    extra = remaining_fields(step, _PLACED)
    if step.get("step_id") is not None and as_coordinate(step["step_id"]) != draft.count:
        extra["step_id"] = step["step_id"]
    if changes := notes_below(source.notes, f"[{place}]."):
        extra["missing"] = changes
    observation = source.pictures.add_optional(_find_screenshot(source, step, extra), extra)
    size = observation.size or _stated_size(step)
    tree = tree_of(step, size)
    if tree is None:
        extra.update({key: step[key] for key in ("ui_positions", "ui_text", "ui_types") if step.get(key)})
    action = action_of(step, size)
    draft.step(
        action,
        msgspec.structs.replace(observation, size=size, tree=tree),
        thought=words(step.get("coat_action_think")),
        instruction=words(step.get("coat_action_desc")) or words(step.get("low_instruction")),
        extra=extra,
    )
    return action


def _find_screenshot(source: _EpisodeFile, step: dict[str, Any], extra: dict[str, Any]) -> Path | None:
    """Return the screenshot: at its stated paths, under their names beside the file, or named after file and step."""
    path, notes = source.found.path, dict[str, Any]()
    own = f"{path.stem}_{words(step.get('step_id'))}.png"
    for stated_path in (step.get("image_path"), step.get("image_full_path"), own):
        if shot := source.shots.find(stated_path, notes, near=(".",)):
            return shot
    extra.update(notes)
    return None


def _stated_size(step: dict[str, Any]) -> Point | None:
    across, down = as_coordinate(step.get("image_width")), as_coordinate(step.get("image_height"))
    return (int(across), int(down)) if across and down else None


def _subset(source: RunSource, step: dict[str, Any]) -> str:
    """Return the subset of AITW, as the source names it or as found in its paths."""
    if subset_words := words(step.get("subset")):
        return subset_words
    path_names = f"{source.path.stem} {words(step.get('image_path'))}".upper()
    return next((subset for subset in _SUBSETS if subset in path_names), "")


def _is_file(candidate: CandidateFile) -> bool:
    if not candidate.is_json or not all(b'"%b"' % mark.encode() in candidate.opening for mark in _MARKS):
        return False
    enough = any if candidate.is_cut else all
    return isinstance(candidate.value, list) and any(
        enough(mark in step for mark in _MARKS) for step in candidate.items
    )


AITZ = Format(
    name=NAME,
    title="AITZ (Android in the Zoo)",
    is_run_folder=lambda folder, names, root: False,
    is_file=_is_file,
    read=read,
)
