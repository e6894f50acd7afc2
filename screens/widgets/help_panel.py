"""The help panel: what the focused widget says of itself and its keys, read on by two keys from anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import dedent
from typing import TypeAlias

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.segment import Segment
from rich.style import Style
from rich.text import Span, Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.dom import DOMNode
from textual.widget import Widget
from textual.widgets import HelpPanel, Input, Markdown, TextArea
from textual.widgets._key_panel import BindingsTable, KeyPanel

from screens.key_names import with_keys

KeyRow: TypeAlias = tuple[DOMNode, str, Binding]
"""Whose key it is, all the keys of the action as they are written, and the binding."""


class KeyLines:
    """Keys flush right and beside them what they do, an empty line between widgets; made once for each width."""

    def __init__(self, rows: Sequence[KeyRow], key_style: Style) -> None:
        self._rows = rows
        self._key_style = key_style
        self._made: dict[int, list[Segment]] = {}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        width = options.max_width
        if width not in self._made:
            self._made[width] = list(self._lines(console, width))
        return self._made[width]

    def _lines(self, console: Console, width: int) -> Iterator[Segment]:
        keyed = min(max((cell_len(keys) for _, keys, _ in self._rows), default=0), width // 2)
        before: DOMNode | None = None
        for node, keys, binding in self._rows:
            if before is not None and node is not before:
                yield Segment.line()
            before = node
            key = Text(keys, spans=[Span(0, len(keys), self._key_style)])
            key.truncate(keyed, overflow="ellipsis")
            key.pad_left(keyed - key.cell_len)
            words = Text(binding.description)
            words.append(f" {binding.tooltip}" if binding.tooltip else "", "dim")
            for line in words.wrap(console, max(width - keyed - 1, 1)):
                yield from key.render(console)
                yield Segment(" ")
                yield from line.render(console)
                yield Segment.line()
                key = Text(" " * keyed)


class KeyTable(BindingsTable):
    """The keys that are worth a line: how a field is typed in is left out, for that is as everywhere."""

    _drawn: tuple[Sequence[KeyRow], Style, KeyLines] | None = None
    """What was painted last: the rows, the style of their keys, and their lines."""

    def render(self) -> KeyLines:  # type: ignore[override]
        rows, style = list(self.rows()), self.get_component_rich_style("bindings-table--key")
        if self._drawn is None or self._drawn[:2] != (rows, style):
            self._drawn = rows, style, KeyLines(rows, style)
        return self._drawn[2]

    def look(self) -> None:
        """Paints the keys anew where they are others."""
        if self._drawn is None or list(self.rows()) != self._drawn[0]:
            self.refresh(layout=True)

    def rows(self) -> Iterator[KeyRow]:
        """Each action with all of its keys, of whose widget, in the order in which they are looked for."""
        rows: dict[tuple[int, str], tuple[DOMNode, list[str], Binding]] = {}
        stands = bool(self.app.screen_stack)  # an app that ends takes its screens down one by one, and lays them out
        for node, binding, _, _ in self.screen.active_bindings.values() if stands else ():
            editing = isinstance(node, TextArea | Input) and not binding.id
            unlisted = binding.id in getattr(self.app, "unlisted", ())
            if binding.system or editing or unlisted or not binding.description:
                continue
            row = rows.setdefault((id(node), binding.action), (node, [], binding))
            key = self.app.get_key_display(binding)
            if key not in row[1]:
                row[1].append(key)
        for node, keys, binding in rows.values():
            yield node, " ".join(keys), binding


class _Keys(KeyPanel):
    """Textual makes the table anew whenever a room says that its keys may be others, which they seldom are."""

    def compose(self) -> ComposeResult:
        yield KeyTable(shrink=True, expand=False)

    async def recompose(self) -> None:
        for table in self.query(KeyTable).results():
            table.look()


class Help(HelpPanel):
    """Textual's panel with the keys that matter, one text from top to bottom."""

    DEFAULT_CSS = """
    Help #help-text { height: 1fr; scrollbar-gutter: stable; scrollbar-size-vertical: 1; }
    Help #widget-help { height: auto; max-height: 1000; }
    Help KeyPanel#keys-help { height: auto; width: 1fr; overflow-y: hidden; }
    Help KeyTable { width: 1fr; }
    """

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help-text", can_focus=False):
            yield Markdown(id="widget-help")
            yield _Keys(id="keys-help")

    def update_help(self, focused_widget: Widget | None) -> None:
        """What the widget, or what it stands in, says of itself, with the keys as they are bound now."""
        if not self.app.app_focus or not self.screen.is_active:
            return
        around = focused_widget.ancestors_with_self if focused_widget is not None else []
        words = next((node.HELP for node in around if isinstance(node, Widget) and node.HELP), "")
        self.set_class(bool(words), "-show-help")
        for markdown in self.query(Markdown).results():
            markdown.update(with_keys(self, dedent(words.rstrip())))
        for text in self.query("#help-text").results():
            text.scroll_home(animate=False)

    def read(self, by: int) -> None:
        """A page on, or back."""
        text = self.query_one("#help-text")
        (text.scroll_page_down if by > 0 else text.scroll_page_up)(animate=False)
