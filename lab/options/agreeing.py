"""The words of the commands for agreement: agreement, report, adjudicate, raters, merge."""

from __future__ import annotations

import argparse

from lab.options.common import Commands, command, json


def add(commands: Commands) -> None:
    """Adds them."""
    agreement = command(
        commands,
        "agreement",
        "lab.commands.agreeing:agreement",
        "how far a study's raters agree, each number with its n",
    )
    agreement.add_argument("study", nargs="?", metavar="STUDY", help="the study's name, or NAME@2 for an older version")
    agreement.add_argument("--cases", metavar="FILE", help="instead, try the arithmetic on a file of verified cases")
    agreement.add_argument("--open", action="store_true", help="open it on the screen instead of printing it")
    intervals(agreement)
    json(agreement)

    report = command(
        commands, "report", "lab.commands.reporting:report", "a study's tables in the paper's own form, to publish"
    )
    report.add_argument("study", metavar="STUDY", help="the study's name, or NAME@2 for an older version")
    report.add_argument(
        "--with", dest="beside", action="append", default=[], metavar="STUDY",
        help="a further study that this report reads: whose answers settle APR, causes of disagreement, ...",
    )  # fmt: skip
    report.add_argument(
        "--embed", metavar="MODEL", help="FingerTip's Sim1: a litellm embedding model, or local:NAME (an extra)"
    )
    report.add_argument("--out", metavar="FILE", help="write it there instead of printing it")
    intervals(report)
    form = report.add_mutually_exclusive_group()
    form.add_argument("--md", action="store_true", help="as Markdown")
    form.add_argument("--html", action="store_true", help="as one HTML page with pictures, which loads nothing")
    json(form)

    adjudicate = command(
        commands, "adjudicate", "lab.commands.adjudicating:adjudicate", "settle what raters disagree on, with a reason"
    )
    _adjudicating(adjudicate)

    raters = command(commands, "raters", "lab.commands.raters:raters", "each rater's pace, drift and agreement")
    raters.add_argument("study", metavar="STUDY", help="the study's name, or NAME@2 for an older version")
    intervals(raters)
    json(raters)

    merge = command(commands, "merge", "lab.commands.merging:merge", "bring copies of a file together into one")
    merge.add_argument("files", nargs="+", metavar="FILE", help="hitlab files; they stay as they are")
    json(merge)


def _adjudicating(parser: argparse.ArgumentParser) -> None:
    """Lists, shows or settles; without any of these the room opens."""
    parser.add_argument("study", metavar="STUDY", help="the study's name, or NAME@2 for an older version")
    parser.add_argument("--as", dest="person", metavar="CODE", help="who settles: nobody who rated the run in question")
    parser.add_argument("--list", dest="listed", action="store_true", help="what is to be settled, and what is")
    parser.add_argument("--unit", metavar="ID", help="one run (or pair, step, ...): with --target and --field an item")
    parser.add_argument("--target", default="", metavar="ID", help="the item in it, where there are several")
    parser.add_argument("--field", default="", metavar="ID", help="the question, where there are several")
    parser.add_argument(
        "--judges", action="store_true", help="with --unit: show judges' answers, too, or say they were seen"
    )
    parser.add_argument("--value", metavar="VALUE", help="settle it: the right answer")
    parser.add_argument(
        "--missing", choices=["not_reached", "not_applicable", "cannot_judge", "skipped"], metavar="REASON",
        help="settle it: why there is no right answer (not_reached, not_applicable, cannot_judge, skipped)",
    )  # fmt: skip
    parser.add_argument("--reason", metavar="TEXT", help="why; it must be said")
    parser.add_argument(
        "--means", choices=["majority", "discussion", "adjudicator"], metavar="HOW",
        help="majority, discussion or adjudicator (default: discussion with --move or --minutes, else adjudicator)",
    )  # fmt: skip
    parser.add_argument("--minutes", type=float, metavar="M", help="how long it was discussed")
    parser.add_argument(
        "--move", action="append", default=[], metavar="WHO:WAS:NOW:CODE",
        help="who changed their mind (by letter or code), from what to what, and why in a word; once for each",
    )  # fmt: skip
    parser.add_argument("--majority", action="store_true", help="settle every item for which most say one thing")
    parser.add_argument(
        "--from", dest="source", metavar="FILE", help="settle what these JSON lines say (-: from a pipe)"
    )
    parser.add_argument("--withdraw", action="store_true", help="leave an item unsettled again")
    parser.add_argument("--gold", metavar="FILE", help="write what is settled as gold for `hitlab study new --gold`")
    json(parser)


def intervals(parser: argparse.ArgumentParser) -> None:
    """--bootstrap and --seed: how intervals are made."""
    parser.add_argument(
        "--bootstrap", type=_resamples, metavar="N",
        help="intervals from N resamples of runs instead of the jackknife over runs",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the bootstrap's seed (default: 0)")


def _resamples(text: str) -> int:
    value = int(text)
    if not 100 <= value <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 100 to 1,000,000")
    return value
