"""From labels to arrays: the ratings of one field, before and after derivation, and what most people say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from annotators.agreement.derivations import NOTHING_FOLLOWS, Name, after, values_of
from annotators.agreement.ratings import Floats, Numbers, Place, Ratings
from annotators.agreement.said import (
    NOT_HANDED_IN,
    NOT_RATED,
    Ints,
    Laid,
    Mask,
    Said,
    field_named,
    said_of,
    sheets_of,
    units_laid,
)
from annotators.studied import Studied
from lab.adjudication import Settled
from lab.labels import Spot
from lab.protocol import Field
from lab.wire import encode

Derived = Literal["", "before", "after"]
Codes = npt.NDArray[np.int16]

FLAG = ("no", "yes")
"""What a flag that is not raised, and one that is, are called."""
TRUTH = "truth"
"""The rater that most people, or who settled it, are together."""


def ratings_of(
    studied: Studied, field: str, raters: Sequence[int] | None = None, *, kind: str = "", derived: Derived = "",
    run: int = 1,
) -> Ratings:  # fmt: skip
    """What raters (indices of the columns'; default: the people) said in a nominal, ordinal or flag field.

    A flag that was not raised on a sheet that is handed in is `no`. `kind` keeps targets of that kind alone (fixed,
    flexible); `derived` `after` applies paths and the dependency rule, for tdg. Pilot units never count, nor does what
    a rule answered. Of people those who answered nothing are no columns; what they were to answer is among `reasons`.
    Places are those at which anybody answered.
    """
    who = tuple(studied.people if raters is None else raters)
    key = ("ratings", field, who, raters is None, kind, derived == "after", run)
    found: Ratings = studied.once(
        key, lambda: _ratings(studied, field_named(studied, field), who, kind, derived, run, raters is None)
    )
    return found._replace(derived=derived)


def _ratings(
    studied: Studied, field: Field, raters: tuple[int, ...], kind: str, derived: Derived, run: int, people: bool
) -> Ratings:
    said = said_of(studied, field, raters, run)
    codes, why = codes_of(studied, field, said), said.why
    names = said.reasons
    if derived == "after":
        codes, why, names = after(studied, field, raters, run, codes, said)
    kept = (codes >= 0).any(axis=1) & _of_kind(said.laid, kind)
    reasons = _counted(why[_of_kind(said.laid, kind)], names)
    column: Mask = np.asarray((codes >= 0).any(axis=0)) if people else np.ones(len(raters), dtype=np.bool_)
    trace, traces = _clusters(said.laid, kept)
    return Ratings(
        field.id, categories_of(studied, field), codes[kept][:, column],
        tuple(studied.columns.raters[one].id for one, here in zip(raters, column, strict=True) if here),
        trace, traces, _picked(said.laid.places, kept), scores_of(field), reasons,
    )  # fmt: skip


def numbers_of(studied: Studied, field: str, raters: Sequence[int] | None = None, *, run: int = 1) -> Numbers:
    """What raters said in an interval or step field, or in an ordinal one whose options are numbers."""
    who = tuple(studied.people if raters is None else raters)
    key = ("numbers", field, who, raters is None, run)
    found: Numbers = studied.once(key, lambda: _numbers(studied, field_named(studied, field), who, run, raters is None))
    return found


def _numbers(studied: Studied, field: Field, raters: tuple[int, ...], run: int, people: bool) -> Numbers:
    said = said_of(studied, field, raters, run)
    scores = scores_of(field)
    if scores is not None:
        of = np.array([*scores, np.nan])
        values = of[codes_of(studied, field, said)]
    else:
        values = np.array([*map(_number, studied.columns.values), np.nan, np.nan])[said.value]
    return numbers_at(studied, field.id, values, said.laid, raters, _counted(said.why, said.reasons), people=people)


def numbers_at(
    studied: Studied, name: str, values: Floats, laid: Laid, raters: Sequence[int], reasons: dict[str, int], *,
    people: bool,
) -> Numbers:  # fmt: skip
    """Numbers at a field's places, without those at which nobody said one; of `people` only those who said any."""
    kept: Mask = np.asarray(~np.isnan(values).all(axis=1))
    column: Mask = np.asarray(~np.isnan(values).all(axis=0)) if people else np.ones(len(raters), dtype=np.bool_)
    trace, traces = _clusters(laid, kept)
    names = tuple(studied.columns.raters[one].id for one, here in zip(raters, column, strict=True) if here)
    return Numbers(name, values[kept][:, column], names, trace, traces, _picked(laid.places, kept), reasons)


def derived_numbers(studied: Studied, name: Name, raters: Sequence[int] | None = None, *, run: int = 1) -> Numbers:
    """What follows from each rater's sheet of a unit: `apr` and `ppr`, `irr`, a rubric's `score`, right `decisions`."""
    who = tuple(studied.people if raters is None else raters)
    key = ("derived", name, who, raters is None, run)
    found: Numbers = studied.once(key, lambda: _derived(studied, name, who, run, raters is None))
    return found


def _derived(studied: Studied, name: Name, raters: tuple[int, ...], run: int, people: bool) -> Numbers:
    laid = units_laid(studied)
    at = {unit: i for i, unit in enumerate(laid.unit.tolist())}
    column = {rater: i for i, rater in enumerate(raters)}
    values = np.full((len(laid.places), len(raters)), np.nan)
    nothing = 0
    for (unit, rater), value in values_of(studied, name, raters, run).items():
        if value is None:
            nothing += 1
        else:
            values[at[unit], column[rater]] = value
    expected, handed = sheets_of(studied, raters, run)
    judge = np.array([one in studied.judges for one in raters], dtype=np.bool_)
    open_ones = (expected & ~handed)[laid.unit]
    counts = {
        NOT_HANDED_IN: int(open_ones[:, ~judge].sum()), NOT_RATED: int(open_ones[:, judge].sum()),
        NOTHING_FOLLOWS: nothing,
    }  # fmt: skip
    reasons = {reason: count for reason, count in sorted(counts.items()) if count}
    return numbers_at(studied, name, values, laid, raters, reasons, people=people)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")


def categories_of(studied: Studied, field: Field) -> tuple[str, ...]:
    """A field's answers in declared order; of a branch's all that any of its targets has, in their order.

    What a rule alone gives is none of them: nobody can choose it.
    """
    if field.kind == "flag":
        return FLAG
    if field.options:
        return tuple(option.id for option in field.options if not option.by_rule)
    found: tuple[str, ...] = studied.once(
        ("categories", field.id),
        lambda: tuple(dict.fromkeys(way for unit in studied.units for one in unit.targets for way in one.options)),
    )
    return found


def scores_of(field: Field) -> tuple[float, ...] | None:
    """The numbers that an ordinal field's options are; None where they are none."""
    if field.kind != "ordinal":
        return None
    try:
        return tuple(float(option.id) for option in field.options if not option.by_rule)
    except ValueError:
        return None


def codes_of(studied: Studied, field: Field, said: Said) -> Codes:
    """Answers as places in the list of categories."""
    known = {name: i for i, name in enumerate(categories_of(studied, field))}
    if field.kind == "flag":
        of = [int(value) if isinstance(value, bool) else -1 for value in studied.columns.values]
    else:
        of = [known.get(value, -1) if isinstance(value, str) else -1 for value in studied.columns.values]
    return np.array([*of, 0, -1], dtype=np.int16)[said.value]


def _of_kind(laid: Laid, kind: str) -> Mask:
    if not kind:
        return np.ones(len(laid.places), dtype=np.bool_)
    return np.fromiter((one == kind for one in laid.kinds), dtype=np.bool_, count=len(laid.kinds))


def reasons_of(said: Said) -> dict[str, int]:
    """How often an answer was to be given and was not, by why."""
    return _counted(said.why, said.reasons)


def _counted(why: Ints, names: Sequence[str]) -> dict[str, int]:
    counts = np.bincount(why[why >= 0], minlength=len(names))
    return {name: int(count) for name, count in sorted(zip(names, counts, strict=True)) if count}


def _clusters(laid: Laid, kept: Mask) -> tuple[Ints, tuple[str, ...]]:
    """The clusters of these places, without those that have none."""
    there = np.unique(laid.trace[kept])
    new = np.zeros(len(laid.traces), dtype=np.int32)
    new[there] = np.arange(len(there), dtype=np.int32)
    return new[laid.trace[kept]], tuple(laid.traces[at] for at in there)


def _picked(places: tuple[Place, ...], kept: Mask) -> tuple[Place, ...]:
    return places if kept.all() else tuple(places[at] for at in np.flatnonzero(kept))


# -- the truth -------------------------------------------------------------------------------------------------


def truth_of(studied: Studied, ratings: Ratings) -> Ratings:
    """One column, `truth`, over the same places: what was adjudicated, else what more than half of the people said.

    The people are those whose ratings these are, or all where they are a judge's. -1 where neither is so, and where
    reasons for having no answer outweigh. After derivation what most people's paths pass by stays -1, whatever was
    adjudicated there.
    """
    people = {studied.columns.raters[one].id: one for one in studied.people}
    whose = [people[name] for name in ratings.raters if name in people]
    if len(whose) != len(ratings.raters) or not whose:
        whose = list(studied.people)
    field = field_named(studied, ratings.field)
    said = said_of(studied, field, tuple(whose), 1)
    codes, gave = codes_of(studied, field, said), said.gave
    passed = np.zeros(len(codes), dtype=np.bool_)
    if ratings.derived == "after":
        codes, why, names = after(studied, field, tuple(whose), 1, codes, said)
        gave = gave | ((why >= 0) & (said.value >= 0))
        if "not_applicable" in names:
            beside_path = (why == names.index("not_applicable")).sum(axis=1)
            passed = np.asarray(2 * beside_path > (codes >= 0).sum(axis=1) + gave.sum(axis=1))
    at = _places_in(studied, field, said.laid, ratings.places)
    most = _majority(codes[at], gave[at].sum(axis=1), len(ratings.categories))
    _settle(studied, field, ratings, most, passed[at])
    reasons = {"no_majority": int((most < 0).sum())} if (most < 0).any() else {}
    return ratings._replace(codes=most[:, None], raters=(TRUTH,), reasons=reasons)


def _majority(codes: Codes, others: npt.NDArray[Any], q: int) -> Codes:
    """What more than half of those said who said anything, `others` reasons among it; -1 where nothing is."""
    out = np.full(len(codes), -1, dtype=np.int16)
    voices = (codes >= 0).sum(axis=1) + others
    for code in range(q):
        out[2 * (codes == code).sum(axis=1) > voices] = code
    return out


def _settle(studied: Studied, field: Field, ratings: Ratings, most: Codes, passed: Mask) -> None:
    """Puts what was adjudicated in the place of what most say; not where most people's paths pass a node by."""
    if not studied.settled:
        return
    known = {name: i for i, name in enumerate(ratings.categories)}
    for at, place in enumerate(ratings.places):
        settled = studied.settled.get((place.unit, Spot(place.target, field.id)))
        if settled is not None and not passed[at]:
            most[at] = known.get(_said_by(field, settled), -1)


def _said_by(field: Field, settled: Settled) -> str:
    value = settled.what.value
    if field.kind == "flag" and isinstance(value, bool):
        return FLAG[value]
    return value if isinstance(value, str) else ""


def _places_in(studied: Studied, field: Field, laid: Laid, places: tuple[Place, ...]) -> Ints:
    """Which of a field's places these are."""
    if places is laid.places:
        return np.arange(len(places), dtype=np.int32)
    known: dict[Place, int] = studied.once(("at", field.id), lambda: {place: i for i, place in enumerate(laid.places)})
    return np.fromiter((known[place] for place in places), dtype=np.int32, count=len(places))


# -- beside one another ----------------------------------------------------------------------------------------


def beside(one: Ratings, other: Ratings) -> Ratings:
    """Both's columns over the places of the first; the `reasons` are those of both."""
    if one.categories != other.categories:
        raise ValueError(f"{one.field} and {other.field} have different answers")
    codes = np.full((len(one.places), other.codes.shape[1]), -1, dtype=np.int16)
    if one.places is other.places or one.places == other.places:
        codes[:] = other.codes
    else:
        known = {place: i for i, place in enumerate(other.places)}
        at = np.fromiter((known.get(place, -1) for place in one.places), dtype=np.int64, count=len(one.places))
        codes[at >= 0] = other.codes[at[at >= 0]]
    reasons = {name: one.reasons.get(name, 0) + other.reasons.get(name, 0) for name in {*one.reasons, *other.reasons}}
    return one._replace(
        codes=np.hstack([one.codes, codes]), raters=(*one.raters, *other.raters), reasons=dict(sorted(reasons.items()))
    )


def numbers_beside(one: Numbers, other: Numbers) -> Numbers:
    """The same of numbers."""
    known = {place: i for i, place in enumerate(other.places)}
    at = np.fromiter((known.get(place, -1) for place in one.places), dtype=np.int64, count=len(one.places))
    values = np.full((len(one.places), other.values.shape[1]), np.nan)
    values[at >= 0] = other.values[at[at >= 0]]
    reasons = {name: one.reasons.get(name, 0) + other.reasons.get(name, 0) for name in {*one.reasons, *other.reasons}}
    return one._replace(
        values=np.hstack([one.values, values]), raters=(*one.raters, *other.raters),
        reasons=dict(sorted(reasons.items())),
    )  # fmt: skip


def text_key(value: Any) -> bytes:
    """An answer as one compares it: texts but for case and spaces."""
    return encode(" ".join(value.casefold().split()) if isinstance(value, str) else value)
