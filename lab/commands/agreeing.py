"""The command agreement: how far a study's raters agree, or the arithmetic tried on verified cases."""

from __future__ import annotations

import argparse

from lab.commands.agreeing_told import StudyAgreement, tell_agreement
from lab.commands.runs import open_store
from lab.commands.seats import check_seat
from lab.commands.studying import study_named
from lab.errors import LabError
from lab.output import print_json
from lab.settings import load
from screens.seats import sees_outcomes


def agreement(args: argparse.Namespace) -> int:
    """Prints every number of a study with its interval and n."""
    if args.cases is not None:
        if args.study is not None:
            raise LabError("agreement", "a study, or --cases FILE, not both", code=2)
        from lab.commands.cases import cases

        return cases(args)
    if args.study is None:
        raise LabError("agreement", "names no study.", "`hitlab study status` lists them.", code=2)
    settings = load(db=getattr(args, "db", None))
    check_seat(settings, sees_outcomes, "agreement")
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
