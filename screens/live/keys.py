"""Keys of the Live screen."""

from __future__ import annotations

from textual.binding import Binding, BindingType

DEBUG = Binding.Group("Debug", compact=True)
MORE = Binding.Group("More", compact=True)

KEYS: list[BindingType] = [
    Binding(
        "b", "breaks", "Breakpoints", show=False, group=DEBUG, id="run.breaks",
        tooltip="Where the run is to stand still",
    ),
    Binding(
        "r", "rewind", "Rewind", show=False, group=DEBUG, id="run.rewind",
        tooltip="Go back to before a step, as a new run",
    ),
    Binding("ctrl+x", "pause", "Pause", priority=True, id="run.pause", tooltip="The phone stands still"),
    Binding("ctrl+x", "end", "End the run", priority=True, id="run.end", tooltip="The run is over for good"),
    Binding("ctrl+r", "go_on", "Go on", show=False, priority=True, id="run.resume", tooltip="The phone moves again"),
    Binding("enter", "next", "Next", show=False, id="run.next", tooltip="On from here: the question, or after the end"),
    Binding("s", "step", "Step", id="run.step", tooltip="One turn, then stand still"),
    Binding("g", "gate", "Gate", id="run.gate", tooltip="Ask me before each action, or no longer"),
    Binding("t", "take", "Take over", id="run.take", tooltip="Act in the agent's place, or give back"),
    Binding(
        "slash", "nodes", "Find", show=False, id="run.nodes",
        tooltip="What can be tapped, found by words: a tap by keys",
    ),
    Binding("m", "sent", "Sent", show=False, group=MORE, id="run.sent", tooltip="Exactly what the agent was sent"),
    Binding("y", "copy_id", "Copy id", show=False, group=MORE, id="run.copy", tooltip="Copy this run's id"),
    Binding("escape", "back", "Back", show=False, group=MORE, id="run.back", tooltip="One step back, nothing lost"),
]  # fmt: skip
