"""AITZ (Android in the Zoo, CoAT): demonstrations as JSON lists of steps, `<SUBSET>-<episode_id>/<same>.json`.

Screenshots are `<same>_<step>.png` beside it. A file may hold the steps of several episodes. A step's description
(`coat_action_desc`) becomes its instruction. All `coat_` fields except the thought are also stored unchanged. Source:
IMNearth/CoAT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lab.core.codec import escape_surrogates, read_json
from lab.core.errors import LabError
from lab.core.run_records import Imported
from lab.core.step import Action, Point
from lab.core.task import Task
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.aitz.actions import RAW, action_of, tree_of
from store.formats.demonstrations import ANNOTATOR, ImageFinder, demonstration_end, episode_bytes
from store.formats.draft import Draft, run_id
from store.formats.geometry import as_coordinate
from store.formats.pictures import Pictures
from store.formats.values import Notes, notes_below, remaining_fields, words

NAME = "aitz"
_PLACED = {
    *RAW, "episode_id", "episode_length", "instruction", "step_id", "image_path", "image_full_path",
    "coat_action_think", "ui_positions", "ui_text", "ui_types", "image_width", "image_height", "low_instruction",
}  # fmt: skip
_MARKS = ("result_action_type", "result_touch_yx")
_SUBSETS = ("GENERAL", "INSTALL", "GOOGLE_APPS", "SINGLE", "WEB_SHOPPING")


class _Source(NamedTuple):
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
        source = _Source(run_source, notes, shots, Pictures(run_source))
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
    source: _Source, key: str, steps: list[tuple[int, dict[str, Any]]], is_known: Callable[[str], bool]
) -> Imported | KnownRun:
    data = episode_bytes([step for _, step in steps])
    id = run_id(NAME, key, data)
    path = escape_surrogates(str(source.found.path))
    if is_known(id):
        return KnownRun(id, path)
    stated_length = as_coordinate(steps[0][1].get("episode_length"))
    length = int(stated_length) if stated_length and stated_length > 0 else None
    task = _task(source.found, key, steps[0][1], length)
    draft = Draft(id, task, ANNOTATOR, format=NAME, path=path, data=data, images=source.pictures)
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


def _step(source: _Source, draft: Draft, place: int, step: dict[str, Any]) -> Action:
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


def _find_screenshot(source: _Source, step: dict[str, Any], extra: dict[str, Any]) -> Path | None:
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
