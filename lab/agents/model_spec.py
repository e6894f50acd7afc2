"""The agent that `model:NAME` or `model+memory:NAME` stands for: one that forgets, or one that learns."""

from __future__ import annotations

from lab.agents.model import ModelAgent
from lab.agents.model_memory import LearningAgent
from lab.core.settings import Settings
from lab.llm.client import Llm, terms
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
