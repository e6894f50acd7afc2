"""The town of Maps, all invented: places with their hours, and bus lines.

A place is its name, kind, address, metres east and south, number, stars, hours and a line about it. Hours are spans of
days as `Mon-Fri 09:00-18:00`, separated by `;`. A place without any never closes. A line is its name, minutes between
two buses, first and last bus, and its stops.
"""

from __future__ import annotations

from typing import Any

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

PLACES: tuple[tuple[str, str, str, int, int, str, float, str, str], ...] = (
    ("Block 14 Heron Walk", "Home", "14 Heron Walk", 900, 3300, "", 0.0, "", "A tall house with a garden on its roof."),
    ("Institute of Soft Matter", "Research", "3 Lantern Road", 3900, 1250, "+65 5550 4000", 4.6,
     "Mon-Fri 07:00-21:00", "Seminars on Wednesdays. The desk is in the hall."),
    ("Canal Museum", "Museum", "1 Lock Street", 2500, 1950, "+65 5550 7300", 4.7,
     "Tue-Fri 10:00-18:00;Sat-Sun 10:00-17:00", "Boats, locks and lanterns in the old customs warehouse."),
    ("Canal Garden", "Park", "Canal Path, north gate", 1900, 2500, "", 4.8, "Mon-Sun 06:00-22:00",
     "Magnolias, benches, and a path along the water."),
    ("银湖公园", "Park", "银湖路 8 号", 3850, 650, "", 4.7, "Mon-Sun 05:30-22:30", "湖边步道六公里，南门有茶室。"),
    ("Foundry Climbing Hall", "Sport", "22 Old Foundry Lane", 3000, 3400, "+65 5550 2214", 4.5,
     "Mon-Fri 12:00-23:00;Sat-Sun 09:00-21:00", "Ropes, boulders, and good coffee."),
    ("Night Market", "Market", "Old Foundry Lane", 2750, 3700, "", 4.4, "Fri-Sun 18:00-23:30",
     "Sixty stalls under lamps."),
    ("Quayside Station", "Station", "1 Quay Square", 600, 1900, "", 4.1, "", "Trains to Larkmoor, Saltcombe and 银湾."),
    ("Little Crane Coffee", "Cafe", "9 Lantern Road", 3700, 1450, "+65 5550 6120", 4.6,
     "Mon-Fri 07:30-18:30;Sat-Sun 08:30-17:00", "Small room, large cups."),
    ("竹影小馆", "Restaurant", "竹影巷 5 号", 2200, 900, "+65 5550 8118", 4.5, "Mon-Sun 11:00-21:30",
     "川味小馆，点心很好。"),
    ("Copper Ladle", "Restaurant", "40 Mill Street", 1700, 1400, "+65 5550 3303", 4.4, "Tue-Sun 11:30-22:00",
     "Noodles and broths."),
    ("Quayside Dental", "Doctor", "12 Quay Square", 800, 1700, "+65 5550 4410", 4.2, "Mon-Fri 08:30-17:30",
     "Third floor, ring twice."),
    ("Lantern Road Library", "Library", "17 Lantern Road", 4300, 1400, "+65 5550 9001", 4.8,
     "Mon-Fri 09:00-20:00;Sat 10:00-16:00", "Reading rooms, and a quiet garden."),
    ("Heron Pharmacy", "Pharmacy", "2 Heron Walk", 1100, 3100, "+65 5550 1199", 4.3,
     "Mon-Fri 08:00-20:00;Sat 09:00-14:00", "Prescriptions in ten minutes."),
    ("Harbour Pool", "Sport", "5 Pier Road", 300, 1300, "+65 5550 5656", 4.2, "Mon-Sun 06:30-21:00",
     "Two pools, one outside."),
    ("小雨书店", "Bookshop", "银湖路 21 号", 3400, 1050, "+65 5550 7788", 4.9, "Tue-Sun 10:30-20:00",
     "旧书、茶和一只猫。"),
    ("Airport Terminal 2", "Airport", "Airport Road", 5600, 4200, "+65 5550 0500", 4.0, "", "Departures on level 3."),
)  # fmt: skip

LINES: tuple[tuple[str, int, str, str, tuple[tuple[str, int, int], ...]], ...] = (
    ("14", 10, "05:40", "23:50", (("Heron Walk", 980, 3250), ("Canal Garden", 1850, 2600), ("Lock Street", 2480, 2080),
                                  ("Bookshop Corner", 3400, 1200), ("Lantern Road", 3880, 1300))),
    ("7", 12, "06:00", "23:30", (("Quay Square", 680, 1850), ("Mill Street", 1650, 1500), ("Lock Street", 2480, 2080),
                                 ("Old Foundry Lane", 2900, 3450))),
    ("22", 20, "05:30", "00:10", (("Quay Square", 680, 1850), ("Lock Street", 2480, 2080),
                                  ("Old Foundry Lane", 2900, 3450), ("Airport", 5550, 4150))),
    ("5", 15, "06:30", "22:45", (("Heron Walk", 980, 3250), ("Old Foundry Lane", 2900, 3450), ("Library", 4250, 1480),
                                 ("Silver Lake", 3850, 760))),
)  # fmt: skip


def hours(text: str) -> dict[str, str]:
    """Return opening hours by day, parsed from spans of days."""
    opening_hours: dict[str, str] = {}
    for span in filter(None, text.split(";")):
        days, _, times = span.partition(" ")
        first, _, last = days.partition("-")
        for day in DAYS[DAYS.index(first) : DAYS.index(last or first) + 1]:
            opening_hours[day] = times
    return opening_hours


def first_places() -> list[dict[str, Any]]:
    names = ("name", "kind", "address", "x", "y", "phone", "rating", "hours", "about")
    return [dict(zip(names, place, strict=True)) | {"hours": hours(place[7])} for place in PLACES]


def first_lines() -> list[dict[str, Any]]:
    return [
        {"name": name, "every": every, "first": first, "last": last,
         "stops": [{"name": stop, "x": x, "y": y} for stop, x, y in stops]}
        for name, every, first, last, stops in LINES
    ]  # fmt: skip
