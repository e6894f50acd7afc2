"""Where a participant stands, without a screen: what is cut off goes on, a real phone's run is dealt again, and what
a model or a script plays is played once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from annotators.consent import consent_text
from lab.cli import main
from lab.core.codec import sha_of
from lab.core.errors import LabError
from lab.core.run.trace import Asked, DeviceInfo, Ended, Started
from lab.core.study.rating_sheet import current_labels
from lab.core.study.study import Play, Study, Unit
from lab.core.task.task import Actor, Task
from lab.studies.playing.play_session import Participation, PlayPosition
from lab.studies.playing.played_runs import SCRIPT, claim, claimed_run, study_plays
from lab.studies.rating.rating_session import RatingSession
from store.store import Store
from tests.endpoint import Request, Said, serving
from tests.plays import COFFEE, LUNCH, frozen, unit

P1 = Actor("human", "P1")


@pytest.fixture(autouse=True)
def _away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def at_brief(store: Store) -> Participation:
    """A participant who has agreed, and has no quiz before them."""
    study = frozen(store, [unit(LUNCH), unit(COFFEE)], quiz=0)
    part = Participation(store, study, P1)
    assert part.where().stage == "consent"
    part.agree()
    return part


def begun(part: Participation, here: PlayPosition) -> str:
    """Begins a run up to its first question, and cuts it off there."""
    session = part.session(here)
    asked = []
    session.on_event = lambda event: asked.append(event) if isinstance(event, Asked) else None
    session.start()
    while not asked and not session.over:
        session.join(0.05)
    session.leave()
    assert session.join(180)
    assert part.store.runs.trace(session.trace_id).ended is None
    return session.trace_id


def test_consent_is_kept_with_the_text_that_was_read(store: Store) -> None:
    part = at_brief(store)
    kept = [act.detail for act in store.labels.acts(part.study) if act.act == "consent"]
    assert [(one["sha"], one["text"]) for one in kept] == [(sha_of(part.consent), part.consent)]
    assert "hitlab file withdraw" in part.consent
    own = replace(part.study, consent={"en": "Just ours.", "zh": "只有我们的。"}, locale="zh-CN")
    assert consent_text(own) == "只有我们的。"
    assert sha_of(consent_text(own)) == own.consent_sha("zh")


def test_a_run_that_was_cut_off_is_gone_on_with_and_not_begun_again(store: Store) -> None:
    part = at_brief(store)
    here = part.where()
    assert (here.stage, here.number, here.of) == ("brief", 1, 2)
    run = begun(part, here)
    there = Participation(store, part.study, P1).where()
    assert (there.stage, there.trace) == ("run", run)
    session = part.session(there)
    assert session.trace_id == run
    assert session.spec.user == "human"
    session.device.close()
    assert [one.trace for one in study_plays(store, part.study)] == [run]


def test_a_run_that_was_told_and_never_begun_is_begun_under_its_id(store: Store) -> None:
    part = at_brief(store)
    here = part.where()
    assert here.unit is not None
    told = claim(store, part.study, P1, here.unit.id)
    assert part.where().stage == "brief"
    session = part.session(part.where())
    assert session.trace_id == told == claimed_run(store, part.study, P1, here.unit.id)
    assert len([act for act in store.labels.acts(part.study) if act.act == "played"]) == 1  # told once
    session.device.close()


def test_two_who_tell_a_run_at_once_come_to_the_same(store: Store) -> None:
    part = at_brief(store)
    with Store.open(store.path) as other:
        assert claim(other, part.study, P1, "x") == claim(store, part.study, P1, "x")
    assert claim(store, part.study, Actor("model", "P1"), "x") != claim(store, part.study, P1, "x")


def test_on_a_real_phone_it_is_interrupted_and_dealt_again(store: Store) -> None:
    part = at_brief(store)
    here = part.where()
    assert here.unit is not None
    run = claim(store, part.study, P1, here.unit.id)
    phone = DeviceInfo("adb", "R58M", "Real", (1080, 2400))
    agent = Actor("script", "rule")
    store.runs.append_event(run, Started(seq=0, at="2026-01-01T00:00:00+00:00", trace=run, task=here.play.task,
                                    agent=agent, user=P1, device=phone))  # fmt: skip
    there = part.where()
    assert (there.stage, there.number, there.of) == ("brief", 2, 3)
    ended = store.runs.trace(run).ended
    assert ended is not None
    assert (ended.status, "interrupted" in ended.reason) == ("stopped", True)
    again = store.studies.assignments(part.study, "P1")[-1]
    assert (again.unit, again.run, again.position) == (here.unit.id, 2, 2)
    assert part.where() == there  # and once only
    assert len(store.studies.assignments(part.study, "P1")) == 3
    assert [(one.trace, one.status) for one in study_plays(store, part.study)] == [(run, "interrupted")]
    assert part.session(part.where()).trace_id != run


def test_after_its_end_come_the_questions_and_then_the_next(store: Store) -> None:
    part = at_brief(store)
    here = part.where()
    run = begun(part, here)
    store.runs.append_event(
        run, Ended(seq=store.runs.trace(run).last + 1, at="2026-01-01T00:00:00+00:00", status="completed")
    )
    there = part.where()
    assert (there.stage, there.trace) == ("questions", run)
    assert part.evidence(there).startswith(f"{run}@")
    assert there.assignment is not None
    desk = RatingSession(store, part.study, P1)
    desk.open(there.assignment)
    assert desk.sheet is not None
    for spot in list(desk.sheet.unanswered):
        desk.answer(spot, "3")
    desk.commit()
    assert (part.where().stage, part.where().number) == ("brief", 2)
    assert len(current_labels(store.labels.read(part.study))) == 3
    assert [act.detail["status"] for act in store.labels.acts(part.study) if act.act == "played"] == [
        "open",
        "completed",
    ]
    part.where()
    assert len([act for act in store.labels.acts(part.study) if act.act == "played"]) == 2


def test_who_withdrew_or_came_too_late_is_refused(store: Store) -> None:
    part = at_brief(store)
    here = part.where()
    part._record_act("locked", None, {})
    with pytest.raises(LabError, match="is locked"):
        part.where()
    with pytest.raises(LabError, match="is locked"):
        part.session(here)
    rated = replace(part.study, protocol=replace(part.study.protocol, unit="run"))
    with pytest.raises(LabError, match="is rated, not played"):
        Participation(store, rated, P1)


# -- without a screen ------------------------------------------------------------------------------------------


def mixed(store: Store) -> Study:
    names = ((LUNCH, "person"), (LUNCH, "script"), (LUNCH, "model"), (COFFEE, "script"), (COFFEE, "model"))
    return frozen(store, [unit(name, id=f"{name}-{user}", user=user) for name, user in names], quiz=0)


def _brain(request: Request) -> Said:
    proposal = '"accept" or "reject"' in request.text
    return Said(json.dumps({"text": "Mild please", "decision": "accept" if proposal else None}), (10, 5))


def test_what_a_script_and_a_model_play_is_played_once(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = mixed(store)
    db = ["--db", str(store.path)]
    assert main.main(["study", "play", "teas", *db]) == 3
    told = capsys.readouterr()
    assert "2 wait for a model" in told.err
    assert [line.split()[0] for line in told.out.splitlines()] == [LUNCH, COFFEE]
    with serving(_brain) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        assert main.main(["study", "play", "teas", "--model", "tiny", "--json", *db]) == 0
        first = json.loads(capsys.readouterr().out)
        count = len(server.requests)
        assert count
        assert main.main(["study", "play", "teas", "--model", "tiny", "--json", *db]) == 0
        again = json.loads(capsys.readouterr().out)
        assert len(server.requests) == count
    assert [(one["condition"], one["new"]) for one in first["runs"]] == [
        ("script", False), ("model", True), ("script", False), ("model", True),
    ]  # fmt: skip
    assert [one["trace"] for one in again["runs"]] == [one["trace"] for one in first["runs"]]
    assert not any(one["new"] for one in again["runs"])
    found = study_plays(store, study)
    assert [(one.task, one.condition, one.by.id) for one in found] == [
        (COFFEE, "model", "model:tiny"), (COFFEE, "script", "script"),
        (LUNCH, "model", "model:tiny"), (LUNCH, "script", "script"),
    ]  # fmt: skip
    for one in found:
        trace = store.runs.trace(one.trace)
        assert trace.user is not None
        assert trace.user.kind == one.by.kind
        assert not trace.conditions.mirror  # the simulator sees no screen
    assert {act.detail.get("config") for act in store.labels.acts(study) if act.rater.kind == "model"} > {None}


def test_a_script_that_was_cut_off_is_gone_on_with(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    study = mixed(store)
    run = claim(store, study, SCRIPT, f"{LUNCH}-script")
    from lab.studies.playing.played_runs import session_of

    play = unit(LUNCH).play
    assert play is not None
    session = session_of(store, play, run, "", "script")
    session.control.pause()
    session.start()
    session.leave()
    assert session.join(180)
    assert store.runs.trace(run).ended is None
    assert main.main(["study", "play", "teas", "--json", "--db", str(store.path)]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["runs"][0]["trace"] == run
    assert store.runs.trace(run).status == "completed"


def test_what_cannot_be_played_is_refused_before_the_first(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    study = frozen(store, [unit(LUNCH, user="script"), Unit("own", play=Play(Task("own", "general"), user="script"))])
    assert main.main(["study", "play", "teas", "--db", str(store.path)]) == 1
    assert "script 'own'" in capsys.readouterr().err
    assert not store.labels.acts(study)


@pytest.mark.parametrize(("seat", "code"), [("participant", 1), ("rater", 1)])
def test_it_is_not_there_for_those_who_are_played_with(
    store: Store, monkeypatch: pytest.MonkeyPatch, seat: str, code: int
) -> None:
    mixed(store)
    monkeypatch.setenv("HITLAB_SEAT", seat)
    assert main.main(["study", "play", "teas", "--db", str(store.path)]) == code
