"""The agent that `model:NAME` or `model+memory:NAME` stands for: one that forgets, or one that learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.model import Conversation, ModelAgent
from lab.agents.model_prompt import attempt
from lab.core.seams import TaskBrief
from lab.core.settings import Settings
from lab.core.task import Actor
from lab.core.trace import Step
from lab.core.typed_text import clean
from lab.llm.client import Llm, NoModelAnswer, terms
from lab.llm.remote_model import ModelAsker


def model_of(spec: str, settings: Settings) -> Llm:
    """The model of the agent that a spec names, on the terms that a person has set."""
    return Llm(spec.partition(":")[2], terms(settings))


def model_agent(spec: str, settings: Settings, asker: ModelAsker | None = None) -> ModelAgent:
    """The agent that a spec names, asked by `asker` or, where there is none, from here.

    `LabError` where no such model can be asked from here.
    """
    kind, _, name = spec.partition(":")
    if asker is None:
        asker = llm = model_of(spec, settings)
        llm.check()
    agent_class = LearningAgent if kind == "model+memory" else ModelAgent
    return agent_class(name, asker, picture=settings.model_picture)


_LONGEST = 2_000
"""Characters of lessons that are told."""


class _PastAttempt(NamedTuple):
    """An attempt that is over, and how."""

    brief: TaskBrief
    steps: tuple[Step, ...]
    status: str


class LearningAgent(ModelAgent):
    """Keeps lessons per task. The call that makes them belongs to the next attempt, whose first step it is kept in."""

    def __init__(self, name: str, llm: ModelAsker, *, picture: int = 1024) -> None:
        super().__init__(name, llm, picture=picture)
        self.actor = Actor("model", f"model+memory:{name}", f"{name} with memory")
        self._tried: dict[TaskBrief, _PastAttempt] = {}
        self._learned: dict[TaskBrief, str] = {}

    def remember(self, brief: TaskBrief, steps: Sequence[Step], status: str) -> None:
        """Keeps an attempt, to learn from it should there be another; its score is never told."""
        self._tried[brief] = _PastAttempt(brief, tuple(steps), status)

    def _lessons(self, conversation: Conversation, brief: TaskBrief, history: Sequence[Step]) -> str:
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
