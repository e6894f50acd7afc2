"""The agent that `model:NAME` or `model+memory:NAME` stands for: one that forgets, or one that learns."""

from __future__ import annotations

from lab.agents.model import ModelAgent
from lab.agents.model_memory import LearningAgent
from lab.core.settings import Settings
from lab.llm.client import Llm, terms


def model_agent(spec: str, settings: Settings) -> ModelAgent:
    """The agent that a spec names, on the terms that a person has set; `LabError` where no such model can be asked."""
    kind, _, name = spec.partition(":")
    llm = Llm(name, terms(settings))
    llm.check()
    made = LearningAgent if kind == "model+memory" else ModelAgent
    return made(name, llm, picture=settings.model_picture)
