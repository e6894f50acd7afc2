"""A judge by the agents whose runs it judges: differences of agents' corrected rates, and biases between agents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.ratings.ratings import Floats, Ratings
from annotators.study_data import StudyData
from annotators.validation.active_order import ActiveOrder, labelled_probability
from annotators.validation.biases import NONE, SelfPreference, VerbosityBias, self_preference, verbosity_bias
from annotators.validation.judge_config import judge_configs
from annotators.validation.prediction_powered import CorrectedDifference, corrected_difference, labelled_units
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.agreement import IntervalTerms
from lab.core.study.study import Unit

MOST_AGENTS = 6
"""Maximum number of agents whose differences are reported, those with the most items: fifteen pairs are enough
to read."""


class AgentDifference(NamedTuple):
    """The difference of a category's share between two agents' runs.

    `paired` is True if both worked the same tasks, once each, so that the tasks' difficulty cancels out. `items` and
    `labelled` are (one, other).
    """

    one: str
    other: str
    found: CorrectedDifference
    paired: bool
    items: tuple[int, int]
    labelled: tuple[int, int]


class _JudgedItem(NamedTuple):
    """An item that a judge answered: the run's agent, its key (task, target), and its row."""

    agent: str
    key: tuple[str, str]
    row: int


def family_of(model: str) -> str:
    """Return the family in a model's name: `openai/gpt-4.1-mini` is of `gpt`, empty if there is no name."""
    name = model.rsplit("/", 1)[-1].lower()
    match = re.match(r"[a-z]+", name)
    return match[0] if match else ""


def model_of(case: MeasuredRun) -> str:
    """Return the model behind a run, from its source or its agent, empty if unknown."""
    if case.source is not None and case.source.model and not case.agent.model:
        return case.source.model
    return (case.agent.model or case.agent.id) if case.agent.kind == "model" else ""


def agent_differences(
    study_data: StudyData,
    judge_ratings: Ratings,
    settled_codes: npt.NDArray[np.int16],
    category: str,
    order: ActiveOrder | None,
) -> Iterator[AgentDifference]:
    """Yield the difference in the share of `category` between each two agents whose runs the judge judged.

    `judge_ratings` is the judge's column, `settled_codes` (its places) are the settled answers, -1 if there is none.
    """
    items = [one for one in _items(study_data, judge_ratings) if judge_ratings.codes[one.row, 0] >= 0]
    counts = Counter(one.agent for one in items)
    # By name among equals, so that the selection does not depend on the file.
    agents = sorted(counts, key=lambda agent: (-counts[agent], agent))[:MOST_AGENTS]
    code = judge_ratings.categories.index(category)
    judge = (judge_ratings.codes[:, 0] == code).astype(np.float64)
    people = np.where(settled_codes >= 0, (settled_codes == code).astype(np.float64), np.nan)
    likely = _label_probabilities(judge_ratings, settled_codes, order)
    for one, other in combinations(sorted(agents), 2):
        rows = [[item for item in items if item.agent == agent] for agent in (one, other)]
        paired = _are_paired(*rows)
        if paired:
            rows = [sorted(part, key=lambda item: item.key) for part in rows]
        at = [np.array([item.row for item in part], dtype=np.int64) for part in rows]
        label_counts = [int(np.isfinite(people[part]).sum()) for part in at]
        if not all(label_counts):
            continue
        units = [
            labelled_units(judge[part], people[part], None if likely is None else likely[part], _clusters(rows[side]))
            for side, part in enumerate(at)
        ]
        difference = corrected_difference(units[0], units[1], study_data.how.level, paired=paired)
        yield AgentDifference(
            one, other, difference, paired, (len(at[0]), len(at[1])), (label_counts[0], label_counts[1])
        )


def _items(study_data: StudyData, judge_ratings: Ratings) -> Iterator[_JudgedItem]:
    """Yield the judge's items of single runs, by agent and task."""
    units = {unit.id: unit for unit in study_data.units}
    for row, place in enumerate(judge_ratings.places):
        case = _case(study_data, units.get(place.unit))
        if case is not None:
            yield _JudgedItem(case.agent.identity, (case.task.id or case.id, place.target), row)


def _case(study_data: StudyData, unit: Unit | None) -> MeasuredRun | None:
    """Return the run of a unit, or None if it is not about exactly one."""
    if unit is None or not unit.runs or study_data.study.protocol.unit == "pair of runs":
        return None
    return study_data.case(unit.runs[0])


def _label_probabilities(
    judge_ratings: Ratings, settled_codes: npt.NDArray[np.int16], order: ActiveOrder | None
) -> Floats | None:
    if order is None:
        return None
    units = [place.unit for place in judge_ratings.places]
    there = (settled_codes >= 0) & (judge_ratings.codes[:, 0] >= 0)
    return labelled_probability(order, units, {unit for unit, is_so in zip(units, there, strict=True) if is_so})


def _are_paired(one: Sequence[_JudgedItem], other: Sequence[_JudgedItem]) -> bool:
    """Return True if both have the same items, each once."""
    keys = [[item.key for item in part] for part in (one, other)]
    return all(len(set(part)) == len(part) for part in keys) and set(keys[0]) == set(keys[1])


def _clusters(items: Sequence[_JudgedItem]) -> npt.NDArray[np.int32] | None:
    """Return the items' tasks as numbers, or None if each item has its own task."""
    numbers = np.unique([item.key[0] for item in items], return_inverse=True)[1].astype(np.int32)
    return numbers if len(set(numbers.tolist())) < len(numbers) else None


# -- what sways it ---------------------------------------------------------------------------------------------


def own_family(
    study_data: StudyData,
    judge: str,
    judge_ratings: Ratings,
    settled_codes: npt.NDArray[np.int16],
    category: str,
    how: IntervalTerms,
) -> SelfPreference | None:
    """Return self-preference: the excess of `category` for the judge's own model family.

    None if a family is unknown.
    """
    own = {family_of(str(config.get("model", ""))) for config in judge_configs(study_data.acts, judge)} - {""}
    units = {unit.id: unit for unit in study_data.units}
    cases = [_case(study_data, units.get(place.unit)) for place in judge_ratings.places]
    families = [family_of(model_of(case)) if case is not None else "" for case in cases]
    if not own or not any(families):
        return None
    has_family = np.array([bool(family) for family in families])
    mine = np.array([family in own for family in families])
    code = judge_ratings.categories.index(category)
    answers = np.where((judge_ratings.codes[:, 0] >= 0) & has_family, judge_ratings.codes[:, 0] == code, np.nan)
    truth = np.where(settled_codes >= 0, settled_codes == code, np.nan)
    return self_preference(answers, truth, mine, judge_ratings.trace, how)


def by_length(
    study_data: StudyData,
    judge_ratings: Ratings,
    settled_codes: npt.NDArray[np.int16],
    sides: dict[str, int],
    how: IntervalTerms,
) -> VerbosityBias | None:
    """Return the bias of a judge of pairs to the longer side: by characters of texts, else by steps of runs.

    `sides` maps categories to sides. None if no pair has lengths.
    """
    units = {unit.id: unit for unit in study_data.units}
    lengths = np.array(
        [_lengths(study_data, units.get(place.unit)) for place in judge_ratings.places], np.float64
    ).reshape(-1, 2)
    has_lengths = np.asarray((lengths > 0).all(axis=1))
    if not has_lengths.any():
        return None
    side = np.array([*(sides.get(name, NONE) for name in judge_ratings.categories), NONE], dtype=np.int32)
    judge, people = (np.where(has_lengths, side[codes], NONE) for codes in (judge_ratings.codes[:, 0], settled_codes))
    return verbosity_bias(judge, people, np.where(has_lengths[:, None], lengths, 1.0), judge_ratings.trace, how)


def _lengths(study_data: StudyData, unit: Unit | None) -> tuple[int, int]:
    """Return the lengths of both sides, 0 if unknown."""
    if unit is None:
        return 0, 0
    texts = {one.side: len(one.text) + sum(map(len, one.items)) for one in unit.given if one.side}
    if texts.keys() == {"A", "B"}:
        return texts["A"], texts["B"]
    if study_data.study.protocol.unit != "pair of runs" or len(unit.runs) < 2:
        return 0, 0
    cases = [study_data.case(run) for run in unit.runs[:2]]
    first, second = (len(case.steps) if case is not None else 0 for case in cases)
    return first, second
