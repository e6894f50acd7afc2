"""The keys along the bottom of a screen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from screens.key_names import typed_character

MOST = 7
"""Maximum verbs in a footer, help included. The help panel lists every key."""
_HELP = "app.help"
"""Id of the binding at the end of every footer."""
_DIM = Style(dim=True)


class FooterVerb(NamedTuple):
    """A key and its word in the footer."""

    binding: Binding
    key: str
    enabled: bool
    tooltip: str

    @property
    def width(self) -> int:
        """Columns: a space before and after the key, and one after the word."""
        return cell_len(self.key) + cell_len(self.binding.description) + 3


class Footer(Widget, can_focus=False):
    """A line of at most seven verbs in order of importance.

    Each verb is shown whole or not at all. Help and the badge are always there.
    The line is painted anew only if its verbs change. Textual's footer has a widget per key: whenever the focused
    widget has other keys, it removes and mounts all of them and lays the whole screen out three times.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"footer--key", "footer--word", "footer--hover", "footer--badge"}
    DEFAULT_CSS = """
    Footer {
        dock: bottom; height: 1; color: $footer-foreground; background: $footer-background;
        .footer--key { color: $footer-key-foreground; background: $footer-key-background; text-style: bold; }
        .footer--word { color: $footer-description-foreground; background: $footer-description-background; }
        .footer--hover { color: $footer-key-foreground; background: $block-hover-background; }
        .footer--badge { color: $background; background: $warning; text-style: bold; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.verbs: list[FooterVerb] = []
        """The painted verbs from the left."""
        self._badge = ""
        self._under_mouse: FooterVerb | None = None
        self._stale = False
        """True if the keys may have changed since the last update."""

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)
        if hasattr(self.app, "badge"):
            self.watch(self.app, "badge", self._update_verbs_soon, init=False)

    def on_resize(self) -> None:
        self._update_verbs_soon()

    def _bindings_changed(self, screen: Screen[object]) -> None:
        if screen.app.app_focus and self.is_attached and screen is self.screen:
            self._update_verbs_soon()

    def _update_verbs_soon(self) -> None:
        """Update the verbs after the next paint, once for any number of calls until then."""
        self._stale = True
        self.call_after_refresh(self._update_verbs)

    def _update_verbs(self) -> None:
        if self._stale and self.is_attached:
            self._stale = False
            # What the run that is live waits for; its own screen says that itself.
            badge = "" if getattr(self.app, "current_mode", "") == "live" else getattr(self.app, "badge", "")
            verbs = self._fitting_verbs((self.size or self.app.size).width - (cell_len(badge) + 2) * bool(badge))
            if (verbs, badge) != (self.verbs, self._badge):
                self.verbs, self._badge = verbs, badge
                self._hover(None)
                self.refresh()

    def _is_typed(self, binding: Binding) -> bool:
        """Return True if the focused field would read the key as text. Textual does not recognize `/` by its name."""
        typing = typed_character(binding.key)
        focused = self.screen.focused
        return bool(typing and focused and not binding.priority and focused.check_consume_key(binding.key, typing))

    def _fitting_verbs(self, room: int) -> list[FooterVerb]:
        """Return the verbs that fit into so many columns, in order, with help at the end."""
        verbs: dict[str, FooterVerb] = {}
        for node, binding, enabled, tooltip in self.screen.active_bindings.values():
            if binding.show and binding.action not in verbs and not self._is_typed(binding):
                key = self.app.get_key_display(binding)
                verb_name = getattr(node, "verbs", {}).get(binding.id)
                binding = replace(binding, description=verb_name) if verb_name else binding
                verbs[binding.action] = FooterVerb(binding, key, enabled, tooltip)
        last = [verb for verb in verbs.values() if verb.binding.id == _HELP]
        room -= sum(verb.width for verb in last)
        visible: list[FooterVerb] = []
        for verb in verbs.values():
            room -= 0 if verb in last else verb.width
            if verb not in last and room >= 0 and len(visible) + len(last) < MOST:
                visible.append(verb)
        return [*visible, *last]

    def render_line(self, y: int) -> Strip:
        keys = Strip(self._segments()).adjust_cell_length(self.size.width, self.rich_style)
        if not self._badge:
            return keys
        badge = Strip([Segment(f" {self._badge} ", self.get_component_rich_style("footer--badge"))])
        return Strip.join([keys.crop(0, max(self.size.width - badge.cell_length, 0)), badge])

    def _segments(self) -> Iterator[Segment]:
        key_style, word_style, hover_style = (
            self.rich_style + self.get_component_rich_style(f"footer--{part}") for part in ("key", "word", "hover")
        )
        for verb in self.verbs:
            hovered = verb is self._under_mouse
            faded = Style() if verb.enabled else _DIM
            yield Segment(f" {verb.key} ", (hover_style + Style(bold=True) if hovered else key_style) + faded)
            yield Segment(f"{verb.binding.description} ", (hover_style if hovered else word_style) + faded)

    def verb_at(self, x: int) -> FooterVerb | None:
        """Return the verb in this column, or None if there is none."""
        for verb in self.verbs:
            if 0 <= x < verb.width:
                return verb
            x -= verb.width
        return None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        verb = self.verb_at(event.x)
        if verb is not None and verb.enabled:
            self.app.simulate_key(verb.binding.key)
        elif verb is not None:
            self.app.bell()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._hover(self.verb_at(event.x))

    def on_leave(self) -> None:
        self._hover(None)

    def _hover(self, verb: FooterVerb | None) -> None:
        if verb is not self._under_mouse:
            self._under_mouse = verb
            self.tooltip = Content(verb.tooltip) if verb and verb.tooltip else None
            self.refresh()
