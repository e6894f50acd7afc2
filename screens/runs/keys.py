"""The keys of Runs."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from screens.room_keys import back_binding, line_bindings

TABLE = Binding.Group("Table", compact=True)

KEYS: list[BindingType] = [
    Binding("v", "replay", "Replay", id="runs.replay", tooltip="Play this run back"),
    Binding("slash", "filter", "Filter", id="runs.filter", tooltip="Words, and fields: agent:qwen score<1 asks>0"),
    Binding("s", "sort(1)", "Sort", id="runs.sort", tooltip="By the next column"),
    Binding("g", "group", "Group", id="runs.group", tooltip="By task, agent, source, persona, status, or not at all"),
    Binding("c", "compare", "Compare", id="runs.compare", tooltip="Mark this run; a second one is laid beside it"),
    Binding("y", "copy", "Copy id", id="runs.copy", tooltip="Copy this run's id"),
    Binding("space", "select", "Select", show=False, id="runs.select", group=TABLE,
            tooltip="Select this run, or this group's, for a tag or the archive; or no longer"),
    Binding("n", "new_study", "New study", show=False, id="runs.new_study", group=TABLE,
            tooltip="Make a study of what is selected, else of what the filter finds"),
    Binding("t", "tag", "Tag", show=False, id="runs.tag", group=TABLE,
            tooltip="Put tags on what is selected, or this run, and take them off"),
    Binding("x", "archive", "Archive", show=False, id="runs.archive", group=TABLE,
            tooltip="Archive what is selected, or this run; where archived runs are listed, bring it back"),
    Binding("X", "archived", "Archived runs", show=False, id="runs.archived", group=TABLE,
            tooltip="List what is archived, or the others again"),
    Binding("z", "undo", "Undo", show=False, id="runs.undo", group=TABLE,
            tooltip="Take back what was tagged, archived or brought back last"),
    Binding("S", "sort(-1)", "Sort back", show=False, id="runs.sort_back", group=TABLE,
            tooltip="By the column before"),
    Binding("R", "turn", "Other way", show=False, id="runs.turn", group=TABLE, tooltip="The other way round"),
    Binding("O", "open_all", "Open groups", show=False, id="runs.open_groups", group=TABLE,
            tooltip="Open every group, or close them all"),
    Binding("C", "last", "Compare again", show=False, id="runs.last", group=TABLE,
            tooltip="Back to the two runs that were compared last"),
    *line_bindings("runs", TABLE),
    back_binding("runs", TABLE, "All runs again, then no mark and no selection, then Home"),
]  # fmt: skip
