"""The commands agreement and raters: agreement of a study's raters, and each rater's numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from annotators.rater_numbers import RaterNumbers
from lab.cli.app import show_room
from lab.cli.arguments import (
    NO_STUDY,
    STUDY,
    IntervalArguments,
    Parser,
    StudyArguments,
    TableArguments,
    argument,
    flag,
    option,
)
from lab.cli.database import open_store, settings_for
from lab.cli.output import print_line, print_result, print_table, table_form
from lab.core.errors import LabError
from lab.core.settings import Settings, load
from lab.core.study.agreement import Agreement, IntervalTerms, interval_text, is_share
from lab.core.values.rounding import format_number
from lab.studies.planning.study_places import study_named
from lab.studies.rating.rater_words import (
    head_words,
    interval_words,
    lines_of,
    n_words,
    pace_words,
    streak_words,
    stretch_lines,
    value_words,
)
from lab.studies.seats import sees_outcomes

if TYPE_CHECKING:
    from annotators.agreement.cases import CaseResult


class StudyAgreement(msgspec.Struct, frozen=True):
    """Agreement of a study's raters: `agreement`. `sha` is the frozen plan's hash, `how` the kind of intervals.

    `evidence` is the agreement on the steps cited (--evidence), else empty.
    """

    study: str
    version: int
    title: str
    protocol: str
    locked: bool
    sha: str
    how: IntervalTerms
    agreements: tuple[Agreement, ...]
    evidence: tuple[Agreement, ...] = ()


class AgreementArguments(IntervalArguments, TableArguments):
    study: str | None = argument("STUDY", STUDY, completes="study", nargs="?")
    cases: str | None = option(
        "FILE", "check the coefficients against a file of verified cases instead (e.g. cases.json)"
    )
    open: bool = flag("open the screen Agreement instead of printing")
    evidence: bool = flag("also compute agreement on the steps that raters point at")

    def table_lines(self) -> str:
        return "a line without --open" if self.open else ""


def add_agreement(parser: Parser) -> None:
    parser.runs(
        agreement, AgreementArguments,
        prints={"agreement": StudyAgreement, "agreement-cases": "list:annotators.agreement.cases:CaseResult"},
    )  # fmt: skip
    parser.examples(
        """\
  hitlab agreement tdg
  hitlab agreement tdg --evidence      also on which step answers rest
  hitlab agreement tdg --bootstrap 2000 --seed 7
  hitlab agreement --cases cases.json  check the arithmetic on cases
"""
    )


def agreement(args: AgreementArguments) -> int:
    """Print every coefficient of a study with its interval and n, or open the screen that shows them."""
    if args.cases is not None:
        if args.study is not None:
            raise LabError("agreement", "a study, or --cases FILE, not both", code=2)

        return print_cases(args.cases, as_json=args.json)
    name = args.study or load(db=args.db).study
    if not name:
        raise LabError("agreement", NO_STUDY, code=2)
    settings = settings_for(args.db, sees_outcomes, "agreement")
    if args.open:
        return _open_screen(args, name, settings)
    with open_store(settings, create=False, readonly=True) as store:
        from lab.studies.progress.study_data import evidence_agreements, study_agreements

        study = study_named(store, name)
        how = interval_method(args.bootstrap, args.seed)
        result = StudyAgreement(
            study.id,
            study.version,
            study.title,
            study.protocol.id,
            store.studies.locked(study),
            study.sha,
            how,
            tuple(study_agreements(store, study, how)),
            evidence_agreements(store, study, how) if args.evidence else (),
        )
    print_result(
        result,
        lambda _: print_agreement(result, {field.id: field.display_name for field in study.protocol.fields}),
        json=args.json,
    )
    return 0


def _open_screen(args: AgreementArguments, name: str, settings: Settings) -> int:
    """Open the screen, which chooses its intervals itself."""
    if args.json or args.bootstrap is not None:
        raise LabError("agreement", "--open shows a room, which is no JSON and chooses its intervals itself.", code=2)
    with open_store(settings, create=False) as store:
        study = study_named(store, name)
        from screens.navigation import Opening

        opening = Opening("agreement", study=study)
        return show_room(store, settings, opening, f"study {study.id}", "`hitlab agreement STUDY` prints it.")


def interval_method(bootstrap: int | None, seed: int) -> IntervalTerms:
    """Return the kind of intervals that the command line names."""
    if bootstrap is None:
        return IntervalTerms()
    return IntervalTerms("bootstrap", resamples=bootstrap, seed=seed)


_CORRECTED = ("kappa", "alpha", "ac1", "ac2")
"""Parts of the names of statistics to which Landis and Koch's words apply."""


def print_agreement(result: StudyAgreement, questions: Mapping[str, str]) -> None:
    """Print a table for each question, part of its items and group of raters. `questions` maps fields to words."""
    print_line(f"{result.study} v{result.version}: {result.title}{'   locked' if result.locked else ''}")
    if not result.agreements:
        print_line("Nothing that is asked in it can be compared.")
        if not table_form.is_data:
            return
    if any(number.low is not None for number in result.agreements):
        by_f = any(number.interval == "f" for number in result.agreements)
        print_line(_describe_intervals(result.how, result.agreements[0].clusters, by_f=by_f))
    if any(number.planned and number.value is not None for number in result.agreements):
        print_line("A star marks what was planned.")
    all_of = (*result.agreements, *result.evidence)
    without: dict[str, list[str]] = {}
    for (field, part, between), group in groupby(all_of, lambda number: (number.field, number.part, number.between)):
        numbers = list(group)
        heading = " · ".join(filter(None, (questions.get(field, field), part, between)))
        if all(number.value is None and number.statistic == "agreement" for number in numbers):
            missing = f" ({_format_missing(numbers[0])})" if numbers[0].reasons else ""
            for why in dict.fromkeys(number.undefined for number in numbers):
                without.setdefault(why, []).append(f"{heading}{missing}")
            continue
        print_line("")
        print_line(heading)
        for counts, some in groupby(numbers, _format_n):
            _print_group(counts, list(some), heading)
    if table_form.is_data and table_form.head is None:
        print_table(_COLUMNS, [], part={"question": "", "n": ""})
    has_numbers = any(number.value is not None for number in all_of)
    for why, headings in without.items():
        print_line("")
        if not has_numbers:
            of_which = f" ({', '.join(headings)})" if len(without) > 1 else ""
            print_line(f"No number: {why}{of_which}.")
            continue
        print_line(f"No number, {why}:")
        for heading in headings:
            print_line(f"  {heading}")


_COLUMNS = ["  statistic", "value", "interval", "in words"]


def _print_group(counts: str, numbers: Sequence[Agreement], heading: str) -> None:
    print_line(f"  {counts}")
    print_table(
        _COLUMNS,
        [
            [
                f"  {number.statistic}{' *' if number.planned else ''}",
                _format_value(number),
                _format_interval(number),
                _remark(number),
            ]
            for number in numbers
        ],
        wide="in words",
        part={"question": heading, "n": counts},
    )


def _describe_intervals(how: IntervalTerms, cluster: str, *, by_f: bool) -> str:
    share = f"{how.level * 100:g} %"
    if how.interval == "bootstrap":
        return f"{share} intervals from {how.resamples:,} resamples of {cluster}s, seed {how.seed}."
    sentence = f"{share} intervals by leaving out one {cluster} after another (jackknife-t, freed of skewness)."
    of_icc = f" Of ICC with one item a {cluster}: by F." if by_f else ""
    return f"{sentence} Of a share of one item a {cluster}: Wilson's.{of_icc}"


def _format_n(number: Agreement) -> str:
    """Format the sample size of a coefficient."""
    parts = [
        f"{number.places:,} item{'' if number.places == 1 else 's'}",
        f"{number.traces:,} {number.clusters}{'' if number.traces == 1 else 's'}",
        f"{number.raters:,} rater{'' if number.raters == 1 else 's'}",
    ]  # fmt: skip
    return f"n: {', '.join(parts)}; {_format_missing(number) if number.missing or number.reasons else 'none missing'}"


def _format_missing(number: Agreement) -> str:
    """Format the share of missing answers with the reasons."""
    why = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in number.reasons.items())
    return f"{format_number(number.missing, 1, 100)} % missing" + (f" ({why})" if why else "")


def _format_value(number: Agreement) -> str:
    return "undefined" if number.value is None else _format_number(number, number.value)


def _format_interval(number: Agreement) -> str:
    if number.low is None or number.high is None:
        return "-"
    return f"{_format_number(number, number.low)} to {_format_number(number, number.high)}"


def _format_number(number: Agreement, value: float) -> str:
    return f"{format_number(value, 1, 100)} %" if is_share(number) else format_number(value, 3)


def _remark(number: Agreement) -> str:
    """Return the reason for a missing value or interval, else Landis and Koch's words if they apply."""
    if number.value is None:
        return number.undefined
    if number.low is None:
        return f"no interval: {number.no_interval}"
    corrected = any(name in number.statistic for name in _CORRECTED) and " minus " not in number.between
    return interval_text(number) if corrected else ""


def print_cases(file: str, *, as_json: bool) -> int:
    """Compute every case of a file and print it in the file's order."""
    from annotators.agreement.cases import compute_cases

    results = compute_cases(Path(file))
    print_result(results.cases, lambda cases: _print_cases(cases, results.tolerance), json=as_json)
    return 0


def _print_cases(values: list[CaseResult], tolerance: float) -> None:
    if values:
        print_table(["case", "value", "expected", "statistic"], [_case_row(case) for case in values], wide="statistic")
    agreements = [case.agrees for case in values if case.agrees is not None]
    print_line(
        f"\n{len(values):,} case{'' if len(values) == 1 else 's'}; {sum(agreements):,} of "
        f"{len(agreements):,} agree to {tolerance:g}"
    )


def _case_row(case: CaseResult) -> list[str]:
    value = f"undefined ({case.undefined})" if case.value is None else f"{case.value:.6f}"
    beside = "" if case.expected is None else f"{case.expected:.6f}{'' if case.agrees else ' differs'}"
    return [case.id, value, beside, case.statistic]


class StudyRaters(msgspec.Struct, frozen=True):
    """Numbers of each rater: `study raters`. `sha` is the frozen plan's hash, `how` the kind of intervals."""

    study: str
    version: int
    title: str
    sha: str
    how: IntervalTerms
    raters: tuple[RaterNumbers, ...]


class RatersArguments(StudyArguments, IntervalArguments, TableArguments):
    pass


def add_study_raters(parser: Parser) -> None:
    parser.runs(raters, RatersArguments, prints={"raters": StudyRaters})
    parser.examples(
        """\
  hitlab study raters tdg
  hitlab study raters tdg --json
"""
    )


def raters(args: RatersArguments) -> int:
    """Print each rater's numbers. Only those who plan studies may: it shows codes."""
    settings = settings_for(args.db, sees_outcomes, "raters")
    with open_store(settings, create=False, readonly=True) as store:
        from annotators.raters import raters_of
        from lab.studies.progress.study_data import load_study_data

        study = study_named(store, args.study)
        how = interval_method(args.bootstrap, args.seed)
        numbers = tuple(raters_of(load_study_data(store, study, how)))
        result = StudyRaters(study.id, study.version, study.title, study.sha, how, numbers)
    print_result(
        result,
        lambda _: print_raters(result, {field.id: field.display_name for field in study.protocol.fields}),
        json=args.json,
    )
    return 0


def print_raters(result: StudyRaters, questions: Mapping[str, str]) -> None:
    """Print a block for each rater. `questions` maps fields to their words."""
    print_line(f"{result.study} v{result.version}: {result.title}")
    if not result.raters:
        print_line("Nobody was dealt anything yet, and nobody has answered.")
        if not table_form.is_data:
            return
    print_line("The rest: the answer of more than half of the other people. A judge is compared with all people.")
    for rater in result.raters:
        print_line("")
        _print_rater(rater, questions)
    if table_form.is_data and table_form.head is None:
        print_table(_RATER_COLUMNS, [], part={"rater": ""})


_RATER_COLUMNS = ["  number", "value", "interval", "n", "beside"]


def _print_rater(rater: RaterNumbers, questions: Mapping[str, str]) -> None:
    print_line(head_words(rater))
    if not rater.answers:
        return
    print_line(f"  {pace_words(rater)}")
    rows = [
        [f"  {line.name}", value_words(line), interval_words(line), n_words(line.number), line.beside]
        for line in lines_of(rater, questions)
    ]
    print_table(_RATER_COLUMNS, rows, wide="beside", part={"rater": rater.rater})
    for line in (*stretch_lines("pace", rater.pace, "s"), *stretch_lines("as the rest", rater.along, "%")):
        print_line(f"  {line}")
    for line in streak_words(rater):
        print_line(f"  {line}")
