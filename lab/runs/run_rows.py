"""A run as the table has it: its row, the text that a word is looked for in, and what it cost once that was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lab.core.agent_names import shortest_names
from lab.core.measured_run import MeasuredRun
from lab.runs.descriptions import DEMONSTRATED, status_words
from store.run_table import RunRow


class Cost(NamedTuple):
    """What a run cost: tokens in and out, US dollars, seconds; None where its source does not tell."""

    tokens: int | None = None
    dollars: float | None = None
    seconds: float | None = None


class RunEntry(NamedTuple):
    """A run, all its words folded, and its agent's shortest name among the runs beside it."""

    run: RunRow
    text: str
    agent: str

    @property
    def title(self) -> str:
        """Its task as people call it; a demonstration without a title by its intent."""
        demonstrated = self.run.instruction if self.run.task.startswith(DEMONSTRATED) else ""
        return self.run.title or demonstrated or self.run.task

    @property
    def name(self) -> str:
        """Its task as commands take it; what a demonstration shows has no name, and is called by its title."""
        return self.title if self.run.task.startswith(DEMONSTRATED) else self.run.task

    @property
    def words(self) -> str:
        """Name and title, where they differ, as a line of text."""
        return f"{self.name}  {self.title}" if self.title != self.name else self.name


def entry(run: RunRow) -> RunEntry:
    """A row of the file as the table has it."""
    words = (
        run.id, run.task, run.title, run.instruction, *agent_words(run), run.persona, run.source, run.status,
        status_words(run.status), *run.tags,
    )  # fmt: skip
    return RunEntry(run, "\n".join(words).casefold(), run.agent)


def agent_words(run: RunRow) -> tuple[str, ...]:
    """All that a run's agent is called by: its identity, and how it was started."""
    return (run.agent, run.actor.id) if run.actor is not None and run.actor.id != run.agent else (run.agent,)


def with_agent_names(entries: Sequence[RunEntry]) -> list[RunEntry]:
    """The same runs, the agent of each by the shortest name that tells it from the others."""
    names = shortest_names(it.run.actor for it in entries if it.run.actor is not None)
    return [it._replace(agent=names.get(it.run.agent, it.run.agent)) for it in entries]


def cost_of(case: MeasuredRun) -> Cost:
    """What a run cost, of all that is known of it."""
    usage = case.usage
    if usage is None:
        return Cost(seconds=case.seconds)
    token_counts = [part for part in (usage.prompt_tokens, usage.completion_tokens) if part is not None]
    return Cost(sum(token_counts) if token_counts else None, usage.cost, case.seconds)
