"""Build the agent for a spec: `model:NAME`, or `model+memory:NAME` for one that learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.model import Conversation, ModelAgent
from lab.agents.model_prompt import attempt
from lab.core.run.trace import Step
from lab.core.seams import TaskBrief
from lab.core.settings import Settings
from lab.core.task.task import Actor
from lab.core.text.typed_text import clean
from lab.llm.client import Llm, NoModelAnswer, terms
from lab.llm.executor import ModelAsker


def model_of(spec: str, settings: Settings) -> Llm:
    """Return the model that a spec names, with the user's settings."""
    return Llm(spec.partition(":")[2], terms(settings))


def model_agent(spec: str, settings: Settings, asker: ModelAsker | None = None) -> ModelAgent:
    """Return the agent that a spec names. `asker` asks the model, by default this process.

    Raise `LabError` if this process cannot ask that model.
    """
    kind, _, name = spec.partition(":")
    if asker is None:
        asker = llm = model_of(spec, settings)
        llm.check()
    agent_class = LearningAgent if kind == "model+memory" else ModelAgent
    return agent_class(name, asker, picture=settings.model_picture)


_LONGEST = 2_000
"""Maximum characters of lessons in the prompt."""


class _PastAttempt(NamedTuple):
    """Finished attempt and its status."""

    brief: TaskBrief
    steps: tuple[Step, ...]
    status: str


class LearningAgent(ModelAgent):
    """Model agent that stores lessons per task.

    The call that makes the lessons belongs to the next attempt. The first step of that attempt stores it.
    """

    def __init__(self, name: str, llm: ModelAsker, *, picture: int = 1024) -> None:
        super().__init__(name, llm, picture=picture)
        self.actor = Actor("model", f"model+memory:{name}", f"{name} with memory")
        self._past_attempts: dict[TaskBrief, _PastAttempt] = {}
        self._lessons_by_brief: dict[TaskBrief, str] = {}

    def remember(self, brief: TaskBrief, steps: Sequence[Step], status: str) -> None:
        """Store an attempt as material for lessons in the next one. The agent never learns its score."""
        self._past_attempts[brief] = _PastAttempt(brief, tuple(steps), status)

    def _lessons(self, conversation: Conversation, brief: TaskBrief, history: Sequence[Step]) -> str:
        last_attempt = None if history else self._past_attempts.pop(brief, None)
        if last_attempt is not None:
            conversation.add(
                "user",
                attempt(
                    last_attempt.brief, last_attempt.steps, last_attempt.status, self._lessons_by_brief.get(brief, "")
                ),
            )
            try:
                answer = self._llm.ask(conversation.messages, self.stop, words=True)
            except NoModelAnswer as error:
                conversation.spend(error.usage)
                conversation.aside(f"({error.sentence})")
            else:
                conversation.spend(answer.usage)
                conversation.aside(answer.text)
                self._lessons_by_brief[brief] = clean(answer.text.strip())[:_LONGEST]
        return self._lessons_by_brief.get(brief, "")
