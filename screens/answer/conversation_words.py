"""The dialogue of a conversation as styled text."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from lab.core.run.screen_clock import Clock
from lab.core.run.step import Proposed, Reply
from lab.core.run.trace import Trace
from lab.core.text.plain_text import plain
from screens.answer.words import translated
from screens.theme import MUTED, PLAIN

_ROLES = {"user": "agent", "assistant": "you", "tool": "result", "function": "result"}
"""Map roles in a client's messages to keys of `words`.

The client asks a model to act as its user, so `user` is the agent.
"""


def dialogue_content(trace: Trace, clock: Clock, locale: str) -> Content:
    """Return the dialogue so far, without the waiting question."""
    entries = list(_entries(trace, clock, locale))
    if not entries and trace.ended is None:
        return Content.assemble((translated(locale, "said nothing"), MUTED))
    parts: list[str | tuple[str, str]] = []
    for who, at, words in entries:
        parts += [(who, "bold"), (f"  {at}\n" if at else "\n", MUTED), (f"{words}\n\n", PLAIN)]
    if trace.ended is not None:
        parts.append((translated(locale, "-- ended", reason=plain(trace.ended.reason, lines=False)), MUTED))
    return Content.assemble(*parts)


def said_before(trace: Trace, clock: Clock, locale: str) -> bool:
    """Return True if the dialogue holds something besides the waiting question, also from before this run."""
    return trace.ended is not None or any(True for _ in _entries(trace, clock, locale))


def _entries(trace: Trace, clock: Clock, locale: str) -> Iterator[tuple[str, str, str]]:
    """Yield speaker, time of day and text of each turn."""
    for step in trace.steps:
        yield from _earlier_entries(step.proposed.action.raw, locale)
        if step.question is not None and step.question.text.strip():
            yield _asker(step.proposed, locale), clock.time_of_day(step.started), plain(step.question.text)
        if step.reply is not None:
            yield (
                _replier(step.reply, locale),
                clock.time_of_day(step.reply.sent_at or ""),
                reply_words(step.reply, locale),
            )
    if trace.asked is not None:
        yield from _earlier_entries(trace.asked.proposed.action.raw, locale)
        reply = trace.answered.reply if trace.answered is not None else None
        if (reply is not None or trace.ended is not None) and trace.asked.question.text.strip():
            asking = _asker(trace.asked.proposed, locale)
            yield asking, clock.time_of_day(trace.asked.at), plain(trace.asked.question.text)
        if reply is not None:
            yield _replier(reply, locale), clock.time_of_day(reply.sent_at or ""), reply_words(reply, locale)


def _earlier_entries(raw: object, locale: str) -> Iterator[tuple[str, str, str]]:
    """Yield the turns that the client sent as history from before this run."""
    # `raw` holds the facts of the request, with earlier messages as pairs of role and text.
    before = raw.get("before", ()) if isinstance(raw, dict) else ()
    for role, text in before:
        role_key = _ROLES.get(str(role), "")
        yield translated(locale, role_key) if role_key else plain(str(role), lines=False), "", plain(str(text))


def _asker(proposed: Proposed, locale: str) -> str:
    """Return the speaker of a question: the agent, or the function whose result it is."""
    raw = proposed.action.raw
    return translated(locale, "result" if isinstance(raw, dict) and raw.get("kind") == "tool" else "agent")


def _replier(reply: Reply, locale: str) -> str:
    return translated(locale, "you") if reply.by.kind == "human" else plain(reply.by.display_name, lines=False)


def reply_words(reply: Reply, locale: str) -> str:
    """Return a reply as text: the decision first, then words or function calls."""
    decided = {"accept": "accepted", "reject": "rejected", None: ""}[reply.decision]
    return plain(f"{translated(locale, decided)} {reply.text}" if decided else reply.text)
