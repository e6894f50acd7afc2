"""The keys of the room Progress."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from screens.room_keys import next_pane_binding

_MORE = Binding.Group("Progress", compact=True)

KEYS: list[BindingType] = [
    Binding("r", "recount", "Read anew", id="progress.recount", tooltip="Read the file now, not in a few seconds"),
    Binding("a", "agreement", "Agreement", id="progress.agreement", tooltip="How far this study's raters agree"),
    Binding("y", "copy", "Copy", id="progress.copy", tooltip="Copy the line below in words"),
    next_pane_binding("progress", _MORE),
]  # fmt: skip
