"""AppAgent: runs (`tasks/task_<app>_<time>/`), explorations and demonstrations (`apps/<app>/demos/<demo>/`).

Source: `scripts/task_executor.py`, `self_explorer.py` and `step_recorder.py` of TencentQQGYLab/AppAgent, and forks
whose model answers with an *Intermediate Goal* and a *Function*. This file finds the files; what they mean is in
`run`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from lab.errors import LabError
from lab.records import Imported
from lab.wire import read_json
from store.formats import Failed, Format, Found, Known
from store.formats.appagent.run import NAME, Line, Screens, demonstration, run
from store.formats.failures import failures_told
from store.formats.files import numbered, read_within

_LOG = re.compile(r"log_.+_task_.+\.txt|log_explore_.+\.txt")
_SHOT = re.compile(r"(?:^|_)(\d{1,6})(?:_before)?\.(?:png|jpe?g)$", re.I)
_AFTER = re.compile(r"(?:^|_)(\d{1,6})_after\.(?:png|jpe?g)$", re.I)
_TREE = re.compile(r"(?:^|_)(\d{1,6})\.xml$", re.I)


@failures_told
def read(found: Found, known: Callable[[str], bool]) -> Iterator[Imported | Known | Failed]:
    """The run, exploration or demonstration of a folder."""
    if (found.path / "record.txt").is_file():
        yield _demonstration(found, known)
        return
    for log in sorted(path for path in found.path.iterdir() if _LOG.fullmatch(path.name)):
        yield _run(found, log, known)


def _run(found: Found, log: Path, known: Callable[[str], bool]) -> Imported | Known:
    data = read_within(found.root, log)
    lines, cut = _lines(data, log)
    explored = log.name.startswith("log_explore_")
    reflected: list[Line] = []
    if explored:
        for path in sorted(found.path.glob("log_reflect_*.txt")):
            reflected += _lines(read_within(found.root, path), path)[0]
    screens = Screens(
        found.root, numbered(found.path, _SHOT), numbered(found.path, _TREE), numbered(found.path, _AFTER)
    )
    return run(log, data, lines, screens, known, cut=cut, reflected=reflected)


def _demonstration(found: Found, known: Callable[[str], bool]) -> Imported | Known:
    folder = found.path
    data = read_within(found.root, folder / "record.txt")
    goal = folder / "task_desc.txt"
    said = read_within(found.root, goal) if goal.is_file() else b""
    shots, trees = folder / "raw_screenshots", folder / "xml"
    screens = Screens(found.root, numbered(shots, _SHOT), numbered(trees, _TREE), {})
    return demonstration(folder, data, said, screens, known)


def _lines(data: bytes, path: Path) -> tuple[list[Line], str]:
    """The objects of a file of JSON lines, and its last line where that was cut off while it was written."""
    lines: list[Line] = []
    texts = [(i, text) for i, text in enumerate(data.split(b"\n"), 1) if text.strip()]
    for i, text in texts:
        what = f"{path} line {i}"
        try:
            value, notes = read_json(text, what)
        except LabError:
            if i == texts[-1][0] and lines:
                return lines, text.decode("utf-8", "replace")
            raise
        if not isinstance(value, dict):
            raise LabError(what, "is no object with the fields of a step")
        lines.append(Line(value, notes))
    return lines, ""


def _is_run(folder: Path, names: set[str]) -> bool:
    if any(_LOG.fullmatch(name) for name in names):
        return True
    return "record.txt" in names and (folder / "raw_screenshots").is_dir()


APPAGENT = Format(name=NAME, title="AppAgent", is_run_folder=_is_run, is_file=lambda seen: False, read=read)
