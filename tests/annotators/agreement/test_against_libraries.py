"""Random complete tables, and as many with holes, against statsmodels, krippendorff and scikit-learn.

100 of each, in a soak 4,000.
"""

from __future__ import annotations

import warnings

import krippendorff
import numpy as np
import pytest

from annotators.agreement.coefficients.categorical import (
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    light_kappa,
    linear,
    percent,
    quadratic,
)
from annotators.agreement.coefficients.judge_accuracy import judge_statistic
from annotators.agreement.coefficients.numbers import alpha_numbers, pearson, spearman
from annotators.agreement.intervals.linearised import cohen_error
from annotators.agreement.ratings.ratings import Ratings
from tests.annotators.agreement.rated import drawn, drawn_numbers, value
from tests.crossed import IN_SOAK, crossed
from tests.fuzzing_examples import examples
from tests.loaded_late import LoadedLate

inter_rater = LoadedLate("statsmodels.stats.inter_rater")
metrics = LoadedLate("sklearn.metrics")
stats = LoadedLate("scipy.stats")

pytestmark = crossed
TABLES = range(4000 if IN_SOAK else 100)
CLOSE = 1e-9


def shaped(seed: int) -> Ratings:
    """5 to 40 places, 2 to 5 raters, 2 to 6 categories, raters who agree hardly or nearly always."""
    dice = np.random.default_rng(seed)
    places = int(dice.integers(5, 41))
    return drawn(
        seed, places, int(dice.integers(2, 6)), int(dice.integers(2, 7)), int(dice.integers(2, places)),
        agree=float(dice.uniform(0, 0.95)),
    )  # fmt: skip


def test_fleiss_as_statsmodels_has_it() -> None:
    for seed in TABLES:
        some = shaped(seed)
        table, _ = inter_rater.aggregate_raters(some.codes, len(some.categories))
        expected = inter_rater.fleiss_kappa(table)
        assert value(fleiss_kappa(some)) == pytest.approx(expected, abs=CLOSE), seed


def test_cohen_as_scikit_learn_and_statsmodels_have_it() -> None:
    compared = 0
    for seed in TABLES:
        some = shaped(seed)
        two = some._replace(codes=some.codes[:, :2], raters=some.raters[:2])
        q = len(some.categories)
        one, other = two.codes.T
        weighted = (linear(q), "linear") if seed % 2 else (quadratic(q), "quadratic")
        for weights, name in ((None, None), weighted):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = metrics.cohen_kappa_score(one, other, labels=list(range(q)), weights=name)
            if np.isfinite(expected):
                compared += 1
                assert value(cohen_kappa(two, weights)) == pytest.approx(expected, abs=CLOSE), (seed, name)
        if seed % 10 == 0:
            table = np.zeros((q, q))
            np.add.at(table, (one, other), 1)
            theirs = inter_rater.cohens_kappa(table)
            assert value(cohen_kappa(two)) == pytest.approx(theirs.kappa, abs=CLOSE)
            assert cohen_error(table) == pytest.approx(theirs.std_kappa, abs=CLOSE)
    assert compared > 1.99 * len(TABLES)


def test_light_is_the_mean_of_scikit_learns() -> None:
    for seed in TABLES[::20]:
        some = shaped(seed)
        r, q = some.codes.shape[1], list(range(len(some.categories)))
        pairs = [(i, j) for i in range(r) for j in range(i + 1, r)]
        expected = np.mean([metrics.cohen_kappa_score(some.codes[:, i], some.codes[:, j], labels=q) for i, j in pairs])
        assert value(light_kappa(some)) == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_alpha_as_krippendorff_has_it(missing: float) -> None:
    compared = 0
    for seed in TABLES:
        some = shaped(seed)
        codes = some.codes.copy()
        codes[np.random.default_rng(seed).random(codes.shape) < missing] = -1
        some = some._replace(codes=codes)
        answers = np.where(codes < 0, np.nan, codes + 1.0)
        level = ("nominal", "ordinal", "interval", "ratio")[seed % 4]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = krippendorff.alpha(
                    answers.T, value_domain=[float(at + 1) for at in range(len(some.categories))],
                    level_of_measurement=level,  # type: ignore[arg-type]
                )  # fmt: skip
        except (ValueError, AssertionError):
            continue
        if np.isfinite(expected):
            compared += 1
            assert value(krippendorff_alpha(some, level)) == pytest.approx(expected, abs=CLOSE), (seed, level)
    assert compared > 0.99 * len(TABLES)


@pytest.mark.parametrize("level", ["interval", "ratio"])
def test_alpha_of_numbers_as_krippendorff_has_it(level: str) -> None:
    for seed in range(examples(200)):
        some = drawn_numbers(seed, 20, 3, missing=0.2)
        some = some._replace(values=np.abs(some.values))
        expected = krippendorff.alpha(some.values.T, level_of_measurement=level)  # type: ignore[arg-type]
        assert value(alpha_numbers(some, level)) == pytest.approx(expected, abs=CLOSE)  # type: ignore[arg-type]


def test_correlations_as_scipy_has_them() -> None:
    for seed in range(examples(300)):
        some = drawn_numbers(seed, 15, 2, 5)
        if seed % 2:
            some = some._replace(values=np.round(some.values / 3))
        x, y = some.values.T
        if np.ptp(x) and np.ptp(y):
            assert value(pearson(some)) == pytest.approx(stats.pearsonr(x, y)[0], abs=CLOSE)
            assert value(spearman(some)) == pytest.approx(stats.spearmanr(x, y)[0], abs=CLOSE)


def test_a_judge_as_scikit_learn_has_it() -> None:
    for seed in range(examples(300)):
        some = drawn(seed, 20, 2, 3)
        truth, judge = some.codes.T
        p, r, f, _ = metrics.precision_recall_fscore_support(truth, judge, labels=[1], zero_division=np.nan)
        for what, expected in (("precision", p[0]), ("recall", r[0]), ("f1", f[0])):
            if np.isfinite(expected):
                assert value(judge_statistic(some, what, "c1")) == pytest.approx(expected, abs=CLOSE)  # type: ignore[arg-type]
        assert value(judge_statistic(some, "accuracy", "c1")) == pytest.approx((truth == judge).mean())


def test_percent_counts_every_two_raters_of_a_place() -> None:
    for seed in range(examples(200)):
        some = drawn(seed, 20, 4, 3, missing=0.3)
        shares = []
        for row in some.codes:
            said = [one for one in row if one >= 0]
            pairs = [(i, j) for i in range(len(said)) for j in range(len(said)) if i != j]
            if pairs:
                shares.append(np.mean([said[i] == said[j] for i, j in pairs]))
        assert value(percent(some)) == pytest.approx(np.mean(shares), abs=CLOSE)
