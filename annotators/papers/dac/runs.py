"""Comparison of a run with its task's demonstrations, step by step, from which DAC-Bench's numbers are computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from annotators.papers.dac.actions import (
    ComparableAction,
    Shown,
    demonstrated_steps,
    matches,
    matches_type,
    proposed_actions,
    screen,
    types,
)
from annotators.papers.metrics import MetricContext, demonstrations_of_task
from lab.core.run.measured_run import MeasuredRun

IS_DEMONSTRATION = "demonstrated by a person"
NOT_DEMONSTRATED = "whose task nobody has demonstrated"
"""Reason why a run is in no number that needs a demonstration, worded to follow a count."""
_MOST_READY = 256
"""Number of cached demonstrations: a data set has one for each of its thousands of tasks."""


class DemonstrationMatch(NamedTuple):
    """A run against one demonstration of `steps` steps.

    `exact` and `typed` are 1 for each step that was matched, else 0. Steps are paired by position, as in offline
    evaluation, where the agent sees each demonstrated screen (3.1). Actions after the demonstration's last step have no
    pair and count nowhere. `common` and `places` are the length of the longest common subsequence and the sum of its
    positions. `kept` are the indices of the demonstration's steps without slips. `prefix` and `stretch` are the numbers
    of consecutive exact steps, from the first one and at most.
    """

    gold: MeasuredRun
    types: Sequence[str]
    exact: bytes
    typed: bytes
    common: int
    places: int
    kept: Sequence[int]
    prefix: int
    stretch: int

    @property
    def steps(self) -> int:
        return len(self.types)

    @property
    def em(self) -> float:
        return sum(self.exact) / self.steps

    @property
    def tm(self) -> float:
        return sum(self.typed) / self.steps

    @property
    def gp(self) -> float:
        return self.prefix / self.steps

    @property
    def w_lcs(self) -> float:
        return w_lcs(self.places, self.steps)


class MatchedRun(NamedTuple):
    """A run against the demonstration of its task that suits it best, separately for each number.

    So a run that takes another way than one person is not punished if another person showed that way. Only EM and TM
    share a demonstration (`em`: the most exact, then the best in type), because an exact match is also one in type.
    """

    case: MeasuredRun
    em: DemonstrationMatch
    gp: DemonstrationMatch
    stretch: DemonstrationMatch
    w_lcs: DemonstrationMatch

    @property
    def success(self) -> bool:
        """SR: every step of a demonstration is matched exactly."""
        return all(self.em.exact)


class _Ready(NamedTuple):
    """A prepared demonstration. `kept` are the indices of its steps without slips."""

    steps: list[Shown]
    types: Sequence[str]
    kept: Sequence[int]


class Demonstrations:
    """Caches prepared demonstrations, up to a limit, and the result of each run against each of them."""

    def __init__(self) -> None:
        self._ready: dict[tuple[str, object], _Ready] = {}
        self._laid: dict[tuple[str, str], tuple[MeasuredRun, DemonstrationMatch]] = {}

    @classmethod
    def for_context(cls, context: MetricContext) -> Demonstrations:
        """Return the cache of a context, which all papers and groups share."""
        return cls() if context.ready is None else context.ready.setdefault("demonstrations", cls())

    def best_matches(self, case: MeasuredRun, golds: Sequence[MeasuredRun]) -> MatchedRun:
        """Return the run against all of these demonstrations. Each must have a step that is not a slip."""
        all_of = [self.match(case, gold) for gold in golds]
        if len(all_of) == 1:
            return MatchedRun(case, *all_of * 4)
        return MatchedRun(
            case,
            em=max(all_of, key=lambda one: (one.em, one.tm)),
            gp=max(all_of, key=lambda one: one.gp),
            stretch=max(all_of, key=lambda one: one.stretch / one.steps),
            w_lcs=max(all_of, key=lambda one: one.w_lcs),
        )

    def match(self, case: MeasuredRun, gold: MeasuredRun) -> DemonstrationMatch:
        """Return the run against one demonstration, cached. It must have a step that is not a slip."""
        before, match = self._laid.get((case.id, gold.id), (None, None))
        # Ids may repeat with other contents (a changed mark), so identity decides.
        if before is case and match is not None and match.gold is gold:
            return match
        match = self._match(case, gold)
        self._laid[case.id, gold.id] = case, match
        return match

    def _prepared_pair(self, case: MeasuredRun, gold: MeasuredRun) -> tuple[_Ready, list[ComparableAction]]:
        size = screen(gold)
        fallback = None if size else screen(case)
        key = (gold.id, fallback)
        # Popped and inserted again, so that the first key is the one that was not used for the longest time.
        ready = self._ready.pop(key, None)
        if ready is None:
            steps = demonstrated_steps(gold, fallback)
            ready = _Ready(steps, types(steps), [index for index, step in enumerate(gold.steps) if not step.slip])
        self._ready[key] = ready
        if len(self._ready) > _MOST_READY:
            del self._ready[next(iter(self._ready))]
        return ready, proposed_actions(case, size)

    def _match(self, case: MeasuredRun, gold: MeasuredRun) -> DemonstrationMatch:
        ready, acts = self._prepared_pair(case, gold)
        right = ready.steps
        places_by_step = matches(right, acts)
        common, places = subsequence(places_by_step, len(acts))
        exact = [index in places for index, places in enumerate(places_by_step)]
        return DemonstrationMatch(
            gold,
            ready.types,
            bytes(exact),
            # A short run has no action for the last steps, which count as not matched.
            bytes([*map(matches_type, right, acts), *[False] * (len(right) - len(acts))]),
            common,
            places,
            ready.kept,
            prefix(exact),
            longest_stretch(exact),
        )


def demonstrations(case: MeasuredRun, golds: Sequence[MeasuredRun]) -> list[MeasuredRun]:
    """Return the demonstrations to compare a run with: not itself, and only those with a step that is not a slip."""
    return [
        gold
        for gold in demonstrations_of_task(case, golds)
        if gold.id != case.id and any(not step.slip for step in gold.steps)
    ]


def why_not_comparable(case: MeasuredRun, golds: Sequence[MeasuredRun]) -> str:
    """Return why a run is in no number that needs a demonstration, empty if it is in them."""
    if case.gold:
        return IS_DEMONSTRATION
    return "" if demonstrations(case, golds) else NOT_DEMONSTRATED


def prefix(right: Iterable[bool]) -> int:
    """Return the number of right steps before the first wrong one."""
    return sum(1 for _ in takewhile(bool, right))


def longest_stretch(right: Iterable[bool]) -> int:
    """Return the largest number of consecutive right steps."""
    longest = length = 0
    for one in right:
        length = length + 1 if one else 0
        if length > longest:
            longest = length
    return longest


def subsequence(matches: Sequence[Sequence[int]], length: int) -> tuple[int, int]:
    """Return the length of the longest common subsequence, and the sum of its positions (from 1).

    `matches[j]` are the sorted indices of the run's `length` actions that match step j of the demonstration. Of several
    longest subsequences the one with the greatest sum counts: eq. 2 leaves it open, and so a run never gets less than
    it reached. Every match weighs more than all positions together, so one pass finds both.
    """
    steps = len(matches)
    heavy = steps * (steps + 1) // 2 + 1
    best = [0] * (length + 1)
    for j, places in enumerate(matches, start=1):
        weight = heavy + j
        # Backwards, so that one step of the demonstration is matched at most once.
        for i in reversed(places):
            value = best[i] + weight
            at = i + 1
            # `best` stays ascending, so the update can end at the first value that is no smaller.
            while at <= length and best[at] < value:
                best[at] = value
                at += 1
    return divmod(best[length], heavy)


def w_lcs(total: int, steps: int) -> float:
    """Return eq. 2: the sum of the matched positions over the sum of all `steps` positions."""
    return total / (steps * (steps + 1) // 2)
