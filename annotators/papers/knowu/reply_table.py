"""KnowU-Bench 3.2, E.2: support of replies by the profile, by who gave them: people, models, scripts.

It reports people's settled answers and each judge's answers, which may be the only ones.
"""

from __future__ import annotations

from collections import defaultdict

from annotators.agreement.coefficients.categorical import gwet_ac, krippendorff_alpha, percent
from annotators.agreement.ratings.fields import ratings_of
from annotators.papers.cells import UnitValue, coefficient, count, few_runs_warning, share
from annotators.papers.cells import percent as as_percent
from annotators.papers.field_answers import answers_in, asked_units, truths, unsettled_counts
from annotators.papers.knowu.reply_support import FIELD, SHADOW, SupportedReply, rated_replies
from annotators.study_data import StudyData
from lab.core.study.report import Bars, Cell, Number, Section, Table
from lab.core.study.study import Unit

ORDER = ("supported", "not_in_profile", "contradicts")
WORDS = {"supported": "supported", "not_in_profile": "not in profile", "contradicts": "contradicts"}


def sections(study_data: StudyData) -> list[Section]:
    """Return shares of the three answers by condition, and agreement of the raters."""
    right = {unit: truth.value for (unit, _), truth in truths(study_data, FIELD).items()}
    rated_units = {one.unit for one in answers_in(study_data, FIELD)}
    undecided = len(rated_units - set(right))
    says = [f"{len(right):,} of {len(rated_units | set(right)):,} replies are decided by most raters, or were settled."]
    if undecided:
        says.append(f"On {undecided:,} there is no majority: they are in no share.")
    by, every = defaultdict(list), defaultdict(set)
    for unit in asked_units(study_data):
        condition = condition_of(study_data, unit)
        # Undecided replies too, for the count of exclusions.
        every[condition].add(unit.id)
        if unit.id in right:
            by[condition].append(unit)
    conditions = sorted(by)
    columns = ("Replies by", "Replies", *WORDS.values())
    rows: list[tuple[Cell, ...]] = []
    bars, bar_names = [], []
    for condition in conditions:
        shares, left_out = [], unsettled_counts(study_data, FIELD, every[condition])
        for option in ORDER:
            items = [UnitValue(unit.id, unit.clustered, float(right[unit.id] == option)) for unit in by[condition]]
            shares.append(share(study_data, items, FIELD, f"share {WORDS[option]}", part=condition, left_out=left_out))
        rows.append((condition, count(len(by[condition]), FIELD, part=condition), *map(as_percent, shares)))
        bars.append(shares[0])
        bar_names.append(condition)
    table = Table("support", "What the profile says to replies", columns, tuple(rows), "KnowU-Bench 3.2, E.2")
    pictures = (Bars("support-bars", "Share of replies that the profile supports", tuple(bars), tuple(bar_names)),)
    tables = tuple(one for one in (table, _by_judges(study_data), _agreement(study_data)) if one.rows)
    clusters = len({unit.clustered for units in by.values() for unit in units})
    return [
        Section("Replies against the profile", (*says, *few_runs_warning(clusters)), tables, pictures if bars else ())
    ]


def _by_judges(study_data: StudyData) -> Table:
    """Return the same shares by each judge, over every reply that it rated."""
    units = {unit.id: unit for unit in asked_units(study_data)}
    by: dict[tuple[str, str], list[SupportedReply]] = defaultdict(list)
    for one in rated_replies(study_data):
        if one.rater != "people":
            by[one.rater, condition_of(study_data, units[one.unit])].append(one)
    rows: list[tuple[Cell, ...]] = []
    for (judge, condition), replies in sorted(by.items()):
        shares = []
        for option in ORDER:
            items = [UnitValue(one.unit, one.cluster, float(one.value == option)) for one in replies]
            shares.append(
                share(study_data, items, FIELD, f"share {WORDS[option]}", part=condition, between=judge, raters=1)
            )
        rows.append((condition, judge, f"{len(replies):,}", *map(as_percent, shares)))
    columns = ("Replies by", "Rated by", "Replies", *WORDS.values())
    title = "What judges say that the profile says to replies"
    return Table("support-judges", title, columns, tuple(rows), "KnowU-Bench 3.2, E.2")


def condition_of(study_data: StudyData, unit: Unit) -> str:
    """Return a reply's condition: its kind of replier, and if they saw the phone.

    Several models are separate conditions by name. A run that is not in the file has its kind alone.
    """
    if SHADOW in unit.hidden:
        return f"{unit.hidden.get('by', '')}, shadow"
    if unit.hidden.get("by") == "model" and len(_models(study_data)) > 1:
        return _model(study_data, unit) or "model"
    by = {"human": "person"}.get(unit.hidden.get("by", ""), unit.hidden.get("by", "") or "not told")
    case = study_data.case(unit.runs[0]) if unit.runs else None
    return "person, no mirror" if by == "person" and case is not None and not case.conditions.mirror else by


def _model(study_data: StudyData, unit: Unit) -> str:
    """Return the model that was the user of a unit's run, empty if the run is not in the file."""
    case = study_data.case(unit.runs[0]) if unit.runs else None
    return case.user.id if case is not None and case.user is not None else ""


def _models(study_data: StudyData) -> list[str]:
    """Return the models, other than shadows, whose replies are rated."""

    def read() -> list[str]:
        model_units = (unit for unit in asked_units(study_data) if unit.hidden.get("by") == "model")
        return sorted({_model(study_data, unit) for unit in model_units} - {""})

    models: list[str] = study_data.cached("models that replied", read)
    return models


def _agreement(study_data: StudyData) -> Table:
    ratings = ratings_of(study_data, FIELD)
    if not ratings.places:
        return Table("support-raters", "Agreement of the raters", (), ())
    agreements = [coefficient(study_data, one, ratings) for one in (krippendorff_alpha(ratings), gwet_ac(ratings))]
    same = coefficient(study_data, percent(ratings), ratings)
    row: tuple[Cell, ...] = ("support", as_percent(same), *(Number(one) for one in agreements), f"{same.places:,}")
    return Table(
        "support-raters", "Agreement of the raters", ("", "Percent", "alpha, nominal", "AC1", "Replies"), (row,)
    )
