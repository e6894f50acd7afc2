"""Rookery: channels, threads, mentions, reactions, pins, muting and the owner's status."""

from __future__ import annotations

from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action
from simulators.phone.phone import Phone
from tests.simulators.phone.test_touch import app, hold, labels, opened, tap, tap_id


@pytest.fixture
def phone() -> Phone:
    phone = opened("Rookery")
    said = [{"from": "Emre", "text": "Where is the key?"}, {"from": "安娜", "text": "@Kim Doe 你有钥匙吗？"}]
    channels = [
        {"name": "hall", "topic": "Keys and lights", "members": ["Emre", "安娜"], "unread": 2, "messages": said},
        {"name": "lost", "joined": False},
        {"name": "安娜", "kind": "direct", "messages": [{"from": "安娜", "text": "Hello"}]},
    ]
    people = [{"name": "Emre", "title": "Porter"}, {"name": "安娜", "title": "Singer", "status": "Away"}]
    phone.lay({"apps": {"teamchat": {"me": "Kim Doe", "channels": channels, "people": people}}})
    return phone


def channel(phone: Phone, name: str) -> Any:
    return next(c for c in app(phone, "teamchat")["channels"] if c["name"] == name)


def write(phone: Phone, text: str) -> None:
    tap_id(phone, "message") if phone.snapshot()["focus"] is None else None
    phone.perform(Action("input_text", text=text))
    tap(phone, "Send", id="send")


def test_a_channel_is_read_and_written_to(phone: Phone) -> None:
    assert any(node.desc == "2 unread, mentions you" for node in phone.current_screen().tree.nodes())
    tap(phone, "hall")
    assert {"#hall", "3 members, Keys and lights", "New", "Where is the key?"} <= labels(phone)
    assert channel(phone, "hall")["unread"] == 0
    tap(phone, "Message hall")
    write(phone, "On the hook")
    assert channel(phone, "hall")["messages"][-1]["text"] == "On the hook"
    assert channel(phone, "hall")["messages"][-1]["from"] == "me"
    shown = [n.text for n in phone.current_screen().tree.nodes() if n.text]
    assert shown.index("New") < shown.index("Where is the key?")
    assert "On the hook" in labels(phone)


def test_a_name_that_was_begun_is_written_out(phone: Phone) -> None:
    tap(phone, "hall")
    tap(phone, "Message hall")
    phone.perform(Action("input_text", text="Thanks @em"))
    tap(phone, "@Emre")
    phone.perform(Action("input_text", text="!"))
    tap(phone, "Send", id="send")
    assert channel(phone, "hall")["messages"][-1]["text"] == "Thanks @Emre !"


def test_a_thread_takes_replies_and_the_channel_counts_them(phone: Phone) -> None:
    tap(phone, "hall")
    tap(phone, "Where is the key?")
    assert "No replies yet" in labels(phone)
    tap(phone, "Reply")
    write(phone, "With me")
    phone.perform(Action("navigate_back"))
    phone.perform(Action("navigate_back"))
    assert [r["text"] for r in channel(phone, "hall")["messages"][0]["replies"]] == ["With me"]
    tap(phone, "1 reply")
    hold(phone, "With me")
    tap(phone, "Delete message")
    tap(phone, "Delete")
    assert channel(phone, "hall")["messages"][0]["replies"] == []


def test_reactions_pins_and_unread_marks(phone: Phone) -> None:
    tap(phone, "hall")
    hold(phone, "Where is the key?")
    tap(phone, "Looking")
    assert channel(phone, "hall")["messages"][0]["reactions"] == [{"name": "eyes", "by": ["me"]}]
    tap(phone, "Looking, 1")
    assert channel(phone, "hall")["messages"][0]["reactions"] == []
    hold(phone, "Where is the key?")
    tap(phone, "Pin to channel")
    tap(phone, "Pinned messages")
    assert "Where is the key?" in labels(phone)
    phone.perform(Action("navigate_back"))
    hold(phone, "@Kim Doe 你有钥匙吗？")
    tap(phone, "Mark unread from here")
    assert channel(phone, "hall")["unread"] == 1


def test_muting_leaving_and_joining(phone: Phone) -> None:
    tap(phone, "hall")
    tap(phone, "Details")
    tap(phone, "Mute")
    assert channel(phone, "hall")["muted"]
    tap(phone, "Leave channel")
    tap(phone, "Leave")
    assert not channel(phone, "hall")["joined"]
    assert "hall" not in labels(phone)
    tap(phone, "Browse channels")
    tap(phone, "#lost")
    tap(phone, "Join channel")
    assert channel(phone, "lost")["joined"]


def test_mentions_lead_to_their_thread(phone: Phone) -> None:
    tap(phone, "Mentions")
    assert "#hall, Today" in labels(phone)
    tap(phone, "@Kim Doe 你有钥匙吗？")
    assert "Thread" in labels(phone)


def test_a_new_direct_message_begins_a_conversation(phone: Phone) -> None:
    tap(phone, "New message")
    tap(phone, "To: person or channel")
    phone.perform(Action("input_text", text="emr"))
    tap(phone, "Emre")
    write(phone, "Are you in?")
    assert channel(phone, "Emre")["kind"] == "direct"
    assert [m["text"] for m in channel(phone, "Emre")["messages"]] == ["Are you in?"]


def test_status_and_workspaces(phone: Phone) -> None:
    tap(phone, "You")
    tap(phone, "In a meeting")
    tap(phone, "What are you up to?")
    phone.perform(Action("input_text", text="Until three"))
    phone.perform(Action("navigate_back"))
    assert app(phone, "teamchat")["status"] == {"kind": "In a meeting", "text": "Until three"}
    tap(phone, "Home", id="tab")
    tap(phone, "Switch workspace")
    tap(phone, "Rope Team")
    assert app(phone, "teamchat")["workspace"] == "Rope Team"


def test_search_finds_words_in_threads_and_a_wrong_key_is_refused(phone: Phone) -> None:
    tap(phone, "Search channels, messages")
    phone.perform(Action("input_text", text="key"))
    assert "#hall, Today" in labels(phone)
    with pytest.raises(LabError, match=r"channels\[0\].messages\[0\].by"):
        phone.lay({"apps": {"teamchat": {"channels": [{"name": "x", "messages": [{"by": "me"}]}]}}})
