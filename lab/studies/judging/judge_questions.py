"""Preview of a judge's questions: their number and cost, and the exact request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from lab.core.errors import LabError
from lab.core.run.run_records import Blob
from lab.core.study.study import Unit
from lab.studies.judging.judge_cost import dollars, tokens_back, tokens_sent
from lab.studies.judging.judging import JudgingJob

if TYPE_CHECKING:
    from lab.llm.client import Llm


class JudgeEstimate(msgspec.Struct, frozen=True):
    """Result of `judge --dry-run`. `cost` is in US dollars, None if no price is known.

    Of a `staged` method it counts the first question of each sheet: how many follow depends on the answers. `outcome`
    lists what the questions reveal of a run's end (`status`, `score`, `reason`), empty if the judge `hides_outcome`.
    """

    sheets: int
    questions: int
    found_again: int
    pictures: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    staged: bool
    outcome: tuple[str, ...] = ()
    hides_outcome: bool = False


class ShownPart(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text, or a picture by its type, size in bytes and hash."""

    text: str = ""
    mime: str = ""
    size: int = 0
    sha256: str = ""


class ShownMessage(msgspec.Struct, frozen=True):
    """One message of the request."""

    role: str
    parts: tuple[ShownPart, ...]


class ShownQuestion(msgspec.Struct, frozen=True):
    """The first question about a unit as it would be sent: result of `judge --show-prompt`.

    `body` is the request itself, byte for byte once it is written as JSON, with pictures in full. It is empty if the
    model's provider does not speak OpenAI's protocol: litellm then translates the messages. `outcome` lists what this
    or a later question about the unit reveals of a run's end, as in `JudgeEstimate`.
    """

    judge: str
    method: str
    stage: str
    unit: str
    sha: str
    messages: tuple[ShownMessage, ...]
    body: dict[str, Any] = {}
    outcome: tuple[str, ...] = ()
    hides_outcome: bool = False


def estimated(job: JudgingJob, llm: Llm, *, batch: bool = False) -> JudgeEstimate:
    """Count the questions, tokens and cost of the open sheets without asking. `batch` uses the batch prices."""
    prices = llm.batch_prices() if batch else llm.prices()
    sheets = questions = already_paid = pictures = prompt_tokens = answer_tokens = 0
    outcome: tuple[str, ...] = ()
    for unit, run in job.sheets():
        sheets += 1
        outcome = outcome or _outcome_parts(job, unit, run)
        question = job.first_question(unit, run)
        if job.paid.find(question, unit.id, run) is not None:
            already_paid += 1
            continue
        model = job.model_of(question, llm)
        prices = model.batch_prices() if batch else model.prices()
        questions += 1
        pictures += sum(isinstance(part, Blob) for message in question.messages for part in message.parts)
        prompt_tokens += tokens_sent(question)
        answer_tokens += tokens_back(job.view(unit, run))
    cost = dollars(prompt_tokens, answer_tokens, prices) if prices is not None else None
    staged = len(job.method.stages) > 1
    return JudgeEstimate(
        sheets, questions, already_paid, pictures, prompt_tokens, answer_tokens, cost, staged, outcome,
        job.terms.hides_outcome,
    )  # fmt: skip


def shown_question(job: JudgingJob, unit: Unit, llm: Llm | None = None) -> ShownQuestion:
    """Return the first question about a unit, with its `body` if a model is given."""
    if unit.mechanical:
        raise LabError("judge", f"nobody is asked about unit {unit.id}: a rule has answered it.", code=2)
    question = job.first_question(unit, 1)
    messages = tuple(ShownMessage(one.role, tuple(map(_shown_part, one.parts))) for one in question.messages)
    model = job.model_of(question, llm) if llm is not None else None
    body = model.body(question.messages, question.schema) if model is not None and model.speaks_openai() else {}
    return ShownQuestion(
        job.judge.id, job.method.name, question.stage, unit.id, question.sha, messages, body,
        _outcome_parts(job, unit, 1), job.terms.hides_outcome,
    )  # fmt: skip


def _outcome_parts(job: JudgingJob, unit: Unit, run: int) -> tuple[str, ...]:
    """Return what the questions of a sheet reveal of its runs' end."""
    view = job.view(unit, run)
    if not view.runs or not (job.method.tells_outcome or view.examples):
        return ()
    parts = [*(("status", "score") if "outcome" in view.shows else ()), *(["reason"] if "reason" in view.shows else [])]
    return tuple(parts)


def _shown_part(part: str | Blob) -> ShownPart:
    if isinstance(part, str):
        return ShownPart(part)
    return ShownPart(mime=part.mime, size=len(part.data), sha256=part.sha256)
