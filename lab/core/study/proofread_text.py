"""Results of proofreading: a demonstration's events with the reviewed text, and edit rates per annotator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from lab.core.run.step import Action
from lab.core.run.trace import AnyEvent, Started, Step
from lab.core.study.proofreading import (
    READY,
    WHOLE_FIELDS,
    Proof,
    ProofreadingSheet,
    ProofreadingState,
    ProofreadPlace,
    Review,
    action_of,
    proofreading_state,
)

_REVIEW, _REJECTED = "review", "rejected"


def is_rejected(step: Step) -> bool:
    """Return True if the proofreaders of a reviewed demonstration rejected this step."""
    return step.extra.get(_REVIEW) == _REJECTED


class ReviewedEvent(NamedTuple):
    """An event as reviewed, with the original values of its changed fields (empty if none)."""

    event: AnyEvent
    original: dict[str, Any]


def settled_events(events: Iterable[AnyEvent], demo: Proof, review_state: ProofreadingState) -> Iterator[ReviewedEvent]:
    """Yield a demonstration's events with the reviewed values. `review_state` must be agreed or settled.

    A rejected step stays, with `"review": "rejected"` in its `extra`.
    """
    assert review_state.state in READY
    for event in events:
        match event:
            case Started():
                yield _review_start(event, demo, review_state)
            case Step():
                yield _review_step(event, demo, review_state)
            case _:
                yield ReviewedEvent(event, {})


def _is_changed(demo: Proof, values: Mapping[ProofreadPlace, Any], place: ProofreadPlace) -> bool:
    return place in values and values[place] != demo.values[place]


def _review_start(event: Started, demo: Proof, review_state: ProofreadingState) -> ReviewedEvent:
    changed_places = [
        place for f in WHOLE_FIELDS if _is_changed(demo, review_state.values, place := ProofreadPlace(None, f))
    ]
    original: dict[str, Any] = {place.field: demo.values[place] for place in changed_places}
    names = {"intent": "instruction", "place": "place"}
    changes = {names[place.field]: review_state.values[place] for place in changed_places if place.field in names}
    return ReviewedEvent(msgspec.structs.replace(event, task=msgspec.structs.replace(event.task, **changes)), original)


def _review_step(event: Step, demo: Proof, review_state: ProofreadingState) -> ReviewedEvent:
    values = review_state.values
    original: dict[str, Any] = {}
    instruction, action = ProofreadPlace(event.index, "instruction"), ProofreadPlace(event.index, "action")
    impossible = ProofreadPlace(None, "impossible")
    if _is_changed(demo, values, instruction):
        original["instruction"] = demo.values[instruction]
        proposed = msgspec.structs.replace(event.proposed, instruction=values[instruction])
        event = msgspec.structs.replace(event, proposed=proposed)
    if _is_changed(demo, values, action):
        event = _replace_action(event, action_of(values[action]))
    if event.index == demo.steps - 1 and _is_changed(demo, values, impossible):
        event = _replace_action(event, _ending_action(values[impossible], event.action))
    if event.index in review_state.rejected:
        event = msgspec.structs.replace(event, extra={**event.extra, _REVIEW: _REJECTED})
    if event.action is not None and event.action != action_of(demo.values[action]):
        original["action"] = demo.values[action]
    return ReviewedEvent(event, original)


def _replace_action(event: Step, action: Action) -> Step:
    """Return a step with another action, both as proposed and as decided."""
    decision = event.decision and msgspec.structs.replace(event.decision, action=action)
    proposed = msgspec.structs.replace(event.proposed, action=action)
    return msgspec.structs.replace(event, proposed=proposed, decision=decision)


def _ending_action(code: str, action: Action | None) -> Action:
    """Return the last action of a demonstration: given up for the reason `code`, or finished if it is empty."""
    if code:
        return Action("status", status="infeasible", text=code)
    answer = action if action is not None and action.kind == "answer" else None
    return answer or Action("status", status="complete")


class EditRate(msgspec.Struct, frozen=True):
    """Share of an annotator's work that proofreaders changed, over demonstrations that two have proofread.

    `looks` counts each step once per proofreader, `edited` and `rejected` the steps they changed or rejected. `rate` is
    the sum of both over `looks`, null without any.
    """

    annotator: str
    demonstrations: int
    looks: int
    edited: int
    rejected: int
    rate: float | None


def edit_rates(reviews: Iterable[tuple[Proof, Iterable[Review]]]) -> list[EditRate]:
    """Return each annotator's edit rate, by code. Only demonstrations count that two proofreaders submitted."""
    rates: dict[str, list[int]] = {}
    for demo, rows in reviews:
        rows = list(rows)
        counts = rates.setdefault(demo.annotator.id, [0, 0, 0, 0])
        proofreaders = proofreading_state(demo, rows).proofreaders
        if len(proofreaders) < 2:
            continue
        counts[0] += 1
        verdicts = [
            ProofreadingSheet(demo, rows, by).verdict(step) for by in proofreaders for step in range(demo.steps)
        ]
        counts[1] += len(verdicts)
        counts[2] += verdicts.count("edit")
        counts[3] += verdicts.count("reject")
    return [
        EditRate(code, demos, looks, edited, rejected, (edited + rejected) / looks if looks else None)
        for code, (demos, looks, edited, rejected) in sorted(rates.items())
    ]
