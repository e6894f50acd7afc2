"""The command study new: freeze a study from a preset, a protocol or a plan."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any, Literal, get_args

from annotators.assignment import round_share
from annotators.plan import Plan, plan_of
from lab.cli.arguments import (
    JsonArguments,
    Parser,
    TaggedArguments,
    argument,
    flag,
    option,
    seed_number,
    share,
    study_codes,
    typed_words,
    up_to,
)
from lab.cli.database import in_file, open_store, settings_for
from lab.cli.output import print_line, print_result
from lab.core.errors import LabError
from lab.core.study.study import IntroductionKind
from lab.core.task.task import Actor
from lab.core.text.suggestion import unknown_name
from lab.core.values.whole_number import whole_number
from lab.runs.listing.run_selection import with_tag
from lab.studies.planning.study_freezing import StudiesFrozen, StudyFrozen, freeze_studies
from lab.studies.planning.study_runs import Skipped
from lab.studies.seats import sees_outcomes

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
  "run"; "target" and "field" if there are several. See
  `hitlab settings schema gold`.

"""
_EXAMPLES = """\
  hitlab study new memgui-failures --runs agent:playbook "score<1" \\
    --raters R1,R2,R3 --overlap 3
  hitlab study new tdg --runs all --raters R1,R2 --name graphs
  hitlab study new knowu-5c --tasks usual_lunch way_home --raters P1,P2
  hitlab study new mine.yaml
"""


def _parse_overlap(text: str) -> int | str:
    return text if text == "all" else _parse_count(text)


def _parse_count(text: str) -> int:
    number = whole_number(text)
    if number is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no number")
    return up_to(1_000_000)(text)


class UnitArguments(TaggedArguments):
    """Units of a study, and the terms on which they are made."""

    runs: list[str] | None = option(
        "ID|FILTER", "put these runs in: ids, `all`, or words as `hitlab runs list` takes them", nargs="+",
        completes="run",
    )  # fmt: skip
    tasks: list[str] | None = option(
        "TASK", "put these tasks in, to be played: names, files, or `all`", nargs="+", completes="task"
    )
    items: str | None = option("FILE.jsonl", "put these instruction sets or texts in, a line each")
    reference: str | None = option(
        "ID", "rate the runs beside this one (default: the demonstration of their task)", completes="run"
    )
    profiles: str | None = option("FOLDER", "read KnowU-Bench's user_profile for runs that only name a person")
    log: Literal["clean", "noise", "none"] | None = option(
        "", "with --profiles: show this history (default: noise)", choices=("clean", "noise", "none")
    )
    steps: int | None = option("N", "put only N steps of each run in, drawn by the seed", type=_parse_count)
    even_so: bool = flag("accept runs without screenshots and UI text", "--force", "--even-so")


class StudyNewArguments(UnitArguments, JsonArguments):
    plan: str = argument(
        "PRESET|FILE", "a preset, a protocol's name, or a plan of yours (.yaml; `hitlab settings schema plan`)",
        completes="plan",
    )  # fmt: skip
    raters: list[str] | None = option(
        "A,B,C", "let these people rate or play: study codes, never names", type=study_codes, completes="rater"
    )
    name: str | None = option("NAME", "study name (default: the preset's); an existing name makes a new version")
    title: str | None = option("TEXT", "title that people read above the study", type=typed_words)
    protocol: str | None = option("NAME|FILE", "protocol to use instead of the preset's", completes="protocol")
    overlap: int | str | None = option(
        "K", "number of people who rate each run (e.g. 3), or `all`", type=_parse_overlap
    )
    shared: float | None = option(
        "0-1", "share of units rated by --overlap people (e.g. 0.2); the others by one (default: 1)", type=share
    )
    repeats: float | None = option("0-1", "share of units that a rater rates twice, e.g. 0.1 (default: 0)", type=share)
    seed: int | None = option("N", "seed of orders, sides and samples (default: 0)", type=seed_number)
    pilot: int | None = option("N", "number of pilot units (e.g. 10), which everybody rates first", type=_parse_count)
    gold: str | None = option("FILE.jsonl", "gold answers with reasons; their runs become calibration")
    introduction: IntroductionKind | None = option(
        "", "introduction before the first item: guide, keys and practice (full, the default), skippable, or none",
        choices=get_args(IntroductionKind),
    )  # fmt: skip
    practice: str | None = option("RUN", "run of --gold to practise on (default: the protocol's)")
    bar: float | None = option(
        "0-1", "minimum share of correct pilot answers, e.g. 0.8 (default: none)", "--pass-share", "--bar", type=share
    )
    width: float | None = option(
        "0-1", "let people stop once a judge's corrected interval is at most this wide (e.g. 0.1)", type=share
    )
    prelabel: str | None = option(
        "JUDGE", "show raters this judge's answers beforehand, on a random half of the sheets (see --seed)"
    )
    shadows: list[str] | None = option(
        "model:NAME", "plays: also ask this model each question, unseen by the person; repeatable", "--shadow",
        action="append", completes="shadow",
    )  # fmt: skip
    shadow_replies: bool | None = flag("replies: also rate shadow models' replies (source hidden)", default=None)
    show: list[str] | None = option("PART", "also show these parts (e.g. rubric or persona)", nargs="+")
    reveal: list[str] | None = option("WHAT", "do not hide these: outcome, method, people, models, raters", nargs="+")
    conditions: list[str] | None = option(
        "WHO", "plays: conditions: person, 'person, no mirror', model, script", nargs="+"
    )
    agent: str | None = option("AGENT", "plays: agent that acts (default: playbook)", completes="agent")
    earlier: str | None = option(
        "STUDY", "ask for the cause of each disagreement in STUDY", "--earlier-study", "--earlier", completes="study"
    )
    consent: str | None = option("FILE", "consent form before the study (text, or YAML by locale)")
    locale: str | None = option("LANG", "language of the protocol: en, zh, ... (default: the setting locale)")


def add_study_new(parser: Parser) -> None:
    parser.runs(new, StudyNewArguments, prints={"study-new": StudiesFrozen})
    parser.examples(_EXAMPLES, before=_BEFORE)


def new(args: StudyNewArguments) -> int:
    """Freeze a study over runs, tasks or items. An existing name with any difference becomes a new version."""
    settings = settings_for(args.db, sees_outcomes, "study new")
    plan = _build_plan(args)
    named = args.name is not None or args.plan.endswith((".yaml", ".yml"))
    with open_store(settings) as store:
        result = freeze_studies(
            store, plan, Actor("human", settings.person), named=named, exact=args.pilot is not None, unseen=args.even_so
        )
    print_result(result, lambda _: print_frozen(result, args.db), json=args.json)
    return 0


def _build_plan(args: StudyNewArguments) -> Plan:
    """Return the study plan that the command's arguments describe."""
    arguments = vars(args)
    terms: dict[str, Any] = {name: arguments[name] for name in _FLAGS if arguments[name] is not None}
    if args.tag is not None:
        terms["runs"] = with_tag(terms.get("runs", ()), args.tag)
    if args.raters is not None:
        if again := next((code for code in args.raters if args.raters.count(code) > 1), ""):
            raise LabError("study new", f"--raters names {again} twice.", code=2)
        terms["raters"] = args.raters
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
            _print_frozen(study)
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


def _print_frozen(study: StudyFrozen) -> None:
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
