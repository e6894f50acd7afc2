"""What an act's instruction is suggested to be: from the tree, in the words that stand there, never a password's."""

from __future__ import annotations

import pytest

from lab.core.run.step import Action
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.task.instruction_wording import focused_field, name_at, suggest_instruction, tappable
from simulators.phone import shots
from simulators.phone.shots import phone_at

ROW = Node(
    Bounds(0, 300, 540, 420),
    cls="android.widget.FrameLayout",
    clickable=True,
    children=(Node(Bounds(10, 310, 60, 360), "N"), Node(Bounds(80, 310, 400, 360), "Noor Haddad")),
)
CHATS = Node(Bounds(0, 200, 540, 900), id="a:id/chats", cls="a.RecyclerView", scrollable=True, children=(ROW,))
AMOUNT = Node(Bounds(0, 920, 400, 1000), "7", "Amount", cls="android.widget.EditText", focused=True)
SECRET = Node(Bounds(0, 920, 400, 1000), "*****", id="a:id/pass_word", cls="android.widget.EditText", password=True)
SEND = Node(Bounds(400, 920, 540, 1000), desc="Send", cls="android.widget.ImageButton", clickable=True)
WIFI = Node(
    Bounds(0, 100, 540, 180), desc="Wi-Fi", cls="android.widget.Switch", clickable=True, checkable=True, checked=True
)
BARE = Node(Bounds(0, 1100, 100, 1200), cls="android.view.View", clickable=True)
ROOT = Node(Bounds(0, 0, 540, 1200), cls="android.widget.FrameLayout")


def tree(*nodes: Node) -> UiTree:
    return UiTree((Node(ROOT.bounds, cls=ROOT.cls, children=nodes),))


SCREEN = tree(WIFI, CHATS, AMOUNT, SEND, BARE)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Action("click", at=(470, 950)), "Tap Send"),
        (Action("click", at=(200, 400)), "Tap Noor Haddad"),
        (Action("click", at=(20, 330)), "Tap Noor Haddad"),
        (Action("click", at=(10, 950)), "Tap the field Amount"),
        (Action("click", at=(10, 110)), "Turn off Wi-Fi"),
        (Action("click", at=(0, 0)), "Tap at 0, 0"),
        (Action("click", at=(20, 1150)), "Tap at 20, 1150"),
        (Action("double_tap", at=(470, 950)), "Double tap Send"),
        (Action("long_press", at=(200, 400)), "Hold Noor Haddad"),
        (Action("scroll", at=(200, 600), direction="down"), "Scroll down in the list of chats"),
        (Action("scroll", at=(200, 1050), direction="up"), "Scroll up"),
        (Action("drag", at=(500, 350), to=(100, 360)), "Swipe left on Noor Haddad"),
        (Action("drag", at=(200, 800), to=(210, 300)), "Swipe up in the list of chats"),
        (Action("drag", at=(470, 950), to=(20, 330)), "Drag Send to Noor Haddad"),
        (Action("drag", at=(20, 1050), to=(470, 950)), "Swipe right"),
        (Action("input_text", text="2"), "Type 2 in Amount"),
        (Action("input_text", text="two\nlines"), "Type two⏎lines in Amount"),
        (Action("open_app", app="Notes"), "Open Notes"),
        (Action("navigate_back"), "Go back"),
        (Action("navigate_home"), "Go to the home screen"),
        (Action("keyboard_enter"), "Press enter"),
        (Action("press_recent"), "Open the recent apps"),
        (Action("wait"), "Wait"),
        (Action("answer", text="At ten."), "Answer: At ten."),
        (Action("status", status="complete"), "Report that it is done"),
        (Action("status", status="infeasible", text="ambiguous"), "Report that this is impossible"),
    ],
)
def test_an_act_is_put_into_the_words_of_its_screen(action: Action, said: str) -> None:
    assert suggest_instruction(action, SCREEN) == said


def test_a_password_is_in_no_instruction() -> None:
    screen = tree(Node(**{**{f: getattr(SECRET, f) for f in SECRET.__struct_fields__}, "focused": True}))
    assert suggest_instruction(Action("input_text", text="hunter2"), screen) == "Type the password in pass word"
    assert focused_field(screen) is not None


def test_a_strangers_words_are_plain_and_short() -> None:
    hostile = Node(Bounds(0, 0, 540, 100), "\x1b[31m" + "long " * 50, cls="android.widget.Button", clickable=True)
    said = suggest_instruction(Action("click", at=(5, 5)), tree(hostile))
    assert "\x1b" not in said
    assert len(said) < 80


def test_nothing_is_tappable_where_something_else_is_reached() -> None:
    over = Node(Bounds(0, 300, 540, 420), "Over", cls="android.widget.Button", clickable=True)
    assert [name_at(tree(CHATS, over), node.bounds.center) for node in tappable(tree(CHATS, over))] == ["Over"]
    assert not tappable(UiTree())


@pytest.mark.parametrize("name", ["messages-thread", "notes", "settings-display", "food-chinese", "clock", "mail"])
def test_everything_on_the_phones_own_screens_has_words(name: str) -> None:
    _, app, screen, args = next(shot for shot in shots.SCREENS if shot[0] == name)
    shown = phone_at(app, screen, args).observe().tree
    nodes = tappable(shown)
    assert len(nodes) >= 4
    for node in nodes:
        said = suggest_instruction(Action("click", at=node.bounds.center), shown)
        assert said.startswith(("Tap ", "Turn "))
        assert "Tap at" not in said
