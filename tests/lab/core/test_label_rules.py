"""How a sheet stands by its labels, and what the next label may be."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lab.core.errors import LabError
from lab.core.study.label import Act, Label
from lab.core.study.label_rules import SheetState, check_next
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.rating_sheet import FieldReference, Sheet, answer_to, current_labels, undo_of
from lab.core.study.study import Assignment, Study
from lab.core.task.task import Actor
from tests.studies import NODES, R1, R2, label, study, unit

UNIT = unit()
PLAN = study([UNIT])
DEALT = Assignment("trial", 1, "R1", 0, "u1")


class Paper:
    """A sheet that is written on by the rules alone, without a file."""

    def __init__(self, protocol: Protocol = NODES, **standing: Any) -> None:
        self.plan = study([UNIT], protocol)
        self.rows: list[Label] = []
        self.acts: list[Act] = []
        self.standing = standing

    @property
    def sheet(self) -> Sheet:
        return Sheet(self.plan.protocol, UNIT, self.rows, self.acts)

    def say(self, target: str, field: str, value: Any = None, **changes: Any) -> Label:
        said = answer_to(self.sheet, label(self.plan, UNIT, target, field, value, **changes))
        self.put(said)
        return said

    def undo(self) -> Label | None:
        said = undo_of(self.sheet, label(self.plan, UNIT, "", "", None))
        if said is not None:
            self.put(said)
        return said

    def put(self, said: Label) -> None:
        standing: dict[str, Any] = {"assignment": DEALT, **self.standing}
        check_next(SheetState(self.plan, UNIT, sheet=self.sheet, **standing), said)
        self.rows.append(said)


def test_what_is_asked_follows_from_what_was_answered() -> None:
    paper = Paper()
    places = [("open", "state"), ("pay", "state"), ("", "rating")]
    assert paper.sheet.spots == [FieldReference(*place) for place in places] == paper.sheet.unanswered
    paper.say("pay", "state", "not_completed")
    assert FieldReference("pay", "why") in paper.sheet.spots
    assert FieldReference("pay", "why") not in paper.sheet.unanswered, "it need not be answered"
    paper.say("pay", "state", "completed")
    assert FieldReference("pay", "why") not in paper.sheet.spots


def test_a_later_answer_supersedes_and_is_what_stands() -> None:
    paper = Paper()
    first = paper.say("open", "state", "completed")
    second = paper.say("open", "state", "not_completed")
    assert second.supersedes == first.id
    assert paper.sheet.value(FieldReference("open", "state")) == "not_completed"
    assert current_labels(paper.rows) == [second]


def test_undo_goes_back_step_by_step_and_undoes_no_undo() -> None:
    paper = Paper()
    paper.say("open", "state", "completed", evidence="run-u1@2", note="early")
    paper.say("pay", "state", "completed")
    paper.say("open", "state", "not_completed", evidence="run-u1@5")
    paper.undo()
    head = paper.sheet.head(FieldReference("open", "state"))
    assert head is not None
    assert (head.value, head.evidence, head.note) == ("completed", "run-u1@2", "early")
    paper.undo()
    assert paper.sheet.head(FieldReference("pay", "state")) is None
    paper.undo()
    assert paper.sheet.head(FieldReference("open", "state")) is None
    assert paper.undo() is None
    assert len(paper.rows) == 6, "each undo is kept, too"


@given(st.lists(st.sampled_from(["open completed", "open not_completed", "pay completed", "undo"]), max_size=30))
def test_undo_is_the_inverse_of_answering(acts: list[str]) -> None:
    paper = Paper()
    past: list[dict[FieldReference, Any]] = []
    for act in acts:
        before = {spot: paper.sheet.value(spot) for spot in paper.sheet.heads}
        if act == "undo":
            undone = paper.undo()
            assert (undone is None) == (not past)
            if past:
                now = {spot: paper.sheet.value(spot) for spot in paper.sheet.heads}
                then = past.pop()
                assert {k: v for k, v in now.items() if v is not None} == {
                    k: v for k, v in then.items() if v is not None
                }
        else:
            past.append(before)
            target, value = act.split()
            paper.say(target, "state", value)


def test_two_heads_are_a_clash_until_the_rater_settles_it() -> None:
    paper = Paper()
    one = label(PLAN, UNIT, "open", "state", "completed")
    other = label(PLAN, UNIT, "open", "state", "not_completed")
    paper.rows += [one, other]
    assert set(paper.sheet.clashes) == {FieldReference("open", "state")}
    assert FieldReference("open", "state") in paper.sheet.unanswered
    assert current_labels(paper.rows) == []
    settled = paper.say("open", "state", "completed")
    assert set(settled.replaces) == {one.id, other.id}
    assert not paper.sheet.clashes
    assert current_labels(paper.rows) == [settled]
    stray = replace(answer_to(paper.sheet, label(PLAN, UNIT, "open", "state", "completed")), also=(one.id,))
    with pytest.raises(LabError, match="field also"):
        paper.put(stray)


def test_an_undo_takes_back_what_it_names_also_where_another_copy_went_on() -> None:
    paper = Paper()
    here = paper.say("open", "state", "completed")
    there = label(PLAN, UNIT, "pay", "state", "completed")
    back = undo_of(paper.sheet, label(PLAN, UNIT, "", "", None))
    assert back is not None
    paper.rows += [there, back]
    assert back.undoes == here.id
    assert paper.sheet.undoable == there


def test_an_undo_takes_back_the_newest_answer_and_restores_what_stood() -> None:
    paper = Paper()
    first = paper.say("open", "state", "completed")
    paper.say("open", "state", "not_completed")
    undo = undo_of(paper.sheet, label(PLAN, UNIT, "", "", None))
    assert undo is not None
    with pytest.raises(LabError, match="nothing of that to undo"):
        paper.put(replace(undo, undoes=first.id))
    for wrong in ({"value": "not_completed"}, {"value": None}, {"value": None, "reason_missing": "skipped"}):
        with pytest.raises(LabError, match="restores what stood before"):
            paper.put(replace(undo, **wrong))
    paper.put(undo)


def test_what_a_rule_alone_gives_nobody_else_does() -> None:
    options = (Option("yes"), Option("timed_out", by_rule=True))
    protocol = Protocol("p", "P", "run", (Field("f", "?", "nominal", options),))
    for kind in ("human", "model"):
        with pytest.raises(LabError, match="set by a rule"):
            Paper(protocol).say("", "f", "timed_out", rater=Actor(kind, "R1"))
    Paper(protocol).say("", "f", "timed_out", rater=Actor("script", "rule"))


def test_a_label_on_what_was_changed_meanwhile_is_refused() -> None:
    paper = Paper()
    stale = label(paper.plan, UNIT, "open", "state", "completed")
    paper.say("open", "state", "not_completed")
    with pytest.raises(LabError, match="changed meanwhile"):
        paper.put(stale)


@pytest.mark.parametrize(
    ("target", "field", "value", "words"),
    [
        ("open", "state", "perhaps", "'perhaps' is none of completed, not_completed"),
        ("nowhere", "state", "completed", "field target: 'nowhere' is none of open, pay"),
        ("", "state", "completed", "field target: ''"),
        ("open", "rating", 5, "field target: 'open'"),
        ("open", "mood", 5, "field field: 'mood' is none of state, why, rating"),
        ("", "rating", 101, "101 is not from 0 to 100"),
        ("", "rating", 7.5, "7.5 is not in steps of 1"),
        ("", "rating", True, "True is no number"),
        ("", "rating", float("nan"), "nan is no number"),
        ("", "rating", float("-inf"), "-inf is no number"),
        ("", "rating", "7", "'7' is no number"),
        ("open", "why", "because", "is not asked here"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(target: str, field: str, value: Any, words: str) -> None:
    paper = Paper()
    with pytest.raises(LabError) as refused:
        paper.say(target, field, value)
    assert words in refused.value.sentence
    assert not paper.rows


@pytest.mark.parametrize("step", ["0", "5", "9" * 19, "9" * 5000])
def test_a_step_that_the_run_does_not_have_is_refused_however_long_its_number(step: str) -> None:
    paper = Paper(steps=lambda run: 3)
    with pytest.raises(LabError, match=rf"the run has no step {step[:19]}.*; it has 3") as refusal:
        paper.say("open", "state", "completed", evidence=f"{UNIT.runs[0]}@{step}")
    assert len(refusal.value.sentence) < 400, "a name of thousands of characters is cut"
    paper.say("open", "state", "completed", evidence=f"{UNIT.runs[0]}@4")


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("flag", True, "yes"),
        ("text", "a word", "  "),
        ("step", 3, 0),
        ("box", [0, 0, 10, 20], [10, 0, 5, 20]),
        ("box", [0, 0, 10, 20], [1, 2, 3]),
    ],
)
def test_each_kind_of_field_takes_its_own_values(kind: Any, good: Any, bad: Any) -> None:
    protocol = Protocol("p", "P", "run", (Field("f", "?", kind),))
    Paper(protocol).say("", "f", good)
    with pytest.raises(LabError, match="field value: f"):
        Paper(protocol).say("", "f", bad)
    with pytest.raises(LabError, match="a value and a reason"):
        Paper(protocol).say("", "f", good, reason_missing="cannot_judge")
    Paper(protocol).say("", "f", reason_missing="cannot_judge")


def test_a_secondary_answer_comes_after_the_primary_one_in_declared_order() -> None:
    options = tuple(map(Option, ("intent", "process", "other")))
    fields = (
        Field("primary", "?", "nominal", options),
        Field("secondary", "?", "nominal", options, required=False, after="primary"),
    )
    protocol = Protocol("p", "P", "run", fields)
    paper = Paper(protocol)
    paper.say("", "primary", "process")
    paper.say("", "secondary", "other")
    for value, words in (("intent", "goes before"), ("process", "is the same as")):
        with pytest.raises(LabError, match=words):
            paper.say("", "secondary", value)
    with pytest.raises(LabError, match="is the same as"):
        paper.say("", "primary", "other")
    paper.say("", "primary", "intent")


def test_who_may_say_nothing_is_told_why() -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"locked": True}, "locked"),
        ({"withdrawn": True}, "has withdrawn"),
        ({"assignment": None}, "is not dealt to R1"),
        ({"is_held": True}, "held after the pilot"),
        ({"has_left": True}, "has left the study"),
    ]
    for standing, words in refused:
        with pytest.raises(LabError, match=words):
            Paper(**standing).say("open", "state", "completed")
    Paper(is_held=True, assignment=replace(DEALT, stage="pilot")).say("open", "state", "completed")
    Paper(assignment=None).say("open", "state", "completed", rater=Actor("model", "m"))


def test_what_was_handed_in_does_not_change_until_it_is_taken_back() -> None:
    paper = Paper()
    paper.acts.append(Act("a1", "trial", 1, R1, "commit", "2026-04-01T10:00:00+00:00", "u1"))
    with pytest.raises(LabError, match="handed it in"):
        paper.say("open", "state", "completed")
    paper.acts.append(Act("a2", "trial", 1, R1, "reopen", "2026-04-01T10:00:01+00:00", "u1"))
    paper.say("open", "state", "completed")


def test_raters_and_repeats_do_not_supersede_one_another() -> None:
    rows = [
        label(PLAN, UNIT, "open", "state", "completed"),
        label(PLAN, UNIT, "open", "state", "completed", rater=R2),
        label(PLAN, UNIT, "open", "state", "completed", rater=Actor("model", "R1")),
        label(PLAN, UNIT, "open", "state", "completed", run=2),
    ]
    assert current_labels(rows) == rows


def test_changing_the_guide_is_another_guide_and_the_same_questions() -> None:
    other = replace(NODES, guide={"en": "Look twice."})
    assert other.sha == NODES.sha
    assert other.guide_sha("en") != NODES.guide_sha("en")
    plans: list[Study] = [study([UNIT]), study([UNIT], other), study([UNIT], seed=1), study([unit("u2")])]
    assert len({plan.sha for plan in plans}) == 4
