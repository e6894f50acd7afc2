"""What the rule agent reads of days, events, numbers, calls and volumes; and what the log settles of an event."""

from __future__ import annotations

from datetime import date

import pytest

from lab.agents.dates import Span, date_in, length_in, place_in, span_in
from lab.agents.doing import Seen
from lab.agents.facts import phone_in
from lab.agents.goals import Alarm, Fact, goals_in
from lab.agents.goals.levels import Level
from lab.agents.goals.mail import Mail
from lab.agents.goals.people import Call, SaveContact
from lab.agents.goals.planning import Event
from lab.agents.meetings import about_to_begin
from lab.agents.skills.usual_events import hour_in
from lab.agents.talk import Work
from lab.seams import Brief
from simulators.phone.phone import Phone

TODAY = date(2025, 5, 5)
"""A Monday."""


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Friday, 9 May, from 13:20", date(2025, 5, 9)),
        ("on May 9th at noon", date(2025, 5, 9)),
        ("on the 3rd of January", date(2026, 1, 3)),
        ("2025-06-01", date(2025, 6, 1)),
        ("tomorrow at nine", date(2025, 5, 6)),
        ("Put it in for Monday", date(2025, 5, 5)),
        ("next Thursday", date(2025, 5, 15)),
        ("Wed", date(2025, 5, 7)),
        ("周四下午", date(2025, 5, 8)),
        ("6月2日", date(2025, 6, 2)),
        ("31 February", None),
        ("soon", None),
    ],
)
def test_a_day_is_read(text: str, day: date | None) -> None:
    assert date_in(text, TODAY) == day


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("from 13:20 to 15:50 in the hall", Span(800, 950)),
        ("10:00 – 10:45 · Room 4.12", Span(600, 645)),
        ("Room 4.12, at 9:30", Span(570)),
        ("at 14:00 for 45 minutes", Span(840, 885)),
        ("starts 09:00, lunch is at 12:00", Span(540)),
        ("下午三点到四点", Span(900, 960)),
        ("some time", None),
    ],
)
def test_a_span_of_time_is_read(text: str, span: Span | None) -> None:
    assert span_in(text) == span


def test_lengths_and_places_are_read() -> None:
    assert [length_in(text) for text in ("an hour", "90 minutes", "half an hour", "long")] == [60, 90, 30, None]
    texts = ("on Monday in the Yellow Room.", "in May at Room 3", "at noon in Calendar", "在二楼会议室", "in time")
    assert [place_in(text) for text in texts] == ["Yellow Room", "Room 3", "", "", ""]


def test_the_number_of_what_is_meant_is_read() -> None:
    text = "The courier has 65550192 now, the baker +65 5555 0137."
    assert phone_in(text, "baker") == "+65 5555 0137"
    assert phone_in(text, "courier") == "65550192"
    assert phone_in("Room 12 at 10:30") is None


def test_an_event_is_read_from_a_line_of_the_log() -> None:
    when = "for Friday from 11:30 to 12:15, in the Den, with Ada Byron as guest"
    (goal,) = goals_in(f"At 16:22, he put 'Talk with Ada' into Calendar {when}.")
    assert isinstance(goal, Event)
    assert (goal.title, goal.start, goal.end, goal.lasts) == ("Talk with Ada", 690, 735, 45)
    assert (goal.place, goal.guests) == ("Den", ("Ada Byron",))
    assert not goal.definite


def test_an_event_is_read_from_an_instruction() -> None:
    (goal,) = goals_in("Put in the talk with Ada for Thursday, as usual.")
    assert isinstance(goal, Event)
    assert (goal.about, goal.start, date_in(goal.when, TODAY)) == ("talk with Ada", None, date(2025, 5, 8))
    (goal,) = goals_in("Put the course from the mail about 'First aid' into my calendar: its day and its room.")
    assert isinstance(goal, Event)
    assert goal.of == Fact("mail", "First aid", "event")
    (goal,) = goals_in("请把研讨会加到日历，6月2日下午三点到四点。")
    assert isinstance(goal, Event)
    assert (goal.about, goal.start, goal.end) == ("研讨会", 900, 960)


def test_what_of_an_event_is_to_be_passed_on_is_read_whole() -> None:
    (goal,) = goals_in("Mail Ada Byron the weekday, the time and the room of my 'First aid' event.")
    assert isinstance(goal, Mail)
    assert goal.facts == (Fact("event", "First aid", "weekday time place"),)


def test_saving_a_number_and_calling_it_are_two_goals() -> None:
    text = "Ada Byron wrote me the number of the baker. Save it as a new contact, 'Crumb & Co', and call it."
    save, call = goals_in(text)
    assert save == SaveContact("Crumb & Co", "", Fact("message", "Ada Byron", "phone baker"))
    assert call == Call("Crumb & Co")
    assert goals_in("Add +65 5555 0137 to my contacts as 'Baker'.") == (SaveContact("Baker", "+65 5555 0137"),)
    assert goals_in("At 09:10, he called Ada Byron about the fair.") == (Call("Ada Byron"),)


def test_an_alarm_that_is_called_something_is_no_call() -> None:
    assert goals_in("Set an alarm for 06:30 and call it 'Swim'.") == (Alarm(390, "Swim"),)
    assert goals_in("She declined the meeting, called 'Demo'.") == ()


def test_a_volume_is_read() -> None:
    line = "with the meeting about to begin, he turned on do not disturb and set the media volume to 0."
    assert goals_in(line)[-1] == Level("media volume", 0)
    assert goals_in("Mute the ring volume.") == (Level("ring volume", 0),)
    assert goals_in("把媒体音量调到3") == (Level("媒体音量", 3),)
    assert goals_in("Turn the volume up a little.") == ()


@pytest.mark.parametrize(
    ("reply", "minute"),
    [
        ("At 15:00, please", 900),
        ("at three", 900),
        ("half past ten", 630),
        ("08:30 is fine", 510),
        ("03:15", 195),
        ("?", None),
    ],
)
def test_an_hour_of_the_working_day_is_read(reply: str, minute: int | None) -> None:
    assert hour_in(reply) == minute


@pytest.mark.parametrize(
    ("title", "text", "seen"),
    [
        ("Round", "11:00 – 11:45, Den", "Round"),
        ("Round", "in 10 minutes", "Round"),
        ("Cancelled: Round", "11:00 – 11:45, Den", None),
        ("Round", "declined by Ada, 11:00", None),
        ("Round", "13:00 – 13:45, Den", None),
        ("Round", "09:00 – 09:45, Den", None),
    ],
)
def test_a_reminder_counts_when_its_meeting_takes_place_and_is_near(title: str, text: str, seen: str | None) -> None:
    phone = Phone(clock="2025-05-05T10:50:00+08:00")
    note = {"app": "calendar", "title": title, "text": text, "screen": "home", "heads_up": True}
    phone.lay({"notifications": [note]})
    brief = Brief(kind="proactive", time="2025-05-05T10:50:00+08:00")
    assert about_to_begin(Work(brief, Seen(phone.observe().tree))) == seen


def test_what_another_app_says_is_no_reminder() -> None:
    phone = Phone(clock="2025-05-05T10:50:00+08:00")
    phone.lay({"notifications": [{"app": "mail", "title": "Round", "text": "11:00, Den", "heads_up": True}]})
    brief = Brief(kind="proactive", time="2025-05-05T10:50:00+08:00")
    assert about_to_begin(Work(brief, Seen(phone.observe().tree))) is None
