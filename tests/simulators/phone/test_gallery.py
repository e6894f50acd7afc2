"""Gallery: finding photos, choosing several, deleting and bringing back; what was done is in the state."""

from __future__ import annotations

from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action
from simulators.phone.phone import Phone
from simulators.phone.pictures.scenes import SCENES
from tests.simulators.phone.test_touch import app, front, hold, labels, node, opened, tap, tap_id

PHOTOS: list[dict[str, Any]] = [
    {"name": "a.jpg", "caption": "Bridge", "time": "2026-03-09T10:00:00+08:00", "place": "Canal"},
    {"name": "b.jpg", "caption": "Ticket", "album": "Screenshots", "time": "2026-02-01T10:00:00+08:00"},
    {"name": "c.jpg", "caption": "旧票", "album": "Screenshots", "time": "2026-01-05T10:00:00+08:00"},
]


@pytest.fixture
def phone() -> Phone:
    phone = opened("Gallery")
    phone.lay({"apps": {"gallery": {"photos": PHOTOS, "bin": []}}})
    return phone


def names(phone: Phone, where: str = "photos") -> list[str]:
    return sorted(photo["name"] for photo in app(phone, "gallery")[where])


def test_photos_stand_by_day_and_are_searched(phone: Phone) -> None:
    assert {"Yesterday", "Sunday, 1 February", "Photo, Bridge, Mon, 9 Mar 2026"} <= labels(phone)
    tap(phone, "Search photos")
    phone.perform(Action("input_text", text="canal"))
    assert [n.desc for n in phone.current_screen().tree.find(id="photo")] == ["Photo, Bridge, Mon, 9 Mar 2026"]
    phone.perform(Action("input_text", text="zz"))
    assert "Nothing found" in labels(phone)


def test_a_photo_is_deleted_after_a_question_and_brought_back(phone: Phone) -> None:
    tap(phone, "Bridge")
    tap(phone, "Delete")
    tap(phone, "Cancel")
    assert names(phone) == ["a.jpg", "b.jpg", "c.jpg"]
    tap(phone, "Delete")
    tap(phone, "Delete", id="confirm")
    assert (names(phone), names(phone, "bin")) == (["b.jpg", "c.jpg"], ["a.jpg"])
    assert front(phone).endswith(".Home")
    tap(phone, "Bin")
    assert "Camera · 30 days left" in labels(phone)
    tap(phone, "Bridge")
    tap(phone, "Restore")
    assert (len(names(phone)), names(phone, "bin")) == (3, [])
    assert all(photo["deleted"] == "" for photo in app(phone, "gallery")["photos"])


def test_several_are_chosen_by_a_long_touch_and_taps(phone: Phone) -> None:
    tap(phone, "Albums")
    tap(phone, "Screenshots")
    hold(phone, "Ticket")
    assert "1 selected" in labels(phone)
    tap(phone, "旧票")
    assert node(phone, "Screenshot, 旧票, Mon, 5 Jan 2026").checked
    tap(phone, "Delete")
    assert "2 photos can be restored for 30 days." in labels(phone)
    tap(phone, "Delete", id="confirm")
    assert names(phone) == ["a.jpg"]
    assert "This album is empty." in labels(phone)


def test_the_bin_is_emptied_and_forgets_by_itself(phone: Phone) -> None:
    gone = [PHOTOS[1] | {"deleted": "2026-03-01T10:00:00+08:00"}, PHOTOS[2] | {"deleted": "2026-02-09T10:00:00+08:00"}]
    phone.lay({"apps": {"gallery": {"bin": gone, "tab": "Bin"}}})
    assert {"Screenshots · 21 days left", "Screenshots · 1 day left"} <= labels(phone)
    phone.perform(Action("wait", ms=24 * 3600 * 1000))
    phone.perform(Action("wait"))  # an alarm of the day hangs over the screen
    assert names(phone, "bin") == ["b.jpg"]
    tap(phone, "Empty bin")
    tap(phone, "Delete", id="confirm")
    assert "The bin is empty" in labels(phone)


def test_favourites_are_an_album(phone: Phone) -> None:
    tap(phone, "Bridge")
    tap(phone, "Add to favourites")
    phone.perform(Action("navigate_back"))
    tap(phone, "Albums")
    tap(phone, "Favourites")
    assert "Photo, Bridge, Mon, 9 Mar 2026" in labels(phone)


def test_details_tell_and_the_caption_is_written(phone: Phone) -> None:
    tap(phone, "Ticket")
    tap(phone, "Details")
    assert {"b.jpg", "Sunday, 1 February 2026", "10:00", "Screenshots"} <= labels(phone)
    tap_id(phone, "caption")
    phone.perform(Action("input_text", text=" to Basel"))
    phone.perform(Action("navigate_back"))
    phone.perform(Action("navigate_back"))
    assert "Ticket to Basel" in labels(phone)


def test_photos_move_to_an_album_of_ones_own(phone: Phone) -> None:
    tap(phone, "Albums")
    tap(phone, "New album")
    phone.perform(Action("input_text", text="Trips"))
    tap(phone, "Create")
    assert app(phone, "gallery")["albums"][-1] == "Trips"
    tap(phone, "Camera")
    tap(phone, "Select photos")
    tap(phone, "Bridge")
    tap(phone, "Move to album")
    tap(phone, "Trips")
    assert next(p["album"] for p in app(phone, "gallery")["photos"] if p["name"] == "a.jpg") == "Trips"


def test_one_turns_the_leaves(phone: Phone) -> None:
    tap(phone, "Ticket")
    tap(phone, "Older photo")
    assert "旧票" in labels(phone)
    tap(phone, "Newer photo")
    tap(phone, "Newer photo")
    assert "Bridge" in labels(phone)
    assert "Newer photo" not in labels(phone)
    phone.perform(Action("navigate_back"))
    assert front(phone).endswith(".Home")


@pytest.mark.parametrize("scene", sorted(SCENES))
def test_every_scene_is_drawn(scene: str) -> None:
    phone = Phone()
    phone.lay({"apps": {"gallery": {"photos": [{"name": "x.jpg", "scene": scene}]}}, "nav": {"app": "gallery"}})
    assert phone.observe().png


def test_a_laid_photo_is_checked() -> None:
    with pytest.raises(LabError, match="captoin"):
        Phone().lay({"apps": {"gallery": {"photos": [{"captoin": "x"}]}}})
