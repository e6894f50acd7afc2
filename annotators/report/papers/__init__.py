"""Which part of a report each protocol ends in: the paper's own table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from annotators.studied import Studied
from lab.report import Section

PAPERS: Mapping[str, tuple[str, ...]] = {
    "tdg": ("pspa_alignment:sections",),
    "disagreement-cause": ("pspa_causes:sections",),
    "pairwise-sets": ("pspa_pairs:sections",),
    "pairwise-runs": ("pspa_pairs:sections",),
    "completion-rating": ("pspa_completion:sections",),
    "rubric": ("knowu_judge:sections",),
    "failure-mode-knowu-personalized": ("knowu_failures:sections",),
    "failure-mode-knowu-proactive": ("knowu_failures:sections",),
    "play": ("knowu_users:sections",),
    "reply-support": ("knowu_replies:sections",),
    "success": ("memgui_success:sections", "fingertip_success:sections"),
    "information-units": ("memgui_irr:sections",),
    "failure-mode-memgui": ("memgui_failures:sections",),
    "golden-steps": ("memgui_golden:sections",),
    "demonstration": ("dac_demonstrations:sections",),
    "decision-points": ("dac_decisions:sections",),
    "failure-mode-dac": ("dac_failures:sections",),
    "intent-guess": ("fingertip_guess:sections",),
    "same-intent": ("fingertip_same:sections",),
    "personal-rating": ("fingertip_rating:sections",),
    "step-correct": ("dac_steps:sections",),
}
"""By protocol the functions `module:function` that make its sections; a protocol of one's own has none."""


def sections_of(protocol: str) -> list[Callable[[Studied], list[Section]]]:
    """The functions of a protocol, imported now."""
    found = []
    for name in PAPERS.get(protocol, ()):
        module, _, function = name.partition(":")
        found.append(getattr(import_module(f"annotators.report.papers.{module}"), function))
    return found
