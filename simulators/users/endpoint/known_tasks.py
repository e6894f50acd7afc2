"""Which task a conversation is about: one of those that were named, by its id, its goal or its persona."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.core.task import Persona, Task
from simulators.users.endpoint.request_kinds import RequestKind

_GOAL = re.compile(r"\b(?:the )?task goal is:?\s*(.+?)(?:\n|$)", re.I)
"""How KnowU-Bench and MobileWorld tell their user what it wants of the agent."""
_LEAST = 4
"""Characters of a name or goal by which a task may be told."""


class KnownTask(NamedTuple):
    """A task, and whose it is."""

    task: Task
    persona: Persona | None = None


def task_of(tasks: Sequence[KnownTask], session: str, system: str) -> KnownTask | None:
    """The task that a session or a system prompt names; None where it is none of them, or several alike.

    The session's name counts first, then the goal, then the persona's name.
    """
    prompt = _folded(system)
    ways = (
        [candidate for candidate in tasks if session and candidate.task.id == session],
        [candidate for candidate in tasks if _in(candidate.task.instruction, prompt)],
        [candidate for candidate in tasks if candidate.persona is not None and _in(candidate.persona.name, prompt)],
    )
    return next((candidates[0] for candidates in ways if len(candidates) == 1), None)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _in(text: str, prompt: str) -> bool:
    folded = _folded(text)
    return len(folded) >= _LEAST and folded in prompt


def prompt_sha(system: str, question: str) -> str:
    """By what conversations of one prompt are one task: the beginning of its SHA-256, or of the question's."""
    return hashlib.sha256((system or question).encode(errors="backslashreplace")).hexdigest()[:8]


def unknown_task(kind: RequestKind, system: str, question: str, name: str = "") -> Task:
    """A task for what nobody described; the prompt is its policy, the person's brief.

    The prompt holds what its user knows, so that neither the instruction nor the name has words of it: these are told
    to agents and raters. Without a `name` it is named by the first words that are asked, and by the prompt's hash.
    """
    sha, goal = prompt_sha(system, question), _GOAL.search(system)
    if kind == "judge":
        return Task(f"judge-{sha}", "general", instruction="A judge's request at the endpoint.", policy=system)
    title = _first_words(question, 60, " ")
    id = name or f"{_first_words(question, 32, '-').casefold() or 'endpoint'}-{sha}"
    if kind == "consent":
        return Task(id, "proactive", title=title, policy=system)
    instruction = goal[1].strip()[:2000] if goal else "A conversation at the endpoint."
    return Task(id, "general", title="" if goal else title, instruction=instruction, policy=system)


def _first_words(text: str, most: int, between: str) -> str:
    """The first words of a text, whole ones as far as there is room."""
    words = re.findall(r"[^\W_]+(?:'[^\W_]+)?", text[: 10 * most])
    chosen = ""
    for word in words:
        longer = f"{chosen}{between}{word}" if chosen else word
        if len(longer) > most:
            break
        chosen = longer
    return (chosen or "".join(words)[:most]).replace("'", "" if between == "-" else "'")
