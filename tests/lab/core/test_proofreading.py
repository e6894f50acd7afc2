"""Proofreading as arithmetic over rows: independence, differences, a third who settles, edit rates."""

from __future__ import annotations

import random

import msgspec
import pytest

from lab.core.errors import LabError
from lab.core.run.trace import Started, Step, fold
from lab.core.study.proofread_text import edit_rates, settled_events
from lab.core.study.proofreading import (
    WHOLE,
    Proof,
    ProofreadingSheet,
    ProofreadPlace,
    Review,
    check_next,
    proof_of,
    proofreading_state,
    visible_rows,
)
from lab.core.task.task import Actor
from tests.demonstrations import ANNOTATOR, demonstration, row

EVENTS = demonstration().events
DEMO = proof_of(fold(EVENTS))
INTENT = ProofreadPlace(None, "intent")
TAP = ProofreadPlace(2, "instruction")


def accepted(by: str, *, but: tuple[int | None, ...] = ()) -> list[Review]:
    """Everything accepted by one person, but for some steps."""
    steps = [row(by, "accept", step, "step", "accept", "accept") for step in range(DEMO.steps) if step not in but]
    return steps if None in but else [*steps, row(by, "accept", None, "whole", "accept", "accept")]


def handed_in(by: str, *more: Review) -> list[Review]:
    return [*accepted(by), *more, row(by, "commit", None, "whole")]


def edited(by: str, words: str = "Tap the arrow") -> Review:
    return row(by, "edit", 2, "instruction", "Tap Send", words)


def taken(demo: Proof, rows: list[Review]) -> list[Review]:
    """The rows, each let through by the rules in turn, and later than the one before."""
    stands: list[Review] = []
    for i, one in enumerate(rows):
        one = msgspec.structs.replace(one, at=f"2026-03-06T10:00:00.{i:06d}+00:00")
        head = (
            ProofreadingSheet(demo, stands, one.by.id).heads.get(one.place)
            if one.act not in ("commit", "settle")
            else None
        )
        one = msgspec.structs.replace(one, supersedes=head.id if head else None)
        check_next(demo, stands, one)
        stands.append(one)
    return stands


def test_what_is_proofread_is_every_step_and_the_whole() -> None:
    assert DEMO.annotator == ANNOTATOR
    assert DEMO.values[INTENT] == "Write to Mara Quillfeather that I am late"
    assert DEMO.values[ProofreadPlace(None, "impossible")] == ""
    assert DEMO.values[ProofreadPlace(0, "action")] == {"kind": "click", "at": [180, 150]}
    assert ProofreadingSheet(DEMO, [], "P1").unseen == [0, 1, 2, 3, None]


@pytest.mark.parametrize(
    ("rows", "state"),
    [
        ([], "unreviewed"),
        (accepted("P1"), "unreviewed"),
        (handed_in("P1"), "one of two"),
        ([*handed_in("P1"), *accepted("P2")], "one of two"),
        ([*handed_in("P1"), *handed_in("P2")], "agreed"),
        ([*handed_in("P1", edited("P1")), *handed_in("P2", edited("P2"))], "agreed"),
        ([*handed_in("P1", edited("P1")), *handed_in("P2")], "differs"),
        ([*handed_in("P1", edited("P1")), *handed_in("P2", edited("P2", "Press Send"))], "differs"),
    ],
)
def test_the_state_is_a_function_of_the_rows(rows: list[Review], state: str) -> None:
    rows = taken(DEMO, rows)
    assert proofreading_state(DEMO, rows).state == state
    shuffled = random.Random(4).sample(rows, len(rows))
    assert proofreading_state(DEMO, shuffled) == proofreading_state(DEMO, rows)


def test_a_third_settles_what_differs_and_the_reviewed_value_stands() -> None:
    rows = taken(DEMO, [*handed_in("P1", edited("P1")), *handed_in("P2")])
    found = proofreading_state(DEMO, rows)
    assert [(one.place, one.old, [word.value for word in one.words]) for one in found.differences] == [
        (TAP, "Tap Send", ["Tap the arrow", "Tap Send"])
    ]
    for who, why in (("P1", "third"), ("A01", "recorded it")):
        with pytest.raises(LabError, match=why):
            check_next(DEMO, rows, row(who, "settle", 2, "instruction", "Tap Send", "x"))
    rows += [row("P3", "settle", 2, "instruction", "Tap Send", "Tap the paper plane")]
    settled = proofreading_state(DEMO, rows)
    assert (settled.state, settled.settled_by) == ("settled", ("P3",))
    assert settled.values[TAP] == "Tap the paper plane"


def test_rejecting_needs_a_reason_and_two_who_reject_the_whole_reject_it() -> None:
    with pytest.raises(LabError, match="needs a reason"):
        check_next(DEMO, [], row("P1", "reject", None, "whole", "accept", "reject", note="  "))
    refusals = [row(by, "reject", None, "whole", "accept", "reject", note="not the task") for by in ("P1", "P2")]
    rows = taken(DEMO, [*handed_in("P1", refusals[0]), *handed_in("P2", refusals[1])])
    assert proofreading_state(DEMO, rows).state == "rejected"


def test_a_step_that_two_reject_is_rejected_and_its_fields_do_not_differ() -> None:
    refusals = [row(by, "reject", 2, "step", "accept", "reject", note="a slip") for by in ("P1", "P2")]
    rows = taken(DEMO, [*handed_in("P1", edited("P1"), refusals[0]), *handed_in("P2", refusals[1])])
    found = proofreading_state(DEMO, rows)
    assert (found.state, found.rejected) == ("agreed", (2,))


def test_nothing_is_handed_in_before_all_was_looked_at() -> None:
    with pytest.raises(LabError, match="step 3 and the demonstration as a whole are not looked at"):
        check_next(DEMO, accepted("P1", but=(2, None)), row("P1", "commit", None, "whole"))


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (row("A01", "accept", 0, "step"), "A01 recorded it"),
        (row("P1", "accept", 9, "step"), "there is no step 10"),
        (row("P1", "accept", 0, "action"), "is edited, not accepted"),
        (row("P1", "edit", 0, "action", {}, {"kind": "fly"}), "step 1's action: field kind: 'fly' is none of"),
        (row("P1", "edit", None, "intent", "", 3), "the intent is text"),
        (row("P1", "settle", 0, "action", {}, {}), "two have to proofread it"),
        (row("P1", "edit", 2, "instruction", "", "x", supersedes="another"), "changed meanwhile"),
    ],
)
def test_the_rules_say_what_they_refuse(one: Review, why: str) -> None:
    with pytest.raises(LabError, match=why):
        check_next(DEMO, [], one)


def test_a_review_that_was_handed_in_never_changes_and_there_is_no_third() -> None:
    rows = taken(DEMO, handed_in("P1"))
    with pytest.raises(LabError, match="P1 has handed it in"):
        check_next(DEMO, rows, edited("P1"))
    rows = taken(DEMO, [*rows, *handed_in("P2")])
    with pytest.raises(LabError, match="two have proofread it"):
        check_next(DEMO, rows, edited("P3"))


def test_each_sees_only_their_own_until_two_have_handed_theirs_in() -> None:
    rows = taken(DEMO, [*handed_in("P1", edited("P1")), *accepted("P2")])
    assert {one.by.id for one in visible_rows(DEMO, rows, "P2")} == {"P2"}
    assert visible_rows(DEMO, rows, "A01") == []
    rows = taken(DEMO, [*handed_in("P1", edited("P1")), *handed_in("P2")])
    assert {one.by.id for one in visible_rows(DEMO, rows, "A01")} == {"P1", "P2"}


def test_the_reviewed_text_stands_in_place_and_the_original_beside_it() -> None:
    acts = {"kind": "click", "at": [12, 34]}
    edits = [
        [row(by, "edit", None, "place", "office", "school"),
         row(by, "edit", 0, "action", DEMO.values[ProofreadPlace(0, "action")], acts),
         row(by, "edit", None, "impossible", "", "ambiguous")]
        for by in ("P1", "P2")
    ]  # fmt: skip
    rows = taken(DEMO, [*handed_in("P1", *edits[0]), *handed_in("P2", *edits[1])])
    settled = list(settled_events(EVENTS, DEMO, proofreading_state(DEMO, rows)))
    first, step, last = settled[0], settled[1], settled[4]
    assert isinstance(first.event, Started)
    assert isinstance(step.event, Step)
    assert isinstance(last.event, Step)
    assert (first.event.task.place, first.original) == ("school", {"place": "office", "impossible": ""})
    assert step.event.action is not None
    assert step.event.action.at == step.event.proposed.action.at == (12, 34)
    assert step.original == {"action": {"kind": "click", "at": [180, 150]}}
    assert last.event.action is not None
    assert (last.event.action.status, last.event.action.text) == ("infeasible", "ambiguous")
    assert [one.event for one in settled[2:4]] == EVENTS[2:4]


def test_edit_rates_count_each_look_at_a_step_once_two_have_handed_theirs_in() -> None:
    one = taken(DEMO, [*handed_in("P1", edited("P1")), *handed_in("P2")])
    half = taken(DEMO, handed_in("P1", edited("P1")))
    (rate,) = edit_rates([(DEMO, one), (DEMO, half)])
    assert (rate.annotator, rate.demonstrations, rate.looks, rate.edited, rate.rate) == ("A01", 1, 8, 1, 1 / 8)
    assert edit_rates([(DEMO, half)])[0].rate is None


def test_only_what_a_person_did_to_its_end_is_proofread() -> None:
    with pytest.raises(LabError, match="no person worked the phone"):
        proof_of(fold(demonstration(by=Actor("script", "rule")).events))
    with pytest.raises(LabError, match="still open"):
        proof_of(fold(demonstration(ended=False).events))


def test_editing_back_leaves_a_step_as_accepted() -> None:
    back = row("P1", "edit", 2, "instruction", "Tap the arrow", "Tap Send")
    sheet = ProofreadingSheet(DEMO, taken(DEMO, [edited("P1"), back]), "P1")
    assert sheet.verdict(2) == "accept"
    assert ProofreadingSheet(DEMO, taken(DEMO, [edited("P1")]), "P1").verdict(2) == "edit"
    assert WHOLE not in sheet.heads
