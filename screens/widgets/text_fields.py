"""Text fields whose contents are always clean text, whether typed, pasted or loaded."""

from __future__ import annotations

from textual import events
from textual.document._document import EditResult
from textual.document._edit import Edit
from textual.strip import Strip
from textual.widgets import Input, TextArea

from lab.core.text.typed_text import clean
from screens.widgets.paintable import paintable


class TextLine(Input):
    """A field of one line. Pasted lines are joined."""

    def validate_value(self, value: str) -> str:
        return clean(value, lines=False)

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        # Textual's own handler keeps only the first line of a paste, so it gets a single one.
        super()._on_paste(events.Paste(clean(event.text, lines=False)))
        event.stop()

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        return Strip(paintable([*strip]), strip.cell_length)


class TextBox(TextArea):
    """A field of several lines."""

    def load_text(self, text: str) -> None:
        super().load_text(clean(text))

    def edit(self, edit: Edit) -> EditResult:
        """Clean every change of the text: typed, pasted or by the program."""
        edit.text = clean(edit.text)
        return super().edit(edit)

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        await super()._on_paste(event)
        event.stop()

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        return Strip(paintable([*strip]), strip.cell_length)
