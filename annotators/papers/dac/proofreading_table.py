"""Edit rates (DAC-Bench 2.4): the share of changes by annotator, and by proofreader."""

from __future__ import annotations

from typing import NamedTuple

from annotators.papers import cells
from annotators.papers.cells import UnitValue, count, few_runs_warning, share, undefined_number
from annotators.papers.field_answers import answers_in, asked_units, cases_of, run_of
from annotators.study_data import StudyData
from lab.core.proofreading import ProofreadingSheet
from lab.core.report import Cell, Table

_SOURCE = "DAC-Bench 2.4"


class StepReview(NamedTuple):
    """One proofreader's verdict on one step: accept, edit or reject."""

    demonstration: str
    annotator: str
    proofreader: str
    verdict: str


def sheet_reviews(study_data: StudyData) -> list[StepReview]:
    """Return every verdict on a step in this study."""
    cases = cases_of(study_data)
    reviews = []
    for one in answers_in(study_data, "verdict"):
        if one.value is not None:
            case = cases.get(one.unit)
            annotator = case.agent.id if case is not None else "not known"
            reviews.append(StepReview(one.unit, annotator, study_data.columns.raters[one.rater].id, str(one.value)))
    return reviews


def demonstration_reviews(study_data: StudyData) -> list[StepReview]:
    """Return every verdict on a step in the demonstrations' reviews, by proofreaders who handed theirs in."""
    reviewed_runs = []
    for unit in asked_units(study_data):
        review = study_data.further.reviewed(run_of(unit))
        if review is None:
            continue
        demo, rows = review
        for by in sorted({row.by.id for row in rows if row.act == "commit"}):
            sheet = ProofreadingSheet(demo, rows, by)
            verdicts = [sheet.verdict(step) for step in range(demo.steps)]
            reviewed_runs += [StepReview(unit.id, demo.annotator.id, by, verdict) for verdict in verdicts if verdict]
    return reviewed_runs


def rates(study_data: StudyData, sheet_reviews: list[StepReview]) -> tuple[Table, ...]:
    """Return the rates by annotator and by proofreader, from the study's sheets, and from reviews if there are any."""
    reviews = demonstration_reviews(study_data)
    tables = [*_tables(study_data, sheet_reviews, "dac-edits", "on this study's sheets")]
    if reviews:
        tables += _tables(study_data, reviews, "dac-reviews", "in the reviews of the demonstrations")
    return tuple(tables)


def _tables(study_data: StudyData, reviews: list[StepReview], id: str, where: str) -> tuple[Table, Table]:
    return (
        _rates(
            study_data, reviews, f"{id}-annotators", f"Edit rate by annotator, {where}", "Annotator", of_annotator=True
        ),
        _rates(study_data, reviews, f"{id}-proofreaders", f"Edit rate by proofreader, {where}", "Proofreader"),
    )


def _rates(
    study_data: StudyData, reviews: list[StepReview], id: str, title: str, who: str, *, of_annotator: bool = False
) -> Table:
    coded_reviews = [(one.annotator if of_annotator else one.proofreader, one) for one in reviews]
    rows: list[tuple[Cell, ...]] = []
    for code in [*sorted({code for code, _ in coded_reviews}), "All"]:
        own = [one for name, one in coded_reviews if code in (name, "All")]
        items = [UnitValue(one.demonstration, one.demonstration, float(one.verdict != "accept")) for one in own]
        raters = len({one.proofreader for one in own})
        rate = (
            share(study_data, items, "verdict", "edit rate", part=code, raters=raters)
            if own
            else undefined_number("verdict", "edit rate", "nobody has looked at a step", part=code)
        )
        verdict_counts = [sum(one.verdict == verdict for one in own) for verdict in ("edit", "reject")]
        parts = (len({one.demonstration for one in own}), len(own), *verdict_counts)
        rows.append((code, *(count(n, "verdict", part=code) for n in parts), cells.percent(rate)))
    notes = (
        "A step counts once for each proofreader; the rate is edited and rejected over looks, clustered by episode.",
        *few_runs_warning(len({one.demonstration for one in reviews}), "episodes"),
    )
    head = (who, "Episodes", "Looks", "Edited", "Rejected", "Rate")
    return Table(id, title, head, tuple(rows), _SOURCE, notes)
