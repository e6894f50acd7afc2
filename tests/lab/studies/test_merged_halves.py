"""One study, rated in one file or in two halves that are merged in either order: the same report, byte for byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from lab.cli.main import main
from lab.core.study.label import Act
from lab.core.study.study import Unit
from lab.core.task.task import Actor
from store.copies.merge import merge_into
from store.store import Store
from tests.studies import R1, R2, frozen, label, unit

UNITS = [unit(f"u{i}") for i in range(6)]
WORDS = ("completed", "not_completed")


def rate(path: Path, *people: Actor) -> None:
    """Each person's answers and handing in, the same rows whichever file they are given in."""
    with Store.open(path) as store:
        plan = store.studies.study("trial")
        for who in people:
            for i, one in enumerate(UNITS):
                _rate(store, who, i, one)
                at = f"2026-04-02T09:00:{i:02d}.000000+00:00"
                store.labels.record_act(Act(f"act-{who.id}-{one.id}", plan.id, 1, who, "commit", at, one.id))


def _rate(store: Store, who: Actor, i: int, one: Unit) -> None:
    plan, by = store.studies.study("trial"), 1 + (who == R2)
    for n, (target, field, value) in enumerate(
        (("open", "state", WORDS[i * by % 3 == 0]), ("pay", "state", WORDS[(i + by) % 4 == 0]), ("", "rating", i * by))
    ):
        row = label(plan, one, target, field, value, rater=who, at=f"2026-04-01T09:00:{i:02d}.{n:06d}+00:00")
        store.labels.record(plan, one, replace(row, id=f"label-{who.id}-{i}-{n}"))


@pytest.mark.parametrize("form", ["--md", "--html", "--json"])
def test_halves_that_are_merged_in_either_order_make_the_report_of_the_whole(
    tmp_path: Path, form: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    whole, first, second = (tmp_path / f"{name}.db" for name in ("whole", "first", "second"))
    with Store.open(whole) as store:
        frozen(store, UNITS)
    for path in (first, second):
        shutil.copy(whole, path)
    rate(whole, R1, R2)
    rate(first, R1)
    rate(second, R2)
    merge_into(tmp_path / "12.db", [first, second])
    merge_into(tmp_path / "21.db", [second, first])
    told = []
    for path in (whole, tmp_path / "12.db", tmp_path / "21.db"):
        assert main(["report", "trial", form, "--db", str(path)]) == 0
        told.append(capsysbinary.readouterr().out)
    assert b"rating" in told[0]
    assert told[0] == told[1] == told[2]
    assert main(["report", "trial", form, "--db", str(first)]) == 0
    assert capsysbinary.readouterr().out != told[0]
