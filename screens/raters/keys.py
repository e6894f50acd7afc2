"""The keys of the room Raters."""

from __future__ import annotations

from textual.binding import Binding, BindingType

_MORE = Binding.Group("Raters", compact=True)

KEYS: list[BindingType] = [
    Binding("r", "recount", "Recount", id="raters.recount", tooltip="Count what came in since"),
    Binding("right_square_bracket", "other(1)", "Next rater", id="raters.next", tooltip="The rater after this one"),
    Binding("left_square_bracket", "other(-1)", "Rater before", id="raters.previous",
            tooltip="The rater before this one"),
    Binding("y", "copy", "Copy", id="raters.copy", tooltip="Copy the line below in words"),
    Binding("tab", "app.focus_next", "Next pane", show=False, id="raters.next_pane", group=_MORE,
            tooltip="Go to the next pane"),
    Binding("escape", "back", "Back", show=False, id="raters.back", group=_MORE,
            tooltip="From one rater to all, then to Home"),
]  # fmt: skip
