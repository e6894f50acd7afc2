"""Pairs judged blind: wins of each method, by pair of methods (PSPA-Bench D.2, Table 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotators.agreement.coefficients.categorical import gwet_ac, krippendorff_alpha, percent, percent_exact
from annotators.agreement.intervals.estimates import clusters_of
from annotators.agreement.ratings.fields import ratings_of
from annotators.papers import cells
from annotators.papers.cells import UnitValue, coefficient, count, few_runs_warning, share
from annotators.papers.field_answers import answers_in, asked_units, truths, unsettled_counts
from annotators.papers.pspa.side_bias import sides
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement
from lab.core.study.protocol import Field
from lab.core.study.report import Cell, Number, Section, Table
from lab.core.study.study import Unit

SOURCE = "PSPA-Bench D.2"
NONE = "no majority"
_PAPER = (
    "The paper has for overall: ours against static 72.5 / 24.1 / 3.4, ours against random 81.3 / 16.2 / 2.5, static "
    "against random 59.6 / 38.7 / 1.7 (win / lose / tie, per cent; Table 5). It does not say of how many pairs."
)
_MAJORITY = (
    "What more than half of a pair's raters say, or what was adjudicated. Wins, losses and ties are shares of the "
    "pairs that have a majority; those without one are apart, and no ties."
)


def sections(study_data: StudyData) -> list[Section]:
    """Return Table 5 for each question, agreement of raters, and their choice of sides with repeated ratings."""
    fields = [field for field in study_data.study.protocol.fields if field.sided]
    if not any(answers_in(study_data, field.id) for field in fields):
        return [Section("Which method wins", ("Nobody has handed in an answer yet.",))]
    tables = tuple(_wins(study_data, field) for field in reversed(fields))
    return [
        Section("Which method wins", (_PAPER, _MAJORITY), tables),
        Section("How far raters agree on pairs", (), (_agree(study_data, fields),)),
        sides(study_data, fields),
    ]


# -- who wins --------------------------------------------------------------------------------------------------


def _wins(study_data: StudyData, field: Field) -> Table:
    most = {unit: truth.value for (unit, _), truth in truths(study_data, field.id).items()}
    rated_units = {one.unit for one in answers_in(study_data, field.id)}
    pairs: dict[tuple[str, str], list[Unit]] = {}
    for unit in asked_units(study_data):
        if unit.id in rated_units:
            pairs.setdefault(methods_of(unit), []).append(unit)
    rows = tuple(_row(study_data, field, pair, units, most) for pair, units in sorted(pairs.items()))
    head = ("Methods", "First wins", "Second wins", "Tie", "No majority (of all)", "Pairs with a majority", "Pairs")
    clusters = len({unit.clustered for units in pairs.values() for unit in units})
    return Table(
        f"pspa-d2-{field.id}",
        field.ask,
        head,
        rows,
        "PSPA-Bench Table 5",
        few_runs_warning(clusters, f"{clusters_of(study_data)}s"),
    )


def methods_of(unit: Unit) -> tuple[str, str]:
    """Return the methods of both sides, sorted by name. An unknown method is the side's letter."""
    first, second = sorted((unit.hidden.get("A") or "A", unit.hidden.get("B") or "B"))
    return first, second


def winner(unit: Unit, value: str) -> str:
    """Return the method that an answer chose, or the answer itself if it is not a side."""
    return unit.hidden.get(value) or value if value in ("A", "B") else value


def _row(
    study_data: StudyData, field: Field, pair: tuple[str, str], units: Sequence[Unit], most: Mapping[str, str]
) -> tuple[Cell, ...]:
    part = f"{pair[0]} against {pair[1]}"
    left_out = unsettled_counts(study_data, field.id, {unit.id for unit in units})
    of = {unit.id: _winning_side(unit, pair, most[unit.id]) for unit in units if unit.id in most}

    def share_of(which: str) -> Agreement:
        items = [UnitValue(unit.id, unit.clustered, float(of[unit.id] == which)) for unit in units if unit.id in of]
        return share(
            study_data, items, field.id, f"share: {which}", part=part, left_out=left_out, why="no pair with a majority"
        )

    without = [UnitValue(unit.id, unit.clustered, float(unit.id not in of)) for unit in units]
    return (
        part,
        *(cells.percent(share_of(which)) for which in ("first", "second", "tie")),
        cells.percent(share(study_data, without, field.id, f"share: {NONE}", part=part)),
        count(len(of), field.id, part=part, statistic="pairs with a majority"),
        count(len(units), field.id, part=part, statistic="pairs"),
    )


def _winning_side(unit: Unit, pair: tuple[str, str], value: str) -> str:
    """Return the winner of a pair. If both sides are of one method, the sides distinguish them."""
    if value not in ("A", "B"):
        return value
    if pair[0] == pair[1]:
        return "first" if value == "A" else "second"
    return "first" if winner(unit, value) == pair[0] else "second"


# -- agreement -------------------------------------------------------------------------------------------------


def _agree(study_data: StudyData, fields: Sequence[Field]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for field in fields:
        ratings = ratings_of(study_data, field.id)
        alpha = coefficient(study_data, krippendorff_alpha(ratings, "nominal"), ratings)
        rows.append(
            (
                field.id,
                Number(alpha),
                Number(coefficient(study_data, gwet_ac(ratings), ratings)),
                cells.percent(coefficient(study_data, percent(ratings), ratings)),
                cells.percent(coefficient(study_data, percent_exact(ratings), ratings)),
                count(alpha.places, field.id, statistic="pairs"),
            )
        )
    head = ("Question", "alpha", "AC1", "Two raters agree", "All agree", "Pairs rated by two or more")
    over = f"Intervals are over {clusters_of(study_data)}s."
    notes = (f"Three answers: one side, the other, a tie. {over} The paper reports no agreement.",)
    return Table("pspa-d2-agreement", "Agreement between people", head, tuple(rows), SOURCE, notes)
