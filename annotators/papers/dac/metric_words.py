"""Definitions of DAC-Bench's numbers, for `hitlab runs metrics --explain`."""

from __future__ import annotations

from collections.abc import Mapping

_WEIGHED = "weighed by the steps of each run's demonstration: so Appendix D's Overall rows come out of its groups"
_STRETCH = (
    "The longest stretch of consecutive right steps anywhere in a run, {how}, as a mean over runs (Appendix D{more}). "
    "The appendix says sequence; a subsequence could not be shorter than what EM counts, yet its values are."
)
_UNITS = (
    "GP counted in atomic instructions instead of steps (Appendix D). Never given: no source tells which steps make up "
    "an atomic instruction."
)

DEFINITIONS: Mapping[str, str] = {
    "EM": (
        "Exact match: steps whose action has the demonstrated type and parameters / all steps of the demonstrations, "
        "pooled over runs (2.6; by type of action Appendix E); steps pair by their place, and those that a run does "
        "not reach count as wrong. A tap is right inside any of the target's boxes; where only a point was shown, at "
        "most 14 % of the screen away (Android in the Wild), as the paper gives no tolerance. Texts and apps are "
        "compared without case and outer blanks, scrolls by what they show, what the demonstration leaves open not at "
        "all, and any accepted action will do. Of several demonstrations the one with the most exact steps, as a "
        "share, counts."
    ),
    "TM": (
        "Type match: as EM, but the type of action alone decides (2.6). It is taken from the same demonstration as EM, "
        "so that it is never below it. Answering and reporting an end are both `complete`; what a source could not "
        "name is `other`."
    ),
    "SR": (
        "Success rate: the share of runs in which every step of a demonstration is matched exactly (2.6). It is "
        "offline: an end state that was reached another way does not count."
    ),
    "GP": (
        "Goal progress: consecutive right steps from the first one on / steps of the demonstration, as a mean over "
        "runs (2.6). This is Appendix D's column 2a; Table 2's GP averages to column 6a instead."
    ),
    "W-LCS": (
        "Weighted longest common subsequence: the sum of the places (from 1) of the demonstration's steps that the "
        "run took in their order / the sum of all places, as a mean over runs (eq. 2). Of several longest ones that "
        "with the greatest sum counts, since the paper does not say which; of several demonstrations the best."
    ),
    "GP 1a": _UNITS,
    "GP 1b": _UNITS,
    "GP 2b": f"GP {_WEIGHED}.",
    "GP 3a": (
        "Right steps from the first one on, as a number and not a share, as a mean over runs (Appendix D). The "
        "paper's own values are so small that they look like counts of atomic instructions."
    ),
    "GP 3b": f"GP 3a {_WEIGHED}.",
    "GP 4a": _STRETCH.format(how="as a number", more=""),
    "GP 4b": f"GP 4a {_WEIGHED}.",
    "GP 5a": "GP weighed by the length of the task (Appendix D). Never given: no formula is, and the values fit none.",
    "GP 5b": (
        "GP weighed by branches and the length of the task (Appendix D). Never given: no formula is, and the values "
        "fit none."
    ),
    "GP 6a": _STRETCH.format(how="/ steps of its demonstration", more="; what Table 2 calls GP"),
    "GP 6b": f"GP 6a {_WEIGHED}.",
    "Decision Accuracy": (
        "The share of branches at which a run took the right option, of those it reached and that were rated (2.6); "
        "whole, by depth, and of all deeper than the first (Table 3). Right is what the task says, or else any option "
        "that a demonstration of it took."
    ),
    "Decision EM": (
        "Exact match at those steps where a demonstration decides, by depth: what Table 3 computes, as its caption "
        "says EM. Which step that is the paper does not tell; here it is where raters placed the graph's node that "
        "has the branch's id."
    ),
}
