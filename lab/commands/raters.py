"""The command raters: each rater's pace, drift and agreement, each number with its n."""

from __future__ import annotations

import argparse

from lab.commands.raters_told import StudyRaters, tell_raters
from lab.commands.runs import open_store
from lab.commands.seats import check_seat
from lab.commands.studying import study_named
from lab.output import print_json
from lab.settings import load
from screens.seats import sees_outcomes


def raters(args: argparse.Namespace) -> int:
    """Prints each rater's numbers; codes are told, so that only who plans a study may ask."""
    settings = load(db=getattr(args, "db", None))
    check_seat(settings, sees_outcomes, "raters")
    with open_store(settings, create=False, readonly=True) as store:
        from annotators.raters import raters_of
        from lab.commands.reporting import how_of
        from lab.gathering import gathered

        study = study_named(store, args.study)
        how = how_of(args)
        found = tuple(raters_of(gathered(store, study, how)))
        told = StudyRaters(study.id, study.version, study.title, study.sha, how, found)
    if args.json:
        print_json(told)
    else:
        tell_raters(told, {field.id: field.shown for field in study.protocol.fields})
    return 0
