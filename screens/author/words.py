"""Where a design stands and what comes next, in one line."""

from __future__ import annotations

from collections.abc import Callable

from lab.design.revision import clash_words
from lab.plain import plain
from screens.author.desk import Desk

FORM_WORDS = "Enter: the next field   Esc: done. What you type is kept."
TEXTS_WORDS = "Enter: take this text   Esc: none   ← →: another step"


def state_words(desk: Desk, key: Callable[[str], str]) -> str:
    """For the line above the keys; `key` gives what is pressed for one of Author's bindings."""
    head = desk.head
    if desk.unkept is not None:
        again = f"{key('reopen')} tries again, in a new version where this one is frozen."
        return f"Not in the file: saving what you see was refused. {again}"
    if desk.others and head is not None:
        settled = f"{key('keep_mine')} keeps yours, {key('take_theirs')} takes the other."
        return f"The design {clash_words(desk.heads)} {settled}"
    if head is None:
        return f"No design yet. What you add is kept at once; {key('undo')} takes it back."
    match head.state:
        case "verified":
            again = f"{key('reopen')} reopens it as {head.version + 1}."
            return f"Version {head.version} is frozen: verified by {head.by.shown}. {again}"
        case "submitted" if desk.reviewing:
            done = len(desk.marks) - len(desk.objections)
            counts = f"{done} accepted, {len(desk.objections)} objected to, {len(desk.unseen)} left"
            return f"Version {head.version} by {', '.join(desk.authors)} waits for you: {counts}."
        case "submitted":
            return f"Version {head.version} is submitted; another person verifies it. {key('reopen')} takes it back."
    sound = "" if desk.problems else f"   ✓ sound: {key('submit')} submits it"
    return f"Version {head.version}, {_drafted(desk)}{sound}"


def _drafted(desk: Desk) -> str:
    head = desk.head
    assert head is not None
    if head.state == "objected":
        note = f': "{plain(head.note, lines=False)}"' if head.note else ""
        return f"sent back by {head.by.shown}{note}"
    return f"draft by {', '.join(desk.authors) or head.by.shown}"


def item_words(desk: Desk, key: str) -> str:
    """What a reviewer said of the item `key`, and what is to be mended: with it, or else with the first of all."""
    said = desk.marks.get(key, "")
    objected = f"✗ {plain(said, lines=False)}" if said else ""
    if not desk.problems or not desk.writable:
        return objected
    first = next((problem for problem in desk.problems if problem.key == key), desk.problems[0])
    more = f"  (+{len(desk.problems) - 1})" if len(desk.problems) > 1 else ""
    return "   ".join(filter(None, (objected, f"! {plain(first.words, lines=False)}{more}")))
