"""The keys of Review and of Privacy."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from screens.room_keys import back_binding

EDIT = Binding.Group("Edit", compact=True)
SHOW = Binding.Group("Show", compact=True)

REVIEW_KEYS: list[BindingType] = [
    Binding("a", "accept", "Accept", id="review.accept", tooltip="Accept this line and go on to the next"),
    Binding("e", "edit", "Edit", id="review.edit", tooltip="Edit the fields of this line"),
    Binding("x", "reject", "Reject", id="review.reject", tooltip="Reject this line and say why"),
    Binding("p", "point", "Place", id="review.point", tooltip="Choose the place on the phone anew"),
    Binding("z", "undo", "Undo", id="review.undo", tooltip="Take back what you said last"),
    Binding("ctrl+s", "keep", "Keep", priority=True, id="review.keep", tooltip="Keep what was typed and go on"),
    Binding("n", "next", "Next", show=False, group=SHOW, id="review.next",
            tooltip="The next line not looked at, or where two differ"),
    Binding("C", "commit", "Hand in", id="review.commit", tooltip="Hand it in: nothing in it changes any more"),
    Binding("1", "settle(0)", "First stands", show=False, id="review.first", group=EDIT,
            tooltip="Where two differ: the first one's word stands"),
    Binding("2", "settle(1)", "Second stands", show=False, id="review.second", group=EDIT,
            tooltip="Where two differ: the second one's word stands"),
    Binding("A", "accept_all", "Accept the rest", show=False, id="review.accept_all", group=EDIT,
            tooltip="Accept everything that was not looked at"),
    Binding("right_square_bracket", "move(1)", "Next line", show=False, id="review.down", group=SHOW,
            tooltip="One line on"),
    Binding("left_square_bracket", "move(-1)", "Line before", show=False, id="review.up", group=SHOW,
            tooltip="One line back"),
    Binding("b", "after", "After", show=False, id="review.after", group=SHOW, tooltip="The screen after the step"),
    Binding("o", "overlay", "Text on phone", show=False, id="review.overlay", group=SHOW,
            tooltip="The screen's words as characters, or pixels alone"),
    Binding("y", "copy", "Copy id", show=False, id="review.copy", group=SHOW, tooltip="Copy the step as ID@STEP"),
    back_binding("review", SHOW),
]  # fmt: skip

PRIVACY_KEYS: list[BindingType] = [
    Binding("space", "cover", "Cover", id="privacy.cover", tooltip="Cover this line, or no longer"),
    Binding("w", "words", "Words", id="privacy.words", tooltip="Type words to be covered all over the run"),
    Binding("left,h", "step(-1)", "Step", show=False, id="privacy.previous", group=SHOW, tooltip="The step before"),
    Binding("right,l", "step(1)", "Step on", id="privacy.next", tooltip="The next step (left: the one before)"),
    Binding("d,delete", "drop", "Drop", id="privacy.drop", tooltip="Take the last box of this step out again"),
    Binding("E", "everywhere", "Everywhere", show=False, id="privacy.everywhere", group=EDIT,
            tooltip="Also in other runs that hold the same pictures, or no longer"),
    Binding("R", "redact", "Redact", id="privacy.redact", tooltip="Cover all this for good; R again says so"),
    Binding("C", "clear", "Clear", id="privacy.clear", tooltip="Say that it holds nothing private"),
    Binding("o", "overlay", "Text on phone", show=False, id="privacy.overlay", group=SHOW,
            tooltip="The screen's words as characters, or pixels alone"),
    Binding("y", "copy", "Copy id", show=False, id="privacy.copy", group=SHOW, tooltip="Copy the step as ID@STEP"),
    back_binding("privacy", SHOW),
]  # fmt: skip
