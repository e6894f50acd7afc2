"""The keys of Replay."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from screens.mirror.keys import zoom_keys

DEBUG = Binding.Group("Debug", compact=True)
SCRUB = Binding.Group("Scrub", compact=True)
SHOW = Binding.Group("Show", compact=True)

KEYS: list[BindingType] = [
    Binding("f", "fork", "Fork", show=False, group=DEBUG, id="replay.fork",
            tooltip="Go on from this step in another way, as a new run"),
    Binding("t", "family", "Family", show=False, group=DEBUG, id="replay.family",
            tooltip="The runs that were forked from one another"),
    Binding("space", "play", "Play", id="replay.play", tooltip="Play on from here, or stand still"),
    Binding("n", "question(1)", "Question", id="replay.question", tooltip="The next step with a question"),
    Binding("b", "after", "After", id="replay.after", tooltip="The screen before the step, or after it"),
    Binding("u", "read('tree')", "Tree", id="replay.tree", tooltip="The nodes of this step's screen"),
    Binding("p", "sent", "Sent", id="replay.sent", tooltip="Exactly what the model was sent"),
    Binding("slash", "search", "Search", id="replay.search", tooltip="Thoughts, actions, dialogue, screen words"),
    Binding("alt+r,R", "read_words", "Read words", show=False, id="replay.read_words", group=SHOW,
            tooltip="Read the words of all pictures of this run whose phone told none, or stop that"),
    Binding(
        "right,l,right_square_bracket", "step(1)", "Next step", show=False, id="replay.next", group=SCRUB,
        tooltip="The next step",
    ),
    Binding(
        "left,h,left_square_bracket", "step(-1)", "Previous step", show=False, id="replay.previous", group=SCRUB,
        tooltip="The step before",
    ),
    Binding("home", "edge(0)", "First step", show=False, id="replay.first", group=SCRUB, tooltip="The first step"),
    Binding("end", "edge(-1)", "The end", show=False, id="replay.last", group=SCRUB, tooltip="How it ended"),
    Binding(
        "N", "question(-1)", "Previous question", show=False, id="replay.question_back", group=SCRUB,
        tooltip="The step before with a question",
    ),
    Binding(
        "full_stop", "pace", "Pace", show=False, id="replay.pace", group=SCRUB,
        tooltip="Play at the recorded pace, or one step a second",
    ),
    Binding("o", "overlay", "Text on phone", show=False, id="replay.overlay", group=SHOW,
            tooltip="The screen's words as characters, or pixels alone"),
    *zoom_keys("replay", SHOW),
    Binding("i", "close_up", "Close up", show=False, id="replay.close_up", group=SHOW,
            tooltip="The picture itself by the terminal's graphics, or characters"),
    Binding("y", "copy", "Copy id", show=False, id="replay.copy", group=SHOW, tooltip="Copy ID@STEP"),
    Binding("escape", "back", "Back", show=False, id="replay.back", group=SHOW, tooltip="One step back, then Home"),
]  # fmt: skip
