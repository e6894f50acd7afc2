"""Definitions of KnowU-Bench's numbers, for `hitlab runs metrics --explain`."""

from __future__ import annotations

from collections.abc import Mapping

_GROUPS = (
    "A run in which the person rejected is in Stop's group, any other in Act's or Silent's by whether its task "
    "warrants an intervention: the person's profile holds a habit behind the routine, the task's trait `warranted` "
    "says so, or its checks want an offer or silence."
)

DEFINITIONS: Mapping[str, str] = {
    "SR": (
        "Success rate: runs with a score above 0.99 / all runs, whole, by split, and by easy and hard (4.1, Table 2). "
        "A benchmark's run without a result has failed for *paper* and is left out for *script* "
        "(scripts/calc_paper_metrics.py; calc_split_difficulty_metrics.py can do either); a run of another source that "
        "nobody scored is in neither. Splits and difficulties are those of the task definitions' tags; the scripts "
        "know no whole. MobileWorld's two parts are its viewer's: tasks that need to ask (`AskUser` in their name), "
        "and the rest, those with tools too."
    ),
    "AveSteps": (
        "Steps of a run, as a mean over runs (4.1). *paper* counts executed actions t_i, a last answer or status among "
        "them, since its action space (Table 4) lists both; what a gate refused was not executed. *script* counts all "
        "entries of traj.json, of runs with a result (scripts/calc_paper_metrics.py)."
    ),
    "AveQueries": (
        "Questions to the person (ask_user) in a run, one that was open when it was stopped among them, as a mean over "
        "runs (4.1, Figure 3b): *paper* over all runs, *script* over those with a result "
        "(scripts/calc_paper_metrics.py)."
    ),
    "Efficiency": (
        "50 / AveSteps, as *paper* counts steps (4.1, Figure 3b): above 1 where runs take fewer than 50 steps on "
        "average. No script computes it."
    ),
    "Score": (
        "Average score: the mean of S_i over personalized runs (4.1, Table 2), where S_i is the hybrid score where it "
        "is known, else the score that the run came with; where rules alone decide a task, 1 if all of them held, else "
        "0 (3.3). `hitlab runs list` prints the score that the run came with. A missing result counts 0 for *paper* "
        "and is left out for *script* (scripts/calc_paper_metrics.py). A role's average is over its personalized and "
        "proactive runs, missing results as 0 (Figure 3a, scripts/calc_persona_pref_routine_merged_avg.py). A judge "
        "that failed was scored 0.5 by the benchmark itself, which nothing tells apart."
    ),
    "IE": (
        "Interaction efficiency: S_i / max(c_i, 1) as a mean over runs, c_i being the run's questions, so that none "
        "costs what one does (4.1). *paper* is of personalized runs, a missing result counting 0; *script* is told of "
        "proactive ones, too, and leaves missing results out (scripts/calc_paper_metrics.py)."
    ),
    "Act": (
        f"Of proactive runs whose task warrants an intervention, the share that intervened (4.1, Figure 3c). {_GROUPS} "
        "*paper*: it acted on the phone or asked; looking around (scrolling, home, back), waiting and ending are no "
        "intervention. *script*: its score is above 0.99, which is success; the group goes by the last "
        "decision in the replies (scripts/calc_paper_metrics.py)."
    ),
    "Silent": (
        "Of proactive runs whose task warrants no intervention, the share that kept quiet (4.1, Figure 3c; groups as "
        "for Act). *paper*: it neither acted nor asked. *script*: nothing but wait, finished, ask_user, and answers "
        "whose whole text is empty, task finished, task failed, finished, failed or success; so a question passes, and "
        "`Task finished.` with its full stop, status or going home do not (scripts/calc_paper_metrics.py)."
    ),
    "Stop": (
        "Of proactive runs that the person rejected, the share that then left it (4.1, Figure 3c). *paper*: after the "
        "first explicit rejection (a key or its tag, not words) it neither acted nor asked. *script*: the last "
        "decision found, by tag or else by the words reject or accept, must be a rejection, and from the step after "
        "the first one on nothing but wait, finished, ask_user and answers came; so asking on and on passes "
        "(scripts/calc_paper_metrics.py). A reply to the last step is not in traj.json, so *script* does not see it."
    ),
    "Hybrid score": (
        "S_i = lambda x S_rule + (1 - lambda) x S_llm as a mean over runs that have what it takes (3.4). Lambda is the "
        "task's trait `lambda`, else its rule_weight, else --lambda; S_rule is the verdict `rule`, else the run's own "
        "score where rules were checked; S_llm is the settled mark `llm`, as a study of rubrics gives it (--study: the "
        "weighted mean of the criteria, people's or with --rater a judge's), else the verdict of that name. Where "
        "lambda is 1 the task is fully programmatic, and S_rule is binary: 1 where the rules come to more than 0.99, "
        "else 0; so is S_i of general and proactive runs whose rules were checked, with no lambda and no judge, "
        "wherever S_i counts here; a personalized task's rules give a share, which waits for its judge. The paper "
        "gives each task's lambda in words only, and runs of its benchmark bring but the finished S_i."
    ),
    "UIQ": (
        "User interaction quality, MobileWorld's own: success / questions, summed over runs of tasks that need to ask "
        "(0 where none was asked), / (the number of these runs + that of other runs that asked). It is what its log "
        "viewer computes, of runs with a result and at least one step, and another number than IE, which the paper "
        "derives from it (4.1)."
    ),
}
