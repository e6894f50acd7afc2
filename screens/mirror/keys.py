"""The keys with which a screen enlarges its phone, whatever has the focus."""

from __future__ import annotations

from textual.binding import Binding, BindingType

_WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


def zoom_keys(room: str, group: Binding.Group) -> list[BindingType]:
    """Return a screen's bindings: closer, further, and shift with an arrow to move the visible part."""
    moves: list[BindingType] = [
        Binding(
            f"shift+{way}", f"pan({across},{down})", f"Look {way}", show=False, id=f"{room}.pan_{way}", group=group,
            tooltip=f"The enlarged phone, further {way}",
        )
        for way, (across, down) in _WAYS.items()
    ]  # fmt: skip
    return [
        Binding("equals_sign", "closer", "Closer", show=False, id=f"{room}.closer", group=group,
                tooltip="The phone larger, a part of it at a time, with more of its words"),
        Binding("minus", "further", "Further", show=False, id=f"{room}.further", group=group,
                tooltip="The phone less large, and all of it at last"),
        *moves,
    ]  # fmt: skip
