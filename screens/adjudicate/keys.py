"""The keys of Adjudicate. Digits choose, Enter settles, and the run's keys are those of Annotate."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from screens.annotate.keys import ROOM_KEYS, SHOW
from screens.room_keys import back_binding

SETTLE = Binding.Group("Settle", compact=True)
_OF_RUN = frozenset({
    "annotate.next_step", "annotate.previous_step", "annotate.side", "annotate.question", "annotate.guide",
    "annotate.view", "annotate.after", "annotate.closely", "annotate.overlay", "annotate.header",
    "annotate.scroll_down", "annotate.scroll_up",
})  # fmt: skip

SETTLE_KEYS: list[BindingType] = [
    *(
        Binding(str(digit), f"digit({digit})", f"Answer {digit}", show=False, id=f"adjudicate.{digit}", group=SETTLE,
                tooltip=f"The answer with the number {digit} is right" if digit else "There is no right answer: why")
        for digit in range(10)
    ),
    Binding("enter", "settle", "Settle", id="adjudicate.settle", tooltip="Say why, and settle what was chosen"),
    Binding("m", "majority", "Majority", id="adjudicate.majority", tooltip="What most say is right"),
    Binding("d", "discussed", "Discussed", id="adjudicate.discussed", tooltip="It was discussed: for how many minutes"),
    Binding("c", "moved", "Changed", show=False, id="adjudicate.moved", group=SETTLE,
            tooltip="This rater changed their mind in the discussion: to what, and why"),
    Binding("i", "type", "Type", show=False, id="adjudicate.type", group=SETTLE, tooltip="Type the right answer"),
    Binding("z", "withdraw", "Unsettle", show=False, id="adjudicate.withdraw", group=SETTLE,
            tooltip="Leave it unsettled again; what was said stays on record"),
    Binding("J", "judges", "Judges", show=False, id="adjudicate.judges", group=SHOW,
            tooltip="Models' and scripts' answers beside people's, or people's alone"),
]  # fmt: skip

ADJUDICATE_KEYS: list[BindingType] = [
    Binding("n", "turn(1)", "Next item", id="adjudicate.next", tooltip="The next item of the queue"),
    Binding("p", "turn(-1)", "Item before", show=False, id="adjudicate.previous", tooltip="The item before"),
    *(key for key in ROOM_KEYS if isinstance(key, Binding) and key.id in _OF_RUN),
    Binding("a", "at_once", "Settle all", id="adjudicate.at_once",
            tooltip="Settle all that are listed at once, by what most say, with one reason"),
    Binding("f", "filter", "One question", id="adjudicate.filter",
            tooltip="One question alone, then the next, then all of them"),
    Binding("z", "undo_batch", "Undo", id="adjudicate.undo_batch",
            tooltip="Take back all that you settled at once last; what was settled anew since stays"),
    Binding("y", "copy", "Copy", show=False, id="adjudicate.copy", group=SHOW,
            tooltip="Copy the item as `hitlab labels adjudicate` takes it"),
    back_binding("adjudicate", SHOW, "To the queue, then Home; what was chosen stays"),
]  # fmt: skip
