"""Redaction: what was covered is nowhere in the file any more, and what stands in its place plays and travels."""

from __future__ import annotations

import io
import sqlite3
from pathlib import Path

import msgspec
import pytest
from PIL import Image

from lab.core.errors import LabError
from lab.core.redaction.text_redaction import MASK
from lab.core.run.run_records import Blob, Imported, Verdict, number_events
from lab.core.run.step import Action, Observation, Prompt, Proposed, Question, Reply
from lab.core.run.trace import Acting, Answered, AnyEvent, Asked, Ended, Forked, Source, Started, Step
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.task.design import Design, Subject, first_draft, subject_of
from lab.core.task.task import Actor, InformationUnit
from store.erasing.run_redaction import Redacted, redact
from store.runs.run_export import REVIEWED, export_runs
from store.runs.run_import import import_paths
from store.store import Store
from tests.demonstrations import DEMO, MAIL, NAME, PHONE, SCREENS, SIZE, demonstration, drawn, row, tree_of

BY = Actor("human", "D01")
NUMBER = Bounds(10, 200, 351, 261)
"""The row on the first screen that holds the telephone number."""


def bytes_of(store: Store) -> bytes:
    """Everything that lies in the file and beside it."""
    path = store.path
    return b"".join(path.with_name(path.name + tail).read_bytes() for tail in ("", "-wal", "-shm"))


def assert_gone(store: Store, *texts: str, pictures: tuple[Blob, ...] = ()) -> None:
    """Nothing of these lies in the file: in no coding, and no piece of a picture."""
    held = bytes_of(store)
    for text in texts:
        for coding in ("utf-8", "utf-16-le", "utf-16-be"):
            assert text.encode(coding) not in held, (text, coding)
            assert text.casefold().encode(coding) not in held.lower(), (text, coding)
    for picture in pictures:
        at = picture.data.index(b"IDAT")
        assert picture.data[at : at + 64] not in held
        assert picture.data[-80:-20] not in held


def covered(
    store: Store, *words: str, boxes: dict[int, list[Bounds]] | None = None, everywhere: bool = False
) -> Redacted:
    return redact(store, DEMO, BY, boxes=boxes or {}, words=words, everywhere=everywhere)


def test_words_are_nowhere_in_the_file_and_the_pictures_that_show_them_are_painted(store: Store) -> None:
    store.runs.add(demonstration())
    store.runs.save_draft(DEMO, "q", f"to {MAIL}")
    store.reviews.append(
        store.reviews.proof_of(DEMO), [row("P1", "edit", None, "intent", None, f"Tell {NAME} I am late")]
    )
    done = covered(store, NAME, MAIL)
    assert_gone(store, NAME, MAIL, pictures=(drawn(SCREENS[0]), drawn(SCREENS[2])))
    assert PHONE.encode() in bytes_of(store)
    new = done.replaced[DEMO]
    trace = store.runs.trace(new)
    assert trace.task.instruction == f"Write to {MASK} that I am late"
    assert [step.proposed.instruction for step in trace.steps[:2]] == [
        f"Open the mail from {MASK}",
        f"Type {MASK} in To",
    ]
    assert trace.steps[1].action is not None
    assert (trace.steps[1].action.text, trace.steps[1].proposed.raw) == (MASK, f'{{"to": "{MASK}"}}')
    assert trace.persona is not None
    assert trace.persona.facts == {"identity": {"full_name": MASK, "email": MASK}}
    assert [review.new for review in store.reviews.of_run(new)] == [f"Tell {MASK} I am late"]
    assert (done.pictures, done.reviews, done.nodes) == (2, 1, 2)
    assert done.states == 5
    assert not any(step.state for step in trace.steps)
    assert store.check() == []


def test_a_box_covers_the_picture_the_tree_under_it_and_what_was_said_of_it(store: Store) -> None:
    store.runs.add(demonstration())
    done = covered(store, boxes={0: [NUMBER]})
    assert_gone(store, PHONE, pictures=(drawn(SCREENS[0]),))
    seen = store.runs.trace(done.replaced[DEMO]).steps[0].before
    assert seen.tree is not None
    assert [node.text for node in seen.tree.nodes() if node.text] == ["Mail", f"From {NAME}", MASK, "Weather: dry"]
    blob = store.runs.blob(seen.image or "")
    assert blob is not None
    picture, before = Image.open(io.BytesIO(blob.data)), Image.open(io.BytesIO(drawn(SCREENS[0]).data))
    assert picture.info == {}
    for x, y in ((10, 200), (350, 260), (180, 230)):
        assert picture.getpixel((x, y)) == (0, 0, 0)
    for x, y in ((9, 200), (351, 260), (180, 199), (180, 261)):
        assert picture.getpixel((x, y)) == before.getpixel((x, y))
    assert (done.boxes, done.nodes, done.pictures) == (1, 1, 1)


def test_text_typed_into_a_field_under_a_box_goes_with_it(store: Store) -> None:
    store.runs.add(demonstration())
    done = covered(store, boxes={1: [Bounds(10, 40, 351, 101)]})
    step = store.runs.trace(done.replaced[DEMO]).steps[1]
    assert step.action is not None
    assert (step.action.text, step.proposed.instruction) == (MASK, f"Type {MASK} in To")


def test_what_a_box_covers_on_the_last_screen_is_covered_in_how_the_run_ended(store: Store) -> None:
    run = demonstration()
    shot = drawn([PHONE, "Called", PHONE])
    final = Observation(shot.sha256, SIZE, tree_of([PHONE, "Called", PHONE]), "com.mail/.Main")
    ended = Ended(status="completed", reason=f"called {PHONE}", final=final)
    events = number_events([*run.events[:-1], ended])
    store.runs.add(Imported(events, {**run.images, shot.sha256: shot}, []))
    done = covered(store, boxes={4: [Bounds(10, 40, 351, 101)]})
    again = store.runs.trace(done.replaced[DEMO]).ended
    assert again is not None
    assert again.reason == f"called {MASK}"
    assert again.final is not None
    assert again.final.tree is not None
    assert [node.text for node in again.final.tree.nodes() if node.text] == [MASK, "Called", MASK]


def test_the_old_run_never_comes_back_and_a_tombstone_remembers_no_word(store: Store, tmp_path: Path) -> None:
    store.runs.add(demonstration())
    export_runs(store, [DEMO], tmp_path / "before")
    done = covered(store, NAME)
    new = done.replaced[DEMO]
    assert not store.runs.has_run(DEMO)
    stone = store.erasure.tombstone(DEMO)
    assert stone is not None
    assert (stone.replaced_by, stone.by, stone.counts["texts"]) == (new, BY, done.texts)
    assert NAME not in repr(stone)
    with pytest.raises(LabError, match=f"was redacted as run {new} on"):
        store.runs.add(demonstration())
    report = import_paths(store, [tmp_path / "before"])
    assert (report.imported, [failure.error[:51] for failure in report.failed]) == (0, [f"run {DEMO}: was redac"])
    export_runs(store, [new], tmp_path / "after")
    with Store.open(tmp_path / "other.db") as other:
        assert import_paths(other, [tmp_path / "after", tmp_path / "before"]).imported == 1
        assert [run.id for run in other.runs.summaries()] == [new]
    store.pack(tmp_path / "packed.db")
    with Store.open(tmp_path / "packed.db") as packed, pytest.raises(LabError, match="was redacted"):
        packed.runs.add(demonstration())


def test_what_was_reviewed_of_it_goes_with_it_and_never_comes_back(store: Store, tmp_path: Path) -> None:
    one = demonstration()
    first = one.events[0]
    assert isinstance(first, Started)
    copy = msgspec.structs.replace(first, trace="copy", source=Source(REVIEWED, DEMO))
    store.runs.add(one)
    store.runs.add(one._replace(events=[copy, *one.events[1:]]))
    export_runs(store, ["copy"], tmp_path / "reviewed")
    done = covered(store, NAME)
    assert set(done.replaced) == {DEMO, "copy"}
    assert store.runs.trace(done.replaced["copy"]).source == Source(REVIEWED, done.replaced[DEMO])
    with Store.open(tmp_path / "other.db") as other:
        other.runs.add(one)
        covered(other, NAME)
        report = import_paths(other, [tmp_path / "reviewed"])
        assert (report.imported, [failure.error[:51] for failure in report.failed]) == (
            0,
            [f"run {DEMO}: was redac"],
        )


def test_forks_share_a_beginning_and_are_covered_with_it(store: Store) -> None:
    one = demonstration()
    store.runs.add(one)
    first = one.events[0]
    assert isinstance(first, Started)
    fork = msgspec.structs.replace(first, trace="fork-1", parent=DEMO, forked=Forked(1, 1))
    store.runs.add(Imported([fork, one.events[1], Ended(seq=2, status="stopped")], one.images, []))
    done = covered(store, boxes={0: [NUMBER]})
    assert set(done.replaced) == {DEMO, "fork-1"}
    assert_gone(store, PHONE, "fork-1-was-here")
    again = store.runs.trace(done.replaced["fork-1"])
    assert again.parent == done.replaced[DEMO]
    assert [kin.id for kin in store.runs.family(again.id)] == sorted(done.replaced.values())


def test_a_picture_that_another_run_shows_too_is_asked_about(store: Store) -> None:
    store.runs.add(demonstration())
    store.runs.add(demonstration("other-1"))
    before = store.database.read("SELECT count(*), sum(length(body)) FROM event")
    with pytest.raises(LabError, match=r"shares a picture .* 1 other run \(other-1\); nothing was done"):
        covered(store, boxes={0: [NUMBER]})
    assert store.database.read("SELECT count(*), sum(length(body)) FROM event") == before
    done = covered(store, boxes={0: [NUMBER]}, everywhere=True)
    assert set(done.replaced) == {DEMO, "other-1"}
    assert_gone(store, PHONE, pictures=(drawn(SCREENS[0]),))


def test_blobs_that_other_runs_use_stay(store: Store) -> None:
    one = demonstration()
    store.runs.add(one)
    first, step = one.events[0], one.events[2]
    assert isinstance(first, Started)
    assert isinstance(step, Step)
    other: list[AnyEvent] = [
        msgspec.structs.replace(first, trace="other-1"),
        msgspec.structs.replace(step, seq=1, index=0),
    ]
    store.runs.add(Imported([*other, Ended(seq=2, status="completed")], one.images, []))
    store.runs.add(
        Imported([msgspec.structs.replace(first, trace="other-2"), Ended(seq=1, status="completed")], {}, [])
    )
    done = redact(store, "other-1", BY, boxes={}, words=[MAIL])
    assert store.runs.blob(drawn(SCREENS[1]).sha256) is not None
    assert list(store.runs.events(DEMO)) == one.events
    assert [run.id for run in store.runs.summaries()] == ["other-2", done.replaced["other-1"], DEMO]
    assert store.check() == []


def test_a_picture_made_for_a_model_is_covered_whole(store: Store) -> None:
    small = Blob(b"\x89PNG\r\n\x1a\n no picture really, IDAT" + bytes(range(120)), "image/png")
    events = list(demonstration().events)
    step = events[2]
    assert isinstance(step, Step)
    prompt = Prompt(f"the screen says {PHONE}", (small.sha256,))
    events[2] = msgspec.structs.replace(step, proposed=msgspec.structs.replace(step.proposed, prompt=prompt))
    store.runs.add(Imported(events, {**demonstration().images, small.sha256: small}, []))
    done = covered(store, PHONE)
    assert_gone(store, PHONE, pictures=(small,))
    sent = store.runs.trace(done.replaced[DEMO]).steps[1].proposed.prompt
    assert sent is not None
    assert sent.text == f"the screen says {MASK}"
    blob = store.runs.blob(sent.images[0])
    assert blob is not None
    assert Image.open(io.BytesIO(blob.data)).getcolors() == [(1, (0, 0, 0))]


@pytest.mark.parametrize("word", ["+44 (20) 7946-0018", "442079460018", "+44 20 7946 0018"])
def test_a_number_is_found_however_it_is_written(store: Store, word: str) -> None:
    store.runs.add(demonstration())
    covered(store, word)
    assert_gone(store, PHONE)


@pytest.mark.parametrize(
    ("boxes", "words", "why"),
    [
        ({}, [], "nothing was named"),
        ({}, ["x"], "too short"),
        ({9: [NUMBER]}, [], "there is no step 10: the last screen is"),
        ({0: [Bounds(5, 5, 5, 9)]}, [], "is empty"),
    ],
)
def test_what_cannot_be_covered_is_a_sentence(
    store: Store, boxes: dict[int, list[Bounds]], words: list[str], why: str
) -> None:
    store.runs.add(demonstration())
    with pytest.raises(LabError, match=why):
        covered(store, *words, boxes=boxes)
    assert store.runs.has_run(DEMO)


def test_a_box_of_a_step_without_a_picture_is_refused(store: Store) -> None:
    events = list(demonstration().events)
    step = events[2]
    assert isinstance(step, Step)
    events[2] = msgspec.structs.replace(step, before=msgspec.structs.replace(step.before, image=None))
    store.runs.add(Imported(events, demonstration().images, []))
    with pytest.raises(LabError, match=f"step {step.index + 1} has no picture to cover"):
        covered(store, boxes={step.index: [NUMBER]})


def test_an_open_run_is_not_redacted(store: Store) -> None:
    store.runs.add(demonstration(ended=False))
    with pytest.raises(LabError, match="is still open"):
        covered(store, NAME)


def test_what_fails_half_way_leaves_the_file_and_its_triggers_as_they_were(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.runs.add(demonstration())
    before = list(store.database.read("SELECT * FROM event"))

    def fails(*_: object) -> None:
        raise sqlite3.OperationalError("disk full")

    monkeypatch.setattr("store.erasing.run_redaction._rewrite_designs", fails)
    with pytest.raises(LabError):
        covered(store, NAME)
    assert store.database.read("SELECT * FROM event") == before
    assert store.check() == []
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        store.database.connection().execute("DELETE FROM event")


def test_words_dimmed_behind_a_dialog_that_the_tree_leaves_out_are_painted_too(store: Store) -> None:
    events = list(demonstration().events)
    with Image.open(io.BytesIO(drawn(SCREENS[0]).data)) as opened:
        dim = opened.convert("RGB").point(lambda value: value // 2)
    dim.paste((250, 250, 250), (0, 400, 360, 800))
    out = io.BytesIO()
    dim.save(out, "PNG")
    shot = Blob(out.getvalue(), "image/png")
    step = events[2]
    assert isinstance(step, Step)
    seen = Observation(shot.sha256, SIZE, UiTree((Node(Bounds(0, 400, 360, 800), "Discard?"),)))
    events[2] = msgspec.structs.replace(step, before=seen)
    store.runs.add(Imported(events, {**demonstration().images, shot.sha256: shot}, []))
    done = covered(store, PHONE)
    assert_gone(store, pictures=(shot,))
    image = store.runs.trace(done.replaced[DEMO]).steps[1].before.image
    blob = store.runs.blob(image or "")
    assert blob is not None
    picture = Image.open(io.BytesIO(blob.data))
    assert picture.getpixel((30, 225)) == (0, 0, 0)
    assert picture.getpixel((30, 145)) == dim.getpixel((30, 145)) != (0, 0, 0)
    assert picture.getpixel((30, 500)) == (250, 250, 250)


def test_designs_that_quote_a_run_are_covered_and_name_the_new_one(store: Store) -> None:
    store.runs.add(demonstration())
    subject = subject_of(store.runs.task(DEMO))
    unit = InformationUnit("number", "The number", f"it is {PHONE}")
    design = Design(units=(unit,), evidence={"units/number": (f"{DEMO}@1",)})
    store.designs.append(first_draft(subject, BY, design, f"drafted for {NAME}"))
    elsewhere = first_draft(Subject("another", "0" * 16), BY, Design(units=(unit,)), "")
    store.designs.append(elsewhere)
    done = covered(store, PHONE, NAME)
    assert_gone(store, PHONE, NAME)
    assert done.designs == 2
    (head,) = store.designs.heads(subject_of(store.runs.task(done.replaced[DEMO])))
    assert head.design.evidence == {"units/number": (f"{done.replaced[DEMO]}@1",)}
    assert (head.design.units[0].value, head.note) == (f"it is {MASK}", f"drafted for {MASK}")
    assert store.designs.heads(subject) == []
    assert store.designs.heads(elsewhere.subject)[0].id == elsewhere.id


def test_acts_slips_questions_and_replies_are_covered_too(store: Store) -> None:
    one = demonstration()
    first, *steps, end = one.events
    question, reply = Question("q", "ask", f"Is it {MAIL}?"), Reply("q", MAIL.upper(), BY, draft=f"not {MAIL}")
    asked = Asked(index=0, question=question, proposed=Proposed(Action("ask_user", text=question.text)))
    act = Acting(index=1, action=Action("input_text", text=MAIL))
    events = number_events([first, asked, Answered(index=0, reply=reply), steps[0], act, *steps[1:], end])
    store.runs.add(Imported(events, one.images, [Verdict("said", MAIL, f"{MAIL}!", {MAIL: [MAIL]})]))
    done = covered(store, MAIL)
    assert_gone(store, MAIL)
    new = list(store.runs.events(done.replaced[DEMO]))
    assert isinstance(new[2], Answered)
    assert (new[2].reply.text, new[2].reply.draft) == (MASK, f"not {MASK}")
    assert store.runs.verdicts(done.replaced[DEMO]) == [Verdict("said", MASK, f"{MASK}!", {MASK: [MASK]})]


def test_what_was_replaced_twice_never_comes_back_either(store: Store, tmp_path: Path) -> None:
    store.runs.add(demonstration())
    second = covered(store, MAIL).replaced[DEMO]
    third = redact(store, second, BY, boxes={}, words=[PHONE]).replaced[second]
    assert [stone.trace for stone in store.erasure.replaced_by(third)] == sorted([DEMO, second])
    export_runs(store, [third], tmp_path / "out")
    with Store.open(tmp_path / "other.db") as other:
        assert import_paths(other, [tmp_path / "out"]).imported == 1
        with pytest.raises(LabError, match=f"was redacted as run {third}"):
            other.runs.add(demonstration())


def test_a_file_that_another_program_reads_is_wiped_later(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.runs.add(demonstration())
    reader = sqlite3.connect(store.path)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM trace").fetchall()
    monkeypatch.setattr("store.erasing.erasure.BUSY_SECONDS", 0.0)
    store.database.connection().execute("PRAGMA busy_timeout = 0")
    with pytest.raises(LabError, match="in no table, but not yet wiped"):
        covered(store, NAME)
    assert not store.runs.has_run(DEMO)
    reader.close()
    store.erasure.wipe()
    assert_gone(store, NAME)
