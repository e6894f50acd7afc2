"""The command record: a person works the phone as the agent and describes each step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from lab.cli.app import live_opening, show_room
from lab.cli.arguments import (
    DeviceArguments,
    Parser,
    PersonArguments,
    WindowArguments,
    argument,
    flag,
    option,
    typed_words,
)
from lab.cli.database import open_store
from lab.core.errors import LabError
from lab.core.settings import EMBEDDED, Settings, load
from lab.core.values.made_files import open_file
from lab.studies.seats import refuse_blind

if TYPE_CHECKING:
    from lab.core.run.trace import Trace
    from lab.runs.spec import Spec
    from screens.record.intent import DemonstrationRequest
    from store.store import Store


class RecordArguments(WindowArguments, DeviceArguments, PersonArguments):
    task: str | None = argument("TASK", "name of a built-in task, or a task file", nargs="?", completes="task")
    resume: str | None = option("ID", "continue an open recording", completes="run")
    intent: str | None = option(
        "TEXT", "state what you want to do, in one sentence (default: ask for it)", type=typed_words
    )
    place: str | None = option(
        "CATEGORY", "state the kind of place you are in: residence, office, school ...", "--location", "--place",
        type=typed_words,
    )  # fmt: skip
    save_playbook: str | None = option(
        "FILE", "write the steps to FILE as a playbook that you can edit (e.g. mute.yaml)"
    )
    run_id: str | None = option(
        "ID", "with --save-playbook: take the steps from this stored run", "--run", completes="run"
    )
    quick: bool = flag("perform each touch at once and accept the suggested instruction unread")
    seat: Literal["participant", "designer", "developer"] | None = option(
        "", "show what this seat may see (default: the setting seat)", choices=("participant", "designer", "developer")
    )


def add_record(parser: Parser) -> None:
    parser.runs(record, RecordArguments)
    parser.examples(
        """\
  hitlab record --intent "Mute the phone" --person P07
  hitlab record usual_lunch --device R58M
  hitlab record --run 019a --save-playbook mute.yaml
"""
    )


def record(args: RecordArguments) -> int:
    """Record a demonstration from its intent, or resume an open one."""
    if args.run_id is not None:
        return _save_stored(args)
    if args.resume is not None and (args.task or args.intent or args.place or args.quick):
        problem = "--resume goes on with a recording as it is; it takes no task, intent, place or --quick"
        raise LabError("record", problem, code=2)
    db = args.db
    settings = load(db=db, person=args.person, seat=args.seat, device=args.device, window=args.window)
    if settings.seat == "rater":
        raise LabError("record", "is not there for the seat rater.")
    if args.save_playbook is not None and Path(args.save_playbook).exists():
        raise _exists_error(args.save_playbook)
    with open_store(settings) as store:
        from screens.navigation import Opening

        if args.resume is not None:
            spec, trace = _resume(args, args.resume, settings, store)
            opening = live_opening(store, spec, trace)
            settings = msgspec.structs.replace(settings, seat=spec.seat)
        else:
            opening = Opening("live", ask=_build_recording(args, settings))
            _check_phone(opening.ask.spec if opening.ask else None)
        runs: list[str] = []
        opening = opening._replace(on_recording=runs.append)
        code = show_room(store, settings, opening, "record", "A demonstration needs a person at a terminal.")
        if args.save_playbook is not None:
            run = next((run for run in reversed(runs) if store.runs.has_run(run)), None)
            if run is None:
                raise LabError("--save-playbook", "nothing was recorded, so nothing is written.")
            _save_playbook(store, run, args.save_playbook)
        return code


def _save_stored(args: RecordArguments) -> int:
    """Write the playbook of a stored run."""
    if args.run_id is None or args.save_playbook is None or args.task or args.resume:
        raise LabError("record", "--run ID goes with --save-playbook FILE alone", code=2)
    settings = load(db=args.db, person=args.person, seat=args.seat)
    if settings.seat == "rater":
        raise LabError("record", "is not there for the seat rater.")
    refuse_blind(settings, "record --run")
    with open_store(settings, create=False, readonly=True) as store:
        _save_playbook(store, store.runs.find(args.run_id), args.save_playbook)
    return 0


def _save_playbook(store: Store, run: str, file: str) -> None:
    """Write a run's actions as a playbook, to a new file."""
    from lab.agents.playbook_draft import as_yaml, drafted
    from lab.cli.output import SHORT_ID, print_line

    trace = store.runs.trace(run)
    if trace.ended is None:
        raise LabError(
            f"run {run}", "is not over yet; it has no playbook.", f"`hitlab record --resume {run[:SHORT_ID]}` ends it."
        )
    moves = drafted(trace)
    try:
        with open_file(Path(file), "x", encoding="utf-8") as out:
            out.write(as_yaml(moves))
    except FileExistsError as error:
        raise _exists_error(file) from error
    except OSError as error:
        raise LabError(file, f"cannot be written ({error.strerror}).") from error
    print_line(f"{file}: {len(moves)} moves. `hitlab live TASK --playbook {file}` plays them.")


def _exists_error(file: str) -> LabError:
    return LabError(file, "is there already; nothing was written.", "Name a new file.")


def _check_phone(spec: Spec | None) -> None:
    """Raise `LabError` if the phone to record on is not available."""
    from lab.runs.spec import check_phone, phone_of

    if spec is not None:
        check_phone(spec)
        if spec.device != EMBEDDED and not spec.harness:
            phone_of(spec).close()


def _build_recording(args: RecordArguments, settings: Settings) -> DemonstrationRequest:
    """Return what to record once intent and place are known. Raise `LabError` now for all that can fail."""
    from lab.core.run.demonstration import check_line
    from screens.launcher import new_recording

    intent, place = check_line(args.intent or "", "intent"), check_line(args.place or "", "place")
    asking = new_recording(args.task, settings)
    spec = asking.spec._replace(harness=args.harness or "", quick=args.quick)
    return asking._replace(spec=spec, intent=intent, place=place)


def _resume(args: RecordArguments, run: str, settings: Settings, store: Store) -> tuple[Spec, Trace]:
    from lab.runs.spec import resume_spec

    trace = store.runs.trace(store.runs.find(run))
    if trace.agent.kind != "human":
        raise LabError(f"run {trace.id}", "is no demonstration", "`hitlab live --resume ID` goes on with a run.")
    spec = resume_spec(trace, person=args.person, device=args.device, harness=args.harness)
    if settings.seat != spec.seat and settings.seat != "developer":
        raise LabError(f"run {trace.id}", f"is a {spec.seat}'s; a {settings.seat} cannot go on with it.")
    return spec, trace
