"""Parts of a field's items that are reported apart: by kind of target, and before and after derivation."""

from __future__ import annotations

from typing import NamedTuple

from annotators.agreement.ratings.fields import Derived
from annotators.derived import COMPLETED, NOT_COMPLETED
from annotators.study_data import StudyData
from lab.core.study.protocol import Field


class RatingsPart(NamedTuple):
    """A part: its name (empty: all of it), and the arguments of `ratings_of` that select it."""

    name: str = ""
    kind: str = ""
    derived: Derived = ""


def parts_of(study_data: StudyData, field: Field) -> list[RatingsPart]:
    """Return all items, then each kind of target.

    A graph's nodes have each of them before and after derivation.
    """
    kinds = ["", *kinds_of(study_data, field)]
    if not has_derivation(study_data, field):
        return [RatingsPart(kind, kind) for kind in kinds]
    both: tuple[Derived, ...] = ("before", "after")
    return [RatingsPart(", ".join(filter(None, (kind, derived))), kind, derived) for kind in kinds for derived in both]


def kinds_of(study_data: StudyData, field: Field) -> tuple[str, ...]:
    """Return the kinds of targets in order of appearance, empty if there is only one kind."""
    if field.per != "target" or study_data.study.protocol.targets == "unit":
        return ()
    kinds: tuple[str, ...] = study_data.cached(
        "kinds", lambda: tuple(dict.fromkeys(one.kind for unit in study_data.units for one in unit.targets))
    )
    return kinds if len(kinds) > 1 else ()


def has_derivation(study_data: StudyData, field: Field) -> bool:
    """Return True if paths are derived from a field's answers."""
    option_ids = {option.id for option in field.options}
    of_nodes = study_data.study.protocol.targets == "tdg nodes" and field.per == "target"
    return of_nodes and field.kind == "nominal" and {COMPLETED, NOT_COMPLETED} <= option_ids
