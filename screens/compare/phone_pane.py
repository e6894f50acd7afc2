"""One of the two phones, as wide as the list between them allows."""

from __future__ import annotations

from lab.runs.recorded_run import PlaceView
from screens.mirror.fit import phone_room
from screens.replay.phone_pane import StillPhone

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
