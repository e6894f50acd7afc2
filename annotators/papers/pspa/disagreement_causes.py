"""Causes of disagreements: flags beside the answers, and coders' labels of the items (PSPA-Bench E.3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from annotators.agreement.coefficients.categorical import cohen_kappa, fleiss_kappa, gwet_ac, percent
from annotators.agreement.ratings.fields import ratings_of, truth_and_rater, truth_of
from annotators.agreement.ratings.ratings import RatedItem, Ratings
from annotators.papers import cells
from annotators.papers.answer_subsets import column, judge_runs, of_places
from annotators.papers.cells import UnitValue, coefficient, count, few_runs_warning, share
from annotators.papers.field_answers import studies_beside
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement
from lab.core.study.report import Cell, Number, Section, Table

SOURCE = "PSPA-Bench E.3, Error Analysis"
CAUSE = "cause"
_STATE = "state"
_FLAGS = (("partial", "flagged as partial", "42 %"), ("unlisted", "flagged as a way that is not listed", "31 %"))
_PAPER = {"partial": "42 %", "unlisted_path": "31 %", "ui_change": "27 %"}
_SAYS = (
    "The paper names partial completions (42 %), ways that the checklist does not list (31 %) and changes between "
    "screens (27 %) as what the judge's 7 % of disagreements with people are about; it does not say who coded them."
)


def causes(study_data: StudyData, people: Ratings, truth: Ratings) -> list[Section]:
    """Return flags at places of disagreement (among people, or judge against majority), and coders' causes."""
    where = [("people differ", _disputed_places(people))]
    for rater in study_data.judges:
        name = study_data.columns.raters[rater].display_name
        two_columns = truth_and_rater(truth, column(judge_runs(study_data, _STATE, rater), 0))
        where.append((f"{name} and most people differ", _disputed_places(two_columns)))
    tables = [_flags(study_data, people, truth, where)]
    cause_studies = list(studies_beside(study_data, "disagreement-cause"))
    for cause_study in cause_studies:
        tables += [_shares(cause_study, where), _coders(cause_study)]
    says = [_SAYS]
    if not cause_studies:
        says.append(
            "No study of causes is read here: "
            f"`hitlab study new disagreement-cause --earlier-study {study_data.study.id}` asks for them, "
            "and --extra-study reads it."
        )
    return [Section("What disagreements are about", tuple(says), tuple(tables))]


def sections(study_data: StudyData) -> list[Section]:
    """Return the section of a study of causes."""
    cause_ratings = ratings_of(study_data, CAUSE)
    if not (cause_ratings.codes >= 0).any():
        return [Section("Causes of disagreement", ("Nobody has handed in an answer yet.",))]
    return [Section("Causes of disagreement", (_SAYS,), (_shares(study_data, []), _coders(study_data)))]


def _disputed_places(ratings: Ratings) -> frozenset[RatedItem]:
    """Return the items with different answers."""
    return frozenset(
        place
        for place, codes in zip(ratings.places, ratings.codes, strict=True)
        if len(set(codes[codes >= 0].tolist())) > 1
    )


# -- flags -----------------------------------------------------------------------------------------------------


def _flags(
    study_data: StudyData, people: Ratings, truth: Ratings, where: Sequence[tuple[str, Collection[RatedItem]]]
) -> Table:
    """Return the number of items with disagreement, and the share of them flagged by at least one rater."""
    item_ratings = of_places(
        study_data,
        people,
        frozenset(p for p, n in zip(people.places, (people.codes >= 0).sum(axis=1), strict=True) if n),
    )
    field_ids = {field.id for field in study_data.study.protocol.fields}
    shares = [cells.percent(_share(study_data, item_ratings, places, f"{name}: items")) for name, places in where]
    counts = [count(len(places), _STATE, part=name, statistic="items") for name, places in where]
    rows: list[tuple[Cell, ...]] = [("share of all items", *shares, "7 %"), ("items", *counts, "")]
    for field, says, paper in _FLAGS:
        if field in field_ids:
            flagged_items = _flagged_places(study_data, field)
            flags = [
                _share(study_data, of_places(study_data, item_ratings, places), flagged_items, f"{name}: {field}")
                for name, places in where
            ]
            rows.append((says, *map(cells.percent, flags), paper))
    head = ("Of the items at which", *(name for name, _ in where), "paper: judge")
    notes = (
        "Flagged is what at least one rater flagged, person or judge; an item may carry both flags, or none.",
        "A change between screens has no flag of its own; a study of causes asks for it.",
    )
    return Table("pspa-e3-flags", "Flags at items that differ", head, tuple(rows), SOURCE, notes)


def _flagged_places(study_data: StudyData, field: str) -> frozenset[RatedItem]:
    """Return the items with a raised flag."""
    flagged_items: set[RatedItem] = set()
    parts = [ratings_of(study_data, field), *(judge_runs(study_data, field, rater) for rater in study_data.judges)]
    for part in parts:
        if "yes" in part.categories:
            yes = (part.codes == part.categories.index("yes")).any(axis=1)
            flagged_items |= {place for place, has_flag in zip(part.places, yes.tolist(), strict=True) if has_flag}
    return frozenset(flagged_items)


def _share(study_data: StudyData, of: Ratings, among: Collection[RatedItem], part: str) -> Agreement:
    items = [
        UnitValue(place.unit, of.traces[trace], float(place in among))
        for place, trace in zip(of.places, of.trace.tolist(), strict=True)
    ]
    return share(study_data, items, _STATE, part=part, raters=len(of.raters), why="no such item")


# -- coders ----------------------------------------------------------------------------------------------------


def _shares(cause_study: StudyData, where: Sequence[tuple[str, Collection[RatedItem]]]) -> Table:
    """Return the share of items with each cause, by the majority of coders."""
    cause_ratings = ratings_of(cause_study, CAUSE)
    truth = truth_of(cause_study, cause_ratings)
    parts = [
        ("all coded items", truth),
        *((name, of_places(cause_study, truth, frozenset(places))) for name, places in where),
    ]
    rows: list[tuple[Cell, ...]] = []
    field = cause_study.study.protocol.field(CAUSE)
    for code, option in enumerate(cause_ratings.categories):
        cause = field.option(option) if field is not None else None
        row = [cells.percent(_of_cause(cause_study, some, code, f"{name}: {option}")) for name, some in parts]
        rows.append((cause.display_name if cause else option, *row, _PAPER.get(option, "")))
    split_cells = [cells.percent(_share_split(cause_study, some, name)) for name, some in parts]
    rows.append(("coders differ (of all)", *split_cells, ""))
    item_counts = [count(int((some.codes >= 0).sum()), CAUSE, part=name, statistic="items") for name, some in parts]
    rows.append(("items with a cause", *item_counts, ""))
    head = ("Cause", *(name for name, _ in parts), "paper: judge")
    notes = (
        "Shares are of the items on whose cause more than half of the coders agree.",
        *few_runs_warning(len(truth.traces)),
    )
    return Table("pspa-e3-causes", f"Causes, by {cause_study.study.name}", head, tuple(rows), SOURCE, notes)


def _of_cause(cause_study: StudyData, truth: Ratings, code: int, part: str) -> Agreement:
    rows = zip(truth.places, truth.trace.tolist(), truth.codes[:, 0].tolist(), strict=True)
    items = [
        UnitValue(place.unit, truth.traces[trace], float(cause == code)) for place, trace, cause in rows if cause >= 0
    ]
    return share(cause_study, items, CAUSE, part=part, why="no item with a cause", left_out=truth.reasons)


def _share_split(cause_study: StudyData, truth: Ratings, part: str) -> Agreement:
    rows = zip(truth.places, truth.trace.tolist(), truth.codes[:, 0].tolist(), strict=True)
    items = [UnitValue(place.unit, truth.traces[trace], float(cause < 0)) for place, trace, cause in rows]
    return share(cause_study, items, CAUSE, "share", part=f"{part}: coders differ", why="no such item")


def _coders(cause_study: StudyData) -> Table:
    """Return the agreement of the coders."""
    cause_ratings = ratings_of(cause_study, CAUSE)
    two = len(cause_ratings.raters) == 2
    kappa = coefficient(cause_study, cohen_kappa(cause_ratings) if two else fleiss_kappa(cause_ratings), cause_ratings)
    row: tuple[Cell, ...] = (
        "cause",
        Number(kappa),
        cells.percent(coefficient(cause_study, percent(cause_ratings), cause_ratings)),
        Number(coefficient(cause_study, gwet_ac(cause_ratings), cause_ratings)),
        count(len(cause_ratings.raters), CAUSE, statistic="coders"),
        count(kappa.places, CAUSE, statistic="items"),
    )
    head = ("", "Cohen's κ" if two else "Fleiss' κ", "Pairs agree", "AC1", "Coders", "Items")
    return Table("pspa-e3-coders", f"Agreement of the coders, by {cause_study.study.name}", head, (row,), SOURCE)
