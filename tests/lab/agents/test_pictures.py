"""Which pictures an instruction means."""

from __future__ import annotations

from datetime import date

import pytest

from lab.agents.dates import days_meant, last_date_in
from lab.agents.goals import goals_in
from lab.agents.goals.pictures import Discard

TODAY = date(2025, 5, 5)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("before April", (date.min, date(2025, 4, 1))),
        ("before 15 April", (date.min, date(2025, 4, 15))),
        ("from February", (date(2025, 2, 1), date(2025, 3, 1))),
        ("in December", (date(2024, 12, 1), date(2025, 1, 1))),
        ("of 2 March", (date(2025, 3, 2), date(2025, 3, 3))),
        ("older than two weeks", (date.min, date(2025, 4, 21))),
        ("older than a month", (date.min, date(2025, 4, 5))),
        ("in the album", None),
    ],
)
def test_the_days_that_are_meant(text: str, days: tuple[date, date] | None) -> None:
    assert days_meant(text, TODAY) == days


def test_a_caption_with_a_date_does_not_hide_the_day() -> None:
    assert last_date_in("Screenshot, Plan for 12 February, Tue, 10 Mar 2025", TODAY) == date(2025, 3, 10)


def test_what_is_to_be_thrown_away() -> None:
    assert goals_in("Delete the screenshots in my gallery that are from before April.") == (
        Discard("screenshots", "from before April"),
    )
    assert goals_in("Please remove the photos older than a month.") == (Discard("photos", "older than a month"),)
    assert goals_in("At 10:00, she deleted the photos from March.") == ()
    assert goals_in("Delete the photo.") == ()
