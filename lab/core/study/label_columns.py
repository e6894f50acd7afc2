"""A study's labels as numpy columns: fast arithmetic over a million labels, without a struct for each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lab.core.task.task import Actor

Ints = npt.NDArray[np.int32]


class Columns(NamedTuple):
    """The current labels of a study, in the order of unit, place, rater. Cleared and clashing ones are not in it.

    Each row is one label. `unit`, `target`, `field`, `rater`, `value` and `cites` index the tuple of that name
    (`cites_said` for `cites`). `value` is -1 for a missing answer. Then `reason` indexes `reasons`, else it is -1.
    `run` counts repeated ratings from 1. `step` is the evidence's step (from 0), or -1. `at` is in milliseconds since
    1970, `seconds` is the time to answer (nan if unknown).

    People's labels are included only from submitted sheets. `open` counts their other labels, `clashes` the places with
    two heads. `dealt` has a row (unit, rater, run) of indices for each dealt sheet, and `handed` is true if it was
    submitted. Units are those of the study, in its order.
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
        """Number of labels."""
        return len(self.unit)


class AnswerTimes(NamedTuple):
    """The times of all answers of a study, superseded ones too, one row each.

    `rater` and `unit` index those of `Columns`. Times are seconds since 1970: `at` is the answer's, `shown` that of its
    question (nan if unknown). `away` is the absence in between, in seconds.
    """

    rater: Ints
    unit: Ints
    run: Ints
    at: npt.NDArray[np.float64]
    shown: npt.NDArray[np.float64]
    away: npt.NDArray[np.float64]
