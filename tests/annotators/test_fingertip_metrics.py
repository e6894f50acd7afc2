"""FingerTip-20K's numbers, worked out by hand: guesses of an intent, and doing it as its user would."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import fsum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.papers.fingertip.metrics import measure
from annotators.papers.fingertip.text_similarity import (
    LONGEST,
    cosine,
    mean_similarity,
    most_similar,
    similarity,
)
from annotators.papers.fingertip.tracks import action_text, executions_of, guess_in, sequence_of, type_of
from annotators.papers.metrics import LeftOutTally, MetricTerms, PaperNumber, context_of
from lab.core.run.measured_run import MeasuredRun, MeasuredStep
from lab.core.run.run_records import Verdict
from lab.core.run.step import Action, Question, Usage
from lab.core.run.trace import Source
from lab.core.task.task import Actor, Persona, Task
from tests.fuzzing_examples import examples

MODEL = Actor("model", "m")
FEW = st.text(alphabet="abc", max_size=12)


def did(*actions: Action) -> list[MeasuredStep]:
    return [MeasuredStep(action, action) for action in actions]


def click(x: int, y: int = 0) -> Action:
    return Action("click", at=(x, y))


FINISH = Action("status", status="complete")


def user(name: str, age: object = None) -> Persona:
    return Persona(name, name, {} if age is None else {"age": age})


def shown(task: str, intent: str, who: Persona, *actions: Action) -> MeasuredRun:
    """An episode of the dataset: its user did it."""
    design = Task(task, "personalized", instruction=intent, persona=who.id)
    return MeasuredRun(f"gold {task}", design, Actor("human", who.id), did(*actions), "completed", persona=who)


def run(task: str, intent: str, *actions: Action, score: float | None = None, **more: Any) -> MeasuredRun:
    """An agent's run of an episode's intent."""
    design = Task(task, "personalized", instruction=intent)
    return MeasuredRun(f"run {task}", design, MODEL, did(*actions), "completed", score=score)._replace(**more)


def guess(task: str, text: str | None, **more: Any) -> MeasuredRun:
    """An agent's guess of an episode's intent, as its final answer."""
    design = Task(task, "proactive", traits=more.pop("traits", {}))
    steps = did(Action("answer", text=text))
    return MeasuredRun(f"guess {task}", design, MODEL, steps, "completed")._replace(**more)


def numbers(*cases: MeasuredRun, **terms: Any) -> dict[tuple[str, str], PaperNumber]:
    told = measure(cases, context_of(cases, MetricTerms(**terms)))
    keyed: dict[tuple[str, str], PaperNumber] = {(n.metric, n.part): n for n in told}
    assert len(keyed) == len(told)
    for number in told:
        assert number.paper == "fingertip"
        assert (number.value is None) == bool(number.undefined), number
    return keyed


def plain_distance(one: str, other: str) -> int:
    """The textbook's matrix, row by row."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        above, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    return row[-1]


def plain_similarity(one: str, other: str) -> float:
    longest = max(len(one), len(other))
    return 1 - plain_distance(one, other) / longest if longest else 1.0


@pytest.mark.parametrize(
    ("one", "other", "far"),
    [
        ("kitten", "sitting", 3),
        ("", "abc", 3),
        ("abc", "abc", 0),
        ("flaw", "lawn", 2),
        ("点外卖", "点个外卖", 1),
        ("", "", 0),
    ],
)
def test_the_similarity_of_two_texts(one: str, other: str, far: int) -> None:
    assert plain_distance(one, other) == far
    assert similarity(one, other) == similarity(other, one) == plain_similarity(one, other)


@settings(deadline=None)
@given(FEW, FEW)
def test_the_similarity_is_the_textbooks(one: str, other: str) -> None:
    assert similarity(one, other) == plain_similarity(one, other)


@settings(deadline=None)
@given(st.text(min_size=60, max_size=90), st.text(alphabet="ab", min_size=60, max_size=200))
def test_and_of_texts_longer_than_a_machine_word(one: str, other: str) -> None:
    assert similarity(one, other) == plain_similarity(one, other)


LONG = st.text(alphabet="ab日\ud800😀", max_size=150)


@settings(deadline=None, max_examples=examples(40))
@given(LONG, st.lists(LONG, min_size=1, max_size=24))
def test_one_text_is_as_similar_to_many_as_the_textbook_has_it(text: str, others: list[str]) -> None:
    each = [plain_similarity(text, other) for other in others]
    assert mean_similarity(text, others) == fsum(each) / len(each)
    assert most_similar(text, others) == [at for at, value in enumerate(each) if value == max(each)]


def test_texts_of_any_lengths_around_the_edges_of_machine_words() -> None:
    """With equal texts, empty ones, and texts that begin and end alike."""
    sizes = (0, 1, 2, 62, 63, 64, 65, 127, 128, 129, 200)
    pairs = [(("ab" * 200)[:one] + "x", "y" + ("ba" * 200)[:other]) for one in sizes for other in sizes]
    pairs += [("head" + "a" * size + "tail", "head" + "b" * (size // 2) + "tail") for size in sizes]
    assert len(pairs) > 100
    for one, other in pairs:
        assert similarity(one, other) == plain_similarity(one, other)


@settings(deadline=None)
@given(FEW, FEW)
def test_similarity_is_from_0_to_1_and_the_same_both_ways(one: str, other: str) -> None:
    assert 0 <= similarity(one, other) == similarity(other, one) <= 1
    assert similarity(one, one) == 1


def test_similarity_is_one_less_the_distance_over_the_longer_length() -> None:
    assert similarity("kitten", "sitting") == 1 - 3 / 7
    assert similarity("", "abc") == 0
    assert similarity("", "") == 1


def test_the_cosine_is_cut_off_at_0() -> None:
    assert cosine([1, 0], [1, 1]) == pytest.approx(2**-0.5)
    assert cosine([1, 0], [-1, 0]) == 0
    assert cosine([0, 0], [1, 0]) == 0
    assert cosine([2, 4], [1, 2]) == pytest.approx(1)
    huge, tiny = 1e300, 1e-300
    assert cosine([huge, huge], [huge, 0]) == cosine([tiny, tiny], [tiny, 0]) == pytest.approx(2**-0.5)
    assert cosine([huge, -huge], [huge, huge]) == 0


@settings(deadline=None)
@given(st.lists(FEW, min_size=1, max_size=12), FEW)
def test_of_several_equally_similar_texts_all_are_found(texts: list[str], text: str) -> None:
    best = max(similarity(text, other) for other in texts)
    assert most_similar(text, texts) == [place for place, other in enumerate(texts) if similarity(text, other) == best]
    assert most_similar(text, []) == []


INTENT = "order a coffee"
GOLD = shown("u1/1", INTENT, user("u1", 25), click(1), FINISH)


def test_without_an_embedding_model_the_levenshtein_half_stands_under_its_own_name() -> None:
    told = numbers(GOLD, guess("u1/1", "order a toffee"), guess("u1/1", " order a coffee "), guess("u1/1", None))
    # 1 letter of 14 differs; the second is the intent itself; the third guessed nothing
    assert told["Levenshtein", ""].value == pytest.approx((13 / 14 + 1) / 2)
    assert told["Levenshtein", ""].left_out == (("without a guess", 1),)
    assert told["Sim1", ""].undefined.startswith("no embedding model was named")
    assert told["SR1", ""].undefined == "nobody has judged a guess"


def test_sim1_is_the_mean_of_cosine_and_levenshtein() -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[1.0, 0.0] if text == INTENT else [3.0, 4.0] for text in texts]

    told = numbers(GOLD, guess("u1/1", "order a toffee"), embed=embed, embedder="tiny")
    # cosine of (3, 4) and (1, 0) is 3/5
    assert told["Sim1", ""].value == pytest.approx((3 / 5 + 13 / 14) / 2)
    assert told["Sim1", ""].note == "embeddings: tiny"
    assert told["Cosine", ""].value == pytest.approx(3 / 5)
    assert asked == ["order a toffee", INTENT]


def test_sr1_is_what_people_or_a_judge_settled() -> None:
    told = numbers(
        GOLD,
        guess("u1/1", "coffee", marks={"sr1": 1.0}),
        guess("u1/1", "tea", verdicts=[Verdict("sr1", "not same")]),
        guess("u1/1", "milk", verdicts=[Verdict("sr1", True)], marks={"sr1": 0.0}),
        guess("u1/1", "cake", verdicts=[Verdict("sr1", "perhaps")]),
    )
    assert (told["SR1", ""].value, told["SR1", ""].n) == (1 / 3, 3)
    assert told["SR1", ""].left_out == (("not judged", 1),)


def test_people_guess_too_and_a_guess_needs_a_true_intent() -> None:
    human = guess("u1/1", INTENT, agent=Actor("human", "A7"))
    told = numbers(GOLD, human, guess("own", "lamp"), guess("own2", "a lamp", traits={"intent": "the lamp"}))
    assert told["Levenshtein", ""].n == 2
    assert told["Levenshtein", ""].left_out == (("of an unknown intent", 1),)
    assert numbers(guess("own", "lamp"))["SR1", ""].undefined == "no run guesses an intent that is known"


def test_the_guess_is_the_first_proposal_else_the_final_answer() -> None:
    ask = MeasuredStep(Action("ask_user"), Action("ask_user"), question=Question("q", "ask", "Which?"))
    propose = MeasuredStep(Action("ask_user"), Action("ask_user"), question=Question("q", "propose", "A coffee?"))
    ended = did(Action("answer", text="It is done"))
    assert guess_in(guess("x", None, steps=[ask, propose, *ended])) == "A coffee?"
    assert guess_in(guess("x", None, steps=[ask, *ended])) == "It is done"
    assert guess_in(guess("x", None, steps=did(click(1)))) == ""
    assert guess_in(guess("x", None, steps=[])) == ""


def test_a_text_too_long_to_compare_is_left_out() -> None:
    told = numbers(GOLD, guess("u1/1", "x" * (LONGEST + 1)))
    assert told["Levenshtein", ""].left_out == (("too long to compare", 1),)


def test_an_action_sequence_is_one_text() -> None:
    scroll = Action("scroll", at=(5, 60), direction="down")
    steps = did(click(1, 20), Action("input_text", text="milk"), scroll, Action("navigate_back"), FINISH)
    blocked = MeasuredStep(click(9), None)
    assert sequence_of(run("x", "y", steps=[*steps, blocked])) == (
        "click(coordinates=(1,20), content='');type(text='milk');scroll(coordinates=(5,60), direction='down');"
        "press_back();finished()"
    )
    assert action_text(Action("click", at=(0, 0)), "搜索") == "click(coordinates=(0,0), content='搜索')"
    assert action_text(Action("long_press", at=(0, 9))) == "long_click(coordinates=(0,9), content='')"
    assert action_text(Action("click")) == "click(content='')"
    assert action_text(Action("scroll", direction="down")) == "scroll(direction='down')"
    assert action_text(Action("swipe", at=(5, 60), direction="up")) == "scroll(coordinates=(5,60), direction='down')"
    assert action_text(Action("input_text", at=(1, 2))) == "type(text='')"
    assert action_text(Action("press_recent")) == "press_recent()"
    assert action_text(Action("wait", ms=500)) == "wait()"
    assert action_text(Action("open_app", app="Noshwell")) == "open_app(app='Noshwell')"
    assert action_text(Action("drag", at=(1, 2), to=(3, 4))) == "drag(coordinates=(1,2), to=(3,4))"
    assert action_text(Action("answer", text="done")) == "finished()"


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({"age": 25}, "20s"),
        ({"age": "31"}, "30s"),
        ({"age": "18-24"}, "18-24"),
        ({"identity": {"age": 67}}, "60s"),
        ({}, ""),
        ({"age": None}, ""),
        ({"age": []}, ""),
        ({"age": float("nan")}, ""),
        ({"age": float("inf")}, ""),
        ({"identity": "x"}, ""),
    ],
)
def test_a_users_type_is_the_decade_of_their_age(facts: dict[str, object], kind: str) -> None:
    assert type_of(facts) == kind


def test_sim2_compares_with_the_likest_intent_of_another_type() -> None:
    mine = shown("u1/1", "order a coffee", user("u1", 25), click(1), click(2), FINISH)
    peer = shown("u2/1", "order a coffee", user("u2", 28), click(7), FINISH)  # the same type: never taken
    elder = shown("u3/1", "order a toffee", user("u3", 60), click(1), click(9), FINISH)
    other = shown("u4/1", "call my son", user("u4", 61), click(8), FINISH)
    agent = run("u1/1", "order a coffee", click(1), click(2), FINISH)
    told = numbers(mine, peer, elder, other, agent)
    # S_I: the sequences are the same, 1. S_II: a click is 36 characters, "finished()" 10, with 2 semicolons 84 in all,
    # and the elder's second click has a 9 where the agent's has a 2: 1 of 84 differs
    assert told["S_I", ""].value == 1
    assert told["S_II", ""].value == pytest.approx(83 / 84)
    assert told["Sim2", ""].value == pytest.approx(84 / 83)
    assert told["Sim2", ""].n == 1


def test_sim2_is_the_same_in_whatever_order_the_runs_came_in() -> None:
    """Two of another type have the very same intent: S_II is the mean over both."""
    mine = shown("u1/1", "order a coffee", user("u1", 25), click(1), click(2), FINISH)
    near = shown("u3/1", "order a toffee", user("u3", 60), click(1), click(9), FINISH)
    far = shown("u4/1", "order a toffee", user("u4", 60), click(8), click(9), FINISH)
    agent = run("u1/1", "order a coffee", click(1), click(2), FINISH)
    for cases in permutations((mine, near, far, agent)):
        told = numbers(*cases)
        # 1 of 84 characters differs from the one, 2 from the other
        assert told["S_II", ""].value == pytest.approx((83 / 84 + 82 / 84) / 2)
        assert told["Sim2", ""].value == pytest.approx(84 / 82.5)


def test_the_demonstration_that_counts_does_not_depend_on_the_order_either() -> None:
    one = shown("t", INTENT, user("u2", 25), click(1), FINISH)._replace(id="aa")
    other = shown("t", INTENT, user("u3", 25), click(1), click(2), click(3), FINISH)._replace(id="bb")
    agent = run("t", INTENT, click(2), FINISH, score=1.0)
    for cases in permutations((one, other, agent)):
        assert numbers(*cases)["Step Ratio", ""].value == 2 / 2


def test_the_comparison_goes_by_the_embedding_model_where_there_is_one() -> None:
    mine = shown("u1/1", "order a coffee", user("u1", 25), click(1), FINISH)
    spelled = shown("u2/1", "order a toffee", user("u2", 60), click(7), FINISH)
    meant = shown("u3/1", "an espresso please", user("u3", 60), click(1), FINISH)

    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, 0.0] if "coffee" in text or "espresso" in text else [0.0, 1.0] for text in texts]

    cases = (mine, spelled, meant, run("u1/1", "order a coffee", click(1), FINISH))
    assert numbers(*cases, embed=embed)["Sim2", ""].value == 1.0
    # by spelling it is the toffee: 1 of 36 + 1 + 10 characters is another
    assert numbers(*cases)["Sim2", ""].value == pytest.approx(1 / (46 / 47))


def test_why_there_is_no_sim2() -> None:
    agent = run("u1/1", INTENT, click(1), FINISH)
    alone = numbers(GOLD, agent)
    assert alone["Sim2", ""].undefined == "without a demonstration by a user of another type"
    ageless = shown("u1/1", INTENT, user("u1"), click(1), FINISH)
    assert numbers(ageless, agent)["Sim2", ""].undefined == "of a user whose age is not told"
    strange = shown("u3/1", INTENT, user("u3", 60), Action("wait"))
    odd = run("u1/1", INTENT, Action("other", text="~"))
    unlike = numbers(GOLD, strange, odd._replace(steps=[]))
    assert unlike["Sim2", ""].undefined == "sharing nothing with the other user"


def test_the_demonstration_is_that_of_the_same_user_if_there_is_one() -> None:
    first = shown("t", INTENT, user("u1", 25), click(1), FINISH)
    own = shown("t", INTENT, user("u2", 25), click(2), click(3), click(4), FINISH)
    agent = run("t", INTENT, click(2), FINISH, score=1.0, persona=user("u2", 25))
    assert numbers(first, own, agent)["Step Ratio", ""].value == 2 / 4
    assert numbers(first, own, agent._replace(persona=None))["Step Ratio", ""].value == 2 / 2


def test_a_demonstration_of_another_source_under_the_same_number_is_of_another_task() -> None:
    of_fingertip, of_dac = Source("fingertip"), Source("dac")
    ours = run("132", "Buy tea", click(1), source=of_fingertip)
    theirs = shown("132", "Set an alarm", user("u"), click(1))._replace(source=of_dac)
    assert executions_of([ours], {"132": [theirs]}, LeftOutTally()) == []
    same = theirs._replace(source=of_fingertip)
    assert [one.demonstration for one in executions_of([ours], {"132": [theirs, same]}, LeftOutTally())] == [same]


def test_sr2_and_the_step_ratio() -> None:
    def steps(count: int) -> list[Action]:
        return [click(i) for i in range(count)]

    told = numbers(
        GOLD,  # 2 golden steps, so the most is 5
        run("u1/1", INTENT, *steps(3), marks={"sr2": 1.0}),
        run("u1/1", INTENT, *steps(5), score=1.0),
        run("u1/1", INTENT, *steps(6), marks={"sr2": 1.0}),  # past 2.5 times: failed whatever is said
        run("u1/1", INTENT, *steps(2), score=0.0),
        run("u1/1", INTENT, *steps(2)),
        run("u9/9", "something else", *steps(2), score=1.0),
    )
    sr2 = told["SR2", ""]
    assert (sr2.value, sr2.n) == (2 / 4, 4)
    assert sr2.left_out == (("of a task that nobody demonstrated", 1), ("not judged", 1))
    assert sr2.note == "1 failed by taking more than 2.5 times the golden steps"
    assert told["Step Ratio", ""].value == (3 / 2 + 5 / 2) / 2
    assert numbers(run("x", "y"))["SR2", ""].undefined == "no run of a task that a person has demonstrated"


def test_time_and_tokens_of_a_query() -> None:
    asked = [
        MeasuredStep(click(1), click(1), usage=Usage(900, 100, seconds=2.0)),
        MeasuredStep(click(1), click(1), usage=Usage(seconds=4.0)),
        MeasuredStep(click(1), click(1)),
    ]
    told = numbers(GOLD, run("u1/1", INTENT, steps=asked), guess("u1/1", "tea"))
    assert (told["Time", "execution"].value, told["Time", "execution"].n, told["Time", "execution"].of) == (
        3.0,
        2,
        "queries",
    )
    assert told["Token", "execution"].value == 1000
    assert told["Token", "suggestion"].undefined == "no step tells its tokens"


def test_an_open_run_is_not_measured() -> None:
    told = numbers(GOLD, run("u1/1", INTENT, status="open"), guess("u1/1", "tea", status="open"))
    assert told["SR2", ""].left_out == told["SR1", ""].left_out == (("not ended", 1),)
