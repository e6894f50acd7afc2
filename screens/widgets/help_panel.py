"""The help panel: help of the focused widget and its keys. Two keys scroll it from anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import dedent
from typing import TypeAlias

from rich.console import Console, ConsoleOptions
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.dom import DOMNode
from textual.widget import Widget
from textual.widgets import HelpPanel, Input, Markdown, TextArea
from textual.widgets._key_panel import BindingsTable, KeyPanel

from screens.key_names import with_keys

KeyRow: TypeAlias = tuple[DOMNode, str, Binding]
"""The widget of a key, all keys of the action as displayed, and the binding."""


class RenderedTable:
    """A table that caches its lines per width, because Textual asks for its height several times before it paints."""

    def __init__(self, table: Table) -> None:
        self._key_table = table
        self._lines: dict[int, list[Segment]] = {}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        width = options.max_width
        if width not in self._lines:
            self._lines[width] = list(console.render(self._key_table, options))
        yield from self._lines[width]


def _key_table(rows: Sequence[KeyRow], key_style: Style) -> Table:
    """Return a table of keys and their actions, with an empty line between widgets."""
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", no_wrap=True)
    last: DOMNode | None = None
    for node, keys, binding in rows:
        if last is not None and node is not last:
            table.add_row("", "")
        last = node
        words = Text(binding.description)
        words.append(f" {binding.tooltip}" if binding.tooltip else "", "dim")
        table.add_row(Text(keys, style=key_style), words)
    return table


class KeyTable(BindingsTable):
    """The keys that are worth a line.

    Editing keys of text fields are left out, because they are the same everywhere.
    """

    _painted: tuple[Sequence[KeyRow], Style, RenderedTable] | None = None
    """Cache of the last painting: the rows, the style of their keys, and their table."""

    def render(self) -> RenderedTable:  # type: ignore[override]
        rows, key_style = list(self.rows()), self.get_component_rich_style("bindings-table--key")
        if self._painted is None or self._painted[:2] != (rows, key_style):
            self._painted = rows, key_style, RenderedTable(_key_table(rows, key_style))
        return self._painted[2]

    def repaint_if_changed(self) -> None:
        """Repaint if the keys have changed."""
        if self._painted is None or list(self.rows()) != self._painted[0]:
            self.refresh(layout=True)

    def rows(self) -> Iterator[KeyRow]:
        """Yield each action with its widget and all of its keys, in the order of the active bindings."""
        rows: dict[tuple[int, str], tuple[DOMNode, list[str], Binding]] = {}
        stands = bool(self.app.screen_stack)  # an app that ends takes its screens down one by one, and lays them out
        for node, binding, _, _ in self.screen.active_bindings.values() if stands else ():
            editing = isinstance(node, TextArea | Input) and not binding.id
            unlisted = binding.id in getattr(self.app, "hidden_bindings", ())
            if binding.system or editing or unlisted or not binding.description:
                continue
            row = rows.setdefault((id(node), binding.action), (node, [], binding))
            key = self.app.get_key_display(binding)
            if key not in row[1]:
                row[1].append(key)
        for node, keys, binding in rows.values():
            yield node, " ".join(keys), binding


class _Keys(KeyPanel):
    """Textual rebuilds the table whenever a room refreshes its bindings, though they seldom change.

    This one compares first.
    """

    def compose(self) -> ComposeResult:
        yield KeyTable(shrink=True, expand=False)

    async def recompose(self) -> None:
        for table in self.query(KeyTable).results():
            table.repaint_if_changed()


def _drop_unbound(text: str) -> str:
    """Remove the sentences about keys that are unbound here, because one widget may be used in several rooms."""
    # `with_keys` fills an unbound key as an empty bold text: four asterisks.
    if "****" not in text:
        return text
    paragraphs = (re.split(r"(?<=\.)\s+", paragraph) for paragraph in text.split("\n\n"))
    return "\n\n".join(" ".join(one for one in sentences if "****" not in one) for sentences in paragraphs)


class Help(HelpPanel):
    """Textual's panel with the keys that matter, as one scrolling text."""

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
        """Show the help of the widget or of its nearest ancestor that has some, with the current keys."""
        if not self.app.app_focus or not self.screen.is_active:
            return
        around = focused_widget.ancestors_with_self if focused_widget is not None else []
        words = next((node.HELP for node in around if isinstance(node, Widget) and node.HELP), "")
        self.set_class(bool(words), "-show-help")
        for markdown in self.query(Markdown).results():
            markdown.update(_drop_unbound(with_keys(self, dedent(words.rstrip()))))
        for text in self.query("#help-text").results():
            text.scroll_home(animate=False)

    def read(self, by: int) -> None:
        """Scroll by a page."""
        text = self.query_one("#help-text")
        (text.scroll_page_down if by > 0 else text.scroll_page_up)(animate=False)
