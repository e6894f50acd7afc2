"""People's ratings of completion against metrics: PSPA-Bench E.1, Figure 7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import atanh, sqrt, tanh
from statistics import NormalDist, fmean

import numpy as np
from msgspec.structs import replace

from annotators.agreement.coefficients.numbers import icc, mae, mse, pearson, share_within, spearman
from annotators.agreement.ratings.fields import numbers_of
from annotators.agreement.ratings.ratings import NumericRatings
from annotators.derived import graph_of
from annotators.papers import cells
from annotators.papers.cells import coefficient, count, few_runs_warning
from annotators.papers.dac.runs import Demonstrations
from annotators.papers.field_answers import asked_units, cases_of, run_of, studies_beside
from annotators.papers.metrics import context_of
from annotators.papers.pspa.apr_by_labels import Rates, nodes_of_most, side_by_side
from annotators.papers.pspa.run_values import run_values
from annotators.study_data import StudyData
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.agreement import Agreement
from lab.core.study.report import Cell, Number, Point, Scatter, Section, Table

SOURCE = "PSPA-Bench E.1"
FIELD = "completion"
BAND = 0.05
_PAPER = {"APR": ("0.95", "0.005"), "TCR": ("0.47", "0.062")}
_TRUTH = "What is right is the mean of all people's ratings of a run, on a scale from 0 to 1."
_BESIDE = (
    "APR, and TCR by nodes, come from a study of graphs beside this one (`hitlab study new pspa-e3`, --extra-study); "
    "TCR from a demonstration of the task (`hitlab record`), Success Signal from the run's own score; a model's or "
    "script's ratings stand under its name."
)


def sections(study_data: StudyData) -> list[Section]:
    """Return agreement of the raters, then each metric against their mean."""
    people = _scale_ratings(study_data, numbers_of(study_data, FIELD))
    if not np.isfinite(people.values).any():
        return [Section("Completion as people rate it", ("Nobody has handed in a rating yet.",))]
    truth = {
        place.unit: fmean(value for value in row if value == value)
        for place, row in zip(people.places, people.values.tolist(), strict=True)
    }
    metrics = _metrics(study_data)
    parts = [Section("Completion as people rate it", (_TRUTH,), (_raters(study_data, people),))]
    if not metrics:
        return [*parts, Section("Metrics against people's ratings", (_BESIDE,))]
    return [*parts, _metric_section(study_data, truth, metrics)]


def _scale_ratings(study_data: StudyData, numbers: NumericRatings) -> NumericRatings:
    """Return ratings scaled to 0 to 1, by the field's own bounds."""
    field = study_data.study.protocol.field(FIELD)
    least = field.least if field is not None and field.least is not None else 0.0
    most = field.most if field is not None and field.most is not None else 100.0
    return numbers._replace(values=(numbers.values - least) / (most - least))


# -- people ----------------------------------------------------------------------------------------------------


def _raters(study_data: StudyData, people: NumericRatings) -> Table:
    one, mean = (coefficient(study_data, icc(people, form), people) for form in ("A,1", "A,k"))
    row: tuple[Cell, ...] = (
        FIELD,
        Number(one),
        Number(mean),
        count(one.places, FIELD, statistic="runs"),
        count(len(people.raters), FIELD, statistic="raters"),
    )
    head = ("", "ICC(A,1)", "ICC(A,k)", "Runs", "Raters")
    notes = (
        "Over runs that all raters rated. The paper reports no agreement of its raters.",
        *few_runs_warning(len(people.traces)),
    )
    return Table("pspa-e1-raters", "Agreement of the raters", head, (row,), SOURCE, notes)


# -- metrics ---------------------------------------------------------------------------------------------------


def _metrics(study_data: StudyData) -> dict[str, Rates]:
    """Return each metric's value by unit: the computed ones, then each judge's ratings."""
    rates_by_run = dict(rates_beside(study_data))
    for rater in study_data.judges:
        ratings = _scale_ratings(study_data, numbers_of(study_data, FIELD, (rater,)))
        values = zip(ratings.places, ratings.values[:, 0].tolist(), strict=True)
        rates_by_run[study_data.columns.raters[rater].display_name] = {
            place.unit: value for place, value in values if value == value
        }
    return {name: rates for name, rates in rates_by_run.items() if rates}


def _metric_section(study_data: StudyData, truth: Rates, metrics: Mapping[str, Rates]) -> Section:
    rows = [_row(study_data, name, truth, rates) for name, rates in metrics.items()]
    head = (
        "Metric", "Spearman", "Pearson", "Pearson, Fisher's interval", "MSE", "MAE", f"Within ±{BAND:g}", "Runs",
        "paper: ρ", "paper: MSE",
    )  # fmt: skip
    notes = (
        "The paper does not say which ρ it is. Fisher's interval takes runs as drawn one by one; the other is over "
        "runs left out one by one.",
        "An MSE of .005 is an error of .07 a run, more than the band of .05: a few runs must miss it by far.",
        *few_runs_warning(len(truth)),
    )
    table = Table("pspa-e1-metrics", "Metrics against people's mean rating", head, tuple(rows), SOURCE, notes)
    return Section(
        "Metrics against people's ratings", (_TRUTH, _BESIDE), (table,), (_picture(study_data, truth, metrics),)
    )


def _row(study_data: StudyData, name: str, truth: Rates, rates: Rates) -> tuple[Cell, ...]:
    rates_by_unit = {unit: value for unit, value in rates.items() if unit in truth}
    both = side_by_side(study_data, FIELD, {"people": truth, name: rates_by_unit}, _missing_reasons(study_data, name))
    between = f"{name} against people's mean"

    def agreement(which: str) -> Agreement:
        statistic = {"spearman": spearman, "pearson": pearson, "mse": mse, "mae": mae}[which]
        return coefficient(study_data, statistic(both), both, between=between)

    r = agreement("pearson")
    rho, error = _PAPER.get(name, ("", ""))
    return (
        name,
        Number(agreement("spearman")),
        Number(r),
        Number(fisher(r)),
        Number(agreement("mse"), 3),
        Number(agreement("mae"), 3),
        cells.percent(coefficient(study_data, share_within(both, BAND), both, between=between)),
        count(len(both.places), FIELD, part=name, statistic="runs"),
        rho,
        error,
    )


def _missing_reasons(study_data: StudyData, name: str) -> dict[str, str]:
    """Return why a judge of that name has no rating of a unit, by unit, empty if it is a metric."""
    judges = [one for one in study_data.judges if study_data.columns.raters[one].display_name == name]
    missing = [numbers_of(study_data, FIELD, (judge,)).missing.by_place() for judge in judges]
    return {place.unit: reason for one in missing for place, reason in one.items()}


def fisher(r: Agreement) -> Agreement:
    """Return the same correlation with Fisher's interval, for n independent runs, computed on the scale of atanh."""
    if r.value is None:
        return r
    n = r.places
    bare = replace(r, low=None, high=None, interval="", no_interval="", standard_error=None, resamples=None, seed=None)
    # The standard error has n - 3 in its denominator, and atanh is infinite at 1.
    if n < 4 or abs(r.value) >= 1:
        return replace(bare, no_interval="too few runs" if n < 4 else "a correlation of 1 has none")
    half = NormalDist().inv_cdf((1 + r.level) / 2) / sqrt(n - 3)
    middle = atanh(r.value)
    return replace(
        bare, low=tanh(middle - half), high=tanh(middle + half), interval="fisher", standard_error=1 / sqrt(n - 3)
    )


def _picture(study_data: StudyData, truth: Rates, metrics: Mapping[str, Rates]) -> Scatter:
    units: Sequence[str] = [unit.id for unit in asked_units(study_data) if unit.id in truth]
    points = tuple(
        Point(truth[unit], rates[unit], unit, name)
        for name, rates in metrics.items()
        for unit in units
        if unit in rates
    )
    return Scatter(
        "pspa-e1-sorted", "Metrics against people's mean rating, runs in its order", points, "people's mean", "metric",
        band=BAND, sorted=True,
    )  # fmt: skip


METRICS = ("APR", "TCR", "TCR by nodes", "Success Signal")


def rates_beside(study_data: StudyData) -> dict[str, Rates]:
    """Return each metric's values by unit. APR and TCR by nodes use the majority's answers on nodes."""
    context = context_of(study_data.further.runs())
    ready = Demonstrations.for_context(context)
    rates_by_run: dict[str, dict[str, float]] = {name: {} for name in METRICS}
    rated_runs = _rated_runs(study_data)
    for unit, case in cases_of(study_data).items():
        values = run_values(rated_runs.get(case.id, case), context, ready).values
        for name in METRICS:
            value = values[name]
            if not isinstance(value, str):
                rates_by_run[name][unit] = value
    return {name: rates for name, rates in rates_by_run.items() if rates}


def _rated_runs(study_data: StudyData) -> dict[str, MeasuredRun]:
    """Return by id the runs whose nodes a study beside this one settled, with its graph and the majority's answers."""
    rated_runs = {}
    for other in studies_beside(study_data, "tdg"):
        for unit, nodes in zip(asked_units(other), nodes_of_most(other), strict=True):
            case = study_data.case(run_of(unit)) if nodes else None
            if case is not None:
                rated_runs[case.id] = case._replace(task=replace(case.task, tdg=graph_of(unit)), nodes=nodes)
    return rated_runs
