"""Validation of a judge of graph nodes against people: PSPA-Bench E.3, agreement and Table 7."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from annotators.agreement.coefficients.additive import AdditiveStatistic, ratio, totals_by_trace, undefined
from annotators.agreement.coefficients.categorical import cohen_kappa, fleiss_kappa, gwet_ac, percent, percent_exact
from annotators.agreement.coefficients.judge_accuracy import Judged, judge_statistic
from annotators.agreement.ratings.fields import (
    Derived,
    derived_numbers,
    ratings_of,
    stack_columns,
    truth_and_rater,
    truth_of,
)
from annotators.agreement.ratings.ratings import Floats, NumericRatings, Ratings
from annotators.agreement.test_retest import rating_numbers
from annotators.derived import COMPLETED
from annotators.papers import cells
from annotators.papers.answer_subsets import column, judge_runs, kinds, modal_answers, select_places
from annotators.papers.cells import UnitValue, average, coefficient, count, few_runs_warning, share, undefined_number
from annotators.papers.field_answers import asked_units, configurations
from annotators.papers.pspa.apr_by_labels import FIELD, Rates, paths_of_most, rate_of, side_by_side
from annotators.papers.pspa.disagreement_causes import causes
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement, interval_text
from lab.core.study.report import Bars, Cell, Number, Section, Table

SOURCE = "PSPA-Bench E.3"
_TYPES = (("fixed", "Fixed"), ("flexible", "Flexible"), ("", "Overall"))
_STATISTICS: tuple[tuple[Judged, str], ...] = (
    ("accuracy", "Acc."), ("precision", "Prec."), ("recall", "Rec."), ("f1", "F1"), ("kappa", "κ"),
)  # fmt: skip
_PAPER = {
    "fixed": ("0.94", "0.93", "0.96", "0.94", "0.88"),
    "flexible": ("0.91", "0.90", "0.93", "0.91", "0.83"),
    "": ("0.93", "0.92", "0.95", "0.93", "0.86"),
}
_FLEISS = "0.87"
_STAGES: tuple[tuple[Derived, str], ...] = (("before", "as answered"), ("after", "after derivation"))
_DERIVED = (
    "As answered: every item as it was keyed. After derivation: items on ways that were not taken are left out, and an "
    "item is not completed where one that it depends on is not."
)


def sections(study_data: StudyData) -> list[Section]:
    """Return people's agreement, judges against the majority, judges' stability, APR, and causes of disagreement."""
    people = {stage: ratings_of(study_data, FIELD, derived=stage) for stage, _ in _STAGES}
    if not (people["before"].codes >= 0).any():
        return [Section("Validating a judge of items", ("Nobody has handed in an answer yet.",))]
    parts = [Section("How far people agree on items", (_sample_words(study_data),), (_agree(study_data, people),))]
    truth = {stage: truth_of(study_data, stage_people) for stage, stage_people in people.items()}
    if study_data.judges:
        parts.append(_judge_section(study_data, truth))
    else:
        sentence = "No model or script has rated these runs; `hitlab labels add --kind model` takes its answers."
        parts.append(Section("The judge against most people", (sentence,)))
    parts.append(_rater_section(study_data, people["before"], truth["before"]))
    if study_data.judges:
        parts.append(stability_section(study_data))
    parts += [rates(study_data), *causes(study_data, people["before"], truth["before"])]
    return parts


def _sample_words(study_data: StudyData) -> str:
    units = asked_units(study_data)
    pilot = len(study_data.units) - len(units)
    apart = f" Calibration ({pilot:,}) is not in it." if pilot else ""
    nodes = sum(len(unit.targets) for unit in units)
    runs = f"{len(units):,} run{'' if len(units) == 1 else 's'}"
    return f"{runs} with {nodes:,} items, each rated by people on their own.{apart}"


def of_kind(study_data: StudyData, ratings: Ratings, kind: str) -> Ratings:
    """Return the items of one kind, or all if it is empty."""
    if not kind:
        return ratings
    kind_of_place = kinds(study_data)
    return select_places(study_data, ratings, lambda place: kind_of_place.get(place) == kind)


# -- people ----------------------------------------------------------------------------------------------------


def _agree(study_data: StudyData, people: dict[Derived, Ratings]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for stage, stage_people in _STAGES:
        for kind, name in _TYPES:
            some = of_kind(study_data, people[stage], kind)
            part = ", ".join(filter(None, (kind, stage_people)))
            kappa = coefficient(study_data, fleiss_kappa(some), some, part=part)
            rows.append(
                (
                    f"{name}, {stage_people}",
                    Number(kappa),
                    interval_text(kappa),
                    cells.percent(coefficient(study_data, percent(some), some, part=part)),
                    cells.percent(coefficient(study_data, percent_exact(some), some, part=part)),
                    Number(coefficient(study_data, gwet_ac(some), some, part=part)),
                    count(kappa.places, FIELD, part=part, statistic="items"),
                )
            )
    rows.append(("paper: overall", _FLEISS, "", "", "", "", ""))
    head = ("Type", "Fleiss' κ", "In words", "Pairs agree", "All agree", "AC1", "Items")
    notes = (_DERIVED, "The paper does not say how many items there were, nor whether ways that were not taken count.")
    return Table(
        "pspa-e3-agreement",
        "Agreement between people",
        head,
        tuple(rows),
        SOURCE,
        (*notes, *_few_notes(study_data)),
    )


def _few_notes(study_data: StudyData) -> tuple[str, ...]:
    return few_runs_warning(len(asked_units(study_data)))


# -- judges ----------------------------------------------------------------------------------------------------


def _judge_section(study_data: StudyData, truth: dict[Derived, Ratings]) -> Section:
    tables = []
    for at, rater in enumerate(study_data.judges, 1):
        tables += [_table_7(study_data, truth[stage], rater, stage, f"{at}-{stage}") for stage, _ in _STAGES]
    says = (
        f"Truth is what more than half of the people say, or what was adjudicated; after derivation, what most of "
        f"their derived answers are. Positive is {COMPLETED}.",
        _DERIVED,
    )
    return Section("The judge against most people", says, tuple(tables))


def _table_7(study_data: StudyData, truth: Ratings, rater: int, stage: Derived, id: str) -> Table:
    """Return Table 7 for run 1, and for the most frequent answers over the judge's runs."""
    judge = study_data.columns.raters[rater].display_name
    runs = judge_runs(study_data, FIELD, rater, stage)
    columns = [(runs.raters[0], column(runs, 0))]
    if len(runs.raters) > 1:
        columns.append((f"most of {len(runs.raters)} runs", modal_answers(runs)))
    rows: list[tuple[Cell, ...]] = []
    for which, answers in columns:
        two_columns = truth_and_rater(truth, answers)
        for kind, type in _TYPES:
            some = of_kind(study_data, two_columns, kind)
            part = ", ".join(filter(None, (kind, dict(_STAGES)[stage], which)))
            between = f"{judge} against most people"
            agreements = [
                coefficient(study_data, judge_statistic(some, what, COMPLETED), some, part=part, between=between)
                for what, _ in _STATISTICS
            ]
            ac1 = coefficient(study_data, gwet_ac(some), some, part=part, between=between)
            items = count(agreements[0].places, FIELD, part=part, statistic="items")
            rows.append((f"{type}, {which}", *map(Number, agreements), Number(ac1), items))
    rows += [(f"paper: {type.lower()}", *_PAPER[kind], "", "") for kind, type in _TYPES]
    title = f"{judge} against most people, {dict(_STAGES)[stage]}"
    head = ("Type", *(title for _, title in _STATISTICS), "AC1", "Items")
    notes = (
        f"Of {len(runs.raters)} run{'' if len(runs.raters) == 1 else 's'} of the judge.",
        *_few_notes(study_data),
    )
    return Table(f"pspa-e3-table-7-{id}", title, head, tuple(rows), "PSPA-Bench Table 7", notes)


# -- one by one ------------------------------------------------------------------------------------------------


def _rater_section(study_data: StudyData, people: Ratings, truth: Ratings) -> Section:
    """Return each rater against the majority, and each pair of raters."""
    columns = {name: column(people, at) for at, name in enumerate(people.raters)}
    for rater in study_data.judges:
        if rating_numbers(study_data, [rater]):
            shown_columns = study_data.columns.raters[rater].display_name
            columns[shown_columns] = column(judge_runs(study_data, FIELD, rater, "before"), 0)
    rows: list[tuple[Cell, ...]] = []
    for name, answers in columns.items():
        two_columns = truth_and_rater(truth, answers)
        between = f"{name} against most people"
        kappa = coefficient(study_data, cohen_kappa(two_columns), two_columns, between=between)
        rows.append(
            (
                name,
                cells.percent(coefficient(study_data, percent(two_columns), two_columns, between=between)),
                Number(kappa),
                Number(coefficient(study_data, gwet_ac(two_columns), two_columns, between=between)),
                count(kappa.places, FIELD, part=name, statistic="items"),
            )
        )
    notes = ("A person is one of those whose majority they are held against; a judge (by its first run) is not.",)
    head = ("Rater", "Agrees", "Cohen's κ", "AC1", "Items")
    table = Table("pspa-e3-raters", "Each rater against most people", head, tuple(rows), SOURCE, notes)
    return Section("Rater by rater", (), (table,), (_pairs(study_data, columns),))


def _pairs(study_data: StudyData, columns: dict[str, Ratings]) -> Bars:
    names = list(columns)
    pairs: Sequence[tuple[str, str]] = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :]]
    pair_list = []
    for a, b in pairs:
        two_columns = stack_columns(study_data, [(a, columns[a]), (b, columns[b])])
        pair_list.append(coefficient(study_data, cohen_kappa(two_columns), two_columns, between=f"{a} and {b}"))
    return Bars(
        "pspa-e3-pairs", "Cohen's κ by pair of raters", tuple(pair_list), tuple(f"{a} and {b}" for a, b in pairs)
    )


_STABILITY_SOURCE = "PSPA-Bench E.3, Reproducibility Analysis"
_ONE_RUN = "one run of the judge"
_NO_APR = "no run of which every answer that counts is there"
_READINGS = (
    "Three readings of consistency, since the paper does not say which of them it means; so with the spread of APR.",
)


def stability_section(study_data: StudyData) -> Section:
    """Return three readings of consistency over a judge's runs, and two of the spread of its APR."""
    return Section(
        "How steady the judge is",
        _READINGS,
        tuple(_stability_table(study_data, rater, at) for at, rater in enumerate(study_data.judges, 1)),
    )


def _stability_table(study_data: StudyData, rater: int, at: int) -> Table:
    name = study_data.columns.raters[rater].display_name
    runs = judge_runs(study_data, FIELD, rater)
    count = len(runs.raters)
    between = f"{name} in {count} run{'' if count == 1 else 's'}"
    rows: list[tuple[Cell, ...]] = [
        (says, cells.percent(one), paper)
        for says, one, paper in (
            ("items at which all runs say the same", _over_runs(study_data, percent_exact, runs, between), "98.7 %"),
            ("two runs say the same", _over_runs(study_data, percent, runs, between), "98.7 %"),
            ("a run says what most runs say", _with_modal(study_data, runs, between), "98.7 %"),
            ("sd of mean APR over the judge's runs", _spread_of_means(study_data, rater, between), "0.8 %"),
            (
                "sd of APR over the judge's runs, mean of all rated runs",
                _mean_spread(study_data, rater, between),
                "0.8 %",
            ),
        )
    ]
    notes = (
        f"{count} run{'' if count == 1 else 's'} of the judge{_configuration_words(study_data, rater)}.",
        "sd is that of a sample (n - 1).",
    )
    title = f"{name} over its runs"
    return Table(f"pspa-e3-steady-{at}", title, ("Reading", "Here", "paper"), tuple(rows), _STABILITY_SOURCE, notes)


def _configuration_words(study_data: StudyData, rater: int) -> str:
    """Return words on the judge's configurations: one prompt and parameters, or several, empty if unknown."""
    text_by_sha = configurations(study_data, rater)
    if not text_by_sha:
        return ""
    if len(text_by_sha) == 1:
        return ", all of one prompt and one set of parameters"
    return f", of {len(text_by_sha)} different prompts or parameters: what follows is not about one judge's consistency"


def _over_runs(
    study_data: StudyData, statistic_of: Callable[[Ratings], AdditiveStatistic], runs: Ratings, between: str
) -> Agreement:
    if len(runs.raters) < 2:
        return undefined_number(FIELD, statistic_of(runs).name, _ONE_RUN, between=between)
    return coefficient(study_data, statistic_of(runs), runs, between=between, raters=1)


def _with_modal(study_data: StudyData, runs: Ratings, between: str) -> Agreement:
    if len(runs.raters) < 2:
        return undefined_number(FIELD, "agreement with the modal answer", _ONE_RUN, between=between)
    most = modal_answers(runs).codes[:, 0]
    items = [
        UnitValue(place.unit, runs.traces[trace], float((codes[codes >= 0] == best).mean()))
        for place, trace, codes, best in zip(runs.places, runs.trace.tolist(), runs.codes, most.tolist(), strict=True)
        if best >= 0 and (codes >= 0).sum() >= 2
    ]
    return share(study_data, items, FIELD, "agreement with the modal answer", between=between, raters=1)


# -- APR -------------------------------------------------------------------------------------------------------


def _aprs(study_data: StudyData, rater: int) -> NumericRatings:
    """Return a judge's APR by unit and run, over units for which every run determines one."""
    numbers = rating_numbers(study_data, [rater])
    runs = {f"run {run}": rate_of(study_data, "apr", rater, run) for run in numbers}
    missing = [derived_numbers(study_data, "apr", (rater,), run=run).missing.by_place() for run in numbers]
    # In reverse, so that the reason of the earliest run wins.
    why = {place.unit: reason for one in reversed(missing) for place, reason in one.items()}
    return side_by_side(study_data, "APR", runs, why)


def _spread_of_means(study_data: StudyData, rater: int, between: str) -> Agreement:
    """Return the standard deviation over runs of each run's mean APR."""
    aprs = _aprs(study_data, rater)
    return coefficient(study_data, sd_of_means(aprs), aprs, between=between, raters=1)


def sd_of_means(numbers: NumericRatings) -> AdditiveStatistic:
    """Return the sample standard deviation over columns of their means.

    Every place must have a value in each column. Sums: places, and the sum of each column.
    """
    name, columns = "sd of mean", len(numbers.raters)
    if columns < 2 or not len(numbers.values):
        return undefined(name, len(numbers.traces), _ONE_RUN if columns < 2 else _NO_APR, None)
    sums = totals_by_trace(
        np.column_stack((np.ones(len(numbers.values)), numbers.values)), numbers.trace, len(numbers.traces)
    )

    def deviation(sums: Floats) -> Floats:
        means = ratio(sums[..., 1:], sums[..., :1])
        return np.asarray(means.std(axis=-1, ddof=1))

    return AdditiveStatistic(name, sums, deviation, lambda sums: _NO_APR, None, 0.0, len(numbers.values))


def _mean_spread(study_data: StudyData, rater: int, between: str) -> Agreement:
    """Return the mean over units of the standard deviation of APR over runs."""
    aprs = _aprs(study_data, rater)
    if len(aprs.raters) < 2:
        return undefined_number("APR", "mean sd", _ONE_RUN, between=between)
    spread = np.asarray(aprs.values.std(axis=1, ddof=1)).tolist()
    items = [
        UnitValue(place.unit, aprs.traces[trace], sd)
        for place, trace, sd in zip(aprs.places, aprs.trace.tolist(), spread, strict=True)
    ]
    return average(study_data, items, "APR", "mean sd", between=between, raters=1, why=_NO_APR)


def rates(study_data: StudyData) -> Section:
    """Return mean APR and PPR of the majority (Algorithm 1 on its answers) and of each rater, and their distance."""
    paths = paths_of_most(study_data)
    most = {unit: path.apr for unit, path in paths.items()}
    flexible = {unit: path.ppr for unit, path in paths.items() if path.ppr is not None}
    rows = [_rate(study_data, "most people", most, flexible, None)]
    for rater in (*study_data.people, *study_data.judges):
        name, runs = study_data.columns.raters[rater].display_name, rating_numbers(study_data, [rater])
        for run in runs if rater in study_data.judges else (1,):
            says = f"{name}, run {run}" if rater in study_data.judges and len(runs) > 1 else name
            apr, ppr = rate_of(study_data, "apr", rater, run), rate_of(study_data, "ppr", rater, run)
            rows.append(_rate(study_data, says, apr, ppr, most))
    head = ("By", "APR", "PPR", "Apart from most people's APR", "Runs")
    notes = (
        "The path is chosen by Algorithm 1 on that rater's own answers; a run is left out where an open item could "
        "change its value. PPR is over runs whose path has a flexible item.",
    )
    table = Table("pspa-e3-apr", "A-process and P-process ratio", head, tuple(rows), "PSPA-Bench 2.3", notes)
    return Section("What the answers come to", (), (table,))


def _rate(study_data: StudyData, name: str, apr: Rates, ppr: Rates, most: Rates | None) -> tuple[Cell, ...]:
    cluster = {unit.id: unit.clustered for unit in study_data.units}

    def mean_agreement(values: Rates, statistic: str) -> Agreement:
        items = [UnitValue(unit, cluster[unit], value) for unit, value in values.items()]
        return average(study_data, items, "APR", statistic, most=1.0, between=name, raters=1, why=_NO_APR)

    apart = {} if most is None else {unit: abs(value - most[unit]) for unit, value in apr.items() if unit in most}
    return (
        name,
        cells.percent(mean_agreement(apr, "mean APR")),
        cells.percent(mean_agreement(ppr, "mean PPR")),
        "-" if most is None else cells.percent(mean_agreement(apart, "mean difference of APR")),
        cells.count(len(apr), "APR", part=name, statistic="runs"),
    )
