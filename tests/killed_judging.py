"""Kills `hitlab judge` with SIGKILL at a random moment and counts what was paid for; for tests and soak.

Each judge is a process of its own that runs the command from its beginning. It is forked from one in which litellm is
loaded already, which takes longer than all the rest.
"""

from __future__ import annotations

import os
import random
import re
import signal
import threading
from collections import Counter
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import NamedTuple

from lab.core.study.study import Study, UnitText
from store.store import Store
from tests.endpoint import ModelServer, Reply, Request, serving
from tests.forked import forked
from tests.judges import sheet_brain
from tests.lab.studies.test_judging import MODEL, RUN_UNIT, says
from tests.screens.annotate.host import AGENT, lunch
from tests.screens.runs import WHOLE
from tests.studies import frozen, unit

AT_A_TIME = 4
"""Questions that the judge asks at a time: no more than these may be paid for and lost by one kill."""
PLACES = 5
"""Answers of a whole sheet."""
_SHEET = re.compile(r"This is sheet (\d+)\.")


class KillCount(NamedTuple):
    """What became of a file: `in_flight` answers were paid for and not kept at a kill, and are those paid twice."""

    kills: int
    sheets: int
    requests: int
    in_flight: int
    twice: int
    wrong: list[str]


def judged_with_kills(db: Path, dice: random.Random, kills: int, sheets: int) -> KillCount:
    """Judges a study of so many sheets in processes that are killed so often, and at last in one that is not."""
    with Store.open(db) as store:
        store.runs.add(lunch(WHOLE, AGENT))
        units = [
            unit(f"u{n}", runs=(WHOLE,), given=(UnitText("Sheet", text=f"This is sheet {n}."),)) for n in range(sheets)
        ]
        study = frozen(store, units, RUN_UNIT)
    good = sheet_brain(says)

    def brain(request: Request) -> Reply:
        threading.Event().wait(0.02)
        return good(request)

    with serving(brain) as server:
        return _killed(db, study, server, dice, kills)


def _killed(db: Path, study: Study, server: ModelServer, dice: random.Random, kills: int) -> KillCount:
    wrong: list[str] = []
    lost: Counter[str] = Counter()
    asked_before = done = 0
    kept: set[str] = set()
    for kill in range(kills + 1):
        process = _started(db, server)
        if kill < kills:
            finished = not _killed_at_random(process, server, dice)
        else:
            process.join(600)
            finished = process.exitcode == 0
        asked = [_sheet(one) for one in server.requests[asked_before:]]
        asked_before = len(server.requests)
        wrong += [f"{one} was kept, and asked again" for one in asked if one in kept]
        kept = _kept(db, study, wrong)
        open_ones = Counter(one for one in asked if one not in kept)
        if len(open_ones) > AT_A_TIME or any(count > 1 for count in Counter(asked).values()):
            wrong.append(f"{len(open_ones)} answers were paid for and not kept")
        lost += open_ones
        if finished:
            break
        done += 1
    if len(kept) != study.units:
        wrong.append(f"{study.units - len(kept)} sheets were never answered")
    twice = len(server.requests) - study.units
    if twice != lost.total():
        wrong.append(f"{twice} questions were asked twice, and {lost.total()} were in flight at a kill")
    return KillCount(done, study.units, len(server.requests), lost.total(), twice, wrong)


def judge(db: str, base: str) -> None:
    """The command, in a process of its own."""
    from lab.cli.main import main

    os.environ |= {"HITLAB_MODEL_BASE": base, "OPENAI_API_KEY": "sk-of-nobody"}
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    command = ["judge", "trial", "--model", MODEL, "--db", db, "--pictures", "0", "--concurrency", str(AT_A_TIME)]
    os._exit(main(command))


def _started(db: Path, server: ModelServer) -> ForkServerProcess:
    return forked(judge, str(db), server.base)


def _killed_at_random(process: ForkServerProcess, server: ModelServer, dice: random.Random) -> bool:
    """Kills after a random number of questions and a random few milliseconds; False where it had ended before."""
    wanted = len(server.requests) + dice.randrange(1, 14)
    with server.came:
        while len(server.requests) < wanted and process.is_alive():
            server.came.wait(0.2)
    threading.Event().wait(dice.random() * 0.06)
    process.kill()
    process.join(180)
    return process.exitcode == -signal.SIGKILL


def _sheet(request: Request) -> str:
    found = _SHEET.search(request.text)
    assert found is not None
    return f"u{found[1]}"


def _kept(db: Path, study: Study, wrong: list[str]) -> set[str]:
    """The sheets whose answer is in the file; what is half-kept or damaged goes into `wrong`."""
    with Store.open(db) as store:
        wrong += store.check()
        labels = Counter(label.unit for label in store.labels.read(study, rater=MODEL))
        acts = store.labels.acts(study, MODEL, judged=True)
    paid = Counter(act.unit for act in acts if act.act == "judged")
    handed = {act.unit for act in acts if act.act == "commit"}
    wrong += [f"{one} has two paid answers" for one, count in paid.items() if count > 1]
    wrong += [f"{one} has {count} labels" for one, count in labels.items() if count != PLACES or one not in handed]
    wrong += [f"{one} is handed in without answers" for one in handed if one not in labels or one not in paid]
    return set(paid)
