"""What was played is listed: each run with who, in which place, under which condition, and how its questions went."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lab.cli import main as cli
from lab.core.run.trace import Answered
from lab.core.study.rating_sheet import current_labels
from lab.core.study.study import Play
from lab.core.task.task import Actor
from lab.studies.playing.play_session import Participation
from lab.studies.playing.played_runs import people_runs, study_plays
from store.store import Store
from tests.crossed import soak
from tests.lab.fitting import fits
from tests.lab.openings import openings
from tests.plays import COFFEE, LUNCH, frozen, hand_in, play_to_end, unit

UNITS = [
    *(unit(name, id=f"{name}-seen") for name in (LUNCH, COFFEE)),
    *(unit(name, id=f"{name}-unseen", mirror=False) for name in (LUNCH, COFFEE)),
    *(unit(name, id=f"{name}-script", user="script") for name in (LUNCH, COFFEE)),
]


def listed(db: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert cli.main(["study", "runs", "teas", "--json", "--db", str(db)]) == 0
    found = json.loads(capsys.readouterr().out)
    fits(found, "study-runs")
    runs: list[dict[str, Any]] = found["runs"]
    return runs


@soak
def test_order_and_condition_are_told_of_each_run_with_what_its_questions_took(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    db = tmp_path / "lab.db"
    dealt: dict[str, list[tuple[str, str]]] = {}
    with Store.open(db) as store:
        study = frozen(store, UNITS, quiz=1)
        plays = {one.id: one.play for one in store.studies.units(study)}
        for code in study.raters:
            part = Participation(store, study, Actor("human", code))
            part.agree()
            order = [_of(plays[one.unit]) for one in store.studies.assignments(study, code)]
            dealt[code] = [(one.task.id, one.condition) for one in order]
            persona = part.where().play.persona
            assert persona is not None
            while not part.quiz_state(persona).passed:
                part.answer_quiz(persona, part.quiz_state(persona).waiting[0].right)
            play_to_end(part)
            hand_in(part)
            play_to_end(part)
            hand_in(part)
        claims = [act.detail for act in store.labels.acts(study) if act.detail.get("status") == "open"]
        assert [(one["position"], one["condition"]) for one in claims] == [
            (at, condition) for code in study.raters for at, (_, condition) in enumerate(dealt[code][:2])
        ]
        assert len(current_labels(store.labels.read(study))) == 2 * 2 * 3
        replies = {
            one.trace: [event.reply for event in store.runs.events(one.trace) if isinstance(event, Answered)]
            for one in study_plays(store, study)
        }
    assert cli.main(["study", "play", "teas", "--db", str(db)]) == 0
    runs = listed(db, capsys)
    people = [run for run in runs if run["kind"] == "human"]
    for code, turns in dealt.items():
        mine = [run for run in people if run["by"] == code]
        assert [run["position"] for run in mine] == [0, 1]
        assert [(run["task"], run["condition"]) for run in mine] == turns[:2]
    assert dealt["P1"][0] != dealt["P2"][0]
    for run in people:
        assert run["mirror"] == (run["condition"] == "person")
        assert run["status"] == "completed"
        assert run["score"] is not None
        assert len(run["consent"]) == 64
        assert (run["quiz_tries"], run["quiz_rounds"], run["quiz_share"]) == (1, 1, 1.0)
        kept = replies[run["trace"]]
        assert [one["sent_at"] for one in run["questions"]] == [reply.sent_at for reply in kept]
        assert {one["edits"] for one in run["questions"]} <= {2}
        assert {one["characters"] for one in run["questions"]} <= {4}
        assert run["waited"] == pytest.approx(sum(one["waited"] for one in run["questions"]))
    assert sum(len(run["questions"]) for run in people) >= 4
    scripts = [run for run in runs if run["kind"] == "script"]
    assert {(run["condition"], run["position"], run["consent"]) for run in scripts} == {("script", None, None)}


def test_a_run_that_its_person_left_at_its_end_is_not_open(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        study = frozen(store, [unit("saturday_walk")], quiz=0)
        part = Participation(store, study, Actor("human", "P1"))
        part.agree()
        play_to_end(part)
        (one,) = study_plays(store, study)
        assert (one.status, people_runs(store, study)) == ("completed", [one.trace])


def _of(play: Play | None) -> Play:
    assert play is not None
    return play


@pytest.mark.parametrize("seat", ["participant", "rater"])
def test_scores_are_not_for_those_who_play_or_rate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, seat: str
) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        frozen(store, UNITS)
    monkeypatch.setenv("HITLAB_SEAT", seat)
    assert cli.main(["study", "runs", "teas", "--db", str(tmp_path / "lab.db")]) == 1
    assert "is not there for the seat" in capsys.readouterr().err


def test_a_file_that_may_only_be_read_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        frozen(store, UNITS)
    opened = openings(monkeypatch)
    assert listed(tmp_path / "lab.db", capsys) == []
    assert opened
    assert all(opened)
