"""What a screen takes for the phone's newest tree: pictures come on a thread of their own, and may come late."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

from textual.message import Message
from textual.message_pump import MessagePump

from lab.core.run.step import Action, Proposed
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.seams import Frame, Screen
from lab.runs.session import Session
from screens.live.session_messages import GatedActionChanged, SessionListener, TurnChanged

PROPOSED = Proposed(Action("wait"))


def tree(text: str) -> UiTree:
    return UiTree((Node(Bounds(0, 0, 10, 10), text),))


class Phone:
    """Hands out pictures that it is given, one by one."""

    def __init__(self, *frames: Frame) -> None:
        self.coming = frames

    def frames(self, stop: threading.Event) -> Iterator[Frame]:
        yield from self.coming


class Heard(MessagePump):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[Message] = []

    def post_message(self, message: Message) -> bool:
        self.said.append(message)
        return True


def watched(*frames: Frame, gate: Screen | None = None) -> tuple[SessionListener, Heard]:
    """A watch of a session whose gate asks about an action on this screen."""
    session: Any = SimpleNamespace(device=Phone(*frames), gate=SimpleNamespace(screen=gate))
    heard = Heard()
    return SessionListener(cast("Session", session), heard), heard


def frame(text: str, at: float) -> Frame:
    return Frame(b"", (10, 10), tree(text), at, 0)


def test_a_picture_taken_before_a_turn_began_is_not_newer_than_what_the_turn_begins_with() -> None:
    before = time.monotonic()
    watch, heard = watched(frame("before", before), frame("also before", before))
    watch._post_screen(Screen(b"", (10, 10), tree("the turn's")))
    watch._feed(lambda frame: None)
    assert watch.tree == tree("the turn's")
    assert [type(message) for message in heard.said] == [TurnChanged]


def test_a_picture_taken_in_the_turn_is_newer_and_a_turn_without_a_tree_says_nothing_of_it() -> None:
    watch, _ = watched(frame("in it", time.monotonic() + 60))
    watch._post_screen(Screen(b"", (10, 10), tree("the turn's")))
    watch._feed(lambda frame: None)
    watch._post_screen(Screen(b"", (10, 10), UiTree()))
    watch._post_screen(None)
    assert watch.tree == tree("in it")


def test_an_action_is_described_by_the_screen_it_was_proposed_on() -> None:
    """The picture of that screen may not have come yet, and those taken before may come after."""
    watch, heard = watched(frame("before", time.monotonic()), gate=Screen(b"", (10, 10), tree("the action's")))
    watch._post_gated(PROPOSED)
    watch._feed(lambda frame: None)
    assert heard.said == [GatedActionChanged(PROPOSED)]
    assert watch.proposed_on == watch.tree == tree("the action's")
    cast("Any", watch.session.device).coming = (frame("since", time.monotonic() + 60),)
    watch._feed(lambda frame: None)
    assert (watch.proposed_on, watch.tree) == (tree("the action's"), tree("since"))


def test_where_that_screen_has_no_tree_it_is_described_by_the_newest() -> None:
    """As where words are read from pictures, after the agent has seen them."""
    watch, _ = watched(frame("read since", time.monotonic()), gate=Screen(b"", (10, 10), UiTree()))
    watch._post_gated(PROPOSED)
    watch._feed(lambda frame: None)
    assert watch.proposed_on == tree("read since")
