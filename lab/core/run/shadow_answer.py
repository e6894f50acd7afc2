"""A shadow simulator's answer: a model was silently asked a person's question, without effect on the run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec.structs import replace

from lab.core.run.step import Usage
from lab.core.task.task import Actor

VERSION = 1
"""Newest stored version of such an answer that this program knows."""
MissingShadow = Literal["unfinished", "no_answer", "unusable", "clash"]
"""Reason for a missing answer: not in time, not available, not usable, or two that differ after a merge."""


class ShadowAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One model's answer to one question of a run, or the reason for none. It is only superseded, never changed.

    `index` is the step (from 0) of `question`. `decision` is as in `Reply`, None also for `only a question`. `why`
    explains `missing` in words. Times are UTC: `shown_at` is the request's, `sent_at` the answer's. `config_sha` is the
    hash of the prompt and the parameters.
    """

    id: str
    trace: str
    question: str
    index: int
    by: Actor
    at: str
    text: str = ""
    decision: Literal["accept", "reject"] | None = None
    missing: MissingShadow | None = None
    why: str = ""
    shown_at: str | None = None
    sent_at: str | None = None
    usage: Usage | None = None
    config_sha: str = ""
    supersedes: str | None = None
    v: int = VERSION


def current_answers(rows: Iterable[ShadowAnswer]) -> list[ShadowAnswer]:
    """Return the current answer of each model to each question, by step and model.

    After a merge an answer takes precedence over missing ones. Two different answers become one
    that is missing (`clash`).
    """
    rows = list(rows)
    superseded_ids = {row.supersedes for row in rows if row.supersedes}
    heads: dict[tuple[int, str, str], list[ShadowAnswer]] = {}
    for row in sorted(rows, key=lambda row: (row.at, row.id)):
        if row.id not in superseded_ids:
            heads.setdefault((row.index, row.question, row.by.id), []).append(row)
    return [_merge_heads(heads[place]) for place in sorted(heads)]


def _merge_heads(heads: list[ShadowAnswer]) -> ShadowAnswer:
    answers = [row for row in heads if row.missing is None]
    if len({(row.text, row.decision) for row in answers}) > 1:
        return replace(answers[0], text="", decision=None, missing="clash", why="", sent_at=None)
    return answers[0] if answers else heads[-1]


class ShadowsPlayed(msgspec.Struct, frozen=True):
    """Counts of shadow models' `questions` and of those answered, `new` of them by this call.

    `cost` is in US dollars, as far as known.
    """

    questions: int
    answered: int
    new: int
    cost: float
