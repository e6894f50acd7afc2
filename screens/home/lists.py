"""Runs and tasks in Home. Each list knows what Enter does on its line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from textual.content import Content

from lab.core.errors import LabError
from lab.core.run.run_records import Summary
from lab.core.settings import Settings
from lab.runs.descriptions import (
    DEMONSTRATED,
    is_conversation,
    local_time,
    one_line,
    score_words,
    status_words,
    waits_for_answer,
)
from lab.studies.seats import may_run, sees_outcomes
from screens.key_names import with_keys
from screens.theme import ERROR, LOUD_WARNING, MUTED
from screens.widgets.table import RowList, RowTable, TableColumn, fit_name_and_title


class TaskRow(NamedTuple):
    """A built-in task. `broken` is the error if it cannot be read, else empty."""

    name: str
    kind: str
    title: str
    broken: str = ""

    @property
    def readable_name(self) -> str:
        """Its name. Raises `LabError` if the task cannot be read."""
        if self.broken:
            raise LabError(f"task {self.name}", self.broken)
        return self.name


_LIVE = {"": "● live", "answer": "● asks you", "decision": "● decide"}
"""Status of the live run, by what it waits for."""
_COLUMNS = {
    "task": TableColumn("task", 0, fill=8),
    "when": TableColumn("started", 16, 98, style=MUTED),
    "agent": TableColumn("agent", 12, 66, share=6),
    "persona": TableColumn("persona", 8, 84, style=MUTED),
    "steps": TableColumn("steps", 5, right=True),
    "questions": TableColumn("asks", 4, right=True),
    "status": TableColumn("status", 12, style=MUTED),
    "score": TableColumn("score", 5, 46, right=True),
}
_OUTCOMES = frozenset({"agent", "score"})
"""Columns that raters must not see."""


class RunList(RowTable[Summary]):
    """Stored runs, the newest first."""

    HELP = """\
# Runs

Every stored run, the newest first. **{list.open}** plays it back, or goes on with it where it is marked *resume*.
**{home.replay}** plays back an open run too, **{home.filter}** finds runs by task, agent, persona, status or id,
**{home.copy}** copies the id; **{home.author}** opens the design of its task beside it, to be drafted or verified.
**{home.runs}** shows all runs as a table, to be sorted, grouped, tagged and laid side by side. **{home.archive}**
archives a run: it is in no list any more, and nothing is lost. **{home.archived}** lists what is archived, where the
same key brings back; **{home.undo}** undoes what was archived last.
"""

    def __init__(self, settings: Settings, id: str) -> None:
        self.outcomes = sees_outcomes(settings.seat)
        """True if the seat sees outcomes: agents, scores, and tags, which may reveal either."""
        super().__init__(
            id, {name: column for name, column in _COLUMNS.items() if self.outcomes or name not in _OUTCOMES}
        )
        self.titles: dict[str, str] = {}
        """Titles of tasks by name."""
        self.agents: Mapping[str, str] = {}
        """Shortest distinct names of the agents, by identity."""
        self.live: str | None = None
        """Id of the live run, or None if there is none."""
        self.waits_for: Literal["", "answer", "decision"] = ""
        """The part of this person that the live run waits for."""
        self.may_run = may_run(settings.seat)

    def is_resumable(self, run: Summary) -> bool:
        """Return True if Enter continues this run."""
        return self.may_run and run.status == "open" and run.source is None and not is_conversation(run.agent)

    def next_words(self) -> str:
        """Return what Enter does on this line."""
        run = self.current
        if run is None:
            return ""
        if run.id == self.live:
            waiting = f", which waits for your {self.waits_for}" if self.waits_for else ""
            return with_keys(self, f"{{list.open}}: go to this live run{waiting}")
        if self.may_run and waits_for_answer(run) and run.source is None and is_conversation(run.agent):
            return with_keys(self, "{list.open}: replay this conversation   {home.answer}: answer what waits")
        if not self.is_resumable(run):
            return with_keys(self, "{list.open}: replay this run")
        where = "at its question" if waits_for_answer(run) else f"after step {run.steps}"
        return with_keys(self, f"{{list.open}}: resume this run {where}   {{home.replay}}: replay it")

    def words(self, name: str, row: Summary, width: int) -> str:
        match name:
            case "task":
                title = one_line(self.titles.get(row.task, row.task))
                name = title if row.task.startswith(DEMONSTRATED) else one_line(row.task)
                tags = [one_line(tag) for tag in row.tags] if self.outcomes else []
                return "".join(fit_name_and_title(name, title, width, tags))
            case "when":
                return local_time(row.started) or "-"
            case "agent":
                return one_line(self.agents.get(row.agent, row.agent))
            case "persona":
                return one_line(row.persona or "-")
            case "steps":
                return str(row.steps)
            case "questions":
                return str(row.questions) if row.questions else "-"
            case "status":
                return self._status_words(row)
            case "score":
                return score_words(row.score)
        return ""

    def style_of(self, name: str, row: Summary) -> str:
        return LOUD_WARNING if name == "status" and row.status == "open" else super().style_of(name, row)

    def _status_words(self, run: Summary) -> str:
        if run.id == self.live:
            return _LIVE[self.waits_for]
        if self.is_resumable(run):
            return "resume ?" if waits_for_answer(run) else "resume"
        return status_words(run.status, waits_for_answer(run))


class BlindRunList(RunList):
    """Stored runs for a person who only reads them, without what a rater must not see."""

    HELP = """\
# Runs

Every stored run, the newest first. **{list.open}** plays it back, an open one, too. **{home.filter}** finds runs by
task, persona, status or id, **{home.copy}** copies the id.
"""


_KIND = 13
"""Cells of a task's kind before its name."""


class Tasks(RowList[TaskRow]):
    """The built-in tasks."""

    HELP = """\
# Tasks

Tasks that come with hitlab, and their kind. **{list.open}** asks who acts, who is its user and how, and then runs one
on the phone that is marked under Devices; **{list.open}** again starts it as you chose last. **{home.record}** records
how you do it yourself, **{home.record_own}** what you intend without a task; **{home.author}** opens its design. Your
own task: `hitlab live FILE.yaml`.
"""
    empty = "Reading the tasks ..."

    def next_words(self) -> str:
        """Return what Enter does on this line."""
        task = self.current
        if task is None:
            return ""
        does = "{list.open}: run this task   {home.record}: record yourself"
        return task.broken or with_keys(self, does)

    def paint(self, index: int, width: int) -> Content:
        task = self.rows[index]
        if task.broken:
            return Content.assemble((f"{task.name}  ", ""), ("cannot be read", ERROR))
        words = fit_name_and_title(task.name, one_line(task.title), width - _KIND).text
        return Content.assemble((f"{task.kind:<{_KIND}}", MUTED), (words, ""))
