"""The command author: draft, review and export a task's design, on a screen or by single acts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from lab.cli.app import show_room
from lab.cli.arguments import Parser, PersonArguments, TableArguments, argument, flag, option, typed_words
from lab.cli.database import open_list, open_store
from lab.cli.output import (
    print_line,
    print_result,
    print_table,
    record_of,
)
from lab.core.errors import LabError
from lab.core.settings import Settings, load, require_person
from lab.core.task.design import (
    Act,
    Design,
    Revision,
    RevisionLine,
    State,
    Subject,
    clash_words,
    first_draft,
    next_revision,
    subject_of,
)
from lab.core.task.design_outline import rows
from lab.core.task.task import Actor, Task
from lab.core.text.plain_text import plain
from lab.core.text.suggestion import suggestion
from lab.core.values.made_files import open_file
from lab.studies.designing.design_checks import Problem, check_sound, problems
from lab.studies.designing.design_graph import draw_graph
from lab.studies.seats import check_seat, may_author

if TYPE_CHECKING:
    from store.store import Store


class DesignLine(msgspec.Struct, frozen=True):
    """One task's design in a list: `tasks design --list`.

    `heads` is above 1 if two drafts were made at once. `frozen` is the newest verified version, null if there is none.
    """

    task: str
    asked: str
    version: int
    state: State
    heads: int
    frozen: int | None
    authors: tuple[str, ...]
    nodes: int
    branches: int
    units: int
    criteria: int
    at: str


class DesignShown(msgspec.Struct, frozen=True):
    """One task's current design: `tasks design TASK --show`, and the result of each act.

    `asked` is a hash of the instruction. `marks` are a reviewer's words by item, empty for an accepted one.
    """

    id: str
    task: str
    asked: str
    version: int
    state: State
    frozen: int | None
    authors: tuple[str, ...]
    by: str
    at: str
    note: str
    marks: dict[str, str]
    problems: tuple[Problem, ...]
    design: Design
    history: tuple[RevisionLine, ...]


class DesignWritten(msgspec.Struct, frozen=True):
    """Result of `tasks design TASK --out FILE`: a design written as YAML."""

    path: str
    task: str
    version: int
    state: State


class AuthorContext(NamedTuple):
    """Store, task, run and person of one command."""

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
        """Return the design's only head. Raise `LabError` if there is none or more than one."""
        heads = self.store.designs.heads(self.subject)
        if not heads:
            raise LabError(
                self.what, "is not there yet.", f"`hitlab tasks design {self.task.id} --begin task` makes a draft."
            )
        if len(heads) > 1:
            ids = ", ".join(f"{head.id} ({head.by.display_name})" for head in heads)
            raise LabError(self.what, clash_words(heads), f"--settle ID says which stands: {ids}.")
        return heads[0]


class AuthorArguments(PersonArguments, TableArguments):
    target: str | None = argument("TASK|ID", "a task's name or file, or a run of it", nargs="?", completes="task")
    run_id: str | None = option("ID", "show this run beside the design (default: the newest)", "--run", completes="run")
    show: bool = flag("print the design, its problems and its history", one_of="act")
    listed: bool = flag("list the designs in the database", "--list", one_of="act")
    begin: Literal["task", "golden", "run"] | None = option(
        "", "begin a draft from the task, its golden steps or a run", choices=("task", "golden", "run"), one_of="act"
    )
    draft: str | None = option(
        "FILE", "copy tdg, branches, units or rubric from a YAML file into a draft", one_of="act"
    )
    submit: bool = flag("submit the draft for another person to verify", one_of="act")
    verify: bool = flag("freeze what another person submitted", one_of="act")
    objection: str | None = option(
        "WORDS", "send it back with this objection", "--object", type=typed_words, one_of="act"
    )
    reopen: bool = flag("reopen it as a draft (a frozen one as a new version)", one_of="act")
    settle: str | None = option("REVISION", "choose one of two drafts that were made at once", one_of="act")
    out: str | None = option("FILE", "write the frozen design as YAML for a task file (e.g. design.yaml)", one_of="act")
    even_draft: bool = flag("with --out: write it even if it is not frozen", "--allow-draft", "--even-draft")

    def table_lines(self) -> str:
        return "" if self.listed else "`hitlab tasks design --list`"


def add_tasks_design(parser: Parser) -> None:
    parser.runs(
        author, AuthorArguments,
        prints={"author": DesignShown, "author-list": list[DesignLine], "author-out": DesignWritten},
    )  # fmt: skip
    parser.examples(
        """\
  hitlab tasks design usual_lunch --person D1   draft it, beside a run of it
  hitlab tasks design usual_lunch --show        the design and its problems
  hitlab tasks design usual_lunch --verify --person D2
  hitlab tasks design usual_lunch --out design.yaml
"""
    )


def author(args: AuthorArguments) -> int:
    """Open a task's design beside a run of it, or do one act without a screen."""
    settings = load(db=args.db, person=args.person)
    check_seat(settings, may_author, "tasks design", "HITLAB_SEAT=designer sits elsewhere.")
    if args.listed:
        return _list(args, settings)
    if args.target is None:
        raise LabError(
            "tasks design", "needs a TASK or a run's ID, or --list", "`hitlab tasks list` lists tasks.", code=2
        )
    if args.even_draft and args.out is None:
        raise LabError("tasks design", "--allow-draft goes with --out FILE", code=2)
    acts = any((args.draft, args.begin, args.submit, args.verify, args.objection, args.reopen, args.settle))
    if not acts and not args.show and args.out is None:
        return _open_screen(args, args.target, settings)
    if acts:
        require_person(settings, "tasks design")
    only_read = args.db is not None and not acts
    with open_store(settings, create=not only_read, readonly=only_read) as store:
        task, run = find_task(store, args.target, args.run_id)
        bench = AuthorContext(store, task, run, Actor("human", settings.person))
        if args.out is not None:
            return _write_out(bench, Path(args.out), even_draft=args.even_draft, as_json=args.json)
        if acts:
            _do_act(bench, args)
        return _show(bench, as_json=args.json, brief=acts)


def find_task(store: Store, target: str, run: str | None) -> tuple[Task, str | None]:
    """Return the task named by a name, a file, a run or a run's task, and the run to view: `run`, or the newest.

    A built-in task's name wins over a run's id. If the file holds several tasks of one name, the newest run's task
    counts.
    """
    from simulators import library

    task, newest_run = None, store.runs.find(run) if run is not None else None
    if target in library.tasks() or Path(target).is_file():
        task = library.task(target)
    else:
        runs = store.runs.of_task(target)
        task_run = newest_run if newest_run in runs else runs[0] if runs else _find_run(store, target)
        task, newest_run = store.runs.task(task_run), newest_run or (None if runs else task_run)
    if newest_run is None:
        newest_run = store.runs.latest_run_of(subject_of(task))
    if newest_run is not None and subject_of(store.runs.task(newest_run)) != subject_of(task):
        raise LabError(f"run {newest_run}", f"is not one of the task {task.id}, or something else was asked in it.")
    return task, newest_run


def _find_run(store: Store, target: str) -> str:
    from simulators import library

    try:
        return store.runs.find(target)
    except LabError as error:
        if not error.message.startswith("is not in "):
            raise
        near = suggestion(target, library.tasks())
        raise LabError(
            f"task or run {target!r}", f"is neither a task's name or file nor a run in {store.path}{near or '.'}",
            "`hitlab tasks list` lists tasks, `hitlab runs list` runs.",
        ) from error  # fmt: skip


def _open_screen(args: AuthorArguments, target: str, settings: Settings) -> int:
    if args.json:
        raise LabError("tasks design", "--json goes with --show, --list or an act", code=2)
    with open_store(settings) as store:
        from screens.navigation import Opening

        task, run = find_task(store, target, args.run_id)
        opening = Opening("author", run, task=task)
        return show_room(
            store, settings, opening, "tasks design", "--show prints the design; `hitlab tasks design -h` says more."
        )


# -- acts ------------------------------------------------------------------------------------------------------
def _do_act(bench: AuthorContext, args: AuthorArguments) -> None:
    if args.draft:
        from lab.studies.designing.design_files import read_parts

        _draft(bench, read_parts(Path(args.draft)).apply_to, f"laid in {Path(args.draft).name}")
    elif args.begin:
        from lab.studies.designing.design_drafts import BEGINNINGS, first_draft_of

        design = first_draft_of(args.begin, bench.task, bench.store.runs.trace(bench.run) if bench.run else None)
        _draft(bench, lambda _: design, f"began from {BEGINNINGS[args.begin]}")
    elif args.settle:
        _settle(bench, args.settle)
    else:
        act: Act = "submit" if args.submit else "verify" if args.verify else "reopen" if args.reopen else "object"
        head = bench.head()
        if act == "submit":
            check_sound(head.design, bench.what, bench.task.apps)
        bench.store.designs.append(next_revision(head, act, bench.by, note=args.objection or ""))


def _draft(bench: AuthorContext, change: Callable[[Design], Design], note: str) -> None:
    if not bench.store.designs.heads(bench.subject):
        bench.store.designs.append(first_draft(bench.subject, bench.by, change(Design()), note))
        return
    head = bench.head()
    bench.store.designs.append(next_revision(head, "draft", bench.by, design=change(head.design), note=note))


def _settle(bench: AuthorContext, id: str) -> None:
    heads = bench.store.designs.heads(bench.subject)
    matches = [head for head in heads if head.id.startswith(id)]
    if len(matches) != 1:
        ids = ", ".join(head.id for head in heads) or "none"
        raise LabError(bench.what, f"{id!r} is not one of where it stands ({ids}).")
    others = [head for head in heads if head is not matches[0]]
    note = f"settled on the draft of {matches[0].by.display_name}"
    bench.store.designs.append(next_revision(matches[0], "settle", bench.by, note=note, also=others))


# -- what is printed -------------------------------------------------------------------------------------------
def _show(bench: AuthorContext, *, as_json: bool, brief: bool) -> int:
    head = bench.head()
    faults = problems(head.design, bench.task.apps)
    print_result(
        _design_shown(bench, head, faults), lambda view: _print_shown(head, faults, view, brief=brief), json=as_json
    )
    return 0


def _print_shown(head: Revision, problem_list: list[Problem], view: DesignShown, *, brief: bool) -> None:
    if not brief:
        tell_design(head, problem_list, view.history)
    print_line(next_words(head, problem_list))


def _design_shown(bench: AuthorContext, head: Revision, problem_list: list[Problem]) -> DesignShown:
    frozen = bench.store.designs.newest_verified(bench.subject)
    return record_of(
        DesignShown,
        head,
        frozen=frozen.version if frozen else None,
        authors=tuple(bench.store.designs.authors(bench.subject, head.version)),
        by=head.by.id,
        problems=tuple(problem_list),
        history=tuple(bench.store.designs.history(bench.subject)),
    )


def _list(args: AuthorArguments, settings: Settings) -> int:
    with open_list(settings) as store:
        lines = [_design_line(store, subject) for subject in store.designs.subjects()]
        nothing = f"no designs in {store.path}; `hitlab tasks design TASK` drafts one"
    print_result(lines, _print_list, json=args.json, nothing=nothing)
    return 0


def _print_list(lines: Sequence[DesignLine]) -> None:
    columns = ["task", "version", "state", "authors", "nodes", "branches", "units", "criteria", "when"]
    print_table(columns, [_list_cells(line) for line in lines], wide="task", records=(DesignLine, lines))


def _design_line(store: Store, subject: Subject) -> DesignLine:
    heads = store.designs.heads(subject)
    head, frozen = heads[-1], store.designs.newest_verified(subject)
    return DesignLine(
        task=subject.task,
        asked=subject.asked,
        version=head.version,
        state=head.state,
        heads=len(heads),
        frozen=frozen.version if frozen else None,
        authors=tuple(store.designs.authors(subject, head.version)),
        nodes=len(head.design.tdg.walk()),
        branches=len(head.design.branches),
        units=len(head.design.units),
        criteria=len(head.design.rubric.criteria),
        at=head.at,
    )


def _list_cells(line: DesignLine) -> list[str]:
    state = f"{line.state}, {line.heads} beside each other" if line.heads > 1 else line.state
    counts = [str(n) for n in (line.nodes, line.branches, line.units, line.criteria)]
    return [line.task, str(line.version), state, " ".join(line.authors) or "-", *counts, line.at[:16].replace("T", " ")]


def _write_out(bench: AuthorContext, out: Path, *, even_draft: bool, as_json: bool) -> int:
    from lab.studies.designing.design_files import as_yaml

    revision = bench.store.designs.newest_verified(bench.subject)
    if even_draft:
        revision = bench.head()
    if revision is None:
        head = bench.head()
        raise LabError(bench.what, f"is {head.state}, not verified; nothing was written.", "--allow-draft writes it.")
    try:
        with open_file(out, "x", encoding="utf-8") as file:
            file.write(as_yaml(revision.design))
    except FileExistsError as error:
        raise LabError(str(out), "is there already; nothing was written.", "Name a new file.") from error
    except OSError as error:
        raise LabError(str(out), f"cannot be written ({error.strerror}).") from error
    result = DesignWritten(str(out), revision.task, revision.version, revision.state)
    print_result(
        result,
        lambda _: print_line(
            f"{result.path}: version {result.version} ({result.state}) of the design of {result.task}"
        ),
        json=as_json,
    )
    return 0


WIDTH = 100


def tell_design(head: Revision, problems: Sequence[Problem], history: Iterable[RevisionLine]) -> None:
    """Print the whole design, its problems, objections and history."""
    print_line(f"design of {plain(head.task, lines=False)}, version {head.version}: {head.state}")
    for title, lines in _sections(head.design):
        print_line(f"\n{title}")
        for line in lines:
            print_line(f"  {line}")
    for key, words in head.marks.items():
        if words:
            print_line(f"\nobjected to {key}: {plain(words)}")
    print_line("\nhistory")
    for act in history:
        note = f": {plain(act.note, lines=False)}" if act.note else ""
        print_line(f"  {act.at[:19].replace('T', ' ')}  v{act.version} {act.act:7} {act.by}{note}")
    print_line("")
    for problem in problems:
        print_line(f"! {problem.words}")


def next_words(head: Revision, problems: Sequence[Problem]) -> str:
    """Return a design's state and the next step, in one line."""
    design = f"version {head.version} of the design of {plain(head.task, lines=False)}"
    if head.state == "verified":
        return f"{design} is verified by {head.by.display_name} and frozen; --out FILE writes it"
    if head.state == "submitted":
        return f"{design} is submitted; another person verifies it: --verify --person CODE"
    wrong = f"{len(problems)} thing{'s' if len(problems) > 1 else ''} to mend" if problems else "--submit hands it on"
    if head.state == "objected":
        return (
            f"{design} was sent back by {head.by.display_name}{f' ({plain(head.note)})' if head.note else ''}; {wrong}"
        )
    return f"{design} is a draft; {wrong}"


def _sections(design: Design) -> list[tuple[str, list[str]]]:
    """Return each non-empty part as lines."""
    graph = [
        f"{'  ' * row.depth}{row.number:<4} {row.node.name or '(no name)'}"
        f"{'  ~' if row.node.kind == 'flexible' else ''}  [{row.node.id}]"
        for row in rows(design.tdg)
    ]
    branches = [f"{b.id}: {b.ask}  ({' / '.join(b.options)}; depth {b.depth})" for b in design.branches]
    units = [
        f"{u.id}: {u.name} = {u.value or '-'}  ({u.source or '?'} -> {u.used or '?'}"
        f"{'' if u.explicit else '; steers only'})"
        for u in design.units
    ]
    rubric = [f"{c.id}: {c.ask}  (x{c.weight:g})" for c in design.rubric.criteria]
    sections = [("graph  (~ flexible)", graph), ("", draw_graph(design.tdg, WIDTH)), ("branches", branches),
            ("information units", units), ("rubric", rubric)]  # fmt: skip
    return [(title, lines) for title, lines in sections if lines]
