"""Compare: two runs side by side, step by step, starting at their first difference."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content

from lab.core.errors import LabError
from lab.core.run.trace import Ended
from lab.core.settings import Settings
from lab.core.text.plain_text import plain
from lab.runs.descriptions import one_line
from lab.runs.replay.comparison import RunComparison, Side, compare, sign_of
from lab.runs.replay.recorded_run import PlaceView
from screens.background import Background
from screens.compare.keys import KEYS
from screens.key_names import with_keys
from screens.lab import lab_of
from screens.mirror.fit import phone_room
from screens.replay import step_pane
from screens.replay.phone_pane import PHONE, StillPhone
from screens.replay.run_player import read_place
from screens.stylesheet import ROOM_STYLES
from screens.theme import HEADING, MUTED
from screens.widgets.border_words import write_subtitle, write_title
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList, fit_cell
from screens.widgets.room_screen import RoomScreen
from screens.widgets.status_line import StatusLine
from screens.widgets.text_page import TextPage

if TYPE_CHECKING:
    from store.store import Store

WIDE = 120
"""Columns from which the phones are shown beside the list."""
NAMES = ("left", "right")
_JOINTS = 24
"""Columns of the state's two lines that separators and line breaks take."""


class CompareScreen(RoomScreen[None]):
    """Two runs side by side. `compared` is None until both are read."""

    CSS_PATH = ROOM_STYLES
    BINDING_GROUP_TITLE = "Compare"
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.compared: RunComparison | None = None
        self.pairs = StepPairList("pairs")
        self.phones = [StepPhone(f"{name}-phone", overlay=settings.overlay, pictures=True) for name in NAMES]
        self.pages = [TextPage(id=f"{name}-words", classes="pane") for name in NAMES]
        self._requested: tuple[str, str] | None = None
        self._shows_after = False
        self._comparison = Background(self, self._show_compared, self._show_error)
        self._places = [Background(self, partial(self._draw_side, which)) for which in range(len(NAMES))]

    def compose(self) -> ComposeResult:
        yield StatusLine("compare-title")
        yield StatusLine("left-run")
        yield StatusLine("right-run")
        with Horizontal(id="compare-bench"):
            yield self.phones[0]
            with Vertical(id="compare-middle"):
                yield self.pairs
                with Horizontal(id="compare-words"):
                    yield from self.pages
            yield self.phones[1]
        yield StatusLine("compare-state")
        yield Footer()

    def on_mount(self) -> None:
        self.pairs.border_title = "Steps"
        self.pairs.focus()
        self._take_room()
        if self._requested is not None:
            self._begin(self._requested)
        else:
            self._show_empty(
                with_keys(self, "No two runs are open: {runs.compare:c} on two runs in Runs ({app.runs}) opens them.")
            )

    def on_resize(self) -> None:
        self.call_after_refresh(self._take_room)
        if self.compared is not None and self.compared.pairs:
            self._update_state()

    def _take_room(self) -> None:
        phoneless = self.size.width < WIDE
        if phoneless is not self.has_class("-phoneless"):
            self.set_class(phoneless, "-phoneless")
            self._clear_phones()
            self._request_pair()
            self.refresh_bindings()
        for phone in self.phones:
            phone.fit_width()

    # -- opening ---------------------------------------------------------------------------------------------

    def open(self, left: str, right: str) -> None:
        """Open two runs side by side, or the same two again."""
        self._requested = left, right
        if self.is_mounted:
            self._begin(self._requested)

    def _begin(self, runs: tuple[str, str]) -> None:
        self._show_empty("Reading the two runs ...")
        self._comparison.start(lambda: compare(self.store, *runs))

    def _show_empty(self, words: str) -> None:
        self._cancel_places()
        self.compared = self.pairs.compared = None
        self.pairs.empty = words
        self.pairs.changed()
        self._say("compare-title", "Compare")
        for name, page in zip(NAMES, self.pages, strict=True):
            self._say(f"{name}-run", "")
            page.show(Content(""))
        self._say("compare-state", "")
        self._clear_phones()

    def _cancel_places(self) -> None:
        for places in self._places:
            places.cancel()

    def _clear_phones(self) -> None:
        """Clear the pictures, because the runs shown before may have been erased."""
        for phone in () if self.has_class("-phoneless") else self.phones:
            phone.mirror.mark([])
            phone.mirror.show_still(None, None, None)

    def _show_compared(self, compared: RunComparison) -> None:
        self._show(compared, compared.first_difference or 0)

    def _show_error(self, error: LabError) -> None:
        self._show_empty(plain(error.sentence) + with_keys(self, " {compare.back} goes back to Runs."))

    def on_screen_resume(self) -> None:
        """Close runs that were redacted or withdrawn meanwhile."""
        if self.compared is not None and not all(self.store.runs.has_run(side.recording.id) for side in self._sides):
            self._requested = None
            self._comparison.cancel()
            notice = "One of the two runs is not in the file any more. {compare.back} goes back to Runs."
            self._show_empty(with_keys(self, notice))

    # -- painting --------------------------------------------------------------------------------------------

    @property
    def _sides(self) -> tuple[Side, ...]:
        return () if self.compared is None else (self.compared.left, self.compared.right)

    def _show(self, compared: RunComparison, place: int) -> None:
        self._cancel_places()  # a place of the other side, if these two were swapped
        self.compared = self.pairs.compared = compared
        tasks = compared.left.task
        if not compared.same_task:
            tasks = f"two tasks: {tasks} │ {compared.right.task}"
        self._say("compare-title", f"Compare   {tasks}")
        for name, side, phone in zip(NAMES, self._sides, self.phones, strict=True):
            self._say(f"{name}-run", f"{name:<5}  {side.name}   {side.facts}   {side.recording.id}")
            phone.phone = side.start_event.device.size or PHONE
        for name, side, page in zip(NAMES, self._sides, self.pages, strict=True):
            if not side.places:
                write_title(page, f"{name.title()}  no step")
                page.show(Content.assemble(("This run has no step.", MUTED)))
        self.pairs.empty = "Neither run has a step."
        self.pairs.changed()
        self.pairs.go(place)
        self._request_pair()

    def _say(self, id: str, words: str) -> None:
        self.query_one(f"#{id}", StatusLine).say(Content(plain(words, lines=False)))

    @on(LineList.Highlighted)
    def _request_pair(self) -> None:
        """Request the screens and words of the pair under the cursor, and describe its difference."""
        if self.compared is None or not self.compared.pairs:
            return
        for which, side in enumerate(self._sides):
            if side.recording.lines:
                number, alone = self._step_at(which)
                after = self._shows_after and not alone
                self._places[which].request(partial(read_place, side.recording, number, after=after))
        self._update_state()

    def _step_at(self, which: int) -> tuple[int, bool]:
        """Return a run's step at this pair, or its next one (at last its end) and True if it has none here."""
        assert self.compared is not None
        places = [pair[which] for pair in self.compared.pairs[self.pairs.cursor :]]
        number = next((int(place) for place in places if place is not None), None)
        last = max(0, len(self._sides[which].places) - 1)
        return last if number is None else number, places[0] is None

    def _draw_side(self, which: int, read: tuple[PlaceView, bool]) -> None:
        view, after = read
        number, alone = self._step_at(which)
        if number != view.number:
            return  # the cursor went on while this was read
        side, page = self._sides[which], self.pages[which]
        ended = isinstance(view.event, Ended)
        place = "no step here" if alone else "the end" if ended else f"step {number + 1}"
        write_title(page, f"{NAMES[which].title()}  {place}")
        page.show(self._side_words(side, view, alone=alone))
        if not self.has_class("-phoneless"):
            moment = f"{place}, after" if after and not alone else place
            self.phones[which].show_step(view, f"{NAMES[which].title()}  {moment}", after=after, alone=alone)

    def _side_words(self, side: Side, view: PlaceView, *, alone: bool) -> Content:
        if alone:
            return Content.assemble(("Only the other run has this step.", MUTED))
        if isinstance(view.event, Ended):
            return step_pane.end_sheet(view.event, *side.head, outcomes=True)
        return step_pane.step_sheet(view.event, errors=True)

    def _update_state(self) -> None:
        """Update the line above the footer: which difference this is, and its words."""
        compared = self.compared
        assert compared is not None
        place, starts = self.pairs.cursor, compared.starts
        count = sum(start <= place for start in starts)
        if not starts:
            words = "Both did the same"
        elif compared.pairs[place].same:
            words = "the same in both   " + self._next_difference_words(starts, place)
        else:
            which = (
                "the first difference" if place == compared.first_difference else f"difference {count} of {len(starts)}"
            )
            room = 2 * (self.size.width - 2) - len(which) - _JOINTS
            words = f"{which}:  {'  /  '.join(fit_both(compared.words(place), room))}"
        self._say("compare-state", words)
        steps = sum(not compared.is_end(index) for index in range(len(compared.pairs)))
        write_title(self.pairs, f"Steps  {min(place + 1, steps)}/{steps}")
        extent = compared.size_words if starts else "0 differences"
        write_subtitle(self.pairs, with_keys(self, f"{{list.open}}: replay left   {extent}"))

    def _next_difference_words(self, starts: list[int], place: int) -> str:
        """Return the key that leads from a pair without a difference to one with."""
        later = starts[-1] > place
        which = (
            "the difference" if len(starts) == 1 else f"the {'next' if later else 'last'} of {len(starts)} differences"
        )
        return with_keys(self, f"{{compare.next}}: {which}" if later else f"{{compare.previous}}: {which}")

    # -- verbs -----------------------------------------------------------------------------------------------

    def action_difference(self, by: int) -> None:
        """Go to the next or the previous stretch of differences."""
        starts = self.compared.starts if self.compared is not None else []
        cursor = self.pairs.cursor
        others = [start for start in starts if (start > cursor if by > 0 else start < cursor)]
        if others:
            self.pairs.go(others[0] if by > 0 else others[-1])
        else:
            self.notify("No further difference." if by > 0 else "No difference before this.", markup=False)

    def action_first(self) -> None:
        """Go to the first difference."""
        if self.compared is not None and self.compared.first_difference is not None:
            self.pairs.go(self.compared.first_difference)

    @on(LineList.Chosen)
    def _replay_chosen(self) -> None:
        self.call_later(self.run_action, "replay(0)")

    def action_replay(self, which: int) -> None:
        """Replay one of the runs at this step. Esc returns from there."""
        if self.compared is not None and self.compared.pairs:
            number, _ = self._step_at(which)
            lab_of(self).open_replay(self._sides[which].recording.id, number + 1, back="compare")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the actions on phones where there are none."""
        if action in ("after", "overlay") and self.has_class("-phoneless"):
            return False
        return super().check_action(action, parameters)

    def action_after(self) -> None:
        """Toggle the screens before and after the step."""
        self._shows_after = not self._shows_after
        self._request_pair()

    def action_swap(self) -> None:
        """Swap left and right."""
        if self.compared is not None and self._requested is not None:
            self._requested = self._requested[1], self._requested[0]
            self._show(self.compared.swapped(), self.pairs.cursor)

    def action_overlay(self) -> None:
        """Toggle the screens' words as characters over the phones."""
        for phone in self.phones:
            phone.turn_words()

    def action_copy(self) -> None:
        """Copy both ids."""
        ids = " ".join(side.recording.id for side in self._sides)
        if ids:
            self.app.copy_to_clipboard(ids)
            self.notify(f"Copied {ids}", markup=False)

    def action_move(self, by: int) -> None:
        """Go to the next or the previous pair."""
        self.pairs.action_move(by)

    def action_back(self) -> None:
        """Close help, or go back to Runs."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        else:
            raise SkipAction  # the app's own: to where one came from


def fit_both(words: tuple[str, str], room: int) -> tuple[str, str]:
    """Fit two texts into so many columns together. One gets what the other leaves, and the rest is cut."""
    left, right = (Content(side).cell_length for side in words)
    half = room // 2
    most = max(half, room - right), max(half, room - left)
    texts = [
        Content(side).truncate(max(8, width), ellipsis=True).plain for side, width in zip(words, most, strict=True)
    ]
    return texts[0], texts[1]


_ROWS = 8
"""Rows of titles, the line above the footer, and borders."""
_BETWEEN = 64
"""Columns that the list needs before the phones may be wider than their shape requires."""
_SHARE = 0.25
_BARE = 0.6


class StepPhone(StillPhone):
    """The screen of one run's step. Without a step, that of its next one."""

    def show_step(self, view: PlaceView, title: str, *, after: bool, alone: bool) -> None:
        """Draw a step's screen. With `alone` omit its action, which comes only later."""
        self.show(view, after=after)
        if alone:
            self.mirror.mark([])
            self._show_own_picture(view.image, self._shape, ())
        self.title(title)

    def fit_width(self) -> None:
        width, rows = self.screen.size.width, max(1, self.screen.size.height - _ROWS)
        widened = 0 if self._bare else (width - _BETWEEN) // 2
        columns, zoom = phone_room(self._shape, rows, round(width * _SHARE), widened)
        if self._bare:
            columns = max(12, round(columns * _BARE))
        self.mirror.choose_whole_view(zoom)
        outer_width = columns + 2
        if self.styles.width is None or self.styles.width.value != outer_width:
            self.styles.width = outer_width


_BAR = " │ "
_GUTTER = 3


class StepPairList(LineList):
    """One line per pair. The first difference has an arrow of its own."""

    HELP = """\
# Compare

Two runs side by side: steps that answer one another stand in one line. **=** both did the same, **≠** they did not,
**←** only the left run has this step, **→** only the right one. **►** is where they first differ.

Two taps are the same on the same name, or, without names, within 4 % of the screen; two texts where their words are;
two scrolls in the same direction; two questions only where the answers are the same, too.

**{compare.next}** and **{compare.previous}** go from difference to difference, **{compare.first}** to the first;
**{list.open}** replays the left run at this step, **{compare.right}** the right one, and **{replay.back}** comes back
from there; **{compare.swap}** swaps the sides, **{compare.after}** shows the screens after the step.
"""
    heading_rows = 1
    empty = "Reading the two runs ..."

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.compared: RunComparison | None = None

    @property
    def count(self) -> int:
        return len(self.compared.pairs) if self.compared is not None else 0

    def heading(self, width: int) -> Content:
        if self.compared is None:
            return Content("")
        return Content(
            self._format_cells(width, "", "left: " + self.compared.left.name, "right: " + self.compared.right.name)
        )

    def paint(self, index: int, width: int) -> Content:
        assert self.compared is not None
        pair, sign = self.compared.pairs[index], sign_of(self.compared, index)
        first = "►" if index == self.compared.first_difference else " "
        left = self._step_words(pair.left, self.compared.left, self.compared.words(index)[0])
        right = self._step_words(pair.right, self.compared.right, self.compared.words(index)[1])
        style = MUTED if pair.same else HEADING if first != " " else ""
        return Content.assemble((self._format_cells(width, first + sign, left, right), style))

    def _step_words(self, place: int | None, side: Side, words: str) -> str:
        """Return a step's number, from 1, and its words. The end has no number."""
        number = "" if place is None or place >= side.steps else str(place + 1)
        return f"{number:>{len(str(self.count))}} {one_line(words)}"

    def _format_cells(self, width: int, sign: str, left: str, right: str) -> str:
        half = max(8, (width - _GUTTER - len(_BAR)) // 2)
        return fit_cell(sign, _GUTTER) + fit_cell(left, half) + _BAR + fit_cell(right, half)
