"""What uiautomator says, on this and that Android, becomes a tree or a reason why there is none."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from lab.core.run.ui_tree import UiTree
from lab.devices.adb.dump import Dumper
from tests.lab.devices.answering import answering

TRACES = Path(__file__).parents[3].parent / "shared" / "traces"
XML = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes" ?><hierarchy rotation="1">'
    '<node index="0" text="{}" class="android.widget.TextView" bounds="[0,0][10,10]" /></hierarchy>'
)
IDLE = b"ERROR: could not get idle state.\n"


def said(answer: bytes, command: str) -> bytes:
    return answer


def test_a_dump_to_the_terminal_is_read() -> None:
    dump = XML.format("Hi").encode() + b"UI hierchary dumped to: /dev/tty\n"
    tree = Dumper(answering(partial(said, dump))).tree()
    assert tree is not None
    assert [node.text for node in tree.nodes()] == ["Hi"]
    assert tree.rotation == 1


def test_where_the_terminal_takes_none_a_file_does_and_is_taken_away() -> None:
    asked: list[str] = []

    def answer(command: str) -> bytes:
        asked.append(command)
        if "/dev/tty" in command:
            return b"ERROR: cannot write\n"
        return b"UI hierchary dumped to: /x.xml\n" + XML.format("Hi").encode()

    dumper = Dumper(answering(answer))
    assert dumper.tree() is not None
    assert dumper.tree() is not None
    assert ["/dev/tty" in command for command in asked] == [True, False, False]
    assert all(command.split("rm -f ")[1] in command.split("; ")[0] for command in asked[1:])


def test_a_screen_that_never_rests_is_asked_again_and_then_has_no_tree() -> None:
    answers = [IDLE, XML.format("Hi").encode()]
    dumper = Dumper(answering(lambda command: answers.pop(0)))
    assert dumper.tree() is not None
    restless = Dumper(answering(lambda command: IDLE))
    assert restless.tree() is None
    assert "idle" in restless.missing


WINDOWS = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes" ?><displays><display id="0">'
    '<window index="0" title="bar" layer="2"><hierarchy rotation="0"><node text="08:50" bounds="[0,0][9,9]" />'
    '</hierarchy></window><window index="1" title="app" layer="0"><hierarchy rotation="0">'
    '<node text="App" bounds="[0,0][9,90]" /></hierarchy></window></display><display id="7"><window layer="1">'
    '<hierarchy rotation="0"><node text="car" bounds="[0,0][1,1]" /></hierarchy></window></display></displays>'
)
EMPTY = '<?xml version="1.0" encoding="UTF-8" standalone="yes" ?><displays><display id="0" /></displays>'


def test_all_windows_of_the_phones_own_display_are_told_lowest_first() -> None:
    tree = Dumper(answering(partial(said, WINDOWS.encode()))).tree()
    assert tree is not None
    assert [node.text for node in tree.nodes()] == ["App", "08:50"]


def test_where_windows_come_empty_the_active_one_is_asked_for() -> None:
    asked: list[str] = []

    def answer(command: str) -> bytes:
        asked.append(command)
        return (EMPTY if "--windows" in command else XML.format("Hi")).encode()

    dumper = Dumper(answering(answer))
    assert dumper.tree() is not None
    assert dumper.tree() is not None
    assert ["--windows" in command for command in asked] == [True, False, False]


@pytest.mark.parametrize(
    ("others", "texts"),
    [([WINDOWS, EMPTY, WINDOWS], ["App 08:50", "Hi", "App 08:50"]), ([EMPTY, WINDOWS], ["", "App 08:50"])],
)
def test_bars_and_keyboard_are_told_again_once_the_phone_is_unlocked_or_unfolded(
    others: list[str], texts: list[str]
) -> None:
    alone = XML.format("Hi") if texts[0] else "ERROR: null root node returned by UiTestAutomationBridge."

    def answer(command: str) -> bytes:
        return (others.pop(0) if "--windows" in command else alone).encode()

    dumper = Dumper(answering(answer))
    told = [dumper.tree(1) for _ in texts]
    assert [" ".join(node.text for node in tree.nodes()) if tree else "" for tree in told] == texts


@pytest.mark.parametrize("dump", [b"", b"Killed \n", b"<hierarchy><node></hierarchy>", b"\xff\xfe\0"])
def test_no_dump_is_no_tree(dump: bytes) -> None:
    dumper = Dumper(answering(partial(said, dump)))
    assert dumper.tree() is None
    assert dumper.missing


def test_an_emoji_in_two_references_is_one_character() -> None:
    tree = Dumper(answering(partial(said, XML.format("&#55357;&#56898; ok").encode()))).tree()
    assert tree is not None
    assert next(tree.nodes()).text == "🙂 ok"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("&#55357; hi", "\ufffd hi"), ("Chat &#0; hi", "Chat  hi"), ("\x0bhi\0", "hi"), ("a & b", "a & b")],
)
def test_what_xml_cannot_hold_does_not_lose_the_tree(text: str, shown: str) -> None:
    tree = Dumper(answering(partial(said, XML.format(text).encode()))).tree()
    assert tree is not None
    assert next(tree.nodes()).text == shown


@pytest.mark.skipif(not TRACES.is_dir(), reason="the recorded dumps are not here")
def test_no_recorded_dump_trips_the_reader() -> None:
    dumps = [*TRACES.glob("uiautomator_xml/**/*.xml"), *TRACES.glob("appagent/**/*.xml")]
    assert dumps
    for path in dumps:
        tree = UiTree.from_xml(path.read_bytes(), path.name)
        assert list(tree.nodes()), path.name
        assert Dumper(answering(partial(said, path.read_bytes()))).tree() is not None, path.name
