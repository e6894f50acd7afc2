"""Runs of KnowU-Bench and MobileWorld: folders with `traj.json`, and leaderboard bundles (`*.json`, `*.json.gz`).

Source: `runtime/utils/trajectory_logger.py` and `site/bundle_trajs.py` of those projects. This file finds the runs and
reads their files; what they mean is in `run`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from lab.core.codec import escape_surrogates, read_json
from lab.core.errors import LabError
from lab.core.run_records import Imported, Verdict
from lab.core.step import Point
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.failures import with_failures
from store.formats.files import PICTURE, numbered
from store.formats.geometry import point
from store.formats.knowu.judged import judged, placed
from store.formats.knowu.log import read_logs
from store.formats.knowu.run import NAME, KnowuEpisode, imported, usual_shape
from store.formats.values import as_count, as_mappings, decoded

_THREAD = re.compile(r"thread_\d+\.log")
_ATTEMPT_FOLDER = re.compile(r"attempt_\d+")
_BACKUP = re.compile(r"_backup_\d{8}_\d{6}")
_KEYS = ("0", "token_usage")
"""What a `traj.json` of the logger holds, and nothing else."""
_LOGGED = frozenset({"traj", "tools", "token_usage"})
_DAMAGED = re.compile(rb'\[\s*\]|\Z|\xff\xfe|\xfe\xff|\{\s*"(?:0|token_usage)"\s*:\s*\{')
"""How a `traj.json` may begin of which no mapping can be read: as an empty one, as UTF-16, or as a damaged one."""

_BESIDE = ("token_usage", "result", "tools", "attempts")
"""Fields of a bundle's run beside its steps."""
_SHOT = re.compile(rf"-(\d+)\.{PICTURE}$", re.I)


@with_failures
def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """The run of a folder, or every run of a bundle."""
    if source.path.is_dir():
        yield imported(_folder_episode(source), is_known)
    else:
        yield from _bundle(source, is_known)


def _folder_episode(source: RunSource) -> KnowuEpisode:
    folder = source.path
    path = folder / "traj.json"
    data = source.text(path)
    value, notes = read_json(data, str(path))
    run_fields, field = _held(value, str(path))
    result = source.side_text(folder / "result.txt")
    task, log_root, attempt = placed(folder.resolve())
    name = escape_surrogates(_BACKUP.sub("", task))
    return KnowuEpisode(
        name=name,
        model=escape_surrogates(log_root.name) or "unknown",
        path=escape_surrogates(str(path)),
        data=data,
        steps=as_mappings(_steps(run_fields), str(path), "step", f"{field}.traj"),
        field=f"{field}.traj",
        notes=notes,
        tokens=run_fields["token_usage"] if run_fields.get("token_usage") is not None else value.get("token_usage"),
        tools=run_fields.get("tools"),
        result=decoded(result) if result else None,
        shots=numbered(folder / "screenshots", _SHOT),
        source=source,
        log=read_logs(source),
        shape=_without_steps(value, run_fields),
        attempt=attempt,
        log_root=log_root,
        verdicts=judged(source, log_root, task, attempt),
    )


def _without_steps(value: dict[str, Any], run_fields: dict[str, Any]) -> Any:
    """The file as it is built, an empty list in the place of its steps."""
    bare = {**run_fields, "traj": []} if isinstance(run_fields.get("traj"), list) else run_fields
    return {key: bare if part is run_fields else part for key, part in value.items()}


def _held(value: Any, what: str) -> tuple[dict[str, Any], str]:
    """The one episode of a traj.json and its key: `{}` before the first step, and other keys may stand beside it."""
    if not isinstance(value, dict):
        raise LabError(what, "holds no mapping of fields")
    if not value:
        return {}, "0"
    key = "0" if "0" in value else next((k for k, v in value.items() if isinstance(v, dict) and "traj" in v), None)
    if key is None or not isinstance(value[key], dict):
        raise LabError(what, "field 0: not there; it holds no run")
    return value[key], key


def _steps(run_fields: dict[str, Any]) -> Any:
    """What stands where the steps do; none where that is null."""
    return [] if run_fields.get("traj") is None else run_fields["traj"]


def _bundle(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    path = source.path
    value, notes = read_json(source.text(path), str(path))
    if not isinstance(value, dict):
        raise LabError(str(path), "holds no mapping of tasks")
    meta = value.get("_meta")
    model = escape_surrogates(re.sub(r"\.json(\.gz)?$", "", path.name))
    for name, raw_run in value.items():
        if name.startswith("_") or name == "token_usage" or (name != "0" and "0" in value and not _is_run(raw_run)):
            continue
        try:
            if not _is_run(raw_run):
                raise LabError(str(path), f"field {name}: is no run")
        except LabError as error:
            yield FailedRun(f"{path}#{name}", error.sentence)
            continue
        for attempt, place, attempt_fields in _tries(raw_run):
            field = f"{name}{place}"
            try:
                episode = KnowuEpisode(
                    source=source,
                    name=model if name == "0" else name,
                    model=model,
                    path=escape_surrogates(str(path)),
                    data=msgspec.json.encode(attempt_fields, order="deterministic"),
                    steps=as_mappings(_steps(attempt_fields), str(path), "step", f"{field}.traj"),
                    field=f"{field}.traj",
                    notes=notes,
                    tokens=attempt_fields.get("token_usage"),
                    tools=attempt_fields.get("tools"),
                    result=attempt_fields.get("result") if isinstance(attempt_fields.get("result"), str) else None,
                    size=_meta_size(meta),
                    verdicts=[Verdict("bundle", extra=meta)] if isinstance(meta, dict) and meta else [],
                    shape=_as_folder(attempt_fields),
                    attempt=attempt,
                )
                yield imported(episode, is_known)
            except LabError as error:
                yield FailedRun(f"{path}#{field}", error.sentence)


def _is_run(value: Any) -> bool:
    return isinstance(value, dict) and "traj" in value


def _tries(run_fields: dict[str, Any]) -> list[tuple[int, str, dict[str, Any]]]:
    """Each attempt at a task: its number, where it stands in its field, and what it holds.

    MemGUI-Bench's bundles hold every attempt in `attempts`, the best of them once more in the task's own fields.
    """
    tries = run_fields.get("attempts")
    if not isinstance(tries, list) or not tries or not all(_is_run(attempt) for attempt in tries):
        return [(1, "", run_fields)]
    numbers = [as_count(attempt.get("attempt_num")) or i for i, attempt in enumerate(tries, 1)]
    return [(numbers[i], f".attempts[{i}]", attempt) for i, attempt in enumerate(tries)]


def _as_folder(run_fields: dict[str, Any]) -> dict[str, Any]:
    """What the folder of a bundle's run would hold without its steps; its result stands in a file of its own there."""
    own = {key: value for key, value in run_fields.items() if key not in ("traj", "token_usage", "result", "tools")}
    usual = usual_shape(run_fields.get("tools"), run_fields.get("token_usage"))
    return {"0": {**usual["0"], **own}}


def _meta_size(meta: Any) -> Point | None:
    if not isinstance(meta, dict):
        return None
    size = point(meta.get("original_width"), meta.get("original_height"))
    return size if size is not None and min(size) > 0 else None


def _is_bundle(candidate: CandidateFile) -> bool:
    """A mapping of tasks to mappings with a list of steps; `traj` alone is a field of other programs, too."""
    if not candidate.is_json or b'"traj"' not in candidate.opening or not isinstance(candidate.value, dict):
        return False
    return any(_tells_steps(task_value) for task_value in candidate.value.values())


def _tells_steps(value: Any) -> bool:
    """Whether a value is a run as far as its file was looked at: steps, or none yet with what stands beside them."""
    if not isinstance(value, dict) or not isinstance(value.get("traj"), list):
        return False
    if not value["traj"]:
        return any(field in value for field in _BESIDE)
    first = value["traj"][0]
    return isinstance(first, dict) and (not first or "task_goal" in first or isinstance(first.get("action"), dict))


def _is_run_folder(folder: Path, names: set[str], root: Path) -> bool:
    """A folder with a `traj.json` but for other programs'; what cannot be looked into counts."""
    if "traj.json" not in names:
        return False
    path = folder / "traj.json"
    if path.is_symlink() or not path.is_file():
        return True
    candidate = CandidateFile(path, root)
    try:
        value = candidate.value
    except LabError:
        return True
    if not isinstance(value, dict):
        return _DAMAGED.match(candidate.opening) is not None
    if all(key in _KEYS and _is_logged(key, field_value) for key, field_value in value.items()):
        return True
    return any(
        isinstance(field_value, dict) and isinstance(field_value.get("traj", ()), list | None)
        for field_value in value.values()
    )


def _is_logged(key: str, value: Any) -> bool:
    """Whether the logger writes such a value under its key; other programs number their things from 0, too."""
    return value is None or (isinstance(value, dict) and (key != "0" or not value or not _LOGGED.isdisjoint(value)))


def _without_log(folder: Path, names: set[str], root: Path) -> str:
    """Why a folder with screens or a thread's log is no run; empty for others."""
    if "traj.json" in names or _ATTEMPT_FOLDER.fullmatch(folder.name):
        return ""
    if any(_THREAD.fullmatch(name) for name in names) or (folder / "marked_screenshots").is_dir():
        return "screens or a thread's log, and no traj.json"
    return ""


KNOWU = Format(
    name=NAME,
    title="KnowU-Bench and MobileWorld",
    is_run_folder=_is_run_folder,
    is_file=_is_bundle,
    is_without_log=_without_log,
    skips_folder=lambda name: "_backup_" in name,
    read=read,
)
