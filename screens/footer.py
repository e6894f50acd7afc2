"""The keys along the bottom of a screen."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widgets import Footer as TextualFooter
from textual.widgets._footer import FooterKey


class Footer(TextualFooter):
    """Textual's footer without its word for the palette, whose keys are styled once, and stay while they are the same.

    Textual's keys are born compact and learn from their footer that they are not, each time it is laid out anew: two
    styles for every key, a fifth of what it takes to open a room. And Textual lays it out anew whenever a room says
    that its keys may be others, which they seldom are.
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)
        self._laid: list[object] | None = None
        """What the keys that stand there were made of."""

    def compose(self) -> ComposeResult:
        self._laid = self._keys() if self._bindings_ready else None
        for child in super().compose():
            if isinstance(child, FooterKey):
                child.set_reactive(FooterKey.compact, self.compact)
            yield child

    async def recompose(self) -> None:
        """Lays the keys out anew where they are others."""
        if self.is_attached and (self._laid is None or self._laid != self._keys()):
            await super().recompose()

    def _keys(self) -> list[object]:
        """Every key that is to be seen, as it is to be seen."""
        return [
            (binding, enabled, tooltip)
            for _, binding, enabled, tooltip in self.screen.active_bindings.values()
            if binding.show
        ]
