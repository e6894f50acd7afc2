"""What stands in the calendar of a phone that nobody has touched: all of it invented.

A line is: weeks from this one, weekday (0: Monday), start, end (both empty: the whole day), title, place, guests,
who invited, and what was answered (`open`, `accepted`, `declined`; empty for one's own).
"""

from __future__ import annotations

LINES: tuple[tuple[int, int, str, str, str, str, tuple[str, ...], str, str], ...] = (
    (-1, 2, "14:00", "15:00", "Beamline proposal", "Room 4.12", ("Noor Haddad", "Dr. Okafor"), "", ""),
    (-1, 4, "15:00", "16:30", "组会", "二楼会议室", ("林小雨", "Noor Haddad"), "陈伟", "accepted"),
    (0, 0, "09:30", "10:00", "Plan the week", "", (), "", ""),
    (0, 1, "11:00", "11:45", "Films with Noor", "X-ray bench", ("Noor Haddad",), "", ""),
    (0, 1, "17:30", "18:30", "Chinese class", "Library, room 3", (), "", ""),
    (0, 2, "11:00", "12:00", "Safety training", "Lecture hall 2", (), "Priya Raman", "open"),
    (0, 3, "10:00", "11:30", "Annealing oven", "Room 4.07", (), "", ""),
    (0, 3, "11:00", "12:00", "Budget talk", "Dr. Okafor's office", ("Priya Raman",), "Dr. Okafor", "open"),
    (0, 4, "15:00", "16:30", "组会", "二楼会议室", ("林小雨", "Noor Haddad"), "陈伟", "accepted"),
    (0, 4, "16:00", "16:45", "Call with Tomas", "", ("Tomas Brandt",), "", ""),
    (0, 5, "09:00", "11:30", "Climbing", "North Wall", ("Jonas Weil",), "", ""),
    (1, 0, "", "", "Mamá's birthday", "", (), "", ""),
    (1, 1, "14:00", "15:00", "Poster review", "Room 4.12", ("林小雨",), "林小雨", "accepted"),
    (1, 3, "09:00", "10:00", "Vendor visit", "Foyer", (), "Priya Raman", "declined"),
    (1, 4, "15:00", "16:30", "组会", "二楼会议室", ("林小雨", "Noor Haddad"), "陈伟", "open"),
    (2, 1, "16:30", "17:00", "Check-up", "Quayside Dental", (), "", ""),
)
