"""How long people were at work: by hand over a few acts and answers, and the same in whichever order they came in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Observation, Proposed
from lab.core.run.trace import AnyEvent, Ended, Started, Step
from lab.core.study.label import Act
from lab.core.study.protocol import Field, Protocol
from lab.core.study.study import Play, Study, Unit
from lab.core.task.task import Actor, Task
from lab.core.values.ids_and_clock import uuid7
from lab.studies.rating.work_times import RHYTHM, Answers, Records, WorkTimes, work_times
from store.store import Store
from tests.studies import frozen
from tests.watched import DAY, HOUR, answered, begun, did, handed_in, moment, when


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def study(store: Store) -> Study:
    return begun(store, 6)


def times(store: Store, study: Study, rater: str = "R1") -> WorkTimes:
    answers = Answers.from_columns(*store.agreement.columns_and_times(study))
    return work_times(study.raters, Records().read_on(store, study), answers)[rater]


def test_nobody_who_did_nothing_has_times(store: Store, study: Study) -> None:
    assert times(store, study) == WorkTimes()
    assert times(store, study).pace is None
    assert times(store, study).usual_gap is None


def test_an_item_takes_from_opening_to_handing_in_and_pauses_are_left_out(store: Store, study: Study) -> None:
    did(store, study, "R1", "opened", 0, "u0")
    answered(store, study, "R1", "u0", 20, shown=0)
    did(store, study, "R1", "looked", 50, "u0")
    did(store, study, "R1", "looked", 1000, "u0")  # 950 seconds without a sign
    did(store, study, "R1", "commit", 1030, "u0")
    assert times(store, study).items == (80.0,)
    assert times(store, study).worked == 80.0
    assert times(store, study).seen == moment(1030)


def test_how_long_an_item_took_that_came_by_a_file_nobody_knows(store: Store, study: Study) -> None:
    did(store, study, "R1", "opened", 0, "u0")
    did(store, study, "R1", "commit", 40, "u0")
    for unit in ("u1", "u2", "u3"):
        answered(store, study, "R1", unit, 50)
        did(store, study, "R1", "commit", 50, unit)
    assert times(store, study).items == (40.0,)
    assert len(times(store, study).handed) == 4


def test_what_the_screen_measured_as_away_is_no_work(store: Store, study: Study) -> None:
    did(store, study, "R1", "opened", 0, "u0")
    answered(store, study, "R1", "u0", 200, shown=0, away=120)
    did(store, study, "R1", "idle", 200.5, seconds=120)
    did(store, study, "R1", "commit", 210, "u0")
    assert times(store, study).items == (90.0,)
    assert times(store, study).worked == pytest.approx(90.0)


def test_a_pause_is_left_out_once_however_it_is_told(store: Store, study: Study) -> None:
    did(store, study, "R1", "opened", 0, "u0")
    answered(store, study, "R1", "u0", 400, shown=0, away=340)
    did(store, study, "R1", "break", 400.5, seconds=340)
    did(store, study, "R1", "commit", 410, "u0")
    assert times(store, study).items == (10.0,)
    assert times(store, study).worked == pytest.approx(10.0)


def test_items_of_one_sitting_overlap_and_each_has_its_own_time(store: Store, study: Study) -> None:
    handed_in(store, study, "R1", "u0", 30, seconds=30)
    handed_in(store, study, "R1", "u1", 40, seconds=10)
    handed_in(store, study, "R1", "u2", 100, seconds=50)
    assert sorted(times(store, study).items) == [10.0, 30.0, 50.0]
    assert times(store, study).pace == 30.0
    assert times(store, study).worked == 100.0
    assert sorted(times(store, study).handed) == [moment(at) for at in (30, 40, 100)]


def test_an_item_taken_back_is_returned_until_it_is_handed_in_again(store: Store, study: Study) -> None:
    handed_in(store, study, "R1", "u0", 10)
    handed_in(store, study, "R1", "u1", 20)
    did(store, study, "R1", "reopen", 30, "u0")
    assert (times(store, study).returned, len(times(store, study).items)) == (1, 1)
    did(store, study, "R1", "commit", 40, "u0")
    assert (times(store, study).returned, len(times(store, study).items)) == (0, 2)


def test_what_a_manager_does_in_a_raters_name_is_no_sign_of_the_rater(store: Store, study: Study) -> None:
    handed_in(store, study, "R1", "u0", 10)
    for kind in ("released", "invited", "revoked", "left", "replaced"):
        did(store, study, "R1", kind, 5 * DAY)
    assert times(store, study).seen == moment(10)
    assert times(store, study).gaps == ()


def test_answers_alone_tell_of_work_also_of_what_is_not_handed_in(store: Store, study: Study) -> None:
    answered(store, study, "R1", "u0", 20, "y", shown=10)
    answered(store, study, "R1", "u0", 35, "n", shown=25)  # it takes the place of the first
    assert times(store, study).seen == moment(35)
    assert times(store, study).worked == 15.0
    assert times(store, study).items == ()


def test_a_judges_answers_are_nobodys_work(store: Store, study: Study) -> None:
    answered(store, study, "R1", "u0", 20, kind="model")
    assert times(store, study) == WorkTimes()


def test_gaps_are_those_between_sittings(store: Store, study: Study) -> None:
    for at, unit in ((10, "u0"), (1000, "u1"), (3 * HOUR, "u2"), (13 * HOUR, "u3")):
        handed_in(store, study, "R1", unit, at)
    first, second = times(store, study).gaps
    assert (first, second) == (3 * HOUR - 1010, 10 * HOUR - 10)
    assert times(store, study).usual_gap == (first + second) / 2


def test_reading_on_is_reading_all(store: Store, study: Study) -> None:
    handed_in(store, study, "R1", "u0", 30)
    before = Records().read_on(store, study)
    did(store, study, "R1", "idle", 31, seconds=3)
    handed_in(store, study, "R2", "u0", 90)
    did(store, study, "R1", "reopen", 100, "u0")
    after = before.read_on(store, study)
    answers = Answers.from_columns(*store.agreement.columns_and_times(study))
    whole = work_times(study.raters, Records().read_on(store, study), answers)
    assert work_times(study.raters, after, answers) == whole
    assert after.acts.times.last_row == max(after.acts.times.n)
    assert len(set(after.acts.times.n)) == len(after.acts.times.n)


NOW = 10 * DAY


@pytest.mark.parametrize(
    ("handed", "left", "until"),
    [
        ((), 5, None),  # nothing is known
        ((9.9 * DAY, 9.95 * DAY), 5, None),  # one sitting is no rhythm
        ((1 * DAY, 2 * DAY), 5, None),  # not of these days
        ((8 * DAY, 9 * DAY), 0, None),  # nothing is left
        ((8 * DAY, 9 * DAY), 4, NOW + 4 * 1 * DAY),  # two in the two days since they began
        ((0.0, 4 * DAY, 5 * DAY, 6 * DAY), 6, NOW + 6 * RHYTHM / 3),  # three in the last seven days
    ],
)
def test_when_somebody_will_be_done(handed: tuple[float, ...], left: int, until: float | None) -> None:
    assert WorkTimes(handed=handed).finish(left, NOW) == until


def test_the_steps_of_a_run_that_is_played_are_work(store: Store) -> None:
    """Twenty minutes between two acts are no pause where the run went on meanwhile."""
    task = Task("tea", "general", instruction="Order tea.")
    protocol = Protocol("played", "Played", "task to play", (Field("ok", "Was it easy?", "text", required=False),))
    study = frozen(store, [Unit("u0", play=Play(task))], protocol, raters=("R1",))
    tap = Proposed(Action("click", (9, 20)))
    events: list[AnyEvent] = [
        Started(trace="t1", task=task, agent=Actor("script", "playbook"), at=when(10)),
        *(Step(index=at, before=Observation(), proposed=tap, at=when(30 + 200 * at)) for at in range(6)),
        Ended(status="completed", at=when(1100)),
    ]
    store.runs.add(Imported(number_events(events), {}, []))
    did(store, study, "R1", "opened", 0, "u0")
    act = Act(uuid7(), study.id, 1, Actor("human", "R1"), "played", when(10), "u0", detail={"run": "t1"})
    store.labels.record_act(act)
    did(store, study, "R1", "commit", 1110, "u0")
    assert times(store, study).items == (1110.0,)
    assert times(store, study).worked == 1110.0
