"""The editor of a sheet without a screen: keys of every kind of question, drafts, details, undo, clashes, a kill."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from lab.core.run.screen_clock import Clock
from lab.core.study.label import NO_DETAILS, Act, AnswerDetails, Label
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Assignment, Study
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.rating.drafts import AnswerDraft
from lab.studies.rating.rating_pace import Pace
from lab.studies.rating.rating_session import HandedIn, RatingSession
from lab.studies.rating.sheet_editor import SheetEditor
from store.store import Store
from store.studies.labels import insert_label
from tests.killing import ROOT
from tests.studies import R1, RATING, STATE, WHY, frozen, label, unit
from tests.studies import study as study_of

GUIDE = {"en": "Look closely.\nA note says why."}
ONE = unit(targets=())
Q = FieldReference("", "q")
OPEN, PAY, RATE = FieldReference("open", "state"), FieldReference("pay", "state"), FieldReference("", "rating")


def options(count: int) -> tuple[Option, ...]:
    return tuple(Option(f"o{n}") for n in range(1, count + 1))


def question(kind: str, **more: Any) -> Field:
    return Field("q", "What?", kind, **more)  # type: ignore[arg-type]


def asking(*fields: Field, **more: Any) -> Protocol:
    """A protocol that asks these of the unit."""
    return Protocol("p", "P", "run", fields, guide=GUIDE, **more)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def session_of(store: Store, study: Study) -> RatingSession:
    session = RatingSession(store, study, R1)
    assignment = session.next_assignment() or session.to_settle()
    assert assignment is not None
    session.open(assignment)
    return session


def editor_of(store: Store, study: Study) -> SheetEditor:
    clock = Clock()
    return SheetEditor(session_of(store, study), clock, Pace(clock))


def edited(store: Store, *fields: Field, **more: Any) -> SheetEditor:
    """The editor of a sheet with these questions about one unit."""
    return editor_of(store, frozen(store, [ONE], asking(*fields, **more)))


def dealt(store: Store, protocol: Protocol, *, prelabel: str = "", swap: bool = False) -> Study:
    """A study of one unit, dealt to R1 with sides swapped or with a judge's answers beside it."""
    plan = study_of([ONE], protocol, raters=("R1",), prelabel=prelabel)
    store.studies.freeze(plan, [ONE])
    store.studies.deal(plan, [Assignment(plan.id, 1, "R1", 0, ONE.id, swap=swap, prelabel=bool(prelabel))])
    return plan


def nodes(store: Store) -> SheetEditor:
    """The editor of a sheet with two targets, each with a state and an optional reason, and a rating of the whole."""
    return editor_of(
        store, frozen(store, [unit()], Protocol("n", "N", "run", (STATE, WHY, RATING), "tdg nodes", guide=GUIDE))
    )


def press(editor: SheetEditor, keys: Sequence[str]) -> Any:
    """Digits, letters and `enter`; `"words` is typed into the open line. Return the last effect."""
    effect: Any = ""
    for key in keys:
        if key == "enter" and editor.line is not None:
            effect = editor.end_line()
        elif key == "enter":
            effect = editor.press_enter()
        elif key.startswith('"'):
            assert editor.line is not None
            editor.line.text, editor.line.begun, editor.line.first_key_at = key[1:], True, now()
        elif key.isdigit():
            effect = editor.press_digit(int(key))
        else:
            effect = editor.press_letter(key)
    return effect


def stored(editor: SheetEditor, spot: FieldReference = Q) -> Label | None:
    """The current label at a place, read anew from the file by another connection."""
    session = editor.session
    assert session.unit is not None
    with Store.open(session.store.database.path) as other:
        return other.labels.sheet(session.study, session.unit, "R1").head(spot)


def answer(editor: SheetEditor, spot: FieldReference = Q) -> Label:
    """The current label at a place, which is there."""
    found = stored(editor, spot)
    assert found is not None
    return found


ORDINAL = (Option("1", key="1"), Option("2", key="2"), Option("3", key="3"))
EACH_KIND = {
    "one of two": (question("nominal", options=(Option("yes", key="1"), Option("no", key="2"))), "2", "no"),
    "one by its letter": (question("nominal", options=(Option("yes", key="y"), Option("no", key="n"))), "n", "no"),
    "one of twelve": (question("nominal", options=options(12)), "11", "o11"),
    "one of twelve, one digit and Enter": (question("nominal", options=options(12)), ["3", "enter"], "o3"),
    "a degree": (question("ordinal", options=ORDINAL), "3", "3"),
    "several": (question("many", options=options(3)), ["3", "1", "enter"], ["o1", "o3"]),
    "several, one taken away": (question("many", options=options(3)), ["3", "1", "3", "enter"], ["o1"]),
    "none of several": (question("many", options=options(3)), ["1", "4", "enter"], []),
    "a scale": (question("interval", least=0, most=100, step=1), "85", 85),
    "a scale, one digit and Enter": (question("interval", least=0, most=100, step=1), ["7", "enter"], 7),
    "the top of a scale": (question("interval", least=0, most=100, step=1), "100", 100),
    "hundredths": (question("interval", least=0, most=1, step=0.01), "29", 0.29),
    "a number": (question("interval"), ["3", '"3.5', "enter"], 3.5),
    "a flag": (question("flag"), "2", False),
    "words": (question("text"), ["enter", '"  in two\nlines ', "enter"], "in two\nlines"),
    "the step shown": (question("step"), ["enter"], 2),
    "a step by its number": (question("step"), ["1", '"12', "enter"], 12),
    "a box": (question("box"), ["1", '"1, 2, 30, 40', "enter"], [1, 2, 30, 40]),
}


@pytest.mark.parametrize("name", EACH_KIND)
def test_keys_of_each_kind_of_question_store_its_value(store: Store, name: str) -> None:
    field, keys, value = EACH_KIND[name]
    editor = edited(store, field)
    editor.place = "run-u1@2"
    effect = press(editor, keys)
    row = stored(editor)
    assert isinstance(effect, Label)
    assert row is not None
    assert (row.id, row.value) == (effect.id, value)
    assert type(row.value) is type(value)
    assert editor.item is None, "the next line hands in"
    assert (editor.problem, editor.drafts, editor.line) == ("", {}, None)
    assert isinstance(press(editor, ["enter"]), HandedIn)
    assert press(editor, ["enter"]) == "settled"


WRONG = {
    "no such option": (question("nominal", options=options(2)), "7", "There is no answer 7 here."),
    "off the scale": (question("interval", least=1, most=5, step=1), "9", "9 is not on this scale."),
    "no number": (question("interval"), ["enter", '"much', "enter"], "'much' is no number."),
    "no step": (question("step"), ["5", '"last', "enter"], "'last' is no step: a whole number from 1 on."),
    "no box": (question("box"), ["5", '"5, 6', "enter"], "'5, 6' is no box: left, top, right, bottom in pixels."),
    "a box the wrong way round": (question("box"), ["5", '"5, 6, 1, 1', "enter"], "wrong way round"),
    "nothing typed": (question("text"), ["enter", '"  ', "enter"], "nothing was typed."),
    "too few": (question("many", options=options(3), least=2), ["1", "enter"], "2"),
    "too many": (question("many", options=options(3), most=1), ["1", "2", "enter"], "1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_answer_is_said_and_stores_nothing(store: Store, name: str) -> None:
    field, keys, words = WRONG[name]
    editor = edited(store, field)
    item = editor.item
    assert press(editor, keys) == ""
    assert words in editor.problem
    assert (editor.item, stored(editor)) == (item, None)


@pytest.mark.parametrize(
    ("field", "digit", "effect"),
    [
        (question("nominal", options=options(2)), 0, "menu"),
        (question("text"), 0, "menu"),
        (question("nominal", options=options(2)), "enter", "open"),
        (question("box"), "enter", "menu"),
    ],
)
def test_keys_that_are_no_answer_ask_for_the_menu_or_a_hint(
    store: Store, field: Field, digit: int | str, effect: str
) -> None:
    editor = edited(store, field)
    assert press(editor, [str(digit)]) == effect
    assert stored(editor) is None


def test_sides_that_are_swapped_are_answered_as_they_are_shown(store: Store) -> None:
    field = question("nominal", options=(Option("A", key="1"), Option("B", key="2")), sided=True)
    editor = editor_of(store, dealt(store, asking(field), swap=True))
    press(editor, "1")
    row = answer(editor)
    assert row.value == "B"


def test_an_order_that_the_protocol_asks_for_is_kept(store: Store) -> None:
    first, second = question("nominal", options=options(3)), Field("r", "Then?", "nominal", options(3), after="q")
    editor = edited(store, first, second)
    press(editor, "2")
    assert press(editor, "1") == ""
    assert "goes before" in editor.problem
    assert stored(editor, FieldReference("", "r")) is None
    assert isinstance(press(editor, "3"), Label)


# -- details ---------------------------------------------------------------------------------------------------

YES_NO = question("nominal", options=(Option("yes", key="1"), Option("no", key="2")))
ALL = AnswerDetails(0.75, "run-u1@3", (1, 2, 3, 4), "because", "§2")


def give_details(editor: SheetEditor) -> None:
    editor.change_details(confidence=0.75)
    editor.take_region("run-u1@3", (1, 2, 3, 4), answers=False)
    editor.type_note()
    press(editor, ['"because', "enter"])
    editor.type_cite()
    press(editor, ['"2', "enter"])


def test_details_given_before_or_after_an_answer_are_in_its_row_and_pass_to_the_next(store: Store) -> None:
    editor = edited(store, YES_NO)
    give_details(editor)
    assert (stored(editor), editor.details) == (None, ALL)
    press(editor, "1")
    before = answer(editor)
    assert (before.value, before.details) == ("yes", ALL)
    editor.go(Q)
    press(editor, "2")
    again = answer(editor)
    assert (again.value, again.details, again.supersedes) == ("no", ALL, before.id)

    editor.go(Q)
    editor.place = "run-u1@9"
    assert isinstance(editor.cite_shown_step(), Label)
    editor.type_cite()
    assert editor.line is not None
    assert editor.line.text == "2"
    press(editor, ['"', "enter"])
    after = answer(editor)
    assert (after.value, after.details) == ("no", AnswerDetails(0.75, "run-u1@9", None, "because"))
    assert editor.drafts == {}


def test_details_given_after_an_answer_are_as_those_before(store: Store) -> None:
    editor = edited(store, YES_NO)
    press(editor, "1")
    editor.go(Q)
    give_details(editor)
    row = answer(editor)
    assert (row.value, row.details, editor.drafts) == ("yes", ALL, {})


def test_an_answer_rests_on_the_step_shown_if_its_field_asks_for_one(store: Store) -> None:
    editor = edited(store, question("nominal", options=YES_NO.options, evidence=True))
    editor.place = "run-u1@4"
    press(editor, "1")
    row = answer(editor)
    assert row.evidence == "run-u1@4"
    editor.go(Q)
    editor.give_missing("cannot_judge")
    skipped = answer(editor)
    assert (skipped.value, skipped.reason_missing, skipped.evidence) == (None, "cannot_judge", "run-u1@4")


def test_a_box_that_was_drawn_is_the_answer_and_its_step_the_evidence(store: Store) -> None:
    editor = edited(store, question("box"))
    assert isinstance(editor.take_region("run-u1@3", (1, 2, 3, 4), answers=True), Label)
    row = answer(editor)
    assert (row.value, row.details) == ([1, 2, 3, 4], AnswerDetails(evidence="run-u1@3"))


def test_a_line_of_the_guide_that_is_not_there_is_refused(store: Store) -> None:
    editor = edited(store, YES_NO)
    editor.type_cite()
    press(editor, ['"3', "enter"])
    assert editor.problem == "The guide has lines 1 to 2."
    assert editor.line is not None
    editor.leave_line()
    assert editor.problem == ""
    assert editor.line is None


def test_details_that_are_still_being_typed_go_with_an_option_that_is_clicked(store: Store) -> None:
    editor = edited(store, YES_NO)
    editor.type_cite()
    press(editor, ['"2'])
    editor.leave_line()
    editor.type_note()
    press(editor, ['"because'])
    assert isinstance(editor.press_option("1"), Label)
    assert answer(editor).details == AnswerDetails(note="because", cites="§2")
    assert editor.line is None


def test_a_flag_is_raised_and_taken_back_beside_the_answer(store: Store) -> None:
    flag = Field("seen", "Seen before?", "flag", required=False, key="9")
    editor = edited(store, YES_NO, flag)
    item = editor.item
    for value in (True, False):
        press(editor, "9")
        row = stored(editor, FieldReference("", "seen"))
        assert row is not None
        assert row.value is value
        assert (editor.item, stored(editor)) == (item, None)


# -- where to go, undo -----------------------------------------------------------------------------------------


def test_each_open_item_comes_next_and_an_optional_one_once(store: Store) -> None:
    editor = nodes(store)
    assert editor.entry.spot == OPEN
    press(editor, "2")
    assert editor.entry.spot == FieldReference("open", "why"), "it is asked after this answer"
    press(editor, ["enter", '"', "enter"])
    assert editor.entry.spot == PAY
    editor.go(None)
    assert press(editor, ["enter"]) == ""
    assert (editor.entry.spot, editor.problem) == (PAY, "2 open: answer or skip them first.")
    press(editor, "1")
    assert editor.entry.spot == RATE
    press(editor, "100")
    assert editor.entry.spot is None, "the optional one was passed by"
    assert isinstance(press(editor, ["enter"]), HandedIn)


def test_enter_right_after_a_digit_confirms_it_and_nothing_else(store: Store) -> None:
    editor = nodes(store)
    press(editor, "1")
    assert press(editor, ["enter"]) == ""
    assert (editor.entry.spot, editor.problem) == (PAY, "The item before is kept; this one is open.")
    assert press(editor, ["enter"]) == "open"


def test_undo_takes_back_answer_after_answer_and_goes_there(store: Store) -> None:
    editor = nodes(store)
    press(editor, "1")
    press(editor, "1")
    editor.go(OPEN)
    press(editor, "2")
    assert isinstance(editor.undo(), Label)
    row = answer(editor, OPEN)
    assert (editor.entry.spot, row.value) == (OPEN, "completed")
    editor.undo()
    assert (editor.entry.spot, stored(editor, PAY)) == (PAY, None)
    editor.undo()
    assert (editor.entry.spot, stored(editor, OPEN)) == (OPEN, None)
    assert editor.undo() == "undo"
    assert len(editor.sheet.rows) == 6, "nothing is deleted"


def test_the_times_of_an_answer_are_in_its_row(store: Store) -> None:
    class Slow(Clock):
        at = 0.0

        def seconds(self) -> float:
            return self.at

    clock = Slow()
    study = frozen(store, [ONE], asking(YES_NO))
    editor = SheetEditor(session_of(store, study), clock, Pace(clock))
    shown = editor.entry.shown_at
    clock.at = 100.0  # 60 seconds of silence are reading, the rest is away
    editor.press_digit(1, composed=True)
    row = answer(editor)
    assert (row.shown_at, row.first_key_at, row.idle_ms) == (shown, None, 40_000.0)
    editor.go(Q)
    editor.press_digit(2)
    row = answer(editor)
    assert row.first_key_at is not None
    assert row.shown_at is not None
    assert shown is not None
    assert shown < row.shown_at <= row.first_key_at


# -- drafts ----------------------------------------------------------------------------------------------------

MANY, WORDS, SCALE = (
    Field("m", "Which?", "many", options(3)),
    Field("t", "Why?", "text"),
    Field("n", "How much?", "interval", least=0, most=100, step=1),
)


def begin_everything(editor: SheetEditor) -> None:
    """Begin each item, and end none."""
    press(editor, "31")
    editor.go(FieldReference("", "t"))
    press(editor, ["enter", '"half a sen'])
    editor.go(FieldReference("", "n"))
    press(editor, "1")
    give_details(editor)
    editor.place = "run-u1@7"
    editor.store_position()


def check_everything(editor: SheetEditor) -> None:
    """Find each item as it was left, and end it."""
    assert (editor.entry.spot, editor.entry.digits, editor.details) == (FieldReference("", "n"), "1", ALL)
    assert editor.last_place == "run-u1@7"
    press(editor, "00")
    row = answer(editor, FieldReference("", "n"))
    assert (row.value, row.details) == (100, ALL)
    assert (editor.entry.spot, editor.selection) == (FieldReference("", "m"), ["o1", "o3"])
    press(editor, ["enter"])
    assert editor.draft == AnswerDraft(text="half a sen")
    press(editor, ["enter"])
    assert editor.line is not None
    assert editor.line.text == "half a sen"
    press(editor, ['"half a sentence', "enter"])
    row = answer(editor, FieldReference("", "t"))
    assert (row.value, row.details) == ("half a sentence", NO_DETAILS)
    assert editor.drafts == {}
    assert isinstance(press(editor, ["enter"]), HandedIn)


def test_what_is_begun_stays_a_draft_when_its_item_is_left(store: Store) -> None:
    editor = edited(store, MANY, WORDS, SCALE)
    begin_everything(editor)
    editor.go(FieldReference("", "m"))
    assert editor.sheet.rows == []
    editor.go(FieldReference("", "n"))
    editor.last_place = "run-u1@7"
    check_everything(editor)


_KILLED = """
import os, signal, sys
from pathlib import Path
from store.store import Store
from tests.lab.studies.rating.test_sheet_editor import begin_everything, editor_of
with Store.open(Path(sys.argv[1])) as store:
    begin_everything(editor_of(store, store.studies.study("trial")))
    assert "textual" not in sys.modules
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_is_begun_is_there_again_after_a_kill(tmp_path: Path) -> None:
    db = tmp_path / "lab.db"
    with Store.open(db) as store:
        frozen(store, [ONE], asking(MANY, WORDS, SCALE))
    done = subprocess.run([sys.executable, "-c", _KILLED, str(db)], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    with Store.open(db) as store:
        check_everything(editor_of(store, store.studies.study("trial")))


def test_drafts_of_an_earlier_version_are_read_and_nothing_is_stored_twice(store: Store) -> None:
    study = frozen(store, [ONE], asking(MANY, WORDS, SCALE))
    session = session_of(store, study)
    rows = [
        ["", "m", "set", "o1,o3"], ["", "t", "answer", "half a sen"], ["", "n", "answer", "1"],
        ["", "n", "confidence", "0.75"], ["", "n", "evidence", "run-u1@3"], ["", "n", "region", "1,2,3,4"],
        ["", "n", "note", "because"], ["", "n", "cites", "§2"],
    ]  # fmt: skip
    session.act("looked", "u1", {"item": ["", "n"], "place": "run-u1@7", "drafts": rows, "times": []})
    editor = editor_of(store, study)
    editor.place = editor.last_place
    looks = store.labels.count_acts(study, "R1", "looked")
    editor.store_position()
    assert store.labels.count_acts(study, "R1", "looked") == looks
    editor.store_position(leaving=True)
    written = [act for act in store.labels.acts(study, "R1") if act.act == "looked"][-1].detail["drafts"]
    assert sorted(written) == sorted(rows)
    check_everything(editor)


def test_typed_text_that_was_given_is_no_draft_any_more(store: Store) -> None:
    editor = edited(store, WORDS, SCALE)
    press(editor, ["enter", '"a word', "enter"])
    assert (editor.entry.spot, editor.drafts) == (FieldReference("", "n"), {})


# -- clashes, other windows ------------------------------------------------------------------------------------


def clashing(store: Store, *values: Any, hand_in: bool = False, **more: Any) -> tuple[SheetEditor, list[Label]]:
    """The editor of a sheet on which these labels clash, as a merge leaves them."""
    study = frozen(store, [ONE], asking(YES_NO, SCALE), **more)
    one = store.studies.unit(study, "u1")
    labels = [label(study, one, "", "q", value, note=f"note {n}") for n, value in enumerate(values)]
    if hand_in:
        labels.append(label(study, one, "", "n", 5))
    with store.database.writing() as db:
        for row in labels:
            insert_label(db, row)
    if hand_in:
        store.labels.record_act(Act(uuid7(), study.id, study.version, R1, "commit", now(), "u1"))
    return editor_of(store, study), labels


def test_a_clash_comes_first_and_a_digit_settles_it_with_its_details(store: Store) -> None:
    editor, (first, second) = clashing(store, "yes", "no")
    assert (editor.entry.spot, editor.clash) == (Q, [first, second])
    assert press(editor, ["enter"]) == "menu"
    assert editor.change_details(note="mine") == ""
    assert "2" in editor.problem
    press(editor, "1")
    row = answer(editor)
    assert (row.value, row.note, set(row.replaces)) == ("yes", "note 0", {first.id, second.id})
    assert (editor.entry.spot, editor.clash) == (FieldReference("", "n"), [])


def test_another_value_settles_a_clash_and_inherits_from_neither(store: Store) -> None:
    editor, _ = clashing(store, "yes", "no")
    editor.give_missing("skipped")
    row = answer(editor)
    assert (row.reason_missing, row.details) == ("skipped", NO_DETAILS)


def test_a_clash_on_a_handed_in_sheet_is_settled_by_one_of_its_answers_only(store: Store) -> None:
    editor, (first, _, _) = clashing(store, "yes", "no", hand_in=True)
    assert editor.give_missing("skipped") == ""
    assert "settled on" in editor.problem
    assert isinstance(editor.settle(first), Label)
    assert (editor.sheet.clashes, editor.sheet.committed) == ({}, True)


def test_what_another_window_answered_is_taken_up_and_nothing_typed_is_lost(store: Store) -> None:
    study = frozen(store, [ONE], asking(YES_NO, SCALE))
    editor, other = editor_of(store, study), editor_of(store, study)
    press(editor, "1")
    editor.go(Q)
    press(other, "1")
    assert press(editor, ["enter"]) == "", "answered already"
    editor.go(Q)
    other.load_other_window()
    other.go(Q)
    press(other, "2")
    editor.type_note()
    press(editor, ['"mine', "enter"])
    assert editor.problem.strip()
    assert editor.draft.details.note == "mine", "the text stays to be given once more"
    row = answer(editor)
    assert (row.value, row.note) == ("no", "")
    press(editor, "2")
    row = answer(editor)
    assert (row.value, row.note) == ("no", "mine")


def test_a_sheet_that_another_window_handed_in_is_shown_so(store: Store) -> None:
    study = frozen(store, [ONE], asking(YES_NO))
    editor, other = editor_of(store, study), editor_of(store, study)
    editor.type_note()
    press(other, ["1", "enter"])
    assert editor.load_other_window()
    assert (editor.item, editor.line, editor.sheet.committed) == (None, None, True)
    assert not editor.load_other_window()
    assert press(editor, ["enter"]) == "settled"


def test_a_refused_answer_stores_nothing_and_says_why(store: Store) -> None:
    editor = edited(store, YES_NO)
    study = editor.session.study
    store.labels.record_act(Act(uuid7(), study.id, study.version, Actor("human", "D1"), "locked", now()))
    assert press(editor, "1") == ""
    assert "locked" in editor.problem
    assert (stored(editor), editor.entry.spot) == (None, Q)


# -- a judge's answer first ------------------------------------------------------------------------------------


def test_a_judge_s_answer_that_is_shown_is_accepted_by_a_key(store: Store) -> None:
    judge = Actor("model", "judge-1")
    study = dealt(store, asking(YES_NO, SCALE), prelabel=judge.id)
    store.labels.record(study, ONE, label(study, ONE, "", "q", "no", rater=judge))
    editor = editor_of(store, study)
    assert editor.prelabel is not None
    assert isinstance(editor.accept_prelabel(), Label)
    row = answer(editor)
    assert (row.value, row.rater) == ("no", R1)
    assert editor.prelabel is None
    assert editor.accept_prelabel() == ""
