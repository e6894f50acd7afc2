"""A participant on a phone over the adb server: it is played to its end, and cut off it is dealt once more."""

from __future__ import annotations

import json
import select
import signal
from pathlib import Path
from typing import Any

import pytest

from lab.cli import main
from lab.core.errors import LabError
from lab.core.run.step import Reply
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now
from lab.runs.session import Session
from lab.studies.playing.play_session import Participation
from lab.studies.playing.played_runs import study_plays
from store.store import Store
from tests.crossed import soak
from tests.plays import LUNCH, frozen, unit
from tests.simulators.phone.served.rig import AdbServer, Rig
from tests.warm import Warm
from tests.warm_code import CODE

HOME = "way_home"
CUT_OFF = """
import os, sys
from pathlib import Path
from lab.studies.playing.play_session import Participation
from lab.core.task.task import Actor
from store.store import Store

with Store.open(Path(sys.argv[1])) as store:
    part = Participation(store, store.studies.study("teas"), Actor("human", "P1"))
    session = part.session(part.where(), device=sys.argv[2])
    session.start()
    while session.questions.waiting is None and not session.join(0.01):
        pass
    print(session.trace_id, flush=True)
    sys.stdin.read()
"""


def answered(part: Participation, session: Session) -> None:
    """Plays it to its end, and says yes, or mild, to whatever is asked; nobody who looks on meanwhile interrupts it."""
    person = part.person
    session.start()
    while not session.join(0.01):
        question = session.questions.waiting
        if question is not None:
            assert (part.where().stage, part.where().trace) == ("run", session.trace_id)
            said: Any = "accept" if question.kind == "propose" else None
            session.questions.answer(question, Reply(question.id, "mild", person, said, now(), now(), now()))


def cut_off(db: Path, rig: Rig, adb: AdbServer) -> str:
    """Begins a run in a program of its own, which is killed while a question is open; the run's id."""
    env = {**adb.environment, "XDG_CONFIG_HOME": str(db.parent)}
    program = Warm([CUT_OFF, str(db), rig.serial], main=CODE, env=env, stdin=-1, stdout=-1, text=True)
    try:
        assert program.stdout is not None
        assert select.select([program.stdout], [], [], 60)[0]
        run: str = program.stdout.readline().strip()
    finally:
        program.send_signal(signal.SIGKILL)
        program.communicate(timeout=180)
    return run


@soak
def test_a_play_that_was_killed_on_a_phone_is_marked_and_dealt_once_more_at_the_end(
    rig: Rig, adb_environment: AdbServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = tmp_path / "lab.db"
    person = Actor("human", "P1")
    with Store.open(db) as store:
        study = frozen(store, [unit(LUNCH), unit(HOME)], ("P1",), quiz=0)
        Participation(store, study, person).agree()
        first = cut_off(db, rig, adb_environment)
        assert store.runs.trace(first).ended is None
        assert store.runs.trace(first).device.kind == "adb"

        part = Participation(store, study, person)
        there = part.where()
        assert (there.stage, there.number, there.of) == ("brief", 2, 3)
        ended = store.runs.trace(first).ended
        assert ended is not None
        assert (ended.status, ended.score) == ("stopped", None)
        assert [(one.unit, one.run) for one in store.studies.assignments(study, "P1")] == [
            (f"{LUNCH}-unit", 1), (f"{HOME}-unit", 1), (f"{LUNCH}-unit", 2),
        ]  # fmt: skip
        session = part.session(there, device=rig.serial)
        answered(part, session)
        assert session.failure is None, session.failure
        again = Participation(store, study, person).where()
        assert (again.stage, again.trace) == ("questions", session.trace_id)
        assert store.runs.trace(session.trace_id).device.kind == "adb"
        states = {one.unit: one.status for one in study_plays(store, study)}
        assert states[f"{LUNCH}-unit"] == "interrupted"
        assert states[f"{HOME}-unit"] in ("completed", "budget")
    capsys.readouterr()
    assert main.main(["study", "runs", "teas", "--json", "--db", str(db)]) == 0
    told = json.loads(capsys.readouterr().out)["runs"]
    assert [(one["trace"], one["position"], one["play"]) for one in told] == [
        (first, 0, 1), (session.trace_id, 1, 1),
    ]  # fmt: skip


def test_a_phone_that_is_not_there_leaves_the_play_where_it_was(adb_environment: AdbServer, tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        study = frozen(store, [unit(LUNCH)], ("P1",), quiz=0)
        part = Participation(store, study, Actor("human", "P1"))
        part.agree()
        with pytest.raises(LabError):
            part.session(part.where(), device="nowhere")
        assert part.where().stage == "brief"
        assert part.where().number == part.where().of == 1
