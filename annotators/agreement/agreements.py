"""Which statistics a study's fields get: people among themselves, with themselves, and each judge against them."""

from __future__ import annotations

import numpy as np

from annotators.agreement.again import agreements_again
from annotators.agreement.alike import coded
from annotators.agreement.derivations import NAMES, Name
from annotators.agreement.fields import (
    derived_numbers,
    numbers_at,
    numbers_of,
    ratings_of,
    reasons_of,
    scores_of,
)
from annotators.agreement.judges import agreements_of_judges
from annotators.agreement.kinds import of_categories, of_numbers, of_others, why_not
from annotators.agreement.made import Maker, counted
from annotators.agreement.pairs import by_pairs, confusion, disagreeing
from annotators.agreement.parts import Part, derives, parts_of
from annotators.agreement.planning import runs_wanted
from annotators.agreement.ratings import Numbers, Ratings
from annotators.agreement.said import said_of, sheets_of, units_laid
from annotators.studied import Studied
from lab.agreement import Agreement
from lab.protocol import Field

__all__ = ["agreements", "by_pairs", "confusion", "disagreeing", "runs_wanted"]


def agreements(studied: Studied) -> list[Agreement]:
    """Everything that follows from the fields' kinds: people among themselves, each judge against most people."""
    found: list[Agreement] = []
    for field in studied.study.protocol.fields:
        found += _of_people(studied, field)
        found += agreements_again(studied, field)
        found += agreements_of_judges(studied, field)
    for name in _following(studied):
        found += _in_numbers(studied, derived_numbers(studied, name))
    return found


def _following(studied: Studied) -> tuple[Name, ...]:
    """What follows from this study's sheets; of nodes nothing where no question asks whether they were completed."""
    protocol = studied.study.protocol
    if protocol.targets == "tdg nodes" and not any(derives(studied, field) for field in protocol.fields):
        return ()
    return NAMES.get(protocol.targets, ())


def _of_people(studied: Studied, field: Field) -> list[Agreement]:
    if field.kind in ("nominal", "ordinal", "flag"):
        found = [one for part in parts_of(studied, field) for one in _in_categories(studied, field, part)]
        return found + (_in_numbers(studied, numbers_of(studied, field.id)) if scores_of(field) else [])
    if field.kind == "interval":
        return _in_numbers(studied, numbers_of(studied, field.id))
    return _otherwise(studied, field)


def _in_categories(studied: Studied, field: Field, part: Part) -> list[Agreement]:
    ratings = ratings_of(studied, field.id, kind=part.kind, derived=part.derived)
    maker = Maker(studied, field.id, counted(ratings), part.name)
    if why := why_not(ratings.codes >= 0, ratings.raters):
        return [maker.undefined(why)]
    return maker.all(of_categories(studied, field, ratings, of_each(studied, ratings)))


def _in_numbers(studied: Studied, these: Numbers) -> list[Agreement]:
    maker = Maker(studied, these.field, counted(these))
    if why := why_not(~np.isnan(these.values), these.raters, these.reasons):
        return [maker.undefined(why)]
    return maker.all(of_numbers(studied, these, of_each(studied, these)))


def _otherwise(studied: Studied, field: Field) -> list[Agreement]:
    said = said_of(studied, field, studied.people, 1)
    if field.kind == "step":
        these = numbers_of(studied, field.id)
    else:
        values, reasons = coded(studied, field, said.value), reasons_of(said)
        these = numbers_at(studied, field.id, values, said.laid, studied.people, reasons, people=True)
    maker = Maker(studied, field.id, counted(these))
    if why := why_not(~np.isnan(these.values), these.raters):
        return [maker.undefined(why)]
    return maker.all(of_others(studied, field, these))


def of_each(studied: Studied, of: Ratings | Numbers) -> int | None:
    """How many of these people each unit was dealt to, of those dealt to several; None where that differs.

    Calibration units, which may go to everybody, do not count.
    """
    known = {studied.columns.raters[at].id: at for at in studied.people}
    expected, _ = sheets_of(studied, [known[name] for name in of.raters], 1)
    counts = set(expected[units_laid(studied).unit].sum(axis=1).tolist()) - {0, 1}
    return counts.pop() if len(counts) == 1 else None
