"""A judge's questions sent in a provider's batches, at half the price: in rounds, each durable before it is sent.

A round goes through all sheets, takes what was answered, and writes the next question of each sheet into a file that is
uploaded, one for each model that is asked. That a batch is to be begun, with what is asked in it, is in the study's
file before the provider hears of it; so is its id, once it is known. Whoever comes back later takes its results. No
sheet is held between rounds.
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
from lab.core.ids_and_clock import now, uuid7
from lab.core.label import Act, ActKind
from lab.core.plain_text import plain
from lab.llm.batch import BatchApi, BatchResult, BatchState
from lab.llm.client import Llm
from lab.studies.judge_cost import dollars, tokens_back, tokens_sent
from lab.studies.judge_sheet import SheetWork
from lab.studies.judge_terms import JudgeProgress, JudgingDone
from lab.studies.judging import JudgingJob
from lab.studies.paid_answers import KeptAnswer, PaidAnswer

BATCHED: ActKind = "batched"
"""The acts that say what was sent in a batch, which id that has, and that its results were taken."""
_MOST = 5_000
"""Questions in one batch."""
_BYTES = 90 * 1024 * 1024
"""Bytes of one batch's file, of the 100 to 200 MB that providers take."""
_KEPT = 200
"""Results that are committed together."""
_ALONE = 2
"""Batches without an answer to a question after which it is asked alone, at the full price."""
_PAUSE = 20.0
"""Seconds between two looks at a batch."""
_LOOK = 0.2


class BatchedQuestion(NamedTuple):
    """A question in a batch: what its answer is kept by. `expected` is what it costs in US dollars, about."""

    custom_id: str
    unit: str
    run: int
    sha: str
    stage: str
    once: bool
    expected: float


class OpenBatch(NamedTuple):
    """A batch of a model whose results were not taken yet; `id` is empty where nobody heard that it was begun."""

    mark: str
    id: str
    expected: float
    """US dollars that it will cost, about."""
    model: str


class BatchDraft:
    """Questions to one model that go into the next batch, in a file on the disk."""

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
        """Begins anew."""
        self.questions = []
        self.file.seek(0)
        self.file.truncate()


class BatchJudging:
    """Does a job in batches, each of one model. `pause` is the seconds between two looks at a batch."""

    def __init__(self, job: JudgingJob, llm: Llm, pause: float = _PAUSE) -> None:
        self.job, self._llm, self._pause = job, llm, pause
        self._apis = {one.model: BatchApi(one, job.stop) for one in (llm, *job.stages.values())}
        self._missed: Counter[str] = Counter()
        """How many batches gave no answer to a question, by its custom id."""
        self._expected = 0.0
        """US dollars that open batches will cost, about."""

    def check(self) -> None:
        """Raises `LabError` where a model's provider has no batches that litellm reaches."""
        for api in self._apis.values():
            api.check()

    @property
    def has_begun(self) -> bool:
        """Whether this judge has sent anything in a batch here."""
        job = self.job
        return job.store.labels.count_acts(job.study, job.judge.id, BATCHED) > 0

    def check_none_open(self) -> None:
        """Raises `LabError` where a batch is open: who asks its questions alone pays for them twice."""
        if batches := self._read():
            ids = ", ".join(batch.id or "one that nobody heard of" for batch in batches)
            raise LabError(
                "judge", f"questions of {plain(self.job.judge.id)} are in a batch at their provider ({ids}).",
                "With --batch the same line takes its answers; asked alone they would be paid for twice.",
            )  # fmt: skip

    def go(self, tell: Callable[[JudgeProgress], None] = lambda progress: None) -> JudgingDone:
        """Takes what earlier batches answered, and sends further ones until nothing is left to ask in one.

        It ends early where the budget is spent or `closing` is set; a batch then goes on at its provider.
        """
        job = self.job
        total = sum(1 for _ in job.sheets())
        batches = self._opened()
        already_paid: int | None = None
        while True:
            self._expected = sum(batch.expected for batch in batches)
            waiting = [batch for batch in batches if not self._taken(batch, lambda: tell(job.progress(total)))]
            if waiting:
                ids = ", ".join(batch.id for batch in waiting)
                job.ended = f"it was interrupted; at its provider {ids} goes on, and the same line takes its answers"
                break
            batches = self._round(lambda: tell(job.progress(total)))
            already_paid = job.found if already_paid is None else already_paid
            job.found = already_paid  # what this job paid for itself is not found again
            if not batches:
                break
        if not job.ended and any(self._missed[one] >= _ALONE for one in self._missed):
            return self._rest(tell, total)
        return JudgingDone(
            job.progress(total), job.unusable, tuple(job.failed), job.ended, job.unpriced, tuple(sorted(job.without))
        )

    def _rest(self, tell: Callable[[JudgeProgress], None], total: int) -> JudgingDone:
        """What no batch gave an answer to is asked alone; it is told as a part of the whole job."""
        already_paid = self.job.found

        def whole(progress: JudgeProgress) -> JudgeProgress:
            return progress._replace(total=total, found=already_paid)

        outcome = self.job.go(self._llm, lambda progress: tell(whole(progress)))
        return outcome._replace(progress=whole(outcome.progress))

    # -- taking results ------------------------------------------------------------------------------------------

    def _taken(self, batch: OpenBatch, tell: Callable[[], None]) -> bool:
        """Waits for a batch and keeps its answers; False where the job is to end before it has ended."""
        looked = -self._pause
        while not self.job.closing:
            if time.monotonic() - looked >= self._pause or looked < 0:
                looked = time.monotonic()
                state = self._apis[batch.model].state(batch.id)
                if state.ended:
                    self._keep(batch, state)
                    return True
                tell()
            if self.job.stop.wait(min(_LOOK, self._pause)):
                return False
        return False

    def _keep(self, batch: OpenBatch, state: BatchState) -> None:
        """Keeps what a batch answered, and then that its results were taken; each answer is kept once."""
        questions = self._questions(batch.mark)
        answered_ids: set[str] = set()
        taken_ids: set[str] = set()
        answers: list[KeptAnswer] = []
        for file in state.files:
            for result in self._apis[batch.model].results(file):
                question = questions.get(result.custom_id)
                answer = _paid(result, batch)
                if question is None or answer is None or question.custom_id in taken_ids:
                    continue
                taken_ids.add(question.custom_id)
                answered_ids |= set() if answer.batch else {question.custom_id}
                answers.append(_kept(question, answer))
                if len(answers) >= _KEPT:
                    self._commit(answers)
                    answers = []
        self._commit(answers)
        self._note({"mark": batch.mark, "batch": batch.id, "ended": state.status})
        self._expected -= batch.expected
        self._missed.update(questions.keys() - answered_ids)
        if not answered_ids and state.status in ("failed", "cancelled"):
            raise LabError(
                f"batch {batch.id}", f"{state.status} at its provider ({state.why or 'no reason given'}).",
                "Nothing of it was answered. Without --batch the same line asks at once.",
            )  # fmt: skip

    def _commit(self, answers: list[KeptAnswer]) -> None:
        """Keeps answers that are not in the file yet: who was killed in between takes the same results again."""
        self.job.keep([one for one in answers if not self.job.paid.holds(one)])

    # -- sending -------------------------------------------------------------------------------------------------

    def _round(self, tell: Callable[[], None]) -> list[OpenBatch]:
        """Goes through all sheets, hands in what is filled in, and sends what is asked next, in one batch or more."""
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
                    batches += self._drafted(work, drafts, asked_ids)
                job.hand_in(most=True)
                tell()
            job.hand_in()
            for model, draft in drafts.items():
                batches += self._sent(model, draft)
        if job.closing and not job.ended:
            job.ended = "it was interrupted"
        return batches

    def _drafted(self, work: SheetWork, drafts: Mapping[str, BatchDraft], asked_ids: set[str]) -> Iterator[OpenBatch]:
        """Puts what a sheet asks next into its model's draft, unless another sheet asks it; a full draft is sent."""
        question = work.asking
        assert question is not None
        llm = self.job.model_of(question, self._llm)
        entry = self._question(work, llm.batch_prices())
        if entry.custom_id in asked_ids or self._missed.get(entry.custom_id, 0) >= _ALONE or not self._affords(entry):
            return
        asked_ids |= {entry.custom_id} if entry.once else set()
        draft = drafts[llm.model]
        draft.add(entry, self._apis[llm.model].line(entry.custom_id, question.messages, question.schema))
        if draft.full:
            yield from self._sent(llm.model, draft)

    def _question(self, work: SheetWork, prices: tuple[float, float] | None) -> BatchedQuestion:
        question = work.asking
        assert question is not None
        sheet = ("", 0) if question.once else (work.unit.id, work.run)
        custom_id = hashlib.sha256(encode([question.sha, self.job.config_sha, *sheet])).hexdigest()[:48]
        expected = dollars(tokens_sent(question), tokens_back(work.view), prices) if prices is not None else 0.0
        return BatchedQuestion(custom_id, work.unit.id, work.run, question.sha, question.stage, question.once, expected)

    def _affords(self, one: BatchedQuestion) -> bool:
        """Whether the budget reaches for a question beside all that is sent; counts it where it does."""
        budget = self.job.terms.budget
        if budget is not None and self.job.spent + self.job.reckoned + self._expected + one.expected > budget:
            self.job.ended = f"the budget of {budget:g} US dollars does not reach for the next question"
            return False
        self._expected += one.expected
        return True

    def _sent(self, model: str, draft: BatchDraft) -> list[OpenBatch]:
        """Begins a batch of what was gathered; of nothing, and of what is wanted no more, none."""
        if not draft.questions or self.job.closing or self.job.end_where_closed():
            return []
        return [self._begin(model, draft)]

    def _begin(self, model: str, draft: BatchDraft) -> OpenBatch:
        """Begins a batch of these questions: first in the study's file, then at the provider; empties the draft."""
        mark, api, questions = uuid7(), self._apis[model], draft.questions
        file_id = api.upload(draft.file)
        self._note({"mark": mark, "model": model, "questions": [list(one) for one in questions]})
        batch = api.begin(file_id, mark)
        self._note({"mark": mark, "batch": batch})
        draft.clear()
        self.job.asked += len(questions)
        return OpenBatch(mark, batch, sum(one.expected for one in questions), model)

    # -- what was sent before ------------------------------------------------------------------------------------

    def _opened(self) -> list[OpenBatch]:
        """Batches that were sent before and whose results nobody took; one that was lost is looked for."""
        batches = []
        for batch in self._read():
            if batch.id:
                batches.append(batch)
            elif id := self._apis[batch.model].find(batch.mark):
                self._note({"mark": batch.mark, "batch": id})
                batches.append(batch._replace(id=id))
            else:
                self._note({"mark": batch.mark, "ended": "never begun"})
        return batches

    def _read(self) -> Collection[OpenBatch]:
        batches: dict[str, OpenBatch] = {}
        for detail in self._notes():
            mark = detail["mark"]
            if "ended" in detail:
                batches.pop(mark, None)
            elif "questions" in detail:
                expected = sum(BatchedQuestion(*one).expected for one in detail["questions"])
                batches[mark] = OpenBatch(mark, "", expected, detail.get("model", self._llm.model))
            elif mark in batches:
                batches[mark] = batches[mark]._replace(id=detail["batch"])
        return batches.values()

    def _questions(self, mark: str) -> dict[str, BatchedQuestion]:
        """What is asked in a batch, by custom id."""
        notes = (detail for detail in self._notes() if detail["mark"] == mark and "questions" in detail)
        return {one[0]: BatchedQuestion(*one) for detail in notes for one in detail["questions"]}

    def _notes(self) -> Iterator[dict[str, Any]]:
        job = self.job
        for act in job.store.labels.each_act(job.study, job.judge.id, BATCHED):
            if act.detail.get("config_sha") == job.config_sha:
                yield act.detail

    def _note(self, detail: dict[str, Any]) -> None:
        """Keeps what became of a batch, durable on return."""
        job = self.job
        note = {**detail, "config_sha": job.config_sha}
        job.store.labels.record_act(
            Act(uuid7(), job.study.id, job.study.version, job.judge, BATCHED, now(), detail=note)
        )


def _paid(result: BatchResult, batch: OpenBatch) -> PaidAnswer | None:
    """What a result of a batch is kept as; None where nothing was paid for."""
    if result.missing is None:
        return None if result.answer is None else PaidAnswer.of(result.answer, batch.model)
    if result.missing.said:
        return PaidAnswer.missing(result.missing, batch.model)
    return PaidAnswer.empty(result.missing, batch.model, batch.id)


def _kept(question: BatchedQuestion, answer: PaidAnswer) -> KeptAnswer:
    return KeptAnswer(
        question.sha, question.stage, question.once, question.unit, question.run, answer, question.expected
    )  # fmt: skip
