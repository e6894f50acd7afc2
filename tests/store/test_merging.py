"""Merging copies: everything of each is in the whole, once, in whatever order; last words that clash both stand."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.core.errors import LabError
from lab.core.run.run_records import Blob, Imported, Verdict, number_events
from lab.core.run.step import Action, Observation, Proposed
from lab.core.run.trace import AnyEvent, Ended, Started, Step
from lab.core.study.label import Act
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Assignment, Study
from lab.core.task.task import Actor, Task
from lab.core.values.ids_and_clock import now, uuid7
from store.copies.kit_export import make_kit
from store.copies.merge import Merged, merge, merge_into
from store.copies.merge_studies import MergeClash
from store.file.schema import APPEND_ONLY
from store.store import Store
from tests.fuzzing_examples import examples
from tests.merging import content, say
from tests.studies import R1, frozen, label, study, unit

STATE, PAY, RATING = FieldReference("open", "state"), FieldReference("pay", "state"), FieldReference("", "rating")
UNITS = [unit("u1"), unit("u2"), unit("u3")]
D1 = Actor("human", "D1")


@pytest.fixture
def parted(tmp_path: Path) -> tuple[Path, Path]:
    """A study in a file, and a copy of that: A.db and B.db."""
    with Store.open(tmp_path / "A.db") as store:
        plan = frozen(store, UNITS)
        say(store, plan, UNITS[0], "R1", STATE, "completed")
        store.pack(tmp_path / "B.db")
    return tmp_path / "A.db", tmp_path / "B.db"


def on(path: Path, does: Callable[[Store, Study], None]) -> None:
    with Store.open(path) as store:
        does(store, store.studies.study("trial"))


def rates(
    who: str, which: int, value: str = "completed", spot: FieldReference = STATE
) -> Callable[[Store, Study], None]:
    return lambda store, plan: say(store, plan, UNITS[which], who, spot, value)


def merged(tmp_path: Path, *files: Path) -> tuple[Path, Merged]:
    """The files brought together into a new one."""
    out = Path(tempfile.mkdtemp(dir=tmp_path)) / "whole.db"
    return out, merge_into(out, files)


def test_what_each_rated_is_in_the_whole_once(tmp_path: Path, parted: tuple[Path, Path]) -> None:
    a, b = parted
    on(a, rates("R1", 1))
    on(b, rates("R2", 1))
    whole, done = merged(tmp_path, a, b)
    assert done.added == {"studies": 1, "units": 3, "dealt": 6, "labels": 3}
    assert done.clashes == ()
    with Store.open(whole) as store:
        plan = store.studies.study("trial")
        assert sorted((one.unit, one.rater.id) for one in store.labels.read(plan)) == [
            ("u1", "R1"), ("u2", "R1"), ("u2", "R2"),
        ]  # fmt: skip
        assert store.studies.progress(plan, "R2").begun == 1
        assert store.check() == []
    again = merge_into(whole, [b, a])
    assert (again.added, again.removed) == ({}, {})
    assert content(whole) == content(merged(tmp_path, b, a)[0])


def test_the_files_stay_as_they_are(tmp_path: Path, parted: tuple[Path, Path]) -> None:
    before = [hashlib.sha256(path.read_bytes()).digest() for path in parted]
    merged(tmp_path, *parted)
    assert [hashlib.sha256(path.read_bytes()).digest() for path in parted] == before


def test_two_last_words_of_one_rater_both_stand_and_are_told(tmp_path: Path, parted: tuple[Path, Path]) -> None:
    a, b = parted
    on(a, rates("R1", 0, "not_completed"))
    on(b, rates("R1", 0, "completed"))
    on(b, rates("R2", 0, "completed"))
    _, done = merged(tmp_path, a, b)
    assert done.clashes == (MergeClash("trial", 1, "R1", "u1", 1, *STATE, False),)
    assert merge_into(a, [b]).clashes == done.clashes
    with Store.open(a) as store:
        plan = store.studies.study("trial")
        assert list(store.labels.sheet(plan, UNITS[0], "R1").clashes) == [STATE]
        assert not store.labels.sheet(plan, UNITS[0], "R2").clashes
        say(store, plan, UNITS[0], "R1", STATE, "completed")
        assert not store.labels.sheet(plan, UNITS[0], "R1").clashes
    assert merge_into(b, [a]).clashes == ()
    assert content(a) == content(b)


def test_a_clash_on_an_item_that_is_handed_in_says_so(tmp_path: Path, parted: tuple[Path, Path]) -> None:
    for path, value in zip(parted, ("completed", "not_completed"), strict=True):
        on(path, rates("R1", 1, value))
    hand_in = Act(uuid7(), "trial", 1, R1, "commit", now(), "u2")
    on(parted[1], lambda store, plan: store.labels.record_act(hand_in))
    assert merged(tmp_path, *parted)[1].clashes == (MergeClash("trial", 1, "R1", "u2", 1, *STATE, True),)


def test_another_study_of_that_name_and_version_is_refused_with_both_files(tmp_path: Path) -> None:
    paths = [tmp_path / "A.db", tmp_path / "B.db"]
    for seed, path in enumerate(paths):
        with Store.open(path) as store:
            frozen(store, UNITS, seed=seed)
    with pytest.raises(LabError, match="study trial v1: is not the same study") as error:
        merge_into(tmp_path / "whole.db", paths)
    assert all(str(path) in error.value.sentence for path in paths)
    assert not (tmp_path / "whole.db").exists()
    before = content(paths[0])
    with pytest.raises(LabError, match="is not the same study"):
        merge_into(paths[0], paths[1:])
    assert content(paths[0]) == before
    assert sorted(path.name for path in tmp_path.iterdir() if ".part" in path.name) == []


def test_another_version_comes_beside(tmp_path: Path, parted: tuple[Path, Path]) -> None:
    a, b = parted
    with Store.open(b) as store:
        frozen(store, UNITS, version=2, seed=9)
    merge_into(a, [b])
    with Store.open(a) as store:
        assert store.studies.versions("trial") == [1, 2]


@pytest.mark.parametrize("table", ["label", "act"])
def test_the_same_id_with_other_content_is_refused_with_both_files(
    tmp_path: Path, parted: tuple[Path, Path], table: str
) -> None:
    a, b = parted
    for path, value in ((a, "completed"), (b, "not_completed")):
        with Store.open(path) as store:
            plan = store.studies.study("trial")
            if table == "label":
                store.labels.record(plan, UNITS[1], same_label(plan, value))
            else:
                store.labels.record_act(Act("same", plan.id, 1, R1, "looked", "2026-04-01", "u2", detail={"at": value}))
    for files in ((a, b), (b, a)):
        with pytest.raises(LabError, match=f"{table} same: says something else in") as error:
            merged(tmp_path, *files)
        assert str(a) in error.value.sentence
        assert str(b) in error.value.sentence


def same_label(plan: Study, value: str) -> Any:
    from msgspec.structs import replace

    return replace(label(plan, UNITS[1], *STATE, value, at="2026-04-01T10:00:00.000000+00:00"), id="same")


def ran(id: str, steps: int, *, ended: bool = False, said: str = "x", shot: Blob | None = None) -> Imported:
    first = Started(trace=id, task=Task("t", "general", instruction="Do it"), agent=Actor("script", "rule"))
    seen = Observation(shot.sha256, (9, 9)) if shot else Observation(None, (9, 9))
    events: list[AnyEvent] = [
        Step(index=i, before=seen, proposed=Proposed(Action("wait"), thought=f"{said} {i}")) for i in range(steps)
    ]
    end = [Ended(status="completed")] if ended else []
    return Imported(number_events([first, *events, *end]), {shot.sha256: shot} if shot else {}, [])


def test_a_run_that_went_on_in_one_copy_goes_on_in_the_whole(tmp_path: Path) -> None:
    a, b = tmp_path / "A.db", tmp_path / "B.db"
    for path, run in ((a, ran("r", 2)), (b, ran("r", 5, ended=True))):
        with Store.open(path) as store:
            store.runs.add(run)
            store.runs.save_draft("r", "q", f"typed in {path.name}")
    assert content(merged(tmp_path, a, b)[0]) == content(merged(tmp_path, b, a)[0])
    done = merge_into(a, [b])
    assert done.added == {"events": 4}
    with Store.open(a) as store:
        assert list(store.runs.events("r")) == ran("r", 5, ended=True).events
        assert store.runs.summary("r").status == "completed"
        assert store.check() == []


def test_a_run_that_went_otherwise_is_refused(tmp_path: Path) -> None:
    a, b = tmp_path / "A.db", tmp_path / "B.db"
    for path, run in ((a, ran("r", 3)), (b, ran("r", 3, said="y"))):
        with Store.open(path) as store:
            store.runs.add(run)
    with pytest.raises(LabError, match=r"run r: went otherwise than in .*A.db from event 1 on"):
        merged(tmp_path, a, b)
    with Store.open(tmp_path / "C.db") as store:
        store.runs.add(ran("r", 2, ended=True))
    with pytest.raises(LabError, match="run r: went otherwise"):
        merged(tmp_path, a, tmp_path / "C.db")


def test_how_a_run_was_judged_comes_with_it_once_and_otherwise_is_refused(tmp_path: Path) -> None:
    bare, judged, other = (tmp_path / f"{name}.db" for name in ("bare", "judged", "other"))
    yes, no = Verdict("judge", True, "it is there"), Verdict("judge", False)
    for path, verdicts in ((bare, []), (judged, [yes]), (other, [no])):
        with Store.open(path) as store:
            store.runs.add(ran("r", 1, ended=True)._replace(verdicts=verdicts))
    for order in ([bare, judged], [judged, bare], [judged, judged]):
        whole = merged(tmp_path, *order)[0]
        assert content(whole)["verdict"] == content(judged)["verdict"] != []
    with pytest.raises(LabError, match=r"run r: was judged otherwise in .*judged.db"):
        merge_into(judged, [other])


def test_pictures_come_with_their_runs_and_later_where_they_were_left_out(tmp_path: Path) -> None:
    shot = Blob(b"\x89PNG a screen", "image/png")
    with Store.open(tmp_path / "A.db") as store:
        store.runs.add(ran("r", 1, shot=shot))
        store.pack(tmp_path / "bare.db", images=False)
    whole, _ = merged(tmp_path, tmp_path / "bare.db")
    with Store.open(whole) as store:
        assert store.runs.blob(shot.sha256) is None
    assert merge_into(whole, [tmp_path / "A.db"]).added == {"pictures": 1}
    with Store.open(whole) as store:
        assert store.runs.blob(shot.sha256) == shot


def test_where_both_dealt_on_their_own_ones_places_stay_and_the_others_come_behind(
    tmp_path: Path, parted: tuple[Path, Path]
) -> None:
    a, b = parted
    on(a, lambda store, plan: _deal(store, plan, "R3", ["u1", "u2"]))
    on(b, lambda store, plan: _deal(store, plan, "R3", ["u2", "u3"]))
    whole, _ = merged(tmp_path, a, b)
    with Store.open(whole) as store:
        plan = store.studies.study("trial")
        assert [(one.position, one.unit) for one in store.studies.assignments(plan, "R3")] == [
            (0, "u1"),
            (1, "u2"),
            (2, "u3"),
        ]
        assert store.studies.progress(plan, "R3").dealt == 3
        assert store.check() == []
    assert merge_into(whole, [a, b]).added == {}
    assert content(whole) == content(merged(tmp_path, b, a)[0])


def _deal(store: Store, plan: Study, who: str, units: list[str]) -> None:
    store.studies.deal(plan, [Assignment(plan.id, 1, who, i, id, at=now()) for i, id in enumerate(units)])


def locks(store: Store, plan: Study) -> None:
    store.labels.record_act(Act(uuid7(), plan.id, 1, D1, "locked", now()))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_locked_study_takes_no_answers_that_it_was_locked_without(
    tmp_path: Path, parted: tuple[Path, Path], order: tuple[int, int]
) -> None:
    a, b = parted
    on(a, locks)
    merged(tmp_path, parted[order[0]], parted[order[1]])
    on(b, rates("R2", 0))
    with pytest.raises(LabError, match=r"is locked in .*A.db, and .*B.db holds answers that are not in it"):
        merged(tmp_path, parted[order[0]], parted[order[1]])


def test_what_is_settled_after_the_lock_still_comes(tmp_path: Path, parted: tuple[Path, Path]) -> None:
    a, b = parted
    on(a, locks)
    merge_into(b, [a])
    told = {"target": "open", "field": "state", "by_means": "majority", "value": "completed"}
    on(
        b,
        lambda store, plan: store.labels.record_act(
            Act(uuid7(), plan.id, 1, D1, "adjudicated", now(), "u1", detail=told)
        ),
    )
    assert merge_into(a, [b]).added == {"acts": 1}


@pytest.mark.parametrize(
    ("unit", "detail", "why"),
    [
        ("u1", {}, "field"),
        ("u1", {"target": "open", "field": "state", "by_means": "dice", "value": "completed"}, "by_means"),
        ("u1", {"target": "open", "field": "state", "by_means": "majority", "value": ["completed"]}, "value"),
        ("u1", {"target": "open", "field": "state", "by_means": "majority", "value": "perhaps"}, "value"),
        ("u1", {"target": "open", "field": "state", "by_means": "majority"}, "value"),
        ("u1", {"target": "nowhere", "field": "state", "by_means": "majority", "value": "completed"}, "is not asked"),
        ("u1", {"target": "open", "field": "mood", "by_means": "majority", "value": "completed"}, "is not asked"),
        ("", {"target": "open", "field": "state", "by_means": "majority", "value": "completed"}, "of no item"),
    ],
)
def test_what_was_settled_in_another_file_must_answer_what_is_asked(
    tmp_path: Path, parted: tuple[Path, Path], unit: str, detail: dict[str, object], why: str
) -> None:
    a, b = parted
    bad = Act(uuid7(), "trial", 1, D1, "adjudicated", now(), unit, detail=detail)
    on(b, lambda store, plan: store.labels.record_act(bad))
    before = content(a)
    with pytest.raises(LabError, match=why) as caught:
        merge_into(a, [b])
    assert bad.id in str(caught.value)
    assert content(a) == before


def test_a_kit_among_them_is_taken_by_its_rules(tmp_path: Path, parted: tuple[Path, Path]) -> None:
    a, b = parted
    with Store.open(a) as store:
        make_kit(store, store.studies.study("trial"), "R1", tmp_path / "kit.db")
    on(tmp_path / "kit.db", rates("R1", 2))
    done = merged(tmp_path, tmp_path / "kit.db", a, b)[1]
    assert done.kits == (str(tmp_path / "kit.db"),)
    assert done.added["labels"] == 2
    with pytest.raises(LabError, match="no version of it"):
        merged(tmp_path, tmp_path / "kit.db")
    with Store.open(tmp_path / "kit.db") as kit, pytest.raises(LabError, match="is a kit"):
        merge(kit, [a])


def test_a_file_merged_with_itself_or_named_twice_adds_nothing(tmp_path: Path, parted: tuple[Path, Path]) -> None:
    a, b = parted
    before = content(a)
    assert merge_into(a, [a]).added == {}
    assert merge_into(a, [b, b]).already_present < 20
    assert content(a) == before


def test_a_label_that_nobody_was_dealt_or_asked_is_refused(tmp_path: Path, parted: tuple[Path, Path]) -> None:
    from tests.store.test_kits_taken import forge, of_label

    a, b = parted
    with Store.open(a) as store:
        plan = store.studies.study("trial")
    for changes, match in (
        ({"rater": Actor("human", "R9")}, "is not dealt to R9"),
        ({"value": "perhaps"}, "'perhaps' is none of completed"),
        ({"target": "nowhere"}, "state of nowhere is not asked"),
        ({"field": "mood"}, "mood of open is not asked"),
    ):
        bad = tmp_path / "bad.db"
        shutil.copy(b, bad)
        from msgspec.structs import replace

        forge(bad, "label", of_label(replace(label(plan, UNITS[1], *STATE, "completed"), **changes)))
        with pytest.raises(LabError, match=match) as error:
            merged(tmp_path, a, bad)
        assert str(bad) in error.value.sentence


Op = tuple[int, str, str, int, str]
OPS = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from(["say", "hand in", "run", "act"]), st.sampled_from(["R1", "R2"]),
        st.integers(0, 2), st.sampled_from(["completed", "not_completed"]),
    ),
    max_size=14,
)  # fmt: skip


def do(store: Store, plan: Study, op: Op, at: int) -> None:
    """One thing done in a copy; what the rules refuse there is not done."""
    _, what, who, which, value = op
    try:
        match what:
            case "say":
                say(store, plan, UNITS[which], who, STATE if value == "completed" else PAY, value)
            case "hand in":
                for spot in (STATE, PAY):
                    say(store, plan, UNITS[which], who, spot, value)
                say(store, plan, UNITS[which], who, RATING, 40)
                store.labels.hand_in(
                    plan, UNITS[which], Act(uuid7(), plan.id, 1, Actor("human", who), "commit", now(), f"u{which + 1}")
                )
            case "run":
                store.runs.add(ran(f"run-{at}", which + 1, ended=True))
            case "act":
                store.labels.record_act(Act(uuid7(), plan.id, 1, Actor("human", who), "looked", now(), f"u{which + 1}"))
    except LabError:
        pass


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OPS)
def test_any_split_is_brought_together_in_any_order(tmp_path: Path, ops: list[Op]) -> None:
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    names = [folder / "base.db", folder / "A.db", folder / "B.db"]
    with Store.open(names[0]) as base:
        plan = frozen(base, UNITS)
        for at, op in enumerate(ops):
            if op[0] == 0:
                do(base, plan, op, at)
        base.pack(names[1])
        base.pack(names[2])
    for side in (1, 2):
        with Store.open(names[side]) as store:
            for at, op in enumerate(ops):
                if op[0] == side:
                    do(store, plan, op, at)
    ab, first = merged(folder, names[1], names[2])
    ba, second = merged(folder, names[2], names[1])
    assert content(ab) == content(ba)
    assert first.clashes == second.clashes
    parts = [content(names[1]), content(names[2])]
    assert content(ab) == {table: sorted({*parts[0][table], *parts[1][table]}) for table in APPEND_ONLY}
    assert merge_into(ab, names).added == {}
    with Store.open(ab) as store:
        assert store.check() == []


def test_only_what_belongs_to_a_study_of_a_file_is_in_it(tmp_path: Path) -> None:
    """Control: the content that tests compare does tell two files apart."""
    with Store.open(tmp_path / "A.db") as store:
        plan = study(UNITS)
        store.studies.freeze(plan, UNITS)
    with Store.open(tmp_path / "B.db") as store:
        store.studies.freeze(study(UNITS, seed=3), UNITS)
    assert content(tmp_path / "A.db") != content(tmp_path / "B.db")
