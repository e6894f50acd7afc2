"""Answers of hitlab to a shell at each Tab: possible words, with names from the file in force.

It reveals nothing that `hitlab runs list` and `hitlab study status` would not list for the same seat.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

import msgspec

from lab.cli.arguments import Command, Parser
from lab.core.errors import LabError
from lab.core.text.plain_text import plain

if TYPE_CHECKING:
    from lab.cli.arguments import NameKind
    from lab.core.settings import Settings
    from store.store import Store


def complete(parser: Parser) -> NoReturn:
    """Answer a shell's completion request and exit. Without argcomplete exit silently."""
    try:
        from argcomplete.finders import CompletionFinder
    except ImportError:
        sys.exit(1)
    line = os.environ.get("COMP_LINE", "")
    words = line.split() if line[-1:].isspace() else line.split()[:-1]
    _build_commands(parser, words)
    CompletionFinder()(parser, always_complete_options=False)
    # argcomplete exits by itself. Code 1 tells the shell that there is no completion.
    sys.exit(1)


def _build_commands(parser: Parser, words: Sequence[str]) -> None:
    """Replace the typed commands by their parsers, and attach completers to their arguments."""
    for action in parser._actions:
        if action.dest in parser.names:
            action.completer = _Completer(parser.names[action.dest])  # type: ignore[attr-defined]  # as argcomplete asks
        if isinstance(action, argparse._SubParsersAction):
            commands = action._name_parser_map
            for name in commands.keys() & set(words):
                if isinstance(command := commands[name], Command):
                    commands[name] = command.parser()
                    _build_commands(commands[name], words)


class CompletionRequest(msgspec.Struct, frozen=True):
    """Request of a shell: names that begin with `prefix`. `typed` holds the values of other arguments."""

    prefix: str
    typed: Mapping[str, object]

    @property
    def settings(self) -> Settings:
        """Settings in force, with the typed file and person."""
        from lab.core.settings import load

        return load(db=self.typed.get("db"), person=self.typed.get("person"))


class _Completer:
    """Completer of one kind of name, in argcomplete's form."""

    def __init__(self, kind: NameKind) -> None:
        self.kind = kind

    def __call__(self, prefix: str, parsed_args: argparse.Namespace, **_: object) -> Sequence[str] | Mapping[str, str]:
        """Return the names, with descriptions if there are any, none if the file cannot be read.

        Leave out names that would steer the terminal or end a shell's word, and show descriptions as plain characters.
        """
        try:
            names = _NAMES[self.kind](CompletionRequest(prefix, vars(parsed_args)))
        except (LabError, OSError, ValueError):
            # A traceback would end up in the middle of the line that somebody types.
            return []
        if isinstance(names, Mapping):
            return {name: plain(text, lines=False) for name, text in names.items() if plain(name, lines=False) == name}
        return [name for name in names if plain(name, lines=False) == name]


# -- names of the file ---------------------------------------------------------------------------------------------

_MOST_RUNS = 200
"""Maximum number of runs to list."""


def _open_store(settings: Settings) -> Store:
    """Open the file in force read-only: no sweeping, no migration. Raise `LabError` if there is none."""
    from lab.core.settings import database
    from store.store import Store

    return Store.open(database(settings), create=False, readonly=True)


def _runs(request: CompletionRequest) -> Mapping[str, str]:
    """Return runs' ids with their tasks, the newest first, if the seat may list runs."""
    from lab.studies.seats import sees_outcomes

    settings = request.settings
    if not sees_outcomes(settings.seat):
        return {}
    with _open_store(settings) as store:
        return dict(store.runs.names(request.prefix, _MOST_RUNS))


def _studies(request: CompletionRequest) -> list[str]:
    """Return studies' names, for a rater or participant only those with assignments for them."""
    from lab.studies.seats import sees_outcomes

    settings = request.settings
    with _open_store(settings) as store:
        names = store.studies.names()
        if sees_outcomes(settings.seat):
            return names
        return [name for name in names if store.studies.progress(store.studies.study(name), settings.person).dealt]


def _raters(request: CompletionRequest) -> Sequence[str]:
    """Return the people of the typed study, else of the file, if the seat may list them."""
    from lab.core.settings import load
    from lab.studies.planning.study_places import study_named
    from lab.studies.seats import sees_outcomes

    settings = load(db=request.typed.get("db"))
    if not sees_outcomes(settings.seat):
        return ()
    study = request.typed.get("study")
    with _open_store(settings) as store:
        return study_named(store, study).raters if study and isinstance(study, str) else sorted(store.studies.people())


# -- names that come with hitlab ------------------------------------------------------------------------------------


def _or_files(names: Sequence[str], request: CompletionRequest) -> list[str]:
    """Return the names and matching files."""
    from argcomplete.completers import FilesCompleter

    return [*names, *FilesCompleter()(request.prefix)]


def _tasks(request: CompletionRequest) -> list[str]:
    from simulators import library

    return _or_files([*library.tasks()], request)


def _personas(request: CompletionRequest) -> list[str]:
    from simulators import library

    return _or_files([*library.personas()], request)


def _protocols(request: CompletionRequest) -> list[str]:
    from annotators.protocols import names

    return _or_files(names(), request)


def _plans(request: CompletionRequest) -> list[str]:
    from annotators.presets import presets
    from annotators.protocols import names

    return _or_files([*presets(), *names()], request)


def _schemas(request: CompletionRequest) -> list[str]:
    from lab.cli.settings.schemas import names

    return names()


def _agents(request: CompletionRequest) -> list[str]:
    """Return the forms of an agent's name, or after `playbook:` the task's faulty ones, if the seat may see them."""
    from lab.runs.spec import AGENT_FORMS

    kind, colon, source = request.prefix.partition(":")
    if kind == "recorded" and colon:
        request = msgspec.structs.replace(request, prefix=source)
        return [f"recorded:{id}" for id in _runs(request)]
    if kind == "playbook" and colon:
        return [f"playbook:{name}" for name in _playbooks(request)]
    return _beginnings(AGENT_FORMS)


def _playbooks(request: CompletionRequest) -> list[str]:
    from lab.studies.seats import sees_outcomes
    from simulators import library

    tasks = request.typed.get("task") or request.typed.get("tasks")
    names = [tasks] if isinstance(tasks, str) else tasks if isinstance(tasks, list) else []
    if not sees_outcomes(request.settings.seat):
        return []
    return [playbook.name for name in names for playbook in library.task(name).playbooks]


def _users(request: CompletionRequest) -> list[str]:
    from lab.runs.spec import USER_FORMS
    from simulators import library

    if request.prefix.startswith("script:"):
        return [f"script:{name}" for name in library.scripts()]
    return _beginnings(USER_FORMS)


def _shadows(request: CompletionRequest) -> list[str]:
    return _beginnings(["model:NAME"])


def _beginnings(forms: Sequence[str]) -> list[str]:
    """Return the fixed beginnings of name forms: `model:` of `model:NAME`."""
    return list(dict.fromkeys(form.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for form in forms))


def _columns(request: CompletionRequest) -> list[str]:
    from lab.runs.listing.run_order import SORTS

    return [*SORTS]


def _groups(request: CompletionRequest) -> list[str]:
    from lab.runs.listing.run_order import GROUPS

    return [*GROUPS]


_NAMES: dict[NameKind, Callable[[CompletionRequest], Sequence[str] | Mapping[str, str]]] = {
    "agent": _agents,
    "column": _columns,
    "group": _groups,
    "persona": _personas,
    "plan": _plans,
    "protocol": _protocols,
    "rater": _raters,
    "run": _runs,
    "schema": _schemas,
    "shadow": _shadows,
    "study": _studies,
    "task": _tasks,
    "user": _users,
}
"""Functions that list names, by kind."""
