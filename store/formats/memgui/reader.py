"""MemGUI-Bench and SPA-Bench: every folder with a log.json is one attempt of one agent at one task.

Layout: `session-<id>/<task>/<Agent>/attempt_<n>/log.json`, in SPA-Bench `session-<id>/<task>/<Agent>/log.json`, with
`<i>.png` beside it (the screen before step i + 1) and the session's `results.csv` above. Source: `framework/utils.py`
and `memgui_eval` of MemGUI-Bench, `framework` of SPA-Bench. This module finds and reads the files, `run` interprets
them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lab.core.codec import escape_surrogates, read_json
from lab.core.errors import LabError
from lab.core.run.run_records import Imported
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.draft import run_id
from store.formats.failures import with_failures
from store.formats.files import PICTURE, files_by_number
from store.formats.knowu.judged import is_copy
from store.formats.memgui.run import NAME, SIDE_FILES, MemguiRun, imported
from store.formats.memgui.table import row_of
from store.formats.values import as_mappings

_ATTEMPT = re.compile(r"attempt_(\d{1,6})")
_SHOT = re.compile(rf"\A(\d{{1,6}})\.{PICTURE}\Z", re.I)


@with_failures
def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield the one run of a folder, but nothing for MemGUI-Bench's own copy of a run that exists beside it."""
    if not is_copy(source.path):
        yield _read_attempt(source, is_known)


def _read_attempt(source: RunSource, is_known: Callable[[str], bool]) -> Imported | KnownRun:
    path = source.path / "log.json"
    data = source.text(path)
    task, agent, attempt = _names_in_path(source.path)
    id = run_id(NAME, f"{task}/{agent}/{attempt}", data)
    if is_known(id):
        return KnownRun(id, escape_surrogates(str(path)))
    value, notes = read_json(data, str(path))
    log = as_mappings(value, str(path), "step")
    unread: dict[str, str] = {}
    try:
        row = row_of(source, task)
    except LabError as error:
        row = None
        source.fallbacks.add("side file", error.title, error.body)
        unread["results.csv"] = error.message
    return imported(
        MemguiRun(
            id=id,
            task=task,
            agent=agent,
            attempt=attempt,
            path=escape_surrogates(str(path)),
            data=data,
            log=log,
            notes=notes,
            side_files=_read_side_files(source, unread),
            unread=unread,
            row=row,
            shots=files_by_number(source.path, _SHOT),
            source=source,
        )
    )


def _names_in_path(folder: Path) -> tuple[str, str, int]:
    """Return task, agent and attempt from the names of the folder and its parents."""
    here = folder.resolve()
    numbered = _ATTEMPT.fullmatch(here.name)
    agent = here.parent if numbered else here
    names = escape_surrogates(agent.parent.name), escape_surrogates(agent.name)
    return *names, int(numbered[1]) if numbered else 1


def _read_side_files(source: RunSource, unread: dict[str, str]) -> dict[str, Any]:
    """Return the content of the attempt's other files by name. Errors are added to `unread`."""
    contents: dict[str, Any] = {}
    for name in SIDE_FILES:
        path = source.path / f"{name}.json"
        if not path.is_file():
            continue
        try:
            contents[name] = read_json(source.text(path), str(path)).value
        except LabError as error:
            source.fallbacks.add("side file", path, error.body)
            unread[path.name] = escape_surrogates(error.message)
    return contents


def _is_run_folder(folder: Path, names: set[str], root: Path) -> bool:
    """Return True if the folder's log.json begins like these benchmarks': with a list of steps with actions."""
    path = folder / "log.json"
    if "log.json" not in names or not path.is_file():
        return False
    try:
        value = CandidateFile(path, root).value
    except LabError:
        return False
    return isinstance(value, list) and any(isinstance(step, dict) and _is_step(step) for step in value)


def _is_step(step: dict[str, Any]) -> bool:
    """Return True if a value has an action in these benchmarks' form, or is the final summary."""
    if "total_steps" in step:
        return any(field in step for field in ("finish_signal", "elapsed_time_exec", "elapsed_time_initial"))
    action = step.get("action")
    has_name = isinstance(action, list) and (not action or isinstance(action[0], str))
    return "step" in step and (has_name or "raw_action" in step or "action_output" in step)


def _without_log(folder: Path, names: set[str], root: Path) -> str:
    """Return why an attempt's folder is not a run, or empty for other folders."""
    shots = sum(_SHOT.fullmatch(name) is not None for name in names)
    return f"{shots} screens, and no log.json" if _ATTEMPT.fullmatch(folder.name) and "log.json" not in names else ""


MEMGUI = Format(
    name=NAME,
    title="MemGUI-Bench and SPA-Bench",
    is_run_folder=_is_run_folder,
    is_file=lambda candidate: False,
    read=read,
    is_without_log=_without_log,
)
