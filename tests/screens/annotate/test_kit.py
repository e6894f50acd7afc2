"""A kit is rated in the app as the study itself is, by keys alone, and comes back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from lab.core.study.study import Unit
from store.copies.kit_export import make_kit
from store.copies.kit_import import import_kit
from store.store import Store
from tests.screens.annotate.sample_studies import STARS, one_field, rating, ready, studied
from tests.screens.resting import press
from tests.screens.runs import WHOLE, painted, whole_run

Until = Callable[..., Awaitable[None]]


async def test_a_kit_is_rated_by_keys_and_comes_back(store: Store, until: Until, tmp_path: Path) -> None:
    store.runs.add(whole_run())
    study = studied(store, one_field(STARS), [Unit("u1", (WHOLE,)), Unit("u2", (WHOLE,))], ("R1", "R2"))
    make_kit(store, study, "R1", tmp_path / "R1.db")
    with Store.open(tmp_path / "R1.db") as kit:
        app = rating(kit, kit.studies.study(study.id))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: ready(app) and "1 of 2" in painted(app))
            asked = whole_run().events[0].task.instruction[:20]  # type: ignore[union-attr]
            await until(pilot, lambda: asked in painted(app))
            await press(pilot, "4", "enter")
            await until(pilot, lambda: "2 of 2" in painted(app))
    taken = import_kit(store, tmp_path / "R1.db")
    assert taken.labels == 1
    assert [(label.unit, label.value) for label in store.labels.read(study)] == [("u1", "4")]
    assert store.studies.progress(study, "R1").done == 1
