"""What Home lists: runs and tasks; each list knows what Enter does on its line."""

from __future__ import annotations

from typing import NamedTuple

from textual.content import Content

from lab.errors import LabError
from lab.records import Summary
from lab.settings import Settings
from screens.describe import one_line, score_words, status_words, waits, when
from screens.lines import Lines
from screens.seats import may_run, sees_outcomes

MUTED = "$foreground-muted"


class TaskLine(NamedTuple):
    """A built-in task; `broken` says why it cannot be read, else it is empty."""

    name: str
    kind: str
    title: str
    broken: str = ""

    @property
    def checked(self) -> str:
        """Its name; raises `LabError` where it cannot be read."""
        if self.broken:
            raise LabError(f"task {self.name}", self.broken)
        return self.name


class Column(NamedTuple):
    """A column of the list of runs; `least` is the width of the list from which it is shown."""

    title: str
    width: int
    least: int
    right: bool = False
    outcome: bool = False
    share: int = 0
    """Above 0: as wide as this part of the list, where that is more than `width`."""

    def at(self, width: int) -> Column:
        """The column in a list of that width."""
        return self._replace(width=max(self.width, width // self.share)) if self.share else self


_COLUMNS = {
    "when": Column("started", 16, 98),
    "agent": Column("agent", 12, 66, outcome=True, share=6),
    "persona": Column("persona", 8, 84),
    "steps": Column("steps", 5, 0, right=True),
    "questions": Column("asks", 4, 0, right=True),
    "status": Column("status", 12, 0),
    "score": Column("score", 5, 46, right=True, outcome=True),
}


class Runs(Lines):
    """Stored runs, the newest first."""

    HELP = """\
# Runs

Every stored run, the newest first. **Enter** plays it back, or goes on with it where it is marked *resume*.
`v` plays back an open run too, `/` finds runs by task, agent, persona, status or id, `y` copies the id;
`a` opens the design of its task beside it, to be drafted or verified. `T` shows all runs as a table, to be sorted,
grouped and laid side by side.
"""
    heading_rows = 1

    def __init__(self, settings: Settings, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.rows: list[Summary] = []
        self.titles: dict[str, str] = {}
        """Titles of the tasks that are known by name."""
        self.live: str | None = None
        """The run that is under way in this app."""
        self.outcomes = sees_outcomes(settings.seat)
        self.may_run = may_run(settings.seat)

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def current(self) -> Summary | None:
        """The run under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    def resumes(self, run: Summary) -> bool:
        """Whether Enter goes on with this run."""
        return self.may_run and run.status == "open" and run.source is None

    def next_words(self) -> str:
        """What Enter does on this line."""
        run = self.current
        if run is None:
            return ""
        if run.id == self.live:
            return "Enter: go to this live run"
        if not self.resumes(run):
            return "Enter: replay this run"
        where = "at its question" if waits(run) else f"after step {run.steps}"
        return f"Enter: resume this run {where}   v: replay it"

    def heading(self, width: int) -> Content:
        shown = self._shown(width)
        cells = [cell(column.title, column) for column in shown.values()]
        return Content(cell("task", Column("", self._rest(width, shown), 0)) + "  " + "  ".join(cells))

    def paint(self, index: int, width: int) -> Content:
        run = self.rows[index]
        shown = self._shown(width)
        values = {
            "when": when(run.started) or "-",
            "agent": one_line(run.agent),
            "persona": one_line(run.persona or "-"),
            "steps": str(run.steps),
            "questions": str(run.questions) if run.questions else "-",
            "status": self._status(run),
            "score": score_words(run.score),
        }
        title = one_line(self.titles.get(run.task, run.task))
        parts: list[tuple[str, str]] = [(cell(title, Column("", self._rest(width, shown), 0)), "")]
        for name, column in shown.items():
            style = "bold $text-warning" if name == "status" and run.status == "open" else MUTED
            parts.append(("  " + cell(values[name], column), style if name in ("when", "persona", "status") else ""))
        return Content.assemble(*parts)

    def _status(self, run: Summary) -> str:
        if run.id == self.live:
            return "● live ?" if waits(run) else "● live"
        if self.resumes(run):
            return "resume ?" if waits(run) else "resume"
        return status_words(run.status, waits(run))

    def _shown(self, width: int) -> dict[str, Column]:
        return {n: c.at(width) for n, c in _COLUMNS.items() if width >= c.least and (self.outcomes or not c.outcome)}

    def _rest(self, width: int, shown: dict[str, Column]) -> int:
        return max(8, width - sum(c.width + 2 for c in shown.values()))


class Tasks(Lines):
    """The tasks that come with hitlab."""

    HELP = """\
# Tasks

Tasks that come with hitlab, and their kind. **Enter** runs one with the rule agent, on the phone that is
marked under Devices; its questions come to you; `r` records how you do it yourself, `R` what you intend without
a task; `a` opens its design. Your own task: `hitlab live FILE.yaml`.
"""
    empty = "No tasks found."

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.rows: list[TaskLine] = []

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def current(self) -> TaskLine | None:
        """The task under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    def next_words(self) -> str:
        """What Enter does on this line."""
        task = self.current
        if task is None:
            return ""
        return task.broken or "Enter: run this task with the rule agent; you answer   r: record yourself"

    def paint(self, index: int, width: int) -> Content:
        task = self.rows[index]
        if task.broken:
            return Content.assemble((f"{task.name}  ", ""), ("cannot be read", "$text-error"))
        return Content.assemble((f"{task.kind:<13}", MUTED), (one_line(task.title), ""))


def cell(text: str, column: Column) -> str:
    """Text cut or padded to a column, wide characters counted as two."""
    content = Content(text).truncate(column.width, ellipsis=True)
    pad = " " * max(0, column.width - content.cell_length)
    return pad + content.plain if column.right else content.plain + pad
