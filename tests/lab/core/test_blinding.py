"""Hidden stays hidden: of a run, a rater gets what their study shows, and nothing else that stands in it."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import msgspec
import pytest

from annotators.protocols import protocols
from lab.core.codec import encode
from lab.core.run.step import Action, Proposed, ToolCall
from lab.core.run.trace import AnyEvent, Ended, Started, Step, fold
from lab.core.run.ui_tree import UiTree
from lab.core.study.blinding import DROPPED, FAILED, NEVER, NOBODY, RULES, blind_event, blind_unit
from lab.core.study.protocol import Show
from lab.core.study.study import Unit
from lab.core.task.task import Actor, GoldenStep, Rubric, Task
from tests.blind import RUN, SHOWS, planted

WHOLE = (UiTree, Rubric, GoldenStep, ToolCall)
"""Types that pass whole within a field that does: a screen's tree, a rubric, a golden step, a called function."""


def types_in(annotation: Any) -> Iterator[type]:
    """Every struct that an annotation names."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        yield annotation
    for part in typing.get_args(annotation):
        yield from types_in(part)


def reachable() -> set[type]:
    """Every struct that a run's events are made of, but for what is within those that pass whole."""
    todo, known = list(types_in(AnyEvent)), set[type]()
    while todo:
        one = todo.pop()
        if one in known or one in WHOLE:
            continue
        known.add(one)
        for hint in typing.get_type_hints(one).values():
            todo += types_in(hint)
    return known


def test_every_field_of_every_event_is_named_as_kept_shown_or_dropped() -> None:
    for kind in reachable() - {Actor, *NEVER}:
        rules = RULES.get(kind, {})
        hints = set(typing.get_type_hints(kind)) & set(kind.__struct_fields__)  # type: ignore[attr-defined]
        dropped = {name for name in hints if rules.get(name) is DROPPED}
        carried = {inner for name in hints - dropped for inner in types_in(typing.get_type_hints(kind)[name])}
        if kind in RULES:
            assert set(rules) == set(kind.__struct_fields__), kind  # type: ignore[attr-defined]
            assert not carried & set(NEVER), kind
    assert set(RULES) <= reachable()
    carried_types = {
        inner
        for kind, rules in RULES.items()
        for name, rule in rules.items()
        if rule is not DROPPED
        for inner in types_in(typing.get_type_hints(kind)[name])
    }
    assert carried_types - set(RULES) - set(WHOLE) <= {Actor}


def test_a_field_that_is_not_named_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = {name: rule for name, rule in RULES[Task].items() if name != "instruction"}
    monkeypatch.setitem(RULES, Task, rules)
    first = blind_event(Started(trace="r", task=Task("t", "general", instruction="Mute it"), agent=NOBODY), SHOWS)
    assert isinstance(first, Started)
    assert first.task.instruction == ""


def subsets() -> list[frozenset[Show]]:
    """Nothing, each part alone, every two, all but one, all; and what each protocol shows."""
    all_of = frozenset(SHOWS)
    found = [frozenset[Show](), all_of, *(frozenset(two) for two in combinations(SHOWS, 2))]
    found += [frozenset({one}) for one in SHOWS] + [all_of - {one} for one in SHOWS]
    return found + [frozenset(protocol.shows) for protocol in protocols().values()]


@pytest.mark.parametrize("proactive", [False, True])
def test_exactly_what_is_shown_comes_through(proactive: bool) -> None:
    plant = planted(proactive=proactive)
    wrong = {}
    for shows in subsets():
        text = "\n".join(encode(blind_event(event, shows)).decode() for event in plant.run.events)
        through = {word: told.place for word, told in plant.words.items() if word in text}
        if through != plant.shown(shows):
            wrong[shows] = set(through.items()) ^ set(plant.shown(shows).items())
    assert wrong == {}


def test_every_planted_word_is_in_the_run_as_it_is() -> None:
    plant = planted()
    text = "\n".join(encode(event).decode() for event in plant.run.events)
    absent = {told.place for word, told in plant.words.items() if word not in text}
    assert absent == {"verdict.name", "verdict.value", "verdict.reason"}


def test_unusual_numbers_do_not_come_through() -> None:
    text = "\n".join(encode(blind_event(event, SHOWS)).decode() for event in planted().run.events)
    known = ["4177", "4231", "4391", "4397", "4517", "4663"]
    assert [number for number in known if number in text] == []
    assert "4111" in text  # golden steps, which are shown


def test_a_blinded_run_is_still_a_run() -> None:
    plant = planted()
    before = fold(plant.run.events)
    for shows in subsets():
        after = fold([blind_event(event, shows) for event in plant.run.events])
        assert (after.id, len(after.steps), after.last) == (RUN, len(before.steps), before.last)
        assert [step.index for step in after.steps] == [step.index for step in before.steps]


def test_what_is_no_error_becomes_none_and_what_is_one_is_told_without_words() -> None:
    steps = [event for event in planted().run.events if isinstance(event, Step)]
    after = [blind_event(step, {"actions"}) for step in steps]
    assert [step.error for step in after if isinstance(step, Step)] == [None, None, None, FAILED, None]
    hidden = blind_event(steps[3], {"screens"})
    assert isinstance(hidden, Step)
    assert hidden.error is None


def test_an_act_that_only_its_source_knows_is_named_by_one_word() -> None:
    for text, shown in (("get_order_details", "get_order_details"), ("gpt-4o wrote no act", None)):
        step = blind_event(Step(index=0, proposed=Proposed(Action("other", text=text))), {"actions"})
        assert isinstance(step, Step)
        assert step.proposed.action.text == shown


def test_people_are_hidden_even_where_the_method_is_shown() -> None:
    first = blind_event(Started(trace="r", task=Task("t", "general"), agent=Actor("human", "P07")), SHOWS)
    assert isinstance(first, Started)
    assert first.agent == Actor("human", "hidden")


def test_an_outcome_that_is_hidden_is_the_same_for_every_run() -> None:
    endings = [Ended(status="failed", score=0.0, reason="wrong dish"), Ended(status="completed", score=1.0)]
    assert len({encode(blind_event(end, ("actions", "screens"))) for end in endings}) == 1


def test_a_unit_travels_without_the_designers_words() -> None:
    unit = Unit("u1", (RUN,), hidden={"A": "ours", "B": "theirs"}, cluster="P07", owner="P07",
                task=Task("t", "personalized", "Muting is right", "Mute it", policy="refuse"))  # fmt: skip
    sent = blind_unit(unit, {"instruction"})
    text = encode(sent).decode()
    assert all(word not in text for word in ("ours", "theirs", "Muting", "refuse"))
    assert sent.task is not None
    assert (sent.id, sent.runs, sent.task.instruction) == ("u1", (RUN,), "Mute it")
    assert sent.cluster not in ("", "P07")
    assert blind_unit(Unit("u2"), ()).cluster == ""
