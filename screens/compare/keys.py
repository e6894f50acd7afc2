"""The keys of Compare."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from screens.room_keys import back_binding

PAIR = Binding.Group("Pairs", compact=True)

KEYS: list[BindingType] = [
    Binding("n", "difference(1)", "Difference", id="compare.next", tooltip="The next stretch in which the runs differ"),
    Binding("p", "difference(-1)", "Previous", id="compare.previous", tooltip="The stretch before"),
    Binding("r,shift+enter", "replay(1)", "Replay right", id="compare.right", tooltip="The right run at this step"),
    Binding("b", "after", "After", id="compare.after", tooltip="The screens before this step, or after it"),
    Binding("s", "swap", "Swap", id="compare.swap", tooltip="The left run on the right, the right one on the left"),
    Binding("y", "copy", "Copy ids", id="compare.copy", tooltip="Copy both ids, as `hitlab runs compare` takes them"),
    Binding("v", "replay(0)", "Replay left", show=False, id="compare.left", group=PAIR,
            tooltip="The left run at this step"),
    Binding("d", "first", "First difference", show=False, id="compare.first", group=PAIR,
            tooltip="Where the runs first differ"),
    Binding("o", "overlay", "Text on phones", show=False, id="compare.overlay", group=PAIR,
            tooltip="The screens' words as characters, or pixels alone"),
    Binding("right_square_bracket", "move(1)", "Next pair", show=False, id="compare.down", group=PAIR,
            tooltip="The next pair of steps"),
    Binding("left_square_bracket", "move(-1)", "Pair before", show=False, id="compare.up", group=PAIR,
            tooltip="The pair before"),
    back_binding("compare", PAIR, "Back to Runs"),
]  # fmt: skip
