"""People in the simulator's place: each number by condition and paired by task, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace

from annotators.papers.knowu.reply_table import sections as reply_sections
from annotators.papers.knowu.user_table import sections
from annotators.protocols import protocol
from annotators.report.markdown import as_markdown
from annotators.report.planned_section import with_missing_statistics
from annotators.report.report import make_report
from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Observation, Proposed, Question, Reply
from lab.core.run.trace import AnyEvent, Asked, Conditions, Ended, Started, Step
from lab.core.study.agreement import IntervalTerms
from lab.core.study.label import Act, ActKind
from lab.core.study.protocol import Field, Option
from lab.core.study.report import Number, Section
from lab.core.study.study import Play, Study, Unit
from lab.core.task.task import Actor, Task
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.rated import rated

LUNCH = Task("lunch", "personalized", instruction="Order lunch.")
TEA = Task("tea", "proactive", traits={"warranted": "yes"})
P1, P2, MODEL = Actor("human", "P1"), Actor("human", "P2"), Actor("model", "model:m", "m")
Decided = Literal["accept", "reject"]
AT = "2026-05-01T10:00:{:02d}.000000+00:00"


def run(
    id: str, task: Task, by: Actor, score: float, asks: int = 0, decision: Decided | None = None, acts: int = 1
) -> Imported:
    """A run that asks so many times, each reply two seconds after it was shown, and then acts."""
    conditions = Conditions("participant", mirror=False)
    events: list[AnyEvent] = [
        Started(trace=id, task=task, agent=Actor("script", "rule"), user=by, at=AT.format(0), conditions=conditions)
    ]
    for at in range(asks):
        question = Question(f"q{at}", "propose" if decision else "ask", "Shall I?")
        proposed = Proposed(Action("ask_user", text="Shall I?"))
        reply = Reply(f"q{at}", "no" if decision else "the blue one", by, decision, AT.format(2), AT.format(3),
                      AT.format(4), 1 if by == P1 else None)  # fmt: skip
        events.append(Asked(index=at, question=question, proposed=proposed, before=Observation()))
        events.append(Step(index=at, proposed=proposed, question=question, reply=reply))
    events += [
        Step(index=at, proposed=Proposed(Action("click", (1, 2))), decision=None) for at in range(asks, asks + acts)
    ]
    events.append(Ended(status="completed", score=score))
    return Imported(number_events(events), {}, [])


def played(store: Store, study: Study, by: Actor, unit: str, run: str, status: str = "completed") -> None:
    for hour, said in enumerate(("open", status), 11):
        kind: ActKind = "interrupted" if said == "interrupted" else "played"
        at = f"2026-05-01T{hour}:00:00+00:00"
        store.labels.record_act(
            Act(f"{run}-{hour}", study.id, 1, by, kind, at, unit, detail={"run": run, "status": said})
        )


@pytest.fixture
def section(tmp_path: Path) -> Sequence[Section]:
    plays = {
        f"{task.id}-{user}": Play(task, user=user, mirror=False)
        for task in (LUNCH, TEA)
        for user in ("person", "model")
    }
    units = [Unit(id, play=play, cluster=play.task.id) for id, play in plays.items()]
    with Store.open(tmp_path / "lab.db") as store:
        after = {("", "realism"): "4", ("", "effort"): "2", ("", "wish"): "5"}
        study = rated(
            store, units, protocol("play"),
            {"P1": {"lunch-person": after}, "P2": {"lunch-person": {**after, ("", "wish"): "2"}}}, id="users",
        )  # fmt: skip
        made = [
            ("r1", LUNCH, P1, 1.0, 2, None, "lunch-person"),
            ("r2", LUNCH, P2, 0.5, 0, None, "lunch-person"),
            ("r3", LUNCH, MODEL, 1.0, 1, None, "lunch-model"),
            ("r5", TEA, MODEL, 1.0, 0, None, "tea-model"),
        ]
        for id, task, by, score, asks, decision, unit in made:
            store.runs.add(run(id, task, by, score, asks, decision))
            played(store, study, by, unit, id)
        store.runs.add(run("r4", TEA, P1, 0.0, 1, "reject", acts=0))
        played(store, study, P1, "tea-person", "r4")
        store.runs.add(run("r6", TEA, P2, 1.0))
        played(store, study, P2, "tea-person", "r6", "interrupted")
        return sections(load_study_data(store, study))


def rows(sections: Sequence[Section], id: str) -> dict[str, list[object]]:
    (table,) = [table for section in sections for table in section.tables if table.id == id]
    return {
        str(first): [one.agreement.undefined or one.agreement.value if isinstance(one, Number) else one for one in rest]
        for first, *rest in table.rows
    }


def test_the_papers_numbers_by_condition(section: Sequence[Section]) -> None:
    found = rows(section, "users")
    assert section[0].tables[0].columns == ("", "person, no mirror", "model")
    assert found["Runs"] == ["3", "2"]
    assert found["SR"] == [pytest.approx(1 / 3), 1.0]
    assert found["Average score"] == [0.5, 1.0]
    assert found["Questions per task"] == [1.0, 0.5]
    assert found["IE"] == [0.5, 1.0]
    assert found["Act"] == ["no proactive run that warranted help", 1.0]
    assert found["Silent"] == ["no proactive run that warranted none"] * 2
    assert found["Stop"] == [1.0, "no proactive run in which the person refused"]


def test_differences_are_paired_by_task_and_only_over_tasks_of_both(section: Sequence[Section]) -> None:
    found = rows(section, "paired-1")
    assert found["SR"] == [0.25, 1.0, -0.75, -0.75, "2"]
    assert found["Average score"] == [pytest.approx(0.375), 1.0, *[pytest.approx(-0.625)] * 2, "2"]
    assert found["IE"] == [0.5, 1.0, -0.5, -0.5, "1"]
    assert found["Act"] == ["no task has such runs under both"] * 4 + ["0"]


def test_a_difference_stands_with_both_kinds_of_interval_whatever_the_report_is_made_by(
    tmp_path: Path,
) -> None:
    """The plan of 5c names a paired bootstrap, and nobody should have to ask the report for one."""
    tasks = [Task(f"t{at}", "personalized", instruction="Order.") for at in range(4)]
    units = [
        Unit(f"{task.id}-{user}", play=Play(task, user=user, mirror=False), cluster=task.id)
        for task in tasks
        for user in ("person", "model")
    ]
    with Store.open(tmp_path / "lab.db") as store:
        plan = rated(store, units, protocol("play"), {"P1": {}}, id="users", statistics=("paired bootstrap",))
        for at, task in enumerate(tasks):
            for user, by, score in (("person", P1, 0.2 + 0.2 * at), ("model", MODEL, 0.4 + 0.1 * (at % 2))):
                store.runs.add(run(f"{user}{at}", task, by, score))
                played(store, plan, by, f"{task.id}-{user}", f"{user}{at}")
        assert (
            with_missing_statistics(studied := load_study_data(store, plan), sections(studied))[0].says
            == sections(studied)[0].says
        )
        told = [
            sections(load_study_data(store, plan, how))
            for how in (IntervalTerms(seed=7), IntervalTerms("bootstrap", seed=7))
        ]
    both = []
    for one in told:
        table = next(table for table in one[0].tables if table.id == "paired-1")
        assert table.columns[3:5] == ("Difference", "Difference, bootstrap")
        assert "drawn 2,000 times, seed 7" in table.notes[1]
        gaps = [cell.agreement for cell in next(row for row in table.rows if row[0] == "Average score")[3:5]
                if isinstance(cell, Number)]  # fmt: skip
        assert [(gap.interval, gap.seed, gap.traces, gap.raters) for gap in gaps] == [
            ("jackknife-t", None, 4, 2), ("bootstrap", 7, 4, 2),
        ]  # fmt: skip
        assert gaps[0].value == gaps[1].value == pytest.approx(0.05)
        assert gaps[0].low != gaps[1].low
        both.append(gaps)
    assert both[0] == both[1]


def test_where_no_task_was_played_under_both_the_plan_is_answered_with_that(tmp_path: Path) -> None:
    units = [Unit(user, play=Play(LUNCH, user=user, mirror=False), cluster="lunch") for user in ("person", "model")]
    with Store.open(tmp_path / "lab.db") as store:
        plan = rated(store, units, protocol("play"), {"P1": {}}, id="users", statistics=("paired bootstrap",))
        studied = load_study_data(store, plan)
        said = " ".join(with_missing_statistics(studied, sections(studied))[0].says)
    assert "paired bootstrap (no task has such runs under both)" in said, "no option of the command would help"


def test_what_is_interrupted_counts_nowhere_and_is_told(section: Sequence[Section]) -> None:
    assert "Left out: 1 interrupted." in section[0].says
    assert "5 runs of 2 tasks under 2 conditions." in section[0].says


def test_how_people_replied_and_what_they_said_afterwards(section: Sequence[Section]) -> None:
    replies = rows(section, "replies")
    assert replies["person, no mirror"] == ["3", "1.0", "2.0", "12", "1", "0 / 1"]
    assert replies["model"] == ["1", "1.0", "2.0", "12", "not told", "0 / 0"]
    afterwards = rows(section, "afterwards")
    assert [row[:2] for row in afterwards.values()] == [[4.0, "2"], [2.0, "2"], [3.5, "2"]]


def test_replies_against_the_profile_by_who_gave_them(tmp_path: Path) -> None:
    units = [Unit(f"q{at}", runs=(f"r{at // 2}",), hidden={"by": "human" if at < 4 else "model"}) for at in range(6)]
    one = ["supported", "supported", "contradicts", "not_in_profile", "supported", "contradicts"]
    two = ["supported", "supported", "contradicts", "supported", "supported", "contradicts"]
    said = {
        name: {unit.id: {("", "support"): value} for unit, value in zip(units, values, strict=True)}
        for name, values in (("R1", one), ("R2", two))
    }
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add(run("r0", LUNCH, P1, 1.0))
        plan = rated(store, units, protocol("reply-support"), said, id="replies")
        found = reply_sections(load_study_data(store, plan))
    told = rows(found, "support")
    assert told == {
        "model": [2, 0.5, 0.0, 0.5],
        "person": [1, 0.0, 0.0, 1.0],
        "person, no mirror": [2, 1.0, 0.0, 0.0],
    }
    assert found[0].says[:2] == (
        "5 of 6 replies are decided by most raters, or were settled.",
        "On 1 there is no majority: they are in no share.",
    )
    assert rows(found, "support-raters")["support"][0] == pytest.approx(5 / 6)


def test_an_empty_study_of_plays_is_a_table_of_reasons(tmp_path: Path) -> None:
    units = [Unit("lunch-person", play=Play(LUNCH, mirror=False), cluster="lunch")]
    with Store.open(tmp_path / "lab.db") as store:
        plan = rated(store, units, protocol("play"), {"P1": {}}, id="users")
        found = sections(load_study_data(store, plan))
    assert rows(found, "users")["SR"] == ["no run with a score"]
    assert len(found) == 1


def test_a_play_with_own_questions_has_the_papers_numbers_and_no_section_where_nothing_can_be(tmp_path: Path) -> None:
    ease = Field("ease", "How easy was it?", "ordinal", options=(Option("low", "low"), Option("high", "high")))
    own = replace(protocol("play"), id="mine", fields=(ease,))
    units = [Unit(f"lunch-{user}", play=Play(LUNCH, user="person", mirror=user == "P1"), cluster="lunch")
             for user in ("P1", "P2")]  # fmt: skip
    with Store.open(tmp_path / "lab.db") as store:
        said = {code: {f"lunch-{code}": {("", "ease"): "low"}} for code in ("P1", "P2")}
        study = rated(store, units, own, said, id="users")
        for by in (P1, P2):
            store.runs.add(run(f"r-{by.id}", LUNCH, by, 1.0, 1))
            played(store, study, by, f"lunch-{by.id}", f"r-{by.id}")
        report = as_markdown(make_report(load_study_data(store, study), "1", "here"))
    assert "## People in the simulator's place" in report
    assert "Each task is played by" in report
    for absent in ("Each unit goes to", "## Agreement between people", "## Which sentence of the guideline"):
        assert absent not in report
