"""How often a corrected rate's 95 % interval holds the rate that is true.

    python -m tests.bench.bench_corrected [--json] [--replications 1000] [--world symmetric|...|all] [--seed 7]

500 units, 25, 50 or 100 of them labelled by people; a judge says yes or no of all. Worlds:

    symmetric   the judge is right in 60, 80 or 95 %, whatever is true; rates .3, .5, .7
    sided       it errs to one side, or seldom: pairs of true positive and true negative rate; rates .1 to .9
    active      symmetric, but units differ in how sure the judge is, and people label where it is unsure (label_queue)
    sided-active  sided, labelled in that way
    score       symmetric, but the judge says how likely a yes is
    paired      the difference of two agents' rates on the same tasks, labelled on the same ones
    apart       the same on tasks of their own

Beside each: PPI++ as its paper has it (normal interval), where it is for such a study, and how much narrower the
corrected interval is than people's own.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from annotators.agreement.coefficients.additive import Estimate
from annotators.agreement.ratings.ratings import Floats
from annotators.validation.label_queue import doubt_of_confidence, inclusion, label_queue
from annotators.validation.prediction_powered import (
    LabelledUnits,
    corrected_difference,
    corrected_estimate,
    labelled_units,
    powered_mean,
)

UNITS, LABELS = 500, (25, 50, 100)
SYMMETRIC, RATES = ((0.6, 0.6), (0.8, 0.8), (0.95, 0.95)), (0.3, 0.5, 0.7)
SIDED = ((0.6, 0.6), (0.8, 0.8), (0.95, 0.95), (0.98, 0.8), (0.8, 0.98), (0.99, 0.9), (0.9, 0.99))
SIDED_RATES = (0.1, 0.3, 0.5, 0.7, 0.9)
WORLDS = ("symmetric", "sided", "active", "sided-active", "score", "paired", "apart")
AIM = (0.93, 0.97)
"""Of 95 %; beyond it by more than two standard errors of the simulation is outside."""


class Cell(NamedTuple):
    """A world, how many labels, the judge's true positive and negative rate, and the rate of yes."""

    world: str
    labels: int
    judge: tuple[float, float]
    rate: float


def cells(world: str) -> Iterator[Cell]:
    """The cells of a world."""
    sided = world.startswith("sided")
    for labels, judge, rate in product(LABELS, SIDED if sided else SYMMETRIC, SIDED_RATES if sided else RATES):
        yield Cell(world, labels, judge, rate)


def dice_of(cell: Cell, seed: int) -> np.random.Generator:
    """A stream of random numbers for a cell."""
    parts = [seed, WORLDS.index(cell.world), cell.labels, *(round(100 * one) for one in (*cell.judge, cell.rate))]
    return np.random.Generator(np.random.PCG64(parts))


def study(dice: np.random.Generator, cell: Cell, hardness: Floats | None = None, seed: int = 0) -> LabelledUnits:
    """One study of a cell; `hardness` (units) makes tasks hard for an agent, in turn, at the same rate."""
    chance = dice.random(UNITS) if hardness is None else hardness
    truth = chance < cell.rate
    plain = cell.world in ("symmetric", "sided", "paired", "apart")
    right = np.where(truth, *(np.full(UNITS, rate) if plain else _sureness(dice, rate) for rate in cell.judge))
    said = np.where(dice.random(UNITS) < right, truth, ~truth)
    people = np.full(UNITS, np.nan)
    if not cell.world.endswith("active"):
        people[: cell.labels] = truth[: cell.labels]
        score = np.where(said, right, 1 - right) if cell.world == "score" else said.astype(np.float64)
        return labelled_units(score, people)
    queue = label_queue(inclusion(doubt_of_confidence(right), cell.labels), seed)
    people[queue.order] = truth[queue.order]
    return labelled_units(said.astype(np.float64), people, queue.probability)


def _sureness(dice: np.random.Generator, rate: float) -> Floats:
    """(units): how likely the judge is to be right at each, with that mean; it knows this."""
    mean = 2 * (rate - 0.5)
    return np.asarray(0.5 + 0.5 * dice.beta(1.5 * mean, 1.5 * (1 - mean), UNITS))


def two_agents(dice: np.random.Generator, cell: Cell) -> tuple[LabelledUnits, LabelledUnits, float]:
    """Two agents' studies, paired by tasks that are hard for both, and how far their true rates are apart."""
    other = cell._replace(rate=cell.rate - 0.1)
    hardness = dice.random(UNITS) if cell.world == "paired" else None
    second = None
    if hardness is not None:
        own = dice.random(UNITS)
        second = np.where(dice.random(UNITS) < 0.5, hardness, own)
    return study(dice, cell, hardness), study(dice, other, second), 0.1


class Tally:
    """How often intervals hold what is true, how wide they are, and how far their values are off."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, float, float]] = []
        self.none = 0

    def add(self, one: Estimate, true: float) -> None:
        if one.value is None or one.low is None or one.high is None:
            self.none += 1
        else:
            self.rows.append((one.value - true, one.low - true, one.high - true))

    def shares(self) -> dict[str, float]:
        value, low, high = np.array(self.rows).T
        return {
            "covered": round(float(((low <= 1e-12) & (high >= -1e-12)).mean()), 4),
            "below": round(float((high < 0).mean()), 4), "above": round(float((low > 0).mean()), 4),
            "width": round(float(np.median(high - low)), 3), "bias": round(float(value.mean()), 4), "none": self.none,
        }  # fmt: skip


def measured(cell: Cell, replications: int, seed: int) -> dict[str, Any]:
    """A cell's row."""
    dice = dice_of(cell, seed)
    ours, people, paper = Tally(), Tally(), Tally()
    for at in range(replications):
        if cell.world in ("paired", "apart"):
            one, other, true = two_agents(dice, cell)
            found = corrected_difference(one, other, paired=cell.world == "paired")
            ours.add(found.corrected, true)
            people.add(found.people, true)
            continue
        units = study(dice, cell, seed=at)
        both = corrected_estimate(units)
        ours.add(both.corrected, cell.rate)
        people.add(both.people, cell.rate)
        if units.probability is None:
            plain = powered_mean(units)
            paper.add(Estimate(plain.value, "", plain.low, plain.high), cell.rate)
    row: dict[str, Any] = {
        "world": cell.world, "labels": cell.labels, "judge": list(cell.judge), "rate": cell.rate, **ours.shares(),
        "narrower": round(people.shares()["width"] / ours.shares()["width"], 2), "people": people.shares()["covered"],
    }  # fmt: skip
    return row | ({"ppi++": paper.shares()["covered"]} if paper.rows else {})


def main() -> int:
    """Prints a row for each cell; 1 where a cell of the symmetric world is not within the aim."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON document instead of the table")
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--world", choices=[*WORLDS, "all"], default="symmetric")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    start = time.perf_counter()
    rows: list[dict[str, Any]] = []
    for world in WORLDS if args.world == "all" else [args.world]:
        for cell in cells(world):
            rows.append(measured(cell, args.replications, args.seed))
            if not args.json:
                print("  ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
    slack = 2 * (0.95 * 0.05 / args.replications) ** 0.5
    outside = [row for row in rows if not AIM[0] - slack <= row["covered"] <= AIM[1] + slack]
    if args.json:
        print(json.dumps({"replications": args.replications, "seed": args.seed, "cells": rows}))
    else:
        print(f"{len(rows) * args.replications:,} studies in {time.perf_counter() - start:.0f} s")
        print(f"within 93 to 97 %, give or take {100 * slack:.1f}: {len(rows) - len(outside)} of {len(rows)} cells")
    return int(any(row["world"] == "symmetric" for row in outside))


if __name__ == "__main__":
    raise SystemExit(main())
