"""The status lines of the Answer screen: person, address and wait above, possible kinds of answer below."""

from __future__ import annotations

from textual.content import Content

from lab.core.run.screen_clock import Clock, format_duration, seconds_passed
from lab.core.run.trace import Trace
from lab.core.text.plain_text import plain
from lab.runs.descriptions import one_line
from lab.runs.endpoint.conversation_run import Turn
from screens.answer.inbox import Inbox
from screens.answer.tool_form import ToolForm
from screens.answer.words import counted, translated
from screens.key_names import with_keys
from screens.lab import lab_of
from screens.widgets.status_line import StatusLine
from simulators.users.endpoint.tool_arguments import form_tool


class RoomLines:
    """The two status lines, painted from the screen's widgets."""

    def __init__(self, person: str, locale: str, clock: Clock, inbox: Inbox, tools: ToolForm) -> None:
        self.above, self.below = StatusLine("answer-title"), StatusLine("answer-next")
        self._person, self._locale, self._clock = person, locale, clock
        self._inbox, self._tools = inbox, tools

    def paint_above(self, run: str, trace: Trace | None) -> None:
        """Paint the person and endpoint, how many others wait, and the open conversation's agent."""
        place = lab_of(self._inbox).endpoint
        if place is None:
            served = self._sentence("serves nothing", person=self._person)
        else:
            served = self._sentence("serves", person=self._person, base=place.base)
        others = self._inbox.waiting(run)
        parts = []
        if others:
            wait = format_duration(seconds_passed(others[0].asked_at, self._clock.now()))
            parts.append(counted(self._locale, "other waits", "others wait", len(others), wait=wait))
        parts += [served, *(place.notes[:1] if place is not None else ())]
        if trace is not None and run:
            parts.append(one_line(trace.agent.display_name, 60))
        self.above.say(Content("   ".join(plain(part, lines=False) for part in parts)))

    def paint_below(self, turn: Turn | None) -> None:
        """Paint the kinds of answer that the client takes besides words."""
        self.below.say(Content(self._offers(turn)))

    def _offers(self, turn: Turn | None) -> str:
        if turn is None:
            return (
                with_keys(self._inbox, self._sentence("longest")) if self._inbox.longest_waiting() is not None else ""
            )
        left_ago = self._inbox.left_ago(turn.run)
        parts = [self._sentence("may come back", ago=left_ago)] if left_ago else []
        if turn.facts.form is not None:
            parts.append(
                self._sentence("takes a form" if form_tool(turn.facts.form, (), "") is not None else "takes JSON")
            )
        if turn.facts.tools:
            parts.append(counted(self._locale, "function", "functions", len(turn.facts.tools)))
            calls = 0 if self._tools.display else self._tools.calls
            parts += [counted(self._locale, "filled in", "filled in each", calls)] if calls else []
        # A judge or a consent takes one fixed form of answer, without an end token.
        if turn.facts.ended_by and turn.facts.kind not in ("judge", "consent"):
            parts.append(self._sentence("end"))
        tokens = self._sentence("then").join(turn.facts.ended_by[:4])  # the client's words, which may hold braces
        return plain(with_keys(self._inbox, " · ".join(parts), tokens=tokens), lines=False)

    def _sentence(self, key: str, **values: object) -> str:
        """Return a sentence in this person's language."""
        return translated(self._locale, key, **values)
