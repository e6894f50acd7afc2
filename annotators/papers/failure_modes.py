"""Failure modes of runs: the settled mode of each run, shares by agent, and agreement of coders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from annotators.agreement.coefficients.categorical import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent,
)
from annotators.agreement.ratings.fields import ratings_of
from annotators.agreement.ratings.ratings import Ratings
from annotators.papers import cells
from annotators.papers.cells import coefficient, count, few_runs_warning, share_of_independent
from annotators.papers.field_answers import Truth, answers_in, asked_units, truths, unsettled_counts
from annotators.study_data import StudyData
from annotators.units.pairs import units_by_method
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.report import Cell, Number, Table

PRIMARY, SECONDARY = "primary", "secondary"


class SettledModes(NamedTuple):
    """The settled mode of each unit. `names` are all modes in the paper's order, with their texts."""

    names: Mapping[str, str]
    of: Mapping[str, Truth]
    units: tuple[str, ...]

    @property
    def unsettled(self) -> int:
        return len(self.units) - len(self.of)

    @property
    def values(self) -> dict[str, str]:
        """The settled mode by unit."""
        return {unit: one.value for unit, one in self.of.items()}

    def counts(self, units: Collection[str] | None = None) -> Counter[str]:
        """Return how often each mode is settled, over some units or all."""
        return Counter(one.value for unit, one in self.of.items() if units is None or unit in units)


def modes_of(study_data: StudyData, order: Sequence[str] = ()) -> SettledModes:
    """Return the settled mode of each run. `order` puts these modes first, the others are in the protocol's order."""
    field = study_data.study.protocol.field(PRIMARY)
    declared_names = {option.id: option.display_name for option in field.options} if field is not None else {}
    names = {id: declared_names[id] for id in (*(id for id in order if id in declared_names), *declared_names)}
    modes = {unit: one for (unit, _), one in truths(study_data, PRIMARY).items()}
    return SettledModes(names, modes, tuple(unit.id for unit in asked_units(study_data)))


def open_words(modes: SettledModes) -> tuple[str, ...]:
    """Return a sentence with the number of runs without a settled mode, empty if there are none."""
    n = modes.unsettled
    if not n:
        return ()
    which = "1 run has no settled mode and stands" if n == 1 else f"{n} runs have no settled mode and stand"
    return (f"{which} in no share: coders differ, or one is missing.",)


def by_agent(
    study_data: StudyData, modes: SettledModes, cases: Mapping[str, MeasuredRun], id: str, source: str, apart: str = ""
) -> tuple[Table, ...]:
    """Return each agent's failures by mode, as shares of those other than `apart`, empty if no run is in the file."""
    names = {mode: says for mode, says in modes.names.items() if mode != apart}
    rows: list[tuple[Cell, ...]] = []
    for agent, own in units_by_method(cases).items():
        counts, left_out = modes.counts(own), unsettled_counts(study_data, PRIMARY, own)
        of = [unit for unit in own if unit in modes.of and modes.of[unit].value != apart]
        n = sum(counts.values()) - counts[apart]
        shares = (
            share_of_independent(
                study_data, counts[mode], n, PRIMARY, "share", part=f"{agent}, {mode}", units=of, left_out=left_out
            )
            for mode in names
        )
        rows.append((agent, count(n, PRIMARY, part=agent), *(cells.percent(one) for one in shares)))
    head = ("Agent", "Failures", *names.values())
    whole = Table(id, "Modes by agent", head, tuple(rows), source, ("Wilson intervals over runs.",))
    return (whole,) if rows else ()


def coders(study_data: StudyData, id: str, source: str) -> Table:
    """Return the agreement of coders on the primary mode, and on any common mode."""
    ratings = ratings_of(study_data, PRIMARY)
    chance, name = (fleiss_kappa, "Fleiss' kappa") if len(ratings.raters) > 2 else (cohen_kappa, "Cohen's kappa")
    both, same, common = _count_common(study_data, ratings)
    rows: tuple[tuple[Cell, ...], ...] = (
        ("pairs agree", cells.percent(coefficient(study_data, percent(ratings), ratings))),
        (
            "all agree (Wilson)",
            cells.percent(share_of_independent(study_data, same, both, PRIMARY, "all agree", raters=2)),
        ),
        ("Alpha (nominal)", Number(coefficient(study_data, krippendorff_alpha(ratings), ratings))),
        (name, Number(coefficient(study_data, chance(ratings), ratings))),
        ("AC1", Number(coefficient(study_data, gwet_ac(ratings), ratings))),
        (
            "a primary or secondary mode in common (Wilson)",
            cells.percent(share_of_independent(study_data, common, both, PRIMARY, "a mode in common", raters=2)),
        ),
    )
    notes = ("What a rule set is not in it.", *few_runs_warning(both))
    return Table(id, "Agreement of coders on the primary mode", ("", "Value"), rows, source, notes)


def _count_common(study_data: StudyData, ratings: Ratings) -> tuple[int, int, int]:
    """Return three counts of runs with two coders: all, those with one primary mode, those with a common mode."""
    second: dict[tuple[str, int], str] = {
        (one.unit, one.rater): str(one.value) for one in answers_in(study_data, SECONDARY) if one.value is not None
    }
    # Ratings know raters by id, answers by index.
    index = {study_data.columns.raters[i].id: i for i in study_data.people}
    both = same = common = 0
    for place, row in zip(ratings.places, ratings.codes, strict=True):
        coder_columns = np.flatnonzero(row >= 0)
        if len(coder_columns) < 2:
            continue
        mode_sets = []
        for column in coder_columns:
            more = second.get((place.unit, index.get(ratings.raters[column], -1)))
            mode_sets.append({ratings.categories[row[column]], *((more,) if more else ())})
        both += 1
        same += len(set(row[coder_columns].tolist())) == 1
        common += bool(set.intersection(*mode_sets))
    return both, same, common


def secondary(study_data: StudyData, modes: SettledModes, id: str, source: str) -> Table | None:
    """Return how often each mode was a secondary reason, or None if nobody gave any."""
    mode_counts = Counter(str(one.value) for one in answers_in(study_data, SECONDARY) if one.value is not None)
    if not mode_counts:
        return None
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (says, count(mode_counts[mode], SECONDARY, part=mode))
        for mode, says in modes.names.items()
        if mode_counts[mode]
    )
    return Table(id, "Second reasons", ("Mode", "Times given"), rows, source, ("Each coder's counts by itself.",))


def judges(
    study_data: StudyData, names: Mapping[str, str], right: Mapping[str, str], id: str, source: str
) -> tuple[Table, ...]:
    """Return each judge's shares of the modes in its first run, beside people's shares for the same runs.

    `names` are the modes with their texts, `right` is the settled mode by unit. Empty if no judge has named any.
    """
    rows: list[tuple[Cell, ...]] = []
    for judge in study_data.judges:
        name = study_data.columns.raters[judge].display_name
        answers = answers_in(study_data, PRIMARY, (judge,))
        mode_by_unit = {one.unit: str(one.value) for one in answers if one.value is not None}
        left_out = Counter(one.reason for one in answers if one.value is None)
        same = {unit: right[unit] for unit in mode_by_unit if unit in right}
        if mode_by_unit:
            rows.append(_shares_of(study_data, name, mode_by_unit, names, left_out, 1))
            rows.append(_shares_of(study_data, f"people where {name} answered", same, names, {}, None))
    head = ("By", "Failures", *names.values())
    notes = ("The first run of each judge counts; of what a rule set no judge is asked. Wilson intervals over runs.",)
    return (Table(id, "Modes by judge", head, tuple(rows), source, notes),) if rows else ()


def _shares_of(
    study_data: StudyData, who: str, mode_by_unit: Mapping[str, str], names: Mapping[str, str],
    left_out: Mapping[str, int], raters: int | None,
) -> tuple[Cell, ...]:  # fmt: skip
    """Return a row of shares. `left_out` counts the runs without a mode by reason."""
    counts = Counter(mode_by_unit.values())
    shares = (
        share_of_independent(
            study_data, counts[mode], len(mode_by_unit), PRIMARY, "share", part=f"{who}, {mode}", raters=raters,
            between=who, units=mode_by_unit, left_out=left_out, why="no run is decided",
        )
        for mode in names
    )  # fmt: skip
    return (who, count(len(mode_by_unit), PRIMARY, part=who), *(cells.percent(one) for one in shares))
