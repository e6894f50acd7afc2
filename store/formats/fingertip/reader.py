"""FingerTip-20K: people's recordings on their own phones, `<user_id>/<yyyymmdd_hhmmss>/`, a folder per episode.

The intent that a person wrote becomes the task's instruction, their location its place, and their profile the persona.
An action's `content` (the text under the finger) is stored in `extra`. Source: FingerTip-20K, A.4. `files` finds the
files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from lab.core.codec import escape_surrogates
from lab.core.errors import LabError
from lab.core.run.run_records import Imported
from lab.core.run.step import Action
from lab.core.task.task import Actor, Persona, Task
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.demonstrations import demonstration_end
from store.formats.draft import RunDraft, run_id
from store.formats.failures import with_failures
from store.formats.fingertip.actions import action_of, source_action
from store.formats.fingertip.files import (
    DATA,
    STAMP,
    Files,
    Row,
    actions_in,
    episode_fields,
    files_of,
    profile_of,
    screens,
    spells_actions,
    spells_calls,
)
from store.formats.hitlab_fields import HITLAB_KEY, agent_of, exported_run_field, with_hitlab_fields
from store.formats.pictures import Pictures
from store.formats.trees import tree_in
from store.formats.values import names_of, notes_below, remaining_fields, words

NAME = "fingertip"
ACTIONS = "action.jsonl"
SURVEY = "survey_result.json"
_INTENT = ("intentDescription", "intent_description", "intent", "instruction", "intention", "task")
_USER = ("user_id", "userId", "user")
_CLASS = ("intentClass", "intent_class", "category")
_PLACED = (*_INTENT, *_USER, *_CLASS, "app", "scenario", HITLAB_KEY)
_OTHER_FORMATS = frozenset(
    {"traj.json", "trajectory.json", "macro.json", "log.json", "run.jsonl", "record.txt", "trace.jsonl"}
)
"""Files of other formats, which may also have folders named by time."""


@with_failures
def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield the episode of a folder."""
    yield _read_run(source, is_known)


def _read_run(source: RunSource, is_known: Callable[[str], bool]) -> Imported | KnownRun:
    files = files_of(source)
    actions_file, data, rows = actions_in(files)
    fields = episode_fields(files, actions_file)
    stamp = escape_surrogates(source.path.resolve().name)
    user = _first_words(fields, _USER) or escape_surrogates(source.path.resolve().parent.name)
    path = escape_surrogates(str(source.path))
    id = run_id(NAME, f"{user}/{stamp}", data)
    if is_known(id):
        return KnownRun(id, path)
    profile = profile_of(files, user)
    pictures = Pictures(source)
    draft = RunDraft(
        id,
        _task(fields, user, stamp, len(rows)),
        agent_of(_own_fields(fields).get("agent"), Actor("human", user)),
        format=NAME,
        path=path,
        data=data,
        images=pictures,
        persona=Persona(user, user, profile) if profile else None,
    )
    actions = []
    for i, (row, (shot, xml)) in enumerate(zip(rows, screens(files, rows), strict=True)):
        extra: dict[str, Any] = {"episode": about} if i == 0 and (about := remaining_fields(fields, _PLACED)) else {}
        extra |= exported_run_field(_own_fields(fields)) if i == 0 else {}
        actions.append(_step(draft, files, row, shot, xml, pictures, extra, fields))
    why = actions[-1].text if actions and actions[-1].status == "infeasible" else None
    end = demonstration_end(actions, None, why or "")
    draft.end(end.status, reason=end.reason)
    return draft.imported()


def _first_words(fields: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((text for key in keys if (text := words(fields.get(key)).strip())), "")


def _own_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that hitlab's own writer added."""
    own_fields = fields.get(HITLAB_KEY)
    return own_fields if isinstance(own_fields, dict) else {}


def _task(fields: dict[str, Any], user: str, stamp: str, steps: int) -> Task:
    scenario = words(fields.get("scenario")).strip()
    traits = {"platform": "android", "scenario": scenario, "category": _first_words(fields, _CLASS)}
    return Task(
        id=words(_own_fields(fields).get("task")) or f"{user}/{stamp}",
        kind="personalized",
        log="none",
        instruction=_first_words(fields, _INTENT),
        persona=user,
        time=words(_own_fields(fields).get("time"))
        if _own_fields(fields)
        else _local_time(stamp) or words(fields.get("time")),
        place=scenario,
        apps=names_of(fields.get("app")),
        golden_steps=steps or None,
        traits={name: text for name, text in traits.items() if text},
    )


def _local_time(stamp: str) -> str:
    """Return a folder's stamp as local time without a zone, empty if it is not one."""
    digits = "".join(sign for sign in stamp if sign.isdecimal())
    if not STAMP.fullmatch(stamp) or len(digits) != 14:
        return ""
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}T{digits[8:10]}:{digits[10:12]}:{digits[12:]}"


def _step(
    draft: RunDraft, files: Files, row: Row, shot: Path | None, xml: Path | None, pictures: Pictures,
    extra: dict[str, Any], fields: dict[str, Any],
) -> Action:  # fmt: skip
    stated_instruction = source_action(row[0])
    if row[1]:
        extra["missing"] = notes_below(row[1])
    if content := words(stated_instruction.parameters.get("content")):
        extra["content"] = content
    if shot is None and stated_instruction.image:
        extra["screenshot"] = f"{stated_instruction.image} is not there"
    read = tree_in(files.source, xml, extra, as_uiautomator_dump)
    tree = read.tree if read else None
    observation = pictures.add_optional(shot, extra, tree)
    ours = _own_fields(fields).get("actions")
    action = action_of(stated_instruction, observation.size)
    action = with_hitlab_fields(action, ours.get(str(draft.count)) if isinstance(ours, dict) else None)
    own_instructions = _own_fields(fields).get("instructions")
    instruction = words(own_instructions.get(str(draft.count))) if isinstance(own_instructions, dict) else ""
    draft.step(action, msgspec.structs.replace(observation, tree=tree), instruction=instruction, extra=extra)
    return action


def _is_run_folder(folder: Path, names: set[str], root: Path) -> bool:
    if names & _OTHER_FORMATS:
        return False
    if ACTIONS in names and (SURVEY in names or (folder / SURVEY).is_file()):
        return _has_intent(folder / SURVEY, root) or _has_actions(folder / ACTIONS, root, empty=True)
    data = [folder / name for name in names if name.lower().endswith(DATA)]
    if not STAMP.fullmatch(folder.name) or not data:
        return False
    spelled = [path for path in data if _has_actions(path, root)]
    return bool(spelled) and (
        any(_has_intent(path, root) for path in data)
        or any(spells_calls(CandidateFile(p, root).opening) for p in spelled)
    )


def _has_intent(path: Path, root: Path) -> bool:
    """Return True if a file states a person's intent, as a field or by its own name."""
    try:
        opening = CandidateFile(path, root).opening
    except LabError:
        return False
    return path.stem in _INTENT[:3] or any(f'"{name}"'.encode() in opening for name in _INTENT[:3])


def _has_actions(path: Path, root: Path, *, empty: bool = False) -> bool:
    """Return True if a file begins with a list of actions. `empty` is the result for an empty file."""
    try:
        opening = CandidateFile(path, root).opening if path.is_file() else b""
    except LabError:
        return False
    if not opening.strip():
        return empty
    # Dumps of the `mobile_use` tool have the same shape.
    return b'"mobile_use"' not in opening and spells_actions(opening)


FINGERTIP = Format(
    name=NAME,
    title="FingerTip-20K",
    is_run_folder=_is_run_folder,
    is_file=lambda candidate: False,
    read=read,
)


_BOUNDS = re.compile(rb'\bbounds="(?:Rect\()?\s*\[?(-?\d+)[,\s]+(-?\d+)\D+?(-?\d+)[,\s]+(-?\d+)[\])]*"')
_NAMES = ((b' content_desc="', b' content-desc="'), (b' view_id="', b' resource-id="'))


def as_uiautomator_dump(data: bytes) -> bytes:
    """Return a tree with `content_desc`, `view_id` and bounds as an Android `Rect`, converted to a uiautomator dump."""
    for theirs, ours in _NAMES:
        data = data.replace(theirs, ours)
    return _BOUNDS.sub(rb'bounds="[\1,\2][\3,\4]"', data)
