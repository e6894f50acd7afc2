"""The phone on the Live screen: picture, its source, and marks of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.geometry import Size

from lab.core.run.step import Action, Observation
from lab.core.seams import Frame
from lab.core.text.plain_text import plain
from screens.mirror.live_words import LiveWords
from screens.mirror.mirror import Mirror
from screens.mirror.touch import marks_of
from screens.widgets.border_words import write_title

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.ocr.reader import TextReader
    from screens.picture_window import PictureWindow


class LivePhone:
    """The phone of a run. `mirror` is None if the seat does not see it, and then every method does nothing."""

    def __init__(self, *, seen: bool) -> None:
        self.mirror = Mirror(id="phone") if seen else None
        self._words: LiveWords | None = None
        self._page: Callable[[], PictureWindow | None] = lambda: None
        self._via: str | None = None

    def fit(self, size: Size) -> None:
        """Set the phone's width for a screen of that size."""
        if self.mirror is not None:
            self.mirror.set_width_for(size)

    def read_words(self, reader: Callable[[], TextReader | None]) -> None:
        """Read words by OCR from pictures of a phone without UI text. `reader` is called on a thread of its own."""
        if self.mirror is not None:
            self._words = LiveWords(self.mirror, reader)

    def close(self) -> None:
        """Stop reading words."""
        if self._words is not None:
            self._words.close()

    def mirror_to_page(self, page: Callable[[], PictureWindow | None]) -> None:
        """Show the same pictures in a browser page while one is open.

        Hide that page if the seat does not see the phone.
        """
        self._page = page
        if self.mirror is None and (window := page()) is not None:
            window.hide()

    def show(self, frame: Frame) -> None:
        """Show a picture. Called on the thread that took it, possibly after the app ended."""
        if self.mirror is not None:
            (self._words.show if self._words is not None else self.mirror.post_frame)(frame)
            if (page := self._page()) is not None:
                page.show_frame(frame)

    def mark(self, action: Action | None) -> None:
        """Mark where an action touches, or None removes the marks."""
        if self.mirror is not None:
            marks = marks_of(action)
            self.mirror.mark(marks)
            if (page := self._page()) is not None:
                page.mark(marks)

    def show_state(self, *, via: str, trouble: str) -> None:
        """Show on the border how pictures arrive (`via`, if there are several ways), and the phone's trouble."""
        if self.mirror is None:
            return
        self.mirror.spoiled_by = trouble
        if via != self._via:
            self._via = via
            short = via.partition(" (")[0]
            write_title(self.mirror, f"Phone · {short}" if short else "Phone")
            self.mirror.tooltip = Content(plain(via, lines=False)) if via else None

    def touchable(self, on: bool, *, typing: bool) -> None:
        """Set whether touches, and letters, go to the phone."""
        if self.mirror is not None:
            self.mirror.interactive, self.mirror.typing = on, typing

    def stop(self, observation: Observation | None = None, image: bytes | None = None) -> None:
        """Report that no more pictures come. If none ever came, show `observation`, the last screen."""
        if self.mirror is not None:
            if observation is not None:
                self.mirror.show_instead(image, observation.size, observation.tree)
            self.mirror.stop()
