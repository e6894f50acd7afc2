"""DAC-Bench's numbers against 2.6 and eq. 2 written down again, naively: random runs, one to three demonstrations."""

from __future__ import annotations

from itertools import combinations, groupby, takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.papers.dac.metrics import measure
from annotators.papers.metrics import context_of
from annotators.papers.pspa.metrics import measure as measure_pspa
from lab.core.run.measured_run import MeasuredRun, MeasuredStep
from lab.core.run.step import Action
from lab.core.task.task import Actor, Task

TASK = Task("t", "general", instruction="x")
ACTIONS = {
    "u": Action("scroll", direction="up"), "s": Action("swipe", direction="down"), "w": Action("wait"),
    "a": Action("input_text", text="a"), "b": Action("input_text", text="b"),
}  # fmt: skip
TYPES = {"u": "scroll", "s": "scroll", "w": "wait", "a": "type", "b": "type"}


def case(id: str, letters: str, who: str) -> MeasuredRun:
    agent = Actor(who, who)  # type: ignore[arg-type]
    return MeasuredRun(id, TASK, agent, [MeasuredStep(ACTIONS[one], ACTIONS[one]) for one in letters], "completed")


def same(one: str, other: str) -> bool:
    """A finger that goes down shows what is above."""
    return one == other or {one, other} == {"u", "s"}


def exact(gold: str, run: str) -> list[bool]:
    return [place < len(run) and same(one, run[place]) for place, one in enumerate(gold)]


def alike(gold: str, run: str) -> list[bool]:
    return [place < len(run) and TYPES[one] == TYPES[run[place]] for place, one in enumerate(gold)]


def share(right: list[bool]) -> float:
    return sum(right) / len(right)


def subsequence(gold: str, run: str) -> tuple[int, int]:
    def within(places: tuple[int, ...]) -> bool:
        rest = iter(run)
        return all(any(same(gold[place], one) for one in rest) for place in places)

    chosen = (places for size in range(len(gold) + 1) for places in combinations(range(len(gold)), size))
    return max((len(places), sum(place + 1 for place in places)) for places in chosen if within(places))


def longest(right: list[bool]) -> int:
    return max((len(list(some)) for is_right, some in groupby(right) if is_right), default=0)


@settings(deadline=None)
@given(
    st.lists(st.text("abuws", min_size=1, max_size=6), min_size=1, max_size=3),
    st.lists(st.text("abuws", max_size=7), min_size=1, max_size=3),
)
def test_every_number_is_what_brute_force_makes_it(golds: list[str], runs: list[str]) -> None:
    cases = [case(f"g{i}", gold, "human") for i, gold in enumerate(golds)]
    cases += [case(f"r{i}", run, "model") for i, run in enumerate(runs)]
    found = {(one.metric, one.part): one.value for one in measure(cases, context_of(cases))}
    best = [max(golds, key=lambda gold: (share(exact(gold, run)), share(alike(gold, run)))) for run in runs]
    steps = sum(map(len, best))

    def mean(value: list[float]) -> float:
        return sum(value) / len(runs)

    wanted = {
        "EM": sum(sum(exact(gold, run)) for gold, run in zip(best, runs, strict=True)) / steps,
        "TM": sum(sum(alike(gold, run)) for gold, run in zip(best, runs, strict=True)) / steps,
        "SR": mean([any(all(exact(gold, run)) for gold in golds) for run in runs]),
        "GP": mean([max(len(list(takewhile(bool, exact(g, run)))) / len(g) for g in golds) for run in runs]),
        "GP 6a": mean([max(longest(exact(g, run)) / len(g) for g in golds) for run in runs]),
        "W-LCS": mean([max(2 * subsequence(g, run)[1] / len(g) / (len(g) + 1) for g in golds) for run in runs]),
    }
    assert {name: found[name, ""] for name in wanted} == pytest.approx(wanted)
    assert wanted["EM"] <= wanted["TM"]
    tcr = next(one.value for one in measure_pspa(cases, context_of(cases)) if (one.metric, one.part) == ("TCR", ""))
    assert tcr == pytest.approx(mean([max(subsequence(g, run)[0] / len(g) for g in golds) for run in runs]))
