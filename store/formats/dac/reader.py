"""DAC-Bench: demonstrations as JSON, in any layout that a file of Fig. 6 may have.

A file holds one episode, a list or a mapping of them, or one per line. An episode is a mapping with a list of steps, or
a list that starts with its metadata. The benchmark's code was never published, so several spellings are accepted. `run`
interprets an episode. Source: DAC-Bench 2.4, Appendix C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from lab.core.codec import StorableValue, read_json
from lab.core.errors import LabError
from lab.core.run.run_records import Imported
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.dac.run import ACTIONS, STEPS, DacEpisode, imported
from store.formats.demonstrations import ImageFinder
from store.formats.json_parts import is_list, list_items
from store.formats.values import Notes, words

NAME = "dac"
_IDS = ("episode_id", "id", "task_id", "episode")
_META = ("episode_id", "instruction", "device", "width")
_STEP_MARKS = ("step_instruction", "screenshot", *ACTIONS)
_MARKS = (
    (b'"step_instruction"',),
    (b'"actions"', b'"action_type"', b'"screenshot"', b'"steps"'),
    (b'"episode_id"', b'"instruction"', b'"category"', b'"device"', b'"steps"'),
)
"""Sets of field names. A file of this format contains all names of one set."""
_META_FIELDS = ("device", "width", "app")
"""Fields of an episode's metadata, at least one of which must exist. Other collections of steps have none of them."""
_MAX_DEPTH = 4
_ENDINGS = (".json", ".jsonl", ".json.gz", ".jsonl.gz")

Place = tuple[str, Any]
"""Path of a value in its file, and the value."""


def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield every episode of a file in order."""
    path = str(source.path)
    try:
        data = source.text(source.path)
    except LabError as error:
        yield FailedRun(path, error.sentence)
        return
    shots = ImageFinder(source.root, source.path.parent)
    for part in _read_parts(data, path):
        if isinstance(part, FailedRun):
            yield part
            continue
        for place, raw_episode in _episodes(("", part.value)):
            label = part.label(place)
            try:
                yield imported(_episode(source, part, place, raw_episode, shots), is_known)
            except LabError as error:
                yield FailedRun(f"{path}#{label}" if label else path, error.sentence)


class _JsonPart(NamedTuple):
    """A JSON value of a file: its path there ("" for the whole file), and changes made by the tolerant reader."""

    where: str
    value: Any
    notes: Notes

    def label(self, place: str) -> str:
        """Return the path of a place in the value, for messages."""
        if self.where.startswith("["):
            return f"{self.where}{'.' if place and not place.startswith('[') else ''}{place}"
        return f"{self.where} {place}".strip()


def _read_parts(data: bytes, path: str) -> Iterator[_JsonPart | FailedRun]:
    """Yield the JSON values of a file: the items of a list, the whole, or one per line."""
    listed = _list_items(data, path)
    if listed is not None:
        yield from listed
        return
    try:
        yield _JsonPart("", *read_json(data, path))
    except LabError as error:
        lines = [(i, line) for i, line in enumerate(data.splitlines(), 1) if line.strip()]
        if not _is_json_lines(lines):
            yield FailedRun(path, error.sentence)
            return
        for number, line in lines:
            try:
                yield _JsonPart(f"line {number}", *read_json(line, f"{path}, line {number}"))
            except LabError as wrong:
                yield FailedRun(f"{path}#line {number}", wrong.sentence)


def _list_items(data: bytes, path: str) -> Iterator[_JsonPart | FailedRun] | None:
    """Return the items of a list, decoded lazily, None if the file is not a list or the list is itself an episode."""
    if not is_list(data):
        return None
    try:
        items = list_items(data, path)
        first = next(items, None)
    except LabError:
        return None
    if first is None or (not isinstance(first, LabError) and _is_meta(first.value) and steps_of(first.value) is None):
        return None
    return (_read_part(f"[{i}]", item, path) for i, item in enumerate(chain([first], items)))


def _read_part(where: str, item: StorableValue | LabError, path: str) -> _JsonPart | FailedRun:
    if isinstance(item, LabError):
        return FailedRun(f"{path}#{where}", item.sentence)
    return _JsonPart(where, *item)


def _is_json_lines(lines: list[tuple[int, bytes]]) -> bool:
    """Return True if a file has one JSON value per line, judged by its first two lines."""
    for _, line in lines[:2] if len(lines) > 1 else []:
        try:
            if isinstance(read_json(line, "line").value, dict):
                return True
        except LabError:
            continue
    return False


def _episodes(at: Place, deep: int = 0) -> Iterator[Place]:
    """Yield the episodes in a value. A value without any is yielded itself, to be reported as a failure."""
    place, value = at
    if steps_of(value) is not None or deep > _MAX_DEPTH:
        yield at
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _episodes((f"{place}[{i}]", item), deep + 1)
    elif (
        isinstance(value, dict)
        and not _is_meta(value)
        and (inner := [key for key, item in value.items() if _has_episode(item) or _is_meta(item)])
    ):
        for key in inner:
            yield from _episodes((f"{place}.{key}" if place else str(key), value[key]), deep + 1)
    else:
        yield at


def _has_episode(value: Any, deep: int = 0) -> bool:
    """Return True if a value contains an episode."""
    if steps_of(value) is not None:
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    # A few items are enough to recognize a file.
    return deep < _MAX_DEPTH and any(_has_episode(item, deep + 1) for item in list(inner)[:8])


def steps_of(value: Any) -> tuple[str, list[Any]] | None:
    """Return the field and the list of an episode's steps ("" if the episode is the list), None if not an episode."""
    if isinstance(value, list):
        whole = len(value) > 1 and _is_meta(value[0]) and all(_is_step(step) for step in value[1:])
        return ("", value[1:]) if whole else None
    if not isinstance(value, dict):
        return None
    list_keys = [key for key in STEPS if isinstance(value.get(key), list)]
    for key in [*list_keys, *(key for key in value if key not in STEPS)]:
        rows = value[key]
        if isinstance(rows, list) and rows and all(_is_step(step) for step in rows[:1]):
            return key, rows
    bare = next((key for key in list_keys if key == "steps" and any(mark in value for mark in _META)), None)
    return (bare, value[bare]) if bare else None


def _is_meta(value: Any) -> bool:
    return isinstance(value, dict) and any(key in value for key in _META) and not _is_step(value)


def _is_step(value: Any) -> bool:
    """Return True if a value looks like a step: it has an action or a screen, and no steps of its own."""
    if not isinstance(value, dict) or any(isinstance(value.get(key), list) for key in STEPS):
        return False
    return any(key in value for key in _STEP_MARKS)


def _episode(source: RunSource, part: _JsonPart, place: str, raw_episode: Any, shots: ImageFinder) -> DacEpisode:
    path, label = str(source.path), part.label(place)
    steps = steps_of(raw_episode)
    if steps is None:
        raise LabError(path, f"{f'field {label}: ' if label else ''}holds no list of steps")
    field, rows = steps
    inside = f"{place}.{field}" if place and field else place or field
    for i, row in enumerate(rows):
        if not isinstance(row, dict):
            raise LabError(path, f"field {part.label(inside)}[{i}]: is no step")
    is_bare_list = isinstance(raw_episode, list)
    meta = raw_episode[0] if is_bare_list else {key: value for key, value in raw_episode.items() if key != field}
    own = next((name for key in _IDS if (name := words(meta.get(key)))), "")
    key = place.rpartition(".")[2]
    name = own or ("" if "[" in key else key)
    return DacEpisode(name, meta, rows, inside, source, part.notes, shots, 1 if is_bare_list else 0)


def _is_file(candidate: CandidateFile) -> bool:
    """Return True if a file's first value contains an episode as in Fig. 6.

    Field names alone are not enough, because other programs use them, too.
    """
    if not candidate.name.endswith(_ENDINGS) or not any(
        all(mark in candidate.opening for mark in marks) for marks in _MARKS
    ):
        return False
    return any(_is_episode(raw_episode, candidate.is_cut) for _, raw_episode in _episodes(("", candidate.value)))


def _is_episode(raw_episode: Any, is_cut: bool) -> bool:
    """Return True if a value has an instruction, a device, screen or app, and steps with actions, if any."""
    step_list = steps_of(raw_episode)
    if step_list is None:
        return False
    field, steps = step_list
    meta = raw_episode if field else raw_episode[0]
    if "instruction" not in meta or "task_info" in meta or not any(key in meta for key in _META_FIELDS):
        return False
    return not steps or any(isinstance(step, dict) and _has_action(step, is_cut) for step in steps)


def _has_action(step: dict[str, Any], is_cut: bool) -> bool:
    """Return True if a step has an action, or could have one in a part of the file that was not read."""
    action_fields = next((step[key] for key in ACTIONS if key in step), [] if is_cut else step)
    acts = action_fields if isinstance(action_fields, list) else [action_fields]
    return not acts or any(isinstance(act, str) or (isinstance(act, dict) and "action_type" in act) for act in acts)


DAC = Format(
    name=NAME,
    title="DAC-Bench",
    is_run_folder=lambda folder, names, root: False,
    is_file=_is_file,
    read=read,
)
