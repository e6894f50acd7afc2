"""Definitions of FingerTip-20K's numbers, for `hitlab runs metrics --explain`."""

from __future__ import annotations

from collections.abc import Mapping

DEFINITIONS: Mapping[str, str] = {
    "Sim1": (
        "(S_1 + S_2) / 2 of a guess and the true intent, as a mean over runs (5.1, Table 3): `Cosine` and "
        "`Levenshtein` here. It takes an embedding model (--embed); the paper's is "
        "local:paraphrase-multilingual-MiniLM-L12-v2. The guess is the run's first proposal, else its final answer; "
        "the true intent is the instruction of the task's demonstration, else its trait `intent`. Runs that guessed "
        "nothing are left out and told."
    ),
    "Cosine": (
        "S_1: the cosine of the embeddings of guess and true intent, as a mean over runs (5.1). What is below 0 is "
        "taken for 0: the paper wants 0 to 1 without saying how, and with (1 + cosine) / 2 its means could not be as "
        "low as they are."
    ),
    "Levenshtein": (
        "S_2: 1 - the fewest insertions, deletions and replacements of characters / the longer length, of guess and "
        "true intent, as a mean over runs (5.1). The paper does not say what it divides by. Without an embedding model "
        "this half is told alone."
    ),
    "SR1": (
        "Guesses that mean the same as the true intent / guesses that were judged (5.1, Table 3). The judgement is the "
        "settled mark `sr1`, else the source's verdict of that name; the paper asks DeepSeek-V3."
    ),
    "SR2": (
        "Runs that reached what was asked / runs that were judged, of tasks that a person has demonstrated (5.1, "
        "Table 4). The judgement is the settled mark `sr2`, else the verdict of that name, else a score above 0.99; "
        "more than 2.5 times the golden steps is a failure whatever is said. Golden steps are those of the same user's "
        "demonstration, else of the first one; the last action, which ends the run, counts on both sides."
    ),
    "Sim2": (
        "S_I / S_II of each run, as a mean over runs (5.1, Table 4): above 1 the agent acts more like its user than "
        "like another. The paper leaves open whether it divides means or takes the mean of ratios; S_I and S_II stand "
        "beside it. Runs with an S_II of 0 are left out."
    ),
    "S_I": (
        "The Levenshtein similarity, as for guesses, of the agent's whole action sequence to its user's own, as a mean "
        "over the runs that Sim2 is of (5.1). The paper compares two strings: here actions are spelled as its prompt "
        "spells them (A.7.2), such as `click(coordinates=(540,1200), content='Search')`, joined by semicolons, so that "
        "screens of other sizes make sequences differ. `content` is what the run says stands under the finger, empty "
        "where it says nothing; actions that the paper has not keep our names."
    ),
    "S_II": (
        "The same similarity to the sequence of the most similar intent among demonstrations of users of another type "
        "(4.4, 5.1), as a mean over the runs that Sim2 is of. A type is an age by decades, since the paper says age "
        "groups and no bounds; an age told as a group is that group. Intents are compared by the embedding model, else "
        "by Levenshtein; where several are equally similar, the mean over all of them counts."
    ),
    "Step Ratio": (
        "Steps / golden steps, as a mean over runs that were judged a success (5.1, Table 4), golden steps as for SR2."
    ),
    "Time": (
        "Seconds of one query to the model, as a mean over the steps that tell it, apart for guesses and executions "
        "(5.1, Tables 3 and 4). A query is taken for a step."
    ),
    "Token": (
        "Tokens sent and answered in one query to the model, as a mean over the steps that tell them, apart for "
        "guesses and executions (5.1, Tables 3 and 4)."
    ),
}
