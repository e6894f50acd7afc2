"""The seam between judge methods and their callers: a judge's view of a unit, its questions and its answers.

A method (`JudgeMethod`) is a generator. It yields a question, receives the answer that the question's `read` made of
the model's text, and returns an answer for each place of the sheet. It calls no model itself, so it runs the same on
answers that are already paid for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from lab.core.codec import encode
from lab.core.run.judge_call import stage_name
from lab.core.run.run_records import Blob
from lab.core.study.label import Missing
from lab.core.study.protocol import Protocol as RatingProtocol
from lab.core.study.protocol import Show
from lab.core.study.study import Unit
from lab.llm.client import Message


class UnusableJudgement(Exception):
    """A model's answer is not usable. The message explains to the model what is wrong with it."""


class JudgedStep(NamedTuple):
    """A step of a run as far as the study shows it. `number` counts from 1. Texts are empty if hidden or absent."""

    number: int
    action: str = ""
    thought: str = ""
    question: str = ""
    reply: str = ""
    error: str = ""
    words: str = ""
    """Words on the screen before the step: from the phone itself, or read from the picture (`was_read`)."""
    was_read: bool = False
    picture: Callable[[], Blob | None] = lambda: None
    """Screen before the step, scaled down for a model, or None if hidden or absent."""


@dataclass(frozen=True)
class JudgedRun:
    """A run of a unit: `name` distinguishes it from others, `sections` describe its task, by title."""

    id: str
    name: str
    sections: tuple[tuple[str, str], ...]
    steps: tuple[JudgedStep, ...]
    outcome: str
    """The run's ending in words, as far as the study shows it, else empty."""
    last_picture: Callable[[], Blob | None]
    last_words: str = ""


@dataclass(frozen=True)
class JudgeExample:
    """A unit that people settled, as a judge may see it, without pictures, with its right answers."""

    view: JudgeView
    answers: tuple[tuple[str, str, Any], ...]
    """Triples (target, field, value). The target is empty for the unit as a whole."""

    def is_independent_of(self, unit: Unit) -> bool:
        """Return True if the example reveals nothing about a unit: another id, other runs and another cluster."""
        own = self.view.unit
        return own.id != unit.id and own.clustered != unit.clustered and not set(own.runs) & set(unit.runs)


@dataclass(frozen=True)
class JudgeView:
    """A unit as a judge may see it: no more than the protocol and the study show to a rater.

    With `swapped`, side B of a unit comes first, as A. Answers are swapped back before they are stored.
    """

    protocol: RatingProtocol
    locale: str
    shows: frozenset[Show]
    unit: Unit
    runs: tuple[JudgedRun, ...]
    swapped: bool = False
    pictures: int = 12
    """Maximum number of pictures in one question."""
    sections: tuple[tuple[str, str], ...] = ()
    """Description of a task without a run, by title."""
    examples: tuple[JudgeExample, ...] = ()
    """Other units with their settled answers, empty if the judge gets none."""


class JudgeQuestion(NamedTuple):
    """One question to a model.

    `read` parses the model's text into what the method receives, or raises `UnusableJudgement`.
    """

    stage: str
    messages: tuple[Message, ...]
    read: Callable[[str], Any]
    schema: Mapping[str, Any] | None = None
    """JSON Schema of the answer, for models that support one."""
    serves_all_runs: bool = False
    """True if one answer serves all runs of the judge, for instance a description of a step."""

    @property
    def base_stage(self) -> str:
        """The method's own name of the stage. A repaired question belongs to the stage that it repairs."""
        return stage_name(self.stage)

    @property
    def sha(self) -> str:
        """Hash of everything that is sent, by which the same question is never paid for twice."""
        whole = hashlib.sha256()
        for message in self.messages:
            # The number of parts keeps messages apart that have the same parts split differently.
            whole.update(encode([message.role, len(message.parts)]))
            for part in message.parts:
                whole.update(encode(part if isinstance(part, str) else [part.mime, part.sha256]) + b"\n")
        whole.update(encode(self.schema))
        return whole.hexdigest()


class JudgedPlace(NamedTuple):
    """A judge's answer at a place of the sheet: a value, or the reason for having none. `step` counts from 1."""

    target: str
    field: str
    value: Any = None
    missing: Missing | None = None
    run: int = 0
    """Index of the unit's run that holds the evidence."""
    step: int | None = None
    confidence: float | None = None
    note: str = ""


Judging = Generator[JudgeQuestion, Any, Sequence[JudgedPlace]]


class JudgeMethod(Protocol):
    """One way of judging. `version` is a hash of its prompts, because another prompt is another rater.

    `stages` are the names of its kinds of questions, in order. Each may use another model. `tells_outcome` is True if a
    question reveals the run's outcome, provided the study shows it. Examples reveal it with every method.
    """

    name: str
    tells_outcome: bool

    @property
    def stages(self) -> tuple[str, ...]: ...

    @property
    def version(self) -> str: ...

    def judge(self, view: JudgeView) -> Judging:
        """Yield questions one by one, then return an answer for each place."""
        ...
