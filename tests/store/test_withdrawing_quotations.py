"""Withdrawal where others quote a person: their words are covered in every text of the file, and nobody else's are."""

from __future__ import annotations

import json
import os
import pty
import sqlite3
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from lab.core.codec import encode
from lab.core.redaction.text_redaction import WITHDRAWN
from lab.core.run.run_records import Blob, Imported, number_events
from lab.core.run.shadow_answer import ShadowAnswer
from lab.core.run.step import Action, Proposed, Question, Reply, ToolCall
from lab.core.run.trace import Answered, AnyEvent, Asked, Ended, Forked, Started, Step
from lab.core.study.label import Act
from lab.core.study.study import UnitText
from lab.core.task.design import Design, first_draft, subject_of
from lab.core.task.task import Actor, InformationUnit, Persona, Task
from lab.core.values.ids_and_clock import now, uuid7
from lab.runs.endpoint.conversation_intake import Intake
from lab.runs.endpoint.conversation_run import give_reply
from lab.runs.listing.run_acts import TagChange, tag_runs
from simulators.users.endpoint.request_kinds import judge_rules
from store.store import Store
from tests import plays
from tests.answering import reply_to, request
from tests.blind import planted
from tests.replied import P07, Hitlab, bytes_of, hitlab
from tests.studies import NODES, R2, frozen, label, unit
from tests.warm import Warm

REPLY = "the marmot sleeps behind our bakery until nine"
DRAFT = "perhaps the badger instead of the otter"
TYPED = "heron feathers for aunt Ottilie"
CALLED = "a lantern with nineteen windows"
NOTE = 'the raven "misread" a receipt twice'
ANSWER = "an ocelot stood on the escalator"
FACT = "allergic to walnut oil since Lisbon"
SAVED = "the gecko that was typed and left"
CHINESE = "我想带着祖母的绿色雨伞去海边"
THEIRS = (REPLY, DRAFT, TYPED, CALLED, NOTE, ANSWER, FACT, SAVED, CHINESE)
QUOTE = "; ".join(THEIRS)
MARKS = ("marmot", "badger", "Ottilie", "nineteen", "raven", "ocelot", "walnut", "gecko", "祖母")
"""A word of each of their texts that stands in nothing else."""
MODEL = Actor("model", "m")
ASKED = "What would you like to have with it?"


@pytest.fixture
def call(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hitlab:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HITLAB_PERSON", "D01")
    return hitlab(tmp_path / "lab.db", capsys, monkeypatch)


def theirs(store: Store) -> None:
    """What they said themselves: in a run, in an answer that was not sent, in a study, in their profile."""
    question = Question("q0", "ask", ASKED, ("Noodles with tofu", "Rice"))
    asks = Proposed(Action("ask_user", text=question.text))
    calls = (ToolCall("search", json.dumps({"for": CALLED})),)
    reply = Reply("q0", f"{REPLY}.\n{CHINESE}", P07, draft=DRAFT, calls=calls)
    typed = Proposed(Action("input_text", text=TYPED), by=P07)
    events: list[AnyEvent] = [
        Started(
            trace="run-theirs", task=Task("t", "general", "", "Do it", persona="p07"), agent=MODEL, user=P07,
            persona=Persona("p07", "Nobody", {"health": [FACT]}),
        ),
        Asked(index=0, question=question, proposed=asks), Answered(index=0, reply=reply),
        Step(index=0, proposed=asks, question=question, reply=reply), Step(index=1, proposed=typed),
        Ended(status="completed"),
    ]  # fmt: skip
    store.runs.add(Imported(number_events(events), {}, []))
    store.runs.save_draft("run-theirs", "q0", SAVED)
    plan = frozen(store, [unit("rated")], id="theirs", raters=("P07", "R2"))
    store.labels.record(
        plan, unit("rated"), label(plan, unit("rated"), "open", "state", "not_completed", note=NOTE, rater=P07)
    )
    store.labels.record(plan, unit("rated"), label(plan, unit("rated"), "open", "why", ANSWER, rater=P07))


def quoting_run(trace: str, mark: str) -> tuple[Imported, list[str]]:
    """Another's run that quotes them in each of its texts, and the words that stand there beside the quotations."""
    plant = planted(trace, mark)
    named = (".id", "parent", "state", "images", "sha256", "status")
    words = [word for word, told in plant.words.items() if not told.place.endswith(named) and not word[0].isdigit()]
    quoted = json.dumps(QUOTE, ensure_ascii=False)[1:-1]
    events = []
    for event in plant.run.events:
        body = encode(event).decode()
        for word in words:
            body = body.replace(f'"{word}"', f'"{word} {quoted}"')
        events.append(msgspec.json.decode(body, type=AnyEvent))
    state = Blob(json.dumps({"notes": [{"body": f"keptstate {QUOTE}"}]}).encode(), "application/json")
    assert isinstance(events[0], Started)
    events[0] = replace(events[0], state=state.sha256, source=None, parent=None, forked=None)
    verdicts = [replace(one, reason=f"{one.reason} {QUOTE}") for one in plant.run.verdicts]
    whole = ("note", "paused.reason")  # a remark that quotes goes whole
    kept = [word for word in words if not plant.words[word].place.endswith(whole)]
    return Imported(events, {**plant.run.images, state.sha256: state}, verdicts), [*kept, "keptstate"]


def quoted_by_others(store: Store) -> list[str]:
    """Puts quotations of all they said into every text of others; gives the words beside them."""
    run, words = quoting_run("run-else", "Q")
    store.runs.add(run)
    held = b"".join(encode(event) for event in store.runs.events("run-else"))
    kept = [word for word in words if word.encode() in held] + ["keptstate"]
    judge = Actor("model", "judge:m")
    plan = frozen(
        store,
        [unit("other", runs=("run-else",), given=(UnitText("Say", f"keptgiven {QUOTE}", (f"keptitem {QUOTE}",)),))],
    )
    said = {"note": f"keptnote {QUOTE}"}
    store.labels.record(plan, unit("other"), label(plan, unit("other"), "open", "state", "completed", rater=R2, **said))
    why = label(plan, unit("other"), "pay", "why", f"keptwhy {QUOTE}", rater=R2)
    store.labels.record(plan, unit("other"), label(plan, unit("other"), "pay", "state", "not_completed", rater=R2))
    store.labels.record(plan, unit("other"), why)
    store.labels.record(
        plan, unit("other"), label(plan, unit("other"), "pay", "state", "completed", rater=judge, **said)
    )
    paid = {"question": "ab" * 32, "stage": "sheet", "answer": json.dumps({"keptpaid": QUOTE}), "usage": {}}
    drafts = [["open", "why", "note", f"kepttyped {QUOTE}"]]
    for by, kind, detail in (
        (judge, "judged", {**paid, "model": "m", "config_sha": "c"}),
        (R2, "quiz", {"answers": [f"keptquiz {QUOTE}"]}),
        (R2, "looked", {"item": ["open", "why"], "place": "p", "drafts": drafts}),
    ):
        act: Any = kind
        store.labels.record_act(Act(uuid7(), plan.id, 1, by, act, now(), "other", detail=detail))
    settled = {"target": "pay", "field": "state", "by_means": "adjudicator", "value": "completed", "reason": QUOTE}
    store.labels.record_act(Act(uuid7(), plan.id, 1, R2, "adjudicated", now(), "other", detail=settled))
    store.shadows.record(ShadowAnswer(uuid7(), "run-else", "q0", 0, MODEL, now(), f"keptshadow {QUOTE}"))
    store.runs.save_draft("run-else", "q0", f"keptdraft {QUOTE}")
    tag_runs(store, ["run-else"], TagChange((f"kepttag-{REPLY.replace(' ', '-')}"[:40],)), "D01")
    design = Design(units=(InformationUnit("n", "The number", f"keptdesign {QUOTE}"),))
    store.designs.append(first_draft(subject_of(Task("own", "general", "", QUOTE)), R2, design, QUOTE))
    return [*kept, "keptgiven", "keptitem", "keptwhy", "keptpaid", "keptquiz", "kepttyped", "keptshadow",
            "keptdraft", "keptdesign"]  # fmt: skip


def later_table(db: Path) -> None:
    """A table that a later version may add: a text in words, one in JSON, bytes."""
    raw = sqlite3.connect(db)
    raw.execute("CREATE TABLE later (n INTEGER PRIMARY KEY, note TEXT, body TEXT, bytes BLOB)")
    values = (f"keptlater {QUOTE}", json.dumps({"deep": [{"er": QUOTE}]}), QUOTE.encode())
    raw.execute("INSERT INTO later (note, body, bytes) VALUES (?, ?, ?)", values)
    raw.commit()
    raw.close()


def marks_in(db: Path) -> list[str]:
    """Which of their words still stand in any byte of the file, as they are or as JSON escapes them."""
    held = bytes_of(db)
    escaped = json.dumps("祖母")[1:-1].encode()
    return [mark for mark in MARKS if mark.encode() in held] + (["祖母, escaped"] if escaped in held else [])


def test_their_words_are_in_no_byte_of_the_file_and_all_words_beside_them_are(tmp_path: Path, call: Hitlab) -> None:
    db = tmp_path / "lab.db"
    with Store.open(db) as store:
        theirs(store)
        kept = quoted_by_others(store)
    later_table(db)
    looked = json.loads(call("withdraw", "P07", "--show", "--json")[1])
    places = " / ".join(place for one in looked["quoted"] if one["covered"] for place in one["places"])
    assert {one["text"] for one in looked["quoted"] if one["covered"]} >= {NOTE, TYPED, FACT, SAVED}
    for place in ("R2's label on other", "judge judge:m's paid answer", "run run-else"):
        assert place in places
    assert len(marks_in(db)) == len(MARKS) + 1
    code, out, err = call("withdraw", "P07", "--yes", "--json")
    assert code == 0, err
    assert not [mark for mark in MARKS if mark in out]
    assert marks_in(db) == []
    held = bytes_of(db)
    assert [word for word in [*kept, "keptlater"] if word.encode() not in held] == []
    with Store.open(db) as store:
        assert store.check() == []
        trace = store.runs.trace("run-else")
        assert trace.steps[0].reply is not None
        assert WITHDRAWN in trace.steps[0].reply.text
        state = store.runs.blob(trace.state or "")
        assert state is not None
        assert json.loads(state.data)["notes"][0]["body"].startswith("keptstate ")
        plan = store.studies.study("trial")
        notes = {one.note for one in store.labels.read(plan) if one.note}
        assert notes == {WITHDRAWN}
        (paid,) = store.labels.acts(plan, "judge:m", judged=True)
        assert json.loads(paid.detail["answer"])["keptpaid"].startswith(WITHDRAWN)
        assert paid.detail["question"] != "ab" * 32, "it answers the old question no more"


def said(store: Store, run: str, by: str, *replies: str, question: str = ASKED) -> None:
    """A run in which somebody replies, each time to the same question."""
    who = Actor("human", by)
    events: list[AnyEvent] = [Started(trace=run, task=Task("t", "general", "", "Do it"), agent=MODEL, user=who)]
    for index, text in enumerate(replies):
        ask = Proposed(Action("ask_user", text=question))
        one = Question(f"q{index}", "ask", question, ("Noodles with tofu and extra sesame", "Rice"))
        events.append(Step(index=index, proposed=ask, question=one, reply=Reply(f"q{index}", text, who)))
    store.runs.add(Imported(number_events([*events, Ended(status="completed")]), {}, []))


def replies_of(db: Path, run: str) -> list[str]:
    with Store.open(db, readonly=True) as store:
        return [step.reply.text for step in store.runs.trace(run).steps if step.reply is not None]


def test_what_anybody_may_say_stays_and_is_told_and_is_covered_when_a_person_says_so(
    tmp_path: Path, call: Hitlab
) -> None:
    db = tmp_path / "lab.db"
    with Store.open(db) as store:
        said(store, "run-p07", "P07", "Mild please", "91234567", "Yes, go ahead.", "Noodles with tofu and extra sesame")
        said(store, "run-p08", "P08", "Yes, go ahead.", "I take it. Mild please, as the one before me", "no")
        shown = Proposed(Action("ask_user", text="Call 9123-4567 or 91234567?"), thought="said: Yes, go ahead. Fine.")
        first = Started(trace="run-m", task=Task("t", "general", "", "Noodles with tofu and extra sesame"), agent=MODEL)
        store.runs.add(
            Imported(number_events([first, Step(index=0, proposed=shown), Ended(status="completed")]), {}, [])
        )
    looked = json.loads(call("withdraw", "P07", "--show", "--json")[1])
    unsure = {one["text"]: (one["count"], one["covered"]) for one in looked["quoted"]}
    assert unsure == {
        "Mild please": (1, False), "91234567": (1, False), "Yes, go ahead.": (1, False),
        "Noodles with tofu and extra sesame": (4, False),
    }  # fmt: skip
    assert "--cover TEXT" in call("withdraw", "P07", "--show")[1]
    code, out, err = call("withdraw", "P07", "--yes", "--cover", "mild, please")
    assert code == 0, err
    assert '"Yes, go ahead." in 1 text' in out
    assert replies_of(db, "run-p08") == ["Yes, go ahead.", f"I take it. {WITHDRAWN}, as the one before me", "no"]
    assert b"91234567" in bytes_of(db)
    code, out, err = call("withdraw", "P07", "--yes", "--cover", "91234567", "--json")
    assert code == 0, err
    assert b"91234567" not in bytes_of(db)
    assert json.loads(out)["counts"] == {"quotations": 1}
    assert "nothing of theirs is here" in call("withdraw", "P07", "--yes")[2]
    with Store.open(db) as store:
        assert store.check() == []
        assert store.runs.trace("run-m").task.instruction == "Noodles with tofu and extra sesame"


OWN = "Noor's purple umbrella, 紫色的雨伞, 보라색 우산을 주세요"


SPELLINGS: dict[str, Callable[[str], str]] = {
    "NFD": lambda text: unicodedata.normalize("NFD", text),
    "full width": lambda text: text.replace("purple umbrella", "ｐｕｒｐｌｅ ＵＭＢＲＥＬＬＡ"),
    "unseen": lambda text: text.replace("purple", "pur\u200bple"),
    "accent": lambda text: text.replace("umbrella", "u\u0301mbrella").upper(),
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_a_quotation_in_another_spelling_is_covered(
    tmp_path: Path, call: Hitlab, spelling: Callable[[str], str]
) -> None:
    db = tmp_path / "lab.db"
    with Store.open(db) as store:
        said(store, "run-p07", "P07", OWN)
        said(store, "run-p08", "P08", f"kept {spelling(OWN)} too")
    assert call("withdraw", "P07", "--yes")[0] == 0
    assert replies_of(db, "run-p08") == [f"kept {WITHDRAWN} too"]


def test_all_that_may_be_anybodys_is_covered_but_what_another_person_said_themselves(
    tmp_path: Path, call: Hitlab
) -> None:
    db = tmp_path / "lab.db"
    with Store.open(db) as store:
        said(store, "run-p07", "P07", "Mild please", "Yes, go ahead.")
        said(store, "run-p08", "P08", "Yes, go ahead.", "Mild please, as the other said: yes, go ahead")
    assert call("withdraw", "P07", "--yes", "--cover-all")[0] == 0
    assert replies_of(db, "run-p08") == ["Yes, go ahead.", f"{WITHDRAWN}, as the other said: {WITHDRAWN}"]


def test_words_that_stood_there_before_they_were_said_are_nobodys(tmp_path: Path, call: Hitlab) -> None:
    """A rater who withdraws quotes the run that they rate: the run stays as it is."""
    db = tmp_path / "lab.db"
    with Store.open(db) as store:
        said(store, "run-p08", "P08", "I would rather have lavender sorbet with pistachio")
        plan = frozen(store, [unit("rated", runs=("run-p08",))], raters=("P07", "R2"))
        note = "P08 says: I would rather have lavender sorbet with pistachio. Absurd zeppelin reasoning follows."
        for rater in (P07, R2):
            one = label(plan, unit("rated"), "open", "state", "completed", note=note, rater=rater)
            store.labels.record(plan, unit("rated"), one)
    assert call("withdraw", "P07", "--yes")[0] == 0
    assert replies_of(db, "run-p08") == ["I would rather have lavender sorbet with pistachio"]
    with Store.open(db) as store:
        assert [one.note for one in store.labels.read(store.studies.study("trial"))] == [WITHDRAWN]


def test_a_dialogue_that_goes_on_with_another_person_is_covered_there(tmp_path: Path, call: Hitlab) -> None:
    """Also a reply of one word, where it follows its question; the other person's own reply of that word stays."""
    db = tmp_path / "lab.db"
    with Store.open(db) as store:
        first = Intake(store, [P07], judge_rules())
        asked = [first.receive(request("Which size is it?"))]
        give_reply(store, asked[0].turn, replace(reply_to(asked[0].turn, "Small"), by=P07))
        first.deliver_answers()
        asked.append(first.receive(request("Which size is it?", "Small", "And what with it?")))
        give_reply(store, asked[1].turn, replace(reply_to(asked[1].turn, REPLY), by=P07))
        other = Actor("human", "P08")
        second = Intake(store, [other], judge_rules())
        dialogue = ("Which size is it?", "Small", "And what with it?", REPLY, "Anything else?")
        last = second.receive(request(*dialogue, session="other"))
        give_reply(store, last.turn, replace(reply_to(last.turn, "Small"), by=other))
        run = last.turn.run
    assert REPLY.encode() in bytes_of(db)
    assert f"P08's conversation, run {run}" in call("withdraw", "P07", "--show")[1]
    assert call("withdraw", "P07", "--yes")[0] == 0
    assert b"marmot" not in bytes_of(db)
    assert replies_of(db, run) == ["Small"]
    with Store.open(db) as store:
        raw = store.runs.trace(run).steps[0].proposed.action.raw
        assert [text for _, text in raw["before"]] == [
            "Which size is it?", WITHDRAWN, "And what with it?", WITHDRAWN,
        ]  # fmt: skip


def test_the_very_same_text_in_a_note_or_an_answer_is_a_copy_and_in_a_reply_it_is_told(
    tmp_path: Path, call: Hitlab
) -> None:
    db = tmp_path / "lab.db"
    with Store.open(db) as store:
        said(store, "run-p07", "P07", REPLY, TYPED)
        said(store, "run-p08", "P08", "no", TYPED)
        plan = frozen(store, [unit("rated", runs=("run-p08",))])
        for field, value in (("state", "not_completed"), ("why", REPLY)):
            store.labels.record(plan, unit("rated"), label(plan, unit("rated"), "open", field, value, note=REPLY))
    looked = json.loads(call("withdraw", "P07", "--show", "--json")[1])
    assert [(one["text"], one["covered"]) for one in looked["quoted"]] == [(REPLY, True), (TYPED, False)]
    assert call("withdraw", "P07", "--yes")[0] == 0
    assert b"marmot" not in bytes_of(db)
    assert replies_of(db, "run-p08") == ["no", TYPED]
    assert call("withdraw", "P07", "--yes", "--cover", TYPED)[0] == 0
    assert replies_of(db, "run-p08") == ["no", WITHDRAWN]


def test_a_reply_that_was_put_into_anothers_run_is_covered_there(tmp_path: Path, call: Hitlab) -> None:
    """As an answer swap does, whoever signs it: also a reply of one word."""
    db = tmp_path / "lab.db"
    with Store.open(db) as store:
        said(store, "run-p07", "P07", REPLY, "Small")
        for run, reply in (("run-long", REPLY), ("run-short", "Small")):
            said(store, run, "P08", "keptreply", reply)
            first, *events = list(store.runs.events(run))
            assert isinstance(first, Started)
            forked = Forked(1, 1, (("reply", reply),), Actor("human", "D01"))
            first = replace(first, trace=f"{run}-swapped", parent=run, forked=forked)
            store.runs.add(Imported([first, *events], {}, []))
    assert call("withdraw", "P07", "--yes")[0] == 0
    for run in ("run-long-swapped", "run-short-swapped"):
        assert replies_of(db, run) == ["keptreply", WITHDRAWN]
    assert replies_of(db, "run-short") == ["keptreply", "Small"], "they said so themselves"
    with Store.open(db) as store:
        (started,) = [event for event in store.runs.events("run-long-swapped") if isinstance(event, Started)]
        assert started.forked is not None
        assert started.forked.changes == (("reply", WITHDRAWN),)


def test_who_takes_part_is_not_told_who_quotes_them_and_covers_no_words_of_others(
    tmp_path: Path, call: Hitlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        said(store, "run-p07", "P07", REPLY, "Mild please")
        said(store, "run-p08", "P08", f"as written: {REPLY}", "as written: Mild please")
    monkeypatch.setenv("HITLAB_SEAT", "participant")
    monkeypatch.setenv("HITLAB_PERSON", "P07")
    out = call("withdraw", "P07", "--show")[1] + call("withdraw", "P07", "--show", "--json")[1]
    assert "Mild please" in out
    assert "P08" not in out
    assert "run-p08" not in out
    code, _, err = call("withdraw", "P07", "--yes", "--cover", "as written")
    assert (code, "it is not for seat participant" in err) == (1, True)
    assert call("withdraw", "P07", "--yes", "--cover-all")[0] == 0
    assert replies_of(tmp_path / "lab.db", "run-p08") == [f"as written: {WITHDRAWN}"] * 2


@pytest.mark.parametrize(("typed", "covered"), [("y\n", 1), ("\ny\n", 1), ("a\n", 2), ("r\n", 0)])
def test_at_a_terminal_each_text_is_asked_about(tmp_path: Path, typed: str, covered: int) -> None:
    db = tmp_path / "lab.db"
    with Store.open(db) as store:
        said(store, "run-p07", "P07", "Mild please", "Room 4711")
        said(store, "run-p08", "P08", "they wrote: Mild please", "they wrote: Room 4711")
    terminal, side = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HITLAB_PERSON": "D01"}
    program = Warm(["withdraw", "P07", "--db", str(db)], env=env, stdin=side, stdout=side, stderr=side)
    os.close(side)
    seen, left, asked = b"", [*typed.splitlines(), *(["n"] if typed == "y\n" else [])], 0
    while b"has withdrawn from" not in seen:
        seen += os.read(terminal, 65536)
        if seen.count(b"none of the [r]est: ") > asked:
            asked += 1
            os.write(terminal, left.pop(0).encode() + b"\n")
        if b"to go on: " in seen and left != ["P07"]:
            left = ["P07"]
            os.write(terminal, b"P07\n")
    assert program.wait(180) == 0
    os.close(terminal)
    assert replies_of(db, "run-p08").count(f"they wrote: {WITHDRAWN}") == covered


@pytest.mark.parametrize("way", ["the copy into it", "it into the copy"])
def test_no_copy_brings_their_words_back(
    tmp_path: Path, call: Hitlab, way: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    db, copy = tmp_path / "lab.db", tmp_path / "copy.db"
    with Store.open(db) as store:
        theirs(store)
        kept = quoted_by_others(store)
    assert call("pack", str(copy))[0] == 0
    with Store.open(copy) as store:  # what is in the copy alone quotes them, too
        said(store, "run-more", "P09", f"keptmore {REPLY}")
    assert call("withdraw", "P07", "--yes")[0] == 0
    into, of = (db, copy) if way == "the copy into it" else (copy, db)
    code, _, err = hitlab(into, capsys, monkeypatch)("merge", str(of))
    assert code == 0, err
    assert marks_in(into) == []
    held = bytes_of(into)
    assert [word for word in kept if word.encode() not in held] == []
    with Store.open(into) as store:
        assert store.check() == []
    assert replies_of(into, "run-more") == [f"keptmore {WITHDRAWN}"]


def test_no_kit_brings_their_words_back(tmp_path: Path, call: Hitlab) -> None:
    """As far as the kit itself still holds the run in which they said them."""
    db, kit = tmp_path / "lab.db", tmp_path / "R2.db"
    units = [unit("theirs", runs=("run-p07",)), unit("other", runs=("run-p08",))]
    with Store.open(db) as store:
        said(store, "run-p07", "P07", REPLY)
        said(store, "run-p08", "P08", "nothing of the kind")
        plan = frozen(store, units, replace(NODES, shows=("dialogue", "actions")), raters=("R1", "R2"))
    assert call("study", "kit", "trial", "--rater", "R2", "--out", str(kit))[0] == 0
    with Store.open(kit) as store:
        one = label(plan, units[1], "open", "state", "completed", note=f"unlike: {REPLY}", rater=R2)
        store.labels.record(store.studies.study("trial"), units[1], one)
    assert call("withdraw", "P07", "--yes")[0] == 0
    code, _, err = call("study", "take", str(kit))
    assert code == 0, err
    assert b"marmot" not in bytes_of(db)
    with Store.open(db) as store:
        assert [one.note for one in store.labels.read(plan)] == [WITHDRAWN]


@pytest.mark.parametrize("cover_all", [False, True])
def test_what_the_program_writes_of_a_play_is_nobodys_words(tmp_path: Path, call: Hitlab, cover_all: bool) -> None:
    def acts_of(code: str, at: int) -> list[Act]:
        by = Actor("human", code)
        details: list[tuple[Any, dict[str, Any]]] = [
            ("consent", {"text": "You may stop at any time.", "locale": "en"}),
            ("quiz", {"persona": "ines", "answer": "Leads the choir's altos"}),
            ("played", {"run": f"r{code}", "status": "completed", "condition": "person, no mirror"}),
            ("opened", {"shows": ["instruction", "persona"]}),
        ]
        return [
            Act(uuid7(), "teas", 1, by, kind, now(), f"{at}.person-no-mirror", detail=detail)
            for kind, detail in details
        ]

    with Store.open(tmp_path / "lab.db") as store:
        units = [plays.unit(plays.COFFEE, id=f"{at}.person-no-mirror", mirror=False) for at in range(2)]
        plays.frozen(store, units)
        for at, code in enumerate(("P1", "P2")):
            for act in acts_of(code, at):
                store.labels.record_act(act)
    sql = "SELECT body FROM {} WHERE body LIKE '%\"P2\"%' ORDER BY body"

    def rows_of_others() -> list[Any]:
        with sqlite3.connect(tmp_path / "lab.db") as db:
            return [list(db.execute(sql.format(table))) for table in ("act", "assignment")]

    before = rows_of_others()
    assert call("withdraw", "P1", "--yes", *["--cover-all"] * cover_all)[0] == 0
    assert rows_of_others() == before
    with Store.open(tmp_path / "lab.db") as store:
        assert {unit.id for unit in store.studies.units(store.studies.study("teas"))} == {unit.id for unit in units}
