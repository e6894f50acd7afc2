"""What was computed last of a study: shown while newer answers are counted, never after somebody withdrew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from annotators.agreement.ratings.disputes import disputes, disputes_between
from lab.core.study.agreement import IntervalTerms
from lab.core.task.task import Actor
from lab.studies.progress.agreement_cache import last_agreements
from lab.studies.progress.study_data import load_study_data, study_agreements
from store.erasing.withdrawal import withdraw
from store.store import Store
from tests.screens.agreement.sample_study import NOT, made, made_anew, units
from tests.studies import label


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_last_numbers_are_there_though_more_came_in(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        study = made(store)
        assert last_agreements(store, study, IntervalTerms()) is None
        first, then = study_agreements(store, study), store.agreement.position()
        unit = units()[0]
        store.labels.record(study, unit, label(study, unit, "pay", "state", NOT, rater=Actor("model", "other")))
        kept = last_agreements(store, study, IntervalTerms())
        assert kept is not None
        assert kept[0] == first
        assert store.labels.count_newer(study, kept[1].label[0]) == 1
        assert not store.agreement.same_since(study, kept[1])
        assert store.labels.count_newer(study, store.agreement.position().label[0]) == 0
        assert (then == kept[1], last_agreements(store, study, IntervalTerms(seed=4))) == (True, None)
        assert last_agreements(store, msgspec.structs.replace(study, title="Another"), IntervalTerms()) is None


def test_newer_answers_are_those_of_the_study(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        study = made(store)
        other = msgspec.structs.replace(study, id="other")
        assert store.labels.count_newer(study, 0) == len(list(store.labels.read(study))) > 0
        assert store.labels.count_newer(other, 0) == 0


def test_nothing_of_before_is_shown_once_somebody_withdrew(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        study = made(store)
        study_agreements(store, study)
        withdraw(store, "R3", Actor("human", "D1"))
        assert last_agreements(store, study, IntervalTerms()) is None


def test_nothing_of_before_is_shown_of_another_file_in_the_same_place(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        study_agreements(store, made(store))
    for path in tmp_path.glob("lab.db*"):
        path.unlink()
    with Store.open(tmp_path / "lab.db") as store:
        assert last_agreements(store, made_anew(store), IntervalTerms()) is None


def _change_a_number(data: bytes) -> bytes:
    """Change digits of the numbers alone: the entry is still one of this study's, and JSON."""
    head, found, numbers = data.partition(b'"found":')
    return head + found + numbers.replace(b"1", b"2")


@pytest.mark.parametrize("damage", [lambda data: data[:-9], _change_a_number, lambda data: b"", lambda data: b"\n{}"])
def test_a_damaged_cache_is_computed_anew(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        study = made(store)
        first = study_agreements(store, study)
        paths = [path for path in (tmp_path / "cache").rglob("*.json") if path.is_file()]
        assert paths
        for path in paths:
            path.write_bytes(damage(path.read_bytes()))
        assert last_agreements(store, study, IntervalTerms()) is None
        assert study_agreements(store, study) == first
        assert last_agreements(store, study, IntervalTerms()) is not None


def test_what_is_gathered_for_other_uses_is_what_is_counted(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        study = made(store)
        whole, calls = load_study_data(store, study), [0]

        def gather() -> object:
            calls[0] += 1
            return whole

        first = study_agreements(store, study, IntervalTerms(), gather)  # type: ignore[arg-type]
        assert (study_agreements(store, study), calls) == (first, [1])
        resampled = whole.with_interval_method(IntervalTerms(interval="bootstrap"))
        assert (whole.how.interval, resampled.how.interval) == ("jackknife-t", "bootstrap")
        assert resampled.people == whole.people


def test_who_said_what_stands_most_first_with_steps(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        found = list(disputes(load_study_data(store, made(store)), "state", [("u4", "open"), ("u2", "pay")]))
    assert [one.unit for one in found] == ["u4", "u2"]
    assert [(said.rater, said.text, said.step) for said in found[0].answers] == [
        ("R1", "completed", 1), ("R3", "completed", 4), ("glass", "completed", 0), ("R2", NOT, 2),
    ]  # fmt: skip
    assert found[0].about == "Open the list of dishes"
    assert [one.unit for one in disputes_between(found, "R1", "R2")] == ["u4"]
    assert disputes_between(found, "R1", "nobody") == []
