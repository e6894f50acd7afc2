"""The papers' own tables in the report of each protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from annotators.study_data import StudyData
from lab.core.study.protocol import Protocol
from lab.core.study.report import Section

PAPERS: Mapping[str, tuple[str, ...]] = {
    "tdg": ("pspa.alignment_table:sections",),
    "disagreement-cause": ("pspa.disagreement_causes:sections",),
    "pairwise-sets": ("pspa.pair_table:sections",),
    "pairwise-runs": ("pspa.pair_table:sections",),
    "completion-rating": ("pspa.completion_table:sections",),
    "rubric": ("knowu.judge_table:sections",),
    "failure-mode-knowu-personalized": ("knowu.failure_table:sections",),
    "failure-mode-knowu-proactive": ("knowu.failure_table:sections",),
    "play": ("knowu.user_table:sections", "knowu.fidelity_table:sections"),
    "reply-support": ("knowu.reply_table:sections",),
    "success": ("memgui.evaluator_table:sections", "fingertip.success_table:sections"),
    "information-units": ("memgui.irr_table:sections",),
    "failure-mode-memgui": ("memgui.failure_table:sections",),
    "golden-steps": ("memgui.golden_steps_table:sections",),
    "demonstration": ("dac.demonstration_table:sections",),
    "decision-points": ("dac.decision_table:sections",),
    "failure-mode-dac": ("dac.failure_table:sections",),
    "intent-guess": ("fingertip.guess_table:sections",),
    "same-intent": ("fingertip.same_intent_table:sections",),
    "personal-rating": ("fingertip.rating_table:sections",),
    "step-correct": ("dac.step_table:sections",),
}
"""Functions (`module:function`) that make a protocol's sections. A user's own protocol has none, except for plays."""


def sections_of(protocol: Protocol) -> list[Callable[[StudyData], list[Section]]]:
    """Return the functions of a protocol, imported on demand. Every protocol of plays has those of `play`."""
    parts = []
    for name in PAPERS.get("play" if protocol.unit == "task to play" else protocol.id, ()):
        module, _, function = name.partition(":")
        parts.append(getattr(import_module(f"annotators.papers.{module}"), function))
    return parts
