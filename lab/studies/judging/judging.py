"""LLM judging of a study: a method's questions for each sheet, each paid answer stored before it is used.

One thread visits the sheets and alone reads and writes the file. Other threads or machines (`ModelExecutor`) ask the
models. Paid answers survive a crash, so a restarted job asks only the rest. Only the sheets in progress are in memory,
however many there are. Answers that arrive together are committed together, and so are the sheets that follow: nothing
is used or counted before its commit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait

import msgspec

from annotators.judging.question import JudgedPlace, JudgeMethod, JudgeQuestion, JudgeView, UnusableJudgement
from annotators.judging.sheet_answer import unanswered_places
from annotators.validation.judge_config import config_changes, judge_configs
from annotators.validation.study_split import StudySplit
from lab.core.errors import LabError
from lab.core.seams import WaitCancelled
from lab.core.study.label import Label
from lab.core.study.rating_sheet import FieldReference, Sheet, answer_to
from lab.core.study.signing import sign_act, sign_label
from lab.core.study.study import Assignment, Study, Unit
from lab.core.task.task import Actor
from lab.core.text.plain_text import plain
from lab.llm.client import Llm, ModelAnswer, NoModelAnswer
from lab.llm.executor import ModelExecutor, ModelQuestion, ThreadExecutor, closing_executor
from lab.studies.judging.judge_cost import dollars, tokens_back, tokens_sent
from lab.studies.judging.judge_sheet import SheetWork, next_question
from lab.studies.judging.judge_terms import FailedSheet, JobProgress, JudgeTerms, JudgingDone
from lab.studies.judging.judge_view import JudgeViews
from lab.studies.judging.paid_answers import KeptAnswer, PaidAnswer, PaidAnswers
from lab.studies.planning.study_places import check_goes_on
from lab.studies.rating.rating_session import RatingSession
from lab.studies.settling.label_import import Rater, RowImport, config_sha_of
from store.store import Store

_LOOK = 0.2
"""Seconds between two checks for the end of the job."""
_TOGETHER = 64
"""Maximum number of sheets in one transaction, to bound how long other writers wait."""
_SILENT = 5
"""Unanswered questions after which the model is given up, if it has answered none."""


class JudgingJob:
    """One judge at one study. `judge` signs the labels, and each carries the hash of `config`."""

    def __init__(
        self,
        store: Store,
        study: Study,
        judge: Actor,
        config: str,
        method: JudgeMethod,
        views: JudgeViews,
        terms: JudgeTerms,
        stages: Mapping[str, Llm] = {},  # never written to
        split: StudySplit | None = None,
    ) -> None:
        self.store, self.study, self.judge = store, study, judge
        self.method, self.views, self.terms = method, views, terms
        self.split = split
        """The study's split, None if this job does not need it."""
        self.stages = stages
        """Models of single stages, in place of the judge's own."""
        self._config = config
        self.config_sha = config_sha = config_sha_of(judge.id, config)
        self.paid = PaidAnswers(store, study, judge, config_sha)
        self._labels = JudgeLabels(store, study, judge, config_sha)
        self._import = RowImport(store, study, Rater(judge.id, "model", 1, config_sha), SOURCE)
        self.closing = False
        """Set to ask nothing new. Questions in progress are awaited."""
        self.stop = threading.Event()
        """Set to stop waiting too."""
        self.spent, self.asked, self.found, self.done, self.unusable = 0.0, 0, 0, 0, 0
        self.unpriced, self.reckoned = 0, 0.0
        """Number of answers with unknown cost, and their estimated cost, which the budget counts."""
        self.missing = 0
        """Questions to which the model's reply contained no answer."""
        self.without: set[str] = set()
        """Request parameters that the model's server refused and that were left out."""
        self.failed: list[FailedSheet] = []
        self._pending: dict[Future[ModelAnswer], SheetWork] = {}
        self._finished: list[tuple[SheetWork, Sequence[JudgedPlace]]] = []
        """Sheets that are complete but not written yet."""
        self._waiting: dict[str, list[SheetWork]] = {}
        """Sheets that wait for the answer to a shared question in progress, by its hash."""
        self.ended = ""

    # -- what is to do ---------------------------------------------------------------------------------------

    def sheets(self) -> Iterator[tuple[Unit, int]]:
        """Yield the sheets that this judge has not handed in, unit by unit, except those that a rule answers."""
        part = None if self.split is None or self.terms.split is None else {*self.split.units(self.terms.split)}
        for unit in self.store.studies.units(self.study):
            if unit.play is not None or unit.mechanical or unit.practice or (part is not None and unit.id not in part):
                continue
            acts = self.store.labels.acts(self.study, self.judge.id, unit.id)
            handed = {act.run for act in acts if act.act == "commit" and act.rater.kind == "model"}
            yield from ((unit, run) for run in range(1, self.terms.runs + 1) if run not in handed)

    def first_question(self, unit: Unit, run: int) -> JudgeQuestion:
        """Return the first question of a sheet."""
        return next(self.method.judge(self.view(unit, run)))

    def model_of(self, question: JudgeQuestion, llm: Llm) -> Llm:
        """Return the model for a question: the one of its stage, else the judge's own."""
        return self.stages.get(question.base_stage, llm)

    @property
    def has_begun(self) -> bool:
        """True if this judge has stored an answer in this study."""
        return self.store.labels.count_acts(self.study, self.judge.id, "judged") > 0

    def sign(self) -> None:
        """Record the judge's configuration under its hash. Raise `LabError` if it differs from an earlier one."""
        for known in sorted(self.store.labels.config_hashes(self.study, self.judge.id) - {self.config_sha}):
            changes = self._describe_changes(known)
            raise LabError(
                "judge", f"{plain(self.judge.id)} has judged here by other prompts or terms "
                f"({known[:12]}, now {self.config_sha[:12]}){f': {changes}' if changes else ''}.",
                "Another prompt is another judge: give it another name with --person.",
            )  # fmt: skip
        self._import.keep_config(self.judge, self._config)

    def _describe_changes(self, config_sha: str) -> str:
        """Describe how an earlier configuration differs from this one, empty if it was not recorded."""
        acts = self.store.labels.each_act(self.study, self.judge.id, "sat")
        kept = judge_configs((act for act in acts if act.detail.get("config_sha") == config_sha), self.judge.id)
        before = next(kept, None)
        return plain(config_changes(before, msgspec.json.decode(self._config)), lines=False) if before else ""

    def view(self, unit: Unit, run: int) -> JudgeView:
        # Every second run exchanges the sides, against position bias.
        return self.views.view(unit, swapped=self.terms.swaps and run % 2 == 0)

    # -- doing it --------------------------------------------------------------------------------------------

    def run(
        self,
        llm: Llm,
        tell: Callable[[JobProgress], None] = lambda progress: None,
        executor: ModelExecutor | None = None,
    ) -> JudgingDone:
        """Judge all open sheets. Stop early if the budget is spent, `closing` is set or the model does not answer.

        `executor` asks the model, by default on threads of this process, as many as the terms say.
        """
        total = sum(1 for _ in self.sheets())
        queue = self.sheets()
        following = next(queue, None)
        with closing_executor(executor or ThreadExecutor(self.terms.concurrency, self.stop), self.stop) as asking:

            def ask(work: SheetWork) -> None:
                assert work.asking is not None
                model = work.model = self.model_of(work.asking, llm)
                self._submit_question(
                    work, lambda asked: asking.submit(ModelQuestion(model, asked.messages, asked.schema))
                )

            while (following is not None and not self._is_over()) or self._pending:
                while following is not None and len(self._pending) < asking.width and not self._is_over():
                    work = SheetWork(*following)
                    if self.begin(work):
                        ask(work)
                    self.hand_in(most=True)
                    tell(self.progress(total))
                    following = next(queue, None)
                for work in self._receive_answers(wait(self._pending, _LOOK, FIRST_COMPLETED).done):
                    ask(work)
                self.hand_in()
                tell(self.progress(total))
        return JudgingDone(
            self.progress(total),
            self.unusable,
            tuple(self.failed),
            self.ended,
            self.unpriced,
            tuple(sorted(self.without)),
        )

    def _submit_question(
        self,
        work: SheetWork,
        submit: Callable[[JudgeQuestion], Future[ModelAnswer]],
    ) -> None:
        """Submit a sheet's current question, or wait if another sheet has asked the same shared question."""
        question = work.asking
        assert question is not None
        if question.serves_all_runs and question.sha in self._waiting:
            self._waiting[question.sha].append(work)
        elif self._affords(work, question):
            self.asked += 1
            self._pending[submit(question)] = work
            if question.serves_all_runs:
                self._waiting[question.sha] = []

    def _receive_answers(self, futures: Collection[Future[ModelAnswer]]) -> Iterator[SheetWork]:
        """Store the answers that arrived. Yield the sheets with a further question to ask."""
        for work, answer in self._store_answers([(self._pending.pop(future), future) for future in futures]):
            asked = work.asking
            assert asked is not None
            released = self._waiting.pop(asked.sha, []) if asked.serves_all_runs else []
            if answer is not None and self._go_on(work, answer):
                yield work
            # These waited for the answer to the shared question. It is in the file now, unless its asker got none.
            for other in released:
                found = self.paid.find(asked, other.unit.id, other.run)
                self.found += found is not None
                if found is None or self._go_on(other, found):
                    yield other

    def _store_answers(
        self, came: Sequence[tuple[SheetWork, Future[ModelAnswer]]]
    ) -> list[tuple[SheetWork, PaidAnswer | None]]:
        """Return each sheet with its stored answer, in one transaction. The answer is None if its question got none."""
        found: list[tuple[SheetWork, PaidAnswer | None]] = []
        lost: LabError | None = None
        for work, future in came:
            answer = None
            try:
                answer = PaidAnswer.from_answer(future.result(), work.model.model)
            except NoModelAnswer as error:
                if error.said:
                    self.missing += 1
                    answer = PaidAnswer.without_answer(error, work.model.model)
                else:
                    self.spent += error.usage.cost or 0.0
                    self.failed.append(FailedSheet(work.unit.id, work.run, error.sentence))
            except WaitCancelled:
                pass
            except LabError as error:
                lost = error
            found.append((work, answer))
        paid = [
            KeptAnswer.from_question(work.asking, work.unit.id, work.run, answer, work.expected)
            for work, answer in found
            if answer is not None and work.asking is not None
        ]
        self.store_paid(paid)
        if lost is not None:
            # Raised only now: the other answers are paid for and had to be stored first.
            raise lost
        return found

    def store_paid(self, paid: Sequence[KeptAnswer]) -> None:
        """Store paid answers and add their cost, or the estimate if the price is unknown."""
        self.paid.keep(paid)
        unpriced = [one for one in paid if one.answer.usage.cost is None]
        self.spent += sum(one.answer.usage.cost or 0.0 for one in paid)
        self.unpriced += len(unpriced)
        self.without.update(*(one.answer.usage.without for one in paid))
        self.reckoned += sum(one.expected for one in unpriced)

    def progress(self, total: int) -> JobProgress:
        return JobProgress(self.done, total, self.asked, self.found, self.spent)

    def _affords(self, work: SheetWork, question: JudgeQuestion) -> bool:
        """Return True if the budget covers a question. A sheet left without it loses nothing that was paid for."""
        budget = self.terms.budget
        prices = work.model.prices() if budget is not None else None
        work.expected = dollars(tokens_sent(question), tokens_back(work.view), prices) if prices is not None else 0.0
        # Questions in progress will cost something too.
        others = sum(one.expected for one in self._pending.values())
        if budget is not None and self.spent + self.reckoned + work.expected + others > budget:
            self.ended = f"the budget of {budget:g} US dollars does not reach for the next question"
        return not self._is_over()

    def _is_over(self) -> bool:
        """Return True if nothing more is to be asked."""
        if self.closing:
            self.ended = self.ended or "it was interrupted"
            return True
        unanswered = len(self.failed) + self.missing
        none_answered = self.done <= self.missing and self.asked == unanswered + len(self._pending)
        if unanswered >= _SILENT and none_answered:
            self.ended = f"the model gave no answer to {unanswered} questions"
        return bool(self.ended)

    def begin(self, work: SheetWork) -> bool:
        """Start a sheet. Return True if it has a question to pay for, False if it is complete."""
        work.view = self.view(work.unit, work.run)
        work.usage = self.paid.empty_usage(work.unit.id, work.run)
        work.judging = self.method.judge(work.view)
        return self._go_on(work, None)

    def _go_on(self, work: SheetWork, answer: PaidAnswer | None) -> bool:
        """Advance a sheet from an answer (None: the start) through all answers that were paid for before.

        Return True if it has a further question to pay for, False if it is complete.
        """
        while True:
            try:
                work.asking = next_question(work, answer)
            except StopIteration as end:
                self._finished.append((work, end.value))
                return False
            except UnusableJudgement as problem:
                self.unusable += 1
                self._finished.append((work, unanswered_places(work.view, f"no usable answer: {problem}")))
                return False
            answer = self.paid.find(work.asking, work.unit.id, work.run)
            if answer is None:
                return True
            self.found += 1

    # -- keeping it ------------------------------------------------------------------------------------------

    def hand_in(self, *, most: bool = False) -> None:
        """Write the complete sheets in one transaction, then count them.

        With `most`, only if there are as many as one transaction takes.
        """
        if not self._finished or (most and len(self._finished) < _TOGETHER):
            return
        finished, self._finished = self._finished, []
        failed: list[FailedSheet] = []
        with self.store.labels.together():
            for work, places in finished:
                try:
                    self._write_sheet(work, places)
                except LabError as error:
                    failed.append(FailedSheet(work.unit.id, work.run, error.sentence))
        self.failed += failed
        self.done += len(finished) - len(failed)
        if failed and not self.ended:
            self.end_where_closed()

    def end_where_closed(self) -> bool:
        """End the job with a reason if the study was locked, extended or archived meanwhile. Return True if so."""
        try:
            check_goes_on(self.store, self.study)
        except LabError as error:
            self.ended = f"the study {error.message.rstrip('.')}"
            return True
        return False

    def _write_sheet(self, work: SheetWork, places: Sequence[JudgedPlace]) -> None:
        """Write a sheet. If the label rules refuse its answers, write it without answers if they allow that."""
        try:
            self._labels.write(work, places)
        except LabError as error:
            try:
                self._labels.write(work, unanswered_places(work.view, f"no usable answer: {error.body}"))
            except LabError:
                raise error from None
            self.unusable += 1


SOURCE = "judge"
"""Source of a judge's labels."""


class JudgeLabels:
    """Writes a judge's sheets. Each label carries `config_sha`, the hash of the judge's configuration."""

    def __init__(self, store: Store, study: Study, judge: Actor, config_sha: str) -> None:
        self._store, self._study = store, study
        self._judge, self._config_sha = judge, config_sha

    def write(self, work: SheetWork, places: Sequence[JudgedPlace]) -> None:
        """Write a sheet and hand it in, in one transaction. The first label carries the sheet's cost."""
        study, unit, run = self._study, work.unit, work.run
        says = [self._label_maker(work, place, first=not n) for n, place in enumerate(places)]
        with self._store.labels.savepoint():
            sheet = self._store.labels.record_each(study, unit, self._judge, run, says)
            if sheet.committed:
                return
            # A gold unit's hand-in goes through the session, which checks it against the gold.
            if not unit.gold:
                self._store.labels.hand_in(study, unit, sign_act(study, self._judge, "commit", unit.id, run))
                return
            session = RatingSession(self._store, study, self._judge, source=SOURCE)
            session.assignment = Assignment(study.id, study.version, self._judge.id, 0, unit.id, run=run)
            session.unit, session.sheet = unit, sheet
            session.commit()

    def _label_maker(self, work: SheetWork, place: JudgedPlace, *, first: bool) -> Callable[[Sheet], Label | None]:
        spot = FieldReference(place.target, place.field)
        run = work.view.runs[place.run].id if place.step is not None and work.view.runs else None
        label = sign_label(
            self._study, work.unit, self._judge, spot, source=SOURCE, run=work.run, config_sha=self._config_sha,
            value=place.value, reason_missing=place.missing, confidence=place.confidence, note=place.note,
            evidence=f"{run}@{place.step}" if run is not None else None, cost=work.usage.cost if first else None,
        )  # fmt: skip

        def say(sheet: Sheet) -> Label | None:
            return answer_to(sheet, label) if sheet.asks(spot) and sheet.head(spot) is None else None

        return say
