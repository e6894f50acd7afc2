"""Rows of the table of runs: the stored row, its searchable text, and its cost once read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lab.core.run.agent_names import shortest_names
from lab.core.run.measured_run import MeasuredRun
from lab.runs.descriptions import DEMONSTRATED, status_words
from store.runs.run_table import RunRow


class Cost(NamedTuple):
    """Cost of a run: tokens in and out, US dollars, seconds. None if its source does not report it."""

    tokens: int | None = None
    dollars: float | None = None
    seconds: float | None = None


class RunEntry(NamedTuple):
    """A run with its case-folded text, and its agent's shortest name among the runs listed with it."""

    run: RunRow
    text: str
    agent: str

    @property
    def title(self) -> str:
        """The task's title, a demonstration's intent, or the task's id."""
        demonstrated = self.run.instruction if self.run.task.startswith(DEMONSTRATED) else ""
        return self.run.title or demonstrated or self.run.task

    @property
    def name(self) -> str:
        """The task's name in commands. A demonstration without a task has its title instead."""
        return self.title if self.run.task.startswith(DEMONSTRATED) else self.run.task

    @property
    def words(self) -> str:
        """Name and title in one line if they differ."""
        return f"{self.name}  {self.title}" if self.title != self.name else self.name


def entry(run: RunRow) -> RunEntry:
    """Build a table entry from a stored row."""
    words = (
        run.id, run.task, run.title, run.instruction, *agent_words(run), run.persona, run.source, run.status,
        status_words(run.status), *run.tags,
    )  # fmt: skip
    return RunEntry(run, "\n".join(words).casefold(), run.agent)


def agent_words(run: RunRow) -> tuple[str, ...]:
    """Return an agent's names: its identity, and how it was started."""
    return (run.agent, run.actor.id) if run.actor is not None and run.actor.id != run.agent else (run.agent,)


def with_agent_names(entries: Sequence[RunEntry]) -> list[RunEntry]:
    """Return the entries with each agent's shortest name that differs from the others."""
    names = shortest_names(row.run.actor for row in entries if row.run.actor is not None)
    return [row._replace(agent=names.get(row.run.agent, row.run.agent)) for row in entries]


def cost_of(case: MeasuredRun) -> Cost:
    """Return the known cost of a run."""
    usage = case.usage
    if usage is None:
        return Cost(seconds=case.seconds)
    token_counts = [part for part in (usage.prompt_tokens, usage.completion_tokens) if part is not None]
    return Cost(sum(token_counts) if token_counts else None, usage.cost, case.seconds)
