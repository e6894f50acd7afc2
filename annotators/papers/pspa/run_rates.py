"""Metrics of the runs that people rated: APR, TCR, Success Signal (PSPA-Bench E.1)."""

from __future__ import annotations

from msgspec.structs import replace

from annotators.derived import graph_of
from annotators.papers.dac.runs import Demonstrations
from annotators.papers.field_answers import asked_units, cases_of, run_of, studies_beside
from annotators.papers.metrics import context_of
from annotators.papers.pspa.apr_by_labels import Rates, nodes_of_most
from annotators.papers.pspa.run_values import run_values
from annotators.study_data import StudyData
from lab.core.measured_run import MeasuredRun

METRICS = ("APR", "TCR", "TCR by nodes", "Success Signal")


def rates_beside(study_data: StudyData) -> dict[str, Rates]:
    """Return each metric's values by unit. APR and TCR by nodes use the majority's answers on nodes."""
    context = context_of(study_data.further.runs())
    ready = Demonstrations.of(context)
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
