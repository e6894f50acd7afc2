"""Writer for DAC-Bench: `episodes.json`, a list of episodes as in Fig. 6, and their screenshots.

Pictures are `data/screenshots/<episode>/<episode>_<step>.png` (`.jpg` for JPEG), each written once. A touch's
`location` is its boxes, else the box of the node that it hits, else the pixel itself as a box. `width` and `height` are
the first screen's. A step whose screen differs states its own. Action kinds that the format lacks get the nearest word,
and hitlab's own kind under `hitlab`. The exact pixel of a touch is written there as well, and the task if it has
several episodes. An impossible task has the flag IMPOSSIBLE with its reason.

The format has no place for thoughts, costs, times, trees and verdicts, which are dropped. Steps that ask, slips, steps
that proofreaders rejected, failed actions, and proposals that were not approved are dropped, too, and counted under
`left_out`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from lab.core.codec import encode
from lab.core.run.demonstration import reason_words
from lab.core.run.step import Action, Observation, Point
from lab.core.run.trace import Step, Trace, fold
from lab.core.run.ui_tree import UiTree
from lab.core.study.proofread_text import is_rejected
from lab.core.values.made_files import make_folder
from store.formats import StoredRun, Writer
from store.formats.dac.actions import CoordinateFrame, written_action
from store.formats.dac.run import NAME
from store.formats.geometry import Box
from store.formats.hitlab_fields import HITLAB_KEY
from store.formats.new_files import new_file, write_new_file

FILE = "episodes.json"
SHOTS = "data/screenshots"
_TOUCHES = ("click", "double_tap", "long_press")
# Other characters are not safe in file names everywhere.
_UNSAFE = re.compile(r"[^0-9A-Za-z._-]+")
_LONGEST = 80
_MAX_TARGET_SHARE = 0.5
"""Maximum share of the screen for the target of a touch. A larger node is a target only if it is clickable."""
_ENDINGS = {"image/png": "png", "image/jpeg": "jpg"}


def write(runs: Iterable[StoredRun], out: Path, on_run: Callable[[str], None]) -> None:
    """Write each run's pictures into a folder of its own and all episodes into one file, one run at a time."""
    used_names: set[str] = set()
    with new_file(out / FILE) as file:
        file.write(b"[")
        for i, run in enumerate(runs):
            trace = fold(run.events())
            name, key = episode_names(trace, run.id, used_names)
            shots = _write_pictures(run, trace, out, name)
            file.write(
                (b",\n" if i else b"\n") + msgspec.json.format(encode(_episode(trace, run.id, key, shots)), indent=2)
            )
            on_run(run.id)
        file.write(b"\n]\n")


def episode_names(trace: Trace, id: str, used_names: set[str]) -> tuple[str, str]:
    """Return a folder name that is still free, and the episode's id: its task's, extended by the run's id if taken."""
    keys = [trace.task.id, f"{trace.task.id[:_LONGEST]}-{id[:8]}"]
    names = [_UNSAFE.sub("_", key)[: _LONGEST + 9].strip("._-") or "run" for key in keys]
    free = [(name, key) for name, key in zip(names, keys, strict=True) if name.lower() not in used_names]
    name, key = free[0] if free else (id, f"{trace.task.id}-{id}")
    used_names.add(name.lower())
    return name, key


def demonstration_steps(trace: Trace) -> tuple[list[Step], dict[str, int]]:
    """Return the steps of a run that belong into a demonstration, and counts of the others by reason."""
    left_out_counts: Counter[str] = Counter()
    steps: list[Step] = []
    for step in trace.steps:
        why = _exclusion_reason(step, trace.slips)
        if why:
            left_out_counts[why] += 1
        else:
            steps.append(step)
    return steps, dict(sorted(left_out_counts.items()))


def _exclusion_reason(step: Step, slips: tuple[int, ...]) -> str:
    if step.action is None:
        return "not let through"
    if step.question is not None or step.action.kind == "ask_user":
        return "dialogue"
    if step.index in slips:
        return "slips"
    if is_rejected(step):
        return "rejected by proofreaders"
    return "failed" if step.error is not None else ""


def _write_pictures(run: StoredRun, trace: Trace, out: Path, name: str) -> dict[str, str]:
    """Write the pictures of the steps, and return their paths by sha256."""
    first: dict[str, int] = {}
    for k, step in enumerate(demonstration_steps(trace)[0]):
        if step.before.image is not None:
            first.setdefault(step.before.image, k)
    paths: dict[str, str] = {}
    for sha256, blob in run.blobs() if first else ():
        if sha256 not in first or blob.mime not in _ENDINGS:
            continue
        below = f"{SHOTS}/{name}/{name}_{first[sha256]}.{_ENDINGS[blob.mime]}"
        make_folder((out / below).parent)
        write_new_file(out / below, blob.data)
        paths[sha256] = f"./{below}"
    return paths


def _episode(trace: Trace, id: str, key: str, shots: dict[str, str]) -> dict[str, Any]:
    steps, left_out_counts = demonstration_steps(trace)
    task, device = trace.task, trace.device
    size = next((step.before.size for step in steps if step.before.size), device.size)
    traits = dict(task.traits)
    if traits.pop("language_by", ""):
        traits.pop("language", None)
    ours = {
        "run": id,
        "agent": msgspec.to_builtins(trace.agent),
        **({"task": task.id} if key != task.id else {}),
        **({"left_out": left_out_counts} if left_out_counts else {}),
    }
    return {
        "episode_id": int(key) if key.isdecimal() and key.isascii() and str(int(key)) == key and len(key) < 18 else key,
        **({"width": size[0], "height": size[1]} if size else {}),
        "device": {
            "product": device.product or device.model,
            "release_version": _version_number(device.release),
            "sdk_version": _version_number(device.sdk),
            **({"model": device.model} if device.model and device.product else {}),
        },
        "instruction": task.instruction,
        "category": traits.pop("category", ""),
        "app": list(task.apps),
        **{name: traits[name] for name in ("structure", "platform", "level", "language") if traits.get(name)},
        **({"decision_points": [msgspec.to_builtins(branch) for branch in task.branches]} if task.branches else {}),
        **_flag(steps),
        "steps": [_step(step, size, shots) for step in steps],
        HITLAB_KEY: ours,
    }


def _version_number(text: str) -> Any:
    """Return a version as the format has it: as a number if possible."""
    return int(text) if text.isdecimal() and text.isascii() and str(int(text)) == text else text


def _flag(steps: list[Step]) -> dict[str, str]:
    """Return the flag of an impossible task with its reason, empty for other tasks."""
    last = steps[-1].action if steps else None
    if last is None or last.status != "infeasible":
        return {}
    reason = last.text or ""
    note = steps[-1].proposed.thought or (reason_words(reason) if reason_words(reason) != reason else "")
    return {"flag": "IMPOSSIBLE", **({"reason": reason} if reason else {}), **({"note": note} if note else {})}


def _step(step: Step, size: Point | None, shots: dict[str, str]) -> dict[str, Any]:
    observation = step.before
    frame = CoordinateFrame(observation.size or size, observation.size)
    assert step.action is not None
    actions = [step.action, *step.accepted]
    return {
        **({"screenshot": shots[observation.image]} if observation.image in shots else {}),
        **(
            {"width": observation.size[0], "height": observation.size[1]}
            if observation.size and observation.size != size
            else {}
        ),
        "step_instruction": step.proposed.instruction,
        "actions": [written_action(action, _target_boxes(action, observation), frame) for action in actions],
    }


def _target_boxes(action: Action, observation: Observation) -> tuple[Box, ...]:
    """Return the accepted target boxes: the action's own, the box of the node that it hits, or its pixel as a box."""
    if action.boxes or action.at is None or action.kind not in _TOUCHES:
        return action.boxes
    return (_hit_box(observation.tree, action.at) or (*action.at, *action.at),)


def _hit_box(tree: UiTree | None, at: Point) -> Box | None:
    """Return the box of the topmost clickable node at a point, else of the topmost that is not most of the screen."""
    nodes = [node for node in tree.nodes_at(*at) if node.bounds.area] if tree is not None else []
    most = _MAX_TARGET_SHARE * max((node.bounds.area for node in nodes), default=0)
    reacting = (node for node in nodes if node.clickable or node.long_clickable)
    node = next(reacting, None) or next((node for node in nodes if node.bounds.area <= most), None)
    if node is None:
        return None
    return node.bounds.left, node.bounds.top, node.bounds.right, node.bounds.bottom


WRITER = Writer(NAME, "DAC-Bench", write)
