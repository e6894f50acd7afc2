"""One episode of DAC-Bench as events: a demonstration with low-level instructions and several accepted actions.

Coordinates are pixels of the screen that the episode states (`width`, `height`). If a picture shows that screen in
another size, they are scaled to it. `raw` has the source's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from lab.core.codec import escape_surrogates
from lab.core.run.run_records import Imported
from lab.core.run.step import Action, Point
from lab.core.run.trace import DeviceInfo
from lab.core.task.task import Actor, Branch, Task
from store.formats import KnownRun, RunSource
from store.formats.dac.actions import CoordinateFrame, action_of, normalized_word
from store.formats.demonstrations import ANNOTATOR, ImageFinder, demonstration_end, episode_bytes
from store.formats.draft import RunDraft, run_id
from store.formats.geometry import as_coordinate
from store.formats.hitlab_fields import HITLAB_KEY, agent_of, exported_run_field
from store.formats.pictures import Pictures
from store.formats.values import Notes, names_of, notes_below, remaining_fields, words

NAME = "dac"
STEPS = ("steps", "step", "trajectory", "annotations", "data", "episode")
"""Possible names of the list of steps."""
ACTIONS = ("actions", "action")
_SHOT = ("screenshot", "screenshot_path", "image", "image_path", "img")
_INSTRUCTIONS = ("step_instruction", "low_level_instruction", "instruction", "step_desc")
_GOAL = ("instruction", "high_level_instruction", "goal", "task", "task_instruction")
_APPS = ("app", "apps")
_STRUCTURE = ("structure", "task_structure", "graph_structure", "composition", "task_type", "type", "category")
_STRUCTURES = ("Single", "Sequential", "Conjunctive", "Conditional", "Hierarchical")
_ALSO_CALLED = {
    "selection": "Conditional", "branch": "Conditional", "branching": "Conditional", "ifelse": "Conditional",
    "sequence": "Sequential", "chain": "Sequential", "conjunction": "Conjunctive", "nested": "Hierarchical",
    "hierarchy": "Hierarchical", "atomic": "Single",
}  # fmt: skip
"""Other names of the five structures. Fig. 6 calls its task with an if and an otherwise a `selection`."""
_FLAGS = ("impossible", "flag", "status", "task_status", "label")
_BRANCHES = ("decision_points", "decisions", "branches", "conditions")
_ASK = ("ask", "condition", "question", "constraint", "decision", "text")
_PLACED = (
    *("episode_id", "id", "width", "height", "device", *_APPS, "category", "reason", "annotator", HITLAB_KEY),
    *("structure", "platform", "language", "level"),
)
_IOS = re.compile(r"\b(?:ios|iphone|ipad)", re.I)
# CJK ideographs, without the rarer supplementary planes.
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")


class DacEpisode(NamedTuple):
    """An episode as in its source. `field` is the path of `steps` in the file."""

    name: str
    meta: dict[str, Any]
    steps: list[dict[str, Any]]
    field: str
    source: RunSource
    notes: Notes
    shots: ImageFinder
    first: int = 0
    """Index of the first step in `field`."""

    def first_text(self, *keys: str) -> str:
        """Return the first of these metadata fields that has words."""
        return next((text for key in keys if (text := words(self.meta.get(key)).strip())), "")

    @property
    def hitlab_fields(self) -> dict[str, Any]:
        """Fields that hitlab's own writer added."""
        fields = self.meta.get(HITLAB_KEY)
        return fields if isinstance(fields, dict) else {}


def imported(episode: DacEpisode, is_known: Callable[[str], bool]) -> Imported | KnownRun:
    """Return an episode as an imported run, or `KnownRun` if `is_known` returns True for its id."""
    path = escape_surrogates(str(episode.source.path))
    name = episode.name or escape_surrogates(episode.source.path.name.partition(".")[0])
    data = episode_bytes([episode.meta, episode.steps])
    id = run_id(NAME, name, data)
    if is_known(id):
        return KnownRun(id, path)
    pictures = Pictures(episode.source)
    draft = RunDraft(
        id,
        _task(episode, name),
        _agent(episode),
        format=NAME,
        path=path,
        data=data,
        images=pictures,
        device=_device(episode),
    )
    actions = [_step(episode, draft, i, pictures) for i in range(len(episode.steps))]
    is_impossible = _is_impossible(episode)
    if is_impossible:
        draft.verdict("impossible", True, episode.first_text("reason"))
    end = demonstration_end(actions, None, episode.first_text("reason") or _end_reason(actions), is_impossible)
    draft.end(end.status, reason=end.reason)
    return draft.imported()


def _end_reason(actions: list[Action]) -> str:
    last = actions[-1] if actions else None
    return last.text or "" if last is not None and last.status == "infeasible" else ""


def _is_impossible(episode: DacEpisode) -> bool:
    """Return True if the annotator flagged the task as impossible."""
    return any(
        episode.meta.get(key) is True if key == "impossible" else normalized_word(episode.meta.get(key)) == "impossible"
        for key in _FLAGS
    )


def _agent(episode: DacEpisode) -> Actor:
    code = episode.first_text("annotator", "annotator_id")
    return agent_of(episode.hitlab_fields.get("agent"), Actor("human", code) if code else ANNOTATOR)


def _stated_size(fields: dict[str, Any]) -> Point | None:
    across, down = as_coordinate(fields.get("width")), as_coordinate(fields.get("height"))
    return (int(across), int(down)) if across and down and min(across, down) >= 1 else None


def _device(episode: DacEpisode) -> DeviceInfo:
    raw_device = episode.meta.get("device")
    device = raw_device if isinstance(raw_device, dict) else {"product": raw_device}
    return DeviceInfo(
        model=words(device.get("model")),
        size=_stated_size(episode.meta),
        product=words(device.get("product")),
        release=words(device.get("release_version")),
        sdk=words(device.get("sdk_version")),
    )


def _task(episode: DacEpisode, name: str) -> Task:
    task = episode.hitlab_fields.get("task")  # several episodes of one task have ids of their own
    return Task(
        id=task if isinstance(task, str) and task else name,
        kind="general",
        log="none",
        instruction=episode.first_text(*_GOAL),
        apps=next((apps for key in _APPS if (apps := names_of(episode.meta.get(key)))), ()),
        branches=_branches(episode),
        golden_steps=len(episode.steps) or None,
        traits={key: text for key, text in _traits(episode).items() if text},
    )


def _traits(episode: DacEpisode) -> dict[str, str]:
    """Return the traits by which tables are grouped. `language_by` marks a language guessed from the script."""
    language, goal = episode.first_text("language", "lang"), episode.first_text(*_GOAL)
    script = "zh" if _HAN.search(goal) else "en" if _LATIN.search(goal) else ""
    structures = (_structure(episode.meta.get(key)) for key in _STRUCTURE)
    return {
        "category": episode.first_text("category"),
        "structure": next((structure for structure in structures if structure), ""),
        "platform": _platform(episode),
        "level": episode.first_text("level"),
        "language": language or script,
        "language_by": "script" if script and not language else "",
    }


def _structure(structure: Any) -> str:
    name = normalized_word(structure)
    return next((one for one in _STRUCTURES if name == one.lower()), _ALSO_CALLED.get(name, ""))


def _platform(episode: DacEpisode) -> str:
    """Return `android` or `ios`, as the source says or as the device's fields suggest."""
    device = episode.meta.get("device")
    device_fields = device if isinstance(device, dict) else {"product": device}
    platform = " ".join(
        [episode.first_text("platform", "os", "system"), *(words(device_fields.get(key)) for key in ("platform", "os"))]
    )
    if platform.strip():
        return "ios" if _IOS.search(platform) else platform.strip().lower()
    if _IOS.search(" ".join(words(value) for value in device_fields.values())):
        return "ios"
    return (
        "android"
        if words(device_fields.get("sdk_version")) or "android" in normalized_word(device_fields.get("release_version"))
        else ""
    )


def _branches(episode: DacEpisode) -> tuple[Branch, ...]:
    branch_rows = next((rows for key in _BRANCHES if isinstance(rows := episode.meta.get(key), list) and rows), [])
    return tuple(_branch(i, row) for i, row in enumerate(branch_rows, 1))


def _branch(i: int, row: Any) -> Branch:
    fields = row if isinstance(row, dict) else {"ask": row}
    depth = as_coordinate(fields.get("depth", fields.get("level")))
    options, right = names_of(fields.get("options", fields.get("branches"))), words(fields.get("right"))
    return Branch(
        id=words(fields.get("id")) or f"b{i}",
        ask=next((text for key in _ASK if (text := words(fields.get(key)))), ""),
        options=options,
        depth=int(depth) if depth and depth >= 1 else 1,
        right=right if right in options else "",
    )


def _step(episode: DacEpisode, draft: RunDraft, i: int, pictures: Pictures) -> Action:
    step = episode.steps[i]
    extra = remaining_fields(step, (*_SHOT, *_INSTRUCTIONS, *ACTIONS, "width", "height"))
    if changes := notes_below(episode.notes, f"{episode.field}[{i + episode.first}]."):
        extra["missing"] = changes
    if i == 0 and (about := _unplaced_fields(episode)):
        extra["episode"] = about
    if i == 0:
        extra |= exported_run_field(episode.hitlab_fields)
    shot = next((step[key] for key in _SHOT if step.get(key)), None)
    near = (".", "screenshots", "data/screenshots", f"data/screenshots/{episode.name or '.'}")
    observation = pictures.add_optional(episode.shots.find(shot, extra, near), extra)
    size = _stated_size(step) or _stated_size(episode.meta)
    frame = CoordinateFrame(size, observation.size)
    action, *accepted = (action_of(raw, frame) for raw in _raw_actions(step))
    draft.step(
        action,
        msgspec.structs.replace(observation, size=observation.size or size),
        instruction=next((text for key in _INSTRUCTIONS if (text := words(step.get(key)))), ""),
        accepted=tuple(accepted),
        extra=extra,
    )
    return action


def _raw_actions(step: dict[str, Any]) -> list[Any]:
    """Return the accepted actions in the source's spelling. The first is the one that was performed."""
    actions = next((step[key] for key in ACTIONS if step.get(key)), None)
    if isinstance(actions, list):
        return actions
    if isinstance(actions, str) or (actions is None and "action_type" in step):
        return [remaining_fields(step, (*_SHOT, *_INSTRUCTIONS))]
    return [actions]


def _unplaced_fields(episode: DacEpisode) -> dict[str, Any]:
    """Return the source's fields about the whole episode that have no other place."""
    goal = next((key for key in _GOAL if words(episode.meta.get(key)).strip()), "")
    about = remaining_fields(episode.meta, (*_PLACED, goal))
    device = episode.meta.get("device")
    rest = (
        remaining_fields(device, ("product", "release_version", "sdk_version", "model"))
        if isinstance(device, dict)
        else {}
    )
    return {**about, **({"device": rest} if rest else {})}
