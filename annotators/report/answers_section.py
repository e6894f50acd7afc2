"""People's answers: shares, means and texts by question, and by rater, agent, kind of task, condition and item."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from annotators.agreement.ratings.ratings import RatedItem
from annotators.papers.cells import COUNTED, number_without_interval
from annotators.papers.field_answers import FieldAnswer, answers_in, asked_units, how_many_answered, run_of
from annotators.papers.pspa.pair_table import methods_of, winner
from annotators.papers.pspa.side_bias import sides
from annotators.papers.report_tables import PAPERS
from annotators.report.field_values import (
    DESCRIBES,
    AnswerMeasure,
    FieldValues,
    Mask,
    answer_number,
    descriptive_number,
    field_values,
    missing_reasons,
)
from annotators.report.played_answers import played_tables
from annotators.report.sample_section import rater_name, reason_words, share_words
from annotators.study_data import StudyData
from annotators.units.pairs import method_names, method_of
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.protocol import Field
from lab.core.study.report import Bars, Cell, Number, Picture, Section, Table
from lab.core.study.study import Unit
from lab.core.values.rounding import count, format_number

TITLE = "Answers"
EVERY, MAJORITY, ITEMS = "Every answer", "By majority", "Items' means"
MOST_QUOTED, LONGEST = 40, 500
"""Maximum number of quoted texts, and of characters of each."""
MOST_ROWS = 60
"""Maximum rows of a breakdown by item: the items with the most answers."""
_NOBODY = "Nobody has handed in an answer yet."
_RULE = (
    "By majority: what more than half of an item's raters say, a reason for having no answer counted as one; what was "
    "settled stands in its place. Items without a majority are missing there. Every answer: each rater's counts once."
)
_PLAYED = "Each answer is about its person's own run, so there is no majority: every answer counts once."
_INTERVALS = "Intervals are clustered by {}. At 0 and 100 % they are Wilson's, each {} as one item."


def sections(study_data: StudyData) -> list[Section]:
    """Return the section of people's answers to each question. A judge's answers are rows beside each rater's."""
    fields = study_data.study.protocol.fields
    tables: list[Table] = [_overview(study_data, fields), *played_tables(study_data)]
    pictures: list[Picture] = []
    for field in fields:
        tables += _field_tables(study_data, field)
        pictures += _bars(study_data, field)
    tables += _side_tables(study_data)
    return [Section(TITLE, tuple(_sentences(study_data)), tuple(tables), tuple(pictures))]


def _sentences(study_data: StudyData) -> list[str]:
    if not any(how_many_answered(study_data, field.id) for field in study_data.study.protocol.fields):
        return [_NOBODY]
    from annotators.agreement.intervals.estimates import clusters_of

    cluster = clusters_of(study_data)
    says = [_PLAYED if is_played(study_data) else _RULE, _INTERVALS.format(cluster, cluster)]
    runs = {one.trace: study_data.case(one.trace) for one in study_data.played}
    if rehearsed := sum(run is not None and run.rehearsed for run in runs.values()):
        # A script makes its answers up. They must not pass for people's.
        says.append(
            f"A rehearsal: a script played {count(rehearsed, 'run')} in a person's place, and its answers count here."
        )
    if study_data.settled:
        says.append(f"Settled: {count(len(study_data.settled), 'item')}.")
    return says


def is_played(study_data: StudyData) -> bool:
    """Return True if each sheet is about a run that its own rater played."""
    return study_data.study.protocol.unit == "task to play"


def has_majority(study_data: StudyData, of: FieldValues) -> bool:
    """Return True if an item has several people's answers, or a settled one."""
    return not is_played(study_data) and (of.settled > 0 or bool((of.is_given.sum(axis=1) > 1).any()))


# -- all questions ---------------------------------------------------------------------------------------------


def _overview(study_data: StudyData, fields: Sequence[Field]) -> Table:
    rows = tuple(_overview_row(study_data, field) for field in fields)
    notes = ("Of options the one that stands most often, of a scale the mean.",)
    columns = ("Question", "Answers", "Items", "Raters", "Missing", "What", "Value")
    return Table("answers-overview", "Each question in a line", columns, rows, notes=notes)


def _overview_row(study_data: StudyData, field: Field) -> tuple[Cell, ...]:
    of = field_values(study_data, field)
    if of is None:
        return _overview_of_others(study_data, field)
    is_given = of.is_given
    what, value = _most_of(study_data, of) if is_given.any() else ("", "nobody has answered it")
    return (
        field.id, f"{int(is_given.sum()):,}", f"{int(is_given.any(axis=1).sum()):,}",
        f"{int(is_given.any(axis=0).sum()):,}",
        missing_words(missing_reasons(of) if of.measures else {}, int(is_given.sum())), what, value,
    )  # fmt: skip


def _most_of(study_data: StudyData, of: FieldValues) -> tuple[str, Number]:
    """Return the most frequent option with its share, or a scale's mean: its name and the number."""
    agreed = has_majority(study_data, of)
    if of.mean is not None:
        what = "mean of items" if agreed and of.field.kind != "ordinal" else "mean" + ", by majority" * agreed
        return what, _numbers(study_data, of, agreed=agreed)[-1]
    names = [one.name for one in of.measures]
    told = zip(names, _numbers(study_data, of, agreed=agreed), strict=True)
    what, value = max(told, key=lambda pair: pair[1].agreement.value or 0.0)
    return what + ", by majority" * agreed, value


def _numbers(study_data: StudyData, of: FieldValues, *, agreed: bool) -> tuple[Number, ...]:
    """Return the number of each measure of a question over all items, cached."""
    key = ("answer numbers", of.field.id, agreed, study_data.how)
    numbers: tuple[Number, ...] = study_data.cached(
        key, lambda: tuple(answer_number(study_data, of, one, agreed=agreed) for one in of.measures)
    )
    return numbers


def _overview_of_others(study_data: StudyData, field: Field) -> tuple[Cell, ...]:
    """Return the overview row of a question about texts or boxes."""
    answers = answers_in(study_data, field.id)
    given = [one for one in answers if one.value is not None]
    what = "texts" if field.kind == "text" else "boxes"
    return (
        field.id, f"{len(given):,}", f"{len({(one.unit, one.target) for one in given}):,}",
        f"{len({one.rater for one in given}):,}", missing_words(_reasons_of(answers), len(given)), what,
        Number(number_without_interval(len(given), field.id, what, COUNTED, n=len(given)), digits=0),
    )  # fmt: skip


def _reasons_of(answers: Sequence[FieldAnswer]) -> dict[str, int]:
    reasons: dict[str, int] = {}
    for one in answers:
        if one.value is None and one.reason:
            reasons[one.reason] = reasons.get(one.reason, 0) + 1
    return reasons


def missing_words(reasons: Mapping[str, int], there: int) -> str:
    """Return the missing share in words, with the count of each reason."""
    lacking = sum(reasons.values())
    if not lacking:
        return "0.0 %" if there else "—"
    why = ", ".join(f"{reason_words(reason)} {many:,}" for reason, many in sorted(reasons.items()))
    return f"{share_words(lacking / (there + lacking))} ({why})"


# -- one question ----------------------------------------------------------------------------------------------


def _field_tables(study_data: StudyData, field: Field) -> Iterator[Table]:
    of = field_values(study_data, field)
    if of is None:
        yield from _text_tables(study_data, field)
        return
    if not of.is_given.any():
        return
    yield _distribution(study_data, of)
    if (table := _by_rater(study_data, of)) is not None:
        yield table
    if field.sided and (table := _preferences(study_data, of)) is not None:
        yield table
    # Branches have options of their own, so shares over all items would mix different questions.
    if not field.options and field.kind == "nominal":
        yield _by_branch(study_data, of)
        return
    for grouping in _groupings(study_data, of):
        yield _by_group(study_data, of, grouping)


def _distribution(study_data: StudyData, of: FieldValues) -> Table:
    """Return the table of option shares, or of a scale's mean, median and standard deviation."""
    bases = [True, False] if has_majority(study_data, of) else [False]
    heads = [(ITEMS if of.field.kind in ("interval", "step") else MAJORITY) if agreed else EVERY for agreed in bases]
    rows: list[tuple[Cell, ...]] = [
        (one.name, *(_numbers(study_data, of, agreed=agreed)[at] for agreed in bases))
        for at, one in enumerate(of.measures)
    ]
    if of.mean is not None:
        rows.append(("median", *(descriptive_number(of, of.mean, "median", agreed=agreed) for agreed in bases)))
        rows.append(("standard deviation", *(descriptive_number(of, of.mean, "sd", agreed=agreed) for agreed in bases)))
    rows.append(("n", *(_n_words(of, agreed=agreed) for agreed in bases)))
    rows.append(("missing", *(_missing_of(of, agreed=agreed) for agreed in bases)))
    notes = [*_notes(study_data, of), *no_interval_notes(rows)]
    return Table(f"answers-{of.field.id}", f"{of.field.id}: {of.field.ask}", ("", *heads), tuple(rows),
                 notes=tuple(notes))  # fmt: skip


def _notes(study_data: StudyData, of: FieldValues) -> list[str]:
    notes = []
    if of.field.kind == "many":
        notes.append("Any number of options may be chosen: the shares do not add up to 100 %.")
    if of.field.sided:
        notes.append("A and B are the item's own sides, whichever stood left.")
    if of.settled:
        notes.append(f"Settled: {of.settled:,} of {count(int(of.is_given.any(axis=1).sum()), 'item')}.")
    by_rule = sum(gold.field == of.field.id for unit in asked_units(study_data) for gold in unit.mechanical)
    if by_rule:
        notes.append(f"Answered by a rule and asked of nobody, in no number here: {count(by_rule, 'item')}.")
    return notes


def no_interval_notes(rows: Sequence[Sequence[Cell]]) -> list[str]:
    """Return the reasons for missing intervals in a table, each reason once."""
    why = dict.fromkeys(
        cell.agreement.no_interval
        for row in rows
        for cell in row
        if isinstance(cell, Number) and cell.agreement.value is not None and cell.agreement.no_interval
    )
    reasons = [one for one in why if one not in (DESCRIBES, COUNTED)]
    return [f"No interval: {'; '.join(reasons)}."] if reasons else []


def _answered_mask(of: FieldValues, *, agreed: bool, rows: Mask | None = None, rater: int | None = None) -> Mask:
    values = of.measures[0].agreed[:, None] if agreed else of.measures[0].values
    is_given = np.isfinite(values if rater is None else values[:, [rater]])
    return is_given if rows is None else np.asarray(is_given & rows[:, None])


def _n_words(of: FieldValues, *, agreed: bool) -> str:
    is_given = _answered_mask(of, agreed=agreed)
    items = count(int(is_given.any(axis=1).sum()), "item")
    if agreed:
        return items
    raters = count(int(is_given.any(axis=0).sum()), "rater")
    return f"{count(int(is_given.sum()), 'answer')} to {items} by {raters}"


def _missing_of(of: FieldValues, *, agreed: bool) -> str:
    return missing_words(missing_reasons(of, agreed=agreed), int(_answered_mask(of, agreed=agreed).sum()))


def _row(
    study_data: StudyData, of: FieldValues, name: str, *, agreed: bool = False, rows: Mask | None = None,
    rater: int | None = None, between: str = "people",
) -> tuple[Cell, ...]:  # fmt: skip
    """Return a row of a breakdown: numbers, n, and what is missing."""
    reasons = missing_reasons(of, agreed=agreed, rows=rows, rater=rater)
    numbers = [
        answer_number(
            study_data, of, one, agreed=agreed, rows=rows, rater=rater, part="" if rater is not None else name,
            between=between, reasons=reasons,
        )
        for one in of.reported_measures
    ]  # fmt: skip
    answer_count = int(_answered_mask(of, agreed=agreed, rows=rows, rater=rater).sum())
    return name, *numbers, f"{answer_count:,}", missing_words(reasons, answer_count)


def _breakdown(of: FieldValues, id: str, by: str, head: str, rows: Sequence[tuple[Cell, ...]], n: str,
               notes: Sequence[str] = ()) -> Table:  # fmt: skip
    columns = (head, *(one.name for one in of.reported_measures), n, "Missing")
    return Table(f"answers-{of.field.id}-{id}", f"{of.field.id}: {by}", columns, tuple(rows),
                 notes=(*notes, *no_interval_notes(rows)))  # fmt: skip


# -- by rater --------------------------------------------------------------------------------------------------


def _by_rater(study_data: StudyData, of: FieldValues) -> Table | None:
    """Return the table of each person and each judge, or None if only one of them answered."""
    rows = [
        _row(study_data, of, of.raters[at], rater=at, between=of.raters[at])
        for at in range(len(of.raters))
        if of.is_given[:, at].any()
    ]
    for judge in study_data.judges:
        own = field_values(study_data, of.field, [judge])
        if own is not None and own.is_given.any():
            name = rater_name(study_data.columns.raters[judge])
            rows.append(_row(study_data, own, name, rater=0, between=name))
    return _breakdown(of, "by-rater", "by rater", "Rater", rows, "Answers") if len(rows) > 1 else None


# -- by what is rated ------------------------------------------------------------------------------------------


class Grouping(NamedTuple):
    """A way to group a question's answers: the group of each item, empty if it has none."""

    id: str
    by: str
    head: str
    groups: tuple[str, ...]


class _RatedRun(NamedTuple):
    agent: str = ""
    kind: str = ""
    condition: str = ""


def _groupings(study_data: StudyData, of: FieldValues) -> Iterator[Grouping]:
    """Yield each way to group the answers (by agent, kind of task, condition, item) that gives at least two groups."""
    units = {unit.id: unit for unit in study_data.units}
    by_unit = {id: _rated_run(study_data, units[id]) for id in dict.fromkeys(place.unit for place in of.places)}
    runs = [by_unit[place.unit] for place in of.places]
    cases = (study_data.case(run_of(units[id])) for id in by_unit if units[id].runs)
    agents = method_names(case for case in cases if case is not None)
    ways = [
        Grouping("by-agent", "by agent", "Agent", tuple(agents.get(one.agent, one.agent) for one in runs)),
        Grouping("by-kind", "by kind of task", "Kind of task", tuple(one.kind for one in runs)),
        *_target_ways(units, of.places),
    ]
    if not is_played(study_data):
        ways.insert(2, Grouping("by-condition", "by condition of the run", "Condition",
                                tuple(one.condition for one in runs)))  # fmt: skip
    yield from (way for way in ways if len(set(way.groups) - {""}) > 1)


def _target_ways(units: Mapping[str, Unit], places: Sequence[RatedItem]) -> list[Grouping]:
    """Return the groupings of answers by kind of item and by item. An item is grouped across units."""
    of_unit = {id: {one.id: one for one in unit.targets} for id, unit in units.items()}
    found = [of_unit[place.unit].get(place.target) for place in places]
    says: dict[str, set[str]] = {}
    for one in found:
        if one is not None:
            says.setdefault(one.id, set()).add(one.says)
    # An id that has different texts in different units is not one item.
    names = [
        "" if one is None else one.id if len(says[one.id]) == 1 else f"{one.id}: {one.says}" for one in found
    ]  # fmt: skip
    kinds = ["" if one is None else one.kind for one in found]
    return [
        Grouping("by-item-kind", "by kind of item", "Kind of item", tuple(kinds)),
        Grouping("by-item", "by item", "Item", tuple(names)),
    ]


def _rated_run(study_data: StudyData, unit: Unit) -> _RatedRun:
    """Return agent, kind of task and condition of a unit's run, empty if unknown."""
    found: _RatedRun = study_data.cached(("rated run", unit.id), lambda: _read_run(study_data, unit))
    return found


def _read_run(study_data: StudyData, unit: Unit) -> _RatedRun:
    if unit.play is not None:
        return _RatedRun(unit.play.agent, unit.play.task.kind, unit.play.condition)
    case = study_data.case(run_of(unit)) if unit.runs else None
    if case is None:
        return _RatedRun(kind=unit.task.kind if unit.task is not None else "")
    agent = "" if study_data.study.protocol.unit == "pair of runs" else method_of(case)
    return _RatedRun(agent, case.task.kind, _condition(case))


def _condition(case: MeasuredRun) -> str:
    """Return the user of a run, and if a person saw the phone, named as a play's condition."""
    if case.user is None:
        return ""
    if case.user.kind != "human":
        return case.user.kind
    return "person" if case.conditions.mirror else "person, no mirror"


def _by_group(study_data: StudyData, of: FieldValues, way: Grouping) -> Table:
    agreed = has_majority(study_data, of)
    groups = np.array(way.groups, dtype=object)
    names = dict.fromkeys(name for name in way.groups if name)
    order = list(names) if way.id == "by-item" else sorted(names)
    notes = []
    if len(order) > MOST_ROWS:
        # The largest groups stay in their original order below.
        largest = sorted(order, key=lambda name: -int(of.is_given[groups == name].sum()))[:MOST_ROWS]
        notes.append(f"{MOST_ROWS} of {len(order):,} are told, those with the most answers.")
        order = [name for name in order if name in set(largest)]
    rows = [
        _row(study_data, of, name, agreed=agreed, rows=np.asarray(groups == name, dtype=np.bool_)) for name in order
    ]
    by = f"{way.by}, {'items by majority' if agreed else 'every answer'}"
    if agreed and of.field.kind in ("interval", "step"):
        by = f"{way.by}, items' means"
    return _breakdown(of, way.id, by, way.head, rows, "Items" if agreed else "Answers", notes)


def _by_branch(study_data: StudyData, of: FieldValues) -> Table:
    """Return the table of each item's own options with their shares, one option per row."""
    agreed = has_majority(study_data, of)
    units = {unit.id: unit for unit in study_data.units}
    (way,) = (one for one in _target_ways(units, of.places) if one.id == "by-item")
    groups = np.array(way.groups, dtype=object)
    measures = {one.name: one for one in of.measures}
    options: dict[str, list[str]] = {}
    for place, name in zip(of.places, way.groups, strict=True):
        target = next((one for one in units[place.unit].targets if one.id == place.target), None)
        own = options.setdefault(name, [])
        own += [one for one in (target.options if target is not None else ()) if one not in own and one in measures]
    rows: list[tuple[Cell, ...]] = []
    for name, own in options.items():
        mask = np.asarray(groups == name, dtype=np.bool_)
        n, reasons = (
            int(_answered_mask(of, agreed=agreed, rows=mask).sum()),
            missing_reasons(of, agreed=agreed, rows=mask),
        )
        for option in own:
            number = answer_number(
                study_data, of, measures[option], agreed=agreed, rows=mask, part=name, reasons=reasons
            )
            rows.append((name, option, number, f"{n:,}", missing_words(reasons, n)))
    columns = ("Item", "Answer", "Share", "Items" if agreed else "Answers", "Missing")
    by = f"by item, {'by majority' if agreed else 'every answer'}"
    return Table(f"answers-{of.field.id}-by-item", f"{of.field.id}: {by}", columns, tuple(rows),
                 notes=tuple(no_interval_notes(rows)))  # fmt: skip


# -- pairs -----------------------------------------------------------------------------------------------------


def _preferences(study_data: StudyData, of: FieldValues) -> Table | None:
    """Return how often each side is preferred, by the pair's methods, or None if no pair has known methods."""
    units = {unit.id: unit for unit in study_data.units}
    pairs = [methods_of(units[place.unit]) for place in of.places]
    agreed = has_majority(study_data, of)
    codes = {name: at for at, name in enumerate(option.id for option in of.field.options if not option.by_rule)}
    others = [name for name in codes if name not in ("A", "B")]
    rows = []
    for pair in sorted({pair for pair in pairs if pair != ("A", "B")}):
        mask = np.array([one == pair for one in pairs], dtype=np.bool_)
        own = _by_winner(of, [units[place.unit] for place in of.places], pair, codes, others)
        rows.append(_row(study_data, own, f"{pair[0]} against {pair[1]}", agreed=agreed, rows=mask))
    if not rows:
        return None
    columns = ("First against second", "First", "Second", *others, "Pairs" if agreed else "Answers", "Missing")
    by = "which is preferred" + (", by majority" if agreed else "")
    return Table(f"answers-{of.field.id}-preference", f"{of.field.id}: {by}", columns, tuple(rows),
                 notes=tuple(no_interval_notes(rows)))  # fmt: skip


def _by_winner(
    of: FieldValues, units: Sequence[Unit], pair: tuple[str, str], codes: Mapping[str, int], others: Sequence[str]
) -> FieldValues:
    """Return the same answers with sides in the order of a pair's names."""
    side_a, side_b = (of.measures[codes[side]] for side in ("A", "B"))
    # True if side A belongs to the second name of the pair.
    turned = np.array([pair[0] != pair[1] and winner(unit, "A") == pair[1] for unit in units], dtype=np.bool_)

    def preferred_side(name: str, one: AnswerMeasure, other: AnswerMeasure) -> AnswerMeasure:
        return AnswerMeasure(
            f"{name} preferred", "share", np.where(turned[:, None], other.values, one.values),
            np.where(turned, other.agreed, one.agreed),
        )  # fmt: skip

    measures = (
        preferred_side("first", side_a, side_b),
        preferred_side("second", side_b, side_a),
        *(of.measures[codes[o]] for o in others),
    )
    return of._replace(measures=measures)


def _side_tables(study_data: StudyData) -> list[Table]:
    """Return the tables of side bias, unless the protocol is a paper's, whose own tables have it."""
    fields = [field for field in study_data.study.protocol.fields if field.sided]
    if not fields or study_data.study.protocol.id in PAPERS:
        return []
    return [replace(table, id=f"answers-sides-{at}") for at, table in enumerate(sides(study_data, fields).tables, 1)]


# -- texts -----------------------------------------------------------------------------------------------------


def _text_tables(study_data: StudyData, field: Field) -> Iterator[Table]:
    """Yield the counts and lengths of texts, then the texts themselves without authors."""
    answers = [one for one in answers_in(study_data, field.id) if one.value is not None]
    if not answers:
        return
    if field.kind != "text":
        rows: list[tuple[Cell, ...]] = [("boxes", f"{len(answers):,}")]
        yield Table(f"answers-{field.id}", f"{field.id}: {field.ask}", ("", EVERY), tuple(rows))
        return
    texts = sorted({(str(one.value), _condition_of_play(study_data, one)) for one in answers}, key=_draw_key)
    lengths = [len(str(one.value)) for one in answers]
    rows = [
        ("texts", f"{len(answers):,}"),
        ("different", f"{len({' '.join(str(one.value).split()) for one in answers}):,}"),
        ("characters, median", format_number(median(lengths), 0)),
        ("raters", f"{len({one.rater for one in answers}):,}"),
    ]
    yield Table(f"answers-{field.id}", f"{field.id}: {field.ask}", ("", EVERY), tuple(rows))
    yield _quote_table(field, texts[:MOST_QUOTED], len(texts))


def _condition_of_play(study_data: StudyData, one: FieldAnswer) -> str:
    """Return the condition of the play that a text is about, empty if there is none."""
    plays: dict[str, str] = study_data.cached(
        "conditions", lambda: {unit.id: unit.play.condition for unit in study_data.units if unit.play is not None}
    )
    return plays.get(one.unit, "")


def _draw_key(text: tuple[str, str]) -> str:
    """Return a sort key that reveals neither a text's author nor its time."""
    return hashlib.sha256("\x1f".join(text).encode("utf-8", "surrogatepass")).hexdigest()


def _quote_table(field: Field, texts: Sequence[tuple[str, str]], of: int) -> Table:
    with_condition = any(condition for _, condition in texts)
    rows = tuple(
        (f"{at}", shortened(text), *([condition] if with_condition else []))
        for at, (text, condition) in enumerate(texts, 1)
    )
    notes = ["Without who wrote them, in an order that does not tell it; the same text stands once."]
    if of > len(texts):
        notes.append(f"{len(texts):,} of {of:,}, drawn by their content; `hitlab labels list` tells all.")
    columns = ("", "Text", *(["Condition"] if with_condition else []))
    return Table(f"answers-{field.id}-quoted", f"{field.id}: in people's words", columns, rows, notes=tuple(notes))


def shortened(text: str) -> str:
    """Return a text, or its beginning with its length."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text):,} characters)"


# -- pictures --------------------------------------------------------------------------------------------------


def _bars(study_data: StudyData, field: Field) -> list[Picture]:
    """Return bars of a question's option shares with intervals."""
    of = field_values(study_data, field)
    if of is None or len(of.shares) < 2 or not of.is_given.any():
        return []
    agreed = has_majority(study_data, of)
    bars = tuple(number.agreement for number in _numbers(study_data, of, agreed=agreed)[: len(of.shares)])
    title = f"{field.id}: share of each option, {'items by majority' if agreed else 'every answer'}"
    return [Bars(f"answers-{field.id}", title, bars, tuple(one.name for one in of.shares))]
