"""What a shadow simulator answered: a model that was asked what a person was asked, silently, and changed nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec.structs import replace

from lab.core.step import Usage
from lab.core.task import Actor

VERSION = 1
"""The newest stored shape of such an answer that this program knows."""
MissingShadow = Literal["unfinished", "no_answer", "unusable", "clash"]
"""Why there is no answer: none came while anybody waited, none could be had, none was usable, two of them stand."""


class ShadowAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One model's answer to one question of a run, or why there is none; never changed, only superseded.

    `index` is the step (from 0) at which `question` was asked. `decision` is as in `Reply`, None also for `only a
    question`. `why` is the reason in words where one is `missing`. Times are UTC: `shown_at` when it was asked,
    `sent_at` when its answer came. `config_sha` is the hash of its prompt and of how it was asked.
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
    """Of each model at each question the answer that nothing supersedes, by step and model.

    Where two stand after a merge, one answer goes before reasons; of two answers that differ none stands (`clash`).
    """
    rows = list(rows)
    superseded_ids = {row.supersedes for row in rows if row.supersedes}
    heads: dict[tuple[int, str, str], list[ShadowAnswer]] = {}
    for row in sorted(rows, key=lambda row: (row.at, row.id)):
        if row.id not in superseded_ids:
            heads.setdefault((row.index, row.question, row.by.id), []).append(row)
    return [_one(heads[place]) for place in sorted(heads)]


def _one(heads: list[ShadowAnswer]) -> ShadowAnswer:
    answers = [row for row in heads if row.missing is None]
    if len({(row.text, row.decision) for row in answers}) > 1:
        return replace(answers[0], text="", decision=None, missing="clash", why="", sent_at=None)
    return answers[0] if answers else heads[-1]
