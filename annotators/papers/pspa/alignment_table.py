"""Validation of a judge of graph nodes against people: PSPA-Bench E.3, agreement and Table 7."""

from __future__ import annotations

from collections.abc import Sequence

from annotators.agreement.coefficients import cohen_kappa, fleiss_kappa, gwet_ac, percent, percent_exact
from annotators.agreement.fields import Derived, against, ratings_of, stacked, truth_of
from annotators.agreement.judge_accuracy import Judged, judged
from annotators.agreement.ratings import Ratings
from annotators.agreement.test_retest import runs_there
from annotators.derived import COMPLETED
from annotators.papers import cells
from annotators.papers.answer_subsets import by_runs, column, kinds, modal, only
from annotators.papers.cells import coefficient, count, few
from annotators.papers.field_answers import asked_units
from annotators.papers.pspa.apr_by_labels import FIELD
from annotators.papers.pspa.disagreement_causes import causes
from annotators.papers.pspa.judge_stability import rates, steadiness
from annotators.study_data import StudyData
from lab.core.agreement import Agreement, words
from lab.core.report import Bars, Cell, Number, Section, Table

SOURCE = "PSPA-Bench E.3"
_TYPES = (("fixed", "Fixed"), ("flexible", "Flexible"), ("", "Overall"))
_STATISTICS: tuple[tuple[Judged, str], ...] = (
    ("accuracy", "Acc."), ("precision", "Prec."), ("recall", "Rec."), ("f1", "F1"), ("kappa", "κ"),
)  # fmt: skip
_PAPER = {
    "fixed": ("0.94", "0.93", "0.96", "0.94", "0.88"),
    "flexible": ("0.91", "0.90", "0.93", "0.91", "0.83"),
    "": ("0.93", "0.92", "0.95", "0.93", "0.86"),
}
_FLEISS = "0.87"
_STAGES: tuple[tuple[Derived, str], ...] = (("before", "as answered"), ("after", "after derivation"))
_DERIVED = (
    "As answered: every item as it was keyed. After derivation: items on ways that were not taken are left out, and an "
    "item is not completed where one that it depends on is not."
)


def sections(study_data: StudyData) -> list[Section]:
    """Return people's agreement, judges against the majority, judges' stability, APR, and causes of disagreement."""
    people = {stage: ratings_of(study_data, FIELD, derived=stage) for stage, _ in _STAGES}
    if not (people["before"].codes >= 0).any():
        return [Section("Validating a judge of items", ("Nobody has handed in an answer yet.",))]
    parts = [Section("How far people agree on items", (_sample_words(study_data),), (_agree(study_data, people),))]
    truth = {stage: truth_of(study_data, stage_people) for stage, stage_people in people.items()}
    if study_data.judges:
        parts.append(_judge_section(study_data, truth))
    else:
        sentence = "No model or script has rated these runs; `hitlab labels add --kind model` takes its answers."
        parts.append(Section("The judge against most people", (sentence,)))
    parts.append(_rater_section(study_data, people["before"], truth["before"]))
    if study_data.judges:
        parts.append(steadiness(study_data))
    parts += [rates(study_data), *causes(study_data, people["before"], truth["before"])]
    return parts


def _sample_words(study_data: StudyData) -> str:
    units = asked_units(study_data)
    pilot = len(study_data.units) - len(units)
    apart = f" Calibration ({pilot:,}) is not in it." if pilot else ""
    nodes = sum(len(unit.targets) for unit in units)
    runs = f"{len(units):,} run{'' if len(units) == 1 else 's'}"
    return f"{runs} with {nodes:,} items, each rated by people on their own.{apart}"


def of_kind(study_data: StudyData, ratings: Ratings, kind: str) -> Ratings:
    """Return the items of one kind, or all if it is empty."""
    if not kind:
        return ratings
    kind_of_place = kinds(study_data)
    return only(study_data, ratings, lambda place: kind_of_place.get(place) == kind)


# -- people ----------------------------------------------------------------------------------------------------


def _agree(study_data: StudyData, people: dict[Derived, Ratings]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for stage, stage_people in _STAGES:
        for kind, name in _TYPES:
            some = of_kind(study_data, people[stage], kind)
            part = ", ".join(filter(None, (kind, stage_people)))
            kappa = coefficient(study_data, fleiss_kappa(some), some, part=part)
            rows.append(
                (
                    f"{name}, {stage_people}",
                    Number(kappa),
                    _interval(kappa),
                    cells.percent(coefficient(study_data, percent(some), some, part=part)),
                    cells.percent(coefficient(study_data, percent_exact(some), some, part=part)),
                    Number(coefficient(study_data, gwet_ac(some), some, part=part)),
                    count(kappa.places, FIELD, part=part, statistic="items"),
                )
            )
    rows.append(("paper: overall", _FLEISS, "", "", "", "", ""))
    head = ("Type", "Fleiss' κ", "In words", "Pairs agree", "All agree", "AC1", "Items")
    notes = (_DERIVED, "The paper does not say how many items there were, nor whether ways that were not taken count.")
    return Table(
        "pspa-e3-agreement", "Agreement between people", head, tuple(rows), SOURCE, (*notes, *_few(study_data))
    )


def _interval(kappa: Agreement) -> str:
    return words(kappa)


def _few(study_data: StudyData) -> tuple[str, ...]:
    return few(len(asked_units(study_data)))


# -- judges ----------------------------------------------------------------------------------------------------


def _judge_section(study_data: StudyData, truth: dict[Derived, Ratings]) -> Section:
    tables = []
    for at, rater in enumerate(study_data.judges, 1):
        tables += [_table_7(study_data, truth[stage], rater, stage, f"{at}-{stage}") for stage, _ in _STAGES]
    says = (
        f"Truth is what more than half of the people say, or what was adjudicated; after derivation, what most of "
        f"their derived answers are. Positive is {COMPLETED}.",
        _DERIVED,
    )
    return Section("The judge against most people", says, tuple(tables))


def _table_7(study_data: StudyData, truth: Ratings, rater: int, stage: Derived, id: str) -> Table:
    """Return Table 7 for run 1, and for the most frequent answers over the judge's runs."""
    judge = study_data.columns.raters[rater].shown
    runs = by_runs(study_data, FIELD, rater, stage)
    columns = [(runs.raters[0], column(runs, 0))]
    if len(runs.raters) > 1:
        columns.append((f"most of {len(runs.raters)} runs", modal(runs)))
    rows: list[tuple[Cell, ...]] = []
    for which, answers in columns:
        two_columns = against(truth, answers)
        for kind, type in _TYPES:
            some = of_kind(study_data, two_columns, kind)
            part = ", ".join(filter(None, (kind, dict(_STAGES)[stage], which)))
            between = f"{judge} against most people"
            agreements = [
                coefficient(study_data, judged(some, what, COMPLETED), some, part=part, between=between)
                for what, _ in _STATISTICS
            ]
            ac1 = coefficient(study_data, gwet_ac(some), some, part=part, between=between)
            items = count(agreements[0].places, FIELD, part=part, statistic="items")
            rows.append((f"{type}, {which}", *map(Number, agreements), Number(ac1), items))
    rows += [(f"paper: {type.lower()}", *_PAPER[kind], "", "") for kind, type in _TYPES]
    title = f"{judge} against most people, {dict(_STAGES)[stage]}"
    head = ("Type", *(title for _, title in _STATISTICS), "AC1", "Items")
    notes = (f"Of {len(runs.raters)} run{'' if len(runs.raters) == 1 else 's'} of the judge.", *_few(study_data))
    return Table(f"pspa-e3-table-7-{id}", title, head, tuple(rows), "PSPA-Bench Table 7", notes)


# -- one by one ------------------------------------------------------------------------------------------------


def _rater_section(study_data: StudyData, people: Ratings, truth: Ratings) -> Section:
    """Return each rater against the majority, and each pair of raters."""
    columns = {name: column(people, at) for at, name in enumerate(people.raters)}
    for rater in study_data.judges:
        if runs_there(study_data, [rater]):
            shown_columns = study_data.columns.raters[rater].shown
            columns[shown_columns] = column(by_runs(study_data, FIELD, rater, "before"), 0)
    rows: list[tuple[Cell, ...]] = []
    for name, answers in columns.items():
        two_columns = against(truth, answers)
        between = f"{name} against most people"
        kappa = coefficient(study_data, cohen_kappa(two_columns), two_columns, between=between)
        rows.append(
            (
                name,
                cells.percent(coefficient(study_data, percent(two_columns), two_columns, between=between)),
                Number(kappa),
                Number(coefficient(study_data, gwet_ac(two_columns), two_columns, between=between)),
                count(kappa.places, FIELD, part=name, statistic="items"),
            )
        )
    notes = ("A person is one of those whose majority they are held against; a judge (by its first run) is not.",)
    head = ("Rater", "Agrees", "Cohen's κ", "AC1", "Items")
    table = Table("pspa-e3-raters", "Each rater against most people", head, tuple(rows), SOURCE, notes)
    return Section("Rater by rater", (), (table,), (_pairs(study_data, columns),))


def _pairs(study_data: StudyData, columns: dict[str, Ratings]) -> Bars:
    names = list(columns)
    pairs: Sequence[tuple[str, str]] = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :]]
    pair_list = []
    for a, b in pairs:
        two_columns = stacked(study_data, [(a, columns[a]), (b, columns[b])])
        pair_list.append(coefficient(study_data, cohen_kappa(two_columns), two_columns, between=f"{a} and {b}"))
    return Bars(
        "pspa-e3-pairs", "Cohen's κ by pair of raters", tuple(pair_list), tuple(f"{a} and {b}" for a, b in pairs)
    )
