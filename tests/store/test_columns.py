"""Columns say what labels say one by one: heads alone, of people only what is handed in, in an order of their own."""

from __future__ import annotations

import random
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from lab.core.errors import LabError
from lab.core.study.label import Act, Label
from lab.core.study.label_columns import Columns
from lab.core.study.rating_sheet import current_labels, submitted_sheets
from lab.core.study.study import Assignment, Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from store.file.times import milliseconds
from store.store import Store
from store.studies.agreement_labels import FilePosition
from store.studies.labels import insert_act, insert_label
from tests.studies import R1, R2, frozen, label, study, unit

MODEL, SCRIPT = Actor("model", "m1", "Model One"), Actor("script", "R2")
FIELDS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("state", ("completed", "not_completed")), ("why", ("because", "", "é—✓")), ("rating", (0, 1, 1.0, 55.5, True)),
)  # fmt: skip


def written(store: Store, rows: list[Label], acts: list[Act]) -> None:
    """As a merge would: no rule is asked."""
    with store.database.writing() as db:
        for row in rows:
            insert_label(db, row)
        for act in acts:
            insert_act(db, act)


def at_random(plan: Study, units: list[Unit], seed: int) -> tuple[list[Label], list[Act]]:
    """Labels with corrections, takings back, clashes and reasons; sheets handed in, taken back, handed in again."""
    dice = random.Random(seed)
    rows: list[Label] = []
    for _ in range(400):
        of = dice.choice(units)
        field, values = dice.choice(FIELDS)
        target = "" if field == "rating" else dice.choice(of.targets).id
        rater, run = dice.choice((R1, R2, MODEL, SCRIPT)), dice.choice((1, 1, 1, 2))
        same = [
            one for one in rows
            if (one.unit, one.target, one.field, one.rater, one.run) == (of.id, target, field, rater, run)
        ]  # fmt: skip
        before = dice.sample(same, min(len(same), dice.choice((0, 1, 1, 2))))
        missing = dice.choice((None, None, None, "cannot_judge", "skipped", "cleared"))
        rows.append(
            label(
                plan, of, target, field, None if missing else dice.choice(values), rater=rater, run=run,
                reason_missing=None if missing == "cleared" else missing,
                supersedes=before[0].id if before else None, also=tuple(one.id for one in before[1:]),
                evidence=dice.choice((None, f"run-{of.id}@{dice.randrange(1, 9)}", f"run-{of.id}@0", "run")),
                shown_at=dice.choice((None, "2026-04-01T08:59:58.500000+00:00", "2026-04-01T10:59:59+02:00")),
                idle_ms=dice.choice((0.0, 250.0)), confidence=dice.choice((None, 0.5)), cites=dice.choice(("", "§2")),
            )
        )  # fmt: skip
    acts = [
        Act(uuid7(), plan.id, 1, rater, dice.choice(("commit", "commit", "reopen")),
            f"2026-04-02T{hour:02}:00:00+00:00", of.id, run)
        for of in units for rater in (R1, R2) for run in (1, 2) for hour in dice.sample(range(24), 3)
    ]  # fmt: skip
    return rows, dice.sample(acts, len(acts))


def told(columns: Columns) -> list[tuple[Any, ...]]:
    """Each row in full."""
    return [
        (
            columns.units[columns.unit[i]], columns.targets[columns.target[i]], columns.fields[columns.field[i]],
            columns.raters[columns.rater[i]], int(columns.run[i]),
            repr(columns.values[columns.value[i]]) if columns.value[i] >= 0 else "None",
            columns.reasons[columns.reason[i]] if columns.reason[i] >= 0 else None,
            int(columns.step[i]), columns.cites_said[columns.cites[i]] if columns.cites[i] >= 0 else "",
            None if np.isnan(columns.confidence[i]) else float(columns.confidence[i]),
        )
        for i in range(columns.size)
    ]  # fmt: skip


def one_by_one(store: Store, plan: Study) -> list[tuple[Any, ...]]:
    """The same by the rules for labels."""
    handed = submitted_sheets(store.labels.acts(plan))
    rows = []
    for one in current_labels(store.labels.read(plan)):
        if one.rater.kind == "human" and (one.rater.id, one.unit, one.run) not in handed:
            continue
        number = (one.evidence or "").rpartition("@")[2]
        step = int(number) - 1 if number.isdigit() and int(number) else -1
        rows.append(
            (one.unit, one.target, one.field, one.rater, one.run, repr(one.value), one.reason_missing, step, one.cites,
             one.confidence)
        )  # fmt: skip
    return rows


@pytest.mark.parametrize("seed", range(12))
def test_columns_say_what_labels_say_one_by_one(store: Store, seed: int) -> None:
    units = [unit("u1"), unit("u2"), unit("u3")]
    plan = frozen(store, units)
    rows, acts = at_random(plan, units, seed)
    written(store, rows, acts)
    columns = store.agreement.columns(plan)
    expected = one_by_one(store, plan)
    assert sorted(told(columns), key=repr) == sorted(expected, key=repr)
    standing = current_labels(store.labels.read(plan))
    assert columns.open == len(standing) - len(expected)
    superseded = {id for one in rows for id in one.replaces}
    heads: dict[tuple[Any, ...], int] = {}
    for one in rows:
        if one.id not in superseded:
            key = (one.unit, one.target, one.field, one.rater.kind, one.rater.id, one.run)
            heads[key] = heads.get(key, 0) + 1
    assert columns.clashes == sum(count > 1 for count in heads.values())


def test_the_order_in_which_rows_came_in_does_not_show(tmp_path: Path) -> None:
    units = [unit("u2"), unit("u1")]
    found = []
    plan = study(units)
    rows, acts = at_random(plan, units, 3)
    for turn in range(2):
        with Store.open(tmp_path / f"{turn}.db") as store:
            frozen(store, units)
            written(store, rows[::-1] if turn else rows, acts[::-1] if turn else acts)
            found.append(store.agreement.columns(plan))
    one, other = found
    assert told(one) == told(other)
    for name in Columns._fields:
        assert np.array_equal(getattr(one, name), getattr(other, name)) or np.allclose(
            getattr(one, name), getattr(other, name), equal_nan=True
        ), name
    places = [(row[0], row[1], row[2], row[3].id) for row in told(one)]
    order = {"u2": 0, "u1": 1}
    fields = [field.id for field in plan.protocol.fields]
    assert places == sorted(
        places, key=lambda at: (order[at[0]], ["", "open", "pay"].index(at[1]), fields.index(at[2]))
    )


def test_times_are_read_whichever_way_they_are_written(store: Store) -> None:
    units = [unit()]
    plan = frozen(store, units)
    said = [
        label(plan, units[0], "open", "state", "completed", rater=MODEL, at="2026-04-01T09:00:03.500000+00:00",
              shown_at="2026-04-01T09:00:00+00:00", idle_ms=500.0),
        label(plan, units[0], "pay", "state", "completed", rater=MODEL, at="2026-04-01T11:00:03+02:00"),
    ]  # fmt: skip
    written(store, said, [])
    columns = store.agreement.columns(plan)
    assert columns.seconds[0] == 3.0
    assert np.isnan(columns.seconds[1])
    assert columns.at.tolist() == [1775034003500, 1775034003000]


def test_sheets_that_were_to_be_handed_in_are_told_and_whether_they_were(store: Store) -> None:
    units = [unit("u1"), unit("u2")]
    plan = frozen(store, units)
    store.studies.deal(
        plan, [Assignment(plan.id, 1, "R3", 0, "u1"), Assignment(plan.id, 1, "R1", 2, "u2", "repeat", 2)]
    )
    written(
        store,
        [label(plan, units[0], "open", "state", "completed")],
        [
            Act(uuid7(), plan.id, 1, R1, "commit", now(), "u1"),
            Act(uuid7(), plan.id, 1, R2, "commit", now(), "u1"),
            Act(uuid7(), plan.id, 1, R2, "left", now(), detail={"for": "R3", "by": "D"}),
        ],
    )
    columns = store.agreement.columns(plan)
    found = {
        (columns.units[unit], columns.raters[rater].id, run): done
        for (unit, rater, run), done in zip(columns.dealt.tolist(), columns.handed.tolist(), strict=True)
    }
    assert found == {
        ("u1", "R1", 1): True, ("u1", "R2", 1): True, ("u1", "R3", 1): False, ("u2", "R1", 1): False,
        ("u2", "R1", 2): False,
    }  # fmt: skip  # what R2 had not handed in is another's now


def test_an_empty_study_has_columns_without_rows(store: Store) -> None:
    plan = frozen(store, [unit()])
    columns = store.agreement.columns(plan)
    assert (columns.size, columns.open, columns.clashes) == (0, 0, 0)
    assert [one.id for one in columns.raters] == ["R1", "R2"]
    assert columns.handed.tolist() == [False, False]


def test_a_label_of_a_newer_program_is_refused_with_a_sentence(store: Store) -> None:
    units = [unit()]
    plan = frozen(store, units)
    with store.database.writing() as db:
        insert_label(db, label(plan, units[0], "open", "state", "completed"))
        body = db.execute("SELECT body FROM label").fetchone()[0]
        newer = body[:-1] + ',"v":99,"later":1}'
        db.execute(
            "INSERT INTO label SELECT NULL, id || 'x', study, version, unit, target, field, kind, rater, run, at, "
            "supersedes, ? FROM label", (newer,),
        )  # fmt: skip
    with pytest.raises(LabError, match="newer hitlab"):
        store.agreement.columns(plan)


def test_the_same_counts_until_something_of_the_study_comes_in(store: Store) -> None:
    units = [unit("u1"), unit("u2")]
    plan = frozen(store, units)
    other = frozen(store, [unit("x")], id="other")
    then = store.agreement.position()
    assert store.agreement.same_since(plan, then)
    written(store, [label(other, unit("x"), "open", "state", "completed")], [])
    written(store, [], [Act(uuid7(), plan.id, 1, R1, "opened", now(), "u1")])
    assert store.agreement.same_since(plan, then)
    assert not store.agreement.same_since(other, then)
    for change in (
        lambda: written(store, [label(plan, units[0], "open", "state", "completed")], []),
        lambda: written(store, [], [Act(uuid7(), plan.id, 1, R1, "commit", now(), "u1")]),
        lambda: store.studies.deal(plan, [Assignment(plan.id, 1, "R9", 0, "u1")]),
    ):
        then = store.agreement.position()
        assert store.agreement.same_since(plan, then)
        change()
        assert not store.agreement.same_since(plan, then)


def test_another_file_is_never_the_same(store: Store, tmp_path: Path) -> None:
    units = [unit("u1")]
    plan = frozen(store, units)
    written(store, [label(plan, units[0], "open", "state", "completed")], [])
    with Store.open(tmp_path / "other.db") as other:
        frozen(other, units)
        written(other, [label(plan, units[0], "open", "state", "completed")], [])
        assert not other.agreement.same_since(plan, store.agreement.position())
    assert not store.agreement.same_since(plan, replace(store.agreement.position(), withdrawals=1))
    assert store.agreement.same_since(plan, store.agreement.position())
    assert FilePosition() != store.agreement.position()


@pytest.mark.parametrize(
    "times",
    [
        ["2026-04-01T09:00:03.500001+00:00", "", "1969-12-31T23:59:59.000000+00:00"],
        ["2024-02-29T00:00:00.000000+00:00", "2000-12-31T12:30:59.999999+00:00"],
        ["2026-04-01T09:00:03.5+00:00", "2026-04-01T09:00:03Z", "2026-04-01", "yesterday", ""],
        ["2026-04-01 09:00:03.500001+00:00", "2026-04-01T09:00:03.500001+02:00"],
        ["٢٠٢٦-04-01T09:00:03.500001+00:00", "x" * 32],
        [],
    ],
)  # fmt: skip
def test_many_times_are_read_as_one_by_one(times: list[str]) -> None:
    expected = []
    for time in times:
        try:
            expected.append(datetime.fromisoformat(time).timestamp() * 1000)
        except ValueError:
            expected.append(float("nan"))
    assert np.allclose(milliseconds(times), np.array(expected, dtype=np.float64), rtol=0, atol=1e-3, equal_nan=True)
