"""GUI-Odyssey: demonstrations across apps, `annotations/<id>.json`, with `screenshots/` beside that folder.

Screenshots may still lie in the dataset's own parts (`screenshots/data_<n>/`) or in a folder per episode. A file may
also hold a list of episodes. Source: `introduction.md` of OpenGVLab/GUI-Odyssey, both releases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from lab.errors import LabError
from lab.records import Imported
from lab.task import Task
from lab.trace import DeviceInfo
from lab.turn import Action, Point
from lab.wire import Read, escape_surrogates, read_json
from store.formats import Failed, Format, Found, Known, Seen
from store.formats.draft import Draft, run_id
from store.formats.files import check_within, unpacked
from store.formats.geometry import number
from store.formats.gold import ANNOTATOR, Shots, ended, episode_bytes
from store.formats.odyssey.actions import action_of
from store.formats.pictures import Pictures
from store.formats.pieces import each, is_list
from store.formats.values import Notes, as_mappings, missing, names_of, without, words

NAME = "odyssey"
_PARTS = 12
"""The parts that the dataset's screenshots come in, `data_0` and on, at most."""
_PLACED = ("step", "screenshot", "action", "info", "sam2_bbox", "low_level_instruction", "intention")


class _Source(NamedTuple):
    """One episode that is being read; `place` is where it stands in its file."""

    found: Found
    episode: dict[str, Any]
    place: str
    notes: Notes
    shots: Shots
    pictures: Pictures

    def part(self, name: str) -> dict[str, Any]:
        held = self.episode.get(name)
        return held if isinstance(held, dict) else {}

    @property
    def size(self) -> Point | None:
        """The screen's pixels as the source tells them."""
        across, down = number(self.part("device_info").get("w")), number(self.part("device_info").get("h"))
        return (int(across), int(down)) if across and down and min(across, down) >= 1 else None


def read(found: Found, known: Callable[[str], bool]) -> Iterator[Imported | Known | Failed]:
    """The episode of a file, or each of those that it holds."""
    path = str(found.path)
    shots = Shots(found.root, found.path.parent)
    try:
        for place, held in _episodes(found):
            try:
                yield _one(found, place, held, shots, known)
            except LabError as error:
                yield Failed(f"{path}{'#' if place else ''}{place.strip('[]')}", error.sentence)
    except LabError as error:
        yield Failed(path, error.sentence)


def _episodes(found: Found) -> Iterator[tuple[str, Read | LabError]]:
    """What a file holds, read one by one where it is a list, with where that stands."""
    check_within(found.root, found.path)
    data = unpacked(found.path)
    if is_list(data):
        yield from ((f"[{i}]", item) for i, item in enumerate(each(data, str(found.path))))
    else:
        yield "", read_json(data, str(found.path))


def _one(
    found: Found, place: str, held: Read | LabError, shots: Shots, known: Callable[[str], bool]
) -> Imported | Known:
    if isinstance(held, LabError):
        raise held
    if not isinstance(held.value, dict):
        raise LabError(str(found.path), f"field {place or 'episode'}: is no episode")
    return _run(_Source(found, held.value, place, held.notes, shots, Pictures(found.root)), known)


def _run(source: _Source, known: Callable[[str], bool]) -> Imported | Known:
    path = escape_surrogates(str(source.found.path))
    steps = _steps(source)
    key = words(source.episode.get("episode_id")) or escape_surrogates(source.found.path.stem)
    data = episode_bytes(source.episode)
    id = run_id(NAME, key, data)
    if known(id):
        return Known(id, path)
    told = number(source.episode.get("step_length"))
    length = int(told) if told and told > 0 else None
    draft = Draft(
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
    end = ended(actions, length, why or "")
    draft.end(end.status, reason=end.reason)
    return draft.imported()


def _steps(source: _Source) -> list[dict[str, Any]]:
    path = str(source.found.path)
    dot = f"{source.place}." if source.place else ""
    return as_mappings(source.episode.get("steps"), path, "step", f"{dot}steps")


def _task(source: _Source, key: str, length: int | None) -> Task:
    info = source.part("task_info")
    said = {name: words(info.get(name)) for name in ("category", "meta_task", "task")}
    return Task(
        id=key,
        kind="general",
        log="none",
        instruction=words(info.get("instruction")) or said["task"],
        apps=names_of(info.get("app")),
        golden_steps=length,
        traits={"platform": "android", **{name: text for name, text in said.items() if text}},
    )


def _device(source: _Source) -> DeviceInfo:
    info = source.part("device_info")
    return DeviceInfo(
        model=words(info.get("device_name")),
        size=source.size,
        product=words(info.get("product")),
        release=words(info.get("release_version")),
        sdk=words(info.get("sdk_version")),
    )


def _step(source: _Source, draft: Draft, i: int, step: dict[str, Any]) -> Action:
    extra = without(step, _PLACED)
    if step.get("step") is not None and number(step["step"]) != i:
        extra["step"] = step["step"]
    if gone := missing(source.notes, f"steps[{i}]."):
        extra["missing"] = gone
    if i == 0:
        extra |= _about(source)
    shot = source.shots.find(step.get("screenshot"), extra, _near(source))
    seen = source.pictures.seen(shot, extra)
    size = seen.size or source.size
    action = action_of(step, size)
    draft.step(
        action,
        msgspec.structs.replace(seen, size=size),
        thought=words(step.get("intention")),
        instruction=words(step.get("low_level_instruction")),
        extra=extra,
    )
    return action


def _about(source: _Source) -> dict[str, Any]:
    """What the source tells of the whole episode, and has no place of its own."""
    about = without(source.episode, ("episode_id", "device_info", "task_info", "step_length", "steps"))
    about |= without(source.part("task_info"), ("category", "app", "meta_task", "task", "instruction"))
    about |= without(source.part("device_info"), ("product", "release_version", "sdk_version", "h", "w", "device_name"))
    return {"episode": about} if about else {}


def _near(source: _Source) -> Iterator[str]:
    """Where screenshots are kept, seen from the annotations' folder."""
    key = words(source.episode.get("episode_id"))
    for base in ("../screenshots", "screenshots"):
        yield base
        if key and "/" not in key:
            yield f"{base}/{key}"
        yield from (f"{base}/data_{part}" for part in range(_PARTS))


def _is_file(seen: Seen) -> bool:
    if not seen.is_json or not seen.opening.startswith((b"{", b"[")):
        return False
    return b'"task_info"' in seen.opening and b'"steps"' in seen.opening


ODYSSEY = Format(
    name=NAME,
    title="GUI-Odyssey",
    is_run_folder=lambda folder, names: False,
    is_file=_is_file,
    read=read,
)
