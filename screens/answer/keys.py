"""The keys of the Answer screen. All of them work while the person types."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from screens.room_keys import back_binding, next_pane_binding

_MORE = Binding.Group("Answer", compact=True)

KEYS: list[BindingType] = [
    Binding("ctrl+n", "next", "Longest wait", id="inbox.next", tooltip="Open the conversation that waits longest"),
    Binding("ctrl+t", "tool", "Function", id="inbox.tool", tooltip="Call a function, or go back to words"),
    Binding("ctrl+g", "stop", "Say the end", id="inbox.stop",
            tooltip="Send what is typed with the token that ends the conversation"),
    Binding("ctrl+b", "brief", "Brief", id="inbox.brief", tooltip="All of the brief, or the dialogue again"),
    Binding("ctrl+o", "picture", "Picture", id="inbox.picture", tooltip="The picture of the request, large or beside"),
    back_binding("inbox", _MORE, "To the list of conversations; from there to Home"),
    next_pane_binding("inbox", _MORE),
]  # fmt: skip
