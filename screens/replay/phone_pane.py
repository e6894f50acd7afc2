"""The pane of a replayed phone, as wide as its shape requires, with the step's action drawn on it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from lab.core.errors import LabError
from lab.core.run.step import Observation, Point
from lab.core.run.trace import Ended
from lab.core.run.ui_tree import UiTree
from lab.core.text.read_text import ReadText, has_no_text
from lab.runs.descriptions import action_words
from lab.runs.replay.recorded_run import PlaceView
from screens.lab import lab_of, window_of
from screens.mirror.fit import Zoom, phone_room
from screens.mirror.marks import PhoneMark
from screens.mirror.mirror import READ_WORDS, Mirror
from screens.mirror.terminal_picture import TerminalPicture
from screens.replay.action_marks import marks_of
from screens.widgets.border_words import write_title

if TYPE_CHECKING:
    from lab.ocr.reader import TextReader

PHONE: Point = (1080, 2400)
"""Shape of a phone whose size was not recorded."""
_BARE = 0.6
"""Fraction of its width that a phone without a picture gets. The words beside it get the rest."""
_BORDER = 2
_PAUSE = 0.15
"""Seconds that a picture is shown before its words are read, so that skipped steps are not read."""
_READING, _UNREAD = "reading its words ...", "its words could not be read"
_BESIDE = 65
"""Columns that the other panes need before the phone may be wider than its shape requires."""


class StillPhone(Vertical):
    """A mirror of a recorded screen. It accepts taps only if `interactive`.

    `beside` maps the screen's width classes to the columns that the other panes need. `pictures` shows the picture
    itself if the terminal has graphics for it.
    """

    class WordsRead(Message):
        """Message: the words of the current picture were read, or could not be."""

    def __init__(
        self,
        id: str,
        *,
        overlay: bool,
        pictures: bool = False,
        interactive: bool = False,
        beside: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(id=id)
        self._columns_beside = beside or {}
        self._pictures = pictures
        self.picture: TerminalPicture | None = None
        """The picture itself, drawn by the terminal's graphics, or None if it has none."""
        self._wants_picture = True
        self._picture_hidden = self._was_enlarged = False
        """True while the enlarged phone replaces the picture, or if it was enlarged before the last zoom."""
        self._last: tuple[PlaceView, bool] | None = None
        self._extra_marks: tuple[PhoneMark, ...] = ()
        self._marks: tuple[PhoneMark, ...] = ()
        """All marks on the current screen."""
        self.mirror = Mirror(classes="pane", notice="")
        self.mirror.interactive = interactive
        self.mirror.overlay = overlay
        self.phone = PHONE
        """Size of the recorded phone in pixels, for steps without a size."""
        self.feeds_page = True
        """True if the page of pictures follows this phone, in a room with several."""
        self.moment = ""
        """Title of the current screen: before the step, after it, or the last."""
        self._shape = PHONE
        self._bare = False
        self._unread: set[str] = set()
        """Pictures (by sha256) that could not be read."""
        self.words: ReadText | None = None
        """Words read from the current picture, or None before that, and if the phone gave a tree."""
        self.read_ahead: Callable[[int], PlaceView | None] | None = None
        """Return the place of a number, whose picture is read ahead. Called on a thread."""

    def compose(self) -> ComposeResult:
        yield self.mirror
        graphics = lab_of(self).graphics
        if self._pictures and graphics.kind != "cells":
            self.picture = TerminalPicture(graphics, classes="pane")
            self.picture.display = False
            self.watch(self.mirror, "zoom", self._follow_zoom, init=False)
            yield self.picture

    @property
    def shows_picture(self) -> bool:
        """True if the picture itself is shown, not characters."""
        return self.picture is not None and self.picture.display

    def show_picture(self, on: bool) -> None:
        """Show the picture itself if the terminal can, or characters."""
        self._wants_picture = on
        self.show_again()

    def show_again(self) -> None:
        """Draw the current screen again, for a page of pictures that has just opened."""
        if self._last is not None:
            self.show(self._last[0], after=self._last[1])

    def turn_words(self) -> None:
        """Toggle the screen's words as characters and its picture: the terminal's own, or one of half-blocks."""
        if self.picture is not None:
            self.show_picture(not self._wants_picture)
        else:
            self.mirror.overlay = not self.mirror.overlay

    def draw_marks(self, marks: Sequence[PhoneMark]) -> None:
        """Draw these marks beside the action of any step, instead of the previous ones."""
        if tuple(marks) != self._extra_marks:
            self._extra_marks = tuple(marks)
            self.show_again()

    def draw_matches(self, marks: Sequence[PhoneMark]) -> None:
        """Like `draw_marks`. On an enlarged phone scroll the first mark into sight."""
        self.draw_marks(marks)
        if marks and self.mirror.enlarged:
            self.mirror.center(_mark_center(marks[0]))

    def show(self, view: PlaceView, *, after: bool) -> None:
        """Draw the screen before the step with its action, or the one after it."""
        after = after and view.after is not None
        observation = view.after if after and view.after is not None else view.before
        shape, bare = observation.size or self.phone, view.image is None and observation.tree is None
        if (shape, bare) != (self._shape, self._bare):
            self._shape, self._bare = shape, bare
            self.fit_width()
        marks = [] if after or isinstance(view.event, Ended) else marks_of(view.event, shape)
        marks += self._extra_marks
        self.mirror.show_still(view.image, shape, self._tree_of(observation, view.image))
        self.mirror.mark(marks)
        self._marks, self._last = tuple(marks), (view, after)
        self._show_own_picture(view.image, shape, marks)
        window = window_of(self)
        if window is not None and self.feeds_page:
            window.show(view.image, shape, _caption_words(view, after=after), marks)
        moment = "After" if after else "Last screen" if isinstance(view.event, Ended) else "Before"
        if moment != self.moment:
            self.moment = moment
            self.update_title()

    def _show_own_picture(self, image: bytes | None, shape: Point, marks: Sequence[PhoneMark]) -> None:
        """Show the picture in the mirror's place if the terminal can and there is one."""
        if self.picture is None:
            return
        itself = self._wants_picture and image is not None
        if itself is not self.shows_picture:
            self.picture.display, self.mirror.display = itself, not itself
        if itself:
            self.picture.show(image, shape, marks)

    def update_title(self) -> None:
        """Write on the border which screen this is. Only if it changed, because that repaints the whole phone."""
        self.title(self.moment)

    def title(self, words: str) -> None:
        """Write on the upper border."""
        write_title(self.mirror, words)
        if self.picture is not None:
            write_title(self.picture, words)

    # -- words that no tree says -----------------------------------------------------------------------------

    def _tree_of(self, observation: Observation, image: bytes | None) -> UiTree | None:
        """Return the screen's UI tree. If it has no words, return the lines read from the picture once they are known.

        The border shows the state of the reading.
        """
        self.words = None
        if image is None or not has_no_text(observation.tree) or (reader := lab_of(self).text_reader) is None:
            self.mirror.remark = ""
            return observation.tree
        sha256 = hashlib.sha256(image).hexdigest()
        self.words = reader.stored_text(sha256)
        self._read_words(reader, sha256, image)
        if self.words is None:
            self.mirror.remark = _UNREAD if sha256 in self._unread else _READING
            return observation.tree
        self.mirror.remark = READ_WORDS if self.words.lines else ""
        return self.words.tree

    @work(exclusive=True, group="words")
    async def _read_words(self, reader: TextReader, sha256: str, image: bytes) -> None:
        """Read the words of the current picture, then those of the next, unless another is shown by then."""
        if self.words is None and sha256 not in self._unread:
            await asyncio.sleep(_PAUSE)
            if not await self._try_read(reader, sha256, image):
                self._unread.add(sha256)
            if self._last is not None:
                self.show(self._last[0], after=self._last[1])
            self.post_message(self.WordsRead())
        elif self.read_ahead is not None and self._last is not None:
            following = await asyncio.to_thread(self.read_ahead, self._last[0].number + 1)
            if following is not None and following.image is not None and has_no_text(following.before.tree):
                await self._try_read(reader, hashlib.sha256(following.image).hexdigest(), following.image)

    async def _try_read(self, reader: TextReader, sha256: str, image: bytes) -> bool:
        try:
            await asyncio.to_thread(reader.read, sha256, image)
        except LabError:
            return False
        return True

    # -- looking closer --------------------------------------------------------------------------------------

    def zoom_in(self) -> None:
        """Enlarge the phone around the step's touch, or the region that an answer rests on.

        Only characters can be enlarged. They replace the picture itself until the whole phone is shown again.
        """
        if self.shows_picture:
            self._picture_hidden = True
            self.show_picture(False)
            # The mirror gets its size with the next layout.
            self.call_after_refresh(self.zoom_in)
        else:
            self.mirror.closer(None if self.mirror.enlarged else self._marked_middle())

    def _follow_zoom(self, zoom: Zoom) -> None:
        if self._picture_hidden and self._was_enlarged and not self.mirror.enlarged:
            self._picture_hidden = False
            self.show_picture(True)
        self._was_enlarged = self.mirror.enlarged

    def _marked_middle(self) -> Point | None:
        """Return the middle of the last mark on the screen, or None if there is none."""
        marked = next((mark for mark in reversed(self._marks) if mark.at is not None), None)
        return None if marked is None else _mark_center(marked)

    def fit_width(self) -> None:
        """Set the width from the terminal's size. Cause a layout only if it changes."""
        width, rows = self.screen.size.width, max(1, self.screen.size.height - 3 - _BORDER)
        columns_needed = next(
            (least for name, least in self._columns_beside.items() if self.screen.has_class(name)), _BESIDE
        )
        columns, zoom = phone_room(self._shape, rows, round(width * 0.4), 0 if self._bare else width - columns_needed)
        if self._bare:
            columns = max(12, round(columns * _BARE))
        self.mirror.choose_whole_view(zoom)
        outer_width = columns + _BORDER
        if self.styles.width is None or self.styles.width.value != outer_width:
            self.styles.width = outer_width


def _mark_center(mark: PhoneMark) -> Point:
    """Return the middle of a frame, or the start of another mark."""
    x, y = mark.at or (0, 0)
    if mark.kind in ("box", "evidence") and mark.to is not None:
        return (x + mark.to[0]) // 2, (y + mark.to[1]) // 2
    return x, y


def _caption_words(view: PlaceView, *, after: bool) -> str:
    """Return the caption of a step for the page of pictures."""
    if isinstance(view.event, Ended):
        return "the last screen"
    return f"step {view.number + 1}, {'after' if after else 'before'}: {action_words(view.event.proposed.action)}"
