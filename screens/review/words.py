"""What is said of a demonstration under review: one line's fields, and what may be done next."""

from __future__ import annotations

from typing import Any

from textual.content import Content

from lab.plain import plain
from lab.recording import reason_words
from lab.review import STEP_FIELDS, WHOLE_FIELDS, Place, Standing, action_of
from lab.uitree import UiTree
from screens.describe import action_words, one_line, point_words
from screens.review.desk import Desk

HEAD, MUTED, BAD = "bold $text-accent", "$foreground-muted", "bold $text-error"
Part = tuple[str, str]
_TITLES = {"intent": "Intent", "place": "Place", "impossible": "Impossible", "instruction": "Instruction",
           "action": "Action"}  # fmt: skip


def item_sheet(desk: Desk, step: int | None, tree: UiTree | None, *, slip: bool) -> Content:
    """One line's fields as this person left them, what was recorded where that is other, and what two differ in."""
    sheet = desk.sheet
    parts: list[Part] = []
    for field in WHOLE_FIELDS if step is None else STEP_FIELDS:
        place = Place(step, field)
        mine, recorded = desk.value(place), desk.demo.values[place]
        words = value_words(field, mine, tree)
        if not words and mine == recorded:
            parts += [(f"{_TITLES[field]}  ", HEAD), ("none\n\n" if field != "impossible" else "no\n\n", MUTED)]
            continue
        parts += [(f"{_TITLES[field]}\n", HEAD), (f"{words or 'none'}\n", "")]
        if mine != recorded:
            parts += [(f"recorded: {value_words(field, recorded, tree) or 'none'}\n", MUTED)]
        parts += [("\n", "")]
    if slip:
        parts += [("The annotator calls this step a slip.\n\n", "$text-warning")]
    verdict = sheet.verdict(step)
    if verdict == "reject":
        note = sheet.note(Place(step, "whole" if step is None else "step"))
        parts += [("You reject it: ", BAD), (f"{plain(note)}\n\n", "")]
    return Content.assemble(*parts, *_differences(desk.open_standing, step, tree))


def _differences(standing: Standing, step: int | None, tree: UiTree | None) -> list[Part]:
    parts: list[Part] = []
    for one in standing.differences:
        if one.place.step != step:
            continue
        parts += [(f"Two differ: {_TITLES.get(one.place.field, 'accept or reject')}\n", "bold $text-warning")]
        for number, word in enumerate(one.words, 1):
            note = f"  ({plain(word.note)})" if word.note else ""
            parts += [
                (f" {number}  ", "bold"),
                (f"{value_words(one.place.field, word.value, tree) or 'none'}{note}\n", ""),
            ]
        parts += [("\n", "")]
    return parts


def value_words(field: str, value: Any, tree: UiTree | None) -> str:
    """A field's value as people read it."""
    if field == "action":
        action = action_of(value)
        words = action_words(action, tree)
        at = f"  at {point_words(action.at)}" if action.at is not None and point_words(action.at) not in words else ""
        boxes = "".join(f"  box {','.join(map(str, box))}" for box in action.boxes)
        return f"{words}{at}{boxes}"
    if field == "impossible" and value:
        return f"{plain(str(value))}: {plain(reason_words(str(value)))}"
    return plain(str(value))


def state_words(desk: Desk) -> str:
    """What may be done next, in a sentence."""
    standing, sheet = desk.standing, desk.sheet
    if desk.person.id == desk.demo.annotator.id:
        return f"You ({desk.person.id}) recorded this; others proofread it."
    if desk.settling:
        if standing.state == "differs":
            count = len(standing.differences)
            where = f"{count} place{'s' * (count > 1)}"
            return f"Two differ in {where}: n goes there, 1 or 2 says which stands, e writes another."
        return f"{standing.state}; e still changes a field, as a cross-check."
    if sheet.committed or len(standing.proofreaders) >= 2:
        two = "a third person settles what differs" if standing.state == "differs" else standing.state
        waits = "waits for another proofreader" if len(standing.proofreaders) < 2 else two
        return f"{'You have handed it in' if sheet.committed else 'Two have proofread it'}: {waits}."
    if not sheet.unseen:
        return "All looked at: C hands it in, and then nothing in it changes any more."
    return f"{len(sheet.unseen)} not looked at: a accepts, e edits, x rejects; n goes to the next."


def title_words(desk: Desk) -> str:
    """The demonstration in a line."""
    sheet = desk.sheet
    seen = desk.demo.steps + 1 - len(sheet.unseen)
    parts = [f"Review   recorded by {desk.demo.annotator.id}", f"{desk.demo.steps} steps"]
    parts += [f"{len(desk.slips)} slips"] if desk.slips else []
    parts += [desk.standing.state]
    parts += [f"{seen} of {desk.demo.steps + 1} looked at"] if desk.writable else []
    return one_line("   ".join(parts), 300)
