"""Text fields whose contents are always clean text, whether typed, pasted or loaded."""

from __future__ import annotations

from rich.segment import Segment
from textual import events
from textual.document._document import EditResult
from textual.document._edit import Edit
from textual.strip import Strip
from textual.widgets import Input, TextArea

from lab.core.text.typed_text import clean

_TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_CONTROLS = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0))))
_PAINTED = str.maketrans({"\u00ad": "-"} | dict.fromkeys(_TURNS + _CONTROLS, "\u200b"))
"""Replacements at painting.

Direction controls stay in the text but never reach the terminal, and each sign keeps its width.
"""


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
        return _make_paintable(super().render_line(y))


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
        return _make_paintable(super().render_line(y))


def _make_paintable(strip: Strip) -> Strip:
    if all(segment.text.isprintable() for segment in strip):
        return strip
    segments = [Segment(text.translate(_PAINTED), style, control) for text, style, control in strip]
    return Strip(segments, strip.cell_length)
