"""Guideline clauses that cause disagreement: those that labels cite at items on which raters differ."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from annotators.agreement.agreements import disputed_places
from annotators.papers.cells import UnitValue, percent, share
from annotators.report.answer_counts import main_units
from annotators.study_data import StudyData
from lab.core.study.guideline import Clause, clause_of
from lab.core.study.report import Cell, Section, Table

Place = tuple[str, str]


def sections(study_data: StudyData) -> list[Section]:
    """Return a table for each question with citations, or a sentence if there are none."""
    tables = [
        table for field in study_data.study.protocol.fields if (table := _table(study_data, field.id)) is not None
    ]
    if not tables:
        plays = study_data.study.protocol.unit == "task to play"  # no two people answer about the same run
        return [] if plays or not study_data.columns.size else [Section(_TITLE, (_NONE,))]
    return [Section(_TITLE, (_SAYS,), tuple(tables))]


_TITLE = "Which sentence of the guideline causes disagreement"
_NONE = "No answer cites a clause of the guideline, so nothing can be said of its sentences."
_SAYS = (
    "Raters may cite a line of the guideline with an answer. Counted are items at which a person cites it; an item is "
    "in disagreement where people did not all say the same. A line that is cited mostly there is unclear, or hard."
)


def _table(study_data: StudyData, field: str) -> Table | None:
    places_by_citation = _cited_places(study_data, field)
    if not places_by_citation:
        return None
    differ = set(disputed_places(study_data, field))
    clusters = {unit.id: unit.clustered for unit in study_data.units}
    guide = study_data.study.protocol.guideline(study_data.study.locale)
    rows: list[tuple[tuple[int, int, int, str], tuple[Cell, ...]]] = []
    for cites, places in places_by_citation.items():
        clause = clause_of(cites, guide)
        disagreements = len(places & differ)
        items = [UnitValue(unit, clusters[unit], float((unit, target) in differ)) for unit, target in places]
        one = share(study_data, items, field, "share in disagreement", part=cites)
        # Citations that match no clause come last among equals.
        order = (-disagreements, len(places), clause.number if clause else 10**6, cites)
        rows.append((order, (cites, _clause_words(clause), f"{disagreements:,}", f"{len(places):,}", percent(one))))
    cited_places = set().union(*places_by_citation.values())
    columns = ("Cited", "What it says", "In disagreement", "Items", "Share")
    note = (
        f"Of {len(differ):,} items in disagreement, {len(cited_places & differ):,} have an answer that cites something."
    )
    return Table(f"cites-{field}", field, columns, tuple(row for _, row in sorted(rows, key=lambda one: one[0])),
                 notes=(note,))  # fmt: skip


def _clause_words(clause: Clause | None) -> str:
    return clause.text if clause is not None else "(no line of the guideline)"


def _cited_places(study_data: StudyData, field: str) -> dict[str, set[Place]]:
    """Return the items at which a person cites something in this field, by what is cited."""
    columns = study_data.columns
    places: dict[str, set[Place]] = defaultdict(set)
    if field not in columns.fields or not columns.size:
        return places
    has_citation = (
        (columns.field == columns.fields.index(field)) & (columns.cites >= 0) & main_units(study_data)[columns.unit]
    )
    has_citation &= np.isin(columns.rater, np.array(study_data.people, dtype=np.int32))
    for row in np.flatnonzero(has_citation).tolist():
        citation = columns.cites_said[columns.cites[row]].strip()
        if citation:
            places[citation].add((columns.units[columns.unit[row]], columns.targets[columns.target[row]]))
    return places
