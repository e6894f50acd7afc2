"""The keys of Author."""

from __future__ import annotations

from textual.binding import Binding, BindingType

SECTIONS = Binding.Group("Sections", compact=True)
EDIT = Binding.Group("Edit", compact=True)
SCRUB = Binding.Group("Scrub", compact=True)
SHOW = Binding.Group("Show", compact=True)

KEYS: list[BindingType] = [
    Binding("a", "add", "Add", id="author.add", tooltip="Add an item from the step shown"),
    Binding("d,delete", "remove", "Delete", id="author.delete", tooltip="Take this item out; z brings it back"),
    Binding("z", "undo", "Undo", id="author.undo", tooltip="Take the last change back"),
    Binding("a", "accept", "Accept", id="author.accept", tooltip="Accept this item and go on to the next"),
    Binding("x", "object", "Object", id="author.object", tooltip="Say what is wrong with this item"),
    Binding("F", "freeze", "Freeze", id="author.verify", tooltip="Verify the design: it never changes again"),
    Binding("B", "send_back", "Send back", id="author.send_back", tooltip="Give it back to be mended"),
    Binding("M", "settle(True)", "Keep mine", id="author.keep_mine", tooltip="Of two drafts yours stands"),
    Binding("T", "settle(False)", "Take theirs", id="author.take_theirs", tooltip="Of two drafts the other one stands"),
    Binding("v", "draw", "Drawn", id="author.draw", tooltip="The graph as a drawing, or as a list"),
    Binding("S", "submit", "Submit", id="author.submit", tooltip="Hand the design to another person to verify"),
    Binding("R", "reopen", "Reopen", id="author.reopen", tooltip="Back into a draft; a frozen one as a new version"),
    Binding("A", "add_empty", "Add empty", show=False, id="author.add_empty", group=EDIT, tooltip="Add an empty item"),
    Binding("J", "shift(1)", "Move down", show=False, id="author.move_down", group=EDIT, tooltip="Further down"),
    Binding("K", "shift(-1)", "Move up", show=False, id="author.move_up", group=EDIT, tooltip="Further up"),
    Binding("greater_than_sign", "nest(True)", "Into alternatives", show=False, id="author.indent", group=EDIT,
            tooltip="Into the node above, as a path of its own; once more: on to the path before"),
    Binding("less_than_sign", "nest(False)", "Out of alternatives", show=False, id="author.outdent", group=EDIT,
            tooltip="Out of its path"),
    Binding("f", "turn", "Flexible", show=False, id="author.flexible", group=EDIT,
            tooltip="A node flexible or fixed; a unit explicit or steering"),
    Binding("u", "used", "Used here", show=False, id="author.used", group=EDIT,
            tooltip="This unit is used in the app of the step shown"),
    Binding("e", "evidence", "Evidence", show=False, id="author.evidence", group=EDIT,
            tooltip="Keep the step shown as evidence of this item, or no longer"),
    Binding("E", "to_evidence", "To its step", show=False, id="author.to_evidence", group=EDIT,
            tooltip="Go to the next step that this item was seen in"),
    Binding("1", "section('tdg')", "Graph", show=False, id="author.graph", group=SECTIONS, tooltip="The graph"),
    Binding("2", "section('branches')", "Branches", show=False, id="author.branches", group=SECTIONS,
            tooltip="Decision points"),
    Binding("3", "section('units')", "Units", show=False, id="author.units", group=SECTIONS,
            tooltip="Information units"),
    Binding("4", "section('rubric')", "Rubric", show=False, id="author.rubric", group=SECTIONS, tooltip="Criteria"),
    Binding("right,l,right_square_bracket", "step(1)", "Next step", show=False, id="author.next_step", group=SCRUB,
            tooltip="The next step of the run"),
    Binding("left,h,left_square_bracket", "step(-1)", "Previous step", show=False, id="author.previous_step",
            group=SCRUB, tooltip="The step before"),
    Binding("n", "question(1)", "Question", show=False, id="author.question", group=SCRUB,
            tooltip="The next step with a question"),
    Binding("N", "question(-1)", "Previous question", show=False, id="author.question_back", group=SCRUB,
            tooltip="The step before with a question"),
    Binding("space", "play", "Play", show=False, id="author.play", group=SCRUB, tooltip="Play on, or stand still"),
    Binding("full_stop", "pace", "Pace", show=False, id="author.pace", group=SCRUB,
            tooltip="Play at the recorded pace, or one step a second"),
    Binding("slash", "search", "Search", show=False, id="author.search", group=SCRUB,
            tooltip="Thoughts, actions, dialogue, screen words"),
    Binding("b", "after", "After", show=False, id="author.after", group=SHOW, tooltip="The screen after the step"),
    Binding("w", "words", "Words", show=False, id="author.words", group=SHOW,
            tooltip="What was thought, done and said, or the phone"),
    Binding("o", "overlay", "Text on phone", show=False, id="author.overlay", group=SHOW,
            tooltip="The screen's words as characters, or pixels alone"),
    Binding("y", "copy", "Copy id", show=False, id="author.copy", group=SHOW, tooltip="Copy the step as ID@STEP"),
    Binding("escape", "back", "Back", show=False, id="author.back", group=SHOW, tooltip="One step back, then Home"),
]  # fmt: skip
