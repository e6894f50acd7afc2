"""State of a design and the next action, in one line."""

from __future__ import annotations

from collections.abc import Callable

from lab.core.task.design import clash_words
from lab.core.text.plain_text import plain
from lab.studies.designing.design_session import DesignSession

FORM_WORDS = "{form.on}: the next field   {author.back}: done. What you type is kept."
OBJECT_WORDS = "{form.on} and {author.back} keep the objection; without words there is none."
SEND_BACK_WORDS = "{form.on}: send it back   {author.back}: not yet."
TEXTS_WORDS = (
    "{author.take_text}: take this text   {author.back}: none   {author.previous_step} {author.next_step}: another step"
)


def state_words(session: DesignSession, key: Callable[[str], str]) -> str:
    """Return the line above the footer. `key` returns the key of one of Author's bindings."""
    head = session.head
    if session.unkept is not None:
        again = f"{key('reopen')} tries again, in a new version where this one is frozen."
        return f"Not in the file: saving what you see was refused. {again}"
    if session.concurrent_drafts and head is not None:
        choice_words = f"{key('keep_mine')} keeps yours, {key('take_theirs')} takes the other."
        return f"The design {clash_words(session.heads)} {choice_words}"
    if head is None:
        return f"No design yet. What you add is kept at once; {key('undo')} takes it back."
    match head.state:
        case "verified":
            again = f"{key('reopen')} reopens it as {head.version + 1}."
            return f"Version {head.version} is frozen: verified by {head.by.display_name}. {again}"
        case "submitted" if session.reviewing:
            accepted_count = len(session.marks) - len(session.objections)
            counts = f"{accepted_count} accepted, {len(session.objections)} objected to, {len(session.unseen)} left"
            return f"Version {head.version} by {', '.join(session.authors)} waits for you: {counts}."
        case "submitted":
            return f"Version {head.version} is submitted; another person verifies it. {key('reopen')} takes it back."
    sound = "" if session.problems else f"   ✓ sound: {key('submit')} submits it"
    return f"Version {head.version}, {_draft_words(session)}{sound}"


def _draft_words(session: DesignSession) -> str:
    head = session.head
    assert head is not None
    if head.state == "objected":
        note = f': "{plain(head.note, lines=False)}"' if head.note else ""
        return f"sent back by {head.by.display_name}{note}"
    return f"draft by {', '.join(session.authors) or head.by.display_name}"


def item_words(session: DesignSession, key: str) -> str:
    """Return a reviewer's objection to the item `key`, and its problem, or else the first problem of all."""
    mark = session.marks.get(key, "")
    objected = f"✗ {plain(mark, lines=False)}" if mark else ""
    if not session.problems or not session.writable:
        return objected
    first = next((problem for problem in session.problems if problem.key == key), session.problems[0])
    more = f"  (+{len(session.problems) - 1})" if len(session.problems) > 1 else ""
    return "   ".join(filter(None, (objected, f"! {plain(first.words, lines=False)}{more}")))
