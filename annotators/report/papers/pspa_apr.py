"""APR and PPR by what people or a judge said of a graph's nodes: Algorithm 1 on their answers (PSPA-Bench 2.3, E.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import median_low
from typing import Literal

import numpy as np

from annotators.agreement.fields import derived_numbers
from annotators.agreement.ratings import Numbers, Place
from annotators.derived import COMPLETED, NOT_COMPLETED, graph_of
from annotators.metrics.pspa_values import path_taken
from annotators.metrics.tdg import Aligned, Steps
from annotators.report.papers.said import asked_units, said, truths
from annotators.studied import Studied

FIELD = "state"
Rates = Mapping[str, float]
"""A rate by unit, as far as the answers settle it."""


def rate_of(studied: Studied, name: Literal["apr", "ppr"], rater: int, run: int = 1) -> Rates:
    """APR or PPR by one rater's answers, or by a judge's in one of its runs."""
    found = derived_numbers(studied, name, (rater,), run=run)
    told = zip(found.places, found.values[:, 0].tolist(), strict=True)
    return {place.unit: value for place, value in told if value == value}


def paths_of_most(studied: Studied) -> Mapping[str, Aligned]:
    """By unit the path by what most people say, or what was adjudicated, where that settles it."""
    found = {}
    for unit, nodes in zip(asked_units(studied), nodes_of_most(studied), strict=True):
        path = path_taken(graph_of(unit), nodes)
        if nodes and not isinstance(path, str):
            found[unit.id] = path
    return found


def nodes_of_most(studied: Studied) -> list[Steps]:
    """What most people say of the nodes of each unit asked about; a step is the middle one of those that say so.

    A completion whose step nobody tells is as late as the latest that is told, so that it never decides between paths.
    """
    told: dict[tuple[str, str], list[int]] = defaultdict(list)
    for one in said(studied, FIELD):
        if one.value == COMPLETED and one.step >= 0:
            told[one.unit, one.target].append(one.step)
    most: dict[str, dict[str, str]] = defaultdict(dict)
    for (unit, target), truth in truths(studied, FIELD).items():
        if truth.value in (COMPLETED, NOT_COMPLETED):
            most[unit][target] = truth.value
    found = []
    for asked in asked_units(studied):
        nodes = most.get(asked.id, {})
        steps = {id: median_low(told[asked.id, id]) for id in nodes if (asked.id, id) in told}
        found.append(_nodes(nodes, steps))
    return found


def _nodes(most: Mapping[str, str], steps: Mapping[str, int]) -> Steps:
    latest = max((steps[id] for id, value in most.items() if value == COMPLETED and id in steps), default=0)
    return {id: steps.get(id, latest) if value == COMPLETED else None for id, value in most.items()}


def side_by_side(studied: Studied, field: str, columns: Mapping[str, Rates], *, whole: bool = False) -> Numbers:
    """Rates in columns over the units that have any (`whole`: all of them), in the study's order."""
    wanted = all if whole else any
    units = [unit for unit in asked_units(studied) if wanted(unit.id in rates for rates in columns.values())]
    values = [[rates.get(unit.id, float("nan")) for rates in columns.values()] for unit in units]
    traces = tuple(dict.fromkeys(unit.clustered for unit in units))
    at = {name: i for i, name in enumerate(traces)}
    trace = np.array([at[unit.clustered] for unit in units], dtype=np.int32)
    places = tuple(Place(unit.id, "") for unit in units)
    shaped = np.array(values, dtype=np.float64).reshape(len(units), len(columns))
    return Numbers(field, shaped, tuple(columns), trace, traces, places)
