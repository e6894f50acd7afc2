"""The practice item of raters: a unit of the study itself, or one over runs made on the spot.

The playbooks of tasks that no study asks about make the protocol's runs on the embedded phone. They need no file, are
the same on every machine, and reveal nothing of what is rated later.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec.structs import replace

from annotators.gold import GoldLine, with_gold
from annotators.units import UnitTerms, units_for
from lab.core.errors import LabError
from lab.core.study.protocol import PRACTICE, Protocol, Show
from lab.core.study.study import Study, Unit
from lab.core.task.practice import Practice, PracticeRun
from store.store import Store

if TYPE_CHECKING:
    from lab.runs.spec import Spec

RUN_ID = "practice-{}"
"""Id of a run made for practice, the same each time, so that an answer's evidence stays valid."""


class PracticeItem:
    """A unit with its right answers, and the store of its runs. `sha` is the practice's version."""

    def __init__(self, unit: Unit, store: Store, sha: str, folder: TemporaryDirectory[str] | None = None) -> None:
        self.unit = unit
        self.store = store
        self.sha = sha
        self._folder = folder

    def close(self) -> None:
        """Delete the temporary file, if any. A second call does nothing."""
        if self._folder is not None:
            self.store.close()
            self._folder.cleanup()
            self._folder = None


def practice_sha(study: Study) -> str:
    """Return the version of a study's practice: its own unit's id or its protocol's hash, empty if it has none."""
    return study.practice or (study.protocol.practice.sha if study.protocol.practice is not None else "")


def own_unit(store: Store, study: Study) -> Unit | None:
    """Return the study's own practice unit, None if its protocol's practice applies, or none."""
    return store.studies.unit(study, study.practice) if study.practice else None


def practice_item(store: Store, study: Study, locale: str) -> PracticeItem | None:
    """Return a study's practice item, with runs made anew if they are the protocol's. None if it has none.

    Raise `LabError` if it cannot be made.
    """
    unit = own_unit(store, study)
    if unit is not None:
        return PracticeItem(unit, store, unit.id)
    if study.protocol.practice is None:
        return None
    return build_item(study.protocol, locale, study.shows)


def build_item(protocol: Protocol, locale: str, shows: Sequence[Show] = ()) -> PracticeItem:
    """Return a protocol's practice item in a temporary file that `close` deletes."""
    practice = protocol.practice
    assert practice is not None
    folder = TemporaryDirectory(prefix="hitlab-practice-", ignore_cleanup_errors=True)
    store = Store.open(Path(folder.name) / "practice.db")
    item = PracticeItem(Unit(""), store, practice.sha, folder)
    try:
        ids = [_play_task(store, run, RUN_ID.format(number)) for number, run in enumerate(practice.runs, 1)]
        item.unit = _unit(store, protocol, practice, ids, locale, shows)
    except BaseException:
        # Ctrl+C must not leave the temporary folder behind either.
        item.close()
        raise
    return item


def check_practice(protocol: Protocol) -> None:
    """Raise `LabError` if a protocol's practice item cannot be made, or its answers do not fit the questions."""
    if protocol.practice is not None:
        build_item(protocol, "en").close()


def _unit(
    store: Store, protocol: Protocol, practice: Practice, ids: Sequence[str], locale: str, shows: Sequence[Show]
) -> Unit:
    what = f"protocol {protocol.id}, practice"
    cases = list(store.runs.measured(ids)) if ids else []
    cases.sort(key=lambda case: ids.index(case.id))
    lines = [(f"{what}, item", practice.line(locale))] if practice.item else []
    pairs = [(ids[0], ids[1])] if protocol.unit == "pair of runs" else []
    units = units_for(protocol, cases, lines=lines, pairs=pairs, terms=UnitTerms(shows=tuple(shows)))
    if protocol.unit in ("step", "question"):
        units = [unit for unit in units if practice.step is None or unit.step == practice.step - 1]
    if not units:
        raise LabError(what, f"field practice.step: there is nothing to ask about at step {practice.step}")
    unit = replace(units[0], gold=(), mechanical=(), practice=True)
    reasons = [
        protocol.word(locale, f"{PRACTICE}{number}", answer.reason) for number, answer in enumerate(practice.answers, 1)
    ]
    golds = [
        (f"{what}, answer {number}", GoldLine(one.value, unit.id, "", one.target, one.field, reason))
        for number, (one, reason) in enumerate(zip(practice.answers, reasons, strict=True), 1)
    ]
    return with_gold(protocol, [unit], golds)[0]


def _play_task(store: Store, run: PracticeRun, id: str) -> str:
    """Run a practice task to its end into a store, as fast as possible."""
    from lab.runs.session import Session

    session = Session(store, _spec(run), run_id=id)
    session.attended = False
    session.start()
    session.join()
    if session.failure is not None:
        raise session.failure
    return id


def _spec(run: PracticeRun) -> Spec:
    from lab.runs.spec import Spec
    from simulators import library

    task, script = library.practice_task(run.task)
    persona = library.persona(task.persona, task.log) if task.persona else None
    agent = f"playbook:{run.playbook}" if run.playbook else "playbook"
    return Spec(task, persona, agent=agent, user=f"script:{script}")
