"""Definitions of PSPA-Bench's numbers, for `hitlab runs metrics --explain`."""

from __future__ import annotations

from collections.abc import Mapping

_MORE = "Above 0 is better."
_LESS = "Below 0 is better."

DEFINITIONS: Mapping[str, str] = {
    "APR": (
        "A-process ratio: completed unit instructions / all unit instructions on the path that the run took, as a mean "
        "over runs (2.3, Table 6). The path is the one with most completed nodes; ties go to more completed flexible "
        "ones, then fewer nodes, then the earliest completed ones (eq. 1, Algorithm 1), at last to the one declared "
        "first. A node whose required node is not completed is not completed (Prompt 2); of required nodes that no "
        "path holds together any one will do, so that path B is not punished for path A. A node that holds paths is "
        "not counted, what is on them is; runs where an unrated node could change the value are left out."
    ),
    "PPR": (
        "P-process ratio: completed flexible unit instructions / all flexible ones on the path that APR was taken of, "
        "as a mean over runs (2.3, Table 6). A run whose path has no flexible node is left out, since 0 of 0 is "
        "neither success nor failure."
    ),
    "APR by checklist": (
        "APR over the items of the paper's checklists (E.4), where a step with several paths is an item itself: "
        "completed where any of its paths is (Prompt 2). 2.3 counts minimal actions, which such a step is none of, so "
        "APR leaves it out; a judge that fills in a checklist marks it."
    ),
    "PPR by checklist": (
        "PPR over the same items: a step with several paths that the checklist calls flexible counts as one, as "
        "Navigate to Cart Page of Checklist 1 does, whose own steps are all fixed."
    ),
    "APR of raw matches": (
        "APR with path and completed nodes by matches alone, as Algorithm 1 counts them (E.2). Prompt 2 has a node "
        "whose required node is not completed fall before the path is chosen, as APR has it: the paper does not say "
        "which of the two goes first, and where they take two paths the two numbers are of two paths."
    ),
    "PPR of raw matches": "PPR on the path, and of the matches, of APR of raw matches.",
    "CT": (
        "Completion time: seconds from a run's first event to its last, or what its source says it took, as a mean "
        "over runs (2.3, Table 6). Failed runs count like others, as the paper makes no exception."
    ),
    "CT without waiting": (
        "CT less the time in which a question was open or the run was paused: the agent's own time. The paper has no "
        "person to wait for, so this is the value to lay beside its CT. Runs whose source does not tell how long "
        "answers took are left out, and those that never asked waited 0 s."
    ),
    "CPT": (
        "Cost per task: US dollars for the model's tokens, as a mean over runs (2.3, Table 6), from each answer's "
        "price or from what the source tells of the whole run. A run with a price for some of its answers only is "
        "left out, since it would look cheaper than it was."
    ),
    "TCR": (
        "Task completion ratio: the share of a demonstration's actions that the run took, in their order (E.1), as a "
        "mean over runs. The paper only speaks of a reference path; here it is a person's demonstration, of several "
        "the one that serves the run best, and the longest common subsequence under DAC-Bench's exact match."
    ),
    "TCR by nodes": (
        "TCR where the reference path is the graph's own (E.1): completed nodes / all nodes of the path that is "
        "declared first, whichever the run took. Where nobody has shown the task this is what APR is compared with."
    ),
    "Success Signal": (
        "The share of runs that succeeded (E.1). The paper does not say who decides; here it is the run's score above "
        "0.99, as in KnowU-Bench."
    ),
    "ΔAPR": (
        "The change of APR, as a mean over pairs, two ways. Later minus first: the last value minus the first of an "
        "agent that did one task for one person at least twice, in the order of attempts (2.3, Table 6); the paper's "
        "later task may be another, here it is the same, so that only the agent has changed. With minus without "
        "experience: for each agent, task and person the mean with minus the mean without (3.2), as the task's trait "
        "`experience` tells, or else whether the agent keeps a memory, whose first attempt does not count where there "
        f"are later ones. Both runs of a pair must be in one group. {_MORE}"
    ),
    "ΔPPR": f"The change of PPR, both ways as ΔAPR. {_MORE}",
    "ΔCT": f"The change of CT, both ways as ΔAPR. {_LESS}",
    "ΔCT without waiting": f"The change of CT without waiting, both ways as ΔAPR. {_LESS}",
    "ΔCPT": f"The change of CPT, both ways as ΔAPR. {_LESS}",
}
