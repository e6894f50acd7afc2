"""A judge's work on one sheet: its current question, the next one after an answer, the repair of an unusable one."""

from __future__ import annotations

from typing import Any

from annotators.judging.prompt_files import fill_prompt
from annotators.judging.question import JudgeQuestion, JudgeView, Judging, UnusableJudgement
from lab.core.run.step import Usage
from lab.core.study.study import Unit
from lab.llm.client import Llm, Message
from lab.llm.json_in_text import SeveralAnswers
from lab.studies.judging.paid_answers import PaidAnswer


class SheetWork:
    """The method's generator for a sheet, its current question, and the cost of its answers so far."""

    def __init__(self, unit: Unit, run: int) -> None:
        self.unit, self.run = unit, run
        self.view: JudgeView
        self.judging: Judging
        self.model: Llm
        """The model of the current question."""
        self.question: JudgeQuestion | None = None
        self.asking: JudgeQuestion | None = None
        self.repairing = False
        self.usage = Usage(tries=0)
        self.expected = 0.0
        """Estimated cost of the current question in US dollars, 0 without a budget."""


def next_question(work: SheetWork, answer: PaidAnswer | None) -> JudgeQuestion:
    """Return the question after an answer. Repair an unusable answer once, then throw it into the method.

    Raise `StopIteration` with the sheet's answers at its end, `UnusableJudgement` if the method gives up.
    """
    if answer is None:
        work.question = next(work.judging)
        return work.question
    assert work.question is not None
    work.usage = work.usage.plus(answer.usage)
    try:
        value = _parse_answer(work.question, answer)
    except UnusableJudgement as problem:
        if not work.repairing and not answer.why:
            work.repairing = True
            return repair_of(work.question, answer.text, str(problem))
        work.question = work.judging.throw(UnusableJudgement(str(problem)))
    else:
        work.question = work.judging.send(value)
    work.repairing = False
    return work.question


def _parse_answer(question: JudgeQuestion, answer: PaidAnswer) -> Any:
    """Parse an answer. Raise `UnusableJudgement` if it is missing or unusable."""
    if answer.why:
        raise UnusableJudgement(answer.why)
    try:
        return question.read(answer.text)
    except SeveralAnswers as problem:
        raise UnusableJudgement(f"{problem}.") from problem


def repair_of(question: JudgeQuestion, text: str, problem: str) -> JudgeQuestion:
    """Return the question extended by the unusable answer and the problem with it."""
    words = fill_prompt("annotators.judging", "repair.md", problem=problem)
    more = (Message("assistant", (text,)), Message("user", (words,)))
    return question._replace(stage=f"{question.stage}, repaired", messages=(*question.messages, *more))
