"""Each judge against what most people say, and judges against one another."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from annotators.agreement import coefficients, numbers
from annotators.agreement.fields import beside, numbers_beside, numbers_of, ratings_of, scores_of, truth_of
from annotators.agreement.judging import Judged, judged
from annotators.agreement.made import AGAINST, MEAN, MINUS, MOST, Counted, Maker, counted, masked
from annotators.agreement.parts import Part, parts_of
from annotators.agreement.ratings import Numbers, Ratings
from annotators.agreement.said import NOT_RATED, said_of
from annotators.studied import Studied
from lab.agreement import Agreement
from lab.protocol import Field

NAMED: tuple[tuple[Judged, str], ...] = (
    ("accuracy", "accuracy"), ("precision", "precision"), ("recall", "recall"), ("f1", "f1"), ("kappa", "cohen kappa"),
)  # fmt: skip


def agreements_of_judges(studied: Studied, field: Field) -> list[Agreement]:
    """A field's agreement of each judge's first run with the people's truth, then of each two judges' difference."""
    found: list[Agreement] = []
    if not studied.people or field.kind in ("text", "step", "box"):
        return found
    if field.kind in ("nominal", "ordinal", "flag"):
        for part in parts_of(studied, field):
            found += _against_most(studied, field, part)
    if field.kind == "interval" or scores_of(field):
        for judge in studied.judges:
            found += _against_mean(studied, field, judge)
    return found


def _against_most(studied: Studied, field: Field, part: Part) -> list[Agreement]:
    truth = truth_of(studied, ratings_of(studied, field.id, kind=part.kind, derived=part.derived))
    found: list[Agreement] = []
    pairs: dict[str, Ratings] = {}
    for judge in studied.judges:
        said = ratings_of(studied, field.id, [judge], kind=part.kind, derived=part.derived)
        if not len(said.places):
            continue  # it never answers this
        two = judge_beside(studied, field, truth, judge, part)
        name = studied.columns.raters[judge].id
        pairs[name] = two
        found += _judged(Maker(studied, field.id, _n(two), part.name, f"{name}{AGAINST}{MOST}"), two)
    for one, other in combinations(sorted(pairs), 2):
        found += _apart(studied, field, part, one, other, pairs)
    return found


def judge_beside(studied: Studied, field: Field, truth: Ratings, judge: int, part: Part) -> Ratings:
    """Truth and judge, over the places that have a truth; `reasons` are the judge's for having no answer there."""
    said = ratings_of(studied, field.id, [judge], kind=part.kind, derived=part.derived)
    two = beside(truth._replace(reasons={}), said._replace(reasons={}))
    two = two._replace(codes=masked(two.codes, np.asarray(truth.codes[:, 0] >= 0)))
    lacking = np.flatnonzero((truth.codes[:, 0] >= 0) & (two.codes[:, 1] < 0))
    if not len(lacking):
        return two
    told = said_of(studied, field, (judge,), 1)
    at = {place: row for row, place in enumerate(told.laid.places)}
    reasons: dict[str, int] = {}
    for row in lacking.tolist():
        place = at[two.places[row]]
        why = int(told.why[place, 0])
        reason = told.reasons[why] if why >= 0 else "not_applicable" if told.value[place, 0] >= 0 else NOT_RATED
        reasons[reason] = reasons.get(reason, 0) + 1
    return two._replace(reasons=dict(sorted(reasons.items())))


def _n(two: Ratings) -> Counted:
    """The places at which both stand; missing is what the judge left out."""
    n, lacking = counted(two), sum(two.reasons.values())
    return n._replace(missing=lacking / (n.places + lacking) if n.places + lacking else 0.0)


def _judged(maker: Maker, two: Ratings) -> list[Agreement]:
    if not maker.n.places:
        return [maker.undefined("no item has both an answer of most people and the judge's")]
    found = []
    for what, name in NAMED:
        positives = [""] if what in ("accuracy", "kappa") else _positives(two.categories)
        for positive in positives:
            said = f"{name} of {positive}" if positive and len(two.categories) > 2 else name
            found.append(maker.of(said, judged(two, what, positive or two.categories[0])))
    found.append(maker.of("ac1", coefficients.gwet_ac(both_said(two))))
    return found


def both_said(two: Ratings) -> Ratings:
    """Two columns where both say something: no margin is taken of what only one of them says."""
    return two._replace(codes=masked(two.codes, np.asarray((two.codes >= 0).all(axis=1))))


def _positives(categories: tuple[str, ...]) -> list[str]:
    """The categories that precision, recall and F1 are about: of two the first (of a flag `yes`), else each."""
    if categories == ("no", "yes"):
        return ["yes"]
    return list(categories[:1] if len(categories) == 2 else categories)


def _apart(
    studied: Studied, field: Field, part: Part, one: str, other: str, pairs: dict[str, Ratings]
) -> list[Agreement]:
    """Accuracy and kappa of one judge minus another's, paired over traces, at places that both judged."""
    a, b = pairs[one], pairs[other]
    rows = (a.codes >= 0).all(axis=1) & (b.codes >= 0).all(axis=1)
    a, b = (two._replace(codes=masked(two.codes, np.asarray(rows)), reasons={}) for two in (a, b))
    maker = Maker(studied, field.id, counted(a), part.name, f"{one}{MINUS}{other}")
    if not maker.n.places:
        return [maker.undefined("no item was judged by both")]
    first = _positives(a.categories)[0]
    wanted: list[tuple[Judged, str]] = [("accuracy", "accuracy"), ("kappa", "cohen kappa")]
    if len(a.categories) == 2:
        wanted.append(("f1", "f1"))
    return [maker.apart(name, judged(a, what, first), judged(b, what, first)) for what, name in wanted]


def _against_mean(studied: Studied, field: Field, judge: int) -> list[Agreement]:
    people, said = numbers_of(studied, field.id), numbers_of(studied, field.id, [judge])
    if not len(said.places) or not len(people.places):
        return []
    two = numbers_beside(mean_of(people), said._replace(reasons={}))
    maker = Maker(studied, field.id, counted(two), between=f"{said.raters[0]}{AGAINST}{MEAN}")
    if not maker.n.places:
        return [maker.undefined("no item has both people's answers and the judge's")]
    return maker.all(
        [
            ("mae", lambda: numbers.mae(two)),
            ("mse", lambda: numbers.mse(two)),
            ("pearson", lambda: numbers.pearson(two)),
            ("spearman", lambda: numbers.spearman(two)),
        ]
    )


def mean_of(these: Numbers, name: str = "mean") -> Numbers:
    """One column, the mean of all who answered at a place."""
    there = ~np.isnan(these.values)
    total = np.where(there, these.values, 0.0).sum(axis=1)
    means = np.full(len(total), np.nan)
    np.divide(total, there.sum(axis=1), out=means, where=there.any(axis=1))
    return these._replace(values=means[:, None], raters=(name,), reasons={})
