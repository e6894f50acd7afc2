"""Ratings by episodes' owners (FingerTip 20K A.6.6, Table 13): Sim2 against ratings, within episodes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from annotators.agreement.coefficients.additive import AdditiveStatistic
from annotators.agreement.coefficients.categorical import cohen_kappa, gwet_ac, percent, quadratic
from annotators.agreement.coefficients.numbers import icc, spearman
from annotators.agreement.ratings.ratings import NumericRatings, RatedItem, Ratings
from annotators.agreement.test_retest import numbers_repeated, repeated_ratings
from annotators.papers import cells
from annotators.papers.answer_arrays import AnswerRow, numbers_by
from annotators.papers.cells import UnitValue, average, coefficient, count, few_runs_warning, share
from annotators.papers.field_answers import answers_in, asked_units, cases_of
from annotators.papers.fingertip.other_users import OtherUsers
from annotators.papers.fingertip.text_similarity import LONGEST, mean_similarity, similarity
from annotators.papers.fingertip.tracks import Execution, sequence_of
from annotators.papers.metrics import MetricTerms, context_of
from annotators.study_data import StudyData
from annotators.units.pairs import method_names, method_of
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.agreement import Agreement
from lab.core.study.report import Cell, Number, Point, Scatter, Section, Table
from lab.core.study.study import Unit
from lab.core.values.rounding import count as so_many

RATING = "personal"
_SOURCE = "FingerTip 20K A.6.6, Table 13"
_LEAST_PAIRS = 3
"""Minimum number of pairs for a rank correlation."""


class RatedSequence(NamedTuple):
    """One sequence as rated by its owner. `sim2` is None if undefined."""

    unit: Unit
    episode: str
    model: str
    rating: float
    sim2: float | None


def sections(study_data: StudyData) -> list[Section]:
    """Return Table 13, correlations within episodes, and owners' test-retest agreement."""
    sequences, left_out = rated_of(study_data)
    title = "Sim2 and owners' ratings"
    if not sequences:
        return [Section(title, ("Nobody has handed in a rating yet.",))]
    says = tuple(f"{n} sequence{'' if n == 1 else 's'} without Sim2: {why}." for why, n in sorted(left_out.items()))
    first = Section(title, says, (_table_13(study_data, sequences),), _picture(sequences))
    within = Section(
        "Within episodes", tables=(_within_episodes(study_data, sequences), *_win_table(study_data, sequences))
    )
    return [first, within, _test_retest(study_data)]


def rated_of(study_data: StudyData) -> tuple[list[RatedSequence], dict[str, int]]:
    """Return each rated sequence, and the number without Sim2 by reason."""
    cases = cases_of(study_data)
    units = {unit.id: unit for unit in asked_units(study_data)}
    ratings = {one.unit: float(one.value) for one in answers_in(study_data, RATING) if _is_number(one.value)}
    sims, left_out = sim2_by_unit(study_data, [units[unit] for unit in ratings])
    names = method_names(cases.values())
    sequences = []
    for id, value in ratings.items():
        unit = units[id]
        model = names[method_of(cases[id])] if id in cases else "run not here"
        # The second run is the owner's demonstration, which identifies the episode.
        episode = unit.runs[1] if len(unit.runs) > 1 else unit.id
        sequences.append(RatedSequence(unit, episode, model, value, sims.get(id)))
    return sequences, left_out


def _is_number(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdigit()


# -- Table 13 --------------------------------------------------------------------------------------------------


def _table_13(study_data: StudyData, sequences: Sequence[RatedSequence]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for model in sorted({one.model for one in sequences}):
        own = [one for one in sequences if one.model == model]
        sims = [UnitValue(one.unit.id, one.unit.clustered, one.sim2) for one in own if one.sim2 is not None]
        ratings = [UnitValue(one.unit.id, one.unit.clustered, one.rating) for one in own]
        sim2 = average(
            study_data, sims, "Sim2", "mean Sim2", least=0.0, part=model, between="", why="no run of it has a Sim2"
        )
        rows.append(
            (
                model,
                Number(sim2),
                Number(
                    average(
                        study_data, ratings, RATING, "mean rating", most=5.0, least=1.0, part=model, between="owners"
                    )
                ),
                count(len(own), RATING, part=model),
            )
        )
    judges = [
        (study_data.columns.raters[judge].display_name, _judge_rows(study_data, sequences, judge))
        for judge in study_data.judges
    ]
    rows = [(*row, *(means[str(row[0])] for _, means in judges)) for row in rows]
    models, episodes = len(rows), len({one.episode for one in sequences})
    notes = (
        f"{so_many(models, 'model')}, {so_many(episodes, 'episode')}; ratings 1 to 5 by each episode's owner alone, so "
        "that no agreement between raters can be told. Intervals are over owners.",
        "Across so few models a correlation describes and proves nothing: with 4, the same order of rank has p = 1/24.",
        "The paper has 0.95 / 2.42, 1.21 / 3.35, 0.98 / 2.55, 1.06 / 2.72.",
        *few_runs_warning(episodes, "episodes"),
    )
    if judges:
        notes = (*notes, "A judge's column is its own mean rating of the same sequences, which no owner saw.")
    head = ("Model", "Sim2", "User Rating", "Sequences", *(name for name, _ in judges))
    return Table("fingertip-table-13", "Sim2 and user rating", head, tuple(rows), _SOURCE, notes)


def _judge_rows(study_data: StudyData, sequences: Sequence[RatedSequence], judge: int) -> dict[str, Cell]:
    """Return by model a judge's mean rating of the sequences that owners rated."""
    name = study_data.columns.raters[judge].display_name
    own = {one.unit: float(one.value) for one in answers_in(study_data, RATING, (judge,)) if _is_number(one.value)}
    means: dict[str, Cell] = {}
    for model in {one.model for one in sequences}:
        of = [one.unit for one in sequences if one.model == model]
        items = [UnitValue(unit.id, unit.clustered, own[unit.id]) for unit in of if unit.id in own]
        why = "it rated no sequence of it"
        means[model] = Number(
            average(study_data, items, RATING, "mean rating", most=5.0, least=1.0, part=model, between=name, why=why)
        )
    return means


def _picture(sequences: Sequence[RatedSequence]) -> tuple[Scatter, ...]:
    """Return a scatter of Sim2 and rating of every sequence with a Sim2."""
    points = tuple(
        Point(one.sim2, one.rating, one.episode, one.model)
        for one in sorted(sequences, key=lambda one: one.unit.id)
        if one.sim2 is not None
    )
    if not points:
        return ()
    most = max(5.0, *(point.x for point in points))
    return (
        Scatter(
            "fingertip-sim2", "Sim2 and rating of each sequence", points, "Sim2", "rating", 0.0, most, diagonal=False
        ),
    )


# -- within episodes -------------------------------------------------------------------------------------------


def _episodes(sequences: Sequence[RatedSequence]) -> dict[str, list[RatedSequence]]:
    episodes: dict[str, list[RatedSequence]] = {}
    for one in sorted(sequences, key=lambda one: (one.episode, one.model, one.unit.id)):
        episodes.setdefault(one.episode, []).append(one)
    return episodes


def _within_episodes(study_data: StudyData, sequences: Sequence[RatedSequence]) -> Table:
    """Return how well Sim2 predicts the owner's rating within episodes."""
    rhos: list[UnitValue] = []
    pairs: list[UnitValue] = []
    flat = small = 0
    for episode, all_of in _episodes(sequences).items():
        them = [(one.sim2, one.rating) for one in all_of if one.sim2 is not None]
        cluster = all_of[0].unit.clustered
        own = rank_correlation(them)
        small += len(them) < _LEAST_PAIRS
        flat += len(them) >= _LEAST_PAIRS and own is None
        if own is not None:
            rhos.append(UnitValue(episode, cluster, own))
        pairs += [UnitValue(episode, cluster, right) for right in concordant(them)]
    why = "no episode has three sequences with a Sim2 whose ratings differ"
    rho = average(
        study_data, rhos, RATING, "mean Spearman within episodes", most=1.0, least=-1.0, between="owners", why=why
    )
    both = "no two sequences of an episode differ in Sim2 and rating"
    rows: tuple[tuple[Cell, ...], ...] = (
        ("Spearman's rho of Sim2 and rating, mean over episodes", Number(rho), count(len(rhos), RATING)),
        (
            "pairs in which the higher Sim2 has the higher rating",
            cells.percent(share(study_data, pairs, RATING, "concordance", between="owners", why=both)),
            count(len(pairs), RATING, part="pairs"),
        ),
    )
    notes = (
        "Clustered by owner. The second row is the rank model: a chance of 50 % says nothing goes together; ties in "
        "Sim2 or in rating are left out.",
        *((f"No rho: {so_many(flat, 'episode')} with all ratings, or all Sim2, the same.",) if flat else ()),
        *(
            (f"No rho: {so_many(small, 'episode')} of fewer than {_LEAST_PAIRS} sequences with a Sim2.",)
            if small
            else ()
        ),
        *few_runs_warning(len({one.unit.clustered for one in sequences}), "owners"),
    )
    return Table("fingertip-within", "Sim2 and rating within episodes", ("", "Value", "n"), rows, _SOURCE, notes)


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return Spearman's rho by mid-ranks, or None for fewer than three pairs, or if one side is constant."""
    if len(pairs) < _LEAST_PAIRS:
        return None
    rows = [AnswerRow(RatedItem(str(n), ""), "one", pair) for n, pair in enumerate(pairs)]
    rho = spearman(numbers_by(RATING, ("Sim2", "rating"), rows))
    value = float(rho.evaluate(rho.sums.sum(axis=0)))
    # nan differs from itself.
    return value if value == value else None


def concordant(pairs: Sequence[tuple[float, float]]) -> list[float]:
    """Return for each two pairs that differ in both: 1 if both have the same order, else 0."""
    return [float((a[0] > b[0]) == (a[1] > b[1])) for a, b in combinations(pairs, 2) if a[0] != b[0] and a[1] != b[1]]


def _win_table(study_data: StudyData, sequences: Sequence[RatedSequence]) -> tuple[Table, ...]:
    """Return how often a model is rated above the others of an episode, with ties as half, empty for a single model."""
    wins: dict[str, list[UnitValue]] = {}
    for episode, all_of in _episodes(sequences).items():
        for one in all_of:
            others = [other for other in all_of if other.model != one.model]
            scores = [
                1.0 if one.rating > other.rating else 0.5 if one.rating == other.rating else 0.0 for other in others
            ]
            if scores:
                item = UnitValue(episode, one.unit.clustered, sum(scores) / len(scores))
                wins.setdefault(one.model, []).append(item)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            model,
            cells.percent(share(study_data, items, RATING, "share won", part=model, between="owners")),
            count(len(items), RATING, part=model),
        )
        for model, items in sorted(wins.items())
    )
    notes = (
        "The chance that an owner rates this model's sequence above another's of the same episode; ties count half, "
        "and owners who rate high or low throughout change nothing in it.",
    )
    head = ("Model", "Rated above", "Episodes")
    whole = Table("fingertip-wins", "Rated above the others of the episode", head, rows, _SOURCE, notes)
    return (whole,) if rows else ()


# -- once more -------------------------------------------------------------------------------------------------


def _test_retest(study_data: StudyData) -> Section:
    """Return the agreement of owners' first and second ratings."""
    title = "Ratings given twice"
    ratings, owners = repeated_ratings(study_data, RATING)
    if not ratings.places:
        return Section(title, ("No sequence was rated twice, so nothing tells how steady owners are.",))
    numbers, _ = numbers_repeated(study_data, RATING)

    def estimate(of: AdditiveStatistic, made_of: Ratings | NumericRatings = ratings, statistic: str = "") -> Agreement:
        return coefficient(study_data, of, made_of, between=_SELF, raters=owners, statistic=statistic)

    weights = quadratic(len(ratings.categories))
    kappa = estimate(cohen_kappa(ratings, weights), statistic="weighted kappa")
    row: tuple[Cell, ...] = (
        "rating",
        Number(kappa),
        Number(estimate(gwet_ac(ratings, weights), statistic="ac2")),
        Number(estimate(gwet_ac(ratings))),
        Number(estimate(icc(numbers, "A,1"), numbers)),
        cells.percent(estimate(percent(ratings))),
        count(kappa.places, RATING, part="twice"),
    )
    notes = ("Quadratic weights. Clustered by owner.", *few_runs_warning(kappa.places, "sequences"))
    head = ("", "Weighted kappa", "AC2", "AC1", "ICC(A,1)", "Same rating", "Sequences")
    return Section(title, tables=(Table("fingertip-twice", title, head, (row,), _SOURCE, notes),))


_SELF = "owners with themselves"


def sim2_by_unit(study_data: StudyData, units: Sequence[Unit]) -> tuple[dict[str, float], dict[str, int]]:
    """Return Sim2 by unit, and the number without it by reason.

    The owner's sequence is the run beside which a unit is rated. The other user's is that of the most similar intent
    among all demonstrations of the file by users of another type, by the embedding model if one is named, else by
    Levenshtein. Of several equally similar ones the mean similarity counts.
    """
    others = OtherUsers(context_of(study_data.further.runs(), MetricTerms(embed=study_data.further.embed)))
    left_out: dict[str, int] = {}
    likenesses: dict[str, float] = {}
    for unit in units:
        case, own = (study_data.case(run) for run in (*unit.runs, "", "")[:2])
        why, texts = _texts(others, case, own)
        if texts is not None and (far := mean_similarity(texts[0], texts[2:])):
            likenesses[unit.id] = similarity(texts[0], texts[1]) / far
        else:
            why = why or _NO_SIMILARITY
            left_out[why] = left_out.get(why, 0) + 1
    return likenesses, left_out


_NO_SIMILARITY = "shares nothing with the other user's sequence"


def _texts(others: OtherUsers, case: MeasuredRun | None, own: MeasuredRun | None) -> tuple[str, tuple[str, ...] | None]:
    """Return the sequences of a run, its owner and other users, or the reason if one is missing."""
    if case is None or own is None:
        return "its run, or its owner's, is not in this file", None
    others_texts, why = others.comparable_episodes(Execution(case, own, len(own.steps), None))
    if not others_texts:
        return why, None
    texts = (sequence_of(case), sequence_of(own), *(others.sequence(other) for other in others_texts))
    return ("too long to compare", None) if max(map(len, texts)) > LONGEST else ("", texts)
