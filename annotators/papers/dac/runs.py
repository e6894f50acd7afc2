"""One run laid beside the demonstrations of its task, step by step: what DAC-Bench's numbers are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from annotators.papers.dac.actions import ComparableAction, Shown, done, matches, screen, shown, typed, types
from annotators.papers.dac.sequences import longest_stretch, prefix, subsequence, w_lcs
from annotators.papers.metrics import MetricContext, of_task
from lab.core.measured_run import MeasuredRun

SHOWN = "demonstrated by a person"
UNSHOWN = "whose task nobody has demonstrated"
"""Why a run is in no number that needs a demonstration, such that it can follow a count."""
_MOST_READY = 256
"""How many demonstrations stay ready for comparing: a data set has one for each of its thousands of tasks."""


class DemonstrationMatch(NamedTuple):
    """A run against one demonstration of `steps` steps; `exact` and `typed` say of each whether it was matched (1, 0).

    Steps pair by their place: that is offline evaluation, where the agent sees each demonstrated screen (3.1). What
    comes after the demonstration's last step has no pair and is in none of these. `common` and `places` are the longest
    common subsequence and the sum of its places; `kept` are the indices, in the demonstration, of the steps without
    its slips; `prefix` and `stretch` are how many exact steps there are in a row, from the first on and at most.
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
    """A run against that demonstration of its task that serves it best, for each number by itself.

    So a run that takes another way than one person is not punished where another person showed that way. Only EM and TM
    share theirs (`em`: the most exact, then the most alike), since what matches exactly matches in type, too.
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
    """A demonstration made ready for comparing; `kept` are the indices of its steps that are no slips."""

    steps: list[Shown]
    types: Sequence[str]
    kept: Sequence[int]


class Demonstrations:
    """Demonstrations made ready for comparing, the latest of them kept, and each run laid beside each of them once."""

    def __init__(self) -> None:
        self._ready: dict[tuple[str, object], _Ready] = {}
        self._laid: dict[tuple[str, str], tuple[MeasuredRun, DemonstrationMatch]] = {}

    @classmethod
    def of(cls, context: MetricContext) -> Demonstrations:
        """Those of a context, which all papers and groups share."""
        return cls() if context.ready is None else context.ready.setdefault("demonstrations", cls())

    def judge(self, case: MeasuredRun, golds: Sequence[MeasuredRun]) -> MatchedRun:
        """The run against each of these, which must have a step that is no slip."""
        all_of = [self.against(case, gold) for gold in golds]
        if len(all_of) == 1:
            return MatchedRun(case, *all_of * 4)
        return MatchedRun(
            case,
            em=max(all_of, key=lambda one: (one.em, one.tm)),
            gp=max(all_of, key=lambda one: one.gp),
            stretch=max(all_of, key=lambda one: one.stretch / one.steps),
            w_lcs=max(all_of, key=lambda one: one.w_lcs),
        )

    def against(self, case: MeasuredRun, gold: MeasuredRun) -> DemonstrationMatch:
        """The run laid beside a demonstration, which must have a step that is no slip."""
        before, match = self._laid.get((case.id, gold.id), (None, None))
        if before is case and match is not None and match.gold is gold:
            return match
        match = self._against(case, gold)
        self._laid[case.id, gold.id] = case, match
        return match

    def _pair(self, case: MeasuredRun, gold: MeasuredRun) -> tuple[_Ready, list[ComparableAction]]:
        size = screen(gold)
        fallback = None if size else screen(case)
        key = (gold.id, fallback)
        ready = self._ready.pop(key, None)
        if ready is None:
            steps = shown(gold, fallback)
            ready = _Ready(steps, types(steps), [index for index, step in enumerate(gold.steps) if not step.slip])
        self._ready[key] = ready
        if len(self._ready) > _MOST_READY:
            del self._ready[next(iter(self._ready))]
        return ready, done(case, size)

    def _against(self, case: MeasuredRun, gold: MeasuredRun) -> DemonstrationMatch:
        ready, acts = self._pair(case, gold)
        right = ready.steps
        places_by_step = matches(right, acts)
        common, places = subsequence(places_by_step, len(acts))
        exact = [index in places for index, places in enumerate(places_by_step)]
        return DemonstrationMatch(
            gold,
            ready.types,
            bytes(exact),
            bytes([*map(typed, right, acts), *[False] * (len(right) - len(acts))]),
            common,
            places,
            ready.kept,
            prefix(exact),
            longest_stretch(exact),
        )


def demonstrations(case: MeasuredRun, golds: Sequence[MeasuredRun]) -> list[MeasuredRun]:
    """Those of a task that a run can be laid beside: never itself, and none without a step."""
    return [gold for gold in of_task(case, golds) if gold.id != case.id and any(not step.slip for step in gold.steps)]


def why_not(case: MeasuredRun, golds: Sequence[MeasuredRun]) -> str:
    """Why a run is in no number that needs a demonstration; empty where it is."""
    if case.gold:
        return SHOWN
    return "" if demonstrations(case, golds) else UNSHOWN
