"""A sheet that a judge is at: what it asks now, what follows from an answer, and how an unusable one is repaired."""

from __future__ import annotations

from typing import Any

from annotators.judging.prompt_files import filled
from annotators.judging.question import JudgeQuestion, JudgeView, Judging, UnusableJudgement
from lab.core.step import Usage
from lab.core.study import Unit
from lab.llm.client import Llm, Message
from lab.llm.json_in_text import SeveralAnswers
from lab.studies.paid_answers import PaidAnswer


class SheetWork:
    """The method's generator at a sheet, what it asks now, and what its answers cost so far."""

    def __init__(self, unit: Unit, run: int) -> None:
        self.unit, self.run = unit, run
        self.view: JudgeView
        self.judging: Judging
        self.model: Llm
        """The model that is asked now."""
        self.question: JudgeQuestion | None = None
        self.asking: JudgeQuestion | None = None
        self.repairing = False
        self.usage = Usage(tries=0)
        self.expected = 0.0
        """US dollars that what is asked now will cost, about; nothing where no budget is kept."""


def next_question(work: SheetWork, answer: PaidAnswer | None) -> JudgeQuestion:
    """The question after an answer; one that says nothing usable is repaired once, and then thrown into the method.

    Raises `StopIteration` with what is said of the sheet at its end, `UnusableJudgement` where the method gives up.
    """
    if answer is None:
        work.question = next(work.judging)
        return work.question
    assert work.question is not None
    work.usage = work.usage.plus(answer.usage)
    try:
        value = _read(work.question, answer)
    except UnusableJudgement as problem:
        if not work.repairing and not answer.why:
            work.repairing = True
            return repair_of(work.question, answer.text, str(problem))
        work.question = work.judging.throw(UnusableJudgement(str(problem)))
    else:
        work.question = work.judging.send(value)
    work.repairing = False
    return work.question


def _read(question: JudgeQuestion, answer: PaidAnswer) -> Any:
    """What an answer says; `UnusableJudgement` where it is none, or says nothing that can be used."""
    if answer.why:
        raise UnusableJudgement(answer.why)
    try:
        return question.read(answer.text)
    except SeveralAnswers as problem:
        raise UnusableJudgement(f"{problem}.") from problem


def repair_of(question: JudgeQuestion, text: str, problem: str) -> JudgeQuestion:
    """The same question with the answer that could not be used, and what was wrong with it."""
    words = filled("annotators.judging", "repair.md", problem=problem)
    more = (Message("assistant", (text,)), Message("user", (words,)))
    return question._replace(stage=f"{question.stage}, repaired", messages=(*question.messages, *more))
