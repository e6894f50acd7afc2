"""Archive, tag and rename runs, and undo that, for commands and screens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from lab.core.errors import LabError
from lab.core.run.run_records import RENAMED, RunAct, check_tag
from lab.core.task.task import Actor, AgentName
from lab.core.values.ids_and_clock import now, uuid7

if TYPE_CHECKING:
    from store.store import Store

Kind = Literal["archived", "restored", "tagged", "untagged"]
RENAMED_VERSION = 2
"""Stored version of an act that renames an agent. Earlier versions of hitlab do not know it."""
_OPPOSITE: dict[str, Kind] = {
    "archived": "restored", "restored": "archived", "tagged": "untagged", "untagged": "tagged",
}  # fmt: skip


class TagChange(NamedTuple):
    """Tags to add to runs, and tags to remove."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def tag_change(words: Iterable[str]) -> TagChange:
    """Parse `+name`, `-name` or a bare name (added). Raise `LabError` for an invalid or contradictory tag."""
    tags_on: list[str] = []
    tags_off: list[str] = []
    for word in words:
        (tags_off if word.startswith("-") else tags_on).append(check_tag(word[1:] if word[:1] in "+-" else word))
    contradiction = next((tag for tag in tags_on if tag in tags_off), None)
    if contradiction is not None:
        raise LabError(f"tag {contradiction!r}", "is to be put on and taken off at once.", code=2)
    return TagChange(tuple(dict.fromkeys(tags_on)), tuple(dict.fromkeys(tags_off)))


def archive_runs(store: Store, runs: Sequence[str], person: str, *, archived: bool = True) -> list[RunAct]:
    """Archive runs or restore them. Return the acts that changed something."""
    kind: Kind = "archived" if archived else "restored"
    return store.runs.acts.record([_new_act(run, kind, person) for run in runs])


def tag_runs(store: Store, runs: Sequence[str], change: TagChange, person: str) -> list[RunAct]:
    """Add tags to runs and remove others. Return the acts that changed something."""
    acts = [_new_act(run, "tagged", person, tag) for run in runs for tag in change.added]
    acts += [_new_act(run, "untagged", person, tag) for run in runs for tag in change.removed]
    return store.runs.acts.record(acts)


def undo_acts(store: Store, acts: Sequence[RunAct], person: str) -> list[RunAct]:
    """Undo acts by opposite acts. Return those that changed something."""
    # The latest first, so that each finds the state that it undoes.
    return store.runs.acts.record([_new_act(act.trace, _OPPOSITE[act.act], person, act.tag) for act in reversed(acts)])


def rename_agent(store: Store, runs: Sequence[str], name: AgentName | None, person: str) -> list[RunAct]:
    """Rename the agent of runs, or with None restore its own name. Return the acts that changed something."""
    by = Actor("human", person)
    return store.runs.acts.record(
        [RunAct(uuid7(), run, "renamed", by, now(), RENAMED, RENAMED_VERSION, name) for run in runs]
    )


def _new_act(run: str, kind: Kind, person: str, tag: str = "") -> RunAct:
    return RunAct(uuid7(), run, kind, Actor("human", person), now(), tag)
