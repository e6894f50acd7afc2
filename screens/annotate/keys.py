"""Keys of the Annotate screen: digits and Enter answer, arrows move through the run."""

from __future__ import annotations

import unicodedata
from typing import Any

from textual.binding import Binding, BindingType
from textual.screen import Screen

from screens.mirror.keys import zoom_keys
from screens.room_keys import back_binding

ANSWER = Binding.Group("Answer", compact=True)
STEPS = Binding.Group("Steps", compact=True)
SHOW = Binding.Group("Show", compact=True)


def ascii_digit(character: str | None) -> int | None:
    """Return the digit that an input method wrote wide, or None for anything else. Plain digits are bindings."""
    if character is None or len(character) != 1 or character.isascii():
        return None
    digit = unicodedata.decimal(character, -1)
    return int(digit) if digit >= 0 else None


class ActiveKeys:
    """Snapshot of a screen's active keys. To query them takes as long as to paint some lines."""

    def __init__(self, screen: Screen[Any]) -> None:
        self._app = screen.app
        self._active = screen.active_bindings

    def name(self, id: str) -> str:
        """Return the display name of a binding's key under the present key map, empty if it is not active."""
        for _, binding, enabled, _ in self._active.values():
            if binding.id == id and enabled:
                return self._app.get_key_display(binding)
        return ""

    @property
    def paging(self) -> str:
        """Key that scrolls the text beside the sheet: PgDn if it does so now, else the key that always does."""
        paging = self._active.get("pagedown")
        if paging is not None and paging.binding.id in ("annotate.scroll_down", "entry.read_on", "play.down"):
            return "PgDn"
        return self.name("annotate.scroll_down") or "."


SHEET_KEYS: list[BindingType] = [
    *(
        Binding(str(digit), f"digit({digit})", f"Answer {digit}", show=False, id=f"answer.{digit}", group=ANSWER,
                tooltip=f"The answer with the number {digit}, or this digit of one")
        for digit in range(10)
    ),
    Binding("enter", "on", "Next", id="answer.next", tooltip="On: the next item, or handing in"),
    Binding("m", "other", "Other", id="answer.other", tooltip="Other answers: skip, cannot judge, note, flags ..."),
    Binding("e", "evidence", "Seen here", id="answer.evidence", tooltip="The answer rests on the step shown"),
    Binding("z", "undo", "Undo", id="answer.undo", tooltip="Take the last answer back; again for the one before"),
    Binding("a", "accept", "Accept", id="answer.accept", tooltip="The model's answer that is shown is yours, too"),
    Binding("s", "missing('skipped')", "Skip", show=False, id="answer.skip", group=ANSWER, tooltip="Skip this item"),
    Binding("c", "missing('cannot_judge')", "Cannot judge", show=False, id="answer.cannot_judge", group=ANSWER,
            tooltip="What is shown does not tell"),
    Binding("f", "full", "Full", show=False, id="answer.full", group=ANSWER, tooltip="The top of the scale"),
    Binding("i", "type", "Type", show=False, id="answer.type", group=ANSWER, tooltip="Type the answer"),
    Binding("n", "note", "Note", show=False, id="answer.note", group=ANSWER, tooltip="A note with this answer"),
    Binding("T", "cite", "Guide line", show=False, id="answer.cite", group=ANSWER,
            tooltip="The line of the guide that this answer goes by"),
    Binding("C", "confidence", "How sure", show=False, id="answer.confidence", group=ANSWER,
            tooltip="How sure you are, 1 to 5"),
    Binding("g", "to_evidence", "To its step", show=False, id="answer.to_evidence", group=ANSWER,
            tooltip="Go to the step that this answer rests on"),
    Binding("r", "region", "Region", show=False, id="answer.region", group=ANSWER,
            tooltip="What on the phone the answer rests on: by arrows, or a drag"),
    Binding("backspace", "drop", "Drop a digit", show=False, id="answer.drop", group=ANSWER,
            tooltip="Take the digit back that was typed"),
]  # fmt: skip

ROOM_KEYS: list[BindingType] = [
    Binding("right,l,right_square_bracket", "step(1)", "Step", id="annotate.next_step", group=STEPS,
            tooltip="The next step of the run (left: the one before)"),
    Binding("left,h,left_square_bracket", "step(-1)", "Step before", show=False, id="annotate.previous_step",
            group=STEPS, tooltip="The step before"),
    Binding("enter", "onward", "Go on", id="annotate.onward", tooltip="On to the next"),
    Binding("p", "pass_over", "Skip this", id="annotate.pass_over", tooltip="Past guide, keys and practice"),
    Binding("z", "reopen", "Take back", id="annotate.reopen", tooltip="Take back what was handed in"),
    Binding("x", "side", "Other side", show=False, id="annotate.side", group=STEPS,
            tooltip="Of two runs the other one takes the steps' keys"),
    Binding("Q", "question(1)", "Question", show=False, id="annotate.question", group=STEPS,
            tooltip="The next step with a question"),
    Binding("slash", "search", "Search", show=False, id="annotate.search", group=STEPS,
            tooltip="Words in the run, from one step that has them to the next"),
    Binding("t", "guide", "Guide", id="annotate.guide", tooltip="The guideline, and what each answer means"),
    Binding("P", "past", "Own sheets", show=False, id="annotate.past", group=SHOW,
            tooltip="Your own sheets so far"),
    Binding("v", "view", "Words", show=False, id="annotate.view", group=SHOW, tooltip="Words, or the phone"),
    Binding("b", "after", "After", show=False, id="annotate.after", group=SHOW,
            tooltip="The screen after the step, or before it"),
    Binding("o", "closely", "In full", show=False, id="annotate.closely", group=SHOW,
            tooltip="The picture in full, or closed again"),
    *zoom_keys("annotate", SHOW),
    Binding("u", "overlay", "Text on phone", show=False, id="annotate.overlay", group=SHOW,
            tooltip="The screen's words as characters, or pixels alone"),
    Binding("w", "header", "Task", show=False, id="annotate.header", group=SHOW,
            tooltip="The instruction and what belongs to it, unfolded or in a line"),
    # Arrows scroll only if `check_action` disables `step`: without a run, and on pages.
    Binding("full_stop,pagedown,right", "scroll(1)", "Read on", show=False, id="annotate.scroll_down", group=SHOW,
            tooltip="What is read beside the sheet, a page on"),
    Binding("comma,pageup,left", "scroll(-1)", "Read back", show=False, id="annotate.scroll_up", group=SHOW,
            tooltip="What is read beside the sheet, a page back"),
    back_binding("annotate", SHOW),
]  # fmt: skip
