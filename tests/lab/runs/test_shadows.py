"""Shadow simulators: asked what the person is asked, recorded apart, never shown, and never waited for."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.cli import main
from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.run.shadow_answer import ShadowAnswer, ShadowsPlayed, current_answers
from lab.core.run.step import Reply
from lab.core.run.trace import Started
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.llm.client import Llm
from lab.runs.session import Session
from lab.runs.shadows import ask_missing, shadow_questions
from lab.runs.spec import Spec, resume_spec
from lab.studies.playing.play_session import Participation
from lab.studies.playing.played_runs import people_runs, spec_of
from simulators import library
from store.copies.kit_export import make_kit
from store.copies.kit_import import import_kit
from store.copies.merge import merge
from store.store import Store
from tests.endpoint import ModelServer, Refused, Request, Said, Silent, serving
from tests.plays import COFFEE, LUNCH, frozen, play_to_end, unit

MARK = "zqshade"
KEY = "sk-shadow-canary-key"
SHADE = "model:shade"
P1 = Actor("human", "P1")


@pytest.fixture(autouse=True)
def _away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HITLAB_MODEL_TRIES", "1")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with serving(brain) as serves:
        monkeypatch.setenv("HITLAB_MODEL_BASE", serves.base)
        yield serves


def brain(request: Request) -> Said:
    decision = "reject" if '"accept" or "reject"' in request.text else None
    return Said(json.dumps({"text": f"{MARK} says no", "decision": decision}), (100, 5))


def session_of(
    store: Store, task: str = LUNCH, *, mirror: bool = False, shadows: tuple[str, ...] = (SHADE,)
) -> Session:
    one = library.task(LUNCH)
    persona = library.persona(one.persona, one.log)
    return Session(store, Spec(one, persona, person="P1", seat="participant", mirror=mirror, shadows=shadows))


def answered(session: Session, text: str = "mild") -> None:
    """A person who answers at once."""
    session.start()
    while not session.join(0.005):
        question = session.questions.waiting
        if question is not None:
            decision: Any = "accept" if question.kind == "propose" else None
            session.questions.answer(question, Reply(question.id, text, P1, decision, now(), now(), now()))


def told(rows: list[ShadowAnswer]) -> list[tuple[int, str, str | None]]:
    return [(row.index, row.text, row.missing) for row in rows]


def test_a_shadow_is_asked_each_question_as_the_person_was_and_kept_apart(store: Store, server: ModelServer) -> None:
    session = session_of(store)
    shown: list[bytes] = []
    session.on_event = lambda event: shown.append(encode(event))
    answered(session)
    assert session.shadows.wait(180)
    trace = store.runs.trace(session.trace_id)
    asked = [step for step in trace.steps if step.question is not None]
    assert trace.status == "completed"
    rows = store.shadows.current(trace.id)
    assert told(rows) == [(step.index, f"{MARK} says no", None) for step in asked]
    assert {row.by for row in rows} == {Actor("model", SHADE, "shade")}
    assert all(row.shown_at and row.sent_at and row.usage and row.config_sha for row in rows)
    assert [reply.text for step in asked if (reply := step.reply)] == ["mild"] * len(asked), "the person's alone counts"
    for step, request in zip(asked, server.requests, strict=True):
        assert step.question is not None
        assert step.question.text in request.text
        assert "You cannot see the phone" in request.text
    last = server.requests[-1].text
    assert all(step.question is not None and step.question.text in last for step in asked), "what was said before, too"
    assert MARK not in last
    assert not any(MARK.encode() in body for body in shown)
    assert not any(MARK in encode(event).decode() for event in store.runs.events(trace.id))


def test_what_loads_before_a_model_is_asked_counts_as_none_of_its_time(
    store: Store, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded_at, load = list[str](), Llm.load

    def slow(llm: Llm, stop: threading.Event) -> Any:
        module = load(llm, stop)
        loaded_at.append(now())
        return module

    monkeypatch.setattr(Llm, "load", slow)
    session = session_of(store)
    answered(session)
    assert session.shadows.wait(180)
    row = store.shadows.current(session.trace_id)[0]
    assert row.missing is None
    assert row.shown_at is not None
    assert row.shown_at >= loaded_at[0]


@pytest.mark.parametrize("mirror", [True, False])
def test_it_is_told_the_screen_where_the_person_saw_it(store: Store, server: ModelServer, mirror: bool) -> None:
    session = session_of(store, mirror=mirror)
    answered(session)
    assert session.shadows.wait(180)
    (first, *_) = shadow_questions(store, session.trace_id)
    assert first.screen.tree is not None
    known = first.question.text + encode(first.started.task).decode()
    words = [node.label for node in first.screen.tree.nodes() if len(node.label) > 6 and node.label not in known]
    text = server.requests[0].text
    assert ("# The phone shows" in text) == mirror
    assert ("You cannot see the phone." in text) != mirror
    assert any(word in text for word in words) == mirror


@pytest.mark.parametrize("brain", [lambda request: Silent(), lambda request: Refused(500, f"key {KEY}")])
def test_a_slow_or_dead_model_delays_nothing_and_is_missing_with_its_reason(
    store: Store, monkeypatch: pytest.MonkeyPatch, brain: Callable[[Request], Any]
) -> None:
    with serving(brain) as served:
        monkeypatch.setenv("HITLAB_MODEL_BASE", served.base)
        session = session_of(store)
        answered(session)
        assert store.runs.trace(session.trace_id).status == "completed"
        served.wait(1)
    assert session.shadows.wait(180)
    rows = store.shadows.current(session.trace_id)
    assert {row.missing for row in rows} == {"no_answer"}
    assert all("gave no answer in one try" in row.why and not row.text for row in rows)
    assert not any(KEY in row.why for row in rows)
    assert {row.missing for row in store.shadows.of_run(session.trace_id)} == {"unfinished", "no_answer"}
    assert len([row for row in store.shadows.of_run(session.trace_id) if row.supersedes]) == len(rows)


def test_what_no_model_said_usably_is_missing_with_what_it_cost(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda request: Said("Well, it depends.", (7, 3))) as served:
        monkeypatch.setenv("HITLAB_MODEL_BASE", served.base)
        session = session_of(store)
        answered(session)
        assert session.shadows.wait(180)
        row = store.shadows.current(session.trace_id)[0]
        assert (row.missing, row.text) == ("unusable", "")
        assert "no usable reply in two answers" in row.why
        assert row.usage is not None
        assert row.usage.tries == 2


def test_a_key_that_is_not_there_stops_nobody(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    session = session_of(store, shadows=("model:openai/gpt-x",))
    answered(session)
    assert session.shadows.wait(180)
    assert store.runs.trace(session.trace_id).status == "completed"
    assert {row.missing for row in store.shadows.current(session.trace_id)} == {"no_answer"}


def test_a_run_that_goes_on_asks_an_open_question_once_and_what_is_missing_again(
    store: Store, server: ModelServer
) -> None:
    session = session_of(store)
    session.start()
    while session.questions.waiting is None:
        assert not session.join(0.005)
    assert session.shadows.wait(180)
    session.leave()
    assert session.join(180)
    before = len(server.requests)
    trace = store.runs.trace(session.trace_id)
    assert trace.conditions.shadows == (SHADE,)
    again = Session(store, resume_spec(trace), trace)
    answered(again)
    assert again.shadows.wait(180)
    rows = store.shadows.current(trace.id)
    assert {row.missing for row in rows} == {None}
    assert len(server.requests) == before + len(rows) - 1, "the open question had its answer"


def test_what_is_missing_is_asked_later_from_what_was_kept(store: Store, server: ModelServer) -> None:
    session = session_of(store, shadows=())
    answered(session)
    run = session.trace_id
    assert store.shadows.of_run(run) == []
    stop = threading.Event()
    asked = len(shadow_questions(store, run))
    assert ask_missing(store, [run], [SHADE], stop, lambda spent: False) == ShadowsPlayed(asked, 0, 0, 0.0)
    done = ask_missing(store, [run], [SHADE], stop)
    assert (done.questions, done.answered, done.new) == (asked, asked, asked)
    again = ask_missing(store, [run], [SHADE], stop)
    assert (again.questions, again.answered, again.new) == (asked, asked, 0)
    assert len(server.requests) == asked


def test_two_answers_after_a_merge_are_a_clash_and_the_same_one_twice_is_none() -> None:
    def row(text: str, missing: Any = None) -> ShadowAnswer:
        return ShadowAnswer(uuid7(), "r", "q0", 0, Actor("model", SHADE), now(), text, missing=missing)

    assert told(current_answers([row("one"), row("two")])) == [(0, "", "clash")]
    assert told(current_answers([row("one"), row("one"), row("", "no_answer")])) == [(0, "one", None)]


def study_in(store: Store) -> Participation:
    study = frozen(store, [unit(LUNCH, mirror=False), unit(COFFEE, mirror=False)], quiz=0, shadows=(SHADE,))
    part = Participation(store, study, P1)
    part.agree()
    return part


def test_a_kit_holds_no_shadow_and_asks_none(store: Store, server: ModelServer, tmp_path: Path) -> None:
    part = study_in(store)
    make_kit(store, part.study, "P1", tmp_path / "kit.db")
    with Store.open(tmp_path / "kit.db") as kit:
        theirs = kit.studies.study("teas")
        assert theirs.shadows == ()
        there = Participation(kit, theirs, P1)
        session = there.session(there.where())
        answered(session)
        assert kit.shadows.of_run(session.trace_id) == []
        with pytest.raises(LabError, match="is in a kit"):
            kit.shadows.record(ShadowAnswer(uuid7(), session.trace_id, "q0", 0, Actor("model", SHADE), now()))
        there.where()  # ties the run
    assert server.requests == []
    assert SHADE.encode() not in (tmp_path / "kit.db").read_bytes()
    import_kit(store, tmp_path / "kit.db")
    runs = people_runs(store, part.study)
    done = ask_missing(store, runs, part.study.shadows, threading.Event())
    assert done.questions == done.answered > 0, "where the kit came from, what its run kept is asked about"
    assert len(server.requests) == done.questions


def test_answers_go_with_a_merge_and_with_no_export_nor_any_list(
    store: Store, server: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = study_in(store)
    play_to_end(part)
    session = part._session
    assert session is not None
    assert session.shadows.wait(180)
    run = session.trace_id
    assert MARK in store.shadows.current(run)[0].text
    with Store.open(tmp_path / "other.db") as other:
        merge(other, [tmp_path / "lab.db"])
        assert other.shadows.current(run) == store.shadows.current(run)
    db = ["--db", str(tmp_path / "lab.db")]
    for line in (["show", run, "--json"], ["show", run], ["study", "runs", "teas", "--json"], ["traces", "--json"],
                 ["labels", "teas", "--json"], ["study", "status", "teas", "--json"],
                 ["export", run, "--out", str(tmp_path / "out")]):  # fmt: skip
        capsys.readouterr()
        assert main.main([*line, *db]) == 0, line
        assert MARK not in capsys.readouterr().out, line
    assert not any(MARK.encode() in path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())


def test_no_shadow_is_asked_beside_a_script_or_a_model_of_a_study(store: Store, server: ModelServer) -> None:
    part = study_in(store)
    play = part.where().play
    assert spec_of(play, "P1", "human", study=part.study).shadows == (SHADE,)
    assert spec_of(play, "", "script", study=part.study).shadows == ()
    assert spec_of(play, "", "model:x", study=part.study).shadows == ()


def test_live_asks_shadows_beside_a_script_and_waits_for_them_at_the_end(
    tmp_path: Path, server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    db = tmp_path / "live.db"
    line = ["live", LUNCH, "--headless", "--shadow", SHADE, "--shadow", "model:other", "--json", "--db", str(db)]
    assert main.main(line) == 0
    out = capsys.readouterr()
    run = json.loads(out.out)["trace"]
    assert MARK not in out.out + out.err
    with Store.open(db) as store:
        rows = store.shadows.current(run)
        assert {row.by.id for row in rows} == {SHADE, "model:other"}
        assert {row.missing for row in rows} == {None}
        first = next(store.runs.events(run))
        assert isinstance(first, Started)
        assert first.conditions.shadows == (SHADE, "model:other")
    assert KEY.encode() not in db.read_bytes()
    assert main.main(["live", LUNCH, "--headless", "--shadow", "shade", "--db", str(db)]) == 2
    assert "--shadow: 'shade' is not of the form model:NAME" in capsys.readouterr().err


def test_study_play_asks_what_shadows_have_not_answered(
    store: Store, server: ModelServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    part = study_in(store)
    monkeypatch.setenv("HITLAB_MODEL_BASE", "http://127.0.0.1:9/v1")
    play_to_end(part)
    assert part._session is not None
    assert part._session.shadows.wait(180)
    run = part._session.trace_id
    assert {row.missing for row in store.shadows.current(run)} == {"no_answer"}
    part.where()  # ties the run
    line = ["study", "play", "teas", "--shadows", "--db", str(store.path)]
    assert main.main(line) == 3
    monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
    assert main.main([*line, "--json"]) == 0
    told_json = json.loads(capsys.readouterr().out.splitlines()[-1])["shadows"]
    assert told_json["answered"] == told_json["questions"] == told_json["new"] > 0
    assert {row.missing for row in store.shadows.current(run)} == {None}


def test_rows_are_never_changed(store: Store, server: ModelServer) -> None:
    session = session_of(store)
    answered(session)
    assert session.shadows.wait(180)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        store.database.connection().execute("UPDATE shadow SET body = ''")
