"""The keys of Home."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from screens.room_keys import line_bindings

HOME = Binding.Group("Home", compact=True)

KEYS: list[BindingType] = [
    Binding("v", "replay", "Replay", id="home.replay", tooltip="Play this run back, open or not"),
    Binding("r", "record", "Record", id="home.record", tooltip="Do this task yourself: a demonstration"),
    Binding(
        "R", "record_own", "Record your own", show=False, id="home.record_own", group=HOME,
        tooltip="A demonstration of what you intend, without a task",
    ),
    Binding("slash", "filter", "Filter", id="home.filter", tooltip="Find runs and tasks by a word"),
    Binding("a", "author", "Author", id="home.author", tooltip="Draft or verify the design of this task"),
    Binding(
        "t", "family", "Family", show=False, id="home.family", group=HOME,
        tooltip="The runs that were forked from one another",
    ),
    Binding("y", "copy", "Copy id", show=False, id="home.copy", group=HOME, tooltip="Copy this run's id"),
    Binding(
        "x", "archive", "Archive", show=False, id="home.archive", group=HOME,
        tooltip="Archive this run or study; where archived ones are listed, bring it back",
    ),
    Binding(
        "X", "archived", "Archived", show=False, id="home.archived", group=HOME,
        tooltip="List the runs and studies that are archived, or the others again",
    ),
    Binding(
        "z", "undo", "Undo", show=False, id="home.undo", group=HOME,
        tooltip="Undo what was archived or brought back last",
    ),
    Binding("tab", "app.focus_next", "Next pane", id="home.next_pane", tooltip="Go to the next pane"),
    Binding("q", "app.quit", "Quit", id="home.quit", tooltip="Leave hitlab"),
    Binding(
        "T", "app.show('runs')", "Table of runs", show=False, id="home.runs", group=HOME,
        tooltip="All runs as a table: filter, sort, group, compare",
    ),
    Binding(
        "A", "app.show('answer')", "Answer", show=False, id="home.answer", group=HOME,
        tooltip="Answer at the endpoint: what clients ask, or start one",
    ),
    *line_bindings("home", HOME),
    Binding("escape", "back", "All runs", show=False, id="home.back", group=HOME, tooltip="Show all runs again"),
]  # fmt: skip
