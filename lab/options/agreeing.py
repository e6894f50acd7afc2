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
    report.add_argument("--out", metavar="FILE", help="write it there instead of printing it")
    intervals(report)
    form = report.add_mutually_exclusive_group()
    form.add_argument("--md", action="store_true", help="as Markdown")
    form.add_argument("--html", action="store_true", help="as one HTML page with pictures, which loads nothing")
    json(form)

    adjudicate = command(
        commands, "adjudicate", "lab.commands.adjudicating:adjudicate", "settle what raters disagree on, with a reason"
    )
    adjudicate.add_argument("study", metavar="STUDY", help="the study's name, or NAME@2 for an older version")
    json(adjudicate)

    raters = command(commands, "raters", "lab.commands.raters:raters", "each rater's pace, drift and agreement")
    raters.add_argument("study", metavar="STUDY", help="the study's name, or NAME@2 for an older version")
    intervals(raters)
    json(raters)

    merge = command(commands, "merge", "lab.commands.merging:merge", "bring copies of a file together into one")
    merge.add_argument("files", nargs="+", metavar="FILE", help="hitlab files; they stay as they are")
    json(merge)


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
