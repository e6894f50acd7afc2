"""The keys along the bottom of a screen."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Footer as TextualFooter
from textual.widgets import Static
from textual.widgets._footer import FooterKey

from screens.key_names import character

MOST = 7
"""Verbs in a footer, help among them; the help panel lists every key."""
_HELP = "app.help"
"""The binding that every footer ends in."""


class FooterVerb(NamedTuple):
    """A key as it is painted."""

    binding: Binding
    key: str
    enabled: bool
    tooltip: str

    @property
    def width(self) -> int:
        """Columns that Textual's `FooterKey` takes: a space before and after the key, one after the word."""
        return cell_len(self.key) + cell_len(self.binding.description) + 3


class Footer(TextualFooter):
    """At most seven verbs, each whole or not there, the first of them first; help, and what waits, always.

    Textual's keys are born compact and learn from their footer that they are not, each time it is laid out anew: two
    styles for every key, a fifth of what it takes to open a room. And Textual lays it out anew whenever a room says
    that its keys may be others, which they seldom are, and a dozen times before the same paint.
    """

    DEFAULT_CSS = """
    Footer > .badge {
        dock: right; width: auto; padding: 0 1; background: $warning; color: $background; text-style: bold;
    }
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)
        self._laid: list[object] | None = None
        """What the keys that stand there were made of."""
        self._asked = False
        """Whether the keys may be others than those that were looked at last."""

    def compose(self) -> ComposeResult:
        self._laid = self._made_of() if self._bindings_ready else None
        for verb in self._verbs() if self._bindings_ready else []:
            binding, key, enabled, tooltip = verb
            shown = FooterKey(binding.key, key, binding.description, binding.action, not enabled, tooltip)
            shown.set_reactive(FooterKey.compact, self.compact)
            yield shown
        if self._badge:
            yield Static(self._badge, classes="badge", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        if hasattr(self.app, "badge"):
            self.watch(self.app, "badge", self._told, init=False)

    def on_resize(self, event: events.Resize) -> None:
        self._told()

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Looks at the keys after the next paint."""
        self._bindings_ready = True
        if screen.app.app_focus and self.is_attached and screen is self.screen:
            self._told()

    def _told(self) -> None:
        if self._bindings_ready:
            self._asked = True
            self.call_after_refresh(self._look)

    async def _look(self) -> None:
        """Lays the keys out once, however often it was asked for since the last time."""
        if self._asked:
            self._asked = False
            await self.recompose()

    async def recompose(self) -> None:
        """Lays the keys out anew where they are others."""
        if self.is_attached and (self._laid is None or self._laid != self._made_of()):
            await super().recompose()

    @property
    def _badge(self) -> str:
        """What the run that is live waits for; its own screen says that itself."""
        return "" if getattr(self.app, "current_mode", "") == "live" else getattr(self.app, "badge", "")

    def _made_of(self) -> list[object]:
        return [*self._verbs(), self._badge]

    def _is_typed(self, binding: Binding) -> bool:
        """Whether the key is a letter in the field that has the keys; Textual takes `/`, by its name, for none."""
        typing = character(binding.key)
        focused = self.screen.focused
        return bool(typing and focused and not binding.priority and focused.check_consume_key(binding.key, typing))

    def _verbs(self) -> list[FooterVerb]:
        """The verbs that there is room for, in their order, help at the end."""
        verbs: dict[str, FooterVerb] = {}
        for node, binding, enabled, tooltip in self.screen.active_bindings.values():
            if binding.show and binding.action not in verbs and not self._is_typed(binding):
                key = self.app.get_key_display(binding)
                called = getattr(node, "verbs", {}).get(binding.id)
                binding = replace(binding, description=called) if called else binding
                verbs[binding.action] = FooterVerb(binding, key, enabled, tooltip)
        last = [verb for verb in verbs.values() if verb.binding.id == _HELP]
        room = self.app.size.width - sum(verb.width for verb in last) - (cell_len(self._badge) + 2) * bool(self._badge)
        shown: list[FooterVerb] = []
        for verb in verbs.values():
            room -= 0 if verb in last else verb.width
            if verb not in last and room >= 0 and len(shown) + len(last) < MOST:
                shown.append(verb)
        return [*shown, *last]
