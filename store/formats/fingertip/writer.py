"""Writer for FingerTip-20K: `<user>/<yyyymmdd_hhmmss>/`, a folder per run, as the data is distributed.

`action.jsonl`: one `{"screenshot_0001.png": "click(coordinates=(x,y), content='...')"}` per line, with `finished()`
last if the run ended so. `survey_result.json`: `user_id`, `time`, `scenario`, `app`, `intentDescription`.
`Screenshots/`: `screenshot_<n>.png` (`.jpg` for JPEG) beside `tree_<n>.xml`, in uiautomator's attributes. Above all of
them `user_profile.csv`, with the paper's fields, for users whose persona has them. The user is the demonstrator. The
stamp is the start of the run (UTC, for an imported run its own local time), counted up if taken.

Fields that the calls cannot express are in `survey_result.json` under `hitlab`: kinds without a word (which get the
nearest one), boxes, low-level instructions, the agent, and the task's time. Slips, steps that proofreaders rejected,
failed actions, proposals that were not approved and dialogue are dropped and counted. Further accepted actions,
thoughts, costs, times of steps, and verdicts are dropped.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from lab.core.codec import encode
from lab.core.run.demonstration import apps_of
from lab.core.run.trace import Step, Trace, fold
from lab.core.task.task import Persona
from lab.core.values.made_files import make_folder
from store.formats import StoredRun, Writer
from store.formats.dac.writer import demonstration_steps
from store.formats.fingertip.actions import written_call
from store.formats.fingertip.reader import ACTIONS, NAME, SURVEY
from store.formats.hitlab_fields import HITLAB_KEY
from store.formats.new_files import write_new_file

PROFILES = "user_profile.csv"
FIELDS = ("user_id", "sex", "age", "occupation", "address", "marital_status", "phone_brand")
_UNSAFE = re.compile(r"[^0-9A-Za-z._-]+")
_ENDINGS = {"image/png": "png", "image/jpeg": "jpg"}
_NO_TIME = "2000-01-01T00:00:00"
_YEARS = range(1000, 9999)
"""Years that fit the four digits of a stamp, with room to count up."""


def write(runs: Iterable[StoredRun], out: Path, on_run: Callable[[str], None]) -> None:
    """Write each run into a folder of its own, one at a time, and then the users' profiles above them."""
    profiles: dict[str, dict[str, Any]] = {}
    places = _EpisodeFolders()
    for run in runs:
        trace = fold(run.events())
        user = _demonstrator(trace)
        folder = out / places.free(_folder_name(user), _start_time(trace))
        make_folder(folder / "Screenshots")
        _write_run(run, trace, user, folder)
        if trace.persona is not None and trace.persona.id == user and (facts := _profile_facts(trace.persona)):
            profiles.setdefault(user, facts)
        on_run(run.id)
    if profiles:
        text = io.StringIO()
        table = csv.DictWriter(text, FIELDS)
        table.writeheader()
        table.writerows({**facts, "user_id": user} for user, facts in profiles.items())
        write_new_file(out / PROFILES, text.getvalue().encode())


def _demonstrator(trace: Trace) -> str:
    """Return the demonstrator, or for a model's run the user named by its task or persona, if any."""
    if trace.agent.kind == "human":
        return trace.agent.id
    return (trace.persona.id if trace.persona is not None else trace.task.persona) or trace.agent.id


def _profile_facts(persona: Persona) -> dict[str, Any]:
    return {name: value for name in FIELDS[1:] if isinstance(value := persona.facts.get(name), str | int | float)}


def _folder_name(user: str) -> str:
    """Return a user's folder name, which no reader skips and which cannot clash with the profiles' file."""
    name = _UNSAFE.sub("_", user).replace("_backup_", "_backup-")[:80].strip("._-") or "user"
    return f"{name}_" if name.lower() == PROFILES else name


def _start_time(trace: Trace) -> datetime:
    """Return the start of a run, else the task's time or a default."""
    for text in (trace.started, trace.task.time, _NO_TIME):
        try:
            began = datetime.fromisoformat(text).replace(tzinfo=None, microsecond=0)
        except ValueError:
            continue
        if began.year in _YEARS:
            return began
    raise AssertionError("the last of them is a time")


class _EpisodeFolders:
    """Assigns each run a unique folder, also on file systems that ignore case."""

    def __init__(self) -> None:
        self._taken: set[tuple[str, datetime]] = set()
        self._next: dict[tuple[str, datetime], datetime] = {}

    def free(self, user: str, began: datetime) -> Path:
        """Return `<user>/<stamp>`, with the stamp counted up in seconds if taken."""
        at = self._next.get((user.lower(), began), began)
        while (user.lower(), at) in self._taken:
            at += timedelta(seconds=1)
        self._taken.add((user.lower(), at))
        self._next[user.lower(), began] = at
        return Path(user, at.strftime("%Y%m%d_%H%M%S"))


def _write_run(run: StoredRun, trace: Trace, user: str, folder: Path) -> None:
    steps, left_out_counts = demonstration_steps(trace)
    endings = _write_pictures(run, steps, folder / "Screenshots")
    lines: list[bytes] = []
    others: dict[str, Any] = {}
    for i, step in enumerate(steps):
        assert step.action is not None
        content = step.extra.get("content")
        under = content if isinstance(content, str) else _touched_label(step)
        call, other = written_call(step.action, under, step.before.size)
        lines.append(encode({f"screenshot_{i + 1:04}.{endings.get(i, 'jpg')}": call}) + b"\n")
        if other:
            others[str(i)] = other
    for i, step in enumerate(steps):
        if step.before.tree is not None:
            write_new_file(
                folder / "Screenshots" / f"tree_{i + 1:04}.xml", step.before.tree.to_xml().encode("utf-8", "replace")
            )
    write_new_file(folder / ACTIONS, b"".join(lines))
    write_new_file(
        folder / SURVEY,
        msgspec.json.format(encode(_survey(run, trace, user, folder, steps, others, left_out_counts)), indent=2),
    )


def _write_pictures(run: StoredRun, steps: list[Step], folder: Path) -> dict[int, str]:
    """Write one picture for each step that has one, even if repeated. Return the file extensions by step."""
    places: dict[str, list[int]] = {}
    for i, step in enumerate(steps):
        if step.before.image is not None:
            places.setdefault(step.before.image, []).append(i)
    endings: dict[int, str] = {}
    for sha256, blob in run.blobs() if places else ():
        for i in places.get(sha256, ()) if blob.mime in _ENDINGS else ():
            endings[i] = _ENDINGS[blob.mime]
            write_new_file(folder / f"screenshot_{i + 1:04}.{endings[i]}", blob.data)
    return endings


def _touched_label(step: Step) -> str:
    """Return the label of the node under the finger, empty if unknown."""
    tree, action = step.before.tree, step.action
    if tree is None or action is None or action.at is None:
        return ""
    return next((node.label for node in tree.nodes_at(*action.at) if node.label.strip()), "")


def _survey(
    run: StoredRun,
    trace: Trace,
    user: str,
    folder: Path,
    steps: list[Step],
    others: dict[str, Any],
    left_out_counts: dict[str, int],
) -> dict[str, Any]:
    task = trace.task
    apps = task.apps or apps_of(trace)
    instructions = {str(i): text for i, step in enumerate(steps) if (text := step.proposed.instruction)}
    ours = {
        "run": run.id,
        "task": task.id,
        "time": task.time,
        "agent": msgspec.to_builtins(trace.agent),
        "actions": others,
        "instructions": instructions,
        "left_out": left_out_counts,
    }
    return {
        "user_id": user,
        "time": folder.name,
        "scenario": task.place or task.traits.get("scenario", ""),
        "app": list(apps) if len(apps) > 1 else "".join(apps),
        "intentDescription": task.instruction,
        **({"intentClass": task.traits["category"]} if task.traits.get("category") else {}),
        HITLAB_KEY: {key: value for key, value in ours.items() if value},
    }


WRITER = Writer(NAME, "FingerTip-20K", write)
