"""FingerTip 20K: guesses, same intents, owners' ratings, success by checkers; by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotators.agreement.intervals.intervals import wilson
from annotators.papers.fingertip import guess_table, rating_table, same_intent_table, success_table
from lab.core.run.step import Action
from lab.core.study.study import Gold, Unit, UnitText
from lab.core.task.task import Persona, Task
from store.store import Store
from tests.papers import Rated, column, number, row, run, sound, table, value

EPISODES = {"e1": ("P1", "abcd"), "e2": ("P1", "abcd"), "e3": ("P2", "abcd"), "e4": ("P2", "abcd"), "e5": ("P2", "ab")}
GUESSES = {"e1": ("abcd", ""), "e2": ("", "abzz"), "e3": ("abcz", ""), "e4": ("", "zzzz"), "e5": ("a", "ab")}
PAIRS = {
    "e1": ("abcd", "same same same"), "e2": ("abzz", "not_same not_same same"), "e3": ("abcz", "same same not_same"),
    "e4": ("zzzz", "cannot_tell cannot_tell not_same"),
}  # fmt: skip
JUDGED = {"e1": "same", "e2": "same", "e3": "not_same", "e4": "not_same"}


def task(id: str, user: str, intent: str) -> Task:
    return Task(id, "personalized", instruction=intent, persona=user)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def guessed(store: Store) -> Rated:
    runs = [run(id, task(id, user, intent), f"@{user}") for id, (user, intent) in EPISODES.items()]
    units = [Unit(id, runs=(id,), cluster=user) for id, (user, _) in EPISODES.items()]
    made = Rated(store, "intent-guess", units, runs, raters=("R1", "R2"))
    for id, both in GUESSES.items():
        for code, text in zip(("R1", "R2"), both, strict=True):
            if text:
                made.say(id, code, {"guess": text}, shown_at="2026-04-01T08:59:50.000000+00:00")
    return made


def same_intents(store: Store) -> Rated:
    units = [
        Unit(f"p-{id}", given=(UnitText("Wanted", "abcd", side="A"), UnitText("Guess", text, side="B")),
             cluster=EPISODES[id][0], hidden={"source": "human" if id < "e4" else "model-x"})
        for id, (text, _) in PAIRS.items()
    ]  # fmt: skip
    made = Rated(store, "same-intent", units)
    made.all_say("same", {f"p-{id}": words for id, (_, words) in PAIRS.items()})
    for id, word in JUDGED.items():
        made.say(f"p-{id}", "model:ds", {"same": word})
    return made


# -- 7a --------------------------------------------------------------------------------------------------------


def test_guesses_are_right_by_most_peoples_word_and_by_each_judges(store: Store) -> None:
    made, _ = guessed(store), same_intents(store)
    found = guess_table.sections(made.studied("same-intent"))
    sound(found)
    human = table(found, "fingertip-human")
    people, judge = row(human, "Human, judged by most people"), row(human, "Human, judged by model:ds")
    assert value(people["SR1"]) == pytest.approx(2 / 3), "e4 cannot be told, e5 has several guesses and another text"
    assert (number(people["SR1"]).low, number(people["SR1"]).high) == pytest.approx(wilson(2, 3))
    assert number(people["SR1, by user"]).traces == 2
    assert value(judge["SR1"]) == pytest.approx(2 / 4)
    assert value(people["Levenshtein"]) == pytest.approx((1 + 0.5 + 0.75 + 0) / 4)
    assert "embedding model" in number(people["Sim1"]).undefined
    assert value(people["Time (s)"]) == pytest.approx(10, abs=0.5)
    assert column(table(found, "fingertip-people"), "SR1") == pytest.approx({"R1": 1.0, "R2": 0.0})


def test_sim1_takes_an_embedding_model(store: Store) -> None:
    studied = guessed(store).studied()
    vectors = {"abcd": (1.0, 0.0), "abzz": (0.0, 1.0), "abcz": (3.0, 4.0), "zzzz": (-1.0, 0.0)}
    studied.further = studied.further._replace(embed=lambda texts: [vectors[text] for text in texts], embedder="tiny")
    human = table(guess_table.sections(studied), "fingertip-human")
    halves = [(1, 1), (0, 0.5), (0.6, 0.75), (0, 0)]
    assert value(row(human, "Human")["Sim1"]) == pytest.approx(sum(a + b for a, b in halves) / 8)
    assert any("embeddings: tiny" in note for note in human.notes)


def test_guesses_of_one_episode_are_compared_with_each_other(store: Store) -> None:
    found = guess_table.sections(guessed(store).studied())
    sound(found)
    shared = column(table(found, "fingertip-shared"), "Value")
    assert shared == pytest.approx(
        {"episodes": 1, "likeness of two guesses (Levenshtein)": 0.5, "two guesses are the same text": 0}
    )
    assert number(row(table(found, "fingertip-human"), "Human")["SR1"]).undefined.startswith("nobody has judged")


def test_where_all_episodes_are_shared_one_counts_once(store: Store) -> None:
    made = guessed(store)
    for id, text in (("e1", "x"), ("e2", "y"), ("e3", "z"), ("e4", "w")):
        made.say(id, "R2" if GUESSES[id][0] else "R1", {"guess": text})
    same_intents(store)
    found = guess_table.sections(made.studied("same-intent"))
    sound(found)
    people = row(table(found, "fingertip-human"), "Human, judged by most people")
    assert number(people["SR1"]).undefined.startswith("episodes count several guesses")
    assert value(people["SR1, by user"]) == pytest.approx(2 / 3)
    assert value(people["Levenshtein"]) == pytest.approx((0.5 + 0.25 + 0.375 + 0 + 0.75) / 5)


# -- 7b --------------------------------------------------------------------------------------------------------


def test_people_agree_over_three_categories_and_judges_stand_against_most_of_them(store: Store) -> None:
    found = same_intent_table.sections(same_intents(store).studied())
    sound(found)
    people = row(table(found, "fingertip-same"), "same intent")
    agree = (1 + 1 / 3 * 3) / 4
    assert value(people["Pairs agree"]) == pytest.approx(agree)
    shares = (6 / 12, 4 / 12, 2 / 12)
    fleiss, ac1 = sum(one * one for one in shares), sum(one * (1 - one) for one in shares) / 2
    assert value(people["Fleiss' kappa"]) == pytest.approx((agree - fleiss) / (1 - fleiss))
    assert value(people["AC1"]) == pytest.approx((agree - ac1) / (1 - ac1))
    expected = 1 - sum(n * (n - 1) for n in (6, 4, 2)) / (12 * 11)
    assert value(people["Alpha"]) == pytest.approx(1 - (1 - agree) / expected)
    assert number(people["Alpha"]).traces == 2
    judge = row(table(found, "fingertip-judges"), "model:ds")
    assert [value(judge[name]) for name in ("Acc", "Prec", "Rec", "F1")] == pytest.approx([1 / 4, 1 / 2, 1 / 2, 1 / 2])
    chance = (2 * 2 + 1 * 2 + 1 * 0) / 16
    assert value(judge["Cohen kappa"]) == pytest.approx((1 / 4 - chance) / (1 - chance))


def test_sr1_is_told_by_source(store: Store) -> None:
    sources = table(same_intent_table.sections(same_intents(store).studied()), "fingertip-sources")
    assert value(row(sources, "human")["SR1"]) == pytest.approx(2 / 3)
    assert number(row(sources, "model-x")["SR1"]).undefined == "no pair of it is settled"


# -- 7c --------------------------------------------------------------------------------------------------------

O1, O2 = Persona("O1", "O1", {"age": 24}), Persona("O2", "O2", {"age": 37})
WAYS = {("m1", "E1"): "aaaa", ("m2", "E1"): "aabb", ("m3", "E1"): "bbbb",
        ("m1", "E2"): "bbbb", ("m2", "E2"): "aabb", ("m3", "E2"): "aaaa"}  # fmt: skip
RATINGS = {("m1", "E1"): 5, ("m2", "E1"): 3, ("m3", "E1"): 1, ("m1", "E2"): 4, ("m2", "E2"): 4, ("m3", "E2"): 2}


def typed(text: str) -> list[Action]:
    return [Action("input_text", text=text)]


def owned(store: Store) -> Rated:
    asked = {"E1": task("t1", "O1", "order tea"), "E2": task("t2", "O2", "order tea")}
    owner = {"E1": O1, "E2": O2}
    runs = [
        run("E1", asked["E1"], "@O1", typed("aaaa"), persona=O1),
        run("E2", asked["E2"], "@O2", typed("bbbb"), persona=O2),
        *(run(f"{m}{e}", asked[e], m, typed(text), persona=owner[e]) for (m, e), text in WAYS.items()),
    ]
    units = [Unit(f"{m}{e}", runs=(f"{m}{e}", e), owner=owner[e].id, cluster=owner[e].id) for m, e in WAYS]
    made = Rated(store, "personal-rating", units, runs, raters=("O1", "O2"))
    for (model, episode), rating in RATINGS.items():
        made.say(f"{model}{episode}", owner[episode].id, {"personal": str(rating)})
    return made


def test_table_13_and_what_goes_together_within_episodes(store: Store) -> None:
    found = rating_table.sections(owned(store).studied())
    sound(found)
    thirteen = table(found, "fingertip-table-13")
    # "type(text='aaaa')" and "type(text='bbbb')": 4 of 17 characters differ
    assert column(thirteen, "Sim2") == pytest.approx({"m1": 17 / 13, "m2": 1, "m3": 13 / 17})
    assert column(thirteen, "User Rating") == pytest.approx({"m1": 4.5, "m2": 3.5, "m3": 1.5})
    within = table(found, "fingertip-within")
    rho = row(within, "Spearman's rho of Sim2 and rating, mean over episodes")
    assert value(rho["Value"]) == pytest.approx((1 + 1.5 / 3**0.5) / 2)
    pairs = row(within, "pairs in which the higher Sim2 has the higher rating")
    assert (value(pairs["Value"]), value(pairs["n"])) == (1, 5), "one pair of six is tied"
    wins = table(found, "fingertip-wins")
    assert column(wins, "Rated above") == pytest.approx({"m1": 0.875, "m2": 0.625, "m3": 0})
    assert found[-1].says == ("No sequence was rated twice, so nothing tells how steady owners are.",)
    assert len(found[0].pictures) == 1


def test_what_owners_say_the_second_time_is_weighed(store: Store) -> None:
    made = owned(store)
    for unit, code, rating in (("m1E1", "O1", "4"), ("m2E1", "O1", "3"), ("m3E2", "O2", "2")):
        made.say(unit, code, {"personal": rating}, run=2)
    found = rating_table.sections(made.studied())
    sound(found)
    twice = row(table(found, "fingertip-twice"), "rating")
    assert value(twice["Weighted kappa"]) == pytest.approx(1 - (1 / 3) / (21 / 9))
    assert value(twice["Same rating"]) == pytest.approx(2 / 3)
    assert value(twice["Sequences"]) == 3
    assert number(twice["Weighted kappa"]).traces == 2
    assert value(row(table(found, "fingertip-table-13"), "m1")["User Rating"]) == 4.5, "the first time counts"


def test_ratings_without_demonstrations_or_runs_have_no_sim2_and_say_so(store: Store) -> None:
    made = Rated(store, "personal-rating", [Unit("x", runs=("x", "y"), owner="O1", cluster="O1")], raters=("O1",))
    assert rating_table.sections(made.studied())[0].says == ("Nobody has handed in a rating yet.",)
    made.say("x", "O1", {"personal": "3"})
    found = rating_table.sections(made.studied())
    sound(found)
    assert found[0].says == ("1 sequence without Sim2: its run, or its owner's, is not in this file.",)
    assert number(row(table(found, "fingertip-table-13"), "run not here")["Sim2"]).value is None


# -- 7d --------------------------------------------------------------------------------------------------------


def test_sr2_counts_what_a_rule_failed_and_checkers_agree_on_the_others(store: Store) -> None:
    of = {"a": "P1", "b": "P1", "c": "P2", "d": "P2"}
    runs = [run(id, task(id, user, "go"), "m1", source="fingertip") for id, user in of.items()]
    ruled = (Gold("", "outcome", "failure", "9 steps, more than 2.5 x 3 golden steps"),)
    units = [Unit(id, runs=(id,), mechanical=ruled if id == "d" else ()) for id in of]
    made = Rated(store, "success", units, runs, raters=("C1", "C2"))
    made.all_say("outcome", {"a": "success success", "b": "failure failure", "c": "success failure"})
    found = success_table.sections(made.studied())
    sound(found)
    every = row(table(found, "fingertip-sr2"), "m1")
    assert value(every["SR2"]) == pytest.approx(1 / 3), "c is not settled, d has failed"
    assert number(every["SR2, by user"]).traces == 2
    assert value(every["Failed by rule"]) == 1
    checkers = row(table(found, "fingertip-checkers"), "outcome")
    assert value(checkers["Agree"]) == pytest.approx(2 / 3)
    assert value(checkers["Cohen's kappa"]) == pytest.approx((2 / 3 - 4 / 9) / (5 / 9))


def test_a_study_of_other_runs_says_nothing_of_sr2(store: Store) -> None:
    made = Rated(store, "success", [Unit("a", runs=("a",))], [run("a", task("a", "P1", "go"))])
    assert success_table.sections(made.studied()) == []


def test_nothing_handed_in_is_a_sentence(store: Store) -> None:
    guess = Rated(store, "intent-guess", [Unit("a", runs=("a",))])
    assert guess_table.sections(guess.studied())[0].says == ("Nobody has handed in a guess yet.",)
    same = Rated(store, "same-intent", [Unit("a", given=(UnitText("A", "x", side="A"), UnitText("B", "y", side="B")))])
    assert same_intent_table.sections(same.studied())[0].says == ("Nobody has handed in an answer yet.",)
