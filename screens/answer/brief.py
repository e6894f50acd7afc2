"""The brief of a conversation. It opens at the person's own part, and returns to the row where the person left it."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.geometry import Size

from lab.core.run.trace import Trace
from lab.core.text.plain_text import plain
from lab.runs.endpoint.conversation_run import system_of
from screens.answer.words import translated
from screens.persona_facts import fact_lines
from screens.theme import HEADING, MUTED
from screens.widgets.text_page import TextPage
from simulators.users.endpoint.briefs import own_part


class BriefPage(TextPage):
    """Page of the open conversation's brief. It remembers the scroll position of each conversation."""

    def __init__(self, locale: str) -> None:
        super().__init__("brief", "pane", hint=translated(locale, "all of brief"))
        self._locale = locale
        self._run = ""
        self._start = 0
        """Offset in the text at which the brief opens."""
        self._left_at: dict[str, int] = {}
        """Map each run to the row at which its person left the scrolled brief."""
        self._opened_in = Size(0, 0)
        """Size in which the brief was opened, zero until then."""
        self._row: int | None = None
        """Row that the person scrolled to, or None if they have not scrolled."""

    def show_brief(self, trace: Trace) -> None:
        """Show a conversation's brief. Do not scroll if it is shown already."""
        content, self._start = _brief_text(trace, self._locale)
        if trace.id != self._run:
            if self._row is not None:
                self._left_at[self._run] = self._row
            self._run, self._row, self._opened_in = trace.id, self._left_at.get(trace.id), Size(0, 0)
        self.show(content, from_top=False)
        self.call_after_refresh(self._scroll_to_start)

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._scroll_to_start)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._opened_in == self.size and round(new_value) != round(old_value):
            self._row = round(new_value)

    def _scroll_to_start(self) -> None:
        """Scroll to the opening row, or to the row where the person left it. Done once for each size."""
        if self._width <= 0 or self._opened_in == self.size:
            return
        self._opened_in = Size(0, 0)
        row = self._start_row if self._row is None else self._row
        self.scroll_to(y=row, animate=False, immediate=True)
        if self.scroll_offset.y < min(row, len(self._wrapped) - self.scrollable_content_region.height):
            self.call_after_refresh(self._scroll_to_start)  # not laid out in full yet: it scrolled as far as it could
        else:
            self._opened_in = self.size

    @property
    def _start_row(self) -> int:
        text, end = self.content.plain, self._start + 1
        while end < len(text) and not text[end].isspace():
            end += 1
        return len(self._lines_of(text[:end])) - 1 if self._start else 0

    def _lines_of(self, text: str) -> list[Content]:
        return Content(text).wrap(max(1, self._width - 1))


def _brief_text(trace: Trace, locale: str) -> tuple[Content, int]:
    """Return the brief's text and the offset at which it opens.

    Text of a task file and persona comes first, and then the offset is 0. Otherwise it is where the person's own part
    of the system prompt begins.
    """
    parts: list[Content | str | tuple[str, str]] = []
    task, system = trace.task, system_of(trace)
    if trace.persona is not None or task.policy != system:
        parts += _titled_part(translated(locale, "brief.task"), task.display_name)
        if task.policy and task.policy != system:
            parts += _titled_part(translated(locale, "brief.policy"), task.policy)
    if trace.persona is not None:
        facts = "\n".join(
            f"{'  ' * depth}{name}{': ' if value else ''}{value}"
            for depth, name, value in fact_lines(trace.persona.facts)
        )
        parts += _titled_part(trace.persona.name, facts)
    if parts:
        parts += _titled_part(translated(locale, "brief.client"), system) if system else []
        return Content.assemble(*parts), 0
    if system:
        return Content(plain(system)), own_part(plain(system))
    return Content.assemble((translated(locale, "brief.none"), MUTED)), 0


def _titled_part(title: str, text: str) -> list[str | tuple[str, str]]:
    return [(f"{plain(title, lines=False)}\n", HEADING), f"{plain(text.strip())}\n\n"]
