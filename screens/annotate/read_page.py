"""Page that is read in place of a sheet, and reports when its end comes into view or leaves it."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from screens.widgets.text_page import TextPage


class ReadPage(TextPage):
    """Text page that posts `Turned`, so that its owner can offer keys by whether more text follows below."""

    @dataclass
    class MoreBelowChanged(Message):
        """Message: text below the visible part now exists, or no longer does."""

        page: ReadPage

    _goes_on = False

    def _show_rest(self) -> None:
        super()._show_rest()
        goes_on = bool(self.lines_below)
        if goes_on is not self._goes_on:
            self._goes_on = goes_on
            self.post_message(self.MoreBelowChanged(self))
