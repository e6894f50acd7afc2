"""The commands tasks, personas, where and keys: the lab's contents, files and key bindings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lab.cli.arguments import Arguments, JsonArguments, Parser, TableArguments, argument, option, seed_number
from lab.cli.output import (
    print_line,
    print_result,
    print_table,
    table_form,
    warn,
)
from lab.core.errors import LabError
from lab.core.settings import database, folder, load, settings_file
from lab.core.task.task import Kind, Task, find_log, load_log
from simulators import library

T = TypeVar("T")


class TaskRule(msgspec.Struct, frozen=True):
    """A rule that scores a task's runs.

    `when` limits the rule to runs in which the user's last decision was `accept` or `reject`, or in which the user
    refused nothing (`unrefused`). If it is empty, the rule always counts.
    """

    name: str
    weight: float
    when: str = ""


_RULE_COUNTS = {
    "": "always",
    "accept": "after an acceptance",
    "reject": "after a refusal",
    "unrefused": "where nothing was refused",
}
"""Words for `when` of a rule."""


class TaskLine(msgspec.Struct, frozen=True):
    """One task in a list: `tasks`.

    `playbooks` are the faulty ones with their faults, `rules` those that score its runs. A participant sees neither.
    For an environment's task, `path` is the environment's address, and the instruction appears only if the task is
    named.
    """

    id: str
    kind: Kind
    title: str
    instruction: str
    persona: str
    budget: int
    checks: int
    nodes: int
    units: int
    path: str
    playbooks: dict[str, str] = {}
    apps: tuple[str, ...] = ()
    traits: dict[str, str] = {}
    rules: tuple[TaskRule, ...] = ()


class PersonaLine(msgspec.Struct, frozen=True):
    """One persona in a list: `tasks personas`.

    `clean` and `noise` count the entries of its two logs, null if it has none.
    """

    id: str
    name: str
    occupation: str
    clean: int | None
    noise: int | None
    path: str


class Places(msgspec.Struct, frozen=True):
    """Paths of the lab's files: `file where`."""

    db: str
    settings: str
    cache: str
    tasks: str
    personas: str


class KeyLine(msgspec.Struct, frozen=True):
    """One binding: `settings keys`. `keys` are those in force, `usual` the defaults, both separated by commas."""

    id: str
    keys: str
    usual: str
    word: str
    does: str


class TasksArguments(TableArguments):
    files: list[str] = argument(
        "FILE", "check and list these files or built-in tasks instead of all", nargs="*", completes="task"
    )
    environment: str | None = option(
        "URL",
        "list an environment's tasks: http://HOST:PORT or androidworld:PYTHON; FILE then names some of them",
        "--env",
    )
    seed: int = option(
        "N", "with --env: draw the parameters of its tasks by this seed (default: 0)", type=seed_number, default=0
    )


def add_tasks_list(parser: Parser) -> None:
    parser.runs(tasks, TasksArguments, prints={"tasks": list[TaskLine]})
    parser.examples(
        """\
  hitlab tasks list                    the built-in tasks
  hitlab tasks list usual_lunch        one task, its rules and faulty playbooks
  hitlab tasks list --env http://127.0.0.1:6800
  hitlab tasks list --json | jq '.[].id'
"""
    )


def tasks(args: TasksArguments) -> int:
    """List the built-in tasks, the task files named, or an environment's tasks. Exit code 3 if some are bad."""
    if args.environment:
        return _environment_tasks(args, args.environment)
    may_see = load(db=args.db).seat in ("developer", "designer")
    lines, bad = _read_each(
        _named_paths(args.files, library.tasks()),
        lambda name, path: _task_line(library.task(name), path, may_see=may_see),
    )
    return _print_read(lines, bad, _print_tasks_with_rules if args.files else _print_tasks, json=args.json)


def _task_line(task: Task, path: Path, *, may_see: bool) -> TaskLine:
    return TaskLine(
        id=task.id,
        kind=task.kind,
        title=task.display_name,
        instruction=task.instruction,
        persona=task.persona,
        budget=task.budget,
        checks=len(task.checks),
        nodes=len(task.tdg.walk()),
        units=len(task.units),
        path=str(path),
        playbooks={playbook.name: playbook.fault for playbook in task.playbooks} if may_see else {},
        rules=tuple(
            TaskRule(rule.name, rule.weight, rule.when or ("reject" if rule.run == "obeyed" else ""))
            for rule in task.checks
        )
        if may_see
        else (),
    )


def _read_each(paths: list[tuple[str, Path]], read: Callable[[str, Path], T]) -> tuple[list[T], list[LabError]]:
    """Read each file. One that cannot be read does not hide the others."""
    lines, bad = list[T](), list[LabError]()
    for name, path in paths:
        try:
            lines.append(read(name, path))
        except LabError as error:
            bad.append(error)
    return lines, bad


def _print_read(lines: list[T], bad: list[LabError], text: Callable[[list[T]], None], *, json: bool) -> int:
    """Print what was read, warn of each bad file, and return the exit code: 1 if all are bad, 3 if some are."""
    if bad and not lines:
        for error in bad[:-1]:
            warn(error.sentence)
        raise bad[-1]
    print_result(lines, text, json=json)
    for error in bad:
        warn(error.sentence)
    return 3 if bad else 0


def check(args: TaskFilesArguments) -> int:
    """Check the task files named and list them."""
    tasks_args = TasksArguments()
    vars(tasks_args).update(vars(args))
    return tasks(tasks_args)


def _environment_tasks(args: TasksArguments, address: str) -> int:
    """List an environment's tasks, or those named, with their instructions."""
    from lab.runs.task_source import EnvironmentTasks
    from simulators.environments.address import read_address

    environment_name, source = read_address(address).display_name, EnvironmentTasks(address, args.seed)
    try:
        environment_tasks = [source.task(name) for name in args.files] if args.files else source.tasks()
    finally:
        source.close()
    lines = [_environment_line(task, environment_name) for task in environment_tasks]
    print_result(
        lines, _print_instructions if args.files else _print_environment, json=args.json, nothing="it has no tasks"
    )
    return 0


def _environment_line(task: Task, address: str) -> TaskLine:
    return TaskLine(
        id=task.id,
        kind=task.kind,
        title=task.display_name,
        instruction=task.instruction,
        persona="",
        budget=task.budget,
        checks=0,
        nodes=0,
        units=0,
        path=address,
        apps=task.apps,
        traits=task.traits,
    )


def _print_environment(lines: list[TaskLine]) -> None:
    rows = [
        [line.id, line.kind, str(line.budget), ", ".join(line.apps) or "-", line.traits.get("tags", "-")]
        for line in lines
    ]
    print_table(["task", "kind", "budget", "apps", "tags"], rows, wide="tags")


def _print_instructions(lines: list[TaskLine]) -> None:
    """Print each task with its instruction."""
    if table_form.is_data:
        rows = [[line.id, line.kind, str(line.budget), ", ".join(line.apps) or "-", line.instruction] for line in lines]
        print_table(["task", "kind", "budget", "apps", "instruction"], rows)
        return
    for line in lines:
        print_line(f"{line.id} ({line.kind}, {line.budget} steps{', ' if line.apps else ''}{', '.join(line.apps)})")
        print_line(f"  {line.instruction}")


def _print_tasks(lines: list[TaskLine]) -> None:
    rows = [[line.id, line.kind, line.title, line.persona or "-", line.instruction or "(none)"] for line in lines]
    print_table(["task", "kind", "title", "persona", "instruction"], rows, wide="instruction")


def _print_tasks_with_rules(lines: list[TaskLine]) -> None:
    """Print the tasks, the rules that score them, and their faulty playbooks."""
    _print_tasks(lines)
    rules = [[line.id, rule.name, f"{rule.weight:g}", _RULE_COUNTS[rule.when]] for line in lines for rule in line.rules]
    if rules:
        print_line("")
        print_table(["task", "rule", "weight", "counts"], rules, wide="rule")
        print_line("A run's score is the weight of the rules that held over that of all that count in it.")
    wrong = [[f"playbook:{name}", fault] for line in lines for name, fault in line.playbooks.items()]
    if wrong:
        print_line("")
        print_table(["agent", "what goes wrong"], wrong, wide="what goes wrong")


class TaskFilesArguments(TableArguments):
    files: list[str] = argument("FILE", "check these task files (e.g. mine.yaml)", nargs="+", completes="task")


def add_tasks_check(parser: Parser) -> None:
    parser.runs(check, TaskFilesArguments)
    parser.examples("  hitlab tasks check mine.yaml other.yaml\n")


class PersonasArguments(TableArguments):
    files: list[str] = argument(
        "FILE", "check and list these profiles instead of the built-in ones", nargs="*", completes="persona"
    )


def add_tasks_personas(parser: Parser) -> None:
    parser.runs(personas, PersonasArguments, prints={"personas": list[PersonaLine]})
    parser.examples(
        """\
  hitlab tasks personas
  hitlab tasks personas mine/profile.yaml    check a profile of yours
"""
    )


def personas(args: PersonasArguments) -> int:
    """List the built-in personas, or the profiles named. Exit code 3 if some are bad."""
    lines, bad = _read_each(_named_paths(args.files, library.personas()), _persona_line)
    return _print_read(lines, bad, _print_personas, json=args.json)


def _persona_line(name: str, path: Path) -> PersonaLine:
    persona = library.persona(name, "none")
    identity: dict[str, Any] = persona.facts.get("identity") or {}
    return PersonaLine(
        id=persona.id,
        name=persona.name,
        occupation=str(identity.get("occupation", "")),
        clean=_count_entries(path, "clean"),
        noise=_count_entries(path, "noise"),
        path=str(path),
    )


def _print_personas(lines: list[PersonaLine]) -> None:
    rows = [[line.id, line.name, line.occupation, str(line.clean or "-"), str(line.noise or "-")] for line in lines]
    print_table(["persona", "name", "occupation", "log", "noisy log"], rows, wide="occupation")


def _named_paths(files: list[str], paths_by_name: dict[str, Path]) -> list[tuple[str, Path]]:
    return [(file, paths_by_name.get(file, Path(file))) for file in files] or list(paths_by_name.items())


def _count_entries(profile: Path, source: Any) -> int | None:
    try:
        path = find_log(profile, source)
    except LabError:
        # A profile may come without a history.
        return None
    return len(load_log(path))


def add_file_where(parser: Parser) -> None:
    parser.runs(where, JsonArguments, prints={"where": Places})
    parser.examples(
        """\
  hitlab file where
  hitlab file where --json | jq -r .db       the database's path, for a script
"""
    )


def where(args: Arguments) -> int:
    """Print the paths of the lab's files, whether they exist or not."""
    settings = load(db=args.db)
    places = Places(
        db=str(database(settings)),
        settings=str(settings_file()),
        cache=str(folder("cache")),
        tasks=str(library.HERE / "tasks"),
        personas=str(library.HERE / "personas"),
    )
    print_result(places, _print_places, json=args.json)
    return 0


def _print_places(places: Places) -> None:
    for name in places.__struct_fields__:
        path = getattr(places, name)
        print_line(f"{name:9} {path}" + ("" if Path(path).exists() else "  (not there yet)"))


def add_settings_keys(parser: Parser) -> None:
    parser.runs(keys, TableArguments, prints={"keys": list[KeyLine]})
    parser.examples(
        """\
  hitlab settings keys
  hitlab settings keys --json                for `[keymap]` in settings.toml
"""
    )


def keys(args: Arguments) -> int:
    """List every binding with the keys in force. Exit code 3 if the settings' keymap has an error."""
    from screens.keymap import keymap_of, named_bindings

    settings, wrong, keymap = load(), None, dict[str, str]()
    try:
        keymap = keymap_of(settings.keymap).keys
    except LabError as error:
        wrong = error
    lines = [
        KeyLine(binding.id, keymap.get(binding.id, binding.keys), binding.keys, binding.word, binding.tooltip)
        for binding in named_bindings().values()
    ]
    print_result(
        lines,
        lambda _: print_table(["id", "keys", "does"], [[line.id, line.keys, line.does] for line in lines], wide="does"),
        json=args.json,
    )
    if wrong is not None:
        warn(wrong.sentence)
    return 3 if wrong is not None else 0
