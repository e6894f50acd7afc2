"""Bindings that several rooms share, with ids of each room."""

from __future__ import annotations

from textual.binding import Binding


def next_pane_binding(room: str, group: Binding.Group) -> Binding:
    """Return the binding that focuses the next pane. `room` is the prefix of the room's binding ids."""
    return Binding(
        "tab",
        "app.focus_next",
        "Next pane",
        show=False,
        id=f"{room}.next_pane",
        group=group,
        tooltip="Go to the next pane",
    )


def back_binding(room: str, group: Binding.Group, tooltip: str = "One step back, then Home") -> Binding:
    """Return the binding that goes one step back."""
    return Binding("escape", "back", "Back", show=False, id=f"{room}.back", group=group, tooltip=tooltip)


def line_bindings(room: str, group: Binding.Group) -> tuple[Binding, Binding]:
    """Return the bindings for the next and the previous line, which work from every pane."""
    return (
        Binding(
            "right_square_bracket", "move(1)", "Next", show=False, id=f"{room}.next", group=group, tooltip="Next line"
        ),
        Binding(
            "left_square_bracket",
            "move(-1)",
            "Previous",
            show=False,
            id=f"{room}.previous",
            group=group,
            tooltip="Line above",
        ),
    )
