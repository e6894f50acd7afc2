"""tau2-bench's results (`{info, tasks, simulations}`, or a folder `simulations` beside them), and tau-bench's lists.

Source: `src/tau2/data_model/simulation.py` and `message.py` of sierra-research/tau2-bench. This module finds the
conversations and reads them one at a time, `run` interprets them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lab.core.codec import StorableValue, escape_surrogates, read_json
from lab.core.errors import LabError
from lab.core.run_records import Imported
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.failures import with_failures
from store.formats.json_parts import is_list, list_items, split_object
from store.formats.tau2.run import NAME, FileContext, imported
from store.formats.values import as_mapping

_FOLDER = "simulations"
_INDEX = "results.json"
_MARKS = (b'"simulations"', b'"agent_info"', b'"task_id"')


@with_failures
def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield every conversation of a file, and of the folder `simulations` beside a `results.json`."""
    path = source.path
    data = source.text(path)
    source_path = escape_surrogates(str(path))
    if is_list(data):
        yield from _read_runs(list_items(data, source_path), FileContext(source_path, {}, {}), is_known)
        return
    results = split_object(data, "simulations", source_path)
    if "task_id" in results.rest:
        yield from _read_runs(iter([read_json(data, source_path)]), FileContext(source_path, {}, {}), is_known)
        return
    context = FileContext(source_path, as_mapping(results.rest.get("info")), _tasks_by_id(results.rest.get("tasks")))
    yield from _read_runs(results.items, context, is_known)
    if path.name == _INDEX:
        yield from _read_folder(source, path.parent / _FOLDER, context, is_known)


def _read_folder(
    source: RunSource, folder: Path, context: FileContext, is_known: Callable[[str], bool]
) -> Iterator[Imported | KnownRun | FailedRun]:
    if not folder.is_dir():
        return
    for path in sorted(folder.glob("[!.]*.json")):
        try:
            value = read_json(source.text(path), str(path))
        except LabError as error:
            yield FailedRun(str(path), error.sentence)
            continue
        yield from _read_runs(iter([value]), context._replace(path=escape_surrogates(str(path))), is_known)


def _read_runs(
    runs: Iterator[StorableValue | LabError], context: FileContext, is_known: Callable[[str], bool]
) -> Iterator[Imported | KnownRun | FailedRun]:
    for i, run in enumerate(runs):
        name = f"{context.path}#{i}"
        if isinstance(run, LabError):
            yield FailedRun(name, run.sentence)
            continue
        try:
            if not isinstance(run.value, dict):
                raise LabError(name, "is no conversation")
            if run.value.get("messages") is None and run.value.get("traj") is None:
                sound = "holds ticks of sound and no messages; only conversations in text are read"
                raise LabError(
                    name, sound if run.value.get("ticks") else "field messages: is not there; this is no run"
                )
            yield imported(run.value, run.notes, context, is_known)
        except LabError as error:
            yield FailedRun(name, error.sentence)


def _tasks_by_id(value: Any) -> dict[str, dict[str, Any]]:
    return {str(task.get("id")): task for task in value if isinstance(task, dict)} if isinstance(value, list) else {}


def _is_results(candidate: CandidateFile) -> bool:
    if not candidate.is_json or not any(mark in candidate.opening for mark in _MARKS):
        return False
    value = candidate.value
    if isinstance(value, list):
        return any("reward" in item and _is_conversation(item) for item in candidate.items)
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("simulations"), list):
        has_fields = any(isinstance(value.get(field), list | dict) for field in ("tasks", "info"))
        return has_fields or any(isinstance(run, dict) and _is_conversation(run) for run in value["simulations"])
    info = as_mapping(value.get("info"))
    if "agent_info" in info and "user_info" in info:
        return True
    # One conversation of a folder `simulations`, unless its `results.json` already reads it.
    alone = "termination_reason" in value and (_is_conversation(value) or (candidate.is_cut and "start_time" in value))
    return alone and "task_id" in value and not _is_indexed(candidate.path)


def _is_conversation(run: dict[str, Any]) -> bool:
    """Return True if a value is a conversation about a task: messages with roles, or ticks of sound."""
    if "task_id" not in run:
        return False
    messages = next((run[field] for field in ("messages", "traj") if isinstance(run.get(field), list)), None)
    if messages is None:
        return isinstance(run.get("ticks"), list)
    return not messages or (isinstance(messages[0], dict) and "role" in messages[0])


def _is_indexed(path: Path) -> bool:
    """Return True if a `results.json` above this file's folder includes it."""
    return path.parent.name == _FOLDER and (path.parent.parent / _INDEX).is_file()


TAU2 = Format(
    name=NAME, title="tau2-bench", is_run_folder=lambda folder, names, root: False, is_file=_is_results, read=read
)
