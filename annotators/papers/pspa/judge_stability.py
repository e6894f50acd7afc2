"""Stability of a judge over its runs, and APR from people's and judges' answers (PSPA-Bench E.3, reproducibility)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from annotators.agreement.additive import AdditiveStatistic, ratio, totals_by_trace, undefined
from annotators.agreement.coefficients import percent, percent_exact
from annotators.agreement.fields import derived_numbers
from annotators.agreement.ratings import Floats, NumericRatings, Ratings
from annotators.agreement.test_retest import rating_numbers
from annotators.papers import cells
from annotators.papers.answer_subsets import judge_runs, modal_answers
from annotators.papers.cells import UnitValue, average, coefficient, share, undefined_number
from annotators.papers.field_answers import configurations
from annotators.papers.pspa.apr_by_labels import FIELD, Rates, paths_of_most, rate_of, side_by_side
from annotators.study_data import StudyData
from lab.core.agreement import Agreement
from lab.core.report import Cell, Section, Table

SOURCE = "PSPA-Bench E.3, Reproducibility Analysis"
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
    name = study_data.columns.raters[rater].shown
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
    return Table(f"pspa-e3-steady-{at}", title, ("Reading", "Here", "paper"), tuple(rows), SOURCE, notes)


def _configuration_words(study_data: StudyData, rater: int) -> str:
    """Return words on the judge's configurations: one prompt and parameters, or several; empty if unknown."""
    text_by_sha = configurations(study_data, rater)
    if not text_by_sha:
        return ""
    if len(text_by_sha) == 1:
        return ", all of one prompt and one set of parameters"
    return f", of {len(text_by_sha)} different prompts or parameters: what follows is not about one judge's consistency"


def _over_runs(
    study_data: StudyData, of: Callable[[Ratings], AdditiveStatistic], runs: Ratings, between: str
) -> Agreement:
    if len(runs.raters) < 2:
        return undefined_number(FIELD, of(runs).name, _ONE_RUN, between=between)
    return coefficient(study_data, of(runs), runs, between=between, raters=1)


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

    def of(sums: Floats) -> Floats:
        means = ratio(sums[..., 1:], sums[..., :1])
        return np.asarray(means.std(axis=-1, ddof=1))

    return AdditiveStatistic(name, sums, of, lambda sums: _NO_APR, None, 0.0, len(numbers.values))


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
        name, runs = study_data.columns.raters[rater].shown, rating_numbers(study_data, [rater])
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

    def over(values: Rates, statistic: str) -> Agreement:
        items = [UnitValue(unit, cluster[unit], value) for unit, value in values.items()]
        return average(study_data, items, "APR", statistic, most=1.0, between=name, raters=1, why=_NO_APR)

    apart = {} if most is None else {unit: abs(value - most[unit]) for unit, value in apr.items() if unit in most}
    return (
        name,
        cells.percent(over(apr, "mean APR")),
        cells.percent(over(ppr, "mean PPR")),
        "-" if most is None else cells.percent(over(apart, "mean difference of APR")),
        cells.count(len(apr), "APR", part=name, statistic="runs"),
    )
