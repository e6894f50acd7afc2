"""The command study new: freeze a study from a preset, a protocol or a plan."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any, Literal, get_args

from annotators.assignment import round_share
from annotators.plan import Plan, plan_of
from lab.cli.arguments import Arguments, Parser, seed, share, typed_words, up_to
from lab.cli.database import in_file, open_store, settings_for
from lab.cli.output import print_line, print_result
from lab.core.errors import LabError
from lab.core.study import IntroductionKind
from lab.core.suggestion import unknown_name
from lab.core.task import Actor
from lab.core.whole_number import whole_number
from lab.runs.run_selection import with_tag
from lab.studies.seats import sees_outcomes
from lab.studies.study_freezing import StudiesFrozen, StudyFrozen, freeze_studies
from lab.studies.study_runs import Skipped

UNIT_WORDS = {
    "run": "runs", "pair of runs": "pairs of runs", "pair of instruction sets": "pairs of instruction sets",
    "pair of texts": "pairs of texts", "step": "steps", "question": "questions", "task": "tasks",
    "task to play": "tasks to play",
}  # fmt: skip
"""Plural of each kind of unit."""


def dealing_words(unit: str, overlap: int, shared: str = "") -> str:
    """Describe how many people get each unit (`shared`, if not all do), or each task of a played study."""
    if unit == "task to play":
        return f"each task by {overlap} of them, by a person once, under one of the conditions that people play"
    return shared or f"each by {overlap}"


_HIDDEN = ("people", "models", "method", "outcome", "raters")

_FLAGS = (
    "runs", "tasks", "items", "name", "title", "protocol", "overlap", "shared", "repeats", "seed", "pilot", "gold",
    "introduction", "practice", "bar", "reference", "profiles", "log", "conditions", "agent", "steps", "earlier",
    "consent", "locale", "width", "prelabel", "shadows",
    "shadow_replies",
)  # fmt: skip

PRESETS = (
    "pspa-e3", "pspa-d2", "pspa-e1", "dac", "knowu-5a", "knowu-5b", "knowu-5c", "memgui-a7", "memgui-irr",
    "memgui-failures", "fingertip-guess", "fingertip-rating",
)  # fmt: skip
"""The presets of `annotators.presets` in printing order, named here so that --help imports nothing."""

_BEFORE = f"""\
presets: {", ".join(PRESETS[:7])},
  {", ".join(PRESETS[7:])}

raters: as many as rate each run, or more; three for pspa-e3, pspa-e1, pspa-d2
  and memgui-a7, four for knowu-5a, each owner for fingertip-rating, two for
  the others. --overlap K asks for another number.

a line of --gold: {{"run": "019a", "target": "open", "field": "state",
  "value": "completed", "reason": "The app is open."}}; "unit" in place of
  "run"; "target" and "field" where there are several (`hitlab schema gold`)

"""
_EXAMPLES = """\
  hitlab study new memgui-failures --runs agent:playbook "score<1" \\
    --raters R1,R2,R3 --overlap 3
  hitlab study new tdg --runs all --raters R1,R2 --name graphs
  hitlab study new knowu-5c --tasks usual_lunch way_home --raters P1,P2
  hitlab study new mine.yaml
"""


class StudyNewArguments(Arguments):
    plan: str
    runs: list[str] | None
    tag: str | None
    tasks: list[str] | None
    items: str | None
    raters: str | None
    name: str | None
    title: str | None
    protocol: str | None
    overlap: int | str | None
    shared: float | None
    repeats: float | None
    seed: int | None
    pilot: int | None
    gold: str | None
    introduction: IntroductionKind | None
    practice: str | None
    bar: float | None
    show: list[str] | None
    reveal: list[str] | None
    reference: str | None
    profiles: str | None
    log: Literal["clean", "noise", "none"] | None
    conditions: list[str] | None
    agent: str | None
    steps: int | None
    earlier: str | None
    consent: str | None
    locale: str | None
    width: float | None
    prelabel: str | None
    shadows: list[str] | None
    shadow_replies: bool | None
    even_so: bool


def add_study_new(parser: Parser) -> None:
    parser.runs(new, StudyNewArguments)
    parser.examples(_EXAMPLES, before=_BEFORE)
    parser.add_argument(
        "plan",
        metavar="PRESET|FILE",
        help="a preset, a protocol's name, or a plan of yours (.yaml; `hitlab schema plan`)",
    )
    add_terms(parser)
    parser.add_argument("--raters", metavar="A,B,C", help="study codes of who rates or plays, never names")
    parser.add_argument(
        "--name", metavar="NAME", help="the study's (default: the preset's); the same again is a version"
    )
    parser.add_argument("--title", type=typed_words, metavar="TEXT", help="what people read above it")
    parser.add_argument("--protocol", metavar="NAME|FILE", help="another protocol than the preset's")
    parser.add_argument("--overlap", type=_overlap, metavar="K", help="how many people rate each run, or `all`")
    parser.add_argument("--shared", type=share, metavar="0-1", help="the share rated by so many; the rest go to one")
    parser.add_argument("--repeats", type=share, metavar="0-1", help="the share that the same person rates once more")
    parser.add_argument("--seed", type=seed, metavar="N", help="draws orders, sides and samples (default 0)")
    parser.add_argument("--pilot", type=_count, metavar="N", help="how many come first, and to everybody")
    parser.add_argument("--gold", metavar="FILE.jsonl", help="what is right, and why: those runs are calibration")
    parser.add_argument(
        "--introduction",
        choices=get_args(IntroductionKind),
        help="before the first item: guide, keys and practice (full, the default), skippable, or none",
    )
    parser.add_argument("--practice", metavar="RUN", help="a run of --gold to practise on, in place of the protocol's")
    parser.add_argument("--bar", type=share, metavar="0-1", help="the least share right by which one passes the pilot")
    parser.add_argument(
        "--width", type=share, metavar="0-1", help="people may stop once a judge's corrected interval is so narrow"
    )
    parser.add_argument(
        "--prelabel", metavar="JUDGE", help="show this judge's answers first on a half of the sheets, drawn by the seed"
    )
    parser.add_argument(
        "--shadow", dest="shadows", action="append", metavar="model:NAME",
        help="of plays: a model that is silently asked what a person is; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--shadow-replies", action="store_true", default=None,
        help="of replies: those of shadow models, too; whose they are is hidden",
    )  # fmt: skip
    parser.add_argument("--show", nargs="+", metavar="PART", help="what is shown besides, as rubric or persona")
    parser.add_argument("--reveal", nargs="+", metavar="WHAT", help="what is not hidden: outcome, method, ...")
    parser.add_argument(
        "--conditions", nargs="+", metavar="WHO", help="of plays: person, 'person, no mirror', model, script"
    )
    parser.add_argument("--agent", metavar="AGENT", help="of plays: who acts (default: playbook)")
    parser.add_argument("--earlier", metavar="STUDY", help="where its raters differ, the cause is asked")
    parser.add_argument(
        "--consent", metavar="FILE", help="what people agree to before they begin (text, or YAML by locale)"
    )
    parser.add_argument("--locale", metavar="LANG", help="the language that is read: en, zh, ...")
    parser.json()
    parser.completes(plan="plan", protocol="protocol", agent="agent", earlier="study", shadows="shadow")


def add_terms(parser: Parser) -> None:
    """Add the options for the units of a study and the terms on which they are made."""
    parser.add_argument(
        "--runs", nargs="+", metavar="ID|FILTER", help="ids, `all`, or words as `hitlab runs` takes them"
    )
    parser.tagged()
    parser.add_argument("--tasks", nargs="+", metavar="TASK", help="tasks to play, by name or file; or `all`")
    parser.add_argument("--items", metavar="FILE.jsonl", help="instruction sets or texts to judge, a line each")
    parser.add_argument(
        "--reference", metavar="ID", help="the run beside which others are rated (default: their task's demonstration)"
    )
    parser.add_argument(
        "--profiles",
        metavar="FOLDER",
        help="KnowU-Bench's user_profile, for runs that name a person alone",
    )
    parser.add_argument(
        "--log", choices=("clean", "noise", "none"), help="which history comes with them (default: noise)"
    )
    parser.add_argument("--steps", type=_count, metavar="N", help="of each run only so many steps, drawn by the seed")
    parser.add_argument(
        "--even-so", action="store_true", help="also where runs have neither pictures nor words of their screens"
    )
    parser.completes(tasks="task", runs="run", reference="run")


def _overlap(text: str) -> int | str:
    return text if text == "all" else _count(text)


def _count(text: str) -> int:
    number = whole_number(text)
    if number is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no number")
    return up_to(1_000_000)(text)


def new(args: StudyNewArguments) -> int:
    """Freeze a study over runs, tasks or items. An existing name with any difference becomes a new version."""
    settings = settings_for(args.db, sees_outcomes, "study new")
    plan = _plan(args)
    named = args.name is not None or args.plan.endswith((".yaml", ".yml"))
    with open_store(settings) as store:
        result = freeze_studies(
            store, plan, Actor("human", settings.person), named=named, exact=args.pilot is not None, unseen=args.even_so
        )
    print_result(result, lambda _: print_frozen(result, args.db), json=args.json)
    return 0


def _plan(args: StudyNewArguments) -> Plan:
    """Return the plan of a command line."""
    arguments = vars(args)
    terms: dict[str, Any] = {name: arguments[name] for name in _FLAGS if arguments[name] is not None}
    if args.tag is not None:
        terms["runs"] = with_tag(terms.get("runs", ()), args.tag)
    if args.raters is not None:
        terms["raters"] = [code.strip() for code in args.raters.split(",") if code.strip()]
    plan = plan_of(args.plan, terms)
    unknown = [what for what in args.reveal or () if what not in _HIDDEN]
    if unknown:
        raise LabError("study new", f"--reveal {unknown_name(unknown[0], _HIDDEN)}", code=2)
    blind = tuple(what for what in plan.blind if what not in (args.reveal or ()))
    return plan_of(args.plan, {**terms, "blind": blind, "shows": [*plan.shows, *(args.show or ())]})


def print_frozen(result: StudiesFrozen, db: str | None = None) -> None:
    for study in result.studies:
        if not study.new:
            print_line(f"{study.study} v{study.version} is frozen as exactly this already; nothing was done")
        else:
            _tell_new(study)
    print_skipped(result.skipped)
    for study in result.studies:
        print_line(f"next: hitlab study deal {study.study}{in_file(db)}")


def print_skipped(skipped: Iterable[Skipped]) -> None:
    """Print what the study leaves out, by reason."""
    reasons: dict[str, list[str]] = {}
    for item in skipped:
        reasons.setdefault(item.why, []).append(item.id)
    for why, ids in reasons.items():
        print_line(
            f"left out  {len(ids):,}: {why} ({', '.join(id[:13] for id in ids[:3])}{', ...' if len(ids) > 3 else ''})"
        )


def _tell_new(study: StudyFrozen) -> None:
    print_line(f"{study.study} v{study.version}: {study.title}")
    print_line(f"asks      {study.protocol} (version {study.protocol_sha[:12]}, guide {study.guide_sha[:12]})")
    main = study.units - study.pilot - study.mechanical - study.practice
    parts = [f"{study.pilot:,} to begin with"] * bool(study.pilot)
    parts += [f"{study.mechanical:,} by rule"] * bool(study.mechanical)
    parts += ["1 to practise on"] * bool(study.practice)
    beside = f" ({main:,}, {', '.join(parts)})" if parts else ""
    items = f", {study.items:,} items" if study.items != study.units else ""
    print_line(f"of        {study.units:,} {UNIT_WORDS[study.unit] if study.units != 1 else study.unit}{beside}{items}")
    several = round_share(study.shared, main)
    partly = f"{several:,} by {study.overlap}, the rest by one" if study.shared != 1 else ""
    each = dealing_words(study.unit, study.overlap, partly)
    again = f", {study.repeats * 100:g} % twice" if study.repeats else ""
    print_line(f"by        {', '.join(study.raters)}; {each}{again}")
    for line in study.told:
        print_line(f"note      {line}")
    if study.differs:
        print_line(f"differs   from v{study.version - 1}: {'; '.join(study.differs)}")
    print_line(f"frozen    {study.sha}")
