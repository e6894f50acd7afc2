"""What a judge sees of a unit, what it is asked, and what it answers: the seam between methods and what runs them.

A method (`JudgeMethod`) is a generator: it yields a question, is sent the answer that was read from the model's text,
and returns what is said at each place of the sheet. It asks no model itself, so it runs the same on answers that were
paid for before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from lab.core.codec import encode
from lab.core.judge_call import stage_name
from lab.core.label import Missing
from lab.core.protocol import Protocol as RatingProtocol
from lab.core.protocol import Show
from lab.core.run_records import Blob
from lab.core.study import Unit
from lab.llm.client import Message


class UnusableJudgement(Exception):
    """A model's answer that says nothing usable; the message tells the model what is wrong with it."""


class JudgedStep(NamedTuple):
    """A step of a run as far as the study shows it; `number` counts from 1, empty texts are hidden or not there."""

    number: int
    action: str = ""
    thought: str = ""
    question: str = ""
    reply: str = ""
    error: str = ""
    words: str = ""
    """The words on the screen before it: the phone's own, or those read from the picture (`was_read`)."""
    was_read: bool = False
    picture: Callable[[], Blob | None] = lambda: None
    """The screen before it, scaled down for a model; None where none is shown or there."""


@dataclass(frozen=True)
class JudgedRun:
    """A run of a unit: `name` is what it is called beside others, `sections` what is told of its task, by title."""

    id: str
    name: str
    sections: tuple[tuple[str, str], ...]
    steps: tuple[JudgedStep, ...]
    outcome: str
    """How it ended in words, as far as that is shown; empty else."""
    last_picture: Callable[[], Blob | None]
    last_words: str = ""


@dataclass(frozen=True)
class JudgeExample:
    """A unit that people have settled, as a judge may see it, without pictures; and what is right at its places."""

    view: JudgeView
    answers: tuple[tuple[str, str, Any], ...]
    """(target, field, value), the target empty where the unit as a whole is meant."""

    def may_stand_beside(self, unit: Unit) -> bool:
        """Whether it tells nothing of a unit: it is another one, of other runs and of another cluster."""
        own = self.view.unit
        return own.id != unit.id and own.clustered != unit.clustered and not set(own.runs) & set(unit.runs)


@dataclass(frozen=True)
class JudgeView:
    """A unit as a judge may see it: no more than the protocol and the study show a rater.

    `swapped`: of a unit with two sides B comes first, as A; answers are turned back when they are kept.
    """

    protocol: RatingProtocol
    locale: str
    shows: frozenset[Show]
    unit: Unit
    runs: tuple[JudgedRun, ...]
    swapped: bool = False
    pictures: int = 12
    """Most pictures in one question."""
    sections: tuple[tuple[str, str], ...] = ()
    """What is told of a task that has no run yet, by title."""
    examples: tuple[JudgeExample, ...] = ()
    """Other units with what people settled there; none where the judge is given none."""


class JudgeQuestion(NamedTuple):
    """One question to a model. `read` makes of its text what the method is sent, or raises `UnusableJudgement`."""

    stage: str
    messages: tuple[Message, ...]
    read: Callable[[str], Any]
    schema: Mapping[str, Any] | None = None
    """A JSON Schema of the answer, for models that keep to one."""
    once: bool = False
    """Whether one answer serves every run of the judge: what a step shows, say, and not what follows from it."""

    @property
    def asked_at(self) -> str:
        """The method's own name of the stage; a repaired question belongs to the stage that it repairs."""
        return stage_name(self.stage)

    @property
    def sha(self) -> str:
        """A hash of all that is sent: the same question is not asked twice."""
        whole = hashlib.sha256()
        for message in self.messages:
            whole.update(encode([message.role, len(message.parts)]))
            for part in message.parts:
                whole.update(encode(part if isinstance(part, str) else [part.mime, part.sha256]) + b"\n")
        whole.update(encode(self.schema))
        return whole.hexdigest()


class JudgedPlace(NamedTuple):
    """What a judge says at a place of the sheet: a value, or the reason why there is none. `step` counts from 1."""

    target: str
    field: str
    value: Any = None
    missing: Missing | None = None
    run: int = 0
    """Which of the unit's runs the evidence is in, from 0."""
    step: int | None = None
    confidence: float | None = None
    note: str = ""


Judging = Generator[JudgeQuestion, Any, Sequence[JudgedPlace]]


class JudgeMethod(Protocol):
    """One way of judging. `version` is a hash of its prompts: another prompt is another rater.

    `stages` are the names of the kinds of questions that it asks, in their order; each may be asked of another model.
    `tells_outcome` says whether a question holds how the run that is judged ended, where that is shown. Examples
    hold it with every method.
    """

    name: str
    tells_outcome: bool

    @property
    def stages(self) -> tuple[str, ...]: ...

    @property
    def version(self) -> str: ...

    def judge(self, view: JudgeView) -> Judging:
        """Asks what it needs to know, question by question; returns what is said at each place."""
        ...
