"""Definitions of MemGUI-Bench's numbers, for `hitlab runs metrics --explain`."""

from __future__ import annotations

from collections.abc import Mapping

_STEPS = "the log's `total_steps`, which is one less than its actions"

DEFINITIONS: Mapping[str, str] = {
    "SR": (
        "Success rate: tasks whose first attempt succeeded / tasks (A.6.1), whole, by difficulty (what the task says, "
        "as Table 2 does; else to 20, to 40, more golden steps, A.4.2, which six tasks contradict) and by number of "
        "apps. *paper* leaves out what nobody judged, *script* takes it for failed (framework/realtime_metrics.py); "
        "tasks without a run are in neither. With --step-budget X an attempt of more than floor(X x golden + 1) steps "
        "has failed, with --golden-tokens N one whose steps x its agent's mean tokens a step are more than N x golden "
        "(A.9.6: 1.4 and 9507), with --token-budget N one of more tokens."
    ),
    "IRR": (
        "Information retention rate: units used rightly / units required, as a mean over first attempts at tasks that "
        "need memory (A.6.1). *paper* follows four rules (Prompt 8): success is 1; units that are written out count as "
        "they are; units that only steer a decision count as lost in a failed attempt, in a task of both kinds they "
        "stay in the number required; an early failure is 0. People's marks go before the source's analysis, and a "
        "failed task without either counts like the rated failures on average, as successes are never without; the "
        "note says how many, and the least and most that the whole can be. Beyond a budget it is 0 (A.9.6 says so of "
        "tokens only). *script* takes the source's whole percentages, missing ones as 0, as published sessions do."
    ),
    "IRR above 0": (
        "The *script* IRR over rates above 0 alone, as the published framework/realtime_metrics.py has it: tasks of "
        "which nothing was retained drop out, so it can only be higher than IRR."
    ),
    "pass@k": (
        "Tasks that succeeded in any of the first k attempts / tasks (A.6.2), for each k from 2 that somebody came to. "
        "A task that failed in fewer attempts counts as failed and is told. *paper* leaves out tasks without a success "
        "of which an attempt is not judged or an earlier one is not here; *script* takes both for failed "
        "(framework/realtime_metrics.py, which knows three attempts)."
    ),
    "MTPR": (
        "Memory-task proficiency ratio: SR of tasks that need memory / SR of standard tasks, of first attempts "
        "(A.6.1). *paper* is undefined where no standard task succeeded, and leaves out tasks not known to be of "
        "either kind; *script* is 0 there, and takes these for standard (framework/realtime_metrics.py)."
    ),
    "FRR": (
        "Failure recovery rate: the sum of w_i x R_i over attempts i = 2..k / tasks that failed on attempt 1, R_i of "
        "which first succeeded on attempt i (A.6.2). *paper*: w_i = 1 / (i - 1), over tasks whose attempts before the "
        "recovery are all judged and here. *script*: w_i = 1 / 2^(i - 2), another weight from attempt 4 on; what is "
        "not judged has failed, and it is 0 where nothing failed (framework/realtime_metrics.py). k is the highest "
        "attempt in the group."
    ),
    "Step Ratio": (
        "Steps / golden steps, as a mean over tasks that succeeded (A.6.3), of first attempts and of k. *paper*: the "
        "actions of the attempt that succeeded, the last one, which ends the run, among them, as the paper does not "
        f"say what a step is. *script*: of the first attempt even where a later one succeeded, and {_STEPS} "
        "(framework/realtime_metrics.py)."
    ),
    "Time/Step": (
        "Seconds a step (A.6.3). *paper*: each attempt's total seconds / its actions, then the mean over attempts. "
        "*script*: all attempts' seconds / all their steps, which gives long "
        f"runs more weight, steps being {_STEPS} (framework/realtime_metrics.py)."
    ),
    "Time/Step without waiting": (
        "Time/Step without the time in which a person was waited for: the agent's own time, told where people were. "
        "The paper (A.6.3) has no person to wait for, so this is the value to lay beside its own."
    ),
    "Cost/Step": (
        "US dollars a step (A.6.3). *paper*: each attempt's cost / its actions, then the mean over attempts whose cost "
        "is known. *script*: all tokens at $1.25 (sent) and $10 (answered) a million, whatever the model, / all steps, "
        f"these being {_STEPS} (framework/realtime_metrics.py)."
    ),
    "csv step_ratio": (
        "The column of that name in a session's results.csv, as a mean over attempts: 1 where the agent ended by "
        "itself, else steps / 50 (framework/utils.py). It is no ratio to golden steps; it is here to be known again."
    ),
    "csv total_token_cost": (
        "The column of that name in a session's results.csv, as a mean over attempts: US dollars at $0.01 (sent) and "
        "$0.03 (answered) a thousand tokens, whatever the model (framework/utils.py)."
    ),
}
