"""One episode of AndroidWorld as events.

`episode_data` is a dict of columns. Some hold None where a step failed, and some may be shorter: value i belongs to
step i, as in the project's own code. Screens and elements are those before the action. The last screen after an action
is the run's final one. The status is failed after a crash, completed if the agent or the source says so, else budget.
Source: `android_world/suite_utils.py`, `episode_runner.py`, `constants.py` and `agents/*.py`.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

from lab.core.codec import escape_surrogates
from lab.core.errors import LabError
from lab.core.run.run_records import Imported
from lab.core.run.step import ENDING, Action, Point, Usage, total_usage
from lab.core.run.trace import Conditions, DeviceInfo
from lab.core.run.ui_tree import Bounds, UiTree
from lab.core.task.task import Actor, Task
from store.formats.androidworld.actions import action_of, parse_action, reason_in, tree_of, unplaced_fields
from store.formats.androidworld.answers import usage_of
from store.formats.androidworld.values import LargeBytes, Shaper, fields_of, shot_of
from store.formats.draft import RunDraft
from store.formats.geometry import as_coordinate
from store.formats.image_spool import RunImages, Spool, SpooledImage

NAME = "androidworld"
_MOST_STEPS = 100_000
_BEFORE = ("raw_screenshot", "before_screenshot", "screenshot", "before_screenshot_with_som", "pixels")
_AFTER = ("after_screenshot", "after_screenshot_with_som")
_NOT_BEFORE = ("after", "next", "predict")
_ELEMENTS = ("before_ui_elements", "before_element_list", "ui_elements", "elements")
_AFTER_ELEMENTS = ("after_ui_elements", "after_element_list")
_ACTIONS = ("action_output_json", "converted_action", "action", "json_action", "action_dict")
_OUTPUTS = ("action_output", "agent_output", "action_response", "response", "output", "action_raw_response")
_THOUGHTS = ("action_reason", "reason", "thought")
_ANSWERS = ("action_raw_response", "summary_raw_response")
_TOP = ("goal", "task_template", "episode_data", "exception_info", "is_successful")
_HUMANS = {"human", "human_agent", "humanagent"}
_SCRIPTS = {"random", "random_agent", "randomagent"}

Row = dict[str, Any]


class AndroidWorldEpisode(NamedTuple):
    """One run in a pickle: `id`, `path` and `sha256` of the file, and the run's `place` for messages."""

    id: str
    path: str
    place: str
    sha256: str
    fields: dict[Any, Any]


def is_episode(value: Any) -> bool:
    """Return True if a value of a pickle is an episode of AndroidWorld."""
    return isinstance(value, dict) and "episode_data" in value


def imported(episode: AndroidWorldEpisode, spool: Spool) -> Imported:
    """Return an episode as an imported run. Raise `LabError` if it is inconsistent."""
    return _RunDraft(episode, spool).imported()


class _RunDraft:
    """Conversion of one episode to events."""

    def __init__(self, episode: AndroidWorldEpisode, spool: Spool) -> None:
        self.episode = episode
        self.spool = spool
        self.shaper = Shaper(episode.place)
        self.shots = RunImages(spool)
        self.rows, self.rest = _split_rows(episode)
        self.ragged = frozenset(self.rest.get("ragged", ()))
        self.screen = _screen_size(fields_of(episode.fields.get("screen_config")) or {})
        self.last: Action | None = None
        self.acted = False
        fields = episode.fields
        self.score, self.told = _parse_score(fields.get("is_successful"))
        crash = fields.get("exception_info")
        self.crash = self._as_text(crash) if crash is not None and not _is_nan(crash) else ""

    def imported(self) -> Imported:
        fields = self.episode.fields
        name = self._as_text(fields.get("agent_name")) or "unknown"
        seed = fields.get("seed")
        draft = RunDraft(
            self.episode.id,
            self._task(),
            Actor("human" if name.lower() in _HUMANS else "script" if name.lower() in _SCRIPTS else "model", name),
            format=NAME,
            path=self.episode.path,
            sha256=self.episode.sha256,
            model=name,
            images=self.shots,
            device=DeviceInfo(size=self.screen),
            conditions=Conditions(seed=seed if type(seed) is int and abs(seed) < 2**63 else 0),
        )
        for i, row in enumerate(self.rows):
            self._step(draft, i, row)
        draft.verdict("is_successful", self.told, self.crash)
        draft.verdict("source", **self._source_fields())
        self._end(draft)
        return draft.imported()

    def _task(self) -> Task:
        fields = self.episode.fields
        template = self._as_text(fields.get("task_template")) or "unknown"
        instance = fields.get("instance_id")
        traits = {"instance": self._as_text(instance)} if type(instance) in (int, str) else {}
        return Task(id=template, kind="general", instruction=self._as_text(fields.get("goal")), traits=traits)

    def _step(self, draft: RunDraft, i: int, row: Row) -> None:
        shot = self._find_picture(row, _BEFORE) or self._find_any_picture(row)
        size = shot.size if shot else self.screen
        scale = _scale(size, self.screen)
        elements = _elements(row, _ELEMENTS)
        tree = tree_of(elements, self.screen, scale) if elements else None
        self.shaper.notes.clear()
        source = self._action(row)
        extra = self._extra(i, row, elements)
        action = action_of(source, size, scale, None if tree is None else lambda index: _element_box(tree, index))
        output = next((row[name] for name in _OUTPUTS if isinstance(row.get(name), str)), None)
        thought = next((row[name] for name in _THOUGHTS if isinstance(row.get(name), str)), None)
        reason = reason_in(output)
        # The column may be shifted, but the output certainly belongs to this step.
        if reason and self.ragged & {*_THOUGHTS}:
            thought = reason
        usages = [usage for name in _ANSWERS if (usage := usage_of(row.get(name)))]
        usage = total_usage(usages) if usages else None
        error = row.get("error")
        draft.step(
            action,
            self.shots.observation(shot, tree, self.screen),
            thought=self._as_text(thought or reason),
            raw=self._as_text(output) if output else None,
            usage=usage,
            error=self._as_text(error) if isinstance(error, str) and error else None,
            extra=extra,
        )
        self.last = action
        self.acted |= action.raw is not None

    def _action(self, row: Row) -> Any:
        """Return the step's action as JSON, parsed from the model's output if no column certainly has it.

        A column shorter than the others misses a value for an unknown step, so it is used last.
        """
        certain = [(name, row.get(name)) for name in _ACTIONS if name not in self.ragged]
        outputs = [(name, row.get(name)) for name in _OUTPUTS]
        late = [(name, row.get(name)) for name in _ACTIONS if name in self.ragged]
        for name, value in [*certain, *outputs, *late]:
            own_fields = fields_of(value)
            fields = own_fields if own_fields is not None and "action_type" in own_fields else parse_action(value)
            if fields is not None:
                return self.shaper.shape(fields, name)
        return None

    def _extra(self, i: int, row: Row, elements: list[Any]) -> dict[str, Any]:
        """Return the columns without a place of their own, except pictures and elements that the tree contains."""
        output = next((name for name in _OUTPUTS if isinstance(row.get(name), str)), "")
        placed_columns = {*_ELEMENTS, *_AFTER_ELEMENTS} if elements else set()
        placed_columns |= {output, next((name for name in _THOUGHTS if isinstance(row.get(name), str)), "")}
        placed_columns |= {name for name in _ACTIONS if "action_type" in (fields_of(row.get(name)) or {})}
        placed_columns -= self.ragged
        extra: dict[str, Any] = {}
        for name, value in row.items():
            if name in placed_columns or value is None or shot_of(value) or self._is_picture(value):
                continue
            if name == "step_number" and value == i:
                continue
            extra[escape_surrogates(name)] = self.shaper.shape(value, name)
        if others := unplaced_fields(elements):
            extra["ui_elements"] = self.shaper.shape(others, "ui_elements")
        if i == 0 and self.rest:
            extra["episode_data"] = self.shaper.shape(self.rest, "episode_data")
        if self.shaper.notes:
            extra["missing"] = list(self.shaper.notes)
        return extra

    def _is_picture(self, value: Any) -> bool:
        """Return True if a value is a picture's bytes, which JSON cannot hold."""
        data = value.data if isinstance(value, LargeBytes) else value
        return isinstance(data, bytes) and data.startswith((b"\x89PNG", b"\xff\xd8\xff"))

    def _find_picture(self, row: Row, names: tuple[str, ...]) -> SpooledImage | None:
        for name in names:
            value = row.get(name)
            data = value.data if isinstance(value, LargeBytes) else value
            shot = self.spool.add(data) if isinstance(data, bytes) else shot_of(value)
            if shot is not None:
                return shot
        return None

    def _find_any_picture(self, row: Row) -> SpooledImage | None:
        names = tuple(name for name in row if not name.lower().startswith(_NOT_BEFORE))
        return self._find_picture(row, names)

    def _source_fields(self) -> dict[str, Any]:
        """Return the episode's remaining fields."""
        self.shaper.notes.clear()
        fields = self.episode.fields
        source = {
            self._as_text(key): self.shaper.shape(value, str(key))
            for key, value in fields.items()
            if key not in _TOP and value is not None and not shot_of(value)
        }
        if self.told is not None and self.score is None:
            source["is_successful"] = self.told
        if self.shaper.notes:
            source["missing"] = list(self.shaper.notes)
        return source

    def _end(self, draft: RunDraft) -> None:
        seconds = as_coordinate(self.episode.fields.get("run_time"))
        status: Literal["completed", "failed", "budget"] = "budget"
        reason = ""
        if self.crash:
            status, reason = "failed", self.crash
        elif self.last is None:
            status, reason = "failed", "the source holds no steps"
        elif not self.acted or self.last.kind in ENDING or (self.score or 0) > 0:
            status = "completed"
        draft.end(
            status,
            self.score,
            reason,
            final=self._final_observation(),
            usage=None if seconds is None else Usage(seconds=seconds),
        )

    def _final_observation(self) -> Any:
        """Return the screen after the last action. A final action such as `status` does not change the screen."""
        for row in reversed(self.rows):
            if (shot := self._find_picture(row, _AFTER)) is not None:
                elements = _elements(row, _AFTER_ELEMENTS)
                tree = tree_of(elements, self.screen, _scale(shot.size, self.screen)) if elements else None
                return self.shots.observation(shot, tree, None)
            if (self.last is None or self.last.kind not in ENDING) or row is not self.rows[-1]:
                return None
        return None

    def _as_text(self, value: Any) -> str:
        return (
            escape_surrogates(value)
            if isinstance(value, str)
            else ""
            if value is None
            else str(self.shaper.shape(value))
        )


def _split_rows(episode: AndroidWorldEpisode) -> tuple[list[Row], dict[str, Any]]:
    """Return the steps with their columns, and the fields of `episode_data` that are not columns."""
    data = episode.fields.get("episode_data")
    if isinstance(data, list | tuple) and all(isinstance(row, dict) for row in data):
        return [{str(name): value for name, value in row.items()} for row in data], {}
    if not isinstance(data, dict):
        if data is None or _is_nan(data):
            return [], {}
        raise LabError(episode.place, "field episode_data: is no mapping of columns")
    columns = {str(name): values for name, values in data.items() if isinstance(values, list | tuple)}
    rest = {str(name): values for name, values in data.items() if not isinstance(values, list | tuple)}
    numbers = columns.get("step_number")
    count = len(numbers) if numbers else max(map(len, columns.values()), default=0)
    if count > _MOST_STEPS:
        raise LabError(episode.place, f"field episode_data: holds {count:,} steps, more than {_MOST_STEPS:,}")
    ragged = {name: f"{len(values)} of {count} values" for name, values in columns.items() if len(values) != count}
    if ragged:
        rest["ragged"] = ragged
    return [{name: values[i] for name, values in columns.items() if i < len(values)} for i in range(count)], rest


def _elements(row: Row, names: tuple[str, ...]) -> list[Any]:
    """Return the elements of a step's screen in order, empty if they are missing or given as text."""
    for name in names:
        value = row.get(name)
        if isinstance(value, list | tuple) and value and all(fields_of(element) for element in value):
            return list(value)
    return []


def _element_box(tree: UiTree, index: int) -> Bounds | None:
    box = tree.roots[index].bounds if index < len(tree.roots) else None
    return box if box and box.area else None


def _screen_size(config: dict[Any, Any]) -> Point | None:
    match config.get("width"), config.get("height"):
        case int(width), int(height) if min(width, height) > 0 and max(width, height) < 2**20:
            return width, height
    return None


def _scale(shot_size: Point | None, screen: Point | None) -> float:
    """Return observed pixels per pixel of the phone: not 1 if screenshots were stored scaled down."""
    if not shot_size or not screen:
        return 1
    wide, high = (a / b for a, b in zip(sorted(shot_size), sorted(screen), strict=True))
    # Sorted sides, because the screen may be rotated. Another shape is not a scaled screen.
    return high if math.isclose(wide, high, rel_tol=0.02) else 1


def _parse_score(value: Any) -> tuple[float | None, Any]:
    """Return the score from 0 to 1, and the source's own number. Each is None if invalid."""
    if isinstance(value, bool):
        return float(value), value
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None, None
    return (float(value) if 0 <= value <= 1 else None), value


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
