"""What was photographed with a phone that nobody has touched: all of it invented.

A line is: scene (of `scenes.SCENES`, or a dish of `pictures.KINDS`), album, days ago, time, caption, place, favourite.
"""

from __future__ import annotations

ALBUMS = ("Camera", "Screenshots", "Downloads", "Lab")

LINES: tuple[tuple[str, str, int, str, str, str, bool], ...] = (
    ("garden", "Camera", 0, "07:58", "Frangipani by the gate", "Heron Walk", False),
    ("desk", "Lab", 1, "16:20", "Film 7 after annealing", "Room 4.07", True),
    ("screen", "Screenshots", 1, "22:11", "Bus times to the institute", "", False),
    ("noodles", "Camera", 2, "12:34", "芝麻担担面", "Copper Ladle", False),
    ("desk", "Lab", 2, "15:41", "样品三号", "Room 4.07", False),
    ("people", "Camera", 4, "18:02", "Noor's birthday", "Canal garden", True),
    ("hills", "Camera", 6, "10:15", "North Wall from below", "North Wall", False),
    ("people", "Camera", 6, "10:48", "Jonas on the red route", "North Wall", False),
    ("screen", "Screenshots", 6, "08:05", "Climbing hall opening hours", "", False),
    ("poster", "Lab", 9, "17:30", "Poster draft, third version", "Room 4.12", False),
    ("cat", "Camera", 11, "19:27", "The cat from the ground floor", "Heron Walk", True),
    ("screen", "Screenshots", 13, "13:00", "Conference badge code", "", False),
    ("poster", "Downloads", 14, "09:12", "Floor plan of the hall", "", False),
    ("lanterns", "Camera", 18, "20:40", "元宵节的灯", "River promenade", True),
    ("lanterns", "Camera", 18, "20:52", "Lanterns over the water", "River promenade", False),
    ("screen", "Screenshots", 22, "21:33", "Recipe for sesame paste", "", False),
    ("sea", "Camera", 30, "17:55", "Last ferry", "South pier", False),
    ("sea", "Camera", 30, "18:10", "Mamá would like this", "South pier", True),
    ("screen", "Screenshots", 41, "11:20", "Parcel label", "", False),
    ("city", "Camera", 47, "19:05", "View from the tower", "Old town", False),
    ("screen", "Screenshots", 52, "16:44", "Wi-Fi code of the guest house", "", False),
    ("snow", "Downloads", 61, "08:30", "Tomas in the snow", "", False),
)

BINNED: tuple[tuple[str, str, int, str, str, str, int], ...] = (
    ("desk", "Camera", 8, "11:11", "Blurred bench", "Room 4.07", 3),
    ("screen", "Screenshots", 20, "19:02", "Old tram map", "", 12),
)
"""As above, with days since it was deleted instead of whether it is a favourite."""
