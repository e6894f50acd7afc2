"""Fingers and keys: typing, scrolling by exact pixels, the ways back, notifications, each app end to end."""

from __future__ import annotations

from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action, ActionKind
from lab.core.run.ui_tree import Node
from simulators.phone.installed import APPS
from simulators.phone.phone import Phone
from simulators.phone.stage import activity

FEED = "/".join(("food", "0", "home", "feed"))
"""Under which key the food app's first list remembers where it stands: app, depth, screen, list."""


def node(phone: Phone, label: str, *, id: str | None = None) -> Node:
    """The last drawn node with that text or description (and id)."""
    tree = phone.current_screen().tree
    found = [n for n in tree.nodes() if label in (n.text, n.desc) and (id is None or n.id.endswith(f"/{id}"))]
    assert found, (label, [n.label for n in tree.nodes() if n.label])
    return found[-1]


def tap(phone: Phone, label: str, *, id: str | None = None) -> None:
    tree = phone.current_screen().tree
    phone.perform(Action("click", at=tree.target(node(phone, label, id=id)).bounds.center))


def hold(phone: Phone, label: str) -> None:
    phone.perform(Action("long_press", at=node(phone, label).bounds.center))


def tap_id(phone: Phone, id: str) -> None:
    phone.perform(Action("click", at=phone.current_screen().tree.find(id=id)[0].bounds.center))


def opened(app: str) -> Phone:
    phone = Phone()
    phone.perform(Action("open_app", app=app))
    return phone


def app(phone: Phone, name: str) -> Any:
    return phone.snapshot()["apps"][name]


def front(phone: Phone) -> str:
    """The activity in front, as `observe` tells it, without a picture."""
    return activity(phone.snapshot(), APPS)


def labels(phone: Phone) -> set[str]:
    return {n.label for n in phone.current_screen().tree.nodes()}


def press(phone: Phone, text: str) -> None:
    """Types by tapping keys."""
    for ch in text:
        if ch.isupper():
            tap(phone, "Shift")
        elif not (ch.isalpha() or ch in " .,") and not phone.current_screen().tree.find(text=ch):
            tap(phone, "?123")
        elif ch.isalpha() and not phone.current_screen().tree.find(text=ch, cls="Button"):
            tap(phone, "ABC")
        tap(phone, "Space" if ch == " " else ch)


def test_keys_and_input_text_type_the_same() -> None:
    words = "Oat milk, 2 x (cold)."
    typed: list[str] = []
    for by_keys in (True, False):
        phone = opened("Messages")
        tap(phone, "Search messages")
        if by_keys:
            press(phone, words)
        else:
            phone.perform(Action("input_text", text=words))
        typed.append(app(phone, "messages")["query"])
        assert phone.current_screen().tree.find(text=words, cls="EditText")[0].focused
    assert typed == [words, words]


def test_backspace_shift_lock_and_enter() -> None:
    phone = opened("Settings")
    tap(phone, "Search settings")
    phone.perform(Action("double_tap", at=node(phone, "Shift").bounds.center))
    for ch in "DAX":
        tap(phone, ch)
    tap(phone, "Backspace")
    assert app(phone, "settings")["query"] == "DA"
    assert {"Display"} <= labels(phone)
    assert "Bluetooth" not in labels(phone)
    tap(phone, "Search")
    assert phone.snapshot()["focus"] is None


def test_the_keyboard_comes_with_focus_and_back_takes_it_first() -> None:
    phone = opened("Notes")
    assert "Backspace" not in labels(phone)
    tap(phone, "Search notes")
    assert {"q", "p", "Shift", "Backspace", "Search"} <= labels(phone)
    phone.perform(Action("navigate_back"))
    assert "Backspace" not in labels(phone)
    assert front(phone) == "com.hitlab.notes/.Home"
    phone.perform(Action("navigate_back"))
    assert front(phone) == "com.hitlab.launcher/.Home"


def test_typing_without_a_field_is_refused() -> None:
    with pytest.raises(LabError, match="no text field"):
        Phone().perform(Action("input_text", text="lost"))


def test_any_text_can_be_put_in() -> None:
    phone = opened("Messages")
    phone.perform(Action("input_text", at=node(phone, "Search messages").bounds.center, text="数据"))
    assert "陈伟" in labels(phone)
    assert "Jonas Weil" not in labels(phone)


def test_lists_scroll_by_exact_pixels() -> None:
    phone = opened("Noshwell")
    tree = phone.current_screen().tree
    port = tree.find(id="feed")[0].bounds
    title = node(phone, "All restaurants").bounds
    phone.perform(Action("drag", at=(500, 1700), to=(500, 1467)))
    assert node(phone, "All restaurants").bounds == title._replace(top=title.top - 233, bottom=title.bottom - 233)
    phone.perform(Action("scroll", at=(500, 1500), direction="down"))
    assert phone.snapshot()["scroll"][FEED] == 233 + round(port.height * 0.6)
    phone.perform(Action("swipe", at=(500, 1500), vector=(0, 100)))
    assert phone.snapshot()["scroll"][FEED] == 133 + round(port.height * 0.6)
    phone.perform(Action("swipe", at=(500, 1500), direction="down"))
    assert phone.snapshot()["scroll"][FEED] == 133
    for _ in range(9):
        phone.perform(Action("scroll", direction="down"))
    end = phone.snapshot()["scroll"][FEED]
    phone.perform(Action("scroll", direction="down"))
    assert phone.snapshot()["scroll"][FEED] == end
    last = phone.snapshot()["apps"]["food"]["restaurants"][-1]["name"]
    assert last in labels(phone)


def test_a_list_across_scrolls_across() -> None:
    phone = opened("Noshwell")
    before = node(phone, "Rice", id="category").bounds
    phone.perform(Action("drag", at=before.center, to=(before.center[0] - 150, before.center[1])))
    assert node(phone, "Rice", id="category").bounds.left == before.left - 150


def test_what_is_scrolled_half_out_is_clipped_and_what_is_out_is_gone() -> None:
    phone = opened("Noshwell")
    port = phone.current_screen().tree.find(id="feed")[0].bounds
    first = phone.current_screen().tree.find(id="restaurant")[0].bounds
    by = first.top - port.top + 100
    phone.perform(Action("drag", at=(500, 1700), to=(500, 1700 - by)))
    clipped = phone.current_screen().tree.find(id="restaurant")[0].bounds
    assert (clipped.top, clipped.height) == (port.top, first.height - 100)
    assert "All restaurants" not in labels(phone)


def test_home_back_and_recents() -> None:
    phone = opened("Settings")
    tap(phone, "Wi-Fi")
    assert front(phone) == "com.hitlab.settings/.Wifi"
    tap(phone, "Home", id="home")
    phone.perform(Action("open_app", app="com.hitlab.clock"))
    tap(phone, "Overview")
    assert {"Clock window", "Settings window"} <= labels(phone)
    tap(phone, "Settings window")
    assert front(phone) == "com.hitlab.settings/.Wifi"
    tap(phone, "Back")
    assert front(phone) == "com.hitlab.settings/.Home"
    phone.perform(Action("navigate_home"))
    assert front(phone) == "com.hitlab.launcher/.Home"
    phone.perform(Action("press_recent"))
    phone.perform(Action("navigate_back"))
    assert front(phone) == "com.hitlab.launcher/.Home"


def test_open_app_knows_labels_packages_and_ids_and_names_what_there_is() -> None:
    for name in ("noshwell", "food", "com.hitlab.food"):
        assert front(opened(name)) == "com.hitlab.food/.Home"
    with pytest.raises(LabError, match="Radio") as caught:
        Phone().perform(Action("open_app", app="Radio"))
    assert "Noshwell" in caught.value.hint


def test_the_clock_goes_on() -> None:
    phone = Phone()
    phone.perform(Action("wait", ms=61_000))
    phone.perform(Action("wait"))
    phone.perform(Action("navigate_home"))
    kinds: tuple[ActionKind, ...] = ("ask_user", "answer", "status", "other")
    for kind in kinds:
        phone.perform(Action(kind))
    assert phone.observe().at == "2026-03-10T08:51:04+08:00"
    assert "08:51" in labels(phone)


NOTE = {"app": "messages", "title": "Noor Haddad", "text": "Are you there?", "screen": "thread", "heads_up": True}


def test_a_notification_opens_its_app_from_the_banner_and_from_the_shade() -> None:
    for from_shade in (False, True):
        phone = Phone()
        phone.lay({"notifications": [NOTE | {"args": {"name": "Noor Haddad"}}]})
        assert "Are you there?" in labels(phone)
        if from_shade:
            phone.perform(Action("navigate_home"))
            assert "Are you there?" not in labels(phone)
            phone.perform(Action("swipe", at=(500, 5), direction="down"))
            assert "Clear all" in labels(phone)
        tap(phone, "Are you there?")
        assert front(phone) == "com.hitlab.messages/.Thread"
        assert phone.snapshot()["notifications"] == []
        assert next(t for t in app(phone, "messages")["threads"] if t["name"] == "Noor Haddad")["unread"] == 0
        phone.perform(Action("navigate_back"))
        assert front(phone) == "com.hitlab.messages/.Home"


def test_notifications_are_dismissed_and_settings_switched_in_the_shade() -> None:
    phone = Phone()
    phone.lay({"notifications": [NOTE, NOTE | {"title": "Jonas Weil", "text": "Rope!"}]})
    phone.perform(Action("drag", at=(500, 0), to=(500, 900)))
    tap(phone, "Dark")
    assert app(phone, "settings")["dark_theme"] is True
    tap(phone, "Dismiss Jonas Weil")
    assert [n["title"] for n in phone.snapshot()["notifications"]] == ["Noor Haddad"]
    tap(phone, "Clear all")
    assert "No notifications" in labels(phone)
    phone.perform(Action("swipe", at=(500, 2000), direction="up"))
    assert phone.snapshot()["shade"] is False


def test_settings_change_what_they_say() -> None:
    phone = opened("Settings")
    tap(phone, "Display")
    switch = next(n for n in phone.current_screen().tree.nodes() if n.desc == "Dark theme")
    assert (switch.checkable, switch.checked) == (True, False)
    tap(phone, "Dark theme")
    assert next(n for n in phone.current_screen().tree.nodes() if n.desc == "Dark theme").checked
    tap(phone, "Font size")
    tap(phone, "Large")
    assert app(phone, "settings")["font_size"] == "large"
    tap(phone, "More brightness")
    assert app(phone, "settings")["brightness"] == 7


def test_a_dialog_takes_all_touches_and_closes_beside_it() -> None:
    phone = opened("Settings")
    tap(phone, "Display")
    tap(phone, "Font size")
    assert "Navigate up" not in labels(phone)
    phone.perform(Action("click", at=(40, 200)))
    assert front(phone) == "com.hitlab.settings/.Display"


def test_a_message_is_written_sent_and_deleted() -> None:
    phone = opened("Messages")
    tap(phone, "Start chat")
    tap(phone, "To: name or number")
    phone.perform(Action("input_text", text="priya"))
    tap(phone, "Priya Raman")
    phone.perform(Action("input_text", text="Lab at ten?"))
    tap(phone, "Send", id="send")
    thread = app(phone, "messages")["threads"][-1]
    assert (thread["name"], thread["messages"][-1]["text"]) == ("Priya Raman", "Lab at ten?")
    assert thread["messages"][-1]["from"] == "me"
    assert app(phone, "messages")["drafts"] == {}
    phone.perform(Action("input_text", text="And bring tea"))
    phone.perform(Action("keyboard_enter"))
    assert len(app(phone, "messages")["threads"][-1]["messages"]) == 2
    hold(phone, "Lab at ten?")
    tap(phone, "Delete", id="delete")
    assert [m["text"] for m in app(phone, "messages")["threads"][-1]["messages"]] == ["And bring tea"]


def test_opening_a_thread_marks_it_read() -> None:
    phone = opened("Messages")
    assert phone.current_screen().tree.find(desc="2 unread")
    tap(phone, "陈伟")
    assert "麻烦你带上上次的数据。" in labels(phone)
    assert next(t for t in app(phone, "messages")["threads"] if t["name"] == "陈伟")["unread"] == 0


def test_an_alarm_is_set_by_typing_changed_by_tapping_and_deleted() -> None:
    phone = opened("Clock")
    tap(phone, "Add alarm")
    tap_id(phone, "hour")
    press(phone, "5")
    tap_id(phone, "minute")
    phone.perform(Action("input_text", text="45"))
    tap(phone, "Label")
    phone.perform(Action("input_text", text="Beamline"))
    phone.perform(Action("keyboard_enter"))
    for day in ("Wed", "Mon"):
        tap(phone, day)
    tap(phone, "Save")
    alarm = app(phone, "clock")["alarms"][-1]
    assert alarm == {"time": "05:45", "label": "Beamline", "days": ["Mon", "Wed"], "on": True}
    tap(phone, "05:45 Beamline")
    assert app(phone, "clock")["alarms"][-1]["on"] is False
    tap(phone, "Beamline")
    tap(phone, "Next hour")
    tap(phone, "30 minutes")
    tap(phone, "Save")
    assert app(phone, "clock")["alarms"][-1]["time"] == "06:30"
    hold(phone, "Beamline")
    tap(phone, "Delete")
    assert "Beamline" not in labels(phone)
    assert len(app(phone, "clock")["alarms"]) == 4


def test_an_impossible_time_is_not_saved() -> None:
    phone = opened("Clock")
    tap(phone, "Add alarm")
    tap_id(phone, "hour")
    phone.perform(Action("input_text", text="27"))
    tap(phone, "Save")
    assert len(app(phone, "clock")["alarms"]) == 4
    assert any(label.startswith("Enter an hour") for label in labels(phone))


def test_alarm_and_timer_ring() -> None:
    phone = Phone(clock="2026-03-13T14:49:00+08:00")
    phone.perform(Action("open_app", app="clock"))
    tap(phone, "Timer")
    tap(phone, "1 min")
    tap(phone, "Start")
    phone.perform(Action("wait", ms=59_000))
    assert "Alarm 14:50" in labels(phone)
    phone.perform(Action("wait", ms=59_000))
    rung = {n["title"] for n in phone.snapshot()["notifications"] if n["app"] == "clock"}
    assert rung == {"Alarm 14:50", "Timer done"}


def test_the_stopwatch_counts_the_phones_time() -> None:
    phone = opened("Clock")
    tap(phone, "Stopwatch", id="tab")
    tap(phone, "Start")
    phone.perform(Action("wait", ms=63_000))
    tap(phone, "Lap")
    tap(phone, "Stop")
    assert app(phone, "clock")["stopwatch"]["laps"] == [65]
    assert app(phone, "clock")["stopwatch"]["started"] is None


def test_a_note_is_written_found_and_deleted() -> None:
    phone = opened("Notes")
    tap(phone, "New note")
    press(phone, "Milk run")
    phone.perform(Action("keyboard_enter"))
    phone.perform(Action("input_text", text="oat\nrice"))
    tap(phone, "Done", id="done")
    note = app(phone, "notes")["notes"][0]
    assert (note["title"], note["body"]) == ("Milk run", "oat\nrice")
    tap(phone, "Milk run")
    tap(phone, "Checklist")
    assert [i["text"] for i in app(phone, "notes")["notes"][0]["items"]] == ["oat", "rice"]
    tap(phone, "rice", id="done")
    tap(phone, "Add item")
    phone.perform(Action("input_text", text="tea"))
    phone.perform(Action("navigate_back"))
    phone.perform(Action("navigate_back"))
    assert app(phone, "notes")["notes"][0]["items"][1:] == [
        {"text": "rice", "done": True},
        {"text": "tea", "done": False},
    ]
    tap(phone, "Search notes")
    phone.perform(Action("input_text", text="MILK r"))
    phone.perform(Action("keyboard_enter"))
    assert "Annealing times" not in labels(phone)
    hold(phone, "Milk run")
    tap(phone, "Delete")
    assert all(n["title"] != "Milk run" for n in app(phone, "notes")["notes"])


def test_a_note_without_a_word_is_thrown_away() -> None:
    phone = opened("Notes")
    before = app(phone, "notes")["notes"]
    tap(phone, "New note")
    phone.perform(Action("navigate_back"))
    phone.perform(Action("navigate_back"))
    assert app(phone, "notes")["notes"] == before


def test_an_order_from_search_to_history() -> None:
    phone = opened("Noshwell")
    tap(phone, "Dishes or restaurants")
    phone.perform(Action("input_text", text="smoked broth"))
    phone.perform(Action("keyboard_enter"))
    tap(phone, "Smoked broth noodles")
    tap(phone, "Large")
    tap(phone, "Hot")
    tap(phone, "Soft egg")
    tap(phone, "More of this dish")
    tap(phone, "Add to cart")
    tap_id(phone, "view_cart")
    tap(phone, "Note to the restaurant")
    phone.perform(Action("input_text", text="No straws please"))
    phone.perform(Action("navigate_back"))
    tap(phone, "Deliver to Home")
    tap(phone, "Lab")
    tap(phone, "Pay with")
    tap(phone, "PennyPurse wallet")
    tap_id(phone, "place_order")
    order = app(phone, "food")["orders"][-1]
    assert order["items"] == [
        {"dish": "Smoked broth noodles", "quantity": 2, "options": {"Size": "Large", "Spice": "Hot"},
         "extras": ["Soft egg"], "price": 16.5}
    ]  # fmt: skip
    assert (order["restaurant"], order["remark"]) == ("Copper Ladle", "No straws please")
    assert (order["address"], order["payment"], order["total"]) == ("Lab", "PennyPurse wallet", 35.9)
    assert app(phone, "food")["cart"]["items"] == []
    assert "Order placed" in labels(phone)
    assert f"Arrives at about {order['eta']}" in labels(phone)
    phone.perform(Action("navigate_back"))
    tap(phone, "Orders", id="tab")
    assert "2 x Smoked broth noodles" in labels(phone)


def test_a_cart_holds_one_restaurant() -> None:
    phone = Phone()
    phone.lay({"nav": {"app": "food"}, "apps": {"food": {"query": "葱油拌面"}}})
    tap(phone, "葱油拌面", id="dish")
    tap(phone, "Add to cart")
    phone.lay({"apps": {"food": {"query": "Cold lime"}}})
    tap(phone, "Cold lime noodles")
    tap(phone, "Add to cart")
    assert "Start a new cart?" in labels(phone)
    tap(phone, "Start new")
    assert [i["dish"] for i in app(phone, "food")["cart"]["items"]] == ["Cold lime noodles"]
    tap_id(phone, "view_cart")
    tap(phone, "Remove")
    assert "Your cart is empty" in labels(phone)


def test_a_field_that_the_keyboard_would_cover_is_scrolled_into_sight() -> None:
    phone = Phone()
    dish = {"quantity": 1, "options": {}, "extras": [], "price": 1.0}
    cart = {"restaurant": "Copper Ladle", "items": [dish | {"dish": f"Dish {n}"} for n in range(6)]}
    stack = [{"screen": "home", "args": {}}, {"screen": "cart", "args": {}}]
    phone.lay({"nav": {"app": "food", "stacks": {"food": stack}}, "apps": {"food": {"cart": cart}}})
    tap(phone, "Note to the restaurant")
    field = node(phone, "Note to the restaurant", id="remark")
    assert field.focused
    assert field.bounds.bottom < phone.current_screen().tree.find(id="keyboard")[0].bounds.top
