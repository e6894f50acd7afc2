"""A run as metrics read it: the task, steps, dialogue, usage and judgements, without screens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from lab.core.run.run_records import Verdict
from lab.core.run.step import Action, Point, Question, Reply, Usage
from lab.core.run.trace import Conditions, DeviceInfo, Source
from lab.core.task.task import Actor, Persona, Task

REHEARSED = "script"
"""User name of a run in a rehearsal, in which a script answers under a person's code."""
UnitMark = Literal["correct", "wrong", "missing"]


class MeasuredStep(NamedTuple):
    """One step. `action` was done (None if a gate rejected it), `proposed` is the agent's proposal.

    `accepted` are other actions that would have been right. `size` are the pixels of the screen. `content` is the
    element under the finger, in the source's words. `recorded` is true if the screen was stored as a picture or as
    text.
    """

    proposed: Action
    action: Action | None
    accepted: tuple[Action, ...] = ()
    instruction: str = ""
    question: Question | None = None
    reply: Reply | None = None
    usage: Usage | None = None
    error: str | None = None
    size: Point | None = None
    by: Actor | None = None
    slip: bool = False
    content: str = ""
    recorded: bool = True


class MeasuredRun(NamedTuple):
    """One run with the judgements about it.

    `status` and `score` are the run's own (`open` and None before it ends). `seconds` is the time from its first to its
    last event. `waited` is the part of it with an open question or a pause. Both are None if the source has no times.
    `open_questions` counts questions that were open at the end, which are not steps. `usage` is that of the whole run,
    from its source or as the sum of its steps.

    `nodes`, `units` and `branches` are the raters' settled answers (people's or models'): the step (from 0) that
    completed each TDG node, or None if it was not completed, the use of each information unit, and the option chosen at
    each branch. Each is None if nobody rated it. `marks` are settled judgements of the whole run by name. `unsettled`
    are names of marks on which people were asked and did not settle. The source's own score or verdict does not replace
    those.
    """

    id: str
    task: Task
    agent: Actor
    steps: Sequence[MeasuredStep]
    status: str
    score: float | None = None
    reason: str = ""
    persona: Persona | None = None
    user: Actor | None = None
    device: DeviceInfo = DeviceInfo()
    conditions: Conditions = Conditions()
    source: Source | None = None
    attempt: int = 1
    parent: str | None = None
    started: str = ""
    checks: tuple[tuple[str, bool], ...] = ()
    seconds: float | None = None
    waited: float | None = None
    open_questions: int = 0
    usage: Usage | None = None
    verdicts: Sequence[Verdict] = ()
    nodes: Mapping[str, int | None] | None = None
    units: Mapping[str, UnitMark] | None = None
    branches: Mapping[str, str] | None = None
    marks: Mapping[str, float] = {}
    unsettled: frozenset[str] = frozenset()

    @property
    def success_score(self) -> float | None:
        """The settled success, else the run's own score, unless people were asked and did not settle."""
        mark = self.marks.get("success")
        return mark if mark is not None else None if "success" in self.unsettled else self.score

    @property
    def rehearsed(self) -> bool:
        """True if a script answered in the place of the person whose code the run has."""
        return self.user is not None and self.user.kind == "human" and self.user.name == REHEARSED

    @property
    def persona_id(self) -> str:
        """Id of the run's persona, else the one that its task names, empty if neither does."""
        return self.persona.id if self.persona else self.task.persona

    @property
    def gold(self) -> bool:
        """True if a person shows how to do the task: a demonstration, or a dataset's own episode."""
        return self.agent.kind == "human"

    def verdict(self, name: str) -> Verdict | None:
        """Return the source's verdict of that name, or None if it has none."""
        return next((verdict for verdict in self.verdicts if verdict.name == name), None)
