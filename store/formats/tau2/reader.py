"""tau2-bench's results (`{info, tasks, simulations}`, or a folder `simulations` beside them), and tau-bench's lists.

Source: `src/tau2/data_model/simulation.py` and `message.py` of sierra-research/tau2-bench. This file finds the
conversations and reads them one at a time; what they mean is in `run`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lab.errors import LabError
from lab.records import Imported
from lab.wire import Read, escape_surrogates, read_json
from store.formats import Failed, Format, Found, Known, Seen
from store.formats.failures import failures_told
from store.formats.files import check_within, read_within, unpacked
from store.formats.pieces import each, is_list, pieces
from store.formats.tau2.run import NAME, Context, imported
from store.formats.values import as_mapping

_FOLDER = "simulations"
_INDEX = "results.json"


@failures_told
def read(found: Found, known: Callable[[str], bool]) -> Iterator[Imported | Known | Failed]:
    """Every conversation of a file, and of the folder `simulations` beside a `results.json`."""
    path = found.path
    check_within(found.root, path)
    data = unpacked(path)
    shown = escape_surrogates(str(path))
    if is_list(data):
        yield from _runs(each(data, shown), Context(shown, {}, {}), known)
        return
    held = pieces(data, "simulations", shown)
    if "task_id" in held.rest:
        yield from _runs(iter([read_json(data, shown)]), Context(shown, {}, {}), known)
        return
    context = Context(shown, as_mapping(held.rest.get("info")), _tasks(held.rest.get("tasks")))
    yield from _runs(held.items, context, known)
    if path.name == _INDEX:
        yield from _folder(found.root, path.parent / _FOLDER, context, known)


def _folder(
    root: Path, folder: Path, context: Context, known: Callable[[str], bool]
) -> Iterator[Imported | Known | Failed]:
    if not folder.is_dir():
        return
    for path in sorted(folder.glob("[!.]*.json")):
        try:
            value = read_json(read_within(root, path), str(path))
        except LabError as error:
            yield Failed(str(path), error.sentence)
            continue
        yield from _runs(iter([value]), context._replace(path=escape_surrogates(str(path))), known)


def _runs(
    runs: Iterator[Read | LabError], context: Context, known: Callable[[str], bool]
) -> Iterator[Imported | Known | Failed]:
    for i, run in enumerate(runs):
        name = f"{context.path}#{i}"
        if isinstance(run, LabError):
            yield Failed(name, run.sentence)
            continue
        try:
            if not isinstance(run.value, dict):
                raise LabError(name, "is no conversation")
            if run.value.get("messages") is None and run.value.get("ticks"):
                raise LabError(name, "holds ticks of sound and no messages; only conversations in text are read")
            yield imported(run.value, run.notes, context, known)
        except LabError as error:
            yield Failed(name, error.sentence)


def _tasks(value: Any) -> dict[str, dict[str, Any]]:
    return {str(task.get("id")): task for task in value if isinstance(task, dict)} if isinstance(value, list) else {}


def _is_results(seen: Seen) -> bool:
    if not seen.is_json:
        return False
    opening = seen.opening
    if opening.startswith(b"["):
        return (
            b'"task_id"' in opening and b'"reward"' in opening and (b'"traj"' in opening or b'"user_cost"' in opening)
        )
    if not opening.startswith(b"{"):
        return False
    if b'"agent_info"' in opening and b'"user_info"' in opening:
        return True
    if b'"simulations"' in opening and b'"task_id"' in opening:
        return True
    alone = b'"task_id"' in opening and b'"termination_reason"' in opening
    return alone and not _indexed(seen.path)


def _indexed(path: Path) -> bool:
    """Whether a `results.json` stands above the folder of this file and reads it."""
    return path.parent.name == _FOLDER and (path.parent.parent / _INDEX).is_file()


TAU2 = Format(name=NAME, title="tau2-bench", is_run_folder=lambda folder, names: False, is_file=_is_results, read=read)
