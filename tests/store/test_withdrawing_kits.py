"""Kits that were made before somebody withdrew: nothing of theirs comes back in one, and others' work still does."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from lab.core.errors import LabError
from lab.core.task.task import Actor
from store.copies.kit_export import make_kit
from store.copies.kit_import import import_kit
from store.erasing.withdrawal import withdraw
from store.store import Store
from tests.studies import R2, frozen, label, unit
from tests.withdrawals import CODE, D01, P07, small


def test_a_kit_comes_back_without_what_was_erased_meanwhile(store: Store, tmp_path: Path) -> None:
    units = [unit("theirs"), unit("other")]
    store.runs.add(small("run-theirs", P07, [], said="x"))
    store.runs.add(small("run-other", Actor("model", "m"), [], said="x"))
    plan = frozen(store, units, raters=(CODE, "R2"))
    kits = {code: tmp_path / f"{code}.db" for code in plan.raters}
    for code, path in kits.items():
        make_kit(store, plan, code, path)
        with Store.open(path) as kit:
            for one in units:
                said = label(plan, one, "open", "state", "completed", note=f"said of {one.id}")
                kit.labels.record(kit.studies.study(plan.id), one, replace(said, rater=Actor("human", code)))
    with Store.open(kits[CODE]) as kit, pytest.raises(LabError, match="kit"):
        withdraw(kit, CODE, D01)
    withdraw(store, CODE, D01)
    with pytest.raises(LabError, match=f"{CODE} has withdrawn; nothing of theirs is taken in"):
        import_kit(store, kits[CODE])
    assert import_kit(store, kits["R2"]).labels == 1
    assert [(one.unit, one.rater) for one in store.labels.read(plan)] == [("other", R2)]
    assert store.check() == []
