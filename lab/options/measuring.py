"""The words of the command that measures runs: metrics."""

from __future__ import annotations

import argparse
import math

from lab.options.common import Commands, command, json, share

PAPERS = ("pspa", "dac", "knowu", "memgui", "fingertip")
"""As `annotators.metrics` has them; here, too, so that a parser is built without loading it."""


def add(commands: Commands) -> None:
    """Adds them."""
    metrics = command(
        commands, "metrics", "lab.commands.measuring:metrics", "compute the five papers' numbers over stored runs"
    )
    metrics.add_argument("run_ids", nargs="*", metavar="ID", help="only these runs (default: all)")
    metrics.add_argument(
        "--by", type=_names, default=(), metavar="KEY,KEY",
        help="a table for each agent, model, task, kind, persona, user, source, attempt, ... or trait of the tasks",
    )  # fmt: skip
    metrics.add_argument(
        "--paper", type=_papers, default=PAPERS, metavar="NAME,NAME", help=f"only these: {', '.join(PAPERS)}"
    )
    metrics.add_argument("--forks", action="store_true", help="take in runs that were forked from others, too")
    metrics.add_argument(
        "--marks", metavar="FILE", help="node matches, units, branches and judgements of runs, as JSON lines"
    )
    metrics.add_argument(
        "--study", metavar="STUDY", help="what a study's raters settled on: of one that is locked, what most say"
    )
    metrics.add_argument("--rater", metavar="R1", help="with --study: what this rater alone says, locked or not")
    metrics.add_argument(
        "--profiles", metavar="FOLDER", help="KnowU-Bench's user_profile/*.yaml, for imported runs of its personas"
    )
    metrics.add_argument(
        "--lambda", dest="rule_weight", type=share, metavar="L", help="KnowU's weight of the rule score (0 to 1)"
    )
    metrics.add_argument(
        "--step-budget", type=_above, metavar="X",
        help="MemGUI: runs of more than X times their golden steps, and one more, have failed (the paper: 1.4)",
    )  # fmt: skip
    metrics.add_argument(
        "--golden-tokens", type=_above, metavar="N",
        help="MemGUI: runs of more than N tokens for each golden step have failed (the paper: 9507)",
    )  # fmt: skip
    metrics.add_argument("--token-budget", type=_count, metavar="N", help="runs of more than N tokens have failed")
    metrics.add_argument(
        "--embed", metavar="MODEL", help="FingerTip's Sim1: a litellm embedding model, or local:NAME (an extra)"
    )
    metrics.add_argument("--explain", action="store_true", help="say what each number is and where it is defined")
    form = metrics.add_mutually_exclusive_group()
    json(form)
    form.add_argument("--csv", action="store_true", help="print a CSV table, a line for each number")


def _names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise argparse.ArgumentTypeError("names nothing to group by")
    return names


def _papers(text: str) -> tuple[str, ...]:
    names = _names(text)
    unknown = [name for name in names if name not in PAPERS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(PAPERS)}")
    return names


def _above(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of tokens")
    return value
