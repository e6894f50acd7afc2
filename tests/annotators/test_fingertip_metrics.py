"""FingerTip-20K's numbers, worked out by hand: guesses of an intent, and doing it as its user would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.metrics import Number, Tally, Terms, context_of
from annotators.metrics.fingertip import measure
from annotators.metrics.fingertip_distances import distances, similarities
from annotators.metrics.fingertip_text import LONGEST, Likest, cosine, distance, similarity
from annotators.metrics.fingertip_tracks import executions_of, guess_in, sequence_of, type_of, written
from lab.case import Case, CaseStep
from lab.records import Verdict
from lab.task import Actor, Persona, Task
from lab.trace import Source
from lab.turn import Action, Question, Usage

MODEL = Actor("model", "m")
FEW = st.text(alphabet="abc", max_size=12)


def did(*actions: Action) -> list[CaseStep]:
    return [CaseStep(action, action) for action in actions]


def click(x: int, y: int = 0) -> Action:
    return Action("click", at=(x, y))


FINISH = Action("status", status="complete")


def user(name: str, age: object = None) -> Persona:
    return Persona(name, name, {} if age is None else {"age": age})


def shown(task: str, intent: str, who: Persona, *actions: Action) -> Case:
    """An episode of the dataset: its user did it."""
    design = Task(task, "personalized", instruction=intent, persona=who.id)
    return Case(f"gold {task}", design, Actor("human", who.id), did(*actions), "completed", persona=who)


def run(task: str, intent: str, *actions: Action, score: float | None = None, **more: Any) -> Case:
    """An agent's run of an episode's intent."""
    design = Task(task, "personalized", instruction=intent)
    return Case(f"run {task}", design, MODEL, did(*actions), "completed", score=score)._replace(**more)


def guess(task: str, text: str | None, **more: Any) -> Case:
    """An agent's guess of an episode's intent, as its final answer."""
    design = Task(task, "proactive", traits=more.pop("traits", {}))
    steps = did(Action("answer", text=text))
    return Case(f"guess {task}", design, MODEL, steps, "completed")._replace(**more)


def numbers(*cases: Case, **terms: Any) -> dict[tuple[str, str], Number]:
    told = measure(cases, context_of(cases, Terms(**terms)))
    keyed: dict[tuple[str, str], Number] = {(n.metric, n.part): n for n in told}
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
def test_the_distance_of_two_texts(one: str, other: str, far: int) -> None:
    assert distance(one, other) == distance(other, one) == far


@settings(deadline=None)
@given(FEW, FEW)
def test_the_quick_distance_is_the_textbooks(one: str, other: str) -> None:
    assert distance(one, other) == plain_distance(one, other)


@settings(deadline=None)
@given(st.text(min_size=60, max_size=90), st.text(alphabet="ab", min_size=60, max_size=200))
def test_and_of_texts_longer_than_a_machine_word(one: str, other: str) -> None:
    assert distance(one, other) == plain_distance(one, other)


LONG = st.text(alphabet="ab日\ud800😀", max_size=150)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(LONG, LONG), max_size=24))
def test_many_pairs_at_once_are_as_far_apart_as_the_textbook_has_it(pairs: list[tuple[str, str]]) -> None:
    assert distances(pairs) == [plain_distance(one, other) for one, other in pairs]
    assert similarities(pairs) == [similarity(one, other) for one, other in pairs]


def test_pairs_of_any_lengths_stand_side_by_side() -> None:
    """Around the edges of words, with equal pairs, empty texts, and texts that begin and end alike."""
    sizes = (0, 1, 2, 62, 63, 64, 65, 127, 128, 129, 200)
    pairs = [(("ab" * 200)[:one] + "x", "y" + ("ba" * 200)[:other]) for one in sizes for other in sizes]
    pairs += [("head" + "a" * size + "tail", "head" + "b" * (size // 2) + "tail") for size in sizes]
    pairs += pairs[:5]
    assert distances(pairs) == [distance(one, other) for one, other in pairs]
    assert len(pairs) > 100


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
def test_the_likest_text_is_found_without_comparing_all(texts: list[str], text: str) -> None:
    allowed = range(0, len(texts), 2)
    best = max(allowed, key=lambda place: (similarity(text, texts[place]), -place))
    assert Likest(texts).find(text, list(allowed)) == best
    assert Likest(texts).find(text, []) is None


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
    ask = CaseStep(Action("ask_user"), Action("ask_user"), question=Question("q", "ask", "Which?"))
    propose = CaseStep(Action("ask_user"), Action("ask_user"), question=Question("q", "propose", "A coffee?"))
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
    blocked = CaseStep(click(9), None)
    assert sequence_of(run("x", "y", steps=[*steps, blocked])) == (
        "click(1,20);type(milk);scroll(5,60,down);press_back();finish()"
    )
    assert written(Action("click", at=(0, 0), text="what stands there")) == "click(0,0)"
    assert written(Action("open_app", app="Noshwell")) == "open_app(Noshwell)"
    assert written(Action("answer", text="done")) == "finish()"


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
    # S_I: the sequences are the same, 1; S_II: "click(1,0);click(2,0);finish()" and "...click(9,0)...": 1 of 30 differs
    assert told["S_I", ""].value == 1
    assert told["S_II", ""].value == pytest.approx(29 / 30)
    assert told["Sim2", ""].value == pytest.approx(30 / 29)
    assert told["Sim2", ""].n == 1


def test_the_comparison_goes_by_the_embedding_model_where_there_is_one() -> None:
    mine = shown("u1/1", "order a coffee", user("u1", 25), click(1), FINISH)
    spelled = shown("u2/1", "order a toffee", user("u2", 60), click(7), FINISH)
    meant = shown("u3/1", "an espresso please", user("u3", 60), click(1), FINISH)

    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, 0.0] if "coffee" in text or "espresso" in text else [0.0, 1.0] for text in texts]

    cases = (mine, spelled, meant, run("u1/1", "order a coffee", click(1), FINISH))
    assert numbers(*cases, embed=embed)["Sim2", ""].value == 1.0
    # by spelling it is the toffee: "click(7,0);finish()" has 1 of 19 characters otherwise
    assert numbers(*cases)["Sim2", ""].value == pytest.approx(1 / (18 / 19))


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
    assert executions_of([ours], {"132": [theirs]}, Tally()) == []
    same = theirs._replace(source=of_fingertip)
    assert [one.demonstration for one in executions_of([ours], {"132": [theirs, same]}, Tally())] == [same]


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
        CaseStep(click(1), click(1), usage=Usage(900, 100, seconds=2.0)),
        CaseStep(click(1), click(1), usage=Usage(seconds=4.0)),
        CaseStep(click(1), click(1)),
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
