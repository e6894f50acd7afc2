"""People's guesses of intents (FingerTip 20K 5.2, Table 3): SR1, Sim1, time, and agreement of guesses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from statistics import median
from typing import NamedTuple

import numpy as np

from annotators.agreement.coefficients.categorical import gwet_ac, percent
from annotators.agreement.ratings.ratings import RatedItem
from annotators.papers import cells
from annotators.papers.answer_arrays import AnswerRow, ratings_by
from annotators.papers.cells import (
    UnitValue,
    average,
    coefficient,
    count,
    few_runs_warning,
    number_without_interval,
    share,
    share_of_independent,
    undefined_number,
)
from annotators.papers.field_answers import answers_in, asked_units, cases_of, studies_beside, truths
from annotators.papers.fingertip.text_similarity import LONGEST, cosine, similarity
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement
from lab.core.study.report import Cell, Number, Section, Table
from lab.core.study.study import Unit
from lab.core.text.plain_text import fold_text
from lab.core.values.rounding import count as so_many

GUESS = "guess"
_SOURCE = "FingerTip 20K 5.2, Table 3"
_NO_MODEL = "needs an embedding model"
_NOT_JUDGED = "nobody has judged the guesses: name a study of same intents with --extra-study"
_SAME = ("not_same", "same")
_NO_VERDICT = "not_judged"
"""Reason why a guess is neither right nor wrong: nobody judged it, or it cannot be judged."""
_NO_INTENT, _TOO_LONG, _NO_TIME = "no_intent", "too_long", "no_time"
"""Reasons why a guess has no similarity to the intent, or no time."""


class RaterGuess(NamedTuple):
    """One person's guess. `intent` is empty if unknown."""

    unit: Unit
    rater: str
    text: str
    intent: str
    seconds: float


def sections(study_data: StudyData) -> list[Section]:
    """Return people's row of Table 3, each person's own row, and the episodes that several people guessed."""
    guesses = guesses_of(study_data)
    title = "Proactive guesses"
    if not guesses:
        return [Section(title, ("Nobody has handed in a guess yet.",))]
    judge_verdicts = verdicts(study_data)
    unknown = sum(not one.intent for one in guesses)
    says = (f"In no score: {so_many(unknown, 'guess', 'guesses')}, of intents that are not known.",) if unknown else ()
    tables = (_human_table(study_data, guesses, judge_verdicts), _people(study_data, guesses, judge_verdicts))
    return [Section(title, says, tables), _shared_section(study_data, guesses, judge_verdicts)]


def guesses_of(study_data: StudyData) -> list[RaterGuess]:
    """Return every current guess, in the study's order."""
    units = {unit.id: unit for unit in asked_units(study_data)}
    intents = _intents(study_data)
    names = [one.id for one in study_data.columns.raters]
    return [
        RaterGuess(units[one.unit], names[one.rater], str(one.value).strip(), intents.get(one.unit, ""), one.seconds)
        for one in answers_in(study_data, GUESS)
        if one.value is not None
    ]


def _intents(study_data: StudyData) -> dict[str, str]:
    """Return the intent by unit.

    It is the instruction of the episode or of its task's demonstration, or the trait `intent`.
    """
    intents = {}
    instruction_by_task: dict[str, str] | None = None
    for unit, case in cases_of(study_data).items():
        intent = case.task.instruction or case.task.traits.get("intent", "")
        if not intent and instruction_by_task is None:
            instruction_by_task = {one.task.id: one.task.instruction for one in study_data.further.runs() if one.gold}
        intents[unit] = intent or (instruction_by_task or {}).get(case.task.id, "")
    return intents


# -- scores ----------------------------------------------------------------------------------------------------


def _scored_guesses(guesses: Sequence[RaterGuess]) -> tuple[list[RaterGuess], bool]:
    """Return the guesses for scores, and True if each is the only one of its episode.

    Episodes that several people guessed are only there for agreement. They count if there are no others.
    """
    many = _by_unit(guesses)
    single = [one for one in guesses if len(many[one.unit.id]) == 1]
    return (single, True) if single else (list(guesses), False)


def _by_unit(guesses: Sequence[RaterGuess]) -> dict[str, list[RaterGuess]]:
    guesses_by_unit: dict[str, list[RaterGuess]] = {}
    for one in guesses:
        guesses_by_unit.setdefault(one.unit.id, []).append(one)
    return guesses_by_unit


def _human_table(study_data: StudyData, guesses: Sequence[RaterGuess], judge_verdicts: Sequence[Verdicts]) -> Table:
    sample, single = _scored_guesses(guesses)
    rows: list[tuple[Cell, ...]] = []
    for by in judge_verdicts or [Verdicts("nobody", {})]:
        says = "Human" if by.name == "nobody" else f"Human, judged by {by.name}"
        rows.append(
            (says, *_success_cells(study_data, sample, by, single), *_similarity_cells(study_data, sample), "-")
        )
    episodes = len({one.unit.id for one in sample})
    kind = "that one person guessed" if single else "all of them guessed by several; an episode counts once"
    guess_count = so_many(len(sample), "guess", "guesses")
    notes = (
        f"{guess_count} of {so_many(episodes, 'episode')}, {kind}. Profile, time, place and past intents, no screens.",
        "A verdict of cannot tell is neither right nor wrong, and is left out.",
        "Sim1 is the mean of a cosine of embeddings and of the Levenshtein half, which stands beside it"
        + (
            f" (embeddings: {study_data.further.embedder})."
            if study_data.further.embedder
            else "; --embed names a model."
        ),
        "Tokens are a model's: people have none.",
        "The paper has SR1 30.3 % and Sim1 0.57 for 20 people and 400 episodes; 121 of 400 would be 26.0 to 35.0 %.",
        *few_runs_warning(episodes, "episodes"),
    )
    head = ("", "SR1", "SR1, by user", "Sim1", "Levenshtein", "Time (s)", "Time, median (s)", "Token")
    return Table("fingertip-human", "People's guesses", head, tuple(rows), _SOURCE, notes)


def _success_cells(
    study_data: StudyData, guesses: Sequence[RaterGuess], by: Verdicts, single: bool
) -> tuple[Cell, Cell]:
    """Return SR1 with Wilson's interval, and with one over users.

    The former is undefined if episodes count twice.
    """
    rights = [(one, right) for one in guesses if (right := by.right(one.intent, one.text)) is not None]
    between = f"people, judged by {by.name}"
    if not rights:
        return cells.percent(undefined_number(GUESS, "SR1", _NOT_JUDGED)), cells.percent(
            undefined_number(GUESS, "SR1", _NOT_JUDGED)
        )
    items = _means(rights, lambda right: float(right))
    raters, left_out = _raters([one for one, _ in rights]), _not_judged(guesses, rights)
    by_user = share(
        study_data, items, GUESS, "SR1", part="clustered by user", between=between, raters=raters, left_out=left_out
    )
    # Wilson's interval needs one guess per episode.
    if not single:
        why = "episodes count several guesses: read the one by user"
        return cells.percent(undefined_number(GUESS, "SR1", why, between=between)), cells.percent(by_user)
    hits = sum(right for _, right in rights)
    alone = share_of_independent(
        study_data, hits, len(rights), GUESS, "SR1", between=between, raters=raters, left_out=left_out
    )
    return cells.percent(alone), cells.percent(by_user)


def _not_judged(guesses: Sequence[RaterGuess], judged_ones: Sequence[object]) -> dict[str, int]:
    """Return the number of guesses that are neither right nor wrong."""
    many = len(guesses) - len(judged_ones)
    return {_NO_VERDICT: many} if many else {}


def _means(similarities: Sequence[tuple[RaterGuess, float]], of: Callable[[float], float]) -> list[UnitValue]:
    """Return the mean of each episode's guesses, clustered by user."""
    by_unit: dict[str, list[float]] = {}
    units = {one.unit.id: one.unit for one, _ in similarities}
    for one, value in similarities:
        by_unit.setdefault(one.unit.id, []).append(of(value))
    return [UnitValue(id, units[id].clustered, float(np.mean(values))) for id, values in by_unit.items()]


def _raters(guesses: Sequence[RaterGuess]) -> int:
    return len({one.rater for one in guesses})


def _similarity_cells(study_data: StudyData, guesses: Sequence[RaterGuess]) -> tuple[Cell, ...]:
    """Return Sim1, its half that needs no model, and the time of a guess."""
    why = [_why_not_comparable(one) for one in guesses]
    similarities = [
        (one, similarity(one.text, one.intent)) for one, reason in zip(guesses, why, strict=True) if not reason
    ]
    left_out = dict(Counter(reason for reason in why if reason))
    near = _means(similarities, lambda value: value)
    raters = _raters([one for one, _ in similarities])
    half = average(
        study_data,
        near,
        GUESS,
        "Levenshtein similarity",
        most=1.0,
        raters=raters,
        why="no intent is known",
        left_out=left_out,
    )
    return Number(_sim1(study_data, similarities, left_out)), Number(half), *_time_cells(study_data, guesses)


def _time_cells(study_data: StudyData, guesses: Sequence[RaterGuess]) -> tuple[Cell, Cell]:
    """Return the mean and the median time of guesses."""
    times = [(one, one.seconds) for one in guesses if np.isfinite(one.seconds)]
    untimed = len(guesses) - len(times)
    left_out = {_NO_TIME: untimed} if untimed else {}
    mean_seconds = average(
        study_data, _means(times, lambda value: value), GUESS, "mean seconds", least=0.0,
        raters=_raters([one for one, _ in times]), why="no time was kept", left_out=left_out,
    )  # fmt: skip
    median_seconds = (
        number_without_interval(
            median(seconds for _, seconds in times), GUESS, "median seconds", "a median describes", n=len(times),
            left_out=left_out,
        )
        if times
        else undefined_number(GUESS, "median seconds", "no time was kept", left_out=left_out)
    )  # fmt: skip
    return Number(mean_seconds, 1), Number(median_seconds, 1)


def _sim1(
    study_data: StudyData, similarities: Sequence[tuple[RaterGuess, float]], left_out: Mapping[str, int]
) -> Agreement:
    """Return the mean of embeddings' cosine and Levenshtein similarity."""
    embed = study_data.further.embed
    if embed is None or not similarities:
        return undefined_number(GUESS, "Sim1", "no intent is known" if embed else _NO_MODEL, left_out=left_out)
    vectors = embed([text for one, _ in similarities for text in (one.text, one.intent)])
    both = [
        (one, (cosine(vectors[2 * at], vectors[2 * at + 1]) + half) / 2) for at, (one, half) in enumerate(similarities)
    ]
    items = _means(both, lambda value: value)
    return average(
        study_data, items, GUESS, "Sim1", most=1.0, raters=_raters([one for one, _ in similarities]), left_out=left_out
    )


def _why_not_comparable(one: RaterGuess) -> str:
    """Return why a guess cannot be compared with the intent, empty if it can."""
    if not one.intent:
        return _NO_INTENT
    return _TOO_LONG if max(len(one.text), len(one.intent)) > LONGEST else ""


def _people(study_data: StudyData, guesses: Sequence[RaterGuess], judge_verdicts: Sequence[Verdicts]) -> Table:
    by = judge_verdicts[0] if judge_verdicts else Verdicts("nobody", {})
    rows: list[tuple[Cell, ...]] = []
    for code in sorted({one.rater for one in guesses}):
        own = [one for one in guesses if one.rater == code]
        rights = [right for one in own if (right := by.right(one.intent, one.text)) is not None]
        share_right = share_of_independent(
            study_data, sum(rights), len(rights), GUESS, "SR1", between=code, raters=1, why=_NOT_JUDGED,
            left_out=_not_judged(own, rights),
        )  # fmt: skip
        rows.append((code, count(len(own), GUESS, part=code), cells.percent(share_right)))
    notes = ("Wilson intervals; all of a person's guesses, those of shared episodes too.",)
    return Table("fingertip-people", "By person", ("Person", "Guesses", "SR1"), tuple(rows), _SOURCE, notes)


# -- shared episodes -------------------------------------------------------------------------------------------


def _shared_section(
    study_data: StudyData, guesses: Sequence[RaterGuess], judge_verdicts: Sequence[Verdicts]
) -> Section:
    title = "Episodes that several people guessed"
    short = [one for one in guesses if len(one.text) <= LONGEST]
    several = {unit: them for unit, them in _by_unit(short).items() if len(them) > 1}
    if not several:
        return Section(title, ("No episode was guessed by two people, so guesses cannot be compared.",))
    pairs = {unit: [*combinations(them, 2)] for unit, them in several.items()}
    raters = _raters([one for them in several.values() for one in them])
    near = [
        UnitValue(
            unit, them[0][0].unit.clustered, float(np.mean([similarity(one.text, other.text) for one, other in them]))
        )
        for unit, them in pairs.items()
    ]
    same = [
        UnitValue(
            unit, them[0][0].unit.clustered, float(np.mean([fold_text(a.text) == fold_text(b.text) for a, b in them]))
        )
        for unit, them in pairs.items()
    ]
    rows: list[tuple[Cell, ...]] = [
        ("episodes", count(len(several), GUESS, part="shared")),
        ("likeness of two guesses (Levenshtein)", Number(
            average(study_data, near, GUESS, "Levenshtein similarity of pairs", most=1.0, raters=raters))),
        ("two guesses are the same text", cells.percent(share(study_data, same, GUESS, "same text", raters=raters))),
        *_right_together(study_data, several, judge_verdicts),
    ]  # fmt: skip
    notes = ("Means over episodes of all pairs of guesses in each.", *few_runs_warning(len(several), "episodes"))
    table = Table("fingertip-shared", title, ("", "Value"), tuple(rows), "FingerTip 20K 5.2", notes)
    return Section(title, tables=(table,))


def _right_together(
    study_data: StudyData, several: Mapping[str, Sequence[RaterGuess]], judge_verdicts: Sequence[Verdicts]
) -> list[tuple[Cell, ...]]:
    """Return agreement in being right about the same episodes."""
    right_rows: list[tuple[Cell, ...]] = []
    names = sorted({one.rater for them in several.values() for one in them})
    for by in judge_verdicts:
        rows = []
        for unit, them in several.items():
            right_by_rater = {one.rater: by.right(one.intent, one.text) for one in them}
            values = [None if (right := right_by_rater.get(name)) is None else _SAME[right] for name in names]
            why = [_NO_VERDICT if name in right_by_rater else "" for name in names]
            rows.append(AnswerRow(RatedItem(unit, ""), them[0].unit.clustered, values, why))
        of = ratings_by("right guess", _SAME, names, rows)
        says = f"right or wrong together, judged by {by.name}"
        right_rows.append((f"{says}: pairs agree", cells.percent(coefficient(study_data, percent(of), of))))
        right_rows.append((f"{says}: AC1", Number(coefficient(study_data, gwet_ac(of), of))))
    return right_rows


SAME = "same"
Texts = tuple[str, str]


class Verdicts(NamedTuple):
    """Verdicts of `name` on pairs of intent and guess: same, not_same, cannot_tell."""

    name: str
    of: Mapping[Texts, str]

    def right(self, intent: str, guess: str) -> bool | None:
        """Return True if a guess is right, or None if it was not judged or cannot be judged."""
        verdict = self.of.get((_join_lines(intent), _join_lines(guess)))
        return {"same": True, "not_same": False}.get(verdict or "")


def verdicts(study_data: StudyData) -> list[Verdicts]:
    """Return the verdicts of studies of same intents beside this one: the majority first, then each judge."""
    rows: list[Verdicts] = []
    for other in studies_beside(study_data, "same-intent"):
        texts = {unit.id: texts_of(unit) for unit in asked_units(other)}
        most = {texts[unit]: one.value for (unit, _), one in truths(other, SAME).items()}
        if most:
            rows.append(Verdicts("most people", most))
        for judge in other.judges:
            verdict_texts = {
                texts[one.unit]: str(one.value) for one in answers_in(other, SAME, (judge,)) if one.value is not None
            }
            if verdict_texts:
                rows.append(Verdicts(other.columns.raters[judge].id, verdict_texts))
    return rows


def texts_of(unit: Unit) -> Texts:
    """Return intent and guess of a unit, normalised for comparison."""
    sides = {material.side: material.text for material in unit.given}
    return _join_lines(sides.get("A", "")), _join_lines(sides.get("B", ""))


def _join_lines(text: str) -> str:
    return " ".join(text.split())
