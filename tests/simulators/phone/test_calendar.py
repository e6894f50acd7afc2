"""Calendar: events written by taps and typing, invitations answered, clashes that say so, reminders that come."""

from __future__ import annotations

from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action
from simulators.phone.phone import Phone
from tests.simulators.phone.test_touch import app, front, labels, node, opened, tap, tap_id

EVENTS: list[dict[str, Any]] = [
    {"title": "Standup", "date": "2026-03-10", "start": "09:30", "end": "10:00", "place": "Deck"},
    {"title": "Sprint review", "date": "2026-03-12", "start": "14:00", "end": "15:00", "organiser": "Priya Raman",
     "answer": "open", "guests": ["Jonas Weil"]},
    {"title": "Dentist", "date": "2026-03-12", "start": "14:30", "end": "15:00"},
]  # fmt: skip


@pytest.fixture
def phone() -> Phone:
    phone = opened("Calendar")
    phone.lay({"apps": {"calendar": {"events": EVENTS}}})
    return phone


def events(phone: Phone) -> dict[str, dict[str, Any]]:
    return {event["title"]: event for event in app(phone, "calendar")["events"]}


def fill(phone: Phone, id: str, text: str) -> None:
    tap_id(phone, id)
    phone.perform(Action("input_text", text=text))
    phone.perform(Action("navigate_back"))


def set_time(phone: Phone, part: str, hour: str, minute: str) -> None:
    tap_id(phone, f"{part}_time")
    for name, value in (("hour", hour), ("minute", minute)):
        tap_id(phone, name)
        phone.perform(Action("input_text", text=value))
        phone.perform(Action("navigate_back"))
    tap(phone, "OK")


def test_an_event_is_written_by_its_form(phone: Phone) -> None:
    tap(phone, "New event")
    phone.perform(Action("input_text", text="Workshop"))
    phone.perform(Action("navigate_back"))
    tap(phone, "Date")
    tap(phone, "Next month")
    tap(phone, "Thursday, 2 April 2026")
    set_time(phone, "starts", "13", "30")
    assert "14:30" in labels(phone)
    set_time(phone, "ends", "16", "00")
    fill(phone, "event_place", "Room 3")
    tap(phone, "Guests")
    tap(phone, "Jonas Weil")
    tap(phone, "陈伟")
    tap(phone, "Done")
    tap(phone, "Reminder")
    tap(phone, "30 minutes before")
    tap(phone, "Save")
    assert app(phone, "calendar")["events"][-1] == {
        "title": "Workshop", "date": "2026-04-02", "start": "13:30", "end": "16:00", "all_day": False,
        "place": "Room 3", "guests": ["Jonas Weil", "陈伟"], "reminder": 30, "note": "", "organiser": "", "answer": "",
        "cancelled": False,
    }  # fmt: skip
    assert {"Workshop", "13:30 – 16:00 · Room 3"} <= labels(phone)


def test_an_end_before_the_start_is_not_saved(phone: Phone) -> None:
    tap(phone, "New event")
    phone.perform(Action("navigate_back"))
    set_time(phone, "ends", "7", "5")
    assert "It ends before it begins" in labels(phone)
    tap(phone, "Save")
    assert len(events(phone)) == 3
    set_time(phone, "starts", "44", "00")
    assert front(phone).endswith(".Time")


def test_an_event_is_changed_in_place_and_its_page_follows(phone: Phone) -> None:
    tap(phone, "Standup")
    tap(phone, "Edit event")
    fill(phone, "event_title", " (short)")
    set_time(phone, "starts", "9", "45")
    tap(phone, "Save")
    assert len(events(phone)) == 3
    changed = events(phone)["Standup (short)"]
    assert (changed["start"], changed["end"]) == ("09:45", "10:15")
    assert front(phone).endswith(".Event")
    assert "09:45 – 10:15" in labels(phone)


def test_an_event_is_deleted_after_a_question(phone: Phone) -> None:
    tap(phone, "Standup")
    tap(phone, "Delete event")
    tap(phone, "Cancel")
    assert "Standup" in events(phone)
    tap(phone, "Delete event")
    tap(phone, "Delete")
    assert "Standup" not in events(phone)
    assert "Nothing on this day" in labels(phone)


def test_what_clashes_says_so_until_it_is_declined(phone: Phone) -> None:
    tap(phone, "Thursday, 12 March 2026")
    assert {"Clashes with Dentist", "Clashes with Sprint review"} <= labels(phone)
    tap(phone, "Sprint review")
    assert "Not answered" in node(phone, "Invited you · Not answered").text
    tap(phone, "Decline")
    assert events(phone)["Sprint review"]["answer"] == "declined"
    phone.perform(Action("navigate_back"))
    assert "Declined" in labels(phone)
    assert not {"Clashes with Dentist", "Clashes with Sprint review"} & labels(phone)


def test_a_new_event_says_with_what_it_clashes_before_it_is_saved(phone: Phone) -> None:
    tap(phone, "Thursday, 12 March 2026")
    tap(phone, "New event")
    phone.perform(Action("navigate_back"))
    set_time(phone, "starts", "14", "15")
    assert {"Clashes with Dentist (14:30 – 15:00)", "Clashes with Sprint review (14:00 – 15:00)"} <= labels(phone)


def test_invitations_stand_above_the_agenda_and_are_answered(phone: Phone) -> None:
    tap(phone, "Agenda")
    tap(phone, "1 invitation to answer")
    tap(phone, "Sprint review")
    tap(phone, "Accept")
    assert events(phone)["Sprint review"]["answer"] == "accepted"
    assert node(phone, "Accept").selected
    phone.perform(Action("navigate_back"))
    assert "No invitations" in labels(phone)


def test_the_month_shows_other_days(phone: Phone) -> None:
    tap(phone, "Month")
    tap(phone, "Thursday, 12 March 2026")
    assert {"Dentist", "Sprint review"} <= labels(phone)
    tap(phone, "Previous month")
    assert "February 2026" in labels(phone)
    tap(phone, "Today")
    assert "Standup" in labels(phone)


def test_events_are_searched(phone: Phone) -> None:
    tap(phone, "Search events")
    fill(phone, "query", "jonas")
    assert "Sprint review" in labels(phone)
    assert "Standup" not in labels(phone)


def test_a_reminder_comes_and_leads_to_its_event(phone: Phone) -> None:
    phone.lay({"clock": "2026-03-10T09:19:30+08:00"})
    phone.perform(Action("navigate_home"))
    phone.perform(Action("wait", ms=60_000))
    note = phone.snapshot()["notifications"][-1]
    assert (note["title"], note["text"]) == ("Standup", "09:30 – 10:00, Deck")
    tap(phone, "Standup")
    assert front(phone) == "com.hitlab.calendar/.Event"
    assert "Deck" in labels(phone)


def test_what_is_declined_or_cancelled_reminds_nobody(phone: Phone) -> None:
    off = [EVENTS[0] | {"cancelled": True}, EVENTS[0] | {"title": "Planning", "answer": "declined", "organiser": "X"}]
    phone.lay({"clock": "2026-03-10T09:19:30+08:00", "apps": {"calendar": {"events": off}}})
    assert {"Cancelled", "Declined"} <= labels(phone)
    phone.perform(Action("wait", ms=3_600_000))
    assert phone.snapshot()["notifications"] == []


def test_a_meeting_can_be_staged_by_its_title_alone(phone: Phone) -> None:
    note = {"app": "calendar", "title": "Standup", "text": "in 10 minutes", "screen": "event", "heads_up": True}
    phone.lay({"notifications": [note | {"args": {"title": "Standup"}}]})
    tap(phone, "in 10 minutes")
    assert "09:30 – 10:00" in labels(phone)


@pytest.mark.parametrize("event", [{"title": "No day"}, {"date": "2026-03-10", "begins": "09:00"}])
def test_an_event_that_cannot_be_shown_is_refused(event: dict[str, Any]) -> None:
    with pytest.raises(LabError):
        Phone().lay({"apps": {"calendar": {"events": [event]}}})
