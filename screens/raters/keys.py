"""The keys of the room Raters."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from screens.room_keys import back_binding, next_pane_binding

_MORE = Binding.Group("Raters", compact=True)

KEYS: list[BindingType] = [
    Binding("r", "recount", "Recount", id="raters.recount", tooltip="Count what came in since"),
    Binding("right_square_bracket", "other(1)", "Next rater", id="raters.next", tooltip="The rater after this one"),
    Binding("left_square_bracket", "other(-1)", "Rater before", id="raters.previous",
            tooltip="The rater before this one"),
    Binding("y", "copy", "Copy", id="raters.copy", tooltip="Copy the line below in words"),
    next_pane_binding("raters", _MORE),
    back_binding("raters", _MORE, "From one rater to all, then to Home"),
]  # fmt: skip
