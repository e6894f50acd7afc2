"""Where a design stands and what comes next, in one line."""

from __future__ import annotations

from lab.design.revision import clash_words
from lab.plain import plain
from screens.author.desk import Desk


def state_words(desk: Desk) -> str:
    """For the line above the keys."""
    head = desk.head
    if desk.unkept is not None:
        return "Not in the file: what you see was refused. R reopens the design and keeps it."
    if desk.others and head is not None:
        return f"{clash_words(desk.heads)} M keeps yours, T takes the other."
    if head is None:
        return "No design yet. What you add is kept at once; z takes it back."
    match head.state:
        case "verified":
            return f"Version {head.version} is frozen: verified by {head.by.shown}. R reopens it as {head.version + 1}."
        case "submitted" if desk.reviewing:
            done = len(desk.marks) - len(desk.objections)
            counts = f"{done} accepted, {len(desk.objections)} objected to, {len(desk.unseen)} left"
            return f"Version {head.version} by {', '.join(desk.authors)} waits for you: {counts}."
        case "submitted":
            return f"Version {head.version} is submitted; another person verifies it. R takes it back."
    return f"Version {head.version}, {_drafted(desk)}   {wrong_words(desk)}"


def _drafted(desk: Desk) -> str:
    head = desk.head
    assert head is not None
    if head.state == "objected":
        note = f': "{plain(head.note, lines=False)}"' if head.note else ""
        return f"sent back by {head.by.shown}{note}"
    return f"draft by {', '.join(desk.authors) or head.by.shown}"


def wrong_words(desk: Desk, key: str = "") -> str:
    """What is to be mended, that of the item `key` first; or that it can be submitted."""
    if not desk.problems:
        return "✓ sound: S submits it" if desk.head is not None else ""
    first = next((problem for problem in desk.problems if problem.key == key), desk.problems[0])
    more = f"  (+{len(desk.problems) - 1})" if len(desk.problems) > 1 else ""
    return f"! {plain(first.words, lines=False)}{more}"
