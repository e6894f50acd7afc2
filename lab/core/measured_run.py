"""A run as metrics read it: what was asked, done, said, spent and judged, without screens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from lab.core.run_records import Verdict
from lab.core.step import Action, Point, Question, Reply, Usage
from lab.core.task import Actor, Persona, Task
from lab.core.trace import Conditions, DeviceInfo, Source

REHEARSED = "script"
"""The name of a run's user where a script answered under a person's code, in a rehearsal of a study."""
UnitMark = Literal["correct", "wrong", "missing"]


class MeasuredStep(NamedTuple):
    """One turn: `action` is what was done (None where a gate let nothing through), `proposed` what the agent wanted.

    `accepted` are further actions that would have been right, `size` the pixels of the screen that was seen,
    `content` what stood under the finger by the source's word; `recorded` tells whether that screen was kept, as a
    picture or as words.
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
    """One run and what is known of it besides.

    `status` and `score` are the run's own (`open`, None where it has not ended). `seconds` runs from its first event
    to its last, `waited` of these went by while a question was open or the run stood still; both None where the
    source has no times. `open_questions` were asked when the run ended, and are no step. `usage` is the whole run's:
    what its source told, or the sum of its steps'.

    `nodes`, `units`, `branches` are what raters (people or models) settled on: for each TDG node the step (from 0) at
    which it was completed, None where it was not; how each information unit was used; which option was taken at each
    branch. None as a whole where nobody has rated them. `marks` are settled judgements of the whole run by name.
    `unsettled` are names of marks about which people were asked, and settled nothing for this run: a score or a
    verdict of the source's own does not stand in for them.
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
        """What people settled about its success; else its own score, unless people were asked and settled nothing."""
        mark = self.marks.get("success")
        return mark if mark is not None else None if "success" in self.unsettled else self.score

    @property
    def rehearsed(self) -> bool:
        """Whether a script answered in the place of the person whose code it bears."""
        return self.user is not None and self.user.kind == "human" and self.user.name == REHEARSED

    @property
    def gold(self) -> bool:
        """Whether a person showed here how the task is done: a demonstration, or a dataset's own episode."""
        return self.agent.kind == "human"

    def verdict(self, name: str) -> Verdict | None:
        """The source's judgement of that name."""
        return next((verdict for verdict in self.verdicts if verdict.name == name), None)
