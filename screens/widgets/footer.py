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
    that its keys may be others, which they seldom are, and a dozen times before the same paint. Here a key that stands
    is told what it is now; only those that are more or fewer are made or removed.
    """

    DEFAULT_CSS = """
    Footer > .badge {
        dock: right; width: auto; padding: 0 1; background: $warning; color: $background; text-style: bold;
    }
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)
        self._laid: tuple[list[FooterVerb], str] | None = None
        """What the keys that stand there were made of, and the badge."""
        self._asked = False
        """Whether the keys may be others than those that were looked at last."""

    def compose(self) -> ComposeResult:
        self._laid = self._made_of() if self._bindings_ready else None
        for verb in self._laid[0] if self._laid is not None else []:
            yield self._key_of(verb)
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
        if not self.is_attached:
            return
        before, now = self._laid, self._made_of()
        if before is None or before[1] != now[1]:
            await super().recompose()
        elif before != now:
            await self._change(now[0])
            self._laid = now

    async def _change(self, verbs: list[FooterVerb]) -> None:
        """Tells the keys that stand there what they are now, and makes or removes as many as are more or fewer."""
        keys = list(self.query_children(FooterKey))
        for key, verb in zip(keys, verbs, strict=False):
            _rewrite(key, verb)
        async with self.batch():
            if len(verbs) > len(keys):
                more = [self._key_of(verb) for verb in verbs[len(keys) :]]
                await self.mount_all(more, after=keys[-1] if keys else None)
            for key in keys[len(verbs) :]:
                await key.remove()

    def _key_of(self, verb: FooterVerb) -> FooterKey:
        binding, key, enabled, tooltip = verb
        shown = FooterKey(binding.key, key, binding.description, binding.action, not enabled, tooltip)
        shown.set_reactive(FooterKey.compact, self.compact)
        return shown

    @property
    def _badge(self) -> str:
        """What the run that is live waits for; its own screen says that itself."""
        return "" if getattr(self.app, "current_mode", "") == "live" else getattr(self.app, "badge", "")

    def _made_of(self) -> tuple[list[FooterVerb], str]:
        return self._verbs(), self._badge

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


def _rewrite(shown: FooterKey, verb: FooterVerb) -> None:
    """Makes a key that stands another one's; one that is the same is not painted anew."""
    binding, key, enabled, tooltip = verb
    face = (key, binding.description)
    other = (shown.key_display, shown.description) != face
    shown.key, shown.action = binding.key, binding.action
    shown.key_display, shown.description = face
    if shown._disabled is enabled:
        shown._disabled = not enabled
        shown.set_class(not enabled, "-disabled")
    if shown.tooltip != (tooltip or None):
        shown.tooltip = tooltip or None
    if other:
        shown.refresh(layout=True)
