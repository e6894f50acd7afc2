"""The words of the commands for studies: protocols, study, label, labels, withdraw."""

from __future__ import annotations

import argparse

from lab.options import kits
from lab.options.common import Commands, command, json, share


def add(commands: Commands) -> None:
    """Adds them."""
    _protocols(commands)
    _study(commands)
    _label(commands)
    _labels(commands)
    _withdraw(commands)


def _protocols(commands: Commands) -> None:
    protocols = command(
        commands, "protocols", "lab.commands.protocols:list_protocols", "what raters can be asked; or check a file"
    )
    protocols.add_argument("name", nargs="?", metavar="NAME", help="one whole, by its name; or a YAML file of yours")
    protocols.add_argument("--locale", default="en", metavar="LOCALE", help="the language: en, zh (default: en)")
    json(protocols)
    _examples(
        protocols,
        """\
  hitlab protocols                     every protocol, and what it is about
  hitlab protocols tdg                 one whole: guideline, questions, answers
  hitlab protocols mine.yaml           whether a protocol of yours is right
""",
    )


def _examples(parser: argparse.ArgumentParser, lines: str) -> None:
    """What stands below a command's help, as it is written."""
    parser.epilog, parser.formatter_class = f"examples:\n{lines}", argparse.RawDescriptionHelpFormatter


def _study(commands: Commands) -> None:
    study = commands.add_parser("study", help="plan, deal and follow studies", description="plan and follow studies")
    _examples(
        study,
        """\
  hitlab study new tdg --runs all --raters R1,R2,R3 --overlap 3
  hitlab study deal tdg
  hitlab study open tdg --as R1        rate, from where you left it
  hitlab study status tdg              who has how much left
  hitlab study lock tdg                nothing in it changes any more
""",
    )
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
    played = command(verbs, "play", "lab.commands.playing:play", "play what is left to a script or a model, headless")
    played.add_argument("study", metavar="STUDY", help="the study's name, or NAME@2 for an older version")
    played.add_argument("--model", metavar="NAME", help="the model that answers where the plan says model")
    played.add_argument("--device", metavar="SERIAL", help="a phone's serial or HOST:PORT; or embedded")
    json(played)
    listed = command(verbs, "runs", "lab.commands.played:runs", "what was played: who, under which condition, how")
    listed.add_argument("study", metavar="STUDY", help="the study's name, or NAME@2 for an older version")
    json(listed)
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
    kits.add(verbs)


def _of_a_study(verbs: Commands, name: str, help: str) -> argparse.ArgumentParser:
    """A command about one study, `NAME` or `NAME@VERSION`."""
    made = command(verbs, name, f"lab.commands.studying:{name}", help)
    made.add_argument("study", metavar="STUDY", help="the study's name, or NAME@2 for an older version")
    return made


PRESETS = (
    "pspa-e3", "pspa-d2", "pspa-e1", "dac", "knowu-5a", "knowu-5b", "knowu-5c", "memgui-a7", "memgui-irr",
    "memgui-failures", "fingertip-guess", "fingertip-rating",
)  # fmt: skip
"""As `annotators.presets` has them; here, too, so that a parser is built without looking for them."""
_EXAMPLES = f"""\
presets: {", ".join(PRESETS[:7])},
  {", ".join(PRESETS[7:])}

examples:
  hitlab study new memgui-failures --runs agent:rule "score<1" \\
    --raters R1,R2,R3 --overlap 3
  hitlab study new tdg --runs all --raters R1,R2 --name graphs
  hitlab study new knowu-5c --tasks usual_lunch way_home --raters P1,P2
  hitlab study new mine.yaml
"""


def _new(verbs: Commands) -> None:
    new = command(verbs, "new", "lab.commands.studying_new:new", "freeze a study: who is asked what of which runs")
    new.epilog, new.formatter_class = _EXAMPLES, argparse.RawDescriptionHelpFormatter
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
        "--reference", metavar="ID", help="the run beside which others are rated (default: their task's demonstration)"
    )
    new.add_argument(
        "--profiles",
        metavar="FOLDER",
        help="KnowU-Bench's user_profile, for runs that name a person alone",
    )
    new.add_argument("--log", choices=("clean", "noise", "none"), help="which history comes with them (default: noise)")
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


def _label(commands: Commands) -> None:
    label = command(
        commands, "label", "lab.commands.labelling:label", "write answers from JSON lines, by the rules of the screen"
    )
    label.description = """\
Takes answers from another tool, a model or a script, by the rules of the
screen; each row is on the disk before its line is printed, so a program may
write a row, wait for its line, and write the next. A row:
  {"unit": "019a", "target": "open", "field": "state", "value": "completed",
   "step": 4}
or "values": {"open": "completed"}, "missing": "cannot_judge", "evidence":
"RUN@4", "region", "confidence", "note", "run", "commit": true, "undo": true,
"cost", "id". Rows that are there already are passed over.
`hitlab schema label-row` has all of it."""
    label.add_argument("study", metavar="STUDY", help="its id, or ID@VERSION (default: the newest version)")
    label.add_argument("files", nargs="*", metavar="FILE", help="JSON lines; - is standard input (default)")
    label.loose = "files"
    label.add_argument("--as", dest="rater", default="", metavar="R1", help="whose answers they are (or each row says)")
    label.add_argument(
        "--kind", choices=("human", "model", "script"), help="who that is (default: human); models are dealt nothing"
    )
    label.add_argument(
        "--config", metavar="FILE|TEXT", help="a model's prompt and parameters; their hash stands with each answer"
    )
    label.add_argument(
        "--run", dest="run_number", type=int, default=1, metavar="N", help="which of a rater's repeated ratings it is"
    )
    label.add_argument("--keep-going", action="store_true", help="pass over rows that are refused (exit code 3)")
    label.add_argument("--json", action="store_true", help="print a JSON line for each row")
    _examples(
        label,
        """\
  hitlab label tdg answers.jsonl --as R1
  judge | hitlab label tdg --as judge --kind model --config prompt.txt
  hitlab label tdg answers.jsonl --keep-going --json
""",
    )


def _labels(commands: Commands) -> None:
    labels = command(commands, "labels", "lab.commands.labelling:labels", "print the answers of a study")
    labels.add_argument("study", metavar="STUDY", help="its id, or ID@VERSION (default: the newest version)")
    labels.add_argument("--rater", metavar="R1", help="only this person's, or this model's")
    labels.add_argument(
        "--unit", metavar="ID", help="only those about this item: its id, a run's, or the beginning of one"
    )
    labels.add_argument("--history", action="store_true", help="also what was changed or taken back since")
    labels.add_argument("--acts", action="store_true", help="with --json: also what was done beside answering")
    labels.add_argument("--pilot", action="store_true", help="how the raters did where it is known what is right")
    form = labels.add_mutually_exclusive_group()
    json(form)
    form.add_argument("--csv", action="store_true", help="print a CSV table, a line for each answer")
    _examples(
        labels,
        """\
  hitlab labels tdg                    the answers that stand
  hitlab labels tdg --history --json   also what was changed or taken back
  hitlab labels tdg --csv > tdg.csv    a line for each, for R or pandas
  hitlab labels tdg --pilot            raters beside what is right
""",
    )


def _withdraw(commands: Commands) -> None:
    withdraw = command(
        commands, "withdraw", "lab.commands.withdrawing:withdraw", "a person withdraws: all that is theirs is erased"
    )
    withdraw.description = """\
Takes a person out of the database for good: their answers, the runs they took
part in with their pictures, and the items of studies that quote them. Nothing
of theirs is taken in again. It tells what goes and asks for the code to be
typed. Copies made before (packs, kits, exports) cannot be reached."""
    withdraw.add_argument("code", metavar="CODE", help="the study code of who withdraws")
    act = withdraw.add_mutually_exclusive_group()
    act.add_argument("--show", action="store_true", help="only tell what would go")
    act.add_argument("--yes", action="store_true", help="do it without asking")
    json(withdraw)
    _examples(
        withdraw,
        """\
  hitlab withdraw P07 --show           what would go; nothing is done
  hitlab withdraw P07
""",
    )
