"""Windowsill: who may see a post, before and after it is posted; comments, likes, following."""

from __future__ import annotations

from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action
from simulators.phone.phone import Phone
from tests.simulators.phone.test_touch import app, hold, labels, opened, tap, tap_id


@pytest.fixture
def phone() -> Phone:
    phone = opened("Windowsill")
    people = [{"name": "Ona Vidal", "friend": True}, {"name": "许明", "following": False}]
    posts = [
        {"id": "a", "author": "Ona Vidal", "text": "Snow at last", "picture": "snow/Snow", "visibility": "Friends"},
        {"id": "b", "author": "me", "text": "Choir tonight", "visibility": "Everyone",
         "comments": [{"from": "Ona Vidal", "text": "When?"}]},
        {"id": "c", "author": "许明", "text": "面馆开张了"},
    ]  # fmt: skip
    phone.lay({"apps": {"social": {"people": people, "posts": posts, "default_visibility": "Friends"}}})
    return phone


def post(phone: Phone, key: str) -> Any:
    return next((p for p in app(phone, "social")["posts"] if p["id"] == key), None)


def menu_of(phone: Phone, words: str) -> None:
    """Opens the menu of the post that says so, on a screen of its own."""
    tap(phone, words)
    tap(phone, "Post menu")


def test_the_feed_shows_whom_one_follows_and_for_whom_it_is(phone: Phone) -> None:
    assert {"Snow at last", "Friends", "Choir tonight", "Everyone"} <= labels(phone)
    assert "面馆开张了" not in labels(phone)


def test_a_post_goes_to_whom_was_chosen_and_the_default_else(phone: Phone) -> None:
    for chosen in (None, "Close friends"):
        tap(phone, "New post")
        tap_id(phone, "text")
        phone.perform(Action("input_text", text="Soup"))
        phone.perform(Action("navigate_back"))
        if chosen:
            tap(phone, "Who can see it")
            tap(phone, chosen)
            assert f"Visible to: {chosen}" in labels(phone)
        tap(phone, "Post", id="publish")
        made = app(phone, "social")["posts"][-1]
        assert (made["text"], made["author"], made["visibility"]) == ("Soup", "me", chosen or "Friends")
    assert app(phone, "social")["draft"]["visibility"] == "Friends"


def test_nothing_is_not_posted_and_a_begun_post_waits(phone: Phone) -> None:
    tap(phone, "New post")
    tap(phone, "Post", id="publish")
    assert len(app(phone, "social")["posts"]) == 3
    tap(phone, "Add a place")
    phone.perform(Action("input_text", text="Old pier"))
    phone.perform(Action("navigate_back"))
    phone.perform(Action("navigate_back"))
    tap(phone, "New post")
    assert "Old pier" in labels(phone)
    tap(phone, "Discard")
    tap(phone, "Discard", id="discard")
    assert app(phone, "social")["draft"]["place"] == ""


def test_who_may_see_it_can_be_changed_later(phone: Phone) -> None:
    menu_of(phone, "Choir tonight")
    tap(phone, "Change who can see it")
    tap(phone, "Only me")
    assert post(phone, "b")["visibility"] == "Only me"
    assert "Only me" in labels(phone)
    tap(phone, "Post menu")
    tap(phone, "Delete post")
    tap(phone, "Delete")
    assert post(phone, "b") is None
    assert "Snow at last" in labels(phone)


def test_likes_and_comments(phone: Phone) -> None:
    tap(phone, "Snow at last")
    tap(phone, "Like")
    assert post(phone, "a")["likes"] == ["me"]
    tap(phone, "Unlike")
    tap(phone, "Write a comment")
    phone.perform(Action("input_text", text="Finally"))
    tap(phone, "Send comment")
    assert [(c["from"], c["text"]) for c in post(phone, "a")["comments"]] == [("me", "Finally")]
    assert {"1 comment", "0 likes"} <= labels(phone)
    hold(phone, "Finally")
    tap(phone, "Delete")
    assert post(phone, "a")["comments"] == []


def test_following_close_friends_and_the_default(phone: Phone) -> None:
    tap(phone, "People")
    tap(phone, "Follow 许明")
    assert {p["name"]: p["following"] for p in app(phone, "social")["people"]}["许明"]
    tap(phone, "Ona Vidal")
    tap(phone, "Close friend")
    tap(phone, "Snow at last")
    phone.perform(Action("navigate_back"))
    phone.perform(Action("navigate_back"))
    tap(phone, "Profile")
    tap(phone, "Settings")
    assert "1 person" in labels(phone)
    tap(phone, "Only me")
    assert app(phone, "social")["default_visibility"] == app(phone, "social")["draft"]["visibility"] == "Only me"
    tap(phone, "1 person")
    tap(phone, "Ona Vidal")
    assert not any(p["close"] for p in app(phone, "social")["people"])


def test_a_picture_of_the_phone_is_chosen_and_taken_away_again(phone: Phone) -> None:
    tap(phone, "New post")
    tap(phone, "Add a picture")
    latest = max(app(phone, "gallery")["photos"], key=lambda p: str(p["time"]))
    tap(phone, latest["caption"], id="choice")
    draft = app(phone, "social")["draft"]
    assert (draft["picture"], draft["caption"]) == (f"{latest['scene']}/{latest['name']}", latest["caption"])
    tap(phone, "Remove picture")
    assert app(phone, "social")["draft"]["picture"] == ""


def test_search_hides_and_a_wrong_key_is_refused(phone: Phone) -> None:
    menu_of(phone, "Snow at last")
    tap(phone, "Hide this post")
    phone.perform(Action("navigate_back"))
    assert "Snow at last" not in labels(phone)
    tap(phone, "People")
    tap(phone, "Search people, posts")
    phone.perform(Action("input_text", text="面馆"))
    assert "面馆开张了" in labels(phone)
    with pytest.raises(LabError, match="audience"):
        phone.lay({"apps": {"social": {"posts": [{"audience": "Friends"}]}}})
