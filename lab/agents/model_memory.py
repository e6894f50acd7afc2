"""A model that learns over attempts: what went wrong becomes a few short lessons, told before the next one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.model import Conversation, ModelAgent
from lab.agents.model_prompt import attempt
from lab.core.seams import Brief
from lab.core.task import Actor
from lab.core.trace import Step
from lab.core.typed_text import clean
from lab.llm.client import NoModelAnswer
from lab.llm.remote_model import ModelAsker

_LONGEST = 2_000
"""Characters of lessons that are told."""


class _PastAttempt(NamedTuple):
    """An attempt that is over, and how."""

    brief: Brief
    steps: tuple[Step, ...]
    status: str


class LearningAgent(ModelAgent):
    """Keeps lessons per task. The call that makes them belongs to the next attempt, whose first step it is kept in."""

    def __init__(self, name: str, llm: ModelAsker, *, picture: int = 1024) -> None:
        super().__init__(name, llm, picture=picture)
        self.actor = Actor("model", f"model+memory:{name}", f"{name} with memory")
        self._tried: dict[Brief, _PastAttempt] = {}
        self._learned: dict[Brief, str] = {}

    def remember(self, brief: Brief, steps: Sequence[Step], status: str) -> None:
        """Keeps an attempt, to learn from it should there be another; its score is never told."""
        self._tried[brief] = _PastAttempt(brief, tuple(steps), status)

    def _lessons(self, conversation: Conversation, brief: Brief, history: Sequence[Step]) -> str:
        last_attempt = None if history else self._tried.pop(brief, None)
        if last_attempt is not None:
            conversation.add(
                "user",
                attempt(last_attempt.brief, last_attempt.steps, last_attempt.status, self._learned.get(brief, "")),
            )
            try:
                answer = self._llm.ask(conversation.messages, self.stop, words=True)
            except NoModelAnswer as error:
                conversation.spend(error.usage)
                conversation.aside(f"({error.sentence})")
            else:
                conversation.spend(answer.usage)
                conversation.aside(answer.text)
                self._learned[brief] = clean(answer.text.strip())[:_LONGEST]
        return self._learned.get(brief, "")
