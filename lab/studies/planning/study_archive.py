"""Archive and restore a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.core.study.label import ActKind
from lab.core.study.signing import sign_act
from lab.core.task.task import Actor

if TYPE_CHECKING:
    from lab.core.study.study import Study
    from store.store import Store


def archive_study(store: Store, study: Study, person: str, *, archived: bool = True) -> bool:
    """Archive or restore a study. Return False if it was so already."""
    if store.studies.archived(study) is archived:
        return False
    act: ActKind = "archived" if archived else "restored"
    store.labels.record_act(sign_act(study, Actor("human", person), act))
    return True
