"""Failure modes (MemGUI-Bench A.8): shares of executions and of failures, timeouts by rule, and the coders."""

from __future__ import annotations

from collections.abc import Mapping

from annotators.papers import cells
from annotators.papers.cells import column_bars, count, few_runs_warning, share_of_independent, undefined_number
from annotators.papers.failure_modes import (
    PRIMARY,
    SettledModes,
    by_agent,
    coders,
    judges,
    modes_of,
    open_words,
    secondary,
)
from annotators.papers.field_answers import DONE, asked_units, cases_of, run_of, studies_beside, unsettled_counts
from annotators.study_data import StudyData
from annotators.units.pairs import method_of
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.report import Cell, Number, Section, Table

TIMEOUT = "execution_timeout"
ORDER = (
    TIMEOUT, "partial_memory_hallucination", "process_memory_hallucination", "output_memory_hallucination",
    "knowledge_deficiency", "intent_misunderstanding", "other",
)  # fmt: skip
"""The order of A.8.1. Precedence is another order, the protocol's."""
_SOURCE = "MemGUI-Bench A.8"
_PRECEDENCE = (
    "One primary mode each, by precedence: intent, knowledge, process, output, partial, other. Output hallucination is "
    "decided before partial and without the paper's IRR = 0 %, which its own example contradicts.",
    "Execution timeout is set by a rule from how the run ended; no coder is asked.",
    "The paper has 915 timeouts in 1,265 executions: its 72.3 % is of executions, and it calls them failures. It "
    "analysed 343 others.",
)


def sections(study_data: StudyData) -> list[Section]:
    """Return the section of shares, agents and coders."""
    modes = modes_of(study_data, ORDER)
    title = "Failure modes"
    if not modes.of:
        return [Section(title, ("No failure has a settled mode yet.", *open_words(modes)))]
    cases = cases_of(study_data)
    execution_count, why = executions(study_data, cases)
    shares = _shares(study_data, modes, execution_count, why)
    tables = [shares, *by_agent(study_data, modes, cases, "memgui-agents", _SOURCE, TIMEOUT)]
    mode_names = {mode: says for mode, says in modes.names.items() if mode != TIMEOUT}
    tables += judges(study_data, mode_names, modes.values, "memgui-judges", _SOURCE)
    more = secondary(study_data, modes, "memgui-secondary", _SOURCE)
    tables += [coders(study_data, "memgui-coders", _SOURCE), *((more,) if more else ())]
    return [Section(title, open_words(modes), tuple(tables), column_bars(shares, "Of failures"))]


def _shares(study_data: StudyData, modes: SettledModes, execution_count: int | None, why: str) -> Table:
    counts, left_out = modes.counts(), unsettled_counts(study_data, PRIMARY)
    failures = sum(counts.values())
    within = failures - counts[TIMEOUT]

    def share(mode: str, of: int, what: str) -> Cell:
        return cells.percent(
            share_of_independent(
                study_data, counts[mode], of, PRIMARY, f"share of {what}", part=mode, units=modes.of, left_out=left_out
            )
        )

    rows: list[tuple[Cell, ...]] = []
    for mode, says in modes.names.items():
        n = count(counts[mode], PRIMARY, part=mode)
        of_ran: Cell = (
            Number(undefined_number(PRIMARY, "share of executions", why, part=mode), 1, 100, " %")
            if execution_count is None
            else share(mode, execution_count, "executions")
        )
        apart: Cell = "by rule" if mode == TIMEOUT else share(mode, within, "failures within the limit")
        rows.append((says, n, of_ran, share(mode, failures, "failures"), apart))
    total = "not known" if execution_count is None else str(execution_count)
    notes = (
        f"Executions: {total}; failures: {failures}; failures within the limit of steps: {within}. Wilson intervals.",
        "By agent, failures are those within the limit, and shares are of them.",
        *_PRECEDENCE,
        *few_runs_warning(failures, "failures"),
    )
    head = ("Failure mode", "n", "Of executions", "Of failures", "Of failures within the limit")
    return Table("memgui-modes", "Failure modes", head, tuple(rows), _SOURCE, notes)


def executions(study_data: StudyData, cases: Mapping[str, MeasuredRun]) -> tuple[int | None, str]:
    """Return the number of runs from which the failures come, or None with a reason if unknown.

    It comes from a study of success beside this one, else from the agents' runs in the file, if all of their failures
    are in the study.
    """
    own = {run_of(unit) for unit in asked_units(study_data)}
    for other in studies_beside(study_data, "success"):
        runs = {run_of(unit) for unit in asked_units(other)}
        # The study of success must hold all failures, else its number of runs is too small.
        if own <= runs:
            return len(runs), ""
    agents = {method_of(case) for case in cases.values()}
    agent_runs = [
        # Forks repeat the beginning of another run, so they are not executions of their own.
        case
        for case in study_data.further.runs()
        if method_of(case) in agents and not case.gold and not case.parent
    ]
    failed_ids = {case.id for case in agent_runs if _is_failed_attempt(case)}
    if not agent_runs or not own <= {case.id for case in agent_runs}:
        return None, "nothing tells how many executions there were"
    beyond = len(failed_ids - own)
    if beyond:
        return None, f"{beyond} failed run{' is' if beyond == 1 else 's are'} not in the study"
    return len(agent_runs), ""


def _is_failed_attempt(case: MeasuredRun) -> bool:
    score = case.success_score
    return score <= DONE if score is not None else case.status in ("failed", "budget")
