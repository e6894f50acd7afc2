"""What is seen of one item that is settled: it in full, the answers side by side, what is chosen, a line to type in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message

from screens.adjudicate.chair import Case, Chair, Voice
from screens.adjudicate.rows import Voices
from screens.adjudicate.words import Draft, beside_words, case_words, item_at
from screens.annotate.entry import Line
from screens.annotate.items import Item, way_of
from screens.annotate.menu import Menu
from screens.annotate.pace import Pace
from screens.annotate.rows import Options
from screens.annotate.typed import hint_of
from screens.annotate.words import Way
from screens.author.told import Told
from screens.clock import Clock
from screens.lines import Lines
from screens.page import Page

Typing = Literal["", "value", "reason", "minutes", "now", "why", "withdraw"]


class ItemPane(Vertical):
    """Whoever holds it calls `open` with a case, and hears what is looked at."""

    @dataclass
    class LookedAt(Message):
        """The answer under the cursor is another one."""

        voice: Voice | None

    class Turned(Message):
        """The keys lead elsewhere now."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="adjudicate-pane")
        self.chair: Chair | None = None
        self.case: Case | None = None
        self.judges = False
        self.typing: Typing = ""
        self._drafts: dict[tuple[str, str, str], Draft] = {}
        self.ask = Told("adjudicate-ask")
        self.voices = Voices()
        self.words = Page(id="adjudicate-words")
        self.options = Options()
        self.wrong = Told("adjudicate-wrong")
        self.line = Line(clock, Pace(clock))
        self.menu = Menu()

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="adjudicate-item", can_focus=False):
            yield self.ask
        yield self.voices
        yield self.options
        yield self.wrong
        yield self.line
        yield self.menu
        yield self.words

    def on_mount(self) -> None:
        self.words.can_focus = False

    # -- which item ------------------------------------------------------------------------------------------

    @property
    def item(self) -> Item:
        assert self.case is not None
        assert self.chair is not None
        return item_at(self.chair.study.protocol, self.case.unit, self.case.spot)

    @property
    def way(self) -> Way:
        assert self.chair is not None
        return self.chair.way

    @property
    def draft(self) -> Draft:
        """What was chosen here so far."""
        assert self.case is not None
        return self._drafts.setdefault((self.case.unit.id, *self.case.spot), Draft())

    def open(self, chair: Chair, case: Case) -> None:
        """Shows an item."""
        self.leave_line()
        self.chair, self.case = chair, case
        self.voices.border_title = "Answers"
        self.renew()
        self.voices.focus()
        self.post_message(self.LookedAt(self.voices.current))

    def renew(self, wrong: str = "") -> None:
        """Paints the item as it stands."""
        assert self.case is not None
        self.draft.judges_seen |= self.judges and bool(self.case.judges)
        self.ask.say(case_words(self.way, self.case))
        self.voices.show(self.case, self.way, self.draft, judges=self.judges)
        self.voices.styles.height = max(3, min(8, self.voices.count + 2))
        self.words.show(beside_words(self.way, self.case, self.voices.current, self.draft))
        choices = self.way.choices(self.item) if way_of(self.item) == "choice" and not self.case.closed else []
        standing = {one.key for one in choices if self.draft.value is not None and one.value == self.draft.value}
        says = "" if choices or self.case.closed else f"i: type {hint_of(self.item.field)}"
        self.options.show(choices, (), standing, says)
        self.wrong.say(Content.styled(wrong, "$text-error"))
        self.post_message(self.Turned())

    @property
    def next_words(self) -> str:
        """What the keys do now."""
        if self.menu.display:
            return "A digit or Enter chooses, Esc leaves."
        if self.typing == "reason":
            return "Enter settles it by this reason, Esc leaves; the reason stays."
        if self.typing:
            return "Enter keeps what you typed, Esc leaves."
        if self.case is None or self.case.closed:
            return "n: the next item. Esc: back to the queue."
        if self.draft.chosen:
            return "Enter: say why and settle it."
        if self.case.settled is not None:
            return "Settled. A digit settles it anew, z leaves it unsettled, n goes on."
        most = ", m what most say" if self.case.majority is not None else ""
        return f"A digit chooses{most}; Enter then asks why." if self.options.choices else f"i types it{most}."

    @on(Lines.Highlighted, "#adjudicate-said")
    def _moved_to(self, message: Lines.Highlighted) -> None:
        message.stop()
        if self.case is not None:
            self.words.show(beside_words(self.way, self.case, self.voices.current, self.draft))
            self.post_message(self.LookedAt(self.voices.current))

    # -- typing ----------------------------------------------------------------------------------------------

    def type(self, what: Typing, title: str, words: str = "", hint: str = "") -> None:
        """Opens the line."""
        self.typing = what
        self.line.open(title, words, hint)
        self.refresh_bindings()
        self.post_message(self.Turned())

    def leave_line(self) -> None:
        """Closes the line and what else is open over the item; a reason that was begun stays."""
        if self.typing == "reason" and self.case is not None:
            self.draft.reason = self.line.text.strip()
        if self.typing or self.menu.display:
            self.typing = ""
            self.line.close()
            self.menu.close()
            self.voices.focus()
            self.refresh_bindings()
