"""Planned statistics that are missing from a report, with reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from annotators.agreement.evidence import EVIDENCE
from annotators.agreement.intervals.estimates import AGAIN, MINUS, RUNS
from annotators.agreement.option_sets import truth_of_sets
from annotators.agreement.ratings.fields import ratings_of, truth_of
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement
from lab.core.study.report import Bars, Number, Section

_CHOSEN = ("nominal", "ordinal", "flag")

_TESTS_BY_NAME: Mapping[str, Callable[[Agreement], bool]] = {
    "consistency": lambda one: one.between.endswith(RUNS) or one.statistic.endswith(" of pairs"),
    "intra-rater": lambda one: AGAIN in (one.between, one.part),
    "wilson": lambda one: one.interval == "wilson",
    "paired bootstrap": lambda one: (
        (one.interval == "bootstrap" or one.value is None) and (MINUS in one.between or "diff" in one.statistic)
    ),
    "share in band": lambda one: one.statistic.startswith("within ") and one.part != EVIDENCE,
    "spearman": lambda one: "spearman" in one.statistic.lower(),
    "side bias": lambda one: one.statistic == "share of left",
    "similarity": lambda one: one.statistic.startswith(("Sim", "Levenshtein")),
    "causes": lambda one: one.field == "cause",
}
"""Tests for numbers that fulfil a planned name, if it is not a statistic's own name."""

_DEFAULT_REASONS: Mapping[str, str] = {
    "consistency": "nobody and no judge gave the same thing more than once",
    "intra-rater": "no person rated anything twice",
    "causes": "no study of causes stands beside it: --extra-study",
    "paired bootstrap": "no difference is over resamples; --bootstrap draws them",
    **dict.fromkeys(("accuracy", "precision", "recall", "f1"), "no judge or model rated"),
    "majority": "at no place do more than half of the people say the same",
}
"""Default reasons why such a number is missing."""


def with_missing_statistics(study_data: StudyData, sections: Sequence[Section]) -> list[Section]:
    """Return the sections, with a sentence in the first about the planned statistics that none of them holds."""
    lacking = [
        f"{name} ({why})" for name in study_data.study.statistics if (why := _why_not(study_data, name, sections))
    ]
    if not lacking or not sections:
        return list(sections)
    sentence = f"Planned, and not to be had from these answers: {'; '.join(lacking)}."
    return [replace(sections[0], says=(*sections[0].says, sentence)), *sections[1:]]


def _why_not(study_data: StudyData, name: str, sections: Iterable[Section]) -> str:
    """Return why a planned statistic is missing, empty if it exists."""
    if name == "majority":
        return "" if _any_majority(study_data) else _DEFAULT_REASONS[name]
    matches = [one for one in _numbers(sections) if _fulfils(name, one)]
    if any(one.value is not None for one in matches):
        return ""
    # Reasons of numbers with answers are more informative than those of empty ones.
    of_any = [one for one in matches if one.places] or matches
    return "; ".join(dict.fromkeys(one.undefined for one in of_any)) or _DEFAULT_REASONS.get(
        name, "nothing to take it from"
    )


def _fulfils(name: str, one: Agreement) -> bool:
    otherwise = _TESTS_BY_NAME.get(name)
    if otherwise is not None:
        return otherwise(one)
    return one.statistic.partition(" of ")[0].strip().lower() == name.lower()


def _any_majority(study_data: StudyData) -> bool:
    fields = [field.id for field in study_data.study.protocol.fields if field.kind in _CHOSEN]
    sets = [field for field in study_data.study.protocol.fields if field.kind == "many"]
    if any(truth_of_sets(study_data, field).numbers.is_given.any() for field in sets):
        return True
    return any(bool((truth_of(study_data, ratings_of(study_data, field)).codes >= 0).any()) for field in fields)


def _numbers(sections: Iterable[Section]) -> Iterator[Agreement]:
    for section in sections:
        for table in section.tables:
            yield from (cell.agreement for row in table.rows for cell in row if isinstance(cell, Number))
        for picture in section.pictures:
            if isinstance(picture, Bars):
                yield from picture.bars
