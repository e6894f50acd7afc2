"""Archive and restore a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.core.study.label import Act, ActKind
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7

if TYPE_CHECKING:
    from lab.core.study.study import Study
    from store.store import Store


def archive_study(store: Store, study: Study, person: str, *, archived: bool = True) -> bool:
    """Archive or restore a study. Return False if it was so already."""
    if store.studies.archived(study) is archived:
        return False
    act: ActKind = "archived" if archived else "restored"
    store.labels.record_act(Act(uuid7(), study.id, study.version, Actor("human", person), act, now()))
    return True
