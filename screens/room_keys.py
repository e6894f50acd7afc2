"""Keys that several rooms have alike, each room under ids of its own."""

from __future__ import annotations

from textual.binding import Binding


def next_pane(room: str, group: Binding.Group) -> Binding:
    """The key to the next pane; `room` is what the ids of its keys begin with."""
    return Binding(
        "tab",
        "app.focus_next",
        "Next pane",
        show=False,
        id=f"{room}.next_pane",
        group=group,
        tooltip="Go to the next pane",
    )


def back(room: str, group: Binding.Group, tooltip: str = "One step back, then Home") -> Binding:
    """The key one step back."""
    return Binding("escape", "back", "Back", show=False, id=f"{room}.back", group=group, tooltip=tooltip)


def lines(room: str, group: Binding.Group) -> tuple[Binding, Binding]:
    """The keys to the next line and the one above, from whichever pane."""
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
