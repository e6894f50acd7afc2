"""A rater's own sheets so far, in a dialog over the open sheet: a searchable list, and a page for each sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from lab.core.study.study import Study
from lab.core.text.plain_text import plain
from lab.studies.rating.past_sheets import PastAnswer, PastSheet, sheets_with
from lab.studies.rating.sheet_wording import Wording
from screens.key_names import with_keys
from screens.replay.step_pane import Part
from screens.theme import HEADING, MUTED, SUCCESS
from screens.widgets.border_words import write_title
from screens.widgets.lines import LineList
from screens.widgets.search_field import mark_matches
from screens.widgets.text_fields import TextLine
from screens.widgets.text_page import TextPage

_LIST = "{list.open}: read it   {past.find}: find words   {past.back}: back"
_PAGE = "{past.back}: to the list"
_TYPING = "Enter: to the sheets found   {past.back}: all sheets"


def sheet_content(way: Wording, sheet: PastSheet) -> Content:
    """Return a sheet as text: the unit's title, and for each item its question and answer."""
    state = way.sheet("_handed_in" if sheet.handed_in else "_past_begun")
    parts: list[Part] = [
        (f"{sheet.title}\n", HEADING),
        (f"{state} {_format_moment(sheet.handed_in)}".rstrip() + "\n", MUTED),
    ]
    before = ""
    for past_answer in sheet.answers:
        parts += _answer_parts(
            way, past_answer, heading=past_answer.item if past_answer.target != before or not before else ""
        )
        before = past_answer.target
    return Content.assemble(*parts).rstrip("\n")


def _answer_parts(way: Wording, past_answer: PastAnswer, heading: str) -> Iterator[Part]:
    if heading or not past_answer.target:
        yield "\n", ""
    if heading:
        yield f"{heading}\n", "bold"
    yield f"{past_answer.asked}\n", MUTED
    words = filter(
        None,
        (plain(past_answer.answer), past_answer.place, past_answer.sure, *(f"+{flag}" for flag in past_answer.flags)),
    )
    yield f"  {'   '.join(words)}\n", ""
    if past_answer.note:
        yield f"  {way.sheet('_past_note', past_answer.note)}\n", ""


def _format_moment(at: str) -> str:
    """Return day and minute by this person's clock, empty for no time."""
    return f"{datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M}" if at else ""


class PastSheetList(LineList):
    """List of sheets: those handed in, in that order, then those only begun."""

    HELP = """\
# Your own sheets so far

The sheets of this study that you handed in, in that order, and then those that you began. **{list.open}** reads one,
**{past.find}** finds words in titles, items, answers and notes. Nothing is changed here; **{past.back}** leads back to
the very item where you were.
"""

    def __init__(self, way: Wording) -> None:
        super().__init__(id="past-list", classes="pane")
        self.way = way
        self.sheets: Sequence[PastSheet] = ()

    @property
    def count(self) -> int:
        return len(self.sheets)

    def paint(self, index: int, width: int) -> Content:
        sheet = self.sheets[index]
        sign = ("✓ ", SUCCESS) if sheet.handed_in else ("· ", MUTED)
        when = _format_moment(sheet.handed_in)[5:] if sheet.handed_in else self.way.sheet("_past_begun")
        number = f"{sheet.position:>{max(2, len(str(max(past_sheet.position for past_sheet in self.sheets))))}}  "
        room = max(1, width - 2 - len(number) - Content(when).cell_length - 2)
        title = Content(sheet.title).truncate(room, ellipsis=True, pad=True)
        return Content.assemble(sign, (number, MUTED), title, "  ", (when, MUTED))


class PastSheetsScreen(ModalScreen[None]):
    """Read-only dialog. Esc goes from a sheet to the list, then back to the open item."""

    DEFAULT_CSS = """
    PastSheetsScreen { align: center middle; }
    PastSheetsScreen > Vertical { width: 94%; max-width: 110; height: 94%; }
    #past-list, #past-page { height: 1fr; }
    #past-page { display: none; }
    PastSheetsScreen.-reading #past-page { display: block; }
    PastSheetsScreen.-reading #past-list, PastSheetsScreen.-reading #past-row { display: none; }
    #past-row { height: 1; padding: 0 1; display: none; background: $background; }
    PastSheetsScreen.-finding #past-row { display: block; }
    PastSheetsScreen.-reading.-finding #past-row { display: none; }
    #past-row Static { width: auto; color: $accent; }
    #past-find { width: 1fr; }
    """
    BINDING_GROUP_TITLE = "Own sheets"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("P", "leave", "Close", show=False, id="annotate.past", tooltip="Back to the sheet that is open"),
        Binding("slash", "find", "Find", id="past.find", tooltip="Words in your own sheets, as you type them"),
        Binding("escape", "back", "Back", id="past.back", tooltip="To the list, then to the sheet that is open"),
    ]

    def __init__(self, study: Study, locale: str, sheets: Sequence[PastSheet]) -> None:
        super().__init__()
        self.way = Wording(study.protocol, locale)
        self.all_sheets = sheets
        self.list = PastSheetList(self.way)
        self.page = TextPage(id="past-page", classes="pane", hint=_PAGE)
        self.field = TextLine(id="past-find", compact=True)

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self.list
            yield self.page
            with Horizontal(id="past-row"):
                yield Static("Find: ", markup=False)
                yield self.field

    def on_mount(self) -> None:
        self._list_matches()
        # Start at the sheet handed in last.
        self.list.go(sum(bool(sheet.handed_in) for sheet in self.all_sheets) - 1)
        self.list.focus()

    def _list_matches(self) -> None:
        """List the sheets that hold the typed words."""
        self.list.sheets = sheets_with(self.all_sheets, self.field.value)
        self.list.empty = self.way.sheet("_past_no_such" if self.all_sheets else "_past_none") + "  {past.back}"
        self.list.changed()
        self._update_titles()

    def _update_titles(self) -> None:
        count = f"{len(self.all_sheets):,}"
        if self.field.value.strip():
            count = f"{len(self.list.sheets):,} / {count}"
        keys = _TYPING if self.field.has_focus else _LIST if self.all_sheets else "{past.back}: back"
        self.list.write_titles(f"{self.way.sheet('_past')}  {count}", with_keys(self, keys))

    def on_descendant_focus(self) -> None:
        self._update_titles()

    @on(Input.Changed, "#past-find")
    def _filter_list(self, message: Input.Changed) -> None:
        message.stop()
        self._list_matches()

    @on(Input.Submitted, "#past-find")
    def _focus_list(self, message: Input.Submitted) -> None:
        message.stop()
        self.list.focus()

    @on(LineList.Chosen, "#past-list")
    def _read_chosen_sheet(self, message: LineList.Chosen) -> None:
        message.stop()
        sheet = self.list.sheets[message.index]
        write_title(self.page, self.way.sheet("_item", sheet.position))
        content, words = sheet_content(self.way, sheet), self.field.value.split()
        for word in words:
            content = mark_matches(content, word)
        self.page.show(content, at=words[0].casefold() if words else "")
        self.add_class("-reading")
        self.page.focus()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the search only in the list, and only if there are sheets."""
        return bool(self.all_sheets) and not self.has_class("-reading") if action == "find" else True

    def action_find(self) -> None:
        """Open the row of the search."""
        self.add_class("-finding")
        self.field.focus()

    def action_back(self) -> None:
        """Go back from a sheet to the list, from the search to all sheets, from there to the open sheet."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.has_class("-reading"):
            self.remove_class("-reading")
            self.list.focus()
            self.refresh_bindings()
        elif self.has_class("-finding"):
            self.field.value = ""
            self.remove_class("-finding")
            self.list.focus()
        else:
            self.dismiss()

    def action_leave(self) -> None:
        """Close the dialog."""
        self.dismiss()
