"""What is typed into a password field is done, and nowhere kept."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from lab.core.redaction.password_redaction import HIDDEN, typed_password, without_password_texts, without_passwords
from lab.core.run.step import Action, Decision, Prompt, Proposed
from lab.core.run.trace import Acting, Step
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.seams import Screen, TaskBrief
from lab.core.task.task import Actor, Task
from lab.runs.session import Session
from lab.runs.spec import Spec
from simulators.phone.phone import Phone
from store.store import Store

WORD = "hunter2-Kolibri"
FIELD = Node(Bounds(0, 100, 500, 200), cls="android.widget.EditText", focused=True, password=True, text=WORD)
NAME = Node(Bounds(0, 0, 500, 100), cls="android.widget.EditText", text="ines")
LOGIN = UiTree((Node(Bounds(0, 0, 1080, 2400), children=(NAME, FIELD)),))
BY = Actor("script", "x")


def test_a_secret_is_what_goes_into_the_password_field_and_nothing_else() -> None:
    assert typed_password(Action("input_text", text=WORD), LOGIN) == WORD
    assert typed_password(Action("input_text", at=(10, 150), text=WORD), LOGIN) == WORD
    assert typed_password(Action("input_text", at=(10, 50), text="ines"), LOGIN) == ""
    assert typed_password(Action("answer", text=WORD), LOGIN) == ""
    assert typed_password(None, LOGIN) == ""


def test_a_proposal_is_kept_without_it_wherever_it_stands() -> None:
    action = Action("input_text", text=WORD)
    proposed = Proposed(
        action, thought=f"I type {WORD}.", prompt=Prompt(f"key {WORD}"), raw=f'{{"text": "{WORD}"}}', instruction=WORD
    )
    stored = without_passwords(proposed, Decision("approve", BY, action, note=f"it is {WORD}"), LOGIN)
    assert WORD not in repr(stored)
    assert stored[0].action == Action("input_text", text="", raw=HIDDEN)
    assert stored[0].thought == f"I type {HIDDEN}."
    other = Proposed(Action("click", at=(1, 1)), thought=WORD)
    assert without_passwords(other, Decision("approve", BY, other.action), LOGIN)[0] is other


def test_where_no_field_has_the_cursor_any_password_field_may_take_it() -> None:
    elsewhere = UiTree((NAME, msgspec.structs.replace(FIELD, focused=False), Node(Bounds(0, 0, 9, 9), focused=True)))
    assert typed_password(Action("input_text", text=WORD), elsewhere) == WORD
    assert typed_password(Action("input_text", at=(900, 900), text=WORD), elsewhere) == WORD


def test_it_is_found_as_json_writes_it() -> None:
    word = 'a"b\\ü'
    action = Action("input_text", text=word)
    raws = [json.dumps({"text": word}, ensure_ascii=ascii) for ascii in (True, False)]
    for raw in raws:
        stored = without_passwords(Proposed(action, raw=raw), Decision("approve", BY, action), LOGIN)
        assert stored[0].raw == f'{{"text": "{HIDDEN}"}}'


def test_a_tree_is_kept_without_it() -> None:
    bare = without_password_texts(LOGIN)
    assert WORD not in repr(bare)
    assert [node.text for node in bare.nodes()] == ["", "ines", HIDDEN]
    assert without_password_texts(bare.__class__((NAME,))) == UiTree((NAME,))


class _Login(Phone):
    """A phone that shows a login, and remembers what reached it."""

    def __init__(self) -> None:
        super().__init__()
        self.typed: list[str | None] = []

    def observe(self) -> Screen:
        return super().observe()._replace(tree=LOGIN)

    def perform(self, action: Action) -> None:
        self.typed.append(action.text)


class _Typist:
    actor = Actor("script", "typist")

    def propose(self, brief: TaskBrief, screen: Screen, history: object) -> Proposed:
        done = Action("status", status="complete") if history else Action("input_text", text=WORD)
        return Proposed(done, thought=f"typing {WORD}" if not history else "")


def test_a_run_types_it_and_its_file_does_not_hold_it(tmp_path: Path) -> None:
    phone = _Login()
    with Store.open(tmp_path / "lab.db") as store:
        session = Session(store, Spec(Task("t", "general", instruction="log in")), agent=_Typist(), device=phone)
        session.start()
        assert session.join(180)
        events = list(store.runs.events(session.trace_id))
    assert phone.typed == [WORD]
    acting = next(event for event in events if isinstance(event, Acting))
    step = next(event for event in events if isinstance(event, Step))
    assert acting.action == step.action == Action("input_text", text="", raw=HIDDEN)
    for path in tmp_path.iterdir():
        assert WORD.encode() not in path.read_bytes()
