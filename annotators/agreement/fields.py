"""From labels to arrays: the ratings of one field, before and after derivation, and what most people say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from annotators.agreement.ratings import Numbers, Ratings
from annotators.studied import Studied

Derived = Literal["", "before", "after"]


def ratings_of(
    studied: Studied, field: str, raters: Sequence[int] | None = None, *, kind: str = "", derived: Derived = "",
    run: int = 1,
) -> Ratings:  # fmt: skip
    """What raters (indices of the columns'; default: the people) said in a nominal, ordinal or flag field.

    A flag that was not raised on a sheet that is handed in is `no`. `kind` keeps targets of that kind alone (fixed,
    flexible); `derived` `after` applies paths and the dependency rule, for tdg. Pilot units never count.
    """
    raise NotImplementedError


def numbers_of(studied: Studied, field: str, raters: Sequence[int] | None = None, *, run: int = 1) -> Numbers:
    """What raters said in an interval or step field, or in an ordinal one whose options are numbers."""
    raise NotImplementedError


def truth_of(studied: Studied, ratings: Ratings) -> Ratings:
    """One column, `truth`, over the same places: what was adjudicated, else what more than half of the people said.

    -1 where neither is so, and where reasons for having no answer outweigh.
    """
    raise NotImplementedError


def beside(one: Ratings, other: Ratings) -> Ratings:
    """Both's columns over the places of the first."""
    raise NotImplementedError
