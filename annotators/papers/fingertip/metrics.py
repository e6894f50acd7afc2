"""FingerTip-20K's numbers (5.1): guessing a user's intent, and executing it as that user would.

Suggestion: Sim1 = (S1 + S2) / 2 of guess and true intent, S1 the cosine of their embeddings, S2 = 1 - Levenshtein
distance / the longer length. Without an embedding model S2 is reported by its own name and Sim1 is undefined. SR1 is
the share of guesses judged to mean the same.

Execution: SR2 is the share that reached the goal, never with more than 2.5 times the golden steps. Sim2 = S_I / S_II,
where S_I is the Levenshtein similarity of the agent's whole action sequence to the user's own, and S_II that to the
sequence of the most similar intent among users of another type. Step ratio = steps / golden steps of successes.

Choices that the paper leaves open: a type is an age by decades. Intents are compared by the embedding model if there is
one, else by Levenshtein. Of several equally similar ones the mean S_II counts. `sequence_of` writes the sequences.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from annotators.papers.fingertip.other_users import OtherUsers
from annotators.papers.fingertip.text_similarity import LONGEST, cosine, mean_similarity, similarity
from annotators.papers.fingertip.tracks import MOST, Execution, Guess, executions_of, guesses_of, sequence_of
from annotators.papers.metrics import LeftOut, LeftOutTally, MetricContext, PaperNumber, mean_number
from lab.core.run.measured_run import MeasuredRun

__all__ = ["DEFINITIONS", "measure"]

PAPER = "fingertip"
_number = partial(mean_number, PAPER)


def measure(cases: Sequence[MeasuredRun], context: MetricContext) -> list[PaperNumber]:
    """Return the numbers of both tracks for one group of runs."""
    return [*_suggestion(cases, context), *_execution(cases, context)]


def _suggestion(cases: Sequence[MeasuredRun], context: MetricContext) -> Iterable[PaperNumber]:
    tally = LeftOutTally()
    guesses = guesses_of(cases, context.gold, tally)
    out = tally.counts
    if not guesses:
        for metric in ("Sim1", "Levenshtein", "SR1"):
            yield _number(metric, "score", [], out=out, why="no run guesses an intent that is known")
        return
    suggestions = tally.filter(guesses, _why_not_comparable)
    alike = [similarity(guess.text, guess.intent) for guess in suggestions]
    why = "no guess has a text"
    yield from _sim1(suggestions, alike, context, tally.counts)
    yield _number("Levenshtein", "score", alike, out=tally.counts, why=why)
    verdict_tally = LeftOutTally()
    right = verdict_tally.filter(guesses, lambda guess: "not judged" if guess.right is None else "")
    values = [float((guess.right or 0.0) >= 0.5) for guess in right]
    yield _number("SR1", "share", values, out=out + verdict_tally.counts, why="nobody has judged a guess")
    yield from _cost([guess.case for guess in guesses], "suggestion", out)


def _why_not_comparable(guess: Guess) -> str:
    if not guess.text:
        return "without a guess"
    return "too long to compare" if max(len(guess.text), len(guess.intent)) > LONGEST else ""


def _sim1(
    guesses: Sequence[Guess], alike: Sequence[float], context: MetricContext, out: LeftOut
) -> Iterable[PaperNumber]:
    embed, name = context.terms.embed, context.terms.embedder
    if embed is None:
        why = "no embedding model was named; its Levenshtein half is told alone"
        yield _number("Sim1", "score", [], out=out, why=why)
        return
    texts = [text for guess in guesses for text in (guess.text, guess.intent)]
    vectors = embed(texts) if texts else []
    near = [cosine(vectors[i], vectors[i + 1]) for i in range(0, len(texts), 2)]
    both = [(one + other) / 2 for one, other in zip(near, alike, strict=True)]
    yield _number("Sim1", "score", both, out=out, why="no guess has a text", note=f"embeddings: {name}" if name else "")
    yield _number(
        "Cosine", "score", near, out=out, why="no guess has a text", note=f"embeddings: {name}" if name else ""
    )


def _execution(cases: Sequence[MeasuredRun], context: MetricContext) -> Iterable[PaperNumber]:
    tally = LeftOutTally()
    runs = executions_of(cases, context.gold, tally)
    out = tally.counts
    if not runs:
        for metric in ("SR2", "Sim2", "Step Ratio"):
            yield _number(metric, "ratio", [], out=out, why="no run of a task that a person has demonstrated")
        return
    judged_runs = tally.filter(runs, lambda run: "not judged" if run.done is None else "")
    values = [float(run.done is True) for run in judged_runs]
    beyond = sum(run.done is False and run.steps > MOST * run.golden for run in judged_runs)
    note = f"{beyond} failed by taking more than {MOST:g} times the golden steps" if beyond else ""
    yield _number("SR2", "share", values, out=tally.counts, why="nobody has judged a run", note=note)
    yield from _likeness(runs, context, out)
    step_ratios = [run.steps / run.golden for run in judged_runs if run.done]
    left_out = (
        (*tally.counts, ("without success", len(judged_runs) - len(step_ratios)))
        if len(step_ratios) < len(judged_runs)
        else tally.counts
    )
    yield _number("Step Ratio", "ratio", step_ratios, out=left_out, why="no run succeeded")
    yield from _cost([run.case for run in runs], "execution", out)


def _likeness(runs: Sequence[Execution], context: MetricContext, out: LeftOut) -> Iterable[PaperNumber]:
    """Yield Sim2, and its two halves over the same runs."""
    tally = LeftOutTally()
    others = OtherUsers(context)
    halves: list[tuple[float, float]] = []
    for run in runs:
        distances, why = others.comparable_episodes(run)
        if not distances:
            tally.add(why)
            continue
        sequence, golden_sequence = sequence_of(run.case), others.sequence(run.demonstration)
        theirs = [others.sequence(other) for other in distances]
        if max(map(len, (sequence, golden_sequence, *theirs))) > LONGEST:
            tally.add("too long to compare")
            continue
        halves.append((similarity(sequence, golden_sequence), mean_similarity(sequence, theirs)))
    pairs = tally.filter(halves, lambda half: "" if half[1] else "sharing nothing with the other user")
    left_out = out + tally.counts
    why = "; ".join(reason for reason, _ in tally.counts)
    yield _number("Sim2", "ratio", [near / far for near, far in pairs], out=left_out, why=why)
    yield _number("S_I", "score", [near for near, _ in pairs], out=left_out, why=why)
    yield _number("S_II", "score", [far for _, far in pairs], out=left_out, why=why)


def _cost(cases: Sequence[MeasuredRun], part: str, out: LeftOut) -> Iterable[PaperNumber]:
    """Yield the average time and tokens of one query: of one step with known usage."""
    # Arrays of doubles, because there is one value for each step of all runs.
    times, tokens = array("d"), array("d")
    for usage in (step.usage for case in cases for step in case.steps):
        if usage is not None and usage.seconds is not None:
            times.append(usage.seconds)
        if usage is not None and (usage.prompt_tokens is not None or usage.completion_tokens is not None):
            tokens.append((usage.prompt_tokens or 0) + (usage.completion_tokens or 0))
    yield _number("Time", "seconds", times, out=out, why="no step tells its time", of="queries", part=part)
    yield _number("Token", "count", tokens, out=out, why="no step tells its tokens", of="queries", part=part)


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
