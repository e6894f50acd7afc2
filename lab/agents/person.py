"""Agent played by a person: their taps and typing on the mirror are the actions."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import msgspec

from lab.core.run.mailbox import Mailbox
from lab.core.run.step import Action, Proposed
from lab.core.run.trace import Step
from lab.core.seams import Screen, TaskBrief
from lab.core.task.task import Actor


class PersonAgent:
    """Wait at a mailbox for the person's next action, alone or with a thought."""

    def __init__(self, actor: Actor, mailbox: Mailbox[Screen, Action | Proposed], stop: threading.Event) -> None:
        self.actor = actor
        self._mailbox = mailbox
        self._stop = stop

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        answer = self._mailbox.put_and_wait(screen, self._stop)
        if isinstance(answer, Proposed):
            return msgspec.structs.replace(answer, by=self.actor)
        return Proposed(answer, by=self.actor)
