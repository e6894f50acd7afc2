"""Who takes part in a study: the people of its plan, those who took another's place, and those who still do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.core.label import ActKind

if TYPE_CHECKING:
    from lab.core.study import Study
    from store.store import Store

REPLACED: tuple[ActKind, ...] = ("replaced",)
"""The act that says who takes another's place."""


def people_of(store: Store, study: Study) -> list[str]:
    """Everybody's code: the plan's, then those who took another's place."""
    more = sorted({act.rater.id for act in store.labels.acts_of(study, REPLACED)} - set(study.raters))
    return [*study.raters, *more]


def people_there(store: Store, study: Study) -> list[str]:
    """Of these, who neither left nor withdrew."""
    return [
        code
        for code in people_of(store, study)
        if not store.studies.has_left(study, code) and not store.labels.withdrew(code)
    ]
