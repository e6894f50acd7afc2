"""AppAgent: runs (`tasks/task_<app>_<time>/`), explorations and demonstrations (`apps/<app>/demos/<demo>/`).

Source: `scripts/task_executor.py`, `self_explorer.py` and `step_recorder.py` of TencentQQGYLab/AppAgent, and forks
whose model answers with an *Intermediate Goal* and a *Function*. This module finds the files, `run` interprets them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from lab.core.codec import read_json
from lab.core.errors import LabError
from lab.core.run.run_records import Imported
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.appagent.run import NAME, LogLine, Screens, demonstration, run
from store.formats.failures import with_failures
from store.formats.files import PICTURE, files_by_number
from store.formats.values import decode_utf8

_LOG = re.compile(r"log_.+_task_.+\.txt|log_explore_.+\.txt")
_SHOT = re.compile(rf"(?:^|_)(\d{{1,6}})(?:_before)?\.{PICTURE}$", re.I)
_AFTER = re.compile(rf"(?:^|_)(\d{{1,6}})_after\.{PICTURE}$", re.I)
_STAMPED = re.compile(r"_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d\.txt$")
_MAX_ROUNDS = re.compile(rb"^MAX_ROUNDS[ \t]*:[ \t]*(\d{1,5})\b", re.M)
_TASK = re.compile(r"(?:task|self_explore|demo)_.+")
_ABOVE = 4
_MOST_CONFIG = 1024**2
_RECORDED = re.compile(rb"(?:tap|text|long_press|swipe)\(|stop\b|back\b")
_TREE = re.compile(r"(?:^|_)(\d{1,6})\.xml$", re.I)


@with_failures
def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield the runs, explorations or the demonstration of a folder."""
    if (source.path / "record.txt").is_file():
        yield _demonstration(source, is_known)
        return
    for log in sorted(path for path in source.path.iterdir() if _LOG.fullmatch(path.name)):
        yield _read_run(source, log, is_known)


def _read_run(source: RunSource, log: Path, is_known: Callable[[str], bool]) -> Imported | KnownRun:
    data = source.text(log)
    lines, cut_line = _read_lines(data, log)
    explored = log.name.startswith("log_explore_")
    reflections: list[LogLine] = []
    if explored:
        for path in sorted(source.path.glob("log_reflect_*.txt")):
            reflections += _read_lines(source.side_text(path) or b"", path)[0]
    screens = Screens(
        source,
        files_by_number(source.path, _SHOT),
        files_by_number(source.path, _TREE),
        files_by_number(source.path, _AFTER),
    )
    rounds = _max_rounds(source)
    return run(log, data, lines, screens, is_known, cut_line=cut_line, reflections=reflections, rounds=rounds)


def _max_rounds(source: RunSource) -> int | None:
    """Return `MAX_ROUNDS` of the nearest config.yaml above a run, within the root, or None if there is none."""
    here = source.path.resolve()
    for folder in here.parents[:_ABOVE]:
        path = folder / "config.yaml"
        if not folder.is_relative_to(source.root.resolve()) or not path.is_file():
            continue
        limit = _MAX_ROUNDS.search(source.side_text(path, most=_MOST_CONFIG) or b"")
        if limit:
            return max(1, int(limit[1]))
    return None


def _demonstration(source: RunSource, is_known: Callable[[str], bool]) -> Imported | KnownRun:
    folder = source.path
    data = source.text(folder / "record.txt")
    text = source.side_text(folder / "task_desc.txt") or b""
    shots, trees = folder / "raw_screenshots", folder / "xml"
    screens = Screens(source, files_by_number(shots, _SHOT), files_by_number(trees, _TREE), {})
    return demonstration(folder, data, text, screens, is_known)


def _read_lines(data: bytes, path: Path) -> tuple[list[LogLine], str]:
    """Return the objects of a JSON lines file, and its last line if that is cut off."""
    lines: list[LogLine] = []
    texts = [(i, text) for i, text in enumerate(data.split(b"\n"), 1) if text.strip()]
    for i, text in texts:
        what = f"{path} line {i}"
        try:
            value, notes = read_json(text, what)
        except LabError:
            if i == texts[-1][0] and lines:
                return lines, decode_utf8(text, what)
            raise
        if not isinstance(value, dict):
            raise LabError(what, "is no object with the fields of a step")
        lines.append(LogLine(value, notes))
    return lines, ""


def _is_run(folder: Path, names: set[str], root: Path) -> bool:
    logs = (name for name in names if _LOG.fullmatch(name))
    if any(_has_own_name(folder, name) or _begins_with_step(CandidateFile(folder / name, root)) for name in logs):
        return True
    record = CandidateFile(folder / "record.txt", root)
    return "record.txt" in names and (folder / "raw_screenshots").is_dir() and _is_record(record)


def _has_own_name(folder: Path, name: str) -> bool:
    """Return True if a log is named after its folder and its starting second, which no other program does."""
    return _STAMPED.search(name) is not None and name.endswith(f"_{folder.name}.txt")


def _begins_with_step(candidate: CandidateFile) -> bool:
    """Return True if a log is empty or begins with a step, even one that is cut off."""
    try:
        value = candidate.value
        return not candidate.opening or (
            isinstance(value, dict) and (not value or "response" in value or "step" in value)
        )
    except LabError:
        return True


def _is_record(candidate: CandidateFile) -> bool:
    """Return True if a `record.txt` is empty or begins with a recorded action."""
    try:
        return not candidate.opening or _RECORDED.match(candidate.opening) is not None
    except LabError:
        return True


def _without_log(folder: Path, names: set[str], root: Path) -> str:
    """Return why a folder with AppAgent's screens is not a run, or empty for other folders."""
    own = [name for name in names if name.startswith(f"{folder.name}_") and (_SHOT.search(name) or _TREE.search(name))]
    if _TASK.fullmatch(folder.name) and own:
        return f"{len(own)} screens and trees, and no log"
    return ""


APPAGENT = Format(
    name=NAME,
    title="AppAgent",
    is_run_folder=_is_run,
    is_file=lambda candidate: False,
    read=read,
    is_without_log=_without_log,
)
