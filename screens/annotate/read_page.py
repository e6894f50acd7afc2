"""What is read in place of a sheet: it says when the last of it comes in sight, and when it goes out of sight."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from screens.widgets.text_page import TextPage


class ReadPage(TextPage):
    """A page whose keeper names keys by whether more of it follows below."""

    @dataclass
    class Turned(Message):
        """More follows below now, or no more."""

        page: ReadPage

    _goes_on = False

    def _tell(self) -> None:
        super()._tell()
        goes_on = bool(self.lines_below)
        if goes_on is not self._goes_on:
            self._goes_on = goes_on
            self.post_message(self.Turned(self))
