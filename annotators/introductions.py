"""Introductions of raters: the guide and keys shown before their first item, and their results in practice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from lab.core.run.screen_clock import seconds_passed
from lab.core.study.label import INTRODUCTION_ACTS, Act

_ENDING_ACTS = ("practice_done", "introduction_skipped", "keys_read", "guide_read")
"""Acts that end an introduction if no other part of it follows."""


class IntroductionLine(msgspec.Struct, frozen=True):
    """One rater's introduction: times of the guide and of finished practice, empty if there were none.

    `right` of `places` practice answers were right, `passed` is True if all were. If practice was done several times,
    the last counts. `seconds` is the time from the first thing shown to the last, None if only its beginning is
    recorded. `skipped` is True if they skipped the rest.
    """

    rater: str
    guide: str = ""
    practice: str = ""
    right: int = 0
    places: int = 0
    passed: bool = False
    seconds: float | None = None
    skipped: bool = False


def introduction_lines(acts: Iterable[Act], rater: str = "") -> list[IntroductionLine]:
    """Return introductions from acts, sorted by code. If `rater` is given, return only theirs."""
    by_rater: dict[str, list[Act]] = {}
    # By time and id, so that the order in which acts come does not matter.
    for act in sorted(acts, key=lambda act: (act.at, act.id)):
        if act.act in INTRODUCTION_ACTS and rater in ("", act.rater.id):
            by_rater.setdefault(act.rater.id, []).append(act)
    return [_line(code, by_rater[code]) for code in sorted(by_rater)]


def _line(code: str, acts: Sequence[Act]) -> IntroductionLine:
    # Of several acts of one kind the last one wins.
    last = {act.act: act for act in acts}
    practice_act, guide_act = last.get("practice_done"), last.get("guide_shown")
    right, places = (
        (int(practice_act.detail.get(name, 0)) for name in ("right", "of")) if practice_act is not None else (0, 0)
    )
    return IntroductionLine(
        code,
        guide_act.at if guide_act is not None else "",
        practice_act.at if practice_act is not None else "",
        right,
        places,
        practice_act is not None and right == places,
        seconds_passed(acts[0].at, acts[-1].at) if last.keys() & {*_ENDING_ACTS} else None,
        "introduction_skipped" in last,
    )
