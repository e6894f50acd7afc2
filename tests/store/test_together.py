"""Several writes as one transaction: what is refused leaves nothing of its own, what raises takes all of it back."""

from __future__ import annotations

import pytest

from lab.core.errors import LabError
from lab.core.study.label import Act
from lab.core.study.study import Study
from lab.core.values.ids_and_clock import now, uuid7
from store.store import Store
from tests.studies import R1, frozen, label, unit

ONE, TWO = unit("u1"), unit("u2")


@pytest.fixture
def plan(store: Store) -> Study:
    return frozen(store, [ONE, TWO])


def kept(store: Store, plan: Study) -> list[str]:
    """The units of the labels that another program reads."""
    with Store.open(store.path, readonly=True) as other:
        return [one.unit for one in other.labels.read(plan)]


def test_nothing_is_there_before_the_end_and_all_of_it_then(store: Store, plan: Study) -> None:
    with store.labels.together():
        for one in (ONE, TWO):
            store.labels.record(plan, one, label(plan, one, "open", "state", "completed"))
        assert kept(store, plan) == []
    assert kept(store, plan) == ["u1", "u2"]


def test_a_part_that_is_refused_leaves_nothing_and_the_others_stand(store: Store, plan: Study) -> None:
    def half() -> None:
        with store.labels.savepoint():
            store.labels.record(plan, ONE, label(plan, ONE, "open", "state", "completed"))
            store.labels.hand_in(plan, ONE, Act(uuid7(), plan.id, plan.version, R1, "commit", now(), "u1"))

    with store.labels.together():
        with pytest.raises(LabError, match="unanswered"):
            half()
        store.labels.record(plan, TWO, label(plan, TWO, "open", "state", "completed"))
    assert kept(store, plan) == ["u2"]


def test_what_raises_takes_all_of_it_back_and_the_next_write_stands(store: Store, plan: Study) -> None:
    def interrupted() -> None:
        with store.labels.together():
            store.labels.record(plan, ONE, label(plan, ONE, "open", "state", "completed"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert kept(store, plan) == []
    store.labels.record(plan, TWO, label(plan, TWO, "open", "state", "completed"))
    assert kept(store, plan) == ["u2"]


def test_a_models_configurations_and_acts_are_told_without_reading_each(store: Store, plan: Study) -> None:
    assert (store.labels.config_hashes(plan, "m"), store.labels.count_acts(plan, "R1", "opened")) == (set(), 0)
    for _ in range(3):
        store.labels.record_act(Act(uuid7(), plan.id, plan.version, R1, "opened", now(), "u1"))
    assert store.labels.count_acts(plan, "R1", "opened") == 3
    assert len(list(store.labels.each_act(plan, "R1", "opened"))) == 3
    assert list(store.labels.each_act(plan, "R2", "opened")) == []
