"""GUI-Odyssey: demonstrations across apps, `annotations/<id>.json`, with `screenshots/` beside that folder.

Screenshots may be in the dataset's original parts (`screenshots/data_<n>/`) or in a folder per episode. A file may also
hold a list of episodes.

An action's coordinates range from 0 to 1000 over the screenshot. Depending on the action, `info` is a list of points,
the name of a key, or a text. Older annotations spell some of it differently.

Source: OpenGVLab/GUI-Odyssey, both releases: `introduction.md`, `data/format_converter.py` and `src/eval_mm`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import msgspec

from lab.core.codec import StorableValue, escape_surrogates, read_json
from lab.core.errors import LabError
from lab.core.run.run_records import Imported
from lab.core.run.step import Action, ActionKind, Point
from lab.core.run.trace import DeviceInfo
from lab.core.task.task import Task
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.demonstrations import ANNOTATOR, ImageFinder, demonstration_end, episode_bytes
from store.formats.draft import RunDraft, run_id
from store.formats.geometry import (
    Box,
    as_coordinate,
    box,
    direction,
    finger_vector,
    main_direction,
    point,
    vector_between,
)
from store.formats.json_parts import is_list, list_items
from store.formats.pictures import Pictures
from store.formats.values import Notes, as_mappings, names_of, notes_below, numbers, remaining_fields, words

NAME = "odyssey"
_PARTS = 12
"""Maximum number of the dataset's parts of screenshots, `data_0` and following."""
_PLACED = ("step", "screenshot", "action", "info", "sam2_bbox", "low_level_instruction", "intention")


class _EpisodeSource(NamedTuple):
    """One episode being read. `place` is its path in the file."""

    found: RunSource
    episode: dict[str, Any]
    place: str
    notes: Notes
    shots: ImageFinder
    pictures: Pictures

    def part(self, name: str) -> dict[str, Any]:
        fields = self.episode.get(name)
        return fields if isinstance(fields, dict) else {}

    @property
    def size(self) -> Point | None:
        """Screen size in pixels as the source states it."""
        across, down = (
            as_coordinate(self.part("device_info").get("w")),
            as_coordinate(self.part("device_info").get("h")),
        )
        return (int(across), int(down)) if across and down and min(across, down) >= 1 else None


def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield the episodes of a file."""
    path = str(source.path)
    shots = ImageFinder(source.root, source.path.parent)
    try:
        for place, episode in _read_episodes(source):
            try:
                yield _read_episode(source, place, episode, shots, is_known)
            except LabError as error:
                yield FailedRun(f"{path}{'#' if place else ''}{place.strip('[]')}", error.sentence)
    except LabError as error:
        yield FailedRun(path, error.sentence)


def _read_episodes(source: RunSource) -> Iterator[tuple[str, StorableValue | LabError]]:
    """Yield a file's episodes with their paths, decoded one by one if the file is a list."""
    data = source.text(source.path)
    if is_list(data):
        yield from ((f"[{i}]", item) for i, item in enumerate(list_items(data, str(source.path))))
    else:
        yield "", read_json(data, str(source.path))


def _read_episode(
    source: RunSource,
    place: str,
    episode: StorableValue | LabError,
    shots: ImageFinder,
    is_known: Callable[[str], bool],
) -> Imported | KnownRun:
    if isinstance(episode, LabError):
        raise episode
    if not isinstance(episode.value, dict):
        raise LabError(str(source.path), f"field {place or 'episode'}: is no episode")
    return _run(_EpisodeSource(source, episode.value, place, episode.notes, shots, Pictures(source)), is_known)


def _run(source: _EpisodeSource, is_known: Callable[[str], bool]) -> Imported | KnownRun:
    path = escape_surrogates(str(source.found.path))
    steps = _steps(source)
    key = words(source.episode.get("episode_id")) or escape_surrogates(source.found.path.stem)
    data = episode_bytes(source.episode)
    id = run_id(NAME, key, data)
    if is_known(id):
        return KnownRun(id, path)
    stated_length = as_coordinate(source.episode.get("step_length"))
    length = int(stated_length) if stated_length and stated_length > 0 else None
    draft = RunDraft(
        id,
        _task(source, key, length),
        ANNOTATOR,
        format=NAME,
        path=path,
        data=data,
        images=source.pictures,
        device=_device(source),
    )
    actions = [_step(source, draft, i, step) for i, step in enumerate(steps)]
    why = actions[-1].text if actions and actions[-1].status == "infeasible" else None
    end = demonstration_end(actions, length, why or "")
    draft.end(end.status, reason=end.reason)
    return draft.imported()


def _steps(source: _EpisodeSource) -> list[dict[str, Any]]:
    path = str(source.found.path)
    dot = f"{source.place}." if source.place else ""
    return as_mappings(source.episode.get("steps"), path, "step", f"{dot}steps")


def _task(source: _EpisodeSource, key: str, length: int | None) -> Task:
    info = source.part("task_info")
    words_by_name = {name: words(info.get(name)) for name in ("category", "meta_task", "task")}
    return Task(
        id=key,
        kind="general",
        log="none",
        instruction=words(info.get("instruction")) or words_by_name["task"],
        apps=names_of(info.get("app")),
        golden_steps=length,
        traits={"platform": "android", **{name: text for name, text in words_by_name.items() if text}},
    )


def _device(source: _EpisodeSource) -> DeviceInfo:
    info = source.part("device_info")
    return DeviceInfo(
        model=words(info.get("device_name")),
        size=source.size,
        product=words(info.get("product")),
        release=words(info.get("release_version")),
        sdk=words(info.get("sdk_version")),
    )


def _step(source: _EpisodeSource, draft: RunDraft, i: int, step: dict[str, Any]) -> Action:
    extra = remaining_fields(step, _PLACED)
    if step.get("step") is not None and as_coordinate(step["step"]) != i:
        extra["step"] = step["step"]
    if changes := notes_below(source.notes, f"steps[{i}]."):
        extra["missing"] = changes
    if i == 0:
        extra |= _unplaced_fields(source)
    shot = source.shots.find(step.get("screenshot"), extra, _screenshot_folders(source))
    observation = source.pictures.add_optional(shot, extra)
    size = observation.size or source.size
    action = action_of(step, size)
    draft.step(
        action,
        msgspec.structs.replace(observation, size=size),
        thought=words(step.get("intention")),
        instruction=words(step.get("low_level_instruction")),
        extra=extra,
    )
    return action


def _unplaced_fields(source: _EpisodeSource) -> dict[str, Any]:
    """Return the source's fields about the whole episode that have no other place."""
    about = remaining_fields(source.episode, ("episode_id", "device_info", "task_info", "step_length", "steps"))
    about |= remaining_fields(source.part("task_info"), ("category", "app", "meta_task", "task", "instruction"))
    about |= remaining_fields(
        source.part("device_info"), ("product", "release_version", "sdk_version", "h", "w", "device_name")
    )
    return {"episode": about} if about else {}


def _screenshot_folders(source: _EpisodeSource) -> Iterator[str]:
    """Yield the possible folders of screenshots, relative to the annotations' folder."""
    key = words(source.episode.get("episode_id"))
    for base in ("../screenshots", "screenshots"):
        yield base
        if key and "/" not in key:
            yield f"{base}/{key}"
        yield from (f"{base}/data_{part}" for part in range(_PARTS))


def _is_file(candidate: CandidateFile) -> bool:
    if not candidate.is_json or b'"task_info"' not in candidate.opening or b'"steps"' not in candidate.opening:
        return False
    return any(_is_episode(item) for item in candidate.items)


def _is_episode(value: dict[str, Any]) -> bool:
    """Return True if a value has a task and a list of steps with an action, if any."""
    steps = value.get("steps")
    if not isinstance(value.get("task_info"), dict) or not isinstance(steps, list):
        return False
    return not steps or any(isinstance(step, dict) and {"action", "info"} & step.keys() for step in steps)


ODYSSEY = Format(
    name=NAME,
    title="GUI-Odyssey",
    is_run_folder=lambda folder, names, root: False,
    is_file=_is_file,
    read=read,
)


SPACE = "0-1000"
_WHOLE = 1000
_KEYS: dict[str, ActionKind] = {
    "HOME": "navigate_home",
    "BACK": "navigate_back",
    "APPSELECT": "press_recent",
    "RECENT": "press_recent",
    "ENTER": "keyboard_enter",
}
_POINTED: dict[str, ActionKind] = {"CLICK": "click", "TAP": "click", "LONG_PRESS": "long_press"}
_ENDS: dict[str, Literal["complete", "infeasible"]] = {
    "COMPLETE": "complete",
    "INCOMPLETE": "infeasible",
    "IMPOSSIBLE": "infeasible",
}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def action_of(step: dict[str, Any], size: Point | None) -> Action:
    """Return a step's action. Unknown ones become `other`.

    `size` is the screenshot's. Without it positions are None.
    """
    raw: dict[str, Any] = {key: step[key] for key in ("action", "info", "ps", "sam2_bbox") if key in step}
    name = re.sub(r"[\s-]+", "_", words(step.get("action")).strip().upper())
    info = step.get("info")
    if (key := _key_action(name) or (_key_action(words(info)) if name in _POINTED else None)) is not None:
        return Action(key, raw=raw, space=SPACE)
    if name in _POINTED:
        return _touch(_POINTED[name], step, size, raw)
    if name in ("SCROLL", "SWIPE"):
        return _swipe(info, size, raw)
    if name in ("TEXT", "TYPE"):
        return Action("input_text", text=words(info), raw=raw, space=SPACE)
    if name in _ENDS:
        why = words(step.get("ps")).strip() or words(info).strip()
        return Action("status", status=_ENDS[name], text=why or None, raw=raw, space=SPACE)
    return Action("wait" if name == "WAIT" else "other", text=words(info) or None, raw=raw, space=SPACE)


def _key_action(name: str) -> ActionKind | None:
    """Return the action of a key named KEY_HOME, PRESS_HOME or HOME, or None if it is not a key."""
    return _KEYS.get(re.sub(r"^(KEY|PRESS)_", "", name.strip().upper()))


def _touch(kind: ActionKind, step: dict[str, Any], size: Point | None, raw: dict[str, Any]) -> Action:
    points = _points(step.get("info"), size)
    target = target_of(step, size)
    return Action(kind, at=points[0] if points else None, raw=raw, space=SPACE, boxes=(target,) if target else ())


def _swipe(info: Any, size: Point | None, raw: dict[str, Any]) -> Action:
    """Return a swipe. In this format `SCROLL: UP` names the finger's direction."""
    points = _points(info, size)
    if len(points) < 2:
        way = direction(info)
        return Action("swipe", direction=way, vector=finger_vector(way, size) if way else None, raw=raw, space=SPACE)
    at, to = points[0], points[-1]
    vector = vector_between(at, to)
    way = main_direction(vector) if vector else None
    return Action("swipe", at=at, to=to, direction=way, vector=vector, raw=raw, space=SPACE)


def target_of(step: dict[str, Any], size: Point | None) -> Box | None:
    """Return the box of the touched element, or None if it is not recorded."""
    return box(numbers(step.get("sam2_bbox")), size, _WHOLE)


def _points(info: Any, size: Point | None) -> list[Point]:
    """Return points in pixels from a list of pairs, one pair, or a text of either."""
    values = numbers(info)
    if not values and isinstance(info, str):
        values = [float(matches) for matches in _NUMBER.findall(info)]
    if values and not isinstance(values[0], list):
        values = [values[i : i + 2] for i in range(0, len(values) - 1, 2)]
    pairs = [pair for pair in values if isinstance(pair, list) and len(pair) == 2]
    matches = [point(x, y, size, _WHOLE) for x, y in pairs]
    return [at for at in matches if at is not None]
