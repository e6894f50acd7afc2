"""Acts on runs in lists: archive, restore, tag, untag, rename the agent, one row each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from lab.core.codec import decode, encode, storable
from lab.core.errors import LabError
from lab.core.run.run_records import RENAMED, RunAct
from lab.core.task.task import Actor, AgentName
from lab.core.values.ids_and_clock import not_before
from store.erasing.tombstones import check_not_withdrawn
from store.file.database import Database

INSERT_RUN_ACT = "INSERT INTO run_act VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)"
TABLE = "run_act"
VERSION = 2
"""Newest stored version of a run act."""

IS_ARCHIVED = "(SELECT act FROM run_act WHERE trace = {} AND tag = '' ORDER BY at DESC, id DESC LIMIT 1) IS 'archived'"
"""SQL condition on a run's id: True if the run is archived."""

_HAS_TAG = "(SELECT act FROM run_act WHERE trace = trace.id AND tag = ? ORDER BY at DESC, id DESC LIMIT 1) IS 'tagged'"
_STATES = "SELECT trace, tag, act FROM run_act WHERE {} ORDER BY trace, tag, at, id"
_LAST = "SELECT max(at), (SELECT act FROM run_act WHERE trace = ?1 AND tag = ?2 ORDER BY at DESC, id DESC LIMIT 1) "
_LAST += "FROM run_act WHERE trace = ?1 AND tag = ?2"
_NAMES = f"SELECT trace, body FROM run_act WHERE tag = '{RENAMED}' ORDER BY at, id"
_NAME = f"SELECT trace, body FROM run_act WHERE trace = ? AND tag = '{RENAMED}' ORDER BY at, id"
_BATCH = 500
"""Runs queried by id at once."""


class RunState(NamedTuple):
    """Tags of a run in alphabetical order, and True if it is archived."""

    tags: tuple[str, ...] = ()
    archived: bool = False


class RunActs:
    """Acts by which runs are archived and tagged, and their agents renamed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, acts: Sequence[RunAct]) -> list[RunAct]:
        """Store acts on runs, all or none, durable on return. Return those with an effect, as stored.

        Archiving an archived run or repeating a tag has no effect. Raise `LabError` if a run is not in the file, the
        person has withdrawn, or the file is a kit.
        """
        new_acts: list[RunAct] = []
        with self._database.writing() as db:
            for act in acts:
                check_not_withdrawn(db, act.by.id, f"run {act.trace}")
                _check_recordable(db, act)
                last, state = db.execute(_LAST, (act.trace, storable(act.tag))).fetchone()
                if act.act == "renamed":
                    if act.agent == _agent_names(db.execute(_NAME, (act.trace,)).fetchall()).get(act.trace):
                        continue
                elif act.act == (state or ("untagged" if act.tag else "restored")):
                    continue
                new_acts.append(replace(act, at=not_before(act.at, last)))
                db.execute(INSERT_RUN_ACT, run_act_row(new_acts[-1]))
        return new_acts

    def of_run(self, trace_id: str) -> list[RunAct]:
        """Return every act on a run in order of insertion."""
        rows = self._database.rows_in(TABLE, "SELECT body FROM run_act WHERE trace = ? ORDER BY n", trace_id)
        return [_decode_act(body) for (body,) in rows]

    def states(self, ids: Iterable[str]) -> dict[str, RunState]:
        """Return the states of these runs, without runs that have no acts."""
        run_ids, states = list(ids), dict[str, RunState]()
        for at in range(0, len(run_ids), _BATCH):
            some = run_ids[at : at + _BATCH]
            marks = ", ".join("?" * len(some))
            states |= states_where(self._database, f"trace IN ({marks})", *some)
        return states

    def agent_names(self, trace_id: str = "") -> dict[str, AgentName]:
        """Return the agent names that people gave, by run id: of one run, or of all."""
        rows = self._database.rows_in(TABLE, _NAME, trace_id) if trace_id else self._database.rows_in(TABLE, _NAMES)
        return _agent_names(rows)

    def archived(self) -> set[str]:
        """Return the ids of all archived runs."""
        sql = f"SELECT DISTINCT trace FROM run_act a WHERE tag = '' AND {IS_ARCHIVED.format('a.trace')}"
        return {id for (id,) in self._database.rows_in(TABLE, sql)}

    def tags(self) -> dict[str, int]:
        """Return every tag in use with its number of runs, by name."""
        counts: dict[str, int] = {}
        for state in states_where(self._database, "tag <> ''").values():
            for tag in state.tags:
                counts[tag] = counts.get(tag, 0) + 1
        return dict(sorted(counts.items()))


def states_where(database: Database, where: str, *values: Any) -> dict[str, RunState]:
    """Return the states of runs that have any act matching an SQL condition."""
    last: dict[tuple[str, str], str] = {}
    for trace, tag, act in database.rows_in(TABLE, _STATES.format(where), *values):
        last[trace, tag] = act
    tags: dict[str, list[str]] = {}
    for (trace, tag), act in last.items():
        own = tags.setdefault(trace, [])
        if tag and act == "tagged":
            own.append(tag)
    return {trace: RunState(tuple(sorted(own)), last.get((trace, "")) == "archived") for trace, own in tags.items()}


class StoredAgents:
    """Decodes stored agents under the names that people gave them. Equal ones are decoded once."""

    def __init__(self, database: Database) -> None:
        self._names = _agent_names(database.rows_in(TABLE, _NAMES))
        self._decoded: dict[str, Actor] = {}

    def __call__(self, trace_id: str, body: str) -> Actor:
        """Return a run's agent. `body` is the stored `Actor`."""
        if body not in self._decoded:
            self._decoded[body] = decode(body, Actor, f"run {trace_id}, field agent")
        return self.renamed(trace_id, self._decoded[body])

    def renamed(self, trace_id: str, agent: Actor) -> Actor:
        """Return a run's agent with the name that a person gave it, if any."""
        name = self._names.get(trace_id)
        return agent if name is None else name.apply_to(agent)


def _agent_names(rows: Iterable[tuple[str, str]]) -> dict[str, AgentName]:
    """Return the latest agent name of each run, without names that were removed."""
    acts = {trace: _decode_act(body) for trace, body in rows}
    return {trace: act.agent for trace, act in acts.items() if act.agent is not None}


def list_condition(database: Database, *, archived: bool | None = False, tag: str = "") -> tuple[str, list[str]]:
    """Return the SQL condition on a run for a list, and its values.

    The list has runs that are not archived, archived runs, or both (`archived` None). `tag` limits it to tagged runs.
    In an older, read-only file no run is archived or tagged.
    """
    if not database.has_table(TABLE):
        return "0" if archived or tag else "1", []
    conditions = ["1"]
    if archived is not None:
        conditions.append(f"{'' if archived else 'NOT '}{IS_ARCHIVED.format('trace.id')}")
    if tag:
        conditions.append(_HAS_TAG)
    return " AND ".join(conditions), [storable(tag)] if tag else []


def run_act_row(act: RunAct) -> tuple[Any, ...]:
    """Return the values for `INSERT_RUN_ACT`."""
    at = storable(act.at)
    return (act.id, act.trace, storable(act.tag), act.act, storable(act.by.id), at, encode(act).decode())


def _check_recordable(db: sqlite3.Connection, act: RunAct) -> None:
    what = f"run {act.trace}"
    if kit := db.execute("SELECT rater FROM kit").fetchone():
        raise LabError(
            what, f"this file is a kit of {kit[0]}; runs are archived, tagged and renamed where it came from."
        )
    if not db.execute("SELECT 1 FROM trace WHERE id = ?", (act.trace,)).fetchone():
        raise LabError(what, "is not in this file.", "`hitlab runs list` lists what is.")


def _decode_act(body: str) -> RunAct:
    return decode(body, RunAct, "an act on a run in the file", newest=VERSION)
