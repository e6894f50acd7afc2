"""What a designer says of a task: `hitlab author`, on a screen or without one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lab.commands.runs import open_store, show_room
from lab.commands.seats import check_seat
from lab.design.revision import (
    Act,
    Design,
    Revision,
    Subject,
    clash_words,
    first_draft,
    following,
    subject_of,
)
from lab.design.soundness import Problem, check_sound, problems
from lab.errors import LabError
from lab.output import DesignLine, DesignProblem, DesignShown, DesignWritten, print_json, say
from lab.settings import Settings, load
from lab.tables import print_table
from lab.task import Actor, Task
from screens.seats import may_author

if TYPE_CHECKING:
    from store.store import Store


class Bench(NamedTuple):
    """What one command works on."""

    store: Store
    task: Task
    run: str | None
    by: Actor

    @property
    def subject(self) -> Subject:
        return subject_of(self.task)

    @property
    def what(self) -> str:
        return f"design of {self.task.id}"

    def head(self) -> Revision:
        """Where the design stands; a `LabError` where there is none, or more than one."""
        heads = self.store.design_heads(self.subject)
        if not heads:
            raise LabError(
                self.what, "is not there yet.", f"`hitlab author {self.task.id} --begin task` makes a draft."
            )
        if len(heads) > 1:
            ids = ", ".join(f"{head.id} ({head.by.shown})" for head in heads)
            raise LabError(self.what, clash_words(heads), f"--settle ID says which stands: {ids}.")
        return heads[0]


def author(args: argparse.Namespace) -> int:
    """A task's design, on a screen beside a run of it, or by one act without a screen."""
    settings = load(db=getattr(args, "db", None), person=args.person)
    check_seat(settings, may_author, "author", "HITLAB_SEAT=designer sits elsewhere.")
    if args.list:
        return _list(args, settings)
    if args.target is None:
        raise LabError("author", "needs a TASK or a run's ID, or --list", "`hitlab tasks` lists tasks.", code=2)
    if args.even_draft and args.out is None:
        raise LabError("author", "--even-draft goes with --out FILE", code=2)
    acts = any((args.draft, args.begin, args.submit, args.verify, args.objection, args.reopen, args.settle))
    if not acts and not args.show and args.out is None:
        return _screen(args, settings)
    only_read = hasattr(args, "db") and not acts
    with open_store(settings, create=not only_read, readonly=only_read) as store:
        task, run = find_task(store, args.target, args.run_id)
        bench = Bench(store, task, run, Actor("human", settings.person))
        if args.out is not None:
            return _write_out(bench, Path(args.out), even_draft=args.even_draft, as_json=args.json)
        if acts:
            _act(bench, args)
        return _show(bench, as_json=args.json, brief=acts)


def find_task(store: Store, target: str, run: str | None) -> tuple[Task, str | None]:
    """The task that a name, a file, a run or a run's task says, and the run it is looked at in: `run`, or the newest.

    A name of a built-in task comes before a run's; of several tasks of one name in the file the newest run's counts.
    """
    from simulators import library

    task, found = None, store.find(run) if run is not None else None
    if target in library.tasks() or Path(target).is_file():
        task = library.task(target)
    else:
        runs = store.runs_of(target)
        named = found if found in runs else runs[0] if runs else _run(store, target)
        task, found = store.asked_in(named), found or named
    if run is None and found is None:
        found = store.latest_run(subject_of(task))
    if found is not None and subject_of(store.asked_in(found)) != subject_of(task):
        raise LabError(f"run {found}", f"is not one of the task {task.id}, or something else was asked in it.")
    return task, found


def _run(store: Store, target: str) -> str:
    try:
        return store.find(target)
    except LabError as error:
        if "several" in error.message:
            raise
        raise LabError(
            f"task or run {target!r}", f"is neither a task's name or file nor a run in {store.path}.",
            "`hitlab tasks` lists tasks, `hitlab traces` runs.",
        ) from error  # fmt: skip


def _screen(args: argparse.Namespace, settings: Settings) -> int:
    if args.json:
        raise LabError("author", "--json goes with --show, --list or an act", code=2)
    with open_store(settings) as store:
        from screens.rooms import Opening

        task, run = find_task(store, args.target, args.run_id)
        opening = Opening("author", run, task=task)
        return show_room(store, settings, opening, "author", "--show prints the design; `hitlab author -h` says more.")


# -- acts ------------------------------------------------------------------------------------------------------


def _act(bench: Bench, args: argparse.Namespace) -> None:
    if args.draft:
        from lab.design.parts import read_parts

        _draft(bench, read_parts(Path(args.draft)).laid_over, f"laid in {Path(args.draft).name}")
    elif args.begin:
        from lab.design.drafting import BEGINNINGS, begun

        made = begun(args.begin, bench.task, bench.store.trace(bench.run) if bench.run else None)
        _draft(bench, lambda _: made, f"began from {BEGINNINGS[args.begin]}")
    elif args.settle:
        _settle(bench, args.settle)
    else:
        act: Act = "submit" if args.submit else "verify" if args.verify else "reopen" if args.reopen else "object"
        head = bench.head()
        if act == "submit":
            check_sound(head.design, bench.what, bench.task.apps)
        bench.store.append_revision(following(head, act, bench.by, note=args.objection or ""))


def _draft(bench: Bench, change: Callable[[Design], Design], note: str) -> None:
    if not bench.store.design_heads(bench.subject):
        bench.store.append_revision(first_draft(bench.subject, bench.by, change(Design()), note))
        return
    head = bench.head()
    bench.store.append_revision(following(head, "draft", bench.by, design=change(head.design), note=note))


def _settle(bench: Bench, id: str) -> None:
    heads = bench.store.design_heads(bench.subject)
    chosen = [head for head in heads if head.id.startswith(id)]
    if len(chosen) != 1:
        known = ", ".join(head.id for head in heads) or "none"
        raise LabError(bench.what, f"{id!r} is not one of where it stands ({known}).")
    others = [head for head in heads if head is not chosen[0]]
    note = f"settled on the draft of {chosen[0].by.shown}"
    bench.store.append_revision(following(chosen[0], "settle", bench.by, note=note, also=others))


# -- what is printed -------------------------------------------------------------------------------------------


def _show(bench: Bench, *, as_json: bool, brief: bool) -> int:
    head = bench.head()
    found = problems(head.design, bench.task.apps)
    if as_json:
        print_json(_shown(bench, head, found))
        return 0
    from lab.commands.telling_designs import next_words, tell_design

    if not brief:
        tell_design(head, found, bench.store.design_history(bench.subject))
    say(next_words(head, found))
    return 0


def _shown(bench: Bench, head: Revision, found: list[Problem]) -> DesignShown:
    frozen = bench.store.frozen_design(bench.subject)
    return DesignShown(
        id=head.id,
        task=head.task,
        asked=head.asked,
        version=head.version,
        state=head.state,
        frozen=frozen.version if frozen else None,
        authors=tuple(bench.store.design_authors(bench.subject, head.version)),
        by=head.by.id,
        at=head.at,
        note=head.note,
        marks=head.marks,
        problems=tuple(DesignProblem(problem.key, problem.words) for problem in found),
        design=head.design,
        history=tuple(bench.store.design_history(bench.subject)),
    )


def _list(args: argparse.Namespace, settings: Settings) -> int:
    with open_store(settings, create=not hasattr(args, "db"), readonly=hasattr(args, "db")) as store:
        lines = [_line(store, subject) for subject in store.designed()]
        if args.json:
            print_json(lines)
        elif not lines:
            say(f"no designs in {store.path}; `hitlab author TASK` drafts one")
        else:
            columns = ["task", "version", "state", "authors", "nodes", "branches", "units", "criteria", "when"]
            print_table(columns, [_cells(line) for line in lines], wide="task")
    return 0


def _line(store: Store, subject: Subject) -> DesignLine:
    heads = store.design_heads(subject)
    head, frozen = heads[-1], store.frozen_design(subject)
    return DesignLine(
        task=subject.task,
        asked=subject.asked,
        version=head.version,
        state=head.state,
        heads=len(heads),
        frozen=frozen.version if frozen else None,
        authors=tuple(store.design_authors(subject, head.version)),
        nodes=len(head.design.tdg.walk()),
        branches=len(head.design.branches),
        units=len(head.design.units),
        criteria=len(head.design.rubric.criteria),
        at=head.at,
    )


def _cells(line: DesignLine) -> list[str]:
    state = f"{line.state}, {line.heads} beside each other" if line.heads > 1 else line.state
    counts = [str(n) for n in (line.nodes, line.branches, line.units, line.criteria)]
    return [line.task, str(line.version), state, " ".join(line.authors) or "-", *counts, line.at[:16].replace("T", " ")]


def _write_out(bench: Bench, out: Path, *, even_draft: bool, as_json: bool) -> int:
    from lab.design.parts import as_yaml

    revision = bench.store.frozen_design(bench.subject)
    if even_draft:
        revision = bench.head()
    if revision is None:
        head = bench.head()
        raise LabError(bench.what, f"is {head.state}, not verified; nothing was written.", "--even-draft writes it.")
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(as_yaml(revision.design))
    except FileExistsError as error:
        raise LabError(str(out), "is there already; nothing was written.", "Name a new file.") from error
    except OSError as error:
        raise LabError(str(out), f"cannot be written ({error.strerror}).") from error
    written = DesignWritten(str(out), revision.task, revision.version, revision.state)
    if as_json:
        print_json(written)
    else:
        say(f"{written.path}: version {written.version} ({written.state}) of the design of {written.task}")
    return 0
