"""Writer for KnowU-Bench and MobileWorld: `<agent>/<Task>[@<profile>]/`, as their logger writes.

An agent's folder is a log root for the benchmarks' viewer and scripts. Runs that came from this format are written
unchanged, a bundle's runs in this layout. A second run of a task by one agent (an attempt, a fork) goes into
`<agent>.2/`, because the scripts expect each task once in a log root. A run without a score has no `result.txt`. Marked
screenshots are dropped (the viewer then shows the others), and so are the screen after the last action, trees, and
fractions of seconds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from lab.core.codec import unescape_surrogates
from lab.core.run.run_records import Verdict
from lab.core.run.trace import AnyEvent, Ended, Started, Step
from lab.core.values.made_files import make_folder
from store.formats import StoredRun, Writer
from store.formats.knowu.run import NAME, SHAPE_VERDICT, result_text, usual_shape
from store.formats.knowu.steps import steps_of, tagged_text, tokens_of
from store.formats.new_files import write_new_file

_LONGEST = 80
_UNSAFE = re.compile(r"[^\w .+=,()-]")
_LONE = re.compile("[\ud800-\udfff]")


def write(runs: Iterable[StoredRun], out: Path, on_run: Callable[[str], None]) -> None:
    """Write each run into a folder of its own in its agent's folder."""
    places = _LogFolders()
    for run in runs:
        events = list(run.events())
        first = events[0]
        assert isinstance(first, Started)
        folder = out / places.free(first)
        make_folder(folder, there=False)
        _write_run(run, first, events, folder)
        on_run(run.id)


class _LogFolders:
    """Assigns each run a unique folder in log roots of one agent each, also on file systems that ignore case."""

    def __init__(self) -> None:
        self._roots: dict[tuple[str, int], str] = {}
        self._tasks: dict[str, set[str]] = {}

    def free(self, first: Started) -> Path:
        """Return `<agent>/<Task>[@<profile>]` in the agent's first log root without this task."""
        profile = first.task.persona or (first.persona.id if first.persona else "")
        task = _safe_name(first.task.id) + (f"@{_safe_name(profile)}" if profile else "")
        count = 1
        while task.casefold() in self._tasks[(root := self._root(first.agent.identity, count)).casefold()]:
            count += 1
        self._tasks[root.casefold()].add(task.casefold())
        return Path(root, task)

    def _root(self, agent: str, count: int) -> str:
        """Return an agent's log root with this number: `<agent>`, `<agent>.2`, or a later one if that is taken."""
        if (agent, count) not in self._roots:
            name, number = _safe_name(agent), count
            while (root := name if number == 1 else f"{name}.{number}").casefold() in self._tasks:
                number += 1
            self._roots[agent, count] = root
            self._tasks[root.casefold()] = set()
        return self._roots[agent, count]


def _safe_name(name: str) -> str:
    """Return a name that every file system accepts and no reader skips."""
    # The reader skips folders named `_backup_`.
    safe = _UNSAFE.sub("_", name).replace("_backup_", "_backup-")[:_LONGEST]
    # File systems limit the bytes of a name, not its characters.
    while len(safe.encode()) > _LONGEST:
        safe = safe[:-1]
    return safe.strip(" .") or "_"


def _write_run(run: StoredRun, first: Started, events: Sequence[AnyEvent], folder: Path) -> None:
    steps = [event for event in events if isinstance(event, Step)]
    ended = next((event for event in events if isinstance(event, Ended)), None)
    own = first.source is not None and first.source.format == NAME
    verdicts = run.verdicts if own else []
    traj = _traj(first, steps, ended, verdicts, own=own)
    write_new_file(folder / "traj.json", _encode_json(traj))
    result = _result_text(ended, verdicts, own=own)
    if result is not None:
        write_new_file(folder / "result.txt", _encode_text(result))
    log = _log_text(steps)
    if log:
        write_new_file(folder / "thread_0.log", _encode_text(log))
    _write_screens(run, steps, folder)


def _traj(
    first: Started, steps: Sequence[Step], ended: Ended | None, verdicts: Sequence[Verdict], *, own: bool
) -> dict[str, Any]:
    tools = steps[0].extra.get("tools") if own and steps else None
    source_shape = next((verdict.extra["traj.json"] for verdict in verdicts if verdict.name == SHAPE_VERDICT), None)
    value: dict[str, Any] = (
        usual_shape(tools, tokens_of(steps, ended, own=own)) if source_shape is None else source_shape
    )
    rows = steps_of(steps, first.task.instruction, own=own)
    holder = "0" if "0" in value else next((k for k, v in value.items() if isinstance(v, dict) and "traj" in v), None)
    if holder is None or not rows:
        return value
    return {key: {**part, "traj": rows} if key == holder else part for key, part in value.items()}


def _encode_json(value: Any) -> bytes:
    """Return JSON as the logger writes it. A lone surrogate, which UTF-8 cannot encode, becomes an escape."""
    text = unescape_surrogates(json.dumps(value, indent=4, ensure_ascii=False))
    return _LONE.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def _result_text(ended: Ended | None, verdicts: Sequence[Verdict], *, own: bool) -> str | None:
    if not own:
        return None if ended is None or ended.score is None else result_text(float(ended.score), ended.reason)
    verdict = next((verdict for verdict in verdicts if verdict.name == "result"), None)
    if verdict is None:
        return None
    text: str = verdict.extra.get("text") or result_text(float(verdict.value or 0), verdict.reason)
    return text


def _encode_text(text: str) -> bytes:
    plain = unescape_surrogates(text)
    try:
        return plain.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return plain.encode("utf-8", "replace")


def _log_text(steps: Sequence[Step]) -> str:
    """Return a log of each step's time, and of the reply that no later step has, empty without times."""
    lines = []
    for step in steps:
        number, time = _step_number(step), _step_time(step)
        if time is None:
            continue
        head = f"{time} | DEBUG    | hitlab:export:0 | container: none | "
        lines.append(f"{head}Screenshot captured in step {number}")
        after = steps[step.index + 1] if step.index + 1 < len(steps) else None
        if step.reply and (after is None or after.extra.get("ask_user_response", "") is None):
            lines.append(f"{head}ask_user_response: {tagged_text(step.reply)}")
    return "".join(f"{line}\n" for line in lines)


def _step_number(step: Step) -> int:
    number = step.extra.get("step")
    return number if type(number) is int else step.index + 1


def _step_time(step: Step) -> str | None:
    """Return a step's time to the second: the log's, else in UTC."""
    time = step.extra.get("log_time") or step.started or step.at
    try:
        return datetime.fromisoformat(time).strftime("%Y-%m-%d %H:%M:%S")
    except (TypeError, ValueError):
        return None


def _write_screens(run: StoredRun, steps: Sequence[Step], folder: Path) -> None:
    names: dict[str, list[str]] = {}
    for step in steps:
        if step.before.image:
            names.setdefault(step.before.image, []).append(f"{folder.name}-0-{_step_number(step)}.png")
    screens = folder / "screenshots"
    make_folder(screens, there=False)
    for sha256, blob in run.blobs():
        for name in names.get(sha256, ()):
            write_new_file(screens / name, blob.data)


WRITER = Writer(NAME, "KnowU-Bench and MobileWorld", write)
