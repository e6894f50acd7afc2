"""APR and PPR from people's or a judge's answers on nodes: Algorithm 1 on their answers (PSPA-Bench 2.3, E.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import median_low
from typing import Literal

import numpy as np

from annotators.agreement.ratings.fields import derived_numbers
from annotators.agreement.ratings.ratings import MissingAnswers, NumericRatings, RatedItem
from annotators.derived import COMPLETED, NOT_COMPLETED, graph_of
from annotators.papers.field_answers import answers_in, asked_units, truths
from annotators.papers.pspa.run_values import path_taken
from annotators.papers.pspa.tdg import PathAlignment, Steps
from annotators.study_data import StudyData

FIELD = "state"
Rates = Mapping[str, float]
"""A rate by unit, for units whose answers determine it."""


def rate_of(study_data: StudyData, name: Literal["apr", "ppr"], rater: int, run: int = 1) -> Rates:
    """Return APR or PPR from one rater's answers, or from a judge's in one of its runs."""
    run_rates = derived_numbers(study_data, name, (rater,), run=run)
    rates = zip(run_rates.places, run_rates.values[:, 0].tolist(), strict=True)
    # nan differs from itself: units without a rate are left out.
    return {place.unit: value for place, value in rates if value == value}


def paths_of_most(study_data: StudyData) -> Mapping[str, PathAlignment]:
    """Return the path of each unit from the majority's or adjudicated answers, if they determine it."""
    paths = {}
    for unit, nodes in zip(asked_units(study_data), nodes_of_most(study_data), strict=True):
        path = path_taken(graph_of(unit), nodes)
        if nodes and not isinstance(path, str):
            paths[unit.id] = path
    return paths


def nodes_of_most(study_data: StudyData) -> list[Steps]:
    """Return the majority's answers on the nodes of each unit. A step is the median of those who agree.

    A completion without a step counts as late as the latest known one, so that it never decides between paths.
    """
    steps_by_node: dict[tuple[str, str], list[int]] = defaultdict(list)
    for one in answers_in(study_data, FIELD):
        if one.value == COMPLETED and one.step >= 0:
            steps_by_node[one.unit, one.target].append(one.step)
    most: dict[str, dict[str, str]] = defaultdict(dict)
    for (unit, target), truth in truths(study_data, FIELD).items():
        if truth.value in (COMPLETED, NOT_COMPLETED):
            most[unit][target] = truth.value
    node_list = []
    for study_unit in asked_units(study_data):
        nodes = most.get(study_unit.id, {})
        steps = {
            id: median_low(steps_by_node[study_unit.id, id]) for id in nodes if (study_unit.id, id) in steps_by_node
        }
        node_list.append(_nodes(nodes, steps))
    return node_list


def _nodes(most: Mapping[str, str], steps: Mapping[str, int]) -> Steps:
    latest = max((steps[id] for id, value in most.items() if value == COMPLETED and id in steps), default=0)
    return {id: steps.get(id, latest) if value == COMPLETED else None for id, value in most.items()}


NO_VALUE = "no_value"
"""Default reason why a unit is not in a comparison: a rate of it is not determined."""


def side_by_side(
    study_data: StudyData, field: str, columns: Mapping[str, Rates], why: Mapping[str, str] | None = None
) -> NumericRatings:
    """Return rates in columns over the units that have all of them, in the study's order.

    A unit with only some of them is missing, with the reason in `why` by unit.
    """
    with_rate = [unit for unit in asked_units(study_data) if any(unit.id in rates for rates in columns.values())]
    units = [unit for unit in with_rate if all(unit.id in rates for rates in columns.values())]
    lacking = [(RatedItem(one.id, ""), (why or {}).get(one.id, NO_VALUE)) for one in with_rate if one not in units]
    values = [[rates.get(unit.id, float("nan")) for rates in columns.values()] for unit in units]
    traces = tuple(dict.fromkeys(unit.clustered for unit in units))
    at = {name: i for i, name in enumerate(traces)}
    trace = np.array([at[unit.clustered] for unit in units], dtype=np.int32)
    places = tuple(RatedItem(unit.id, "") for unit in units)
    shaped = np.array(values, dtype=np.float64).reshape(len(units), len(columns))
    return NumericRatings(
        field, shaped, tuple(columns), trace, traces, places, MissingAnswers.one_each(lacking, by_item=True)
    )
