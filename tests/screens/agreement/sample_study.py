"""A study whose raters differ at known places: six runs, two items each, three people and a judge."""

from __future__ import annotations

from typing import Any

from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Study, Target, Unit
from store.store import Store
from tests.rated import Answer, rated
from tests.sample_files import SampleFiles
from tests.screens.runs import whole_run

DONE, NOT = "completed", "not_completed"
STATE = Field(
    "state", "Was it completed?", "nominal", (Option(DONE, key="1"), Option(NOT, key="2")), evidence=True
)  # fmt: skip
SEEN = Field("seen", "Was it seen?", "flag", required=False)
RATING = Field("rating", "How much was done?", "interval", per="unit", least=0, most=100, step=1)
STEPS = Protocol("nodes", "Items", "run", (STATE, SEEN, RATING), targets="tdg nodes", guide={"en": "Look closely."})
RUNS = tuple(f"77777777-0000-7000-8000-00000000000{at}" for at in range(6))
JUDGE = "model:glass"

# By run and rater: the states of the two items.
_SAID: dict[str, list[str]] = {
    "R1": ["dd", "dn", "nn", "dd", "dn", "nd"],
    "R2": ["dd", "dn", "nn", "dd", "nn", "nd"],
    "R3": ["dd", "dn", "nd", "dd", "dn", "nn"],
    JUDGE: ["dd", "dd", "nn", "dd", "dn", "nd"],
}
_WORDS = {"d": DONE, "n": NOT}
STEP = {"R1": 2, "R2": 3, "R3": 5, JUDGE: 1}
"""The step (from 1) that each rater gives as evidence."""


def units() -> list[Unit]:
    """A unit for each run."""
    targets = (Target("open", "Open the list of dishes", kind="fixed"), Target("pay", "Pay", kind="flexible"))
    return [Unit(f"u{at}", runs=(run,), targets=targets) for at, run in enumerate(RUNS)]


def sheet(rater: str, at: int) -> dict[tuple[str, str], Any]:
    """What a rater says of a run."""
    states = zip(("open", "pay"), _SAID[rater][at], strict=True)
    said: dict[tuple[str, str], Any] = {
        (target, "state"): Answer(_WORDS[state], evidence=f"{RUNS[at]}@{STEP[rater]}") for target, state in states
    }
    return {**said, ("", "rating"): 10.0 * at + STEP[rater] * (at % 3)}


def made(store: Store, *, raters: tuple[str, ...] = tuple(_SAID), **changes: Any) -> Study:
    """The study, its runs, and what these raters said."""
    return _SAMPLES.into(store, (raters, changes), lambda new: made_anew(new, raters=raters, **changes))


def made_anew(store: Store, *, raters: tuple[str, ...] = tuple(_SAID), **changes: Any) -> Study:
    """The same, said in this file: its rows have ids and times of their own."""
    for run in RUNS:
        store.runs.add(whole_run(run))
    said = {rater: {f"u{at}": sheet(rater, at) for at in range(len(RUNS))} for rater in raters}
    return rated(store, units(), STEPS, said, title="Which items", **changes)


_SAMPLES = SampleFiles[Study]()
"""To say a hundred answers, each in a transaction of its own, takes longer than to look at them."""
