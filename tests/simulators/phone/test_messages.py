"""Messages beyond writing: strangers, reporting and blocking, the spam folder, details, unread marks, deleting."""

from __future__ import annotations

from typing import Any

from lab.core.run.step import Action
from simulators.phone.phone import Phone
from tests.simulators.phone.test_touch import app, hold, labels, opened, tap

STRANGER, TEXT = "+65 5550 9914", "Your parcel is held. Pay the fee at parcel-fee.example/pay."


def scammed() -> Phone:
    """A phone on which a stranger's message has just come."""
    phone = Phone()
    kept = phone.snapshot()["apps"]["messages"]["threads"]
    thread = {"name": STRANGER, "number": STRANGER, "unread": 1, "messages": [{"from": STRANGER, "text": TEXT}]}
    note = {"app": "messages", "screen": "thread", "args": {"name": STRANGER}, "title": STRANGER, "text": TEXT}
    phone.lay({"apps": {"messages": {"threads": [*kept, thread]}}, "notifications": [note | {"heads_up": True}]})
    return phone


def messages(phone: Phone) -> Any:
    return app(phone, "messages")


def test_a_stranger_is_reported_blocked_and_let_back() -> None:
    phone = scammed()
    tap(phone, TEXT)
    assert "This sender is not in your contacts." in labels(phone)
    tap(phone, "Report spam")
    tap(phone, "Block")
    own = messages(phone)
    assert [entry["number"] for entry in own["blocked"]] == [STRANGER]
    assert [entry["name"] for entry in own["reports"]] == [STRANGER]
    assert STRANGER not in labels(phone)
    tap(phone, "More options")
    assert "1 chat" in labels(phone)
    tap(phone, "Spam and blocked")
    tap(phone, STRANGER)
    assert "You blocked this sender." in labels(phone)
    assert not phone.current_screen().tree.find(cls="EditText")
    tap(phone, "Unblock")
    assert messages(phone)["blocked"] == []
    assert phone.current_screen().tree.find(cls="EditText")


def test_blocking_without_a_report() -> None:
    phone = opened("Messages")
    tap(phone, "Building desk")
    tap(phone, "More options")
    tap(phone, "Block and report")
    tap(phone, "Report as spam")
    tap(phone, "Block")
    assert [entry["name"] for entry in messages(phone)["blocked"]] == ["Building desk"]
    assert messages(phone)["reports"] == []


def test_a_blocked_sender_whose_chat_is_deleted_can_be_let_back() -> None:
    phone = opened("Messages")
    tap(phone, "Building desk")
    for label in ("More options", "Block and report", "Block", "More options", "Spam and blocked"):
        tap(phone, label)
    hold(phone, "Building desk")
    tap(phone, "Delete")
    tap(phone, "More options")
    tap(phone, "Spam and blocked")
    assert "Blocked, chat deleted" in labels(phone)
    tap(phone, "Unblock")
    assert messages(phone)["blocked"] == []


def test_a_link_opens_the_browser_which_remembers_it() -> None:
    phone = scammed()
    tap(phone, TEXT)
    tap(phone, "parcel-fee.example/pay")
    assert "This site cannot be reached" in labels(phone)
    assert app(phone, "browser")["history"][0]["url"] == "parcel-fee.example/pay"


def test_details_say_whom_the_phone_knows_and_mute() -> None:
    phone = opened("Messages")
    tap(phone, "Jonas Weil")
    tap(phone, "More options")
    tap(phone, "Details")
    assert {"+65 5550 7714", "In your contacts", "3 messages"} <= labels(phone)
    tap(phone, "Mute notifications")
    phone.perform(Action("navigate_back"))
    phone.perform(Action("navigate_back"))
    assert "Muted" in labels(phone)


def test_a_stranger_is_called_and_added_from_the_chat() -> None:
    phone = scammed()
    tap(phone, TEXT)
    tap(phone, "Add contact")
    assert app(phone, "contacts")["draft"]["number"] == STRANGER
    phone.perform(Action("open_app", app="Messages"))
    tap(phone, "More options")
    tap(phone, "Details")
    assert "Not in your contacts" in labels(phone)
    tap(phone, "Call")
    assert app(phone, "contacts")["call"]["number"] == STRANGER


def test_threads_are_marked_unread_read_and_deleted() -> None:
    phone = opened("Messages")
    tap(phone, "Mamá")
    tap(phone, "More options")
    tap(phone, "Mark as unread")
    assert next(t for t in messages(phone)["threads"] if t["name"] == "Mamá")["unread"] == 1
    tap(phone, "More options")
    tap(phone, "Mark all as read")
    assert not any(t["unread"] for t in messages(phone)["threads"])
    hold(phone, "Quayside Dental")
    tap(phone, "Delete")
    assert "Quayside Dental" not in labels(phone)
    tap(phone, "Mamá")
    tap(phone, "More options")
    tap(phone, "Delete chat")
    tap(phone, "Delete")
    assert "Mamá" not in {t["name"] for t in messages(phone)["threads"]}
