"""Raters' answers at the places of one field as arrays: the one form that every coefficient reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

NO_MAJORITY = "no_majority"
"""Reason why an item has no truth: there is no majority, and nobody adjudicated it."""

_NO_ROWS: Ints = np.zeros(0, dtype=np.int32)


class RatedItem(NamedTuple):
    """An item: a target of a unit (empty: the unit itself)."""

    unit: str
    target: str


class MissingAnswers(NamedTuple):
    """Due answers that are missing, one row each: place, rater and reason.

    `place`, `rater` and `reason` (rows) index `places`, `raters` and `reasons`. `raters` are all raters that were read,
    also those without any answer. With `by_item` two columns are compared, and a row is an item that one of them lacks.
    """

    places: tuple[RatedItem, ...] = ()
    raters: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    place: Ints = _NO_ROWS
    rater: Ints = _NO_ROWS
    reason: Ints = _NO_ROWS
    by_item: bool = False

    @classmethod
    def from_reasons(
        cls, places: tuple[RatedItem, ...], raters: Sequence[str], why: Ints, reasons: Sequence[str]
    ) -> MissingAnswers:
        """Build from `why` (places x raters), which indexes `reasons`, -1 if nothing is missing."""
        place, rater = np.nonzero(why >= 0)
        return cls(
            places, tuple(raters), tuple(reasons), place.astype(np.int32), rater.astype(np.int32),
            why[place, rater].astype(np.int32),
        )  # fmt: skip

    @classmethod
    def one_each(
        cls, rows: Iterable[tuple[RatedItem, str]], rater: str = "", *, by_item: bool = False
    ) -> MissingAnswers:
        """Build from pairs of place and reason, all of one rater."""
        rows = list(rows)
        reasons = sorted({reason for _, reason in rows})
        at = {name: i for i, name in enumerate(reasons)}
        return cls(
            tuple(place for place, _ in rows), (rater,), tuple(reasons), np.arange(len(rows), dtype=np.int32),
            np.zeros(len(rows), dtype=np.int32), np.array([at[reason] for _, reason in rows], dtype=np.int32), by_item,
        )  # fmt: skip

    def counts(self) -> dict[str, int]:
        """Return the number of missing answers by reason, sorted by name."""
        each = np.bincount(self.reason, minlength=len(self.reasons)).tolist()
        counts: dict[str, int] = {}
        for name, many in zip(self.reasons, each, strict=True):
            counts[name] = counts.get(name, 0) + many
        return {name: many for name, many in sorted(counts.items()) if many}

    def by_place(self) -> dict[RatedItem, str]:
        """Return why each place lacks an answer, the first of several reasons."""
        reason_by_place: dict[RatedItem, str] = {}
        for place, reason in zip(self.place.tolist(), self.reason.tolist(), strict=True):
            reason_by_place.setdefault(self.places[place], self.reasons[reason])
        return reason_by_place

    def at_places(self, keeps: Callable[[RatedItem], bool]) -> MissingAnswers:
        """Return the rows at the places that `keeps` accepts."""
        is_kept = np.zeros(len(self.places), dtype=np.bool_)
        for at in np.unique(self.place).tolist():
            is_kept[at] = keeps(self.places[at])
        return self._rows(is_kept[self.place])

    def by_raters(self, raters: Sequence[str]) -> MissingAnswers:
        """Return the rows of some raters, renumbered in this order."""
        new = np.full(len(self.raters), -1, dtype=np.int32)
        for at, name in enumerate(self.raters):
            new[at] = raters.index(name) if name in raters else -1
        rows = self._rows(new[self.rater] >= 0)
        return rows._replace(raters=tuple(raters), rater=new[rows.rater])

    def _rows(self, mask: npt.NDArray[np.bool_]) -> MissingAnswers:
        return self._replace(place=self.place[mask], rater=self.rater[mask], reason=self.reason[mask])


def missing_of_all(parts: Sequence[MissingAnswers]) -> MissingAnswers:
    """Concatenate the missing answers of several columns. Each part's raters stay separate."""
    missing = MissingAnswers()
    for one in parts:
        places, from_place = missing.places, 0
        # Parts over the same places share them, so that their rows still point at one item.
        if one.places is not places:
            # Row numbers of the further part are shifted behind the places of the ones before.
            places, from_place = (*places, *one.places), len(places)
        missing = MissingAnswers(
            places, (*missing.raters, *one.raters), (*missing.reasons, *one.reasons),
            np.concatenate((missing.place, one.place + from_place)).astype(np.int32),
            np.concatenate((missing.rater, one.rater + len(missing.raters))).astype(np.int32),
            np.concatenate((missing.reason, one.reason + len(missing.reasons))).astype(np.int32),
        )  # fmt: skip
    return missing._replace(by_item=any(one.by_item for one in parts))


class Ratings(NamedTuple):
    """Answers that are categories, in the order that the protocol declares.

    `codes` (places x raters, int16) index `categories`, -1 is missing. `trace` (places) indexes `traces`, the clusters.
    `scores` are the categories as numbers if they form a scale ("1" .. "5"), else None. `missing` are the due answers
    that are missing, also where nobody answered. `derived` is `derived_codes` once paths and dependencies apply.
    """

    field: str
    categories: tuple[str, ...]
    codes: npt.NDArray[np.int16]
    raters: tuple[str, ...]
    trace: npt.NDArray[np.int32]
    traces: tuple[str, ...]
    places: tuple[RatedItem, ...]
    scores: tuple[float, ...] | None = None
    missing: MissingAnswers = MissingAnswers()  # frozen
    derived: str = ""

    @property
    def is_given(self) -> npt.NDArray[np.bool_]:
        """Mask of given answers (places x raters)."""
        return np.asarray(self.codes >= 0)

    @property
    def reasons(self) -> dict[str, int]:
        """Number of missing answers by reason."""
        return self.missing.counts()

    def by_raters(self, columns: Sequence[int]) -> Ratings:
        """Return the columns of some raters, with their missing answers."""
        raters = tuple(self.raters[at] for at in columns)
        return self._replace(codes=self.codes[:, list(columns)], raters=raters, missing=self.missing.by_raters(raters))


class NumericRatings(NamedTuple):
    """Numeric answers: `values` (places x raters, float64), nan if missing. Other fields are as in `Ratings`."""

    field: str
    values: Floats
    raters: tuple[str, ...]
    trace: npt.NDArray[np.int32]
    traces: tuple[str, ...]
    places: tuple[RatedItem, ...]
    missing: MissingAnswers = MissingAnswers()  # frozen

    @property
    def is_given(self) -> npt.NDArray[np.bool_]:
        """Mask of given answers (places x raters)."""
        return np.asarray(~np.isnan(self.values))

    @property
    def reasons(self) -> dict[str, int]:
        """Number of missing answers by reason."""
        return self.missing.counts()

    def by_raters(self, columns: Sequence[int]) -> NumericRatings:
        """Return the columns of some raters, with their missing answers."""
        raters = tuple(self.raters[at] for at in columns)
        return self._replace(
            values=self.values[:, list(columns)], raters=raters, missing=self.missing.by_raters(raters)
        )
