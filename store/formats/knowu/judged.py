"""MemGUI-Bench's judgements of a run in this layout: `_memgui_eval` in the log root.

`<task>/<agent>/attempt_<n>/` in it has a copy of the run in MemGUI-Bench's own layout and the judgements. Attempts
after the first are in `_attempt_trajs/<task>/attempt_<n>`. Source: `runtime/utils/memgui_eval.py` and `core/runner.py`
of MemGUI-Bench.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lab.core.codec import read_json
from lab.core.errors import LabError
from lab.core.run.run_records import Verdict
from store.formats import RunSource
from store.formats.memgui.run import judgement
from store.formats.values import as_mapping, as_text

EVALUATED = "_memgui_eval"
ATTEMPTS = "_attempt_trajs"
_ATTEMPT = re.compile(r"attempt_(\d{1,6})")
_FILES = ("evaluation_summary", "final_decision", "irr_analysis", "badcase_analysis")


def task_root_attempt(folder: Path) -> tuple[str, Path, int]:
    """Return the task's name, the log root and the attempt of a run's folder. `folder` must be resolved."""
    numbered = _ATTEMPT.fullmatch(folder.name)
    if not numbered or not folder.parent.name:
        return folder.name, folder.parent, 1
    above = folder.parent.parent
    return folder.parent.name, above.parent if above.name == ATTEMPTS else above, int(numbered[1])


def judge_verdicts(source: RunSource, log_root: Path, task: str, attempt: int) -> list[Verdict]:
    """Return the judges' verdicts on an attempt. An unreadable file becomes the verdict's reason."""
    if not log_root.is_relative_to(source.root.resolve()) or "/" in task or task in ("", ".", ".."):
        return []
    verdicts: list[Verdict] = []
    for folder in sorted((log_root / EVALUATED / task).glob(f"*/attempt_{attempt}")):
        for name in _FILES:
            path = folder / f"{name}.json"
            if path.is_file():
                verdicts.append(_read_verdict(source, path, name))
    return verdicts


def reported_agent(source: RunSource, log_root: Path) -> tuple[str, str]:
    """Return the agent's type and model in the evaluation's reports, empty if they disagree."""
    if not log_root.is_relative_to(source.root.resolve()):
        return "", ""
    agents: set[tuple[str, str]] = set()
    for path in sorted(log_root.glob("eval_report_*.json"))[-_REPORTS:]:
        try:
            value: Any = read_json(source.text(path), str(path)).value
        except LabError as error:
            source.fallbacks.add("side file", path, error.body)
            continue
        fields = as_mapping(as_mapping(value).get("metadata"))
        agents.add((as_text(fields.get("agent_type")), as_text(fields.get("model_name"))))
    return agents.pop() if len(agents) == 1 else ("", "")


_REPORTS = 5
"""Number of the newest reports that are read."""


def _read_verdict(source: RunSource, path: Path, name: str) -> Verdict:
    try:
        value: Any = read_json(source.text(path), str(path)).value
    except LabError as error:
        source.fallbacks.add("side file", path, error.body)
        return Verdict(name, reason=error.sentence)
    return judgement(name, value)


def is_copy(folder: Path) -> bool:
    """Return True if a folder in `_memgui_eval` is the copy of a run in the log root."""
    here = folder.resolve()
    numbered = _ATTEMPT.fullmatch(here.name)
    if not numbered or len(here.parents) < 4 or here.parents[2].name != EVALUATED:
        return False
    log_root, task = here.parents[3], here.parents[1].name
    ways = [log_root / ATTEMPTS / task / here.name, log_root / task / here.name]
    if int(numbered[1]) == 1:
        ways.append(log_root / task)
    return any((way / "traj.json").is_file() for way in ways)
