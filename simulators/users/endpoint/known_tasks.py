"""Assignment of a conversation to one of the named tasks by id, goal or persona."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.core.task.task import Persona, Task
from lab.core.text.plain_text import fold_text
from simulators.users.endpoint.request_kinds import RequestKind

_GOAL = re.compile(r"\b(?:the )?task goal is:?\s*(.+?)(?:\n|$)", re.I)
"""Sentence in which KnowU-Bench and MobileWorld state the goal to their user."""
_LEAST = 4
"""Fewest characters of a name or goal that may identify a task."""


class KnownTask(NamedTuple):
    """A task and its persona."""

    task: Task
    persona: Persona | None = None


def task_of(tasks: Sequence[KnownTask], session: str, system: str) -> KnownTask | None:
    """Return the task that a session or system prompt names, or None if none or several match.

    The session's name counts first, then the goal, then the persona's name.
    """
    prompt = fold_text(system)
    ways = (
        [candidate for candidate in tasks if session and candidate.task.id == session],
        [candidate for candidate in tasks if _mentions(candidate.task.instruction, prompt)],
        [
            candidate
            for candidate in tasks
            if candidate.persona is not None and _mentions(candidate.persona.name, prompt)
        ],
    )
    return next((candidates[0] for candidates in ways if len(candidates) == 1), None)


def _mentions(text: str, prompt: str) -> bool:
    folded = fold_text(text)
    return len(folded) >= _LEAST and folded in prompt


def prompt_sha(system: str, question: str) -> str:
    """Return the first digits of the SHA-256 of the prompt, else of the question. Equal ones share a task."""
    return hashlib.sha256((system or question).encode(errors="backslashreplace")).hexdigest()[:8]


def unknown_task(kind: RequestKind, system: str, question: str, name: str = "") -> Task:
    """Return a task for an undescribed conversation. The prompt becomes its policy, the person's brief.

    The prompt contains the user's knowledge. So neither the instruction nor the name quotes it, because agents and
    raters see these. Without `name`, the name has the first words of the question and the prompt's hash.
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
    """Return the leading whole words of a text that fit into `most` characters."""
    words = re.findall(r"[^\W_]+(?:'[^\W_]+)?", text[: 10 * most])
    chosen = ""
    for word in words:
        longer = f"{chosen}{between}{word}" if chosen else word
        if len(longer) > most:
            break
        chosen = longer
    return (chosen or "".join(words)[:most]).replace("'", "" if between == "-" else "'")
