"""Judging through a provider's batch API, at half the price, in rounds that survive a crash.

A round visits all sheets, fills in the answers that arrived, and writes the next question of each sheet into a file for
each model, which it uploads. The intention to start a batch and its questions are in the study's file before the
provider is asked, and its id as soon as it is known. A later process fetches the results. No sheet stays in memory
between rounds.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from typing import IO, Any, NamedTuple

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.study.label import ActKind
from lab.core.study.signing import sign_act
from lab.core.text.plain_text import plain
from lab.core.values.ids_and_clock import uuid7
from lab.llm.batch import BatchAnswer, BatchApi, BatchState
from lab.llm.client import Llm
from lab.studies.judging.judge_cost import dollars, tokens_back, tokens_sent
from lab.studies.judging.judge_sheet import SheetWork
from lab.studies.judging.judge_terms import JobProgress, JudgingDone
from lab.studies.judging.judging import JudgingJob
from lab.studies.judging.paid_answers import KeptAnswer, PaidAnswer

BATCHED: ActKind = "batched"
"""Kind of the acts that record a batch's questions, its id, and that its results were fetched."""
_MOST = 5_000
"""Questions in one batch."""
_BYTES = 90 * 1024 * 1024
"""Bytes of one batch's file. Providers accept 100 to 200 MB."""
_KEPT = 200
"""Results committed in one transaction."""
_ALONE = 2
"""Batches without an answer to a question after which it is asked alone, at the full price."""
_PAUSE = 20.0
"""Seconds between two polls of a batch."""
# Seconds between two checks for an interruption.
_LOOK = 0.2


class BatchedQuestion(NamedTuple):
    """A question of a batch with the keys of its answer. `expected` is its estimated cost in US dollars."""

    custom_id: str
    unit: str
    run: int
    sha: str
    stage: str
    once: bool
    expected: float


class OpenBatch(NamedTuple):
    """A model's batch whose results were not fetched yet. `id` is empty if the provider never confirmed it."""

    mark: str
    id: str
    expected: float
    """Estimated cost in US dollars."""
    model: str


class BatchDraft:
    """Questions to one model for the next batch, in a temporary file."""

    def __init__(self) -> None:
        self.questions: list[BatchedQuestion] = []
        self.file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it

    @property
    def full(self) -> bool:
        return len(self.questions) >= _MOST or self.file.tell() >= _BYTES

    def add(self, question: BatchedQuestion, line: bytes) -> None:
        self.questions.append(question)
        self.file.write(line)

    def clear(self) -> None:
        """Empty the draft."""
        self.questions = []
        self.file.seek(0)
        self.file.truncate()


class BatchJudging:
    """Runs a judging job in batches of one model each. `pause` is the seconds between two polls of a batch."""

    def __init__(self, job: JudgingJob, llm: Llm, pause: float = _PAUSE) -> None:
        self.job, self._llm, self._pause = job, llm, pause
        self._apis = {one.model: BatchApi(one, job.stop) for one in (llm, *job.stages.values())}
        self._missed: Counter[str] = Counter()
        """Number of batches that left a question without an answer, by its custom id."""
        self._expected = 0.0
        """Estimated cost of the open batches in US dollars."""

    def check(self) -> None:
        """Raise `LabError` if litellm reaches no batch API of a model's provider."""
        for api in self._apis.values():
            api.check()

    @property
    def has_begun(self) -> bool:
        """True if this judge has sent a batch in this study."""
        job = self.job
        return job.store.labels.count_acts(job.study, job.judge.id, BATCHED) > 0

    def check_none_open(self) -> None:
        """Raise `LabError` if a batch is open: asking its questions alone would pay for them twice."""
        if batches := self._read_batches():
            ids = ", ".join(batch.id or "one that nobody heard of" for batch in batches)
            raise LabError(
                "judge", f"questions of {plain(self.job.judge.id)} are in a batch at their provider ({ids}).",
                "With --batch the same line takes its answers; asked alone they would be paid for twice.",
            )  # fmt: skip

    def go(self, tell: Callable[[JobProgress], None] = lambda progress: None) -> JudgingDone:
        """Fetch the results of earlier batches and send further ones until no question is left for a batch.

        Stop early if the budget is spent or `closing` is set. An open batch then continues at its provider.
        """
        job = self.job
        total = sum(1 for _ in job.sheets())
        batches = self._earlier_batches()
        already_paid: int | None = None
        while True:
            self._expected = sum(batch.expected for batch in batches)
            waiting = [batch for batch in batches if not self._await_batch(batch, lambda: tell(job.progress(total)))]
            if waiting:
                ids = ", ".join(batch.id for batch in waiting)
                job.ended = f"it was interrupted; at its provider {ids} goes on, and the same line takes its answers"
                break
            batches = self._send_round(lambda: tell(job.progress(total)))
            already_paid = job.found if already_paid is None else already_paid
            # Each round visits the sheets anew and would count this job's own answers as found.
            job.found = already_paid
            if not batches:
                break
        if not job.ended and any(self._missed[one] >= _ALONE for one in self._missed):
            return self._ask_unanswered(tell, total)
        return JudgingDone(
            job.progress(total), job.unusable, tuple(job.failed), job.ended, job.unpriced, tuple(sorted(job.without))
        )

    def _ask_unanswered(self, tell: Callable[[JobProgress], None], total: int) -> JudgingDone:
        """Ask the questions that no batch answered one by one. Count them in the job's progress."""
        already_paid = self.job.found

        def whole(progress: JobProgress) -> JobProgress:
            return progress._replace(total=total, found=already_paid)

        outcome = self.job.run(self._llm, lambda progress: tell(whole(progress)))
        return outcome._replace(progress=whole(outcome.progress))

    # -- taking results ------------------------------------------------------------------------------------------

    def _await_batch(self, batch: OpenBatch, tell: Callable[[], None]) -> bool:
        """Wait for a batch and store its answers. Return False if the job closes before the batch ends."""
        # Negative, so that the first poll is at once: the batch may have ended long ago.
        looked = -self._pause
        while not self.job.closing:
            if time.monotonic() - looked >= self._pause or looked < 0:
                looked = time.monotonic()
                state = self._apis[batch.model].state(batch.id)
                if state.ended:
                    self._store_batch(batch, state)
                    return True
                tell()
            if self.job.stop.wait(min(_LOOK, self._pause)):
                return False
        return False

    def _store_batch(self, batch: OpenBatch, state: BatchState) -> None:
        """Store a batch's answers, each once, and then record that its results were fetched."""
        questions = self._batch_questions(batch.mark)
        answered_ids: set[str] = set()
        taken_ids: set[str] = set()
        answers: list[KeptAnswer] = []
        for file in state.files:
            for result in self._apis[batch.model].results(file):
                question = questions.get(result.custom_id)
                answer = _paid_answer(result, batch)
                if question is None or answer is None or question.custom_id in taken_ids:
                    continue
                taken_ids.add(question.custom_id)
                # An empty result is stored for its cost, but its question counts as unanswered.
                answered_ids |= set() if answer.batch else {question.custom_id}
                answers.append(_kept_answer(question, answer))
                if len(answers) >= _KEPT:
                    self._commit(answers)
                    answers = []
        self._commit(answers)
        self._record_state({"mark": batch.mark, "batch": batch.id, "ended": state.status})
        self._expected -= batch.expected
        self._missed.update(questions.keys() - answered_ids)
        if not answered_ids and state.status in ("failed", "cancelled"):
            raise LabError(
                f"batch {batch.id}", f"{state.status} at its provider ({state.why or 'no reason given'}).",
                "Nothing of it was answered. Without --batch the same line asks at once.",
            )  # fmt: skip

    def _commit(self, answers: list[KeptAnswer]) -> None:
        """Store the answers that are not in the file yet."""
        # After a crash between two commits, the next process fetches the same results again.
        self.job.store_paid([one for one in answers if not self.job.paid.contains(one)])

    # -- sending -------------------------------------------------------------------------------------------------

    def _send_round(self, tell: Callable[[], None]) -> list[OpenBatch]:
        """Visit all sheets, hand in the complete ones, send the next questions and return the batches sent."""
        job = self.job
        batches: list[OpenBatch] = []
        asked_ids: set[str] = set()
        with ExitStack() as files:
            drafts: dict[str, BatchDraft] = {}
            for model in self._apis:
                drafts[model] = BatchDraft()
                files.enter_context(drafts[model].file)
            for unit, run in job.sheets():
                if job.closing:
                    break
                work = SheetWork(unit, run)
                if job.begin(work) and not job.ended:
                    batches += self._add_to_draft(work, drafts, asked_ids)
                job.hand_in(most=True)
                tell()
            job.hand_in()
            for model, draft in drafts.items():
                batches += self._start_batch(model, draft)
        if job.closing and not job.ended:
            job.ended = "it was interrupted"
        return batches

    def _add_to_draft(
        self, work: SheetWork, drafts: Mapping[str, BatchDraft], asked_ids: set[str]
    ) -> Iterator[OpenBatch]:
        """Add a sheet's next question to its model's draft, unless another sheet asks it too. Send a full draft."""
        question = work.asking
        assert question is not None
        llm = self.job.model_of(question, self._llm)
        entry = self._batched_question(work, llm.batch_prices())
        if (
            entry.custom_id in asked_ids
            or self._missed.get(entry.custom_id, 0) >= _ALONE
            or not self._reserve_budget(entry)
        ):
            return
        asked_ids |= {entry.custom_id} if entry.once else set()
        draft = drafts[llm.model]
        draft.add(entry, self._apis[llm.model].line(entry.custom_id, question.messages, question.schema))
        if draft.full:
            yield from self._start_batch(llm.model, draft)

    def _batched_question(self, work: SheetWork, prices: tuple[float, float] | None) -> BatchedQuestion:
        question = work.asking
        assert question is not None
        # A question asked once for all sheets (`once`) has one id, so that a batch holds it once.
        sheet = ("", 0) if question.serves_all_runs else (work.unit.id, work.run)
        custom_id = hashlib.sha256(encode([question.sha, self.job.config_sha, *sheet])).hexdigest()[:48]
        expected = dollars(tokens_sent(question), tokens_back(work.view), prices) if prices is not None else 0.0
        return BatchedQuestion(
            custom_id, work.unit.id, work.run, question.sha, question.stage, question.serves_all_runs, expected
        )

    def _reserve_budget(self, one: BatchedQuestion) -> bool:
        """Return True and reserve the cost if the budget covers a question beside all that is sent."""
        budget = self.job.terms.budget
        if budget is not None and self.job.spent + self.job.reckoned + self._expected + one.expected > budget:
            self.job.ended = f"the budget of {budget:g} US dollars does not reach for the next question"
            return False
        self._expected += one.expected
        return True

    def _start_batch(self, model: str, draft: BatchDraft) -> list[OpenBatch]:
        """Start a batch of a draft. Return nothing if it is empty or the job is closing."""
        if not draft.questions or self.job.closing or self.job.end_where_closed():
            return []
        return [self._start_from_draft(model, draft)]

    def _start_from_draft(self, model: str, draft: BatchDraft) -> OpenBatch:
        """Start a batch of a draft and empty the draft."""
        mark, api, questions = uuid7(), self._apis[model], draft.questions
        file_id = api.upload(draft.file)
        # Recorded before the provider starts it: after a crash `_opened` finds the paid batch again by its mark.
        self._record_state({"mark": mark, "model": model, "questions": [list(one) for one in questions]})
        batch = api.begin(file_id, mark)
        self._record_state({"mark": mark, "batch": batch})
        draft.clear()
        self.job.asked += len(questions)
        return OpenBatch(mark, batch, sum(one.expected for one in questions), model)

    # -- what was sent before ------------------------------------------------------------------------------------

    def _earlier_batches(self) -> list[OpenBatch]:
        """Return the unfetched batches of earlier processes. Look up at the provider those without an id."""
        batches = []
        for batch in self._read_batches():
            if batch.id:
                batches.append(batch)
            elif id := self._apis[batch.model].find(batch.mark):
                self._record_state({"mark": batch.mark, "batch": id})
                batches.append(batch._replace(id=id))
            else:
                self._record_state({"mark": batch.mark, "ended": "never begun"})
        return batches

    def _read_batches(self) -> Collection[OpenBatch]:
        batches: dict[str, OpenBatch] = {}
        for detail in self._batch_notes():
            mark = detail["mark"]
            if "ended" in detail:
                batches.pop(mark, None)
            elif "questions" in detail:
                expected = sum(BatchedQuestion(*one).expected for one in detail["questions"])
                batches[mark] = OpenBatch(mark, "", expected, detail.get("model", self._llm.model))
            elif mark in batches:
                batches[mark] = batches[mark]._replace(id=detail["batch"])
        return batches.values()

    def _batch_questions(self, mark: str) -> dict[str, BatchedQuestion]:
        """Return a batch's questions by custom id."""
        notes = (detail for detail in self._batch_notes() if detail["mark"] == mark and "questions" in detail)
        return {one[0]: BatchedQuestion(*one) for detail in notes for one in detail["questions"]}

    def _batch_notes(self) -> Iterator[dict[str, Any]]:
        job = self.job
        for act in job.store.labels.each_act(job.study, job.judge.id, BATCHED):
            if act.detail.get("config_sha") == job.config_sha:
                yield act.detail

    def _record_state(self, detail: dict[str, Any]) -> None:
        """Record a batch's new state, durable on return."""
        job = self.job
        note = {**detail, "config_sha": job.config_sha}
        job.store.labels.record_act(sign_act(job.study, job.judge, BATCHED, detail=note))


def _paid_answer(result: BatchAnswer, batch: OpenBatch) -> PaidAnswer | None:
    """Return the paid answer of a batch's result, None if nothing was paid for."""
    if result.missing is None:
        return None if result.answer is None else PaidAnswer.from_answer(result.answer, batch.model)
    if result.missing.said:
        return PaidAnswer.without_answer(result.missing, batch.model)
    return PaidAnswer.empty(result.missing, batch.model, batch.id)


def _kept_answer(question: BatchedQuestion, answer: PaidAnswer) -> KeptAnswer:
    return KeptAnswer(
        question.sha, question.stage, question.once, question.unit, question.run, answer, question.expected
    )  # fmt: skip
