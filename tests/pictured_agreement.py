"""The guides' picture of Agreement: a study of a graph's items that three people and a judge rated, with slips."""

from __future__ import annotations

import random

from lab.cli.main import main
from lab.core.study.label import Act, Label
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from store.store import Store

PEOPLE = {"R1": 0.05, "R2": 0.07, "R3": 0.12}
"""How often each of them slips."""
JUDGE, SLIPS = Actor("model", "some-judge"), 0.1


def rate(store: Store) -> Study:
    """Every run of the file that has a graph, rated by all and handed in."""
    words = ["study", "new", "tdg", "--runs", "all", "--name", "checked", "--title", "Which items were completed"]
    if main([*words, "--raters", ",".join(PEOPLE), "--overlap", "all", "--db", str(store.path)]) != 0:
        raise SystemExit("pictures: the study of agreement was refused")
    if main(["study", "deal", "checked", "--db", str(store.path)]) != 0:
        raise SystemExit("pictures: the study of agreement is not dealt")
    study = store.studies.study("checked")
    units = list(store.studies.units(study))
    for rater, slips in (*((Actor("human", code), slips) for code, slips in PEOPLE.items()), (JUDGE, SLIPS)):
        dice = random.Random(rater.id)
        for unit in units:
            if unit.mechanical or unit.gold:
                continue
            said = [_label(study, unit, rater, target, dice.random() < slips) for target in range(len(unit.targets))]
            for label in said:
                store.labels.record(study, unit, label)
            if rater.kind == "human":
                store.labels.hand_in(
                    study, unit, Act(uuid7(), study.id, study.version, rater, "commit", now(), unit.id)
                )
    return study


def _label(study: Study, unit: Unit, rater: Actor, target: int, slips: bool) -> Label:
    """An answer to one item; what is right hangs on the item alone."""
    item = unit.targets[target]
    done = (random.Random(f"{unit.id} {item.id}").random() < 0.65) is not slips
    at = now()
    return Label(
        uuid7(), study.id, study.version, unit.id, item.id, "state", rater, "completed" if done else "not_completed",
        evidence=f"{unit.runs[0]}@{1 + target % 8}", shown_at=at, at=at, source="keys",
    )  # fmt: skip
