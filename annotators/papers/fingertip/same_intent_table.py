"""People's answers if two texts have the same intent (FingerTip 20K SR1): agreement, judges, SR1 by source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from annotators.agreement.coefficients.categorical import fleiss_kappa, gwet_ac, krippendorff_alpha, percent
from annotators.agreement.coefficients.judge_accuracy import Judged, judge_statistic
from annotators.agreement.ratings.fields import ratings_of, truth_and_rater, truth_of
from annotators.agreement.ratings.ratings import Ratings
from annotators.papers import cells
from annotators.papers.cells import UnitValue, coefficient, column_bars, count, few_runs_warning, share
from annotators.papers.field_answers import Truth, asked_units, truths, unsettled_counts
from annotators.study_data import StudyData
from lab.core.study.report import Cell, Number, Section, Table

SAME = "same"
_SOURCE = "FingerTip 20K 5.1; the judge's question, asked of people"
_STATISTICS: tuple[tuple[Judged, str], ...] = (
    ("accuracy", "Acc"), ("precision", "Prec"), ("recall", "Rec"), ("f1", "F1"), ("kappa", "Cohen kappa"),
)  # fmt: skip


def sections(study_data: StudyData) -> list[Section]:
    """Return people's agreement, judges against people, and SR1 by the source of guesses."""
    people = ratings_of(study_data, SAME)
    if not (people.codes >= 0).any():
        return [Section("Same intent", ("Nobody has handed in an answer yet.",))]
    truth_by_place = truths(study_data, SAME)
    return [
        Section("Agreement on same intent", tables=(_people(study_data, people),)),
        _judges(study_data, people),
        *_sources(study_data, truth_by_place),
    ]


def _people(study_data: StudyData, people: Ratings) -> Table:
    row: tuple[Cell, ...] = (
        "same intent",
        Number(coefficient(study_data, krippendorff_alpha(people), people)),
        Number(coefficient(study_data, gwet_ac(people), people)),
        Number(coefficient(study_data, fleiss_kappa(people), people)),
        cells.percent(coefficient(study_data, percent(people), people)),
    )
    counts = Counter(people.categories[code] for code in people.codes.ravel().tolist() if code >= 0)
    notes = (
        "Three categories: " + ", ".join(f"{name} {counts[name]}" for name in people.categories) + ".",
        "The paper does not validate its judge.",
        *few_runs_warning(len(people.traces), "clusters"),
    )
    head = ("", "Alpha", "AC1", "Fleiss' kappa", "Pairs agree")
    return Table("fingertip-same", "Agreement of people", head, (row,), _SOURCE, notes)


def _judges(study_data: StudyData, people: Ratings) -> Section:
    title = "Judges against most people"
    if not study_data.judges:
        return Section(title, ("No model has judged these pairs yet.",))
    truth = truth_of(study_data, people)
    if not (truth.codes >= 0).any():
        return Section(title, ("No pair is settled, so judges stand against nothing.",))
    rows: list[tuple[Cell, ...]] = []
    for judge in study_data.judges:
        name = study_data.columns.raters[judge].id
        own = truth_and_rater(truth, ratings_of(study_data, SAME, (judge,)))
        between = f"{name} against most people"
        statistics = (*(judge_statistic(own, what, SAME) for what, _ in _STATISTICS), gwet_ac(own))
        agreements = [coefficient(study_data, one, own, between=between) for one in statistics]
        pairs = count(agreements[0].places, SAME, part=name, statistic="pairs")
        rows.append((name, *(Number(one) for one in agreements), pairs))
    unclear = int((truth.codes[:, 0] == truth.categories.index("cannot_tell")).sum())
    notes = (
        "Positive is same; the first run of each judge counts; pairs without a majority are left out.",
        *(
            (f"Pairs of which most people cannot tell: {unclear}. A judge that says yes or no there is not right.",)
            if unclear
            else ()
        ),
        *few_runs_warning(len(truth.traces), "clusters"),
    )
    head = ("Judge", *(name for _, name in _STATISTICS), "AC1", "Pairs")
    return Section(title, tables=(Table("fingertip-judges", title, head, tuple(rows), _SOURCE, notes),))


def _sources(study_data: StudyData, truth_by_place: Mapping[tuple[str, str], Truth]) -> list[Section]:
    """Return SR1 by the source of guesses, if the lines name it."""
    source = {unit.id: unit.hidden.get("source", "") for unit in asked_units(study_data)}
    names = sorted({name for name in source.values() if name})
    if not names:
        return []
    units = {unit.id: unit for unit in asked_units(study_data)}
    value_by_unit = {unit: one.value for (unit, _), one in truth_by_place.items() if one.value in ("same", "not_same")}
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        items = [
            UnitValue(unit, units[unit].clustered, float(value == "same"))
            for unit, value in value_by_unit.items()
            if source[unit] == name
        ]
        own = {unit for unit, of in source.items() if of == name}
        vague = sum(one.value == "cannot_tell" for (unit, _), one in truth_by_place.items() if unit in own)
        left_out = unsettled_counts(study_data, SAME, own) | ({"cannot_tell": vague} if vague else {})
        one = share(study_data, items, SAME, "SR1", part=name, why="no pair of it is settled", left_out=left_out)
        rows.append((name, count(len(items), SAME, part=name), cells.percent(one)))
    notes = (
        "By most people's word, clustered by user; pairs that are not settled, or cannot be told, are left out.",
        *few_runs_warning(len({units[unit].clustered for unit in value_by_unit}), "clusters"),
    )
    head = ("Source of the guess", "Pairs", "SR1")
    table = Table("fingertip-sources", "SR1 by source", head, tuple(rows), "FingerTip 20K Table 3", notes)
    return [Section("SR1 by source", (), (table,), column_bars(table, "SR1"))]
