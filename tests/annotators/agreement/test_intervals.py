"""Intervals over traces: against leaving traces out by hand, and against drawing their labels anew."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.agreement.coefficients import categorical
from annotators.agreement.coefficients.additive import AdditiveStatistic, value_of
from annotators.agreement.coefficients.categorical import cohen_kappa, fleiss_kappa, gwet_ac, percent
from annotators.agreement.coefficients.judge_accuracy import judge_statistic
from annotators.agreement.coefficients.numbers import icc, mean, mse
from annotators.agreement.coefficients.similarity import pairwise_mae
from annotators.agreement.intervals.intervals import difference, draws, estimate, estimates, minus, resampled
from annotators.agreement.ratings.ratings import Ratings
from lab.core.study.agreement import IntervalTerms
from tests.annotators.agreement.rated import drawn, drawn_numbers, numbers, ratings, value
from tests.fuzzing_examples import examples
from tests.loaded_late import LoadedLate

stats = LoadedLate("scipy.stats")

BOOTSTRAP = IntervalTerms("bootstrap", resamples=400, seed=11)


def test_an_interval_holds_its_value_where_missing_answers_bring_a_kappa_below_its_least() -> None:
    """What one rater alone rated makes chance larger than any two who rated the same could."""
    rows: list[list[int | None]] = [[0, 1], [1, 0], [1, 1], [1, None], [1, None]]
    found = estimate(fleiss_kappa(ratings(rows * 10)), IntervalTerms())
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value < -1 <= found.high


def left_out(some: Ratings, trace: int) -> Ratings:
    keep = some.trace != trace
    return some._replace(
        codes=some.codes[keep], trace=some.trace[keep],
        places=tuple(one for one, stays in zip(some.places, keep, strict=True) if stays),
    )  # fmt: skip


def without_each(some: Ratings) -> list[float]:
    return [value(fleiss_kappa(left_out(some, at))) for at in range(len(some.traces))]


def test_the_jackknife_is_what_leaving_traces_out_by_hand_makes() -> None:
    """Every step written out once more, from labels that are counted again for each trace that is left out."""
    some = drawn(3, 80, 3, 3, 15, missing=0.1)
    found = estimate(fleiss_kappa(some), IntervalTerms())
    whole, without = value(fleiss_kappa(some)), np.array(without_each(some))
    n = len(without)
    assert found.value == whole
    assert found.standard_error == pytest.approx(sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    logs = np.log(1 - without)
    adds = (n - 1) * (logs.mean() - logs)
    error = sqrt((adds**2).sum() / (n * (n - 1)))
    skew = stats.skew(adds) / sqrt(n)
    assert -0.5 < skew < 0.15, "no bound is met here"
    ends = []
    for share in (0.975, 0.025):
        t = stats.t.ppf(share, n - 1)
        free = 3 / skew * (np.cbrt(1 + skew * (t - skew / 6)) - 1)
        ends.append(1 - exp(log(1 - whole) - error * free))
    assert (found.low, found.high) == pytest.approx((min(ends), max(ends)), abs=1e-9)
    assert found.low is not None
    assert found.high is not None
    assert found.low < whole < found.high


def test_without_skewness_it_is_the_plain_jackknife_t() -> None:
    """Two raters who agree in half of each trace and a little more or less, as often the one as the other."""
    shares = [0.4, 0.6] * 10
    one = mean(np.repeat(shares, 5), np.repeat(np.arange(20), 5).astype(np.int32), 20, "score", None)
    found = estimate(one, IntervalTerms())
    half = stats.t.ppf(0.975, 19) * np.std(shares, ddof=1) / sqrt(20)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half))
    assert found.standard_error == pytest.approx(np.std(shares, ddof=1) / sqrt(20))


@pytest.mark.parametrize(("wrong", "least"), [(2, 0.90), (3, 0.92), (10, 0.87)])
def test_a_few_wrong_answers_do_not_make_an_interval_of_everything(wrong: int, least: float) -> None:
    """40 runs of 5 items, so many wrong, each in a run of its own: the plain jackknife-t begins at .933, .942, .911."""
    right = np.ones((40, 5))
    right[:wrong, 0] = 0
    found = estimate(
        mean(right.ravel(), np.repeat(np.arange(40), 5).astype(np.int32), 40, "share", 1.0), IntervalTerms()
    )
    assert found.low is not None
    assert found.high is not None
    assert least < found.low < 1 - wrong / 200 < found.high < 1


def test_a_share_of_things_that_each_stand_for_themselves_has_wilsons_interval() -> None:
    """Two wrong of twenty: the jackknife-t would say .13 to .98."""
    right = np.ones(20)
    right[:2] = 0
    alone = mean(right, np.arange(20, dtype=np.int32), 20, "share", 1.0)
    found = estimate(alone, IntervalTerms())
    assert (found.low, found.high) == pytest.approx(stats.binomtest(18, 20).proportion_ci(method="wilson"))
    assert found.interval == "wilson"
    assert estimate(alone, BOOTSTRAP).interval == ""
    all_right = estimate(mean(np.ones(20), np.arange(20, dtype=np.int32), 20, "share", 1.0), IntervalTerms())
    assert (all_right.low, all_right.high) == pytest.approx(stats.binomtest(20, 20).proportion_ci(method="wilson"))
    together = np.repeat(np.arange(10), 2).astype(np.int32)
    assert estimate(mean(right, together, 10, "share", 1.0), IntervalTerms()).interval == ""
    assert estimate(mean(right * 0.5, np.arange(20, dtype=np.int32), 20, "share", 1.0), IntervalTerms()).interval == ""
    assert estimate(mean(right, np.arange(20, dtype=np.int32), 20, "seconds", None), IntervalTerms()).interval == ""


def test_so_have_percent_accuracy_precision_and_recall_and_nothing_else() -> None:
    truth, judge = [1] * 12 + [0] * 8, [1] * 11 + [0] * 6 + [1] * 3
    some = ratings([list(pair) for pair in zip(truth, judge, strict=True)])
    of = {"accuracy": (16, 20), "precision": (11, 14), "recall": (11, 12)}
    for what, (so, all) in of.items():
        found = estimate(judge_statistic(some, what, some.categories[1]), IntervalTerms())  # type: ignore[arg-type]
        assert (found.low, found.high) == pytest.approx(stats.binomtest(so, all).proportion_ci(method="wilson")), what
    both = estimate(percent(some), IntervalTerms())
    assert (both.low, both.high) == pytest.approx(stats.binomtest(16, 20).proportion_ci(method="wilson"))
    others = (judge_statistic(some, "f1", some.categories[1]), gwet_ac(some), cohen_kappa(some), fleiss_kappa(some))
    assert {estimate(one, IntervalTerms()).interval for one in others} == {""}


def test_far_from_its_bound_skewness_is_taken_out_in_full() -> None:
    """One run in ten says yes, twice: the plain jackknife-t on the log would end too low, and begin below nothing."""
    yes = np.zeros(40)
    yes[:4] = 1
    twice = np.repeat(np.arange(40, dtype=np.int32), 2)
    found = estimate(mean(np.repeat(yes, 2), twice, 40, "share", 1.0), IntervalTerms())
    assert found.interval == ""
    plain = 1 - exp(log(0.9) - stats.t.ppf(0.975, 39) * sqrt(0.1 / 0.9 / 39))
    assert found.low is not None
    assert found.high is not None
    assert found.low > 0.01
    assert found.high > plain + 0.02


def test_a_higher_level_is_wider_and_nothing_leaves_its_bounds() -> None:
    some = drawn(5, 30, 2, 2, 6)
    widths = []
    for level in (0.5, 0.9, 0.95, 0.999):
        found = estimate(cohen_kappa(some), IntervalTerms(level=level))
        assert found.low is not None
        assert found.high is not None
        assert -1 <= found.low < found.high <= 1
        widths.append(found.high - found.low)
    assert widths == sorted(widths)
    wide = estimate(percent(some), IntervalTerms(level=0.999999))
    assert wide.low == 0.0


def test_bca_corrects_for_bias_and_for_the_third_power_of_what_each_trace_adds() -> None:
    values = np.random.default_rng(2).exponential(1, 12) ** 2
    one = mean(values, np.arange(12, dtype=np.int32), 12, "score", None)
    found, drawn_means, normal = estimate(one, BOOTSTRAP), resampled(one, one.sums, BOOTSTRAP), stats.norm
    bias = normal.ppf((np.mean(drawn_means < values.mean()) + np.mean(drawn_means <= values.mean())) / 2)
    apart = np.array([values.mean() - np.delete(values, at).mean() for at in range(12)])
    apart -= apart.mean()
    skew = (apart**3).sum() / (6 * (apart**2).sum() ** 1.5)
    z = bias + normal.ppf([0.025, 0.975])
    assert abs(skew) > 0.05
    assert [found.low, found.high] == pytest.approx(
        np.quantile(drawn_means, normal.cdf(bias + z / (1 - skew * z))).tolist(), rel=1e-9
    )


@pytest.mark.parametrize("how", [IntervalTerms(), BOOTSTRAP])
def test_the_same_answers_and_seed_make_the_same_bits(how: IntervalTerms) -> None:
    some = drawn(8, 60, 3, 3, 12)
    assert estimate(gwet_ac(some), how) == estimate(gwet_ac(some), how)


def test_another_seed_draws_otherwise() -> None:
    some = drawn(8, 60, 3, 3, 12)
    assert estimate(gwet_ac(some), BOOTSTRAP) != estimate(
        gwet_ac(some), IntervalTerms("bootstrap", resamples=400, seed=12)
    )


def test_draws_are_what_the_raw_stream_says() -> None:
    """PCG64's own numbers for the seed 11, so that no version of numpy draws others; each row draws as many traces."""
    found = draws(np.random.PCG64(11), 50, 7)
    raw = [int(one) for one in np.random.PCG64(11).random_raw(350)]
    assert raw[:2] == [2371701625988369486, 9210050950101564007]
    at = [((one >> 11) * 7) >> 53 for one in raw]
    assert found.shape == (50, 7)
    assert (found.sum(axis=1) == 7).all()
    for row in range(50):
        assert found[row].tolist() == np.bincount(at[row * 7 : row * 7 + 7], minlength=7).tolist()


def test_the_bootstrap_is_what_drawing_labels_anew_makes() -> None:
    """The same draws, but labels themselves are written down as often as their trace was drawn."""
    some = drawn(9, 60, 3, 3, 12, missing=0.1)
    one = fleiss_kappa(some)
    drawn_values = resampled(one, one.sums, BOOTSTRAP)
    weights = draws(np.random.PCG64(BOOTSTRAP.seed), BOOTSTRAP.resamples, 12)
    assert len(drawn_values) == 400
    for at in range(0, 400, 8):
        rows = np.repeat(np.arange(len(some.codes)), weights[at].astype(int)[some.trace])
        again = some._replace(
            codes=some.codes[rows], trace=some.trace[rows], places=tuple(some.places[row] for row in rows)
        )
        assert drawn_values[at] == pytest.approx(value(fleiss_kappa(again)), abs=1e-12)


def test_chunks_draw_what_one_piece_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    one = fleiss_kappa(drawn(9, 60, 3, 3, 12))
    whole = resampled(one, one.sums, BOOTSTRAP)
    without = estimate(one, IntervalTerms())
    monkeypatch.setattr("annotators.agreement.intervals.intervals._CELLS", 50)
    assert resampled(one, one.sums, BOOTSTRAP).tolist() == pytest.approx(whole.tolist(), abs=1e-15)
    assert estimate(one, IntervalTerms()) == without


def test_the_bootstraps_interval_is_bca_as_scipy_has_it() -> None:
    """scipy's BCa over the same 400 resamples of traces, given as their means."""
    values = np.random.default_rng(2).exponential(1, 30)
    one = mean(values, np.arange(30, dtype=np.int32), 30, "score", None)
    how = IntervalTerms("bootstrap", resamples=4000, seed=1)
    found = estimate(one, how)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(4))
    assert found.low == pytest.approx(theirs.confidence_interval.low, abs=0.03)
    assert found.high == pytest.approx(theirs.confidence_interval.high, abs=0.03)
    plain = np.quantile(resampled(one, one.sums, how), [0.025, 0.975])
    assert found.low is not None
    assert found.high is not None
    assert found.low > plain[0]
    assert found.high > plain[1]


@pytest.mark.parametrize("how", [IntervalTerms(), BOOTSTRAP])
def test_no_interval_says_why(how: IntervalTerms) -> None:
    few = estimate(percent(ratings([[1, 1], [0, 1], [1, 1], [0, 0]], trace=[0, 0, 1, 1])), how)
    assert (few.value, few.low, few.high, few.no_interval) == (0.75, None, None, "too few runs")
    best = estimate(fleiss_kappa(ratings([[1, 1], [0, 0], [1, 1], [0, 0]])), how)
    assert (best.value, best.low, best.no_interval) == (1.0, None, "it is the largest it can be")
    even = estimate(percent(ratings([[1, 1], [0, 1]] * 4, trace=[0, 0, 1, 1, 2, 2, 3, 3])), how)
    assert (even.value, even.low, even.no_interval) == (0.5, None, "no run differs from the rest")
    lone = estimate(fleiss_kappa(ratings([[1, 1], [1, 1], [1, 1], [0, 1]])), how)
    assert lone.value == pytest.approx(-1 / 7)
    assert (lone.low, lone.no_interval) == (None, "undefined without one of the runs")


def test_where_one_run_alone_differs_only_resamples_have_an_interval() -> None:
    """Without it nothing is left to take the log of."""
    one = percent(ratings([[1, 1], [0, 0], [1, 1], [0, 0], [0, 1]] * 2, trace=[0, 1, 2, 3, 4] * 2))
    alone = estimate(one, IntervalTerms())
    assert (alone.value, alone.low, alone.no_interval) == (
        0.8,
        None,
        "the largest it can be without one of the runs",
    )
    found = estimate(one, BOOTSTRAP)
    assert found.low is not None
    assert found.low < 0.8


SOME = [[1, 1]] * 6 + [[0, 0], [0, 1], [0, 0]]


def test_a_resample_that_is_undefined_leaves_no_interval() -> None:
    found = estimate(fleiss_kappa(ratings(SOME)), IntervalTerms("bootstrap", resamples=1000, seed=1))
    assert found.low is None
    assert found.no_interval.endswith(" of 1,000 resamples")
    assert found.no_interval.startswith("undefined in ")
    assert estimate(fleiss_kappa(ratings([*SOME * 3, [1, 0]])), IntervalTerms()).low is not None


def test_what_has_no_value_has_no_interval() -> None:
    found = estimate(fleiss_kappa(ratings([[1, 1], [1, 1]])), IntervalTerms())
    assert found.value is None
    assert found.undefined == "one category"
    assert found.low is found.high is found.standard_error is None
    assert found.no_interval == ""


def test_traces_that_add_nothing_are_not_counted() -> None:
    some = drawn(4, 40, 3, 3, 8)
    more = some._replace(traces=(*some.traces, "empty", "bare"))
    assert estimate(fleiss_kappa(more), IntervalTerms()) == estimate(fleiss_kappa(some), IntervalTerms())
    assert estimate(fleiss_kappa(more), BOOTSTRAP) == estimate(fleiss_kappa(some), BOOTSTRAP)
    two = ratings([[1, 1], [0, 1], [1, 1], [0, 0]], trace=[0, 0, 5, 5])
    assert estimate(percent(two), IntervalTerms()).no_interval == "too few runs"


def test_what_goes_together_within_traces_widens_the_interval() -> None:
    """Every trace told four times over says nothing new; as if places were independent it would seem to."""
    some = drawn(6, 40, 3, 3, 40)
    fourfold = some._replace(
        codes=np.repeat(some.codes, 4, axis=0), trace=np.repeat(some.trace, 4),
        places=tuple(one for one in some.places for _ in range(4)),
    )  # fmt: skip
    nodes = np.arange(160, dtype=np.int32)
    loose = fourfold._replace(trace=nodes, traces=tuple(map(str, nodes)))
    error, same, less = (estimate(percent(one), IntervalTerms()).standard_error for one in (some, fourfold, loose))
    assert error is not None
    assert less is not None
    assert same == pytest.approx(error)
    assert less == pytest.approx(error / 2, rel=0.02)


def test_numbers_without_a_bound_are_in_their_own_unit() -> None:
    found = estimate(mse(drawn_numbers(1, 40, 2, 10)), IntervalTerms())
    assert found.low is not None
    assert found.high is not None
    assert found.value is not None
    assert 0 <= found.low < found.value < found.high
    one = estimate(icc(drawn_numbers(1, 40, 3, 10), "A,1"), IntervalTerms())
    assert one.high is not None
    assert one.high < 1


def pair(seed: int) -> tuple[AdditiveStatistic, AdditiveStatistic, Ratings]:
    """Truth and two judges of whom the second is the first, but for a few."""
    some = drawn(seed, 90, 2, 2, 30, agree=0.7)
    dice = np.random.default_rng(seed)
    other = np.where(dice.random(90) < 0.1, 1 - some.codes[:, 1], some.codes[:, 1]).astype(np.int16)
    second = some._replace(codes=np.column_stack((some.codes[:, 0], other)))
    return judge_statistic(some, "accuracy", "c1"), judge_statistic(second, "accuracy", "c1"), second


@pytest.mark.parametrize("how", [IntervalTerms(), IntervalTerms("bootstrap", resamples=1000, seed=3)])
def test_a_difference_is_paired_over_traces(how: IntervalTerms) -> None:
    one, other, _ = pair(2)
    found = difference(one, other, how)
    assert found.value == pytest.approx(value(one) - value(other))
    assert found.low is not None
    assert found.high is not None
    back = difference(other, one, how)
    assert back.value == pytest.approx(-found.value)  # type: ignore[operator]
    assert back.low == pytest.approx(-found.high, abs=0.01)
    alone = [estimate(each, how) for each in (one, other)]
    wide = sqrt(sum(((each.high or 0.0) - (each.low or 0.0)) ** 2 for each in alone))
    assert found.high - found.low < 0.8 * wide
    without = one.evaluate(one.sums.sum(axis=0) - one.sums) - other.evaluate(other.sums.sum(axis=0) - other.sums)
    n = len(without)
    assert found.standard_error == pytest.approx(sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))


@pytest.mark.parametrize("how", [IntervalTerms(), BOOTSTRAP])
def test_many_together_are_the_same_as_one_by_one(how: IntervalTerms) -> None:
    one, fewer = drawn(1, 80, 3, 3, 20), drawn(2, 40, 3, 3, 9)
    gone = one._replace(codes=np.where(one.trace[:, None] == 4, -1, one.codes).astype(np.int16))
    none = ratings([[0, None], [None, 1]])
    many = [fleiss_kappa(one), percent(one), gwet_ac(fewer), fleiss_kappa(gone), percent(gone), fleiss_kappa(none)]
    many.append(minus(fleiss_kappa(one), fleiss_kappa(gone)))
    assert estimates(many, how) == [estimate(each, how) for each in many]
    assert estimates([], how) == []


def test_a_difference_that_cannot_be_says_why() -> None:
    one, _, some = pair(2)
    none = judge_statistic(some, "precision", "never")
    assert difference(one, none, IntervalTerms()).undefined == "the judge never said never"
    assert difference(none, one, IntervalTerms()).value is None
    assert difference(one, one, IntervalTerms()).no_interval == "no run differs from the rest"
    assert difference(one, one, IntervalTerms()).value == 0.0
    with pytest.raises(ValueError, match="not over the same traces"):
        difference(one, judge_statistic(drawn(1, 20, 2, 2, 5), "accuracy", "c1"), IntervalTerms())


def test_a_difference_counts_traces_of_either() -> None:
    """A trace that only one of the two has adds to the difference too."""
    half = ratings([[1, 1], [0, 1], [1, 1], [0, 0], [1, None], [0, None]], trace=[0, 0, 1, 2, 3, 4])
    whole = ratings([[1, 1], [0, 1], [1, 0], [0, 0], [1, 1], [0, 1]], trace=[0, 0, 1, 2, 3, 4])
    found = difference(percent(half), percent(whole), IntervalTerms())
    assert found.value == pytest.approx(0.75 - 0.5)
    assert found.low is not None
    assert value_of(percent(half)) == 0.75


def test_no_interval_reaches_beyond_what_a_number_can_be() -> None:
    """One run of ten differs, and much: by its spread alone a distance would reach below nothing."""
    rows = [[50.0 + at, 50.0 + at] for at in range(9)] + [[5.0, 95.0]]
    far = estimate(pairwise_mae(numbers(rows)), IntervalTerms())
    assert (far.value, far.low) == (9.0, 0.0)
    near = [[50.0 + at, 51.0 + at] for at in range(9)]  # were they the same, it would be 1 without the other run
    alike = estimate(icc(numbers([*near, [5.0, 95.0]]), "A,1"), IntervalTerms())
    assert alike.low is not None
    assert alike.low >= -1.0


_OF_ANY = (
    categorical.percent, categorical.percent_exact, categorical.fleiss_kappa, categorical.conger_kappa,
    categorical.light_kappa, categorical.brennan_prediger, categorical.gwet_ac, categorical.krippendorff_alpha,
    lambda some: categorical.krippendorff_alpha(some, "ordinal"),
    lambda some: categorical.gwet_ac(some, categorical.quadratic(3)),
)  # fmt: skip
_ROWS = st.integers(1, 4).flatmap(
    lambda raters: st.lists(
        st.tuples(st.integers(0, 3), st.lists(st.sampled_from([None, 0, 1, 2]), min_size=raters, max_size=raters)),
        min_size=1, max_size=8,
    )
)  # fmt: skip


@settings(max_examples=examples(200), deadline=None)
@given(
    _ROWS,
    st.sampled_from(_OF_ANY),
    st.sampled_from([IntervalTerms(), IntervalTerms("bootstrap", resamples=40, seed=1)]),
)
def test_any_small_table_has_an_interval_or_a_sentence(rows: Any, of: Any, how: IntervalTerms) -> None:
    some = ratings([list(answers) for _, answers in rows], ("a", "b", "c"), [trace for trace, _ in rows])
    found = estimate(of(some), how)
    assert (found.value is None) == bool(found.undefined)
    if found.value is None:
        return
    assert np.isfinite(found.value)
    assert (found.low is None) == bool(found.no_interval)
    if found.low is not None and found.high is not None:
        assert np.isfinite([found.low, found.high]).all()
        assert found.low <= found.high
