"""The sample: what was asked of whom, and what came back. Units, people, judges, missing answers with reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from annotators.introductions import introduction_lines
from annotators.report.answer_counts import AnswerCounts, answer_counts
from annotators.study_data import StudyData
from lab.core.run.screen_clock import format_duration
from lab.core.study.adjudication import Means
from lab.core.study.protocol import Field
from lab.core.study.rating_sheet import MISSING
from lab.core.study.report import Section, Table
from lab.core.study.study import Study
from lab.core.task.task import Actor
from lab.core.values.rounding import count, format_number

_MEANS_WORDS: Mapping[Means, str] = {
    "majority": "by majority", "discussion": "by discussion", "adjudicator": "by an adjudicator",
}  # fmt: skip


def sections(study_data: StudyData) -> list[Section]:
    """Return the sections of the plan and of the answers."""
    return [_plan(study_data), _answers(study_data)]


def share_words(share: float) -> str:
    """Return a share as a percentage."""
    return f"{format_number(share, 1, 100)} %"


def rater_name(rater: Actor) -> str:
    """Return a rater's name in tables."""
    return rater.id if rater.kind == "human" else f"{rater.id} ({rater.kind})"


def _plan(study_data: StudyData) -> Section:
    study = study_data.study
    main = [unit for unit in study_data.units if not unit.pilot]
    clusters = {unit.clustered for unit in main}
    rows = [
        ("Study", study.name),
        ("Protocol", f"{study.protocol.id}: {study.protocol.title}"),
        ("After", study.protocol.source),
        ("One sheet is about", f"a {study.protocol.unit}"),
        ("Units", f"{len(main):,} in {len(clusters):,} clusters{_pilots(study_data)}"),
        (
            "People",
            ", ".join(rater_name(study_data.columns.raters[i]) for i in study_data.people) or "none has answered",
        ),
        ("Judges", ", ".join(rater_name(study_data.columns.raters[i]) for i in study_data.judges) or "none"),
        *(
            [("Each task is played by", f"{study.overlap} of them, by a person once, under one of the conditions")]
            if study.protocol.unit == "task to play"
            else [("Each unit goes to", _overlap(study_data))]
        ),
        ("Hidden from raters", ", ".join(study.blind) or "nothing"),
        ("Shown to raters", ", ".join(study.visible_parts) or "nothing"),
        *([("Asked silently beside people", ", ".join(study.shadows))] if study.shadows else []),
        *([("Before the first item", _introduction_words(study))] if study.introduction != "none" else []),
        ("Statistics planned", ", ".join(study.statistics) or "none were named"),
    ]
    questions = Table(
        "asked", "What was asked", ("Question", "In words", "Kind", "Answers"),
        tuple((field.id, field.ask, _kind_words(field), _options(field)) for field in study.protocol.fields),
    )  # fmt: skip
    plan = Table("plan", "The plan", ("", "As frozen"), tuple((name, text) for name, text in rows if text))
    return Section("What was asked, and of whom", tables=(plan, questions))


def _introduction_words(study: Study) -> str:
    """Return what a rater sees before their first item."""
    practice = bool(study.practice) or study.protocol.practice is not None
    contents = "guide, keys and one practice item" if practice else "guide and keys"
    return contents + ", which may be passed over" * (study.introduction == "skippable")


def _pilots(study_data: StudyData) -> str:
    pilots = sum(unit.pilot and not unit.practice for unit in study_data.units)
    words = f", and {pilots:,} for calibration, which count in no number here" if pilots else ""
    return words + ", and one to practise on, which counts in none" * bool(study_data.study.practice)


def _overlap(study_data: StudyData) -> str:
    study = study_data.study
    raters = f"{study.overlap} raters" if study.overlap != 1 else "one rater"
    if study.shared < 1:
        raters += f" ({share_words(study.shared)} of units; the others to one)"
    if study.repeats:
        raters += f"; {share_words(study.repeats)} once more to the same rater"
    return raters


def _kind_words(field: Field) -> str:
    return f"{field.kind}, {'of each item' if field.per == 'target' else 'of the whole'}"


def _options(field: Field) -> str:
    if field.options:
        return ", ".join(option.id for option in field.options)
    if field.kind == "flag":
        return "no, yes"
    if field.least is not None or field.most is not None:
        ends = [f"{end:g}" for end in (field.least, field.most) if end is not None]
        return " to ".join(ends) + (f" in steps of {field.step:g}" if field.step else "")
    return ""


# -- what came -------------------------------------------------------------------------------------------------


def _answers(study_data: StudyData) -> Section:
    counts = answer_counts(study_data)
    says = []
    if not counts.answers.sum() and not counts.without.sum():
        says.append("Nobody has handed anything in yet: there is nothing to count.")
    if study_data.columns.open:
        says.append(f"Answers on sheets that are not handed in, left out: {study_data.columns.open:,}.")
    if study_data.columns.clashes:
        says.append(
            f"Places with two last words after a merge, left out until settled: {study_data.columns.clashes:,}."
        )
    if study_data.settled:
        means = Counter(one.what.by_means for one in study_data.settled.values())
        by_means = ", ".join(f"{means[id]:,} {words}" for id, words in _MEANS_WORDS.items() if means[id])
        says.append(f"Places settled: {by_means}.")
    tables = (_by_rater(study_data, counts), _by_field(study_data, counts), *_introductions(study_data))
    return Section("What came back", tuple(says), tables)


def _introductions(study_data: StudyData) -> list[Table]:
    """Return the table of introductions and results of practice, empty if nobody had one."""
    lines = introduction_lines(study_data.acts)
    if not lines:
        return []
    rows = [
        (
            one.rater,
            one.guide[:10] or "—",
            f"{one.right:,} of {one.places:,}" if one.practice else "skipped" if one.skipped else "—",
            "—" if one.seconds is None else format_duration(one.seconds),
        )
        for one in lines
    ]
    passed_count = sum(one.passed for one in lines)
    notes = (f"Practice counts in no number here. All of it right: {passed_count:,} of {count(len(lines), 'rater')}.",)
    columns = ("Rater", "Guide shown", "Practice right", "Took")
    return [Table("introductions", "Before the first item", columns, tuple(rows), notes=notes)]


def _by_rater(study_data: StudyData, counts: AnswerCounts) -> Table:
    rows = []
    for at in (*study_data.people, *study_data.judges):
        sheet_count, handed_count = int(counts.dealt[at]), int(counts.handed[at])
        rows.append(
            (
                rater_name(study_data.columns.raters[at]),
                f"{sheet_count:,}" if sheet_count else "—",
                f"{handed_count:,}" if sheet_count else "—",
                f"{int(counts.answers[at].sum()):,}",
                f"{int(counts.without[at].sum()):,}",
                why_words(study_data, counts.reasons[at].sum(axis=0)),
            )
        )
    columns = ("Rater", "Sheets dealt", "Handed in", "Answers", "Without", "Why")
    notes = ("Sheets of judges are dealt to nobody. Without: a reason stands in place of an answer.",)
    return Table("raters", "Answers by rater", columns, tuple(rows), notes=notes)


def _by_field(study_data: StudyData, counts: AnswerCounts) -> Table:
    rows = []
    people = list(study_data.people)
    for at, field in enumerate(study_data.study.protocol.fields):
        answer_count, without = (int(one[people, at].sum()) for one in (counts.answers, counts.without))
        missing = share_words(without / (answer_count + without)) if answer_count + without else "—"
        rows.append(
            (
                field.id,
                f"{answer_count:,}",
                f"{without:,}",
                missing,
                why_words(study_data, counts.reasons[people, at].sum(axis=0)),
            )
        )
    columns = ("Question", "Answers", "Without", "Missing", "Why")
    return Table("answers", "Answers by question, people alone", columns, tuple(rows))


def why_words(study_data: StudyData, counts: Iterable[int] | np.ndarray) -> str:
    """Return reasons with their counts."""
    count_by_reason: dict[str, int] = {}
    for reason, many in zip(study_data.columns.reasons, counts, strict=True):
        count_by_reason[reason] = count_by_reason.get(reason, 0) + int(many)
    return ", ".join(f"{reason_words(reason)} {many:,}" for reason, many in sorted(count_by_reason.items()) if many)


def reason_words(reason: str) -> str:
    """Return the words of a reason for a missing answer."""
    words: dict[str, str] = dict(MISSING)  # type: ignore[arg-type]
    return words.get(reason, reason.replace("_", " "))
