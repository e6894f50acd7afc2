"""A model judges a study: each sheet by a method's questions, each paid answer on the disk before it is used.

The sheets are gone through by one thread, which alone reads and writes the file; models are asked on others. What was
paid for is found again after a crash, so the same job begun anew asks only what nobody answered yet.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, NamedTuple

from annotators.judging.methods import method_of
from annotators.judging.prompt_files import filled
from annotators.judging.question import JudgedPlace, JudgeMethod, JudgeQuestion, JudgeView, Judging, UnusableJudgement
from annotators.judging.sheet_answer import without_answer
from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.ids_and_clock import now, uuid7
from lab.core.label import Label
from lab.core.plain_text import plain
from lab.core.rating_sheet import FieldReference, Sheet, answer_to
from lab.core.seams import WaitCancelled
from lab.core.step import Usage
from lab.core.study import Study, Unit
from lab.core.task import Actor
from lab.llm.client import Llm, Message, NoModelAnswer
from lab.studies.judge_cost import dollars, tokens_back, tokens_sent
from lab.studies.judge_view import JudgeViews
from lab.studies.label_import import Rater, RowImport, check_rater, config_sha_of
from lab.studies.label_rows import LabelRow, NumberedRow
from lab.studies.paid_answers import JUDGED, PaidAnswer, PaidAnswers
from store.store import Store

if TYPE_CHECKING:
    from lab.ocr.reader import TextReader

SOURCE = "judge"
"""What labels of a judge say that they came from."""
_LOOK = 0.2
"""Seconds between two looks at whether the job is to end."""
_SILENT = 5
"""Questions in a row without an answer, and none answered before, after which the model is given up."""


class JudgeTerms(NamedTuple):
    """How a judge goes about it: how often each unit, how many questions at a time, for how many US dollars at most."""

    runs: int = 1
    concurrency: int = 4
    budget: float | None = None
    swaps: bool = True
    """Whether the sides of a pair are exchanged in every second run."""


class JudgeProgress(NamedTuple):
    """How far a job is: sheets handed in of those that were to do, questions asked and found again, dollars spent."""

    done: int
    total: int
    asked: int
    found: int
    spent: float


class FailedSheet(NamedTuple):
    """A sheet that is not done, and why."""

    unit: str
    run: int
    why: str


class JudgingDone(NamedTuple):
    """What became of a job. `unusable` sheets were handed in without an answer, with the reason."""

    progress: JudgeProgress
    unusable: int
    failed: tuple[FailedSheet, ...]
    ended: str
    """Why it ended before all was done; empty where it did not."""


class _Work:
    """A sheet under way: the method's generator, what it asks now, and what its answers cost so far."""

    def __init__(self, unit: Unit, run: int) -> None:
        self.unit, self.run = unit, run
        self.view: JudgeView
        self.judging: Judging
        self.question: JudgeQuestion | None = None
        self.asking: JudgeQuestion | None = None
        self.repairing = False
        self.usage = Usage(tries=0)
        self.expected = 0.0
        """US dollars that what is asked now will cost, about; nothing where no budget is kept."""


class JudgingJob:
    """One judge at one study. `judge` is whose labels they are; the hash of its `config` stands with each."""

    def __init__(
        self,
        store: Store,
        study: Study,
        judge: Actor,
        config: str,
        method: JudgeMethod,
        views: JudgeViews,
        terms: JudgeTerms,
    ) -> None:
        self.store, self.study, self.judge = store, study, judge
        self.method, self.views, self.terms = method, views, terms
        self._config = config
        self.config_sha = config_sha = config_sha_of(judge.id, config)
        self.paid = PaidAnswers(store, study, judge, config_sha)
        self._import = RowImport(store, study, Rater(judge.id, "model", 1, config_sha), SOURCE)
        self.closing = False
        """Set where nothing new is to be asked: what is under way is waited for."""
        self.stop = threading.Event()
        """Set where nothing is waited for any more."""
        self._spent, self._asked, self._found, self._done, self._unusable = 0.0, 0, 0, 0, 0
        self._failed: list[FailedSheet] = []
        self._pending: dict[Future[PaidAnswer], _Work] = {}
        self._waiting: dict[str, list[_Work]] = {}
        """Sheets that wait for the answer to a question that is asked once and under way, by its hash."""
        self._ended = ""

    # -- what is to do ---------------------------------------------------------------------------------------

    def sheets(self) -> list[tuple[Unit, int]]:
        """The sheets that this judge has not handed in, all runs of a unit together."""
        handed = {
            (act.unit, act.run)
            for act in self.store.labels.acts(self.study, self.judge.id)
            if act.act == "commit" and act.rater.kind == "model"
        }
        runs = range(1, self.terms.runs + 1)
        return [
            (unit, run)
            for unit in self.store.studies.units(self.study)
            if unit.play is None
            for run in runs
            if (unit.id, run) not in handed
        ]

    def first_questions(self, sheets: Sequence[tuple[Unit, int]]) -> Iterator[JudgeQuestion | None]:
        """The first question on each sheet; None where its answer was paid for before."""
        for unit, run in sheets:
            question = self.first_question(unit, run)
            yield None if self.paid.find(question, unit.id, run) is not None else question

    def first_question(self, unit: Unit, run: int) -> JudgeQuestion:
        """What is asked first on a sheet."""
        return next(self.method.judge(self.view(unit, run)))

    @property
    def has_begun(self) -> bool:
        """Whether this judge has paid for or said anything here."""
        acts = self.store.labels.acts_of(self.study, JUDGED)
        return any(act.rater == self.judge for act in acts)

    def sign(self) -> None:
        """Keeps what the model is asked with, so that its hash can be looked up; `LabError` where that was another."""
        for label in self.store.labels.read(self.study, rater=self.judge.id):
            if label.rater.kind == "model" and label.config_sha != self.config_sha:
                raise LabError(
                    "judge", f"{plain(self.judge.id)} has judged here by other prompts or terms "
                    f"({label.config_sha[:12]}, now {self.config_sha[:12]}).",
                    "Another prompt is another judge: give it another name with --as.",
                )  # fmt: skip
        self._import.keep_config(self.judge, self._config)

    def view(self, unit: Unit, run: int) -> JudgeView:
        return self.views.view(unit, swapped=self.terms.swaps and run % 2 == 0)

    # -- doing it --------------------------------------------------------------------------------------------

    def go(self, llm: Llm, tell: Callable[[JudgeProgress], None] = lambda progress: None) -> JudgingDone:
        """Judges all that is to do; ends early where the budget is spent, `closing` is set or the model is silent."""
        queue = deque(self.sheets())
        total = len(queue)
        prices = llm.prices() if self.terms.budget is not None else None
        with ThreadPoolExecutor(self.terms.concurrency, thread_name_prefix="judge") as pool:

            def ask(work: _Work) -> None:
                self._ask(work, prices, lambda question: pool.submit(self._answer, llm, question))

            try:
                while (queue and not self._is_over()) or self._pending:
                    while queue and len(self._pending) < self.terms.concurrency and not self._is_over():
                        work = _Work(*queue.popleft())
                        if self._begun(work):
                            ask(work)
                        tell(self._progress(total))
                    for future in wait(self._pending, _LOOK, FIRST_COMPLETED).done:
                        for work in self._came(future):
                            ask(work)
                    tell(self._progress(total))
            except BaseException:
                self.stop.set()
                raise
        return JudgingDone(self._progress(total), self._unusable, tuple(self._failed), self._ended)

    def _ask(
        self,
        work: _Work,
        prices: tuple[float, float] | None,
        submit: Callable[[JudgeQuestion], Future[PaidAnswer]],
    ) -> None:
        """Asks what a sheet asks now; one that is asked once, and is under way for another sheet, is waited for."""
        question = work.asking
        assert question is not None
        if question.once and question.sha in self._waiting:
            self._waiting[question.sha].append(work)
        elif self._affords(work, question, prices):
            self._asked += 1
            self._pending[submit(question)] = work
            if question.once:
                self._waiting[question.sha] = []

    def _came(self, future: Future[PaidAnswer]) -> list[_Work]:
        """The sheets that have a further question after an answer: the one that asked, and those that waited for it."""
        work = self._pending.pop(future)
        asked = work.asking
        assert asked is not None
        released = self._waiting.pop(asked.sha, []) if asked.once else []
        further = [work] if self._answered(work, future) else []
        for other in released:
            found = self.paid.find(asked, other.unit.id, other.run)
            self._found += found is not None
            if found is None or self._go_on(other, found):
                further.append(other)
        return further

    def _progress(self, total: int) -> JudgeProgress:
        return JudgeProgress(self._done, total, self._asked, self._found, self._spent)

    def _affords(self, work: _Work, question: JudgeQuestion, prices: tuple[float, float] | None) -> bool:
        """Whether a question may be asked; of a sheet that is left so, all that was paid for is kept."""
        budget = self.terms.budget
        work.expected = dollars(tokens_sent(question), tokens_back(work.view), prices) if prices is not None else 0.0
        others = sum(one.expected for one in self._pending.values())
        if budget is not None and self._spent + work.expected + others > budget:
            self._ended = f"the budget of {budget:g} US dollars does not reach for the next question"
        return not self._ended

    def _is_over(self) -> bool:
        """Whether nothing more is to be asked."""
        if self.closing:
            self._ended = self._ended or "it was interrupted"
        elif len(self._failed) >= _SILENT and not self._done and self._asked == len(self._failed) + len(self._pending):
            self._ended = f"the model gave no answer to {len(self._failed)} questions"
        return bool(self._ended)

    def _answer(self, llm: Llm, question: JudgeQuestion) -> PaidAnswer:
        answer = llm.ask(question.messages, self.stop, question.schema)
        return PaidAnswer(answer.text, answer.usage)

    def _begun(self, work: _Work) -> bool:
        """Begins a sheet; whether it has a question that must be paid for, else it is done."""
        work.view = self.view(work.unit, work.run)
        work.judging = self.method.judge(work.view)
        return self._go_on(work, None)

    def _answered(self, work: _Work, future: Future[PaidAnswer]) -> bool:
        """Keeps an answer, and goes on from it; whether the sheet has a further question, else it is done or failed."""
        assert work.asking is not None
        try:
            answer = future.result()
        except NoModelAnswer as error:
            self._spent += error.usage.cost or 0.0
            self._failed.append(FailedSheet(work.unit.id, work.run, error.sentence))
            return False
        except WaitCancelled:
            return False
        self.paid.keep(work.asking, work.unit.id, work.run, answer)
        self._spent += answer.usage.cost or 0.0
        return self._go_on(work, answer)

    def _go_on(self, work: _Work, answer: PaidAnswer | None) -> bool:
        """Goes on from an answer, or from the beginning, by all that was paid for before; as `_answered`."""
        while True:
            try:
                work.asking = _next(work, answer)
            except StopIteration as end:
                self._keep(work, end.value)
                return False
            except UnusableJudgement as problem:
                self._unusable += 1
                self._keep(work, without_answer(work.view, f"no usable answer: {problem}"))
                return False
            answer = self.paid.find(work.asking, work.unit.id, work.run)
            if answer is None:
                return True
            self._found += 1

    # -- keeping it ------------------------------------------------------------------------------------------

    def _keep(self, work: _Work, places: Sequence[JudgedPlace]) -> None:
        """Writes a sheet and hands it in; the first label has the cost of all."""
        says = [self._label_maker(work, place, first=not n) for n, place in enumerate(places)]
        try:
            self.store.labels.record_each(self.study, work.unit, self.judge, work.run, says)
            row = LabelRow(work.unit.id, run=work.run, commit=True)
            done = self._import.take(NumberedRow(f"unit {work.unit.id}", 0, row))
        except LabError as error:
            self._failed.append(FailedSheet(work.unit.id, work.run, error.sentence))
            return
        if done.error:
            self._failed.append(FailedSheet(work.unit.id, work.run, done.error))
            return
        self._done += 1

    def _label_maker(self, work: _Work, place: JudgedPlace, *, first: bool) -> Callable[[Sheet], Label | None]:
        study, protocol = self.study, self.study.protocol
        run = work.view.runs[place.run].id if place.step is not None and work.view.runs else None
        label = Label(
            uuid7(), study.id, study.version, work.unit.id, place.target, place.field, self.judge,
            value=place.value, run=work.run, reason_missing=place.missing, confidence=place.confidence,
            evidence=f"{run}@{place.step}" if run is not None else None, note=place.note, at=now(),
            guide_sha=protocol.guide_sha(study.locale), protocol_sha=protocol.sha, config_sha=self.config_sha,
            source=SOURCE, cost=work.usage.cost if first else None,
        )  # fmt: skip

        def say(sheet: Sheet) -> Label | None:
            spot = FieldReference(place.target, place.field)
            return answer_to(sheet, label) if sheet.asked(spot) and sheet.head(spot) is None else None

        return say


def job_of(
    store: Store,
    study: Study,
    name: str,
    llm: Llm,
    method: str,
    terms: JudgeTerms,
    *,
    most: int,
    longest: int,
    reads: bool,
) -> JudgingJob:
    """A job by what a person types; `LabError` where the name is one of the study's people, or no method is so called.

    `most` pictures of at most `longest` pixels go into a question; `reads` says whether words that were read from
    pictures before are told where a screen has no others.
    """
    judge = check_rater(study, name, "model", "", "judge")
    chosen = method_of(study.protocol, method)
    config = {
        "model": llm.model,
        "method": chosen.name,
        "prompts": chosen.version,
        "temperature": llm.terms.temperature,
        "tokens": llm.terms.tokens,
        "pictures": most,
        "longest": longest,
        "swaps": terms.swaps,
    }
    views = JudgeViews(store, study, longest=longest if most else 0, most=most, reader=_reader() if reads else None)
    return JudgingJob(store, study, judge, encode(config).decode(), chosen, views, terms)


def _reader() -> TextReader | None:
    """What was read of pictures before, where the extra that reads them is installed."""
    from lab.ocr.reader import TextReader

    try:
        return TextReader()
    except LabError:
        return None


def _next(work: _Work, answer: PaidAnswer | None) -> JudgeQuestion:
    """The question after an answer; one that says nothing usable is repaired once, and then thrown into the method.

    Raises `StopIteration` with what is said of the sheet at its end, `UnusableJudgement` where the method gives up.
    """
    if answer is None:
        work.question = next(work.judging)
        return work.question
    assert work.question is not None
    work.usage = work.usage.plus(answer.usage)
    try:
        value = work.question.read(answer.text)
    except UnusableJudgement as problem:
        if not work.repairing:
            work.repairing = True
            return repair_of(work.question, answer.text, str(problem))
        work.question = work.judging.throw(UnusableJudgement(str(problem)))
    else:
        work.question = work.judging.send(value)
    work.repairing = False
    return work.question


def repair_of(question: JudgeQuestion, text: str, problem: str) -> JudgeQuestion:
    """The same question with the answer that could not be used, and what was wrong with it."""
    words = filled("annotators.judging", "repair.md", problem=problem)
    more = (Message("assistant", (text,)), Message("user", (words,)))
    return question._replace(stage=f"{question.stage}, repaired", messages=(*question.messages, *more))
