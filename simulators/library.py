"""Built-in tasks, personas and scripts by name, or from a user's own file by path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from lab.core.codec import convert, read_file, read_yaml
from lab.core.errors import LabError
from lab.core.task.task import Persona, Task, load_persona, load_task
from lab.core.task.task_checks import check_paths
from lab.core.text.suggestion import suggestion
from simulators.users.scripted import Script, load_script

HERE = Path(__file__).parent

_SCRIPT = ".script"
"""Suffix of the script files of practice tasks."""
_LISTED = {
    "task": "`hitlab tasks list` lists tasks; a file of yours does as well.",
    "persona": "`hitlab tasks personas` lists them; a profile of yours does as well.",
    "script": "A built-in one is named after the task it answers in; --user script:FILE takes yours.",
}
"""Hint for an unknown name, by kind."""


def tasks() -> dict[str, Path]:
    """Return the files of the built-in tasks by name, sorted."""
    return {path.stem: path for path in sorted((HERE / "tasks").glob("*.yaml"))}


def personas() -> dict[str, Path]:
    """Return the profiles of the built-in personas by name, sorted."""
    return {path.parent.name: path for path in sorted((HERE / "personas").glob("*/profile.yaml"))}


def scripts() -> dict[str, Path]:
    """Return the built-in scripts by name, sorted: one per task that asks, and its variants as `task.variant`."""
    return {path.stem: path for path in sorted((HERE / "scripts").glob("*.yaml"))}


def practice_tasks() -> dict[str, Path]:
    """Return the raters' practice tasks by name, sorted. None of them is ever rated or played."""
    return {path.stem: path for path in sorted((HERE / "practice").glob("*.yaml")) if not path.stem.endswith(_SCRIPT)}


def practice_task(name: str) -> tuple[Task, Path]:
    """Return a practice task and the path of its script. Raise `LabError` if the name is unknown."""
    paths = practice_tasks()
    if name not in paths:
        problem = f"there is none of that name{suggestion(name, paths)}"
        raise LabError(f"practice task {name!r}", problem, f"There are {', '.join(paths)}.")
    return on_their_phone(load_task(paths[name])), paths[name].with_name(f"{name}{_SCRIPT}.yaml")


def task(name_or_path: str) -> Task:
    """Load a task by name or file, with its rules' paths checked. Raise `LabError` with the problem or a near name.

    A user's own file is tried as a whole: look up its persona (beside the file first), and apply its phone and time to
    a phone once.
    """
    path = _find("task", name_or_path, tasks())
    what = f"task file {path}"
    loaded = load_task(path)
    check_paths(loaded, what)
    if name_or_path not in tasks():
        beside = path.parent / loaded.persona
        if loaded.persona and loaded.persona not in personas() and beside.exists():
            loaded = msgspec.structs.replace(loaded, persona=str(beside))
    loaded = on_their_phone(loaded)
    if name_or_path not in tasks():
        _try_out(loaded, what)
    return loaded


def on_their_phone(task: Task) -> Task:
    """Return the task with its persona's phone state (`phone.yaml` beside the profile) under its own."""
    profile = personas().get(task.persona, Path(task.persona))
    path = profile.parent / "phone.yaml"
    if not task.persona or not path.is_file():
        return task
    what = f"phone file {path}"
    below: dict[str, Any] = convert(read_yaml(read_file(path, what), what).value, dict[str, Any], what)
    return msgspec.structs.replace(task, phone=_merge(below, task.phone))


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge `above` over `below`: mappings by key, all else replaced."""
    out = {**below, **above}
    for key in below.keys() & above.keys():
        if isinstance(below[key], Mapping) and isinstance(above[key], Mapping):
            out[key] = _merge(below[key], above[key])
    return out


def _try_out(loaded: Task, what: str) -> None:
    from simulators.phone.phone import Phone

    try:
        phone = Phone(clock=loaded.time) if loaded.time else Phone()
        phone.lay(loaded.phone)
        if loaded.persona:
            _find("persona", loaded.persona, personas())
    except LabError as error:
        raise LabError(what, f"{error.title}: {error.message}", error.hint) from error


def persona(name_or_path: str, source: Literal["clean", "noise", "none"] = "noise") -> Persona:
    """Load a persona by name or profile, with the log named by `source`."""
    return load_persona(_find("persona", name_or_path, personas()), source=source)


def script(name_or_path: str) -> Script:
    """Load a script by name or file."""
    return load_script(_find("script", name_or_path, scripts()))


def _find(kind: str, name_or_path: str, paths: dict[str, Path]) -> Path:
    """Return the path of a built-in name, else of a file."""
    # Built-in names win, so that no stray file in the working folder changes a run.
    if name_or_path in paths:
        return paths[name_or_path]
    path = Path(name_or_path)
    if path.exists():
        return path
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        raise LabError(f"{kind} file {name_or_path}", "is not there")
    problem = f"there is none of that name{suggestion(name_or_path, paths)}"
    raise LabError(f"{kind} {name_or_path!r}", problem, _LISTED[kind])
