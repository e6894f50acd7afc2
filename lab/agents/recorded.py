"""Agent that repeats a recorded run step by step."""

from __future__ import annotations

from collections.abc import Sequence

from lab.core.run.step import Action, Proposed
from lab.core.run.trace import Step
from lab.core.seams import Screen, TaskBrief
from lab.core.task.task import Actor


class RecordedAgent:
    """Propose the recorded actions in order, whatever the screen shows. After the last one, report complete."""

    def __init__(self, steps: Sequence[Step], name: str = "recorded") -> None:
        self._steps = [step for step in steps if step.action is not None]
        self.actor = Actor("script", name)

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        if len(history) >= len(self._steps):
            return Proposed(Action("status", status="complete"), "The recording ends here.")
        step = self._steps[len(history)]
        assert step.action is not None
        return Proposed(step.action, step.proposed.thought, raw=step.proposed.raw)
