"""Calibration: agreement of people on their calibration units, with each other and with gold, also by rule."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from annotators.agreement.agreements import agreements, confusion
from annotators.agreement.ratings.fields import ratings_of
from annotators.gold_comparison import share_as_gold
from annotators.papers.cells import UnitValue, percent, share
from annotators.report import guideline_section
from annotators.report.agreement_section import INTERVALS_SENTENCE, is_informative, number_tables
from annotators.report.sample_section import rater_name, share_words
from annotators.study_data import StudyData
from lab.core.study.protocol import Field
from lab.core.study.report import Cell, Grid, Section, Table

_CHOSEN = ("nominal", "ordinal", "flag")
_PARTS = ("", "before", "after")
_TITLE = "Calibration"


def sections(study_data: StudyData) -> list[Section]:
    """Return one section if anyone answered calibration units, else nothing."""
    pilot = study_data.calibration
    if pilot is None:
        return []
    units = {unit.id for unit in pilot.units}
    columns = study_data.columns
    in_pilot = np.array([unit in units for unit in columns.units], dtype=np.bool_)
    if not columns.size or not in_pilot[columns.unit].any():
        return []
    gold = sum(len(unit.gold) for unit in pilot.units)
    says = (
        f"{len(units):,} units by which people learned to rate, before or while the others were rated. They count in "
        "no number above; only what is handed in counts here.",
        *(() if gold else ("Nothing in them has gold, so nobody can be held against what is right.",)),
    )
    among = [one for one in agreements(pilot) if one.between == "people" and one.part in _PARTS]
    none, tables = number_tables(among, "calibration")
    says += tuple(one for one in none if one != INTERVALS_SENTENCE)
    tables += [*_beside_gold(pilot), *_rules(pilot)]
    choice_fields = [field for field in study_data.study.protocol.fields if field.kind in _CHOSEN]
    pictures = tuple(grid for field in choice_fields for grid in _grids(pilot, field) if is_informative(grid))
    citation_tables = [
        # Ids must be unique within a report, and the main part has a table of the same name.
        replace(table, id=f"calibration-{table.id}")
        for one in guideline_section.sections(pilot)
        for table in one.tables
    ]
    return [Section(_TITLE, says, (*tables, *citation_tables), pictures)]


def _beside_gold(pilot: StudyData) -> list[Table]:
    """Return the table of each rater's share of right answers at places with gold."""
    if not any(unit.gold for unit in pilot.units):
        return []
    rows: list[tuple[Cell, ...]] = []
    for at in (*pilot.people, *pilot.judges):
        one = share_as_gold(pilot, at)
        rows.append((rater_name(pilot.columns.raters[at]), percent(one), f"{one.places:,}", f"{one.units:,}"))
    bar = pilot.study.bar
    notes = () if bar is None else (f"To go on to the study, {share_words(bar)} was asked for.",)
    columns = ("Rater", "As gold", "Answers", "Units")
    return [Table("calibration-gold", "Raters against what is right", columns, tuple(rows), notes=notes)]


def _grids(pilot: StudyData, field: Field) -> list[Grid]:
    """Return the grid of gold against people's answers, or of people against each other if there is no gold."""
    ratings = ratings_of(pilot, field.id)
    right = _right_values(pilot, field)
    if not right:
        grid = confusion(pilot, field.id)
        title = f"{field.id}: calibration answers of every two people that came together"
        return [replace(grid, id=f"calibration-{grid.id}", title=title)]
    category_numbers = {name: at for at, name in enumerate(ratings.categories)}
    counts = np.zeros((len(category_numbers), len(category_numbers)))
    for place, codes in zip(ratings.places, ratings.codes.tolist(), strict=True):
        down = category_numbers.get(right.get((place.unit, place.target), ("", ""))[0])
        for code in codes:
            if down is not None and code >= 0:
                counts[down, code] += 1
    rows = tuple(tuple(float(count) for count in row) for row in counts)
    title = f"{field.id}: what is right, and what people say"
    id = f"calibration-gold-{field.id}"
    return [Grid(id, title, ratings.categories, ratings.categories, rows, "right", "said")]


def _right_values(pilot: StudyData, field: Field) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the right category and its reason, by place."""
    counts = {}
    for unit in pilot.units:
        for gold in unit.gold:
            if gold.field == field.id:
                flag = {True: "yes", False: "no"}.get(gold.value, "") if isinstance(gold.value, bool) else ""
                counts[unit.id, gold.target] = (flag or str(gold.value), gold.reason)
    return counts


def _rules(pilot: StudyData) -> list[Table]:
    """Return how often people answered otherwise than gold, by its reason: the rules that were misunderstood."""
    tables = []
    for field in pilot.study.protocol.fields:
        if field.kind in _CHOSEN and (rows := _rule_rows(pilot, field)):
            columns = ("Why it is right", "Right", "Said in its place", "Not as gold", "Answers")
            note = "The rule that most answers break stands first."
            tables.append(
                Table(f"calibration-rules-{field.id}", f"{field.id}: answers by rule", columns, rows, notes=(note,))
            )
    return tables


def _rule_rows(pilot: StudyData, field: Field) -> tuple[tuple[Cell, ...], ...]:
    ratings, right = ratings_of(pilot, field.id), _right_values(pilot, field)
    clusters = {unit.id: unit.clustered for unit in pilot.units}
    items: dict[tuple[str, str], list[UnitValue]] = defaultdict(list)
    instead: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for place, codes in zip(ratings.places, ratings.codes.tolist(), strict=True):
        value, why = right.get((place.unit, place.target), ("", ""))
        for code in codes:
            if why and code >= 0:
                category = ratings.categories[code]
                items[why, value].append(UnitValue(place.unit, clusters[place.unit], float(category != value)))
                instead[why, value][category] += category != value
    order = sorted(items, key=lambda one: (-sum(item.value for item in items[one]), one))
    return tuple(_rule_row(pilot, field, one, items[one], instead[one]) for one in order)


def _rule_row(
    pilot: StudyData, field: Field, rule: tuple[str, str], items: Sequence[UnitValue], instead: Counter[str]
) -> tuple[Cell, ...]:
    why, value = rule
    wrong = ", ".join(f"{category} {many:,}" for category, many in sorted(instead.items()) if many)
    one = share(pilot, items, field.id, "share not as gold", part=why)
    return why, value, wrong, percent(one), f"{len(items):,}"
