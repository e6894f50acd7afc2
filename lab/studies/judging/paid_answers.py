"""Paid answers of models: each is an act in the file as soon as it arrives, and is paid for once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from annotators.judging.question import JudgeQuestion
from lab.core.redaction.text_redaction import WITHDRAWN
from lab.core.run.step import Usage
from lab.core.study.label import Act
from lab.core.study.signing import sign_act
from lab.core.study.study import Study
from lab.core.task.task import Actor
from lab.llm.client import ModelAnswer, NoModelAnswer
from lab.llm.thinking_marks import split_thinking
from store.store import Store


class PaidAnswer(NamedTuple):
    """A model's answer to a question with its cost and the model's name (empty: not recorded).

    `thinking` is the text before the answer, `source` the place in the reply where it was. `why` is the reason if the
    reply contains no answer. `batch` is the batch of an `empty` result: its cost counts, and the question is asked
    again.
    """

    text: str
    usage: Usage
    model: str = ""
    thinking: str = ""
    source: str = ""
    why: str = ""
    batch: str = ""

    @classmethod
    def from_answer(cls, answer: ModelAnswer, model: str) -> PaidAnswer:
        """Build it from a model's answer."""
        return cls(answer.text, answer.usage, model, answer.thinking, answer.source)

    @classmethod
    def without_answer(cls, error: NoModelAnswer, model: str) -> PaidAnswer:
        """Build it from a reply without an answer, which asking again would not change."""
        return cls("", error.usage, model, error.thinking, error.source, error.said)

    @classmethod
    def empty(cls, error: NoModelAnswer, model: str, batch: str) -> PaidAnswer:
        """Build it from a batch result that was paid for and contains nothing."""
        return cls("", error.usage, model, error.thinking, error.source, error.message, batch)


class KeptAnswer(NamedTuple):
    """A paid answer with its question's hash and stage and its sheet."""

    sha: str
    stage: str
    once: bool
    unit: str
    run: int
    answer: PaidAnswer
    expected: float = 0.0
    """Estimated cost in US dollars."""

    @classmethod
    def from_question(
        cls, question: JudgeQuestion, unit: str, run: int, answer: PaidAnswer, expected: float
    ) -> KeptAnswer:
        """Build it from the answer to a question of a sheet."""
        return cls(question.sha, question.stage, question.serves_all_runs, unit, run, answer, expected)


class PaidAnswers:
    """Paid answers of one judge at one study. `config_sha` is its configuration: another one is another judge."""

    def __init__(self, store: Store, study: Study, judge: Actor, config_sha: str) -> None:
        self._store, self._study = store, study
        self._judge, self._config = judge, config_sha
        self._once: AnswerRows | None = None
        self._sheet: tuple[str, int, dict[str, PaidAnswer]] = ("", 0, {})
        self._empty = Usage(tries=0)

    def find(self, question: JudgeQuestion, unit: str, run: int) -> PaidAnswer | None:
        """Return the answer to this question on this sheet, or on any sheet if it is asked once for all."""
        return (
            self._asked_once(question.sha)
            if question.serves_all_runs
            else self._sheet_answers(unit, run).get(question.sha)
        )

    def contains(self, one: KeptAnswer) -> bool:
        """Return True if the file holds an answer to this question on this sheet (for an empty one: from its batch)."""
        if one.answer.batch:
            acts = self._store.labels.acts(self._study, self._judge.id, one.unit, one.run, judged=True)
            asked = (one.sha, one.answer.batch)
            return any((act.detail.get("question"), act.detail.get("batch")) == asked for act in acts)
        found = self._asked_once(one.sha) if one.once else self._sheet_answers(one.unit, one.run).get(one.sha)
        return found is not None

    def empty_usage(self, unit: str, run: int) -> Usage:
        """Return the cost of a sheet's empty batch results."""
        self._sheet_answers(unit, run)
        return self._empty

    def keep(self, answers: Sequence[KeptAnswer]) -> None:
        """Store answers in one transaction, durable on return."""
        if not answers:
            return
        acts = [self._answer_act(one) for one in answers]
        with self._store.labels.together():
            for act in acts:
                self._store.labels.record_act(act)
        for one, act in zip(answers, acts, strict=True):
            if one.answer.batch:
                # Dropped, so that the next read counts the empty result's cost.
                self._sheet = ("", 0, {})
            elif one.once:
                self._shared_answers().add(one.sha, self._store.labels.act_number(act.id))
            elif self._sheet[:2] == (one.unit, one.run):
                self._sheet[2][one.sha] = one.answer

    def _answer_act(self, one: KeptAnswer) -> Act:
        detail: dict[str, Any] = {
            "question": one.sha,
            "stage": one.stage,
            "answer": one.answer.text,
            "usage": msgspec.to_builtins(one.answer.usage),
            "model": one.answer.model,
            "config_sha": self._config,
            "thinking": one.answer.thinking,
        }
        if one.answer.source:
            detail["thinking_source"] = one.answer.source
        if one.answer.why:
            detail["no_answer"] = one.answer.why
        if one.answer.batch:
            detail["batch"] = one.answer.batch
        if one.once:
            detail["once"] = True
        return sign_act(self._study, self._judge, "judged", one.unit, one.run, detail=detail)

    def _sheet_answers(self, unit: str, run: int) -> dict[str, PaidAnswer]:
        # One sheet in memory is enough: its questions are asked one after the other.
        if self._sheet[:2] != (unit, run):
            acts = self._store.labels.acts(self._study, self._judge.id, unit, run, judged=True)
            self._sheet = unit, run, self._read_acts(acts)
            self._empty = Usage(tries=0)
            for act in acts:
                if "batch" in act.detail and act.detail.get("config_sha") == self._config:
                    self._empty = self._empty.plus(msgspec.convert(act.detail["usage"], Usage))
        return self._sheet[2]

    def _asked_once(self, sha: str) -> PaidAnswer | None:
        """Return the answer to a shared question, read from the file: a study may hold a million."""
        number = self._shared_answers().find(sha)
        return self._read_acts([self._store.labels.numbered_act(number)]).get(sha) if number is not None else None

    def _shared_answers(self) -> AnswerRows:
        """Return the index of the answers that serve every sheet, built on first use."""
        if self._once is None:
            self._once = AnswerRows()
            for number, act in self._store.labels.numbered_acts(self._study, self._judge.id, "judged"):
                if act.rater == self._judge and act.detail.get("once") and self._is_answer(act):
                    self._once.add(act.detail["question"], number)
        return self._once

    def _read_acts(self, acts: Iterable[Act]) -> dict[str, PaidAnswer]:
        return {
            act.detail["question"]: _read_answer(act.detail)
            for act in acts
            if act.act == "judged" and self._is_answer(act)
        }

    def _is_answer(self, act: Act) -> bool:
        """Return True if an act answers a question of this judge.

        A batch's empty result answers nothing, nor does an act whose question a withdrawal redacted.
        """
        is_own = act.detail.get("config_sha") == self._config and "batch" not in act.detail
        return is_own and act.detail.get("question", WITHDRAWN) != WITHDRAWN


def _read_answer(detail: dict[str, Any]) -> PaidAnswer:
    """Return a stored answer. Older versions stored it with its thinking, which is split off here."""
    text = detail["answer"] if "thinking" in detail else split_thinking(detail["answer"]).answer
    usage = msgspec.convert(detail["usage"], Usage)
    thinking, source = detail.get("thinking", ""), detail.get("thinking_source", "")
    return PaidAnswer(text, usage, thinking=thinking, source=source, why=detail.get("no_answer", ""))


_RECENT = 16_384
"""Recent entries after which the index sorts them into its arrays."""


class AnswerRows:
    """Row numbers by the first 64 bits of the questions' hashes (hexadecimal).

    Two hashes may share these bits: the caller compares the row with the question. The later row wins.
    """

    def __init__(self) -> None:
        self._hashes = np.empty(0, np.uint64)
        self._rows = np.empty(0, np.int64)
        self._recent: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._hashes) + len(self._recent)

    def add(self, sha: str, row: int) -> None:
        """Store the row of a question's answer."""
        self._recent[_leading_number(sha)] = row
        if len(self._recent) >= _RECENT:
            self._sort_in()

    def find(self, sha: str) -> int | None:
        """Return the row of a question's answer, None if unknown."""
        first = _leading_number(sha)
        if first in self._recent:
            return self._recent[first]
        # The sort is stable, so the right end of equal hashes is the row that was added last.
        at = int(np.searchsorted(self._hashes, np.uint64(first), side="right")) - 1
        return int(self._rows[at]) if at >= 0 and int(self._hashes[at]) == first else None

    def _sort_in(self) -> None:
        hashes = np.concatenate([self._hashes, np.fromiter(self._recent, np.uint64, len(self._recent))])
        rows = np.concatenate([self._rows, np.fromiter(self._recent.values(), np.int64, len(self._recent))])
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._rows = hashes[order], rows[order]
        self._recent = {}


def _leading_number(sha: str) -> int:
    return int(sha[:16], 16)
