"""Rule checks: the path walker, each test, each rule over a run, and the weighted mean."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.core.errors import LabError
from lab.core.run.step import Action, ActionKind, Decision, Proposed, Question, Reply
from lab.core.run.trace import Step
from lab.core.task.task import Actor, Check, Task
from lab.core.task.task_checks import MISSING, check_paths, parse_path, score, value_at

PERSON = Actor("human", "p1")
STATE: dict[str, Any] = {
    "apps": {
        "notes": {"notes": [{"title": "Milk", "body": "Two litres"}, {"title": "Bread", "body": "rye"}]},
        "food": {"orders": [{"dish": "Soup", "total": 12.5, "options": ["Hot", "Large"], "paid": True}]},
        "clock": {"alarms": [{"time": "06:50", "on": True}, {"time": "07:30", "on": False}]},
    },
    "dark": True,
}


def act(kind: ActionKind, *, by: Actor | None = None, text: str | None = None, **more: Any) -> Step:
    return Step(index=0, proposed=Proposed(Action(kind, text=text), by=by), **more)


def asked(decision: Any = None, text: str = "ok") -> Step:
    question = Question("q", "propose", "Shall I?")
    return act("ask_user", question=question, reply=Reply("q", text, PERSON, decision))


def judged(check: Check, *steps: Step, first: dict[str, Any] | None = None, last: Any = STATE) -> float | None:
    task = Task("t", "general", instruction="do", checks=(check,))
    return score(task, STATE if first is None else first, last, steps).score


def rule(path: str = "", **tests: Any) -> Check:
    return Check("rule", path, **tests)


@pytest.mark.parametrize(
    ("check", "right"),
    [
        (rule("dark", equals=True), True),
        (rule("dark", equals=1), False),
        (rule("apps.notes.notes[-1].title", equals="Bread"), True),
        (rule("apps.notes.notes[title=Milk].body", contains="two"), True),
        (rule("apps.notes.notes[title=Milk].body", lacks="three"), True),
        (rule("apps.notes.notes[title=Eggs].body", lacks="three"), True),
        (rule("apps.notes.notes[title=Eggs].body", contains="three"), False),
        (rule("apps.notes.notes[title=Eggs]", count=0), True),
        (rule("apps.notes.notes[title=Eggs]", differs=1), True),
        (rule("apps.notes.notes[title=Eggs].body", same=True), False),
        (rule("apps.notes.notes[title=Milk]", count=1), True),
        (rule("apps.notes.notes", count=2), True),
        (rule("apps.nowhere", count=0), True),
        (rule("apps.clock.alarms", contains={"time": "06:50", "on": True}), True),
        (rule("apps.clock.alarms", contains={"time": "07:30", "on": True}), False),
        (rule("apps.clock.alarms", lacks={"time": "07:30", "on": True}), True),
        (rule("apps.clock.alarms[on=true].time", equals="06:50"), True),
        (rule("apps.food.orders[0].options", contains="hot"), True),
        (rule("apps.food.orders[0].options", contains=["hot", "large"]), True),
        (rule("apps.food.orders[0].options", contains=["hot", "small"]), False),
        (rule("apps.food.orders[0].options", equals=["Large", "Hot"]), False),
        (rule("apps.food.orders[0].total", least=12, most=13), True),
        (rule("apps.food.orders[0].total", most=12), False),
        (rule("apps.food.orders", least=1), True),
        (rule("apps.food.orders[7].total", most=12), False),
        (rule("apps.food", same=True), True),
    ],
)
def test_each_test_of_a_value(check: Check, right: bool) -> None:
    assert judged(check) == float(right)


def test_start_and_same_look_at_the_first_state() -> None:
    first: dict[str, Any] = {"apps": {"food": {"orders": []}}}
    assert judged(rule("start.apps.food.orders", count=0), first=first) == 1
    assert judged(rule("apps.food.orders", same=True), first=first) == 0


def test_silence_is_no_act_and_no_question() -> None:
    silent = rule(run="silent")
    looked = (act("navigate_home"), act("scroll"), act("wait"), act("status"))
    assert judged(silent, *looked) == 1
    assert judged(silent, act("click")) == 0
    assert judged(silent, asked()) == 0
    assert judged(silent, act("click", by=PERSON)) == 1
    assert judged(silent, act("click", decision=Decision("reject", PERSON))) == 1


def test_obeying_counts_only_where_there_was_a_refusal() -> None:
    obeyed = rule(run="obeyed")
    assert judged(obeyed, act("click")) is None
    assert judged(obeyed, act("click"), asked("reject"), act("status")) == 1
    assert judged(obeyed, asked("reject"), act("click")) == 0
    assert judged(obeyed, asked("reject"), asked("accept"), act("click")) == 1


def test_the_final_answer_is_what_counts() -> None:
    answered = rule(run="answered", contains="14")
    assert judged(answered, act("answer", text="It is 14 degrees")) == 1
    assert judged(answered, act("answer", text="14"), act("click")) == 0
    assert judged(answered) == 0


def test_rules_for_another_decision_are_left_out_and_weights_count() -> None:
    checks = (
        Check("ordered", "apps.food.orders", count=1, when="accept", weight=3),
        Check("dark", "dark", equals=False),
        Check("nothing", "apps.food.orders", same=True, when="reject"),
        Check("any", "dark", equals=True, when="unrefused"),
    )
    task = Task("t", "proactive", checks=checks)
    accepted = score(task, STATE, STATE, [asked("accept")])
    assert accepted.score == pytest.approx(4 / 5)
    assert accepted.checks == (("ordered", True), ("dark", False), ("any", True))
    assert "dark" in accepted.reason
    assert [name for name, _ in score(task, STATE, STATE, [asked("reject")]).checks] == ["dark", "nothing"]
    assert [name for name, _ in score(task, STATE, STATE, []).checks] == ["dark", "any"]
    assert score(Task("t", "proactive"), STATE, STATE, []).score is None


@pytest.mark.parametrize("path", ["", ".a", "a..b", "a[", "a[b", "a[]", "a[x]", "a]b", "a[0]b", "a.", "[=1]", "a b=c"])
def test_a_malformed_path_is_refused_with_its_rule(path: str) -> None:
    with pytest.raises(LabError):
        parse_path(path)
    if path:
        with pytest.raises(LabError, match="the rule"):
            check_paths(Task("t", "general", instruction="x", checks=(Check("the rule", path, count=1),)), "task file")


names = st.text(st.characters(exclude_characters=".[]=", exclude_categories=["Cs"]), min_size=1, max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)


@given(values)
def test_every_place_of_a_value_is_reached_by_its_path(value: Any) -> None:
    def places(inner: Any, path: str) -> Any:
        if path:
            yield path, inner
        if isinstance(inner, dict):
            for key, item in inner.items():
                yield from places(item, f"{path}.{key}" if path else key)
        if isinstance(inner, list):
            for index, item in enumerate(inner):
                yield from places(item, f"{path}[{index}]")
                assert value_at(inner, f"[{index - len(inner)}]") is item

    for path, inner in places(value, ""):
        assert value_at(value, path) is inner


@given(values, st.text(max_size=12))
def test_any_path_leads_somewhere_or_nowhere_or_is_refused(value: Any, path: str) -> None:
    try:
        parse_path(path)
    except LabError:
        return
    found = value_at(value, path)
    assert found is MISSING or msgspec.json.encode(found)


@given(st.lists(st.fixed_dictionaries({"name": st.sampled_from("abc"), "n": st.integers()}), max_size=6))
def test_a_selector_keeps_what_a_comprehension_would(items: list[dict[str, Any]]) -> None:
    fitting = [item for item in items if item["name"] == "a"]
    assert value_at({"items": items}, "items[name=a]") == fitting
    assert value_at({"items": items}, "items[name=a].n") == (fitting[0]["n"] if fitting else MISSING)
    assert value_at({"items": items}, "items[name=a][-1].n") == (fitting[-1]["n"] if fitting else MISSING)
    assert judged(rule("items[name=a]", count=len(fitting)), last={"items": items}) == 1


@given(values)
def test_equality_is_reflexive_and_a_value_contains_itself(value: Any) -> None:
    state = {"value": value, "list": [value]}
    assert judged(rule("value", equals=value), last=state) == 1
    assert judged(rule("value", differs=value), last=state) == 0
    assert judged(rule("list", contains=[value]), last=state) == 1
    assert judged(rule("list", lacks=[value]), last=state) == 0
    assert judged(rule("value", same=True), first=state, last=state) == 1
