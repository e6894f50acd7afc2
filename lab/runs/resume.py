"""Resume an interrupted run: restore its phone, its last breakpoint and its pending action."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab.core.codec import decode
from lab.core.errors import LabError
from lab.core.run.step import Proposed
from lab.core.run.trace import Acting, AnyEvent, Paused, Resumed, Step, Trace
from lab.core.seams import Device
from lab.core.values.ids_and_clock import now
from lab.runs.breakpoints import REASON
from store.store import Store


def restore_phone(store: Store, device: Device, trace: Trace) -> dict[str, Any] | None:
    """Restore the phone to the run's last state, if it has snapshots. Return the state at the run's start."""
    first = _load(store, trace.id, trace.state)
    last = next((step.state for step in reversed(trace.steps) if step.state), trace.state)
    state = _load(store, trace.id, last)
    if state is not None:
        try:
            device.restore(state)
        except LabError as error:
            problem = f"stands on a phone that this hitlab's is no longer like ({error.message})"
            raise LabError(f"run {trace.id}", problem, error.hint) from error
    return first


def _load(store: Store, run: str, sha: str | None) -> dict[str, Any] | None:
    if sha is None:
        return None
    blob = store.runs.blob(sha)
    if blob is None:
        raise LabError(f"run {run}", "its phone's state is not in this file", "Was it packed without?")
    state: dict[str, Any] = decode(blob.data, dict[str, Any], f"state {sha[:8]}")
    return state


def interrupted_step(acting: Acting, state: str | None) -> Step:
    """Return an action that may not have happened as a step. `state` is the phone's sha256, None without snapshots."""
    effect = "it may or may not have been done" if state is None else "the phone was put back to before the act"
    return Step(
        index=acting.index,
        proposed=Proposed(acting.action),
        error=f"the run was cut off while acting; {effect}",
        state=state,
        started=acting.at,
        ended=now(),
    )


def breakpoint_step(events: Sequence[AnyEvent]) -> int:
    """Return the step (from 0) at whose breakpoint a run was left, so that it does not pause there again, else -1."""
    step, at = 0, -1
    for event in events:
        match event:
            case Step():
                step, at = event.index + 1, -1
            case Resumed():
                at = -1
            case Paused() if event.reason.startswith(REASON):
                at = step
    return at
