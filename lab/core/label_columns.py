"""A study's labels column by column: what arithmetic over a million of them reads instead of a million structs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lab.core.task import Actor

Ints = npt.NDArray[np.int32]


class Columns(NamedTuple):
    """The labels that stand in a study (heads; none that is cleared or clashes), in the order of unit, place, rater.

    Each row is one label: `unit`, `target`, `field`, `rater`, `value`, `cites` index the tuple of that name (`value` is
    -1 where there is none, `reason` then indexes `reasons`, and is -1 else); `run` counts repeated ratings from 1;
    `step` is the evidence's step (from 0), -1 where none; `at` are milliseconds since 1970, `seconds` how long it took
    to answer (nan where unknown). Of people only what is handed in stands here; `open` counts their other labels,
    `clashes` the places with two last words. `dealt` are the sheets that were to be handed in: (unit, rater, run) as
    indices, one row each; `handed` says of each whether it was. Units are those of the study, in its order.
    """

    units: tuple[str, ...]
    targets: tuple[str, ...]
    fields: tuple[str, ...]
    raters: tuple[Actor, ...]
    values: tuple[Any, ...]
    reasons: tuple[str, ...]
    cites_said: tuple[str, ...]
    unit: Ints
    target: Ints
    field: Ints
    rater: Ints
    run: Ints
    value: Ints
    reason: Ints
    step: Ints
    cites: Ints
    at: npt.NDArray[np.int64]
    seconds: npt.NDArray[np.float64]
    confidence: npt.NDArray[np.float64]
    dealt: Ints
    handed: npt.NDArray[np.bool_]
    open: int = 0
    clashes: int = 0

    @property
    def size(self) -> int:
        """How many labels stand."""
        return len(self.unit)


class AnswerTimes(NamedTuple):
    """When every answer of a study was given, those that were superseded since among them; a row of each array each.

    `rater` and `unit` index those of `Columns`. Times are seconds since 1970: `at` it was given, `shown` (nan where
    unknown) since its question was shown; `away` the seconds of absence meanwhile.
    """

    rater: Ints
    unit: Ints
    run: Ints
    at: npt.NDArray[np.float64]
    shown: npt.NDArray[np.float64]
    away: npt.NDArray[np.float64]
