"""The command agreement: how far a study's raters agree, or the arithmetic tried on verified cases."""

from __future__ import annotations

import argparse

from lab.commands.agreeing_told import StudyAgreement, tell_agreement
from lab.commands.runs import open_store, show_room
from lab.commands.seats import check_seat
from lab.commands.studying import study_named
from lab.errors import LabError
from lab.output import print_json
from lab.settings import Settings, load
from screens.seats import sees_outcomes


def agreement(args: argparse.Namespace) -> int:
    """Prints every number of a study with its interval and n, or opens the room that shows them."""
    if args.cases is not None:
        if args.study is not None:
            raise LabError("agreement", "a study, or --cases FILE, not both", code=2)
        from lab.commands.cases import cases

        return cases(args)
    if args.study is None:
        raise LabError("agreement", "names no study.", "`hitlab study status` lists them.", code=2)
    settings = load(db=getattr(args, "db", None))
    check_seat(settings, sees_outcomes, "agreement")
    if args.open:
        return _opened(args, settings)
    with open_store(settings, create=False, readonly=True) as store:
        from lab.commands.reporting import how_of
        from lab.gathering import agreed

        study = study_named(store, args.study)
        told = StudyAgreement(
            study.id,
            study.version,
            study.title,
            study.protocol.id,
            store.locked(study),
            study.sha,
            how_of(args),
            tuple(agreed(store, study, how_of(args))),
        )
    if args.json:
        print_json(told)
    else:
        tell_agreement(told, {field.id: field.shown for field in study.protocol.fields})
    return 0


def _opened(args: argparse.Namespace, settings: Settings) -> int:
    """The room, whose intervals are chosen in it."""
    if args.json or args.bootstrap is not None:
        raise LabError("agreement", "--open shows a room, which is no JSON and chooses its intervals itself.", code=2)
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        from screens.rooms import Opening

        opening = Opening("agreement", study=study)
        return show_room(store, settings, opening, f"study {study.id}", "`hitlab agreement STUDY` prints it.")
