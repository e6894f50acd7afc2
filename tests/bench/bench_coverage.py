"""How often a 95 % interval holds the kappa that is true: over traces, and as if nodes were independent.

    python -m tests.bench.bench_coverage [--json] [--replications 2000] [--world hard|mixed|smooth|all] [--seed 7]
                                         [--bootstrap N]

Three raters say yes or no of 4 to 12 nodes in each of 100 traces. The true kappa and the share of yes are set exactly;
within a trace both what is true and how hard it is to tell go together, in one of three ways:

    hard    a trace is clear to all three or it is guessed at, whole (as where a recording cannot be read)
    mixed   each trace has its own share of nodes that are guessed at, Beta with an intraclass correlation of .3
    smooth  each node has its own chance of a yes, Beta; those of a trace go together by a normal copula of .5

The node-wise interval is made in the very same way, each node taken for a trace of its own.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from scipy import stats

from annotators.agreement.coefficients.additive import Estimate
from annotators.agreement.coefficients.categorical import fleiss_kappa
from annotators.agreement.intervals.intervals import estimate
from annotators.agreement.ratings.ratings import Ratings
from lab.core.study.agreement import IntervalTerms

KAPPAS, SHARES = (0.4, 0.7, 0.9), (0.5, 0.8, 0.95)
TRACES, NODES, RATERS = 100, (4, 12), 3
WITHIN = 0.3
"""The intraclass correlation of what is true, and of hardness in the mixed world."""

Floats = npt.NDArray[np.float64]
World = Callable[[np.random.Generator, float, float], npt.NDArray[np.bool_]]


def beta(dice: np.random.Generator, mean: float) -> Floats:
    """A share for each trace, with that mean; two of its nodes then go together by WITHIN."""
    of = (1 - WITHIN) / WITHIN
    return dice.beta(mean * of, (1 - mean) * of, (TRACES, 1))


def hard(dice: np.random.Generator, kappa: float, share: float) -> npt.NDArray[np.bool_]:
    return _told(dice, dice.random((TRACES, 1)) < kappa, share)


def mixed(dice: np.random.Generator, kappa: float, share: float) -> npt.NDArray[np.bool_]:
    return _told(dice, dice.random((TRACES, NODES[1])) < beta(dice, kappa), share)


def _told(dice: np.random.Generator, clear: npt.NDArray[np.bool_], share: float) -> npt.NDArray[np.bool_]:
    """Where it is clear all say what is true, else each guesses by the share of yes: kappa is the share of clear."""
    true = dice.random((TRACES, NODES[1])) < beta(dice, share)
    guessed = dice.random((TRACES, NODES[1], RATERS)) < share
    return np.where(clear[..., None], true[..., None], guessed)


def smooth(dice: np.random.Generator, kappa: float, share: float) -> npt.NDArray[np.bool_]:
    """Two raters of a node agree by the variance of its chance: a Beta's a + b is 1 / kappa - 1."""
    rho = 0.5
    z = np.sqrt(rho) * dice.standard_normal((TRACES, 1)) + np.sqrt(1 - rho) * dice.standard_normal((TRACES, NODES[1]))
    of = 1 / kappa - 1
    grid = np.linspace(-6, 6, 2001)
    chance = np.interp(z, grid, stats.beta.ppf(stats.norm.cdf(grid), share * of, (1 - share) * of))
    return np.asarray(dice.random((TRACES, NODES[1], RATERS)) < chance[..., None])


WORLDS: dict[str, World] = {"hard": hard, "mixed": mixed, "smooth": smooth}


def studies(world: str, kappa: float, share: float, replications: int, seed: int) -> Iterator[Ratings]:
    """As many studies as there are replications, drawn from that world."""
    cell = [seed, list(WORLDS).index(world), KAPPAS.index(kappa), SHARES.index(share)]
    dice = np.random.Generator(np.random.PCG64(cell))
    traces, raters = tuple(map(str, range(TRACES))), tuple(map(str, range(RATERS)))
    for _ in range(replications):
        said = WORLDS[world](dice, kappa, share)
        there = np.arange(NODES[1]) < dice.integers(NODES[0], NODES[1] + 1, (TRACES, 1))
        trace = np.nonzero(there)[0].astype(np.int32)
        yield Ratings("met", ("no", "yes"), said[there].astype(np.int16), raters, trace, traces, ())


def by_node(study: Ratings) -> Ratings:
    """The same, each node a trace of its own."""
    nodes = len(study.codes)
    return study._replace(trace=np.arange(nodes, dtype=np.int32), traces=tuple(map(str, range(nodes))))


class Tally:
    """How often intervals hold what is true, lie below or above it, are as wide as that, or are none."""

    def __init__(self, true: float) -> None:
        self.true = true
        self.found: list[tuple[float, float]] = []
        self.none = 0

    def add(self, one: Estimate) -> None:
        if one.low is None or one.high is None:
            self.none += 1
        else:
            self.found.append((one.low, one.high))

    def shares(self) -> dict[str, float]:
        low, high = np.array(self.found).T
        return {
            "covered": round(float(((low <= self.true) & (self.true <= high)).mean()), 4),
            "below": round(float((high < self.true).mean()), 4),
            "above": round(float((low > self.true).mean()), 4),
            "width": round(float(np.median(high - low)), 3),
            "none": self.none,
        }


def cell(world: str, kappa: float, share: float, replications: int, seed: int, how: IntervalTerms) -> dict[str, object]:
    by_trace, by_nodes = Tally(kappa), Tally(kappa)
    for study in studies(world, kappa, share, replications, seed):
        by_trace.add(estimate(fleiss_kappa(study), how))
        by_nodes.add(estimate(fleiss_kappa(by_node(study)), IntervalTerms()))
    return {
        "world": world, "kappa": kappa, "yes": share, **by_trace.shares(), "by_node": by_nodes.shares()["covered"],
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON document instead of the table")
    parser.add_argument("--replications", type=int, default=2000)
    parser.add_argument("--world", choices=[*WORLDS, "all"], default="hard")
    parser.add_argument("--bootstrap", type=int, default=0, metavar="N", help="BCa of N resamples, not the jackknife-t")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    how = IntervalTerms("bootstrap", resamples=args.bootstrap, seed=args.seed) if args.bootstrap else IntervalTerms()
    start = time.perf_counter()
    rows = []
    for world in WORLDS if args.world == "all" else [args.world]:
        for kappa in KAPPAS:
            for share in SHARES:
                rows.append(cell(world, kappa, share, args.replications, args.seed, how))
                if not args.json:
                    print("  ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
    outside = [row for row in rows if not 0.93 <= float(str(row["covered"])) <= 0.97]
    if args.json:
        print(json.dumps({"replications": args.replications, "seed": args.seed, "cells": rows}))
    else:
        print(f"{len(rows) * args.replications:,} studies in {time.perf_counter() - start:.0f} s")
        print(f"within 93 to 97 %: {len(rows) - len(outside)} of {len(rows)} cells")
    return int(bool(outside))


if __name__ == "__main__":
    raise SystemExit(main())
