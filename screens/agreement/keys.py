"""The keys of Agreement."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from screens.room_keys import back_binding, line_bindings, next_pane_binding

MORE = Binding.Group("Agreement", compact=True)

KEYS: list[BindingType] = [
    Binding("d", "part", "Part", id="agreement.part",
            tooltip="One part alone: before or after what follows from the answers, or one kind of item"),
    Binding("p", "whose", "People/judges", id="agreement.whose",
            tooltip="People among themselves, or models and scripts against most people"),
    Binding("s", "statistic(1)", "Statistic", id="agreement.statistic", tooltip="One statistic for all, or every one"),
    Binding("b", "bootstrap", "Intervals", id="agreement.intervals",
            tooltip="Intervals by leaving runs out, or by resampling them"),
    Binding("w", "plan", "Plan", id="agreement.plan", tooltip="How many runs a narrower interval would take"),
    Binding("r", "recount", "Recount", id="agreement.recount", tooltip="Count what came in since"),
    Binding("S", "statistic(-1)", "Statistic before", show=False, id="agreement.statistic_before", group=MORE,
            tooltip="The statistic before"),
    Binding("y", "copy", "Copy number", show=False, id="agreement.copy", group=MORE,
            tooltip="Copy the number under the cursor in words"),
    next_pane_binding("agreement", MORE),
    *line_bindings("agreement", MORE),
    back_binding("agreement", MORE, "Out of the list of items, then to Home"),
]  # fmt: skip
