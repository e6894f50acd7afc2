"""How long agreement takes over 1,000,000 labels in a file, with intervals, and how long the second opening takes.

Four people rate 250,000 items of 2,500 runs on a scale of five; five coefficients each get an interval from 1,000
resamples of runs. The same five of statsmodels (Cohen, Fleiss, Randolph) and krippendorff (nominal, ordinal) are given
the same resamples of the same ratings: all of them on a study small enough for that, in one run with ours; and of the
large one as many as `--theirs` says, whose time is scaled to 1,000 (each resample is as large as any other, so it grows
by their number; the table says which figures are scaled). Ours is timed with all that it takes from arrays in memory,
and, beside it, from the closed file. Each study is measured in a process of its own; the most memory that it ever had
is told. `study_agreements` is what the Agreement screen and `hitlab agreement` open with: its second opening of 1,000
labels and of 1,000,000 take turns, so that whatever else the machine does falls on both.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients import categorical
from annotators.agreement.coefficients.additive import AdditiveStatistic
from annotators.agreement.intervals.intervals import draws, estimate
from annotators.agreement.ratings.fields import ratings_of
from annotators.agreement.ratings.ratings import Ratings
from lab.core.codec import encode
from lab.core.study.agreement import IntervalTerms
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Assignment, Study, Target, Unit, sample_sha
from lab.studies.progress.study_data import load_study_data, study_agreements
from store.store import Store
from store.studies.progress_tables import TRIGGERS

ITEMS, RATERS, SCALE = 100, 4, 5
LARGE, SMALL, SCREEN = 2500, 25, 2
"""Runs of a study of 1,000,000 labels, of 10,000, and (of ITEMS each) of about 1,000."""
RESAMPLES = 1000
AIM, MOST_MB = 50, 1024
_AT = "2026-04-01T09:00:00.000000+00:00"
_WELL = Field("well", "How well?", "ordinal", tuple(Option(str(i + 1)) for i in range(SCALE)))
_ASKS = Protocol("scale", "A scale", "run", (_WELL,), targets="items")


def laid(path: Path, runs: int, seed: int = 0) -> Path:
    """A file with a study of so many runs, rated by all and handed in; its rows are put into the tables directly."""
    dice = np.random.default_rng(seed)
    targets = tuple(Target(f"i{i}", f"item {i}") for i in range(ITEMS))
    units = [Unit(f"u{i}", (f"run{i}",), targets=targets) for i in range(runs)]
    people = tuple(f"R{i}" for i in range(1, RATERS + 1))
    plan = Study("s", 1, "A study", _ASKS, people, len(units), sample_sha(units), overlap=RATERS, at=_AT)
    with Store.open(path) as store:
        store.studies.freeze(plan, units)
        store.studies.deal(
            plan, [Assignment("s", 1, who, i, unit.id) for who in people for i, unit in enumerate(units)]
        )
        with store.database.writing() as db:
            for name in TRIGGERS:
                db.execute(f"DROP TRIGGER {name}")
            for at, unit in enumerate(units):
                db.executemany(
                    "INSERT INTO label VALUES (NULL, ?, 's', 1, ?, ?, 'well', 'human', ?, 1, ?, NULL, ?)",
                    _labels(dice, at, unit.id, people),
                )
            acts = ((f"c{i}-{who}", who, f"u{i}") for who in people for i in range(runs))
            db.executemany(
                "INSERT INTO act VALUES (NULL, ?, 's', 1, ?, ?, 1, 'commit', ?, ?)",
                (
                    (id, who, unit, _AT, encode({"id": id, "study": "s", "version": 1, "rater": {"kind": "human",
                     "id": who}, "act": "commit", "at": _AT, "unit": unit}).decode())
                    for id, who, unit in acts
                ),
            )  # fmt: skip
            for statement in TRIGGERS.values():
                db.execute(statement)
    return path


def _labels(dice: np.random.Generator, at: int, unit: str, people: tuple[str, ...]) -> list[tuple[str, ...]]:
    """One run's answers: each a true value, now and then one beside it; runs are unlike one another."""
    easy = dice.uniform(0.6, 0.95)
    true = dice.integers(0, SCALE, ITEMS)
    rows: list[tuple[str, ...]] = []
    for who in people:
        off = np.where(dice.random(ITEMS) < easy, 0, dice.choice((-1, 1), ITEMS))
        for item, value in enumerate(np.clip(true + off, 0, SCALE - 1).tolist()):
            id = f"{at}-{item}-{who}"
            body = (
                f'{{"id":"{id}","study":"s","version":1,"unit":"{unit}","target":"i{item}","field":"well",'
                f'"rater":{{"kind":"human","id":"{who}"}},"value":"{value + 1}","shown_at":"{_AT}","at":"{_AT}",'
                f'"guide_sha":"{"0" * 64}","protocol_sha":"{"0" * 64}","source":"keys"}}'
            )
            rows.append((id, unit, f"i{item}", who, _AT, body))
    return rows


# -- ours ------------------------------------------------------------------------------------------------------


def five(ratings: Ratings) -> dict[str, Callable[[], AdditiveStatistic]]:
    """The coefficients that both know."""
    two = ratings._replace(codes=ratings.codes[:, :2], raters=ratings.raters[:2])
    return {
        "cohen": lambda: categorical.cohen_kappa(two),
        "fleiss": lambda: categorical.fleiss_kappa(ratings),
        "brennan-prediger": lambda: categorical.brennan_prediger(ratings),
        "alpha nominal": lambda: categorical.krippendorff_alpha(ratings),
        "alpha ordinal": lambda: categorical.krippendorff_alpha(ratings, "ordinal"),
    }


def ours(ratings: Ratings) -> tuple[float, dict[str, tuple[float, float, float]]]:
    """Seconds for five intervals from RESAMPLES resamples, and each value with its ends."""
    how = IntervalTerms("bootstrap", resamples=RESAMPLES, seed=1)
    began = time.perf_counter()
    found = {name: estimate(make(), how) for name, make in five(ratings).items()}
    took = time.perf_counter() - began
    values = {name: (one.value, one.low, one.high) for name, one in found.items()}
    assert all(None not in three for three in values.values()), values
    return took, values  # type: ignore[return-value]


def _peak_mb() -> float:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 if sys.platform == "darwin" else 1024) / (1024 if sys.platform == "darwin" else 1)


def measured(path: Path, theirs: int) -> dict[str, Any]:
    """In a process of its own: from the closed file to five intervals; then the libraries; memory before those."""
    began = time.perf_counter()
    with Store.open(path, readonly=True) as store:
        study = store.studies.study("s")
        studied = load_study_data(store, study)
        read = time.perf_counter() - began
        ratings = ratings_of(studied, "well")
        arrays = time.perf_counter() - began
        took, values = ours(ratings)
        whole = time.perf_counter() - began
    found: dict[str, Any] = {
        "labels": int((ratings.codes >= 0).sum()), "runs": len(ratings.traces), "read": read, "arrays": arrays,
        "intervals": took, "whole": whole, "peak_mb": _peak_mb(), "values": values,
    }  # fmt: skip
    if theirs:
        found["theirs"] = libraries(ratings, theirs)
    return found


# -- theirs ----------------------------------------------------------------------------------------------------


def libraries(ratings: Ratings, resamples: int) -> dict[str, Any]:
    """Seconds of each library's function for so many resamples of runs, and its value over all."""
    import krippendorff
    from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

    q = len(ratings.categories)
    codes = ratings.codes.astype(np.int64)

    def of_cohen(some: npt.NDArray[np.int64]) -> float:
        table = np.bincount(some[:, 0] * q + some[:, 1], minlength=q * q).reshape(q, q)
        return float(cohens_kappa(table, return_results=False))

    def of_table(method: str) -> Callable[[npt.NDArray[np.int64]], float]:
        return lambda some: float(fleiss_kappa(aggregate_raters(some, n_cat=q)[0], method=method))

    def alpha(level: Literal["nominal", "ordinal"]) -> Callable[[npt.NDArray[np.int64]], float]:
        return lambda some: float(
            krippendorff.alpha(some.T + 1, level_of_measurement=level, value_domain=range(1, q + 1))
        )

    functions = {
        "cohen": of_cohen, "fleiss": of_table("fleiss"), "brennan-prediger": of_table("randolph"),
        "alpha nominal": alpha("nominal"), "alpha ordinal": alpha("ordinal"),
    }  # fmt: skip
    order = np.argsort(ratings.trace, kind="stable")
    rows = np.split(order, np.flatnonzero(np.diff(ratings.trace[order])) + 1)
    drawn = draws(np.random.PCG64(1), resamples, len(rows)).astype(np.int64)
    told: dict[str, Any] = {"resamples": resamples, "seconds": {}, "values": {}}
    for name, function in functions.items():
        told["values"][name] = function(codes)
        began = time.perf_counter()
        for counts in drawn:
            picked = np.concatenate([rows[at] for at in np.repeat(np.arange(len(rows)), counts)])
            function(codes[picked])
        told["seconds"][name] = time.perf_counter() - began
    return told


# -- the second opening ----------------------------------------------------------------------------------------


def openings(large: Path, small: Path, times: int) -> dict[str, float]:
    """Seconds of the first opening of each, and the median of the second ones, which take turns."""
    first, again = {}, {path: list[float]() for path in (large, small)}
    for path in (large, small):
        first[path] = _opened(path)
    for _ in range(times):
        for path in (large, small):
            again[path].append(_opened(path))
    return {
        "first_large": first[large], "first_small": first[small],
        "again_large": statistics.median(again[large]), "again_small": statistics.median(again[small]),
    }  # fmt: skip


def _opened(path: Path) -> float:
    began = time.perf_counter()
    with Store.open(path, readonly=True) as store:
        assert study_agreements(store, store.studies.study("s"))[0].value is not None
    return time.perf_counter() - began


# -- all together ----------------------------------------------------------------------------------------------


def apart(*args: str) -> dict[str, Any]:
    """This module in a process of its own."""
    ran = subprocess.run([sys.executable, "-m", "tests.bench.bench_agreement", *args], capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def all_of_it(folder: Path, theirs: int, times: int) -> dict[str, Any]:
    """Everything, one after the other."""
    large, small = laid(folder / "large.db", LARGE), laid(folder / "small.db", SMALL)
    screen = laid(folder / "screen.db", SCREEN + 1)
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    return {
        "large": apart("--file", str(large), "--theirs", str(theirs)),
        "small": apart("--file", str(small), "--theirs", str(RESAMPLES)),
        "opening": apart("--openings", str(large), str(screen), "--times", str(times)),
    }


def ratio(found: dict[str, Any]) -> float:
    """How many times longer theirs take for RESAMPLES resamples."""
    theirs = found["theirs"]
    return float(sum(theirs["seconds"].values()) * RESAMPLES / theirs["resamples"] / found["intervals"])


def table(found: dict[str, Any]) -> str:
    """What people read."""
    lines = [
        f"| five coefficients, {RESAMPLES:,} resamples of runs | labels | runs | ours s | theirs s | times | MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in ("small", "large"):
        one = found[name]
        theirs = one["theirs"]
        seconds = sum(theirs["seconds"].values()) * RESAMPLES / theirs["resamples"]
        scaled = "" if theirs["resamples"] == RESAMPLES else f" (scaled from {theirs['resamples']})"
        lines.append(
            f"| from arrays | {one['labels']:,} | {one['runs']:,} | {one['intervals']:.2f} | {seconds:,.1f}{scaled} | "
            f"{ratio(one):,.0f} | {one['peak_mb']:.0f} |"
        )
        lines.append(f"| from the closed file | {one['labels']:,} | {one['runs']:,} | {one['whole']:.2f} | | | |")
    opening = found["opening"]
    lines += [
        "", "| opening agreement | about 1,000 labels | 1,000,000 labels |", "|---|---|---|",
        f"| the first time, s | {opening['first_small']:.2f} | {opening['first_large']:.2f} |",
        f"| after that, ms | {1000 * opening['again_small']:.1f} | {1000 * opening['again_large']:.1f} |", "",
        f"aims: {AIM} times faster; under {MOST_MB} MB; after the first time as fast as a small one",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def differ(found: dict[str, Any]) -> list[str]:
    """Values that are not the libraries' own."""
    return [
        f"{name}: {one['values'][name][0]!r} is not {value!r}"
        for one in (found["large"], found["small"])
        for name, value in one["theirs"]["values"].items()
        if abs(one["values"][name][0] - value) > 1e-9
    ]


def main() -> int:
    """Prints tables; 1 where a value is not the libraries' own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--theirs", type=int, default=3, help="resamples of the large study that libraries are given")
    parser.add_argument("--times", type=int, default=20, help="second openings of each study")
    parser.add_argument("--file", type=Path, help="only this file, in this process")
    parser.add_argument("--openings", type=Path, nargs=2, help="only these two files' openings, in this process")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.file:
        sys.stdout.write(json.dumps(measured(args.file, args.theirs)))
        return 0
    if args.openings:
        sys.stdout.write(json.dumps(openings(args.openings[0], args.openings[1], args.times)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        found = all_of_it(Path(folder), args.theirs, args.times)
    wrong = differ(found)
    sys.stdout.write(json.dumps(found) + "\n" if args.json else table(found))
    for line in wrong:
        sys.stderr.write(line + "\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
