"""Runs of KnowU-Bench and MobileWorld: folders with `traj.json`, and leaderboard bundles (`*.json`, `*.json.gz`).

Source: `runtime/utils/trajectory_logger.py` and `site/bundle_trajs.py` of those projects. This module finds the runs
and reads their files, `run` interprets them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from lab.core.codec import escape_surrogates, read_json
from lab.core.errors import LabError
from lab.core.run.run_records import Imported, Verdict
from lab.core.run.step import Point
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.failures import with_failures
from store.formats.files import PICTURE, files_by_number
from store.formats.geometry import point
from store.formats.knowu.judged import judge_verdicts, task_root_attempt
from store.formats.knowu.log import read_logs
from store.formats.knowu.run import NAME, KnowuEpisode, imported, usual_shape
from store.formats.values import as_count, as_mappings, decode_utf8

_THREAD = re.compile(r"thread_\d+\.log")
_ATTEMPT_FOLDER = re.compile(r"attempt_\d+")
_BACKUP = re.compile(r"_backup_\d{8}_\d{6}")
_KEYS = ("0", "token_usage")
"""The only keys in a `traj.json` that the logger writes."""
_LOGGED = frozenset({"traj", "tools", "token_usage"})
_DAMAGED = re.compile(rb'\[\s*\]|\Z|\xff\xfe|\xfe\xff|\{\s*"(?:0|token_usage)"\s*:\s*\{')
"""Possible openings of a `traj.json` without a readable mapping: empty, UTF-16, or damaged."""

_RUN_FIELDS = ("token_usage", "result", "tools", "attempts")
"""Fields of a bundle's run beside its steps."""
_SHOT = re.compile(rf"-(\d+)\.{PICTURE}$", re.I)


@with_failures
def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield the run of a folder, or every run of a bundle."""
    if source.path.is_dir():
        yield imported(_folder_episode(source), is_known)
    else:
        yield from _read_bundle(source, is_known)


def _folder_episode(source: RunSource) -> KnowuEpisode:
    folder = source.path
    path = folder / "traj.json"
    data = source.text(path)
    value, notes = read_json(data, str(path))
    run_fields, field = _find_episode(value, str(path))
    result = source.side_text(folder / "result.txt")
    task, log_root, attempt = task_root_attempt(folder.resolve())
    name = escape_surrogates(_BACKUP.sub("", task))
    return KnowuEpisode(
        name=name,
        model=escape_surrogates(log_root.name) or "unknown",
        path=escape_surrogates(str(path)),
        data=data,
        steps=as_mappings(_raw_steps(run_fields), str(path), "step", f"{field}.traj"),
        field=f"{field}.traj",
        notes=notes,
        tokens=run_fields["token_usage"] if run_fields.get("token_usage") is not None else value.get("token_usage"),
        tools=run_fields.get("tools"),
        result=decode_utf8(result) if result else None,
        shots=files_by_number(folder / "screenshots", _SHOT),
        source=source,
        log=read_logs(source),
        shape=_without_steps(value, run_fields),
        attempt=attempt,
        log_root=log_root,
        verdicts=judge_verdicts(source, log_root, task, attempt),
    )


def _without_steps(value: dict[str, Any], run_fields: dict[str, Any]) -> Any:
    """Return the file's structure with an empty list in place of its steps."""
    bare = {**run_fields, "traj": []} if isinstance(run_fields.get("traj"), list) else run_fields
    return {key: bare if part is run_fields else part for key, part in value.items()}


def _find_episode(value: Any, what: str) -> tuple[dict[str, Any], str]:
    """Return the one episode of a traj.json and its key.

    Before the first step the file is `{}`. Other keys may exist beside the episode's.
    """
    if not isinstance(value, dict):
        raise LabError(what, "holds no mapping of fields")
    if not value:
        return {}, "0"
    key = "0" if "0" in value else next((k for k, v in value.items() if isinstance(v, dict) and "traj" in v), None)
    if key is None or not isinstance(value[key], dict):
        raise LabError(what, "field 0: not there; it holds no run")
    return value[key], key


def _raw_steps(run_fields: dict[str, Any]) -> Any:
    """Return the value of the steps' field, an empty list for null."""
    return [] if run_fields.get("traj") is None else run_fields["traj"]


def _read_bundle(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
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
        for attempt, place, attempt_fields in _attempts(raw_run):
            field = f"{name}{place}"
            try:
                episode = KnowuEpisode(
                    source=source,
                    name=model if name == "0" else name,
                    model=model,
                    path=escape_surrogates(str(path)),
                    data=msgspec.json.encode(attempt_fields, order="deterministic"),
                    steps=as_mappings(_raw_steps(attempt_fields), str(path), "step", f"{field}.traj"),
                    field=f"{field}.traj",
                    notes=notes,
                    tokens=attempt_fields.get("token_usage"),
                    tools=attempt_fields.get("tools"),
                    result=attempt_fields.get("result") if isinstance(attempt_fields.get("result"), str) else None,
                    size=_meta_size(meta),
                    verdicts=[Verdict("bundle", extra=meta)] if isinstance(meta, dict) and meta else [],
                    shape=_folder_shape(attempt_fields),
                    attempt=attempt,
                )
                yield imported(episode, is_known)
            except LabError as error:
                yield FailedRun(f"{path}#{field}", error.sentence)


def _is_run(value: Any) -> bool:
    return isinstance(value, dict) and "traj" in value


def _attempts(run_fields: dict[str, Any]) -> list[tuple[int, str, dict[str, Any]]]:
    """Return number, path and content of each attempt at a task.

    MemGUI-Bench's bundles have every attempt in `attempts`, and the best one again in the task's own fields.
    """
    tries = run_fields.get("attempts")
    if not isinstance(tries, list) or not tries or not all(_is_run(attempt) for attempt in tries):
        return [(1, "", run_fields)]
    numbers = [as_count(attempt.get("attempt_num")) or i for i, attempt in enumerate(tries, 1)]
    return [(numbers[i], f".attempts[{i}]", attempt) for i, attempt in enumerate(tries)]


def _folder_shape(run_fields: dict[str, Any]) -> dict[str, Any]:
    """Return the structure of the folder's `traj.json` for a bundle's run, which has the result in a separate file."""
    own = {key: value for key, value in run_fields.items() if key not in ("traj", "token_usage", "result", "tools")}
    usual = usual_shape(run_fields.get("tools"), run_fields.get("token_usage"))
    return {"0": {**usual["0"], **own}}


def _meta_size(meta: Any) -> Point | None:
    if not isinstance(meta, dict):
        return None
    size = point(meta.get("original_width"), meta.get("original_height"))
    return size if size is not None and min(size) > 0 else None


def _is_bundle(candidate: CandidateFile) -> bool:
    """Return True if a file maps tasks to mappings with a list of steps. Other programs also have a field `traj`."""
    if not candidate.is_json or b'"traj"' not in candidate.opening or not isinstance(candidate.value, dict):
        return False
    return any(_has_steps(task_value) for task_value in candidate.value.values())


def _has_steps(value: Any) -> bool:
    """Return True if the visible part of a value is a run: steps, or an empty list beside the usual fields."""
    if not isinstance(value, dict) or not isinstance(value.get("traj"), list):
        return False
    if not value["traj"]:
        return any(field in value for field in _RUN_FIELDS)
    first = value["traj"][0]
    return isinstance(first, dict) and (not first or "task_goal" in first or isinstance(first.get("action"), dict))


def _is_run_folder(folder: Path, names: set[str], root: Path) -> bool:
    """Return True for a folder with a `traj.json`, unless it is another program's. Unreadable files count."""
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
    """Return True if the logger writes such a value under its key. Other programs also number things from 0."""
    return value is None or (isinstance(value, dict) and (key != "0" or not value or not _LOGGED.isdisjoint(value)))


def _without_log(folder: Path, names: set[str], root: Path) -> str:
    """Return why a folder with screens or a thread's log is not a run, or empty for other folders."""
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
