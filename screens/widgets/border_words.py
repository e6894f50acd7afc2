"""Write words on a widget's border as plain characters. Textual's own `border_title` parses markup in a `str`."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Region
from textual.widget import Widget

from lab.core.text.plain_text import plain


def write_title(widget: Widget, words: str) -> None:
    """Write on the upper border. Repaint that row alone, and only if the words differ."""
    content = _border_content(words)
    if content != widget._border_title:
        widget._border_title = content
        gutter = widget.styles.gutter
        widget.refresh(Region(-gutter.left, -gutter.top, widget.outer_size.width, 1))


def write_subtitle(widget: Widget, words: str) -> None:
    """Write on the lower border. Repaint that row alone, and only if the words differ."""
    content = _border_content(words)
    if content != widget._border_subtitle:
        widget._border_subtitle = content
        gutter, size = widget.styles.gutter, widget.outer_size
        widget.refresh(Region(-gutter.left, size.height - gutter.top - 1, size.width, 1))


def _border_content(words: str) -> Content | None:
    return Content(plain(words, lines=False)) if words else None
