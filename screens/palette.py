"""Textual's command palette with plain-text entries and without errors for stale clicks."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from textual._context import active_message_pump
from textual.await_complete import AwaitComplete
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.errors import NoWidget
from textual.events import Click
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList

from lab.core.text.plain_text import plain


class PlainCommands(Provider):
    """Commands of the app and its screen. Textual's own provider parses markup, also in a task's title."""

    async def discover(self) -> Hits:
        for title, words, run, discovered in sorted(self.app.get_system_commands(self.screen), key=itemgetter(0)):
            if discovered:
                yield DiscoveryHit(Content(plain(title, lines=False)), run, help=_help_content(words))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, words, run, _ in self.app.get_system_commands(self.screen):
            title = plain(name, lines=False)
            score, offsets = matcher.fuzzy_search.match(query, title)
            if score > 0:
                display = Content(title)
                for offset in offsets:
                    if not title[offset].isspace():
                        display = display.stylize(self.match_style or "", offset, offset + 1)
                yield Hit(score, display, run, help=_help_content(words))


def _help_content(words: str) -> Any:
    """Return the help as content, which the palette accepts in place of markup though its type says `str`."""
    return Content(plain(words, lines=False)) if words else None


def drop_stale_click(message: Message) -> None:
    """Stop a click on a line that a list no longer has, because Textual's list fails on it.

    Textual calls this hook before a node handles a message.
    """
    if isinstance(message, Click):
        lines = active_message_pump.get(None)
        if isinstance(lines, OptionList) and message.style.meta.get("option", -1) >= lines.option_count:
            message.prevent_default()


class Palette(CommandPalette):
    """Textual's palette. A click or key that arrives while it closes or is covered dismisses nothing."""

    def dismiss(self, result: None = None) -> AwaitComplete:
        stack = self.app.screen_stack
        return super().dismiss(result) if stack and stack[-1] is self else AwaitComplete()

    def get_widget_at(self, x: int, y: int) -> tuple[Widget, Region]:
        """Return the palette itself for a point outside the screen, so that a click there is one beside its list."""
        try:
            return super().get_widget_at(x, y)
        except NoWidget:
            return self, self.region
