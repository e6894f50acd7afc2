"""Texts about a demonstration under review: one line's fields, and what may be done next."""

from __future__ import annotations

from typing import Any

from textual.content import Content

from lab.core.run.demonstration import reason_words
from lab.core.run.ui_tree import UiTree
from lab.core.study.proofreading import STEP_FIELDS, WHOLE_FIELDS, ProofreadingState, ProofreadPlace, action_of
from lab.core.text.plain_text import plain
from lab.core.values.rounding import count
from lab.runs.descriptions import one_line, point_words, whole_action
from lab.studies.proofreading.proofreading import ProofreadingSession
from screens.theme import HEADING, LOUD_ERROR, LOUD_WARNING, MUTED, WARNING

Part = tuple[str, str]
_TITLES = {"intent": "Intent", "place": "Place", "impossible": "Impossible", "instruction": "Instruction",
           "action": "Action"}  # fmt: skip


def item_sheet(session: ProofreadingSession, step: int | None, tree: UiTree | None, *, slip: bool) -> Content:
    """Format a line's fields as this person left them, recorded values that differ, and open differences."""
    sheet = session.sheet
    parts: list[Part] = []
    for field in WHOLE_FIELDS if step is None else STEP_FIELDS:
        place = ProofreadPlace(step, field)
        mine, recorded = session.value(place), session.demo.values[place]
        words = value_words(field, mine, tree)
        if not words and mine == recorded:
            parts += [(f"{_TITLES[field]}  ", HEADING), ("none\n\n" if field != "impossible" else "no\n\n", MUTED)]
            continue
        parts += [(f"{_TITLES[field]}\n", HEADING), (f"{words or 'none'}\n", "")]
        if mine != recorded:
            parts += [(f"recorded: {value_words(field, recorded, tree) or 'none'}\n", MUTED)]
        parts += [("\n", "")]
    if slip:
        parts += [("The annotator calls this step a slip.\n\n", WARNING)]
    verdict = sheet.verdict(step)
    if verdict == "reject":
        note = sheet.note(ProofreadPlace(step, "whole" if step is None else "step"))
        parts += [("You reject it: ", LOUD_ERROR), (f"{plain(note)}\n\n", "")]
    return Content.assemble(*parts, *_difference_parts(session.open_standing, step, tree))


def _difference_parts(proofreading: ProofreadingState, step: int | None, tree: UiTree | None) -> list[Part]:
    parts: list[Part] = []
    for difference in proofreading.differences:
        if difference.place.step != step:
            continue
        parts += [(f"Two differ: {_TITLES.get(difference.place.field, 'accept or reject')}\n", LOUD_WARNING)]
        for number, word in enumerate(difference.words, 1):
            note = f"  ({plain(word.note)})" if word.note else ""
            parts += [
                (f" {number}  ", "bold"),
                (f"{value_words(difference.place.field, word.value, tree) or 'none'}{note}\n", ""),
            ]
        parts += [("\n", "")]
    return parts


def value_words(field: str, value: Any, tree: UiTree | None) -> str:
    """Return a field's value as text for people."""
    if field == "action":
        action = action_of(value)
        words = whole_action(action, tree)
        point = (
            f"  at {point_words(action.at)}" if action.at is not None and point_words(action.at) not in words else ""
        )
        boxes = "".join(f"  box {','.join(map(str, box))}" for box in action.boxes)
        return f"{words}{point}{boxes}"
    if field == "impossible" and value:
        return f"{plain(str(value))}: {plain(reason_words(str(value)))}"
    return plain(str(value))


def state_words(session: ProofreadingSession) -> str:
    """Return what may be done next, in a sentence with named key bindings."""
    proofreading, sheet = session.standing, session.sheet
    if session.person.id == session.demo.annotator.id:
        return f"You ({session.person.id}) recorded this; others proofread it."
    if session.settling:
        if proofreading.state == "differs":
            count = len(proofreading.differences)
            where = f"{count} place{'s' * (count > 1)}"
            return (
                f"Two differ in {where}: {{review.next}} goes there, {{review.first}} or {{review.second}} says "
                "which stands, {review.edit} writes another."
            )
        return f"{proofreading.state}; {{review.edit}} still changes a field, as a cross-check."
    if sheet.committed or len(proofreading.proofreaders) >= 2:
        two = "a third person settles what differs" if proofreading.state == "differs" else proofreading.state
        waits = "waits for another proofreader" if len(proofreading.proofreaders) < 2 else two
        return f"{'You have handed it in' if sheet.committed else 'Two have proofread it'}: {waits}."
    if not sheet.unseen:
        return "All looked at: {review.commit} hands it in, and then nothing in it changes any more."
    acts = "{review.accept} accepts, {review.edit} edits, {review.reject} rejects; {review.next} goes to the next."
    return f"{len(sheet.unseen)} not looked at: {acts}"


def title_words(session: ProofreadingSession) -> str:
    """Return the demonstration in one line."""
    sheet = session.sheet
    seen_count = session.demo.steps + 1 - len(sheet.unseen)
    parts = [f"Review   recorded by {session.demo.annotator.id}", count(session.demo.steps, "step")]
    parts += [count(len(session.slips), "slip")] if session.slips else []
    parts += [session.standing.state]
    parts += [f"{seen_count} of {session.demo.steps + 1} looked at"] if session.writable else []
    return one_line("   ".join(parts), 300)
