"""KnowU-Bench 4.3: how far evaluators are from experts. MAE against their mean, the scatter, and ICC of the experts.

What the paper leaves open is settled so: the truth is the mean of all experts who rated a run; evaluators are those of
the run itself (hybrid and rules alone, where its source or its checks give them) and every judge that rated here. A
difference of two evaluators is over the runs that both scored, with both kinds of interval, because runs are few.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from annotators.agreement.additive import Additive
from annotators.agreement.fields import numbers_of
from annotators.agreement.intervals import difference
from annotators.agreement.numbers import alpha_numbers, icc, mae, mean
from annotators.agreement.ratings import Floats, Numbers
from annotators.metrics import DEFAULTS
from annotators.metrics.knowu_runs import hybrid_of, rule_of
from annotators.report.papers.cells import coefficient, few, lacking, with_interval
from annotators.report.papers.said import cases_of
from annotators.studied import Studied
from lab.agreement import Agreement, How
from lab.report import Cell, Number, Point, Scatter, Section, Table

WHOLE, EACH = "task_score", "score"
_EXPERTS = "experts"
_SOURCE = "KnowU-Bench 4.3"

Mask = npt.NDArray[np.bool_]


class Evaluator(NamedTuple):
    """One evaluator beside the experts' mean: two columns over the runs that the experts rated."""

    name: str
    numbers: Numbers


def sections(studied: Studied) -> list[Section]:
    """How far each evaluator is from the experts, the scatter, and how far the experts agree."""
    experts = numbers_of(studied, WHOLE)
    found = evaluators(studied, experts)
    rated = len(experts.traces)
    says = [f"{len(experts.places):,} runs were rated by {len(experts.raters)} experts; their mean is the truth."]
    if not found:
        says.append("No evaluator has scored these runs: none of them has a score by rules, and no judge rated here.")
    tables = [_errors(studied, found), _differences(studied, found), _agreement(studied, experts)]
    pictures = [_scatter(found)] if any(_both(one).any() for one in found) else []
    return [
        Section(
            "How far evaluators are from experts", (*says, *few(rated)),
            tuple(table for table in tables if table.rows), tuple(pictures),
        )
    ]  # fmt: skip


def evaluators(studied: Studied, experts: Numbers) -> list[Evaluator]:
    """Those that scored any of the runs that experts rated."""
    truth = mean_of(experts)
    cases = cases_of(studied)
    scores: dict[str, dict[str, float]] = {"hybrid": {}, "rules alone": {}}
    for unit, case in cases.items():
        for name, value in (("hybrid", hybrid_of(case, DEFAULTS).value), ("rules alone", rule_of(case))):
            if value is not None:
                scores[name][unit] = value
    for judge in studied.judges:
        own = numbers_of(studied, WHOLE, (judge,))
        scores[studied.columns.raters[judge].id] = {
            place.unit: float(own.values[at, 0]) for at, place in enumerate(own.places)
        }
    found = []
    for name, by_unit in scores.items():
        own_column = np.array([by_unit.get(place.unit, np.nan) for place in experts.places], dtype=np.float64)
        if not np.isnan(own_column).all():
            values = np.column_stack((truth, own_column))
            found.append(Evaluator(name, experts._replace(values=values, raters=(_EXPERTS, name), reasons={})))
    return found


def mean_of(numbers: Numbers) -> Floats:
    """The mean of what was said at each place; summed in the raters' order."""
    there = ~np.isnan(numbers.values)
    many = there.sum(axis=1)
    whole = np.where(there, numbers.values, 0.0).sum(axis=1)
    return np.where(many > 0, whole / np.maximum(many, 1), np.nan)


def _both(one: Evaluator) -> Mask:
    return np.asarray(~np.isnan(one.numbers.values).any(axis=1))


# -- tables ----------------------------------------------------------------------------------------------------


def _errors(studied: Studied, found: list[Evaluator]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        between = f"{one.name} against the mean of experts"
        off = coefficient(studied, mae(one.numbers), one.numbers, between=between)
        bias = coefficient(studied, _bias(one.numbers), one.numbers, between=between)
        rows.append((one.name, Number(off, 3), Number(bias, 3), f"{off.places:,}"))
    columns = ("Evaluator", "MAE", "Mean error", "Runs")
    notes = ("Mean error is the evaluator's score minus the experts': above 0 it is kinder than they are.",)
    return Table("evaluators", "Error of evaluators", columns, tuple(rows), _SOURCE, notes)


def _bias(numbers: Numbers) -> Additive:
    kept = ~np.isnan(numbers.values).any(axis=1)
    off = numbers.values[kept, 1] - numbers.values[kept, 0]
    return mean(off, numbers.trace[kept], len(numbers.traces), "mean error")


def _differences(studied: Studied, found: list[Evaluator]) -> Table:
    """MAE of one minus MAE of the other, over the runs that both scored."""
    rows: list[tuple[Cell, ...]] = []
    jackknife = How(level=studied.how.level)
    bootstrap = replace(studied.how, interval="bootstrap")
    for one, other in combinations(found, 2):
        kept = _both(one) & _both(other)
        cells = [_difference(one, other, kept, how) for how in (jackknife, bootstrap)]
        rows.append((f"{one.name} minus {other.name}", *(Number(cell, 3) for cell in cells), f"{int(kept.sum()):,}"))
    columns = ("Difference of MAE", "Jackknife-t", "Bootstrap", "Runs")
    notes = (
        "Paired by run: both errors are of the same runs. Below 0 the first is nearer to the experts.",
        f"The bootstrap draws {bootstrap.resamples:,} times, seed {bootstrap.seed}.",
    )
    return Table("differences", "Evaluators against one another", columns, tuple(rows), _SOURCE, notes)


def _difference(one: Evaluator, other: Evaluator, kept: Mask, how: How) -> Agreement:
    between = f"{one.name} minus {other.name}"
    if not kept.any():
        return lacking(WHOLE, "difference of mae", "no run was scored by both", between=between)
    first, second = (mae(_only(each.numbers, kept)) for each in (one, other))
    numbers = _only(one.numbers, kept)
    clusters = len({int(at) for at in numbers.trace})
    return with_interval(
        difference(first, second, how), how, WHOLE, "difference of mae", between=between,
        places=len(numbers.places), units=len(numbers.places), traces=clusters, raters=2,
    )  # fmt: skip


def _only(numbers: Numbers, kept: Mask) -> Numbers:
    """These places alone, over the same clusters."""
    values = np.where(kept[:, None], numbers.values, np.nan)
    places = tuple(place for place, keep in zip(numbers.places, kept.tolist(), strict=True) if keep)
    return numbers._replace(values=values[kept], trace=numbers.trace[kept], places=places)


def _agreement(studied: Studied, experts: Numbers) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, numbers in (("the whole run", experts), ("each criterion", numbers_of(studied, EACH))):
        if not numbers.places:
            continue
        found = [coefficient(studied, one, numbers) for one in (icc(numbers, "A,1"), icc(numbers, "A,k"))]
        found.append(coefficient(studied, alpha_numbers(numbers), numbers))
        rows.append((name, *(Number(one, 3) for one in found), f"{found[0].places:,}", str(len(numbers.raters))))
    columns = ("Rated", "ICC(A,1)", "ICC(A,k)", "alpha, interval", "Items", "Experts")
    notes = ("ICC(A,1) is how far one expert can be relied on, ICC(A,k) how far the mean of all of them.",)
    return Table("experts", "Agreement of the experts", columns, tuple(rows), notes=notes)


def _scatter(found: list[Evaluator]) -> Scatter:
    points = [
        Point(float(one.numbers.values[at, 0]), float(one.numbers.values[at, 1]), one.numbers.places[at].unit, one.name)
        for one in found
        for at in np.flatnonzero(_both(one)).tolist()
    ]
    title = "Evaluators against the mean of experts, run by run"
    return Scatter("evaluators-scatter", title, tuple(points), "mean of the experts", "the evaluator's score")
