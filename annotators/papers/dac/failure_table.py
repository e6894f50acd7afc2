"""Failure modes (DAC-Bench 3.4): why runs failed, faults of reasoning and of perception apart, and the coders."""

from __future__ import annotations

from annotators.papers import cells
from annotators.papers.cells import column_bars, count, few_runs_warning, share_of_independent
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
from annotators.papers.field_answers import cases_of, unsettled_counts
from annotators.study_data import StudyData
from lab.core.study.report import Cell, Section, Table

REASONING = ("inconsistent_reasoning", "branch_ignored")
PERCEPTION = ("affordance", "off_screen", "localization", "termination")
_SOURCE = "DAC-Bench 3.4, Figure 5"


def sections(study_data: StudyData) -> list[Section]:
    """Return the section of shares, agents and coders."""
    modes = modes_of(study_data)
    title = "Failure modes"
    if not modes.of:
        return [Section(title, ("No failure has a settled mode yet.", *open_words(modes)))]
    shares = _shares(study_data, modes)
    tables = [shares, *by_agent(study_data, modes, cases_of(study_data), "dac-agents", _SOURCE)]
    tables += judges(study_data, modes.names, modes.values, "dac-judges", _SOURCE)
    more = secondary(study_data, modes, "dac-secondary", _SOURCE)
    tables += [coders(study_data, "dac-coders", _SOURCE), *((more,) if more else ())]
    return [Section(title, open_words(modes), tuple(tables), column_bars(shares, "Of failures"))]


def _shares(study_data: StudyData, modes: SettledModes) -> Table:
    counts, left_out = modes.counts(), unsettled_counts(study_data, PRIMARY)
    failures = sum(counts.values())

    def row(says: str, of: tuple[str, ...], part: str) -> tuple[Cell, ...]:
        n = sum(counts[mode] for mode in of)
        cell = share_of_independent(
            study_data, n, failures, PRIMARY, "share of failures", part=part, units=modes.of, left_out=left_out
        )
        return says, count(n, PRIMARY, part=part), cells.percent(cell)

    rows = [row(says, (mode,), mode) for mode, says in modes.names.items()]
    rows.append(row("all of reasoning", REASONING, "reasoning"))
    rows.append(row("all of perception", PERCEPTION, "perception"))
    notes = (
        f"Failures: {failures}. Wilson intervals over runs.",
        "The paper shows cases of each mode and gives no shares.",
        *few_runs_warning(failures, "failures"),
    )
    return Table("dac-modes", "Failure modes", ("Failure mode", "n", "Of failures"), tuple(rows), _SOURCE, notes)
