"""The command metrics: measure stored runs and print tables, JSON or CSV."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import floor, log10
from pathlib import Path

import msgspec

from annotators.papers.marks import Marks, read_marks, with_marks
from annotators.papers.measurement import Group, measure_groups
from annotators.papers.metrics import PAPERS, MetricTerms, PaperNumber, definitions
from annotators.report.study_numbers import PAPER as STUDY
from annotators.report.study_numbers import study_numbers
from lab.cli.arguments import (
    MOST,
    Parser,
    TableArguments,
    TaggedArguments,
    above_zero,
    argument,
    flag,
    option,
    share,
    up_to,
)
from lab.cli.database import open_store, settings_for
from lab.cli.output import print_json, print_line, print_result, print_table, record_of, write_table
from lab.core.errors import LabError
from lab.core.run.agent_names import shortest_names
from lab.core.run.measured_run import MeasuredRun
from lab.core.run.run_records import check_tag
from lab.core.settings import Settings
from lab.core.study.study import Study
from lab.core.task.task import load_persona
from lab.core.text.plain_text import plain
from lab.core.text.suggestion import unknown_name
from lab.core.values.rounding import format_number
from lab.studies.planning.study_places import study_named
from lab.studies.progress.study_data import load_study_data
from lab.studies.seats import sees_outcomes
from lab.studies.settling.settled_runs import of_study, rater_of, study_marks, with_unsettled
from store.formats.tables.csv_writer import escape_formula, line
from store.store import Store


class TermsTold(msgspec.Struct, frozen=True, omit_defaults=True):
    """Parameters of the numbers, as given on the command line."""

    step_budget: float | None = None
    golden_tokens: float | None = None
    token_budget: int | None = None
    rule_weight: float | None = None
    embedder: str = ""


class Measured(msgspec.Struct, frozen=True):
    """The papers' numbers over runs: `runs metrics`. `left_out` counts runs in no number at all, by reason.

    `by` are the keys that group the runs, `rated` names the study and raters that settled the ratings.
    """

    db: str
    runs: int
    left_out: dict[str, int]
    papers: tuple[str, ...]
    terms: TermsTold
    groups: tuple[Group, ...]
    by: tuple[str, ...] = ()
    rated: str = ""


def _parse_keys(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise argparse.ArgumentTypeError("names nothing to group by")
    return names


def _parse_papers(text: str) -> tuple[str, ...]:
    names = _parse_keys(text)
    unknown = [name for name in names if name not in PAPERS]
    if unknown:
        raise argparse.ArgumentTypeError(unknown_name(unknown[0], PAPERS))
    return names


def _token_count(text: str) -> int:
    value = up_to(MOST)(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of tokens")
    return value


class MetricsArguments(TaggedArguments, TableArguments):
    run_ids: list[str] = argument(
        "ID", "measure only these runs (default: all that are not archived)", nargs="*", completes="run"
    )
    by: tuple[str, ...] = option(
        "KEY,KEY", "print a table for each agent, model, task, kind, persona, user, source, attempt, ... or task trait",
        "--group-by", "--by", type=_parse_keys, default=(),
    )  # fmt: skip
    paper: tuple[str, ...] = option(
        "NAME,NAME", f"compute only these papers' numbers: {', '.join(PAPERS)}", type=_parse_papers, default=PAPERS
    )
    forks: bool = flag("include runs that were forked from others")
    marks: str | None = option("FILE", "read node matches, units, branches and judgements of runs from JSON lines")
    study: str | None = option(
        "STUDY", "measure a locked study's runs by its raters' answers: the settled ones, else the majority's",
        completes="study",
    )  # fmt: skip
    rater: str | None = option("R1", "with --study: use this rater's answers alone, locked or not", completes="rater")
    profiles: str | None = option("FOLDER", "read KnowU-Bench's user_profile/*.yaml for imported runs of its personas")
    rule_weight: float | None = option("L", "weigh KnowU's rule score by L, from 0 to 1", "--lambda", type=share)
    step_budget: float | None = option(
        "X", "MemGUI: fail runs of more than X times their golden steps plus one (the paper: 1.4)", type=above_zero
    )
    golden_tokens: float | None = option(
        "N", "MemGUI: fail runs of more than N tokens for each golden step (the paper: 9507)", type=above_zero
    )
    token_budget: int | None = option("N", "fail runs of more than N tokens (e.g. 100000)", type=_token_count)
    embed: str | None = option(
        "MODEL", "compute FingerTip's Sim1 by a litellm embedding model, or local:NAME (an extra)"
    )
    explain: bool = flag("also print what each number is and where it is defined")
    csv: bool = flag("print a CSV table, a line for each number", one_of="form")


def add_runs_metrics(parser: Parser) -> None:
    parser.runs(metrics, MetricsArguments, prints={"metrics": Measured})
    parser.examples(
        """\
  hitlab runs metrics                  over all runs
  hitlab runs metrics --group-by agent --paper knowu,dac
  hitlab runs metrics --study tdg --csv > tdg.csv
  hitlab runs metrics --explain        what each number is, and by which paper
"""
    )


def metrics(args: MetricsArguments) -> int:
    """Print the papers' numbers over the runs of a database, each with its n and omissions."""
    if args.explain:
        explain(definitions(args.paper), as_json=args.json)
        return 0
    settings = settings_for(args.db, sees_outcomes, "metrics")
    if args.rater and not args.study:
        raise LabError("metrics", "--rater says whose answers of --study count; no study is named.", code=2)
    terms = _terms(args, settings)
    with open_store(settings, create=False, readonly=True) as store:
        left_out: dict[str, int] = {}
        cases = list(_measurable(store, args, left_out))
        source, demonstrations = "", list[MeasuredRun]()
        beside: Beside = _no_numbers
        if args.study:
            study = study_named(store, args.study)
            marks, source = study_marks(store, args.study, args.rater or "", cases)
            demonstrations = [case for case in cases if case.gold]
            own_cases = of_study(store, study, cases)
            if others := len(cases) - len(own_cases):
                left_out["not of the study"] = others
            cases = with_unsettled(with_marks(own_cases, marks), marks)
            beside = _study_numbers(store, study, args) if args.paper == PAPERS else _no_numbers
        if args.marks:
            cases = with_marks(cases, _marks_by_run(store, Path(args.marks)))
        groups = measure_groups(cases, args.by, args.paper, terms, demonstrations=demonstrations, beside=beside)
        result = Measured(
            db=str(store.path),
            runs=len(cases),
            left_out=left_out,
            papers=tuple(paper for paper in PAPERS if paper in args.paper),
            terms=record_of(TermsTold, terms),
            groups=tuple(groups),
            by=args.by,
            rated=source,
        )
    if args.json:
        print_json(result)
    elif args.csv:
        print_csv(result)
    else:
        print_metrics(result, shortest_names(case.agent for case in cases))
    return 0


Beside = Callable[[Sequence[MeasuredRun]], Iterable[PaperNumber]]


def _no_numbers(cases: Sequence[MeasuredRun]) -> Iterable[PaperNumber]:
    return ()


def _study_numbers(store: Store, study: Study, args: MetricsArguments) -> Beside:
    """Return a function that computes the study's own numbers of a group of runs, of all units without a selection."""
    study_data = load_study_data(store, study)
    rater = rater_of(study_data, args.rater) if args.rater else None
    some = bool(args.by or args.run_ids or args.tag is not None)
    return lambda cases: study_numbers(study_data, rater, {case.id for case in cases} if some else None)


def _measurable(store: Store, args: MetricsArguments, left_out: dict[str, int]) -> Iterator[MeasuredRun]:
    """Yield the ended runs. A fork repeats another run's beginning and counts only with --forks.

    An archived run counts if it is named, or if it is of the named study.
    """
    if args.run_ids and args.tag is not None:
        raise LabError("metrics", "takes runs by their ids or by --tag, not both", code=2)
    if args.run_ids:
        yield from _check_ended(store.runs.measured([store.runs.find(id) for id in args.run_ids], spooled=True))
        return
    tag = check_tag(args.tag) if args.tag is not None else ""
    ids = [line.id for line in reversed(store.runs.summaries(archived=None, tag=tag))] if tag else None
    archived_ids = store.runs.acts.archived()
    if archived_ids and args.study:
        archived_ids -= {run for unit in store.studies.units(study_named(store, args.study)) for run in unit.runs}
    for case in store.runs.measured(ids, spooled=True):
        if why := _reason_to_skip(case, archived_ids, forks=args.forks):
            left_out[why] = left_out.get(why, 0) + 1
        else:
            yield case


def _reason_to_skip(case: MeasuredRun, archived_ids: Collection[str], *, forks: bool) -> str:
    """Return the reason why an unnamed run is in no number, empty if it counts."""
    if case.id in archived_ids:
        return "archived"
    if case.status == "open":
        return "not ended"
    return "forked from another run" if case.parent and not forks else ""


def _check_ended(cases: Iterable[MeasuredRun]) -> Iterator[MeasuredRun]:
    """Yield the named runs. Raise `LabError` if one has not ended."""
    for case in cases:
        if case.status == "open":
            raise LabError(f"run {case.id}", "has not ended; it cannot be measured yet.")
        yield case


def _marks_by_run(store: Store, path: Path) -> dict[str, tuple[str, Marks]]:
    """Return a file's marks by full run id. Raise `LabError` if two lines are about one run."""
    by_run: dict[str, tuple[str, Marks]] = {}
    for where, marks in read_marks(path):
        id = store.runs.find(marks.run)
        if id in by_run:
            raise LabError(where, f"field run: {marks.run} is what {by_run[id][0]} is about")
        by_run[id] = (where, marks)
    return by_run


def _terms(args: MetricsArguments, settings: Settings) -> MetricTerms:
    embed = None
    if args.embed:
        from lab.llm.client import terms
        from lab.llm.embeddings import embedder

        embed = embedder(args.embed, terms(settings))
    return MetricTerms(
        step_budget=args.step_budget,
        golden_tokens=args.golden_tokens,
        token_budget=args.token_budget,
        rule_weight=args.rule_weight,
        embed=embed,
        embedder=args.embed or "",
        profiles=_read_profiles(Path(args.profiles)) if args.profiles else {},
    )


def _read_profiles(folder: Path) -> dict[str, dict[str, object]]:
    """Return KnowU-Bench's profiles by role, the name of each file."""
    if not folder.is_dir():
        raise LabError(str(folder), "is no folder of profiles.", "KnowU-Bench keeps them in user_profile/.")
    profiles = {
        path.stem: load_persona(path).facts for path in sorted(folder.glob("*.yaml")) if path.stem != "template"
    }
    if not profiles:
        raise LabError(str(folder), "holds no profile (*.yaml).")
    return profiles


_REST = "left out; note"

TITLES = {
    STUDY: "The study's own questions",
    "pspa": "PSPA-Bench",
    "dac": "DAC-Bench",
    "knowu": "KnowU-Bench",
    "memgui": "MemGUI-Bench",
    "fingertip": "FingerTip-20K",
}


def print_metrics(result: Measured, agents: Mapping[str, str]) -> None:
    """Print a table for each group and paper. `agents` maps identities to their shortest names."""
    out = f"; left out: {_format_reasons(result.left_out.items())}" if result.left_out else ""
    _print_folded(f"{_format_count(result.runs, 'runs')} in {result.db}{out}")
    if result.rated:
        _print_folded(f"rated: {result.rated}")
    if not result.groups:
        print_line("Nothing to measure: no run is there that has ended.")
    for group in result.groups:
        if group.by:
            values = {key: agents.get(value, value) if key == "agent" else value for key, value in group.by.items()}
            group_words = ", ".join(f"{key} {plain(value, lines=False)}" for key, value in values.items())
            print_line(f"\n== {group_words}: {_format_count(group.runs, 'runs')}")
        own = (STUDY,) if any(number.paper == STUDY for number in group.numbers) else ()
        for paper in (*own, *result.papers):
            _print_paper(paper, [number for number in group.numbers if number.paper == paper], group.by)


def _print_paper(paper: str, numbers: list[PaperNumber], by: Mapping[str, str]) -> None:
    there = [number for number in numbers if number.value is not None]
    print_line(f"\n{TITLES[paper]}")
    if there:
        rows = [_number_row(number) for number in there]
        print_table(["metric", "of", "value", "n", _REST], rows, wide=_REST, part={**by, "paper": paper})
    reasons: dict[tuple[str, str, str], list[str]] = {}
    for number in numbers:
        if number.value is None:
            key = (number.part, number.undefined, _format_reasons(number.left_out))
            reasons.setdefault(key, []).append(_format_name(number))
    for (part, reason, out), names in reasons.items():
        of = f" ({part})" if part else ""
        _print_folded(f"  no {', '.join(dict.fromkeys(names))}{of}: {reason}{f' (left out: {out})' if out else ''}")
    if not numbers:
        print_line("  nothing: it has no number for these runs")


def _number_row(number: PaperNumber) -> list[str]:
    return [
        _format_name(number),
        number.part or "all",
        _format_value(number),
        _format_count(number.n, number.of),
        "; ".join(text for text in (_format_reasons(number.left_out), number.note) if text),
    ]


def _print_folded(text: str) -> None:
    """Print a line, on a terminal wrapped between words."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    if not width:
        print_line(text)
        return
    for piece in textwrap.wrap(
        text, max(width, 40), subsequent_indent=" " * 5, break_long_words=False, break_on_hyphens=False
    ):
        print_line(piece)


def _format_reasons(reasons: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{count:,} {why}" for why, count in reasons)


def _format_count(count: int, of: str) -> str:
    return f"{count:,} {of.removesuffix('s') if count == 1 else of}"


def _format_name(number: PaperNumber) -> str:
    return f"{number.metric} ({number.version})" if number.version else number.metric


def _format_value(number: PaperNumber) -> str:
    """Format a number in its unit. A change has a sign, and a change of a share is in percentage points."""
    value = number.value
    assert value is not None
    change = number.metric.startswith("Δ")
    sign = "-" if value < 0 else "+" if change and value > 0 else ""
    size = abs(value)
    match number.unit:
        case "share":
            return f"{sign}{format_number(size, 1, 100)} {'points' if change else '%'}"
        case "seconds":
            return f"{sign}{format_number(size, 1)} s"
        case "usd":
            return f"{sign}${_format_dollars(size)}"
        case "count":
            return f"{sign}{format_number(size, 0 if size == int(size) else 2)}"
    return f"{sign}{format_number(size, 3)}"


def _format_dollars(size: float) -> str:
    """Format dollars with four digits after the point, or as many as two significant digits need."""
    return f"{size:,.{4 if size >= 0.001 or not size else min(12, 1 - floor(log10(size)))}f}"


def explain(texts: Mapping[str, Mapping[str, str]], *, as_json: bool) -> None:
    """Print the definition and source of each number, by paper."""
    print_result(texts, _print_definitions, json=as_json)


def _print_definitions(texts: Mapping[str, Mapping[str, str]]) -> None:
    for paper, metrics in texts.items():
        print_line(f"{TITLES[paper]}\n")
        rows = [row for name, text in metrics.items() for row in ([name, text], ["", ""])]
        print_table(["metric", "what it is"], rows[:-1], wide="what it is")
        print_line("")


def print_csv(result: Measured) -> None:
    """Print one CSV line for each number. An undefined one has no value but a reason.

    Texts are in quotes and cannot run as formulas, as in the tables of `export`.
    """
    rest = ("paper", "metric", "part", "version", "value", "unit", "n", "of", "left_out", "undefined", "note")
    write_table(line([*map(escape_formula, result.by), *rest]))
    for group in result.groups:
        for number in group.numbers:
            out = "; ".join(f"{count} {why}" for why, count in number.left_out)
            keys = map(escape_formula, (*group.by.values(), number.paper, number.metric, number.part, number.version))
            texts = map(escape_formula, (number.of, out, number.undefined, number.note))
            write_table(line([*keys, number.value, number.unit, number.n, *texts]))
