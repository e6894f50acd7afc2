"""The words of the commands for studies: protocols, study, label, labels, withdraw."""

from __future__ import annotations

import argparse

from lab.options.common import Commands, command, json, share


def add(commands: Commands) -> None:
    """Adds them."""
    _study(commands)


def _study(commands: Commands) -> None:
    study = commands.add_parser("study", help="plan, deal and follow studies", description="plan and follow studies")
    verbs = study.add_subparsers(title="commands", metavar="WHAT", required=True)
    _new(verbs)
    deal = _of_a_study(verbs, "deal", "deal a study's runs to its raters, each in an order of their own")
    json(deal)
    status = command(verbs, "status", "lab.commands.studying:status", "how far studies are, or everybody in one")
    status.add_argument("study", nargs="?", metavar="STUDY", help="one study (default: all)")
    json(status)
    shown = _of_a_study(verbs, "show", "print a study's plan")
    json(shown)
    opened = _of_a_study(verbs, "open", "rate or play in a study, from the exact place where you left it")
    opened.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    lock = _of_a_study(verbs, "lock", "close a study: nothing in it changes any more")
    lock.add_argument("--even-so", action="store_true", help="although somebody has something left to do")
    json(lock)
    replace = _of_a_study(verbs, "replace", "a rater leaves: what is left is dealt to another")
    replace.add_argument("rater", metavar="R2", help="who leaves")
    replace.add_argument("--by", metavar="R4", required=True, help="who goes on in their place")
    json(replace)
    release = _of_a_study(verbs, "release", "let a rater go on who was held after the pilot")
    release.add_argument("rater", metavar="R1", help="who was held")
    json(release)


def _of_a_study(verbs: Commands, name: str, help: str) -> argparse.ArgumentParser:
    """A command about one study, `NAME` or `NAME@VERSION`."""
    made = command(verbs, name, f"lab.commands.studying:{name}", help)
    made.add_argument("study", metavar="STUDY", help="the study's name, or NAME@2 for an older version")
    return made


def _new(verbs: Commands) -> None:
    new = command(verbs, "new", "lab.commands.studying_new:new", "freeze a study: who is asked what of which runs")
    new.add_argument(
        "plan",
        metavar="PRESET|FILE",
        help="a preset, a protocol's name, or a plan of yours (.yaml; `hitlab schema plan`)",
    )
    new.add_argument("--runs", nargs="+", metavar="ID|FILTER", help="ids, `all`, or words as `hitlab runs` takes them")
    new.add_argument("--tasks", nargs="+", metavar="TASK", help="tasks to play, by name or file; or `all`")
    new.add_argument("--items", metavar="FILE.jsonl", help="instruction sets or texts to judge, a line each")
    new.add_argument("--raters", metavar="A,B,C", help="study codes of who rates or plays, never names")
    new.add_argument("--name", metavar="NAME", help="the study's (default: the preset's); the same again is a version")
    new.add_argument("--title", metavar="TEXT", help="what people read above it")
    new.add_argument("--protocol", metavar="NAME|FILE", help="another protocol than the preset's")
    new.add_argument("--overlap", type=_overlap, metavar="K", help="how many people rate each run, or `all`")
    new.add_argument("--shared", type=share, metavar="0-1", help="the share rated by so many; the rest go to one")
    new.add_argument("--repeats", type=share, metavar="0-1", help="the share that the same person rates once more")
    new.add_argument("--seed", type=int, metavar="N", help="draws orders, sides and samples (default 0)")
    new.add_argument("--pilot", type=_count, metavar="N", help="how many come first, and to everybody")
    new.add_argument("--gold", metavar="FILE.jsonl", help="what is right, and why: those runs are calibration")
    new.add_argument("--bar", type=share, metavar="0-1", help="the least share right by which one passes the pilot")
    new.add_argument("--show", nargs="+", metavar="PART", help="what is shown besides, as rubric or persona")
    new.add_argument("--reveal", nargs="+", metavar="WHAT", help="what is not hidden: outcome, method, ...")
    new.add_argument(
        "--reference", metavar="ID|gold", help="the run beside which others are rated; gold: the task's own"
    )
    new.add_argument(
        "--conditions", nargs="+", metavar="WHO", help="of plays: person, 'person, no mirror', model, script"
    )
    new.add_argument("--agent", metavar="AGENT", help="of plays: who acts (default: rule)")
    new.add_argument("--steps", type=_count, metavar="N", help="of each run only so many steps, drawn by the seed")
    new.add_argument("--earlier", metavar="STUDY", help="where its raters differ, the cause is asked")
    new.add_argument(
        "--consent", metavar="FILE", help="what people agree to before they begin (text, or YAML by locale)"
    )
    new.add_argument("--locale", metavar="LANG", help="the language that is read: en, zh, ...")
    json(new)


def _overlap(text: str) -> int | str:
    return text if text == "all" else _count(text)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no number")
    return int(text)
