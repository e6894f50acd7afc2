"""People of a study: those of its plan, those who replaced others, and those still active."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.core.study.label import ActKind

if TYPE_CHECKING:
    from lab.core.study.study import Study
    from store.store import Store

REPLACED: tuple[ActKind, ...] = ("replaced",)
"""Kind of the act that says who replaces another."""


def people_of(store: Store, study: Study) -> list[str]:
    """Return everybody's code: the plan's, then the replacements'."""
    more = sorted({act.rater.id for act in store.labels.acts_of(study, REPLACED)} - set(study.raters))
    return [*study.raters, *more]


def people_there(store: Store, study: Study) -> list[str]:
    """Return those who neither left nor withdrew."""
    return [
        code
        for code in people_of(store, study)
        if not store.studies.has_left(study, code) and not store.labels.has_withdrawn(code)
    ]
