"""The current item of a sheet: its question, and its options or how to answer it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from lab.core.study.rating_sheet import FieldReference
from lab.studies.rating.rating_session import may_stay_open
from lab.studies.rating.sheet_editor import SheetEditor
from lab.studies.rating.sheet_items import NOT_SEEN, AnswerChoice, SheetItem, chosen_keys, way_of
from lab.studies.rating.sheet_wording import value_words
from screens.annotate.keys import ActiveKeys
from screens.annotate.other_answers import clash_words
from screens.annotate.sheet_text import how_to_answer, item_words
from screens.key_names import with_keys
from screens.theme import ERROR
from screens.widgets.border_words import write_subtitle
from screens.widgets.status_line import StatusLine

_INDENT = 4
"""Columns by which an answer of several lines is indented below its sign and digit."""


class AnswerOptions(Widget):
    """Answers of the current item with their digits, side by side if they fit. A click gives one."""

    DEFAULT_CSS = "AnswerOptions { height: auto; width: 1fr; }"
    _GAP = 3

    @dataclass
    class Picked(Message):
        """Message: an option was clicked."""

        key: str

    def __init__(self) -> None:
        super().__init__(id="options")
        self.choices: Sequence[AnswerChoice] = ()
        self.flags: Sequence[AnswerChoice] = ()
        self.marked: Collection[str] = ()
        self.hint = ""
        self.many = False

    def show(
        self,
        choices: Sequence[AnswerChoice],
        flags: Sequence[AnswerChoice] = (),
        standing: Collection[str] = (),
        says: str = "",
        *,
        many: bool = False,
    ) -> None:
        """Show these options with the keys in `marked` marked, without options, how to answer the item.

        If `many`, several may be marked.
        """
        current = (self.choices, self.flags, self.marked, self.hint, self.many)
        if (choices, flags, standing, says, many) == current:
            return
        self.choices, self.flags, self.marked, self.hint, self.many = choices, flags, standing, says, many
        before, width = self.size.height, self.size.width
        self.refresh(layout=not width or self.rows(width) != before)

    @property
    def all(self) -> list[AnswerChoice]:
        """Options and then flags."""
        return [*self.choices, *self.flags]

    def _cell(self, choice: AnswerChoice, signs: str) -> Content:
        stands = choice.key in self.marked
        style = "bold" if stands else ""
        sign = f"{signs[stands]} "
        return Content.assemble((sign, style), (choice.key, "bold underline"), (f" {choice.says}", style))

    def _lines(self, width: int) -> list[list[Content]]:
        """Return rows of cells: options side by side if all fit, else stacked. Flags have rows of their own."""
        lines: list[list[Content]] = []
        for choices, signs in ((self.choices, "☐☑" if self.many else "○●"), (self.flags, "☐☑")):
            cells = [self._cell(choice, signs) for choice in choices]
            wide = sum(cell.cell_length for cell in cells) + self._GAP * (len(cells) - 1)
            lines += [cells] if cells and wide <= width else [[cell] for cell in cells]
        return lines

    def _hint_lines(self, width: int) -> list[Content]:
        return Content(self.hint).wrap(max(1, width)) if self.hint else []

    def _wrap_row(self, cells: Sequence[Content], width: int) -> list[Content]:
        """Return the lines of a row of cells. A cell wider than the width continues with an indent."""
        if len(cells) > 1 or cells[0].cell_length <= width:
            return [Content(" " * self._GAP).join(cells)]
        first, *others = cells[0].wrap(max(1, width - _INDENT))
        return [first, *(Content(" " * _INDENT) + line for line in others)]

    def rows(self, width: int) -> int:
        """Return the rows that everything takes in so many columns."""
        return len(self._hint_lines(width)) + sum(len(self._wrap_row(cells, width)) for cells in self._lines(width))

    def render(self) -> Content:
        width = max(1, self.size.width)
        lines = [line for cells in self._lines(width) for line in self._wrap_row(cells, width)]
        return Content("\n").join([*self._hint_lines(width), *lines])

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self.rows(width)

    def on_click(self, event: events.Click) -> None:
        width = self.size.width
        choices = iter(self.all)
        row = len(self._hint_lines(width))
        for cells in self._lines(width):
            left, rows = 0, len(self._wrap_row(cells, width))
            for cell in cells:
                choice = next(choices)
                if row <= event.y < row + rows and (left <= event.x < left + cell.cell_length or len(cells) == 1):
                    self.post_message(self.Picked(choice.key))
                left += cell.cell_length + self._GAP
            row += rows


class ItemPane(Vertical):
    """The question and the options of an editor's current item, which scroll if they are too long."""

    def __init__(self) -> None:
        super().__init__(id="item", classes="pane")
        self.question_line = StatusLine("ask")
        self.options = AnswerOptions()
        self.problem_line = StatusLine("wrong")

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="asked", can_focus=False):
            yield self.question_line
        with VerticalScroll(id="choices", can_focus=False):
            yield self.options
        yield self.problem_line

    def on_mount(self) -> None:
        self.asked, self.choices = self.query_one("#asked"), self.query_one("#choices")
        for part in (self.asked, self.choices):
            for attribute in ("virtual_size", "scroll_y", "size"):
                self.watch(part, attribute, self.tell_keys, init=False)

    def paint(self, editor: SheetEditor) -> None:
        """Paint the current item of an editor."""
        sheet, wording, item = editor.sheet, editor.wording, editor.item
        self.problem_line.say(Content.styled(editor.problem, ERROR))
        self.problem_line.display = bool(editor.problem)
        if item is None:
            self.question_line.say(Content.styled(wording.sheet("_hand_in"), "bold"))
            self.options.show((), says=wording.sheet("_is_handed_in") if sheet.committed else self._open_words(editor))
            return
        two = clash_words(wording, sheet, item)
        self.question_line.say(Content.assemble(item_words(wording, sheet, item, editor.draft), two))
        head = sheet.head(item.spot)
        many = way_of(item) == "many"
        choices = wording.choices(item) if many or way_of(item) == "choice" else []
        given = [label.value for label in sheet.clashes.get(item.spot, [head] if head is not None else [])]
        if head is not None and head.reason_missing == "cannot_judge":
            given.append(NOT_SEEN)
        marked_keys = {choice.key for choice in choices if choice.value in given}
        if many:
            marked_keys |= chosen_keys(choices, editor.selection)
        flags = wording.flags(item)
        raised = {flag.key for flag in flags if sheet.value(FieldReference(item.spot.target, flag.value))}
        how = self._how_words(editor, item, answered=head is not None)
        if flags and head is None:
            how = f"{how} {wording.sheet('_flag_first')}".strip()
        self.options.show(choices, flags, marked_keys | raised, how, many=many)

    def _how_words(self, editor: SheetEditor, item: SheetItem, *, answered: bool) -> str:
        """Return how to answer the current item, after a judge's answer if one is shown."""
        wording = editor.wording
        how = with_keys(self, how_to_answer(item, editor.entry.digits, answered, wording.sheet))
        if not editor.entry.digits and editor.draft.options:
            selection = editor.selection
            how = wording.sheet("_chosen", wording.sheet("_none") if selection == [] else len(selection or ()))
        if (prelabel := editor.prelabel) is None:
            return how
        words = wording.sheet("_prelabel", value_words(wording, item, prelabel.value))
        keys = with_keys(self, f"{{answer.accept}}: {wording.sheet('_accept')}")
        return "\n".join(filter(None, (words, keys, how)))

    def _open_words(self, editor: SheetEditor) -> str:
        """Return a text about what is still open, or that everything is answered."""
        if open_count := len(editor.sheet.unanswered):
            return editor.wording.sheet("_some_open", open_count)
        unsaid = {*may_stay_open(editor.sheet)}
        asks = [editor.wording.ask(item) for item in editor.items if item.spot in unsaid]
        return editor.wording.sheet("_may_stay", " · ".join(asks)) if asks else editor.wording.sheet("_all_said")

    def take_room(self, rows: int, width: int) -> None:
        """Divide the rows: the options stay in view, and the question scrolls in the rest."""
        room = max(1, rows - 2 - (1 if self.problem_line.current_text else 0))
        asks = len(self.question_line.current_text.wrap(width))
        gives = self.options.rows(width) if self.options.display else 0
        option_rows = min(gives, max(2, room - min(asks, max(2, room // 3))))
        self.choices.styles.max_height = max(1, option_rows)
        self.asked.styles.max_height = max(1, room - option_rows)
        self.call_after_refresh(self.tell_keys)

    def reading(self, by: int = 1) -> Widget | None:
        """Return the part of the current item that scrolls next, on (1) or back (-1), or None at its end."""
        for part in (self.asked, self.choices) if by > 0 else (self.choices, self.asked):
            if (part.scroll_offset.y < part.max_scroll_y) if by > 0 else part.scroll_offset.y > 0:
                return part
        return None

    @property
    def reads(self) -> bool:
        """True if the current item is larger than its view."""
        return any(part.max_scroll_y for part in (self.asked, self.choices))

    def read_on(self, by: int) -> bool:
        """Scroll the current item by a page. Return False at its end."""
        part = self.reading(by)
        if part is not None:
            step = max(1, part.scrollable_content_region.height - 1)
            part.scroll_to(y=part.scroll_offset.y + by * step, animate=False)
        return part is not None

    def tell_keys(self) -> None:
        """Write on the item's border which key scrolls it."""
        write_subtitle(self, f"{ActiveKeys(self.screen).paging}: read on" if self.reading() else "")

    def scroll_to_top(self) -> None:
        """Show the beginning of the question and of the options."""
        for part in (self.asked, self.choices):
            part.scroll_home(animate=False)
