"""A conversation as text: its brief, and what was said in it."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from lab.core.plain_text import plain
from lab.core.screen_clock import Clock
from lab.core.step import Reply
from lab.core.trace import Trace
from lab.runs.conversation_run import system_of
from screens.answer.words import translated
from screens.persona_facts import outline
from screens.theme import HEADING, MUTED, PLAIN

_ROLES = {"user": "agent", "assistant": "you", "tool": "result", "function": "result"}
"""Who speaks, by the role in the client's messages: it asks a model to be its user; each a key of the words."""


def brief_content(trace: Trace, locale: str) -> Content:
    """The system prompt, and what a task file says of the task and its persona."""
    parts: list[Content | str | tuple[str, str]] = []
    task, system = trace.task, system_of(trace)
    if trace.persona is not None or task.policy != system:
        parts += _part(translated(locale, "brief.task"), task.shown)
        if task.policy and task.policy != system:
            parts += _part(translated(locale, "brief.policy"), task.policy)
    if trace.persona is not None:
        facts = "\n".join(
            f"{'  ' * depth}{name}{': ' if value else ''}{value}" for depth, name, value in outline(trace.persona.facts)
        )
        parts += _part(trace.persona.name, facts)
    if system:
        parts += _part(translated(locale, "brief.client"), system) if parts else [plain(system)]
    return Content.assemble(*parts or [(translated(locale, "brief.none"), MUTED)])


def _part(title: str, text: str) -> list[str | tuple[str, str]]:
    return [(f"{plain(title, lines=False)}\n", HEADING), f"{plain(text.strip())}\n\n"]


def dialogue_content(trace: Trace, clock: Clock, locale: str) -> Content:
    """What was said so far, without the question that waits."""
    entries = list(_entries(trace, clock, locale))
    if not entries and trace.ended is None:
        return Content.assemble((translated(locale, "said nothing"), MUTED))
    parts: list[str | tuple[str, str]] = []
    for who, at, words in entries:
        parts += [(who, "bold"), (f"  {at}\n" if at else "\n", MUTED), (f"{words}\n\n", PLAIN)]
    if trace.ended is not None:
        parts.append((translated(locale, "-- ended", reason=plain(trace.ended.reason, lines=False)), MUTED))
    return Content.assemble(*parts)


def _entries(trace: Trace, clock: Clock, locale: str) -> Iterator[tuple[str, str, str]]:
    """Who said what at which time of the day."""
    for step in trace.steps:
        yield from _earlier(step.proposed.action.raw, locale)
        if step.question is not None:
            yield translated(locale, "agent"), clock.time_of_day(step.started), plain(step.question.text)
        if step.reply is not None:
            yield _who(step.reply, locale), clock.time_of_day(step.reply.sent_at or ""), reply_words(step.reply, locale)
    if trace.asked is not None:
        yield from _earlier(trace.asked.proposed.action.raw, locale)
        reply = trace.answered.reply if trace.answered is not None else None
        if reply is not None or trace.ended is not None:
            yield translated(locale, "agent"), clock.time_of_day(trace.asked.at), plain(trace.asked.question.text)
        if reply is not None:
            yield _who(reply, locale), clock.time_of_day(reply.sent_at or ""), reply_words(reply, locale)


def _earlier(raw: object, locale: str) -> Iterator[tuple[str, str, str]]:
    """What the client says was said before this run."""
    before = raw.get("before", ()) if isinstance(raw, dict) else ()
    for role, text in before:
        role_key = _ROLES.get(str(role), "")
        yield translated(locale, role_key) if role_key else plain(str(role), lines=False), "", plain(str(text))


def _who(reply: Reply, locale: str) -> str:
    return translated(locale, "you") if reply.by.kind == "human" else plain(reply.by.shown, lines=False)


def reply_words(reply: Reply, locale: str) -> str:
    """An answer as it was given: a decision, and words or functions that were called."""
    decided = {"accept": "accepted", "reject": "rejected", None: ""}[reply.decision]
    return plain(f"{translated(locale, decided)} {reply.text}" if decided else reply.text)
