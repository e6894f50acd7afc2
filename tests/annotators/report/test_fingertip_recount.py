"""FingerTip-20K A.6.6, the same-intent study and guesses, each cell counted anew: owners, repeats, judges of parts."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import combinations
from math import hypot
from pathlib import Path
from random import Random
from statistics import fmean, median
from typing import Any, NamedTuple

import pytest

from annotators.protocols import protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Assignment, Unit, UnitText
from lab.core.task.task import Actor, Task
from lab.studies.rating.drafts import Times
from lab.studies.rating.rating_session import RatingSession
from store.store import Store
from tests.annotators.report import recounting as re
from tests.annotators.report.recounting import Answers, Lab, Row, Said, same
from tests.loaded_late import LoadedLate
from tests.papers import run
from tests.studies import frozen, study

metrics = LoadedLate("sklearn.metrics")

OWNERS, RATERS, JUDGES = ("O1", "O2", "O3", "O4"), ("R1", "R2", "R3"), ("gpt:all", "gpt:half")
MODELS = ("aguvis", "appagent", "qwen")
EPISODES = {f"e{at:02}": OWNERS[at % 4] for at in range(12)}
RATED = {f"{episode}-{model}": (episode, model) for episode in EPISODES for model in MODELS}
AGAIN = [unit for at, unit in enumerate(RATED) if at % 3 == 0]
TEXTS = {f"t{at:02}": ("people", "gpt")[at % 2] for at in range(14)}
USERS = {unit: f"user{at % 6}" for at, unit in enumerate(TEXTS)}
GUESSES = ("order lunch", "Order the usual lunch", "get lunch", "call mum", "set an alarm", "play music")
"""What people guess; of the last three most say otherwise, or cannot tell."""
SHARED, UNTIMED = (1, 2, 4, 7), "R3"
"""The episodes that all guess, and whose guesses come from a file, which tells no times."""
INTENT = Task("lunch", "general", instruction="Order the usual lunch.")


def _freeze(db: Path) -> None:
    with Store.open(db) as store:
        runs = [run(f"run-{unit}", INTENT, model) for unit, (_, model) in RATED.items()]
        store.runs.add_all(runs + [run(f"own-{episode}", INTENT, f"@{owner}") for episode, owner in EPISODES.items()])
        units = [
            Unit(unit, runs=(f"run-{unit}", f"own-{episode}"), cluster=EPISODES[episode], owner=EPISODES[episode])
            for unit, (episode, _) in RATED.items()
        ]
        plan = study(units, protocol("personal-rating"), id="rating", raters=OWNERS)
        store.studies.freeze(plan, units)
        sheets = [(unit, 1) for unit in RATED] + [(unit, 2) for unit in AGAIN]
        store.studies.deal(
            plan,
            [
                Assignment("rating", 1, EPISODES[RATED[unit][0]], at, unit, "main" if number == 1 else "repeat", number)
                for at, (unit, number) in enumerate(sheets)
            ],
        )
        texts = [
            Unit(unit, cluster=USERS[unit], given=(UnitText("A", f"want {unit}"), UnitText("B", f"guess {unit}")),
                 hidden={"source": source})
            for unit, source in TEXTS.items()
        ]  # fmt: skip
        frozen(store, texts, protocol("same-intent"), id="same", raters=RATERS)
        episodes = [Unit(episode, runs=(f"own-{episode}",), cluster=owner) for episode, owner in EPISODES.items()]
        frozen(store, episodes, protocol("intent-guess"), id="guess", raters=RATERS)
        pairs = [
            Unit(f"v{at}", given=(UnitText("Wanted", INTENT.instruction, side="A"), UnitText("Guess", guess, side="B")))
            for at, guess in enumerate(GUESSES)
        ]
        frozen(store, pairs, protocol("same-intent"), id="verdicts", raters=RATERS)


def _rows(
    draw: Random, field: str, words: Sequence[str], units: Iterable[str], *, person: bool
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for at, unit in enumerate(units):
        word = draw.choice(words) if draw.random() < 0.4 else words[at % len(words)]
        lacks = draw.random() < 0.15
        rows.append({"unit": unit, "field": field, **({"missing": "cannot_judge"} if lacks else {"value": word})})
        rows += [{"unit": unit, "commit": True}] if person else []
    return rows


def _guess(db: Path, rater: str, rows: Sequence[dict[str, Any]]) -> None:
    """On the sheets, each so many seconds after it was shown; some of them away, and once longer than it took."""
    with Store.open(db) as store:
        plan = store.studies.study("guess")
        desk = RatingSession(store, plan, Actor("human", rater))
        sheets = {one.unit: one for one in store.studies.assignments(plan, rater)}
        for at, row in enumerate(row for row in rows if "field" in row):
            desk.open(sheets[row["unit"]])
            shown = (datetime.now(UTC) - timedelta(seconds=5 + at * 3)).isoformat()
            said = {"missing": row["missing"]} if "missing" in row else {"value": row["value"]}
            desk.answer(FieldReference("", "guess"), **said, times=Times(shown, idle_ms=(1500.0, 60_000.0)[at % 2]))
            desk.commit()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    made = Lab(tmp_path_factory.mktemp("fingertip"))
    _freeze(made.db)
    draw, scale = Random(3), ("1", "2", "3", "4", "5")
    for owner in OWNERS:
        own = [unit for unit, (episode, _) in RATED.items() if EPISODES[episode] == owner]
        made.label("rating", owner, _rows(draw, "personal", scale, own, person=True))
        again = [unit for unit in AGAIN if unit in own]
        if owner != "O4":  # who never came back
            made.label("rating", owner, _rows(draw, "personal", scale, again, person=True), run=2)
    answers, ids = ("same", "not_same", "cannot_tell"), list(TEXTS)
    for at, rater in enumerate(RATERS):
        made.label("same", rater, _rows(draw, "same", answers, ids[at:], person=True))
    made.label("same", "gpt:all", _rows(draw, "same", answers[:2], ids, person=False))
    made.label("same", "gpt:half", _rows(draw, "same", answers[:2], ids[::2], person=False))
    for at, rater in enumerate(RATERS):
        some = [episode for n, episode in enumerate(EPISODES) if n % 3 == at or n in SHARED]
        rows = _rows(draw, "guess", GUESSES, some, person=True)
        if rater == UNTIMED:
            made.label("guess", rater, rows)
        else:
            _guess(made.db, rater, rows)
        words = [answers[0] if n < 3 else answers[n % 3] for n in range(len(GUESSES))]
        rows = [{"unit": f"v{n}", "field": "same", "value": word} for n, word in enumerate(words)]
        made.label("verdicts", rater, [one for row in rows for one in (row, {"unit": row["unit"], "commit": True})])
    return made


# -- ratings ---------------------------------------------------------------------------------------------------


def _ratings(answers: Answers, run: int = 1) -> list[Row]:
    found = []
    for unit, (episode, _) in RATED.items():
        said = answers.at(unit, "", "personal", EPISODES[episode], run)
        value = None if said.value is None else float(said.value)
        found.append(Row(unit, episode, EPISODES[episode], (Said(value, said.why),)))
    return found


@pytest.mark.parametrize("model", MODELS)
def test_mean_rating_of_a_model(lab: Lab, model: str) -> None:
    row = lab.tables("rating")["fingertip-table-13"].row(model)
    rated = [one for one in _ratings(lab.answers("rating")) if one.values and RATED[one.unit][1] == model]
    told = row["User Rating"]["agreement"]
    assert told["value"] == pytest.approx(re.mean(rated))
    owners = {one.cluster for one in rated}
    assert (told["places"], told["traces"], told["raters"]) == (len(rated), len(owners), len(owners))
    ends = re.jackknife(rated, re.mean, 5.0, 1.0, 1)
    assert (told["low"], told["high"]) == pytest.approx(ends, abs=1e-7)
    re.is_count(row["Sequences"], len(rated))


@pytest.mark.parametrize("model", MODELS)
def test_how_often_a_model_is_rated_above_the_others(lab: Lab, model: str) -> None:
    row = lab.tables("rating")["fingertip-wins"].row(model)
    by = {one.unit: one.values[0] for one in _ratings(lab.answers("rating")) if one.values}
    wins = []
    for episode in EPISODES:
        others = [by[f"{episode}-{other}"] for other in MODELS if other != model and f"{episode}-{other}" in by]
        own = by.get(f"{episode}-{model}")
        if own is not None and others:
            wins.append(fmean((own > other) + (own == other) / 2 for other in others))
    told = row["Rated above"]["agreement"]
    assert (told["value"], told["places"]) == (pytest.approx(fmean(wins)), len(wins))


def test_ratings_given_twice(lab: Lab) -> None:
    """Of what was to be rated again; who never came back lacks it."""
    row = lab.tables("rating")["fingertip-twice"].row("rating")
    answers = lab.answers("rating")
    first, again = ({one.unit: one for one in _ratings(answers, number)} for number in (1, 2))
    rows = []
    for unit in AGAIN:
        one, other = first[unit].said[0], again[unit].said[0]
        both = one.value is not None and other.value is not None
        why = "" if both else other.why if other.value is None else one.why
        rows.append(first[unit]._replace(said=(one, other) if both else (Said(None, why), Said(None))))
    owners = len({row.cluster for row in rows if row.values})
    check = partial(same, rows=rows, by_item=True, adds=2, raters=owners)

    def weighted(some: Sequence[Row]) -> float | None:
        pairs = [row.values for row in some if row.values]
        return float(metrics.cohen_kappa_score(*zip(*pairs, strict=True), labels=[1, 2, 3, 4, 5], weights="quadratic"))

    check(row["Weighted kappa"], weighted)
    check(row["AC1"], re.ac1(5))
    check(row["Same rating"], re.pairs_agree, least=0.0)
    check(row["ICC(A,1)"], re.icc("A,1", 2))
    assert {row["AC2"]["agreement"]["statistic"], row["Weighted kappa"]["agreement"]["statistic"]} == {
        "ac2", "weighted kappa"
    }  # fmt: skip
    reasons = row["AC1"]["agreement"]["reasons"]
    assert reasons["not_handed_in"] == sum(EPISODES[RATED[unit][0]] == "O4" for unit in AGAIN) > 0


# -- same intents ----------------------------------------------------------------------------------------------


def _texts(answers: Answers, *columns: str) -> list[Row]:
    return [
        Row(unit, "", USERS[unit], tuple(answers.at(unit, "", "same", rater) for rater in columns)) for unit in TEXTS
    ]


def test_people_on_same_intents(lab: Lab) -> None:
    row = lab.tables("same")["fingertip-same"].row("same intent")
    items = _texts(lab.answers("same"), *RATERS)
    same(row["Alpha"], re.alpha, items, adds=2)
    same(row["AC1"], re.ac1(3), items)
    same(row["Fleiss' kappa"], re.fleiss, items)
    same(row["Pairs agree"], re.pairs_agree, items, least=0.0, adds=2)


@pytest.mark.parametrize("judge", JUDGES)
def test_judges_of_same_intents(lab: Lab, judge: str) -> None:
    row = lab.tables("same")["fingertip-judges"].row(judge)
    answers = lab.answers("same")
    own = {(unit, ""): answers.at(unit, "", "same", judge) for unit in TEXTS}
    both = re.beside_truth(_texts(answers, *RATERS), own)
    check = partial(same, rows=both, by_item=True, adds=2)
    for name, what in (("Acc", "accuracy"), ("Prec", "precision"), ("Rec", "recall"), ("F1", "f1")):
        check(row[name], re.Judged(what, "same"), least=0.0, where=(judge, name))
    check(row["Cohen kappa"], re.cohen)
    check(row["AC1"], re.ac1(3))
    re.is_count(row["Pairs"], re.counts(both).places)


@pytest.mark.parametrize("source", ["people", "gpt"])
def test_sr1_by_source(lab: Lab, source: str) -> None:
    row = lab.tables("same")["fingertip-sources"].row(source)
    items = [one for one in _texts(lab.answers("same"), *RATERS) if TEXTS[one.unit] == source]
    truths = [re.most(one.said) for one in items if any(said.voice for said in one.said)]
    decided = [truth for truth in truths if truth in ("same", "not_same")]
    told = row["SR1"]["agreement"]
    assert (told["value"], told["places"]) == (pytest.approx(decided.count("same") / len(decided)), len(decided))
    expected = {"no_majority": truths.count(None), "cannot_tell": truths.count("cannot_tell")}
    assert told.get("reasons", {}) == {reason: many for reason, many in expected.items() if many}
    assert told.get("missing", 0.0) == pytest.approx(1 - len(decided) / len(truths))


# -- guesses ---------------------------------------------------------------------------------------------------


def _verdict(answers: Answers, guess: str) -> bool | None:
    unit = f"v{GUESSES.index(guess)}"
    truth = re.most([answers.at(unit, "", "same", rater) for rater in RATERS])
    return {"same": True, "not_same": False}.get(truth)


def test_sr1_of_people_and_of_each(lab: Lab) -> None:
    tables, answers, verdicts = lab.tables("guess", "verdicts"), lab.answers("guess"), lab.answers("verdicts")
    guesses = [
        (episode, rater, said.value, _verdict(verdicts, said.value))
        for episode in EPISODES
        for rater in RATERS
        if (said := answers.at(episode, "", "guess", rater)).value is not None
    ]
    alone = [one for one in guesses if sum(other[0] == one[0] for other in guesses) == 1]
    told = [one for one in alone if one[3] is not None]
    row = tables["fingertip-human"].row("Human, judged by most people")
    _sr1(row["SR1"], [bool(one[3]) for one in told], len(alone) - len(told), len({one[1] for one in told}))
    assert row["Token"] == "-"
    hits = [Row(one[0], "", EPISODES[one[0]], (Said(float(bool(one[3]))),)) for one in told]
    lacks = [Row(one[0], "", EPISODES[one[0]], (Said(None, "not_judged"),)) for one in alone if one[3] is None]
    same(row["SR1, by user"], re.mean, hits + lacks, least=0.0, needs=1, raters=len({one[1] for one in told}))
    for rater in RATERS:
        own = [one[3] for one in guesses if one[1] == rater]
        cell = tables["fingertip-people"].row(rater)
        re.is_count(cell["Guesses"], len(own))
        _sr1(cell["SR1"], [one for one in own if one is not None], own.count(None), 1)


def _sr1(cell: re.Cell, right: Sequence[bool], left: int, raters: int) -> None:
    told = cell["agreement"]
    assert (told["value"], told["places"]) == (pytest.approx(fmean(right)), len(right))
    assert (told["low"], told["high"]) == pytest.approx(re.wilson(sum(right), len(right)))
    assert told["raters"] == raters
    assert told.get("reasons", {}) == ({"not_judged": left} if left else {})
    assert told.get("missing", 0.0) == pytest.approx(left / (left + len(right)))


class Guess(NamedTuple):
    """A guess as it is printed: how many seconds it took, None where that is not told."""

    episode: str
    rater: str
    text: str
    seconds: float | None


def _guesses(lab: Lab) -> list[Guess]:
    found = []
    for one in lab.json("labels", "guess")["labels"]:
        if one["current"] and one["handed_in"] and one["value"] is not None:
            took = None
            if one["shown_at"]:
                apart = datetime.fromisoformat(one["at"]) - datetime.fromisoformat(one["shown_at"])
                took = max(0.0, apart.total_seconds() - one["idle_ms"] / 1000)
            found.append(Guess(one["unit"], one["rater"], one["value"].strip(), took))
    return found


def _alone(guesses: Sequence[Guess]) -> list[Guess]:
    return [one for one in guesses if sum(other.episode == one.episode for other in guesses) == 1]


def _alike(one: str, other: str) -> float:
    """1 - Levenshtein's distance over the longer length, by the matrix of Wagner and Fischer."""
    line = list(range(len(other) + 1))
    for i, sign in enumerate(one, 1):
        before, line = line, [i]
        for j, second in enumerate(other, 1):
            line.append(min(before[j] + 1, line[-1] + 1, before[j - 1] + (sign != second)))
    return 1 - line[-1] / max(len(one), len(other), 1)


def _vector(text: str) -> tuple[float, float]:
    return float(len(text)), float(text.count("u") - 2)


def _cosine(one: str, other: str) -> float:
    (a, b), (c, d) = _vector(one), _vector(other)
    return max(0.0, (a * c + b * d) / (hypot(a, b) * hypot(c, d)))


def _as_rows(guesses: Sequence[Guess], values: Sequence[float | None], why: str = "") -> list[Row]:
    return [
        Row(one.episode, "", EPISODES[one.episode], (Said(value, "" if value is not None else why),))
        for one, value in zip(guesses, values, strict=True)
    ]


def test_likeness_of_guesses_and_what_was_wanted(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    class TextEmbedding:
        def __init__(self, model_name: str) -> None: ...

        def embed(self, documents: list[str]) -> list[tuple[float, float]]:
            return [_vector(text) for text in documents]

    library = types.ModuleType("fastembed")
    library.TextEmbedding = TextEmbedding  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fastembed", library)
    report = lab.json("report", "guess", "--embed", "local:tiny")
    (table,) = [t for part in report["sections"] for t in part.get("tables", ()) if t["id"] == "fingertip-human"]
    row = re.Table(table["columns"], table["rows"]).row("Human")
    alone = _alone(_guesses(lab))
    half = [_alike(one.text, INTENT.instruction) for one in alone]
    whole = [(_cosine(one.text, INTENT.instruction) + value) / 2 for one, value in zip(alone, half, strict=True)]
    raters = len({one.rater for one in alone})
    same(row["Levenshtein"], re.mean, _as_rows(alone, half), least=0.0, needs=1, raters=raters)
    same(row["Sim1"], re.mean, _as_rows(alone, whole), least=0.0, needs=1, raters=raters)
    assert len(alone) > 3
    assert len(set(half)) > 2


def test_how_long_guesses_took(lab: Lab) -> None:
    """Time away is taken off; what came from a file tells no time, and is missing."""
    row, alone = lab.tables("guess")["fingertip-human"].row("Human"), _alone(_guesses(lab))
    times = [one.seconds for one in alone]
    rows = _as_rows(alone, times, "no_time")
    told = [one for one in times if one is not None]
    raters = len({one.rater for one in alone if one.seconds is not None})
    same(row["Time (s)"], re.mean, rows, upper=None, least=0.0, needs=1, raters=raters, near=1e-6)
    middle = row["Time, median (s)"]["agreement"]
    assert (middle["value"], middle["places"]) == (pytest.approx(median(told)), len(told))
    assert middle["reasons"] == {"no_time": len(times) - len(told)}
    assert 0.0 in told
    assert None in times


def test_how_alike_guesses_of_one_episode_are(lab: Lab) -> None:
    table, guesses, verdicts = (
        lab.tables("guess", "verdicts")["fingertip-shared"], _guesses(lab), lab.answers("verdicts")
    )  # fmt: skip
    shared = [episode for episode in EPISODES if sum(one.episode == episode for one in guesses) > 1]
    re.is_count(table.row("episodes")["Value"], len(shared))
    likeness, texts = [], []
    for episode in shared:
        pairs = [*combinations([one.text for one in guesses if one.episode == episode], 2)]
        likeness.append(fmean(_alike(one, other) for one, other in pairs))
        texts.append(fmean(one.casefold() == other.casefold() for one, other in pairs))
    raters = len({one.rater for one in guesses if one.episode in shared})
    for says, values in (
        ("likeness of two guesses (Levenshtein)", likeness), ("two guesses are the same text", texts)
    ):  # fmt: skip
        rows = [Row(one, "", EPISODES[one], (Said(value),)) for one, value in zip(shared, values, strict=True)]
        same(table.row(says)["Value"], re.mean, rows, least=0.0, needs=1, raters=raters, where=says)
    by = {(one.episode, one.rater): _verdict(verdicts, one.text) for one in guesses if one.episode in shared}
    items = []
    for episode in shared:
        right = {rater: by[episode, rater] for rater in RATERS if (episode, rater) in by}
        said = [
            Said(None) if rater not in right else Said(None, "not_judged") if right[rater] is None
            else Said("same" if right[rater] else "not_same")
            for rater in RATERS
        ]  # fmt: skip
        items.append(Row(episode, "", EPISODES[episode], tuple(said)))
    says = "right or wrong together, judged by most people"
    same(table.row(f"{says}: pairs agree")["Value"], re.pairs_agree, items, least=0.0, adds=2)
    same(table.row(f"{says}: AC1")["Value"], re.ac1(2), items)
    assert len({EPISODES[one] for one in shared}) > 2
