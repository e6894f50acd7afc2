"""Replies that participants of a played study gave, for use in another run."""

from __future__ import annotations

from lab.core.errors import LabError
from lab.core.study.study import Study
from lab.runs.fork.answer_swap import DonorReply, replies_of
from lab.studies.playing.played_runs import study_plays
from store.store import Store


def played_replies(store: Store, study: Study, task: str) -> list[DonorReply]:
    """Return every reply that people gave at a task in ended plays of a study, by their codes.

    Raise `LabError` if nobody has played the study, or nobody replied at that task.
    """
    plays = study_plays(store, study)
    if not plays:
        raise LabError(f"study {study.name}", "has no run that anybody played.", "`hitlab study play` plays one.")
    replies: list[DonorReply] = []
    for play in plays:
        if (
            play.task == task
            and play.by.kind == "human"
            and play.status == "completed"
            and store.runs.has_run(play.trace)
        ):
            replies += replies_of(store.runs.trace(play.trace), play.by.id)
    if not replies:
        tasks = ", ".join(sorted({play.task for play in plays}))
        raise LabError(f"study {study.name}", f"nobody replied anything at task {task} in it.", f"Played: {tasks}.")
    return replies
