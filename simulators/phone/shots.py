"""One picture of each screen of the phone, taken by opening it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lab.core.run.step import Action
from simulators.phone.phone import Phone

SCREENS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("messages", "messages", "home", {}),
    ("messages-thread", "messages", "thread", {"name": "Noor Haddad"}),
    ("messages-chinese", "messages", "thread", {"name": "陈伟"}),
    ("messages-compose", "messages", "compose", {}),
    ("messages-menu", "messages", "menu", {}),
    ("messages-spam", "messages", "spam", {}),
    ("messages-details", "messages", "details", {"name": "Noor Haddad"}),
    ("messages-thread-menu", "messages", "thread_menu", {"name": "Noor Haddad"}),
    ("messages-block", "messages", "block", {"name": "Building desk"}),
    ("messages-delete", "messages", "message_menu", {"name": "Noor Haddad", "index": 0}),
    ("contacts", "contacts", "home", {}),
    ("contacts-person", "contacts", "person", {"name": "Noor Haddad"}),
    ("contacts-number", "contacts", "person", {"name": "", "number": "+65 5550 8876"}),
    ("contacts-edit", "contacts", "edit", {}),
    ("contacts-delete", "contacts", "delete", {"name": "Noor Haddad"}),
    ("contacts-call", "contacts", "call", {}),
    ("contacts-clear", "contacts", "clear", {}),
    ("calendar", "calendar", "home", {}),
    ("calendar-event", "calendar", "event", {"title": "Budget talk"}),
    ("calendar-gone", "calendar", "event", {"title": "Nothing of this name"}),
    ("calendar-edit", "calendar", "edit", {}),
    ("calendar-date", "calendar", "date", {}),
    ("calendar-time", "calendar", "time", {"part": "start"}),
    ("calendar-guests", "calendar", "guests", {}),
    ("calendar-reminder", "calendar", "reminder", {}),
    ("calendar-search", "calendar", "search", {}),
    ("calendar-invitations", "calendar", "invitations", {}),
    ("calendar-delete", "calendar", "delete", {"title": "Budget talk"}),
    ("gallery", "gallery", "home", {}),
    ("gallery-album", "gallery", "album", {"album": "Screenshots"}),
    ("gallery-select", "gallery", "select", {"album": "Screenshots"}),
    ("gallery-photo", "gallery", "photo", {"name": "IMG_20260306_1802.jpg"}),
    ("gallery-details", "gallery", "details", {"name": "IMG_20260306_1802.jpg"}),
    ("gallery-delete", "gallery", "delete", {"names": ["IMG_20260306_1802.jpg"]}),
    ("gallery-move", "gallery", "move", {"names": ["IMG_20260306_1802.jpg"]}),
    ("gallery-binned", "gallery", "binned", {"name": "IMG_20260302_1111.jpg"}),
    ("gallery-erase", "gallery", "erase", {"names": ["IMG_20260302_1111.jpg"]}),
    ("gallery-album-new", "gallery", "new_album", {}),
    ("clock", "clock", "home", {}),
    ("clock-alarm", "clock", "alarm", {}),
    ("clock-delete", "clock", "delete", {"index": 0}),
    ("notes", "notes", "home", {}),
    ("notes-checklist", "notes", "edit", {"index": 0}),
    ("notes-plain", "notes", "edit", {"index": 1}),
    ("notes-delete", "notes", "delete", {"index": 1}),
    ("food", "food", "home", {}),
    ("food-category", "food", "category", {"name": "Coffee"}),
    ("food-menu", "food", "menu", {"restaurant": "Copper Ladle"}),
    ("food-chinese", "food", "menu", {"restaurant": "竹影小馆"}),
    ("food-addresses", "food", "addresses", {}),
    ("food-payments", "food", "payments", {}),
    ("food-orders", "food", "orders", {}),
    ("food-order", "food", "order", {"number": "N-1041"}),
    ("mail", "mail", "home", {}),
    ("mail-folders", "mail", "folders", {}),
    ("mail-folder", "mail", "folder", {"name": "sent"}),
    ("mail-bin", "mail", "empty_bin", {}),
    ("mail-conversation", "mail", "mail", {"subject": "Programme and travel"}),
    ("mail-chinese", "mail", "mail", {"subject": "论文图片"}),
    ("supper", "supper", "home", {}),
    ("supper-search", "supper", "search", {}),
    ("supper-menu", "supper", "menu", {"restaurant": "Nonna Petra's Table"}),
    ("supper-chinese", "supper", "menu", {"restaurant": "外婆的灶台"}),
    ("supper-basket", "supper", "cart", {}),
    ("supper-times", "supper", "times", {}),
    ("supper-orders", "supper", "orders", {}),
    ("teamchat", "teamchat", "home", {}),
    ("teamchat-channel", "teamchat", "channel", {"channel": "xray-bench", "new": 2}),
    ("teamchat-chinese", "teamchat", "channel", {"channel": "咖啡角"}),
    ("teamchat-unjoined", "teamchat", "channel", {"channel": "book-swap"}),
    ("teamchat-direct", "teamchat", "channel", {"channel": "Noor Haddad"}),
    ("teamchat-thread", "teamchat", "thread", {"channel": "xray-bench", "index": 2}),
    ("teamchat-actions", "teamchat", "actions", {"channel": "lab-general", "index": 2, "reply": -1}),
    ("teamchat-delete", "teamchat", "delete", {"channel": "lab-general", "index": 2, "reply": -1}),
    ("teamchat-pinned", "teamchat", "pinned", {"channel": "lab-general"}),
    ("teamchat-details", "teamchat", "details", {"channel": "lab-general"}),
    ("teamchat-leave", "teamchat", "leave", {"channel": "lab-general"}),
    ("teamchat-workspaces", "teamchat", "workspaces", {}),
    ("teamchat-browse", "teamchat", "browse", {}),
    ("teamchat-new", "teamchat", "new", {}),
    ("teamchat-mentions", "teamchat", "mentions", {}),
    ("teamchat-you", "teamchat", "you", {}),
    ("browser", "browser", "home", {}),
    ("browser-address", "browser", "address", {}),
    ("browser-results", "browser", "results", {"query": "canal museum"}),
    ("browser-answer", "browser", "results", {"query": "weather Larkmoor"}),
    ("browser-page", "browser", "page", {"url": "canalmuseum.example"}),
    ("browser-chinese", "browser", "page", {"url": "slowkitchen.example/fanqie"}),
    ("browser-unreachable", "browser", "page", {"url": "nowhere.example"}),
    ("browser-menu", "browser", "menu", {}),
    ("browser-history", "browser", "history", {}),
    ("browser-bookmarks", "browser", "bookmarks", {}),
    ("browser-clear", "browser", "clear", {}),
    ("browser-weather", "browser", "weather", {}),
    ("browser-city", "browser", "weather", {"city": "Singapore"}),
    ("browser-day", "browser", "weather_day", {"city": "Highfell", "date": "2026-03-10"}),
    ("browser-trains", "browser", "trains", {}),
    ("browser-stations", "browser", "stations", {"end": "destination"}),
    ("browser-dates", "browser", "dates", {}),
    ("browser-found", "browser", "found", {"origin": "Quayside", "destination": "Larkmoor", "date": "2026-03-13"}),
    ("browser-train", "browser", "train", {"number": "W134", "date": "2026-03-13"}),
    ("browser-passenger", "browser", "who", {}),
    ("browser-pay", "browser", "pay_with", {}),
    ("marrowby", "marrowby", "home", {}),
    ("marrowby-category", "marrowby", "category", {"name": "Clothing"}),
    ("marrowby-filter", "marrowby", "filter", {"category": "Clothing"}),
    ("marrowby-sort", "marrowby", "sort", {}),
    ("marrowby-product", "marrowby", "product", {"name": "Wool blanket"}),
    ("marrowby-cart", "marrowby", "cart", {}),
    ("marrowby-addresses", "marrowby", "addresses", {}),
    ("marrowby-new-address", "marrowby", "new_address", {}),
    ("marrowby-orders", "marrowby", "orders", {}),
    ("quillbarn", "quillbarn", "home", {}),
    ("quillbarn-departments", "quillbarn", "departments", {}),
    ("quillbarn-chinese", "quillbarn", "category", {"name": "茶和零食"}),
    ("quillbarn-product", "quillbarn", "product", {"name": "Felt slippers"}),
    ("quillbarn-bag", "quillbarn", "cart", {}),
    ("quillbarn-purchases", "quillbarn", "orders", {}),
    ("maps", "maps", "home", {}),
    ("maps-place", "maps", "place", {"name": "Canal Museum"}),
    ("maps-chinese", "maps", "place", {"name": "银湖公园"}),
    ("maps-hours", "maps", "hours", {"name": "Canal Museum"}),
    ("maps-save", "maps", "save", {"name": "Institute of Soft Matter"}),
    ("maps-saved", "maps", "saved", {}),
    ("maps-pick", "maps", "pick", {"end": "origin"}),
    ("maps-navigate", "maps", "navigate", {}),
    ("maps-trips", "maps", "trips", {}),
    ("social", "social", "home", {}),
    ("social-post", "social", "post", {"post": "p10"}),
    ("social-mine", "social", "mine", {}),
    ("social-menu", "social", "menu", {"post": "p5"}),
    ("social-visibility", "social", "visibility", {"post": "p5"}),
    ("social-delete", "social", "delete", {"post": "p5"}),
    ("social-compose", "social", "compose", {}),
    ("social-audience", "social", "audience", {}),
    ("social-pictures", "social", "pictures", {}),
    ("social-people", "social", "people", {}),
    ("social-person", "social", "person", {"name": "林小雨"}),
    ("social-options", "social", "options", {}),
    ("social-close", "social", "close_friends", {}),
    ("settings", "settings", "home", {}),
    ("settings-wifi", "settings", "wifi", {}),
    ("settings-bluetooth", "settings", "bluetooth", {}),
    ("settings-device", "settings", "device", {"name": "Wren earbuds"}),
    ("settings-forget", "settings", "forget", {"name": "Lab speaker"}),
    ("settings-network", "settings", "network", {}),
    ("settings-display", "settings", "display", {}),
    ("settings-font", "settings", "font_size", {}),
    ("settings-sound", "settings", "sound", {}),
    ("settings-quiet", "settings", "quiet", {}),
    ("settings-battery", "settings", "battery", {}),
    ("settings-schedule", "settings", "schedule", {}),
    ("settings-low-battery", "settings", "low_battery", {}),
    ("settings-volume", "settings", "volume", {"key": "media_volume", "what": "Media volume"}),
    ("settings-location", "settings", "location", {}),
    ("settings-about", "settings", "about", {}),
    ("settings-rename", "settings", "rename", {}),
)
"""Screens that can be opened directly: picture's name, app, screen and the screen's arguments."""


def _food(phone: Phone) -> Iterator[tuple[str, bytes]]:
    tap(phone, "Smoked broth noodles")
    yield "food-dish", phone.observe().png
    tap(phone, "Large")
    phone.perform(Action("scroll", direction="down"))
    tap(phone, "Hot")
    tap(phone, "Soft egg")
    yield "food-dish-chosen", phone.observe().png
    tap(phone, "Add to cart")
    yield "food-menu-cart", phone.observe().png
    phone.perform(Action("click", at=phone.observe().tree.find(id="view_cart")[0].bounds.center))
    tap(phone, "Note to the restaurant")
    phone.perform(Action("input_text", text="Please leave it with the desk"))
    yield "food-remark", phone.observe().png
    phone.perform(Action("navigate_back"))
    yield "food-cart", phone.observe().png
    phone.perform(Action("click", at=phone.observe().tree.find(id="place_order")[0].bounds.center))
    yield "food-placed", phone.observe().png


def _clock(phone: Phone) -> Iterator[tuple[str, bytes]]:
    tap(phone, "Timer")
    yield "clock-timer", phone.observe().png
    tap(phone, "5 min")
    tap(phone, "Start")
    phone.perform(Action("wait", ms=42_000))
    yield "clock-timer-running", phone.observe().png
    tap(phone, "Stopwatch")
    tap(phone, "Start")
    phone.perform(Action("wait", ms=75_000))
    tap(phone, "Lap")
    phone.perform(Action("wait", ms=31_000))
    tap(phone, "Lap")
    yield "clock-stopwatch", phone.observe().png


def _maps(phone: Phone) -> Iterator[tuple[str, bytes]]:
    tap(phone, "Directions")
    yield "maps-route", phone.observe().png
    tap(phone, "Tap for other times")
    yield "maps-departures", phone.observe().png
    phone.perform(Action("navigate_back"))
    tap(phone, "Start")
    yield "maps-way", phone.observe().png


def _trains(phone: Phone) -> Iterator[tuple[str, bytes]]:
    tap(phone, "First class, $27.50")
    for label in ("Window", "Quiet"):
        tap(phone, label)
    yield "browser-train-chosen", phone.observe().png
    tap(phone, "Book, $27.50")
    yield "browser-ticket", phone.observe().png
    tap(phone, "Cancel ticket")
    yield "browser-cancel", phone.observe().png


def _scam(phone: Phone) -> Iterator[tuple[str, bytes]]:
    who, text = "+65 5550 9914", "Your parcel is held. Pay the fee at parcel-fee.example/pay"
    thread = {"name": who, "number": who, "unread": 1, "messages": [{"from": who, "text": text}]}
    note = {"app": "messages", "screen": "thread", "args": {"name": who}, "title": who, "text": text}
    phone.lay({"apps": {"messages": {"threads": [thread]}}, "notifications": [note | {"heads_up": True}]})
    yield "scam-heads-up", phone.observe().png
    tap(phone, text)
    yield "scam-thread", phone.observe().png
    tap(phone, "Report spam")
    yield "scam-block", phone.observe().png
    tap(phone, "Block")
    tap(phone, "More options")
    tap(phone, "Spam and blocked")
    yield "scam-folder", phone.observe().png


def _low_battery(phone: Phone) -> Iterator[tuple[str, bytes]]:
    note = {"app": "settings", "screen": "low_battery", "title": "Battery low", "text": "12% left"}
    phone.lay({"battery": 12, "notifications": [note | {"heads_up": True}]})
    yield "battery-heads-up", phone.observe().png
    tap(phone, "12% left")
    yield "battery-low", phone.observe().png


def _system(phone: Phone) -> Iterator[tuple[str, bytes]]:
    note = {"app": "messages", "screen": "thread", "args": {"name": "Noor Haddad"}, "heads_up": True, "id": 1}
    phone.lay({"notifications": [note | {"title": "Noor Haddad", "text": "Are you there? I am at the north gate."}]})
    yield "heads-up", phone.observe().png
    for name in ("messages", "notes", "clock"):
        phone.perform(Action("open_app", app=name))
    phone.perform(Action("press_recent"))
    yield "recents", phone.observe().png
    phone.perform(Action("swipe", at=(540, 10), direction="down"))
    yield "shade", phone.observe().png
    phone.perform(Action("open_app", app="messages"))
    tap(phone, "Search messages")
    yield "keyboard", phone.observe().png
    tap(phone, "?123")
    phone.perform(Action("input_text", text="nothing has this"))
    yield "keyboard-numbers", phone.observe().png


def shots(*, dark: bool = False) -> Iterator[tuple[str, bytes]]:
    """Yield the name and PNG of each screen."""
    yield "launcher", phone_at("launcher", "home", {}, dark=dark).observe().png
    for name, app, screen, args in SCREENS:
        yield name, phone_at(app, screen, args, dark=dark).observe().png
    yield from _food(phone_at("food", "menu", {"restaurant": "Copper Ladle"}, dark=dark))
    yield from _clock(phone_at("clock", "home", {}, dark=dark))
    yield from _maps(phone_at("maps", "place", {"name": "Canal Museum"}, dark=dark))
    yield from _trains(phone_at("browser", "train", {"number": "W134", "date": "2026-03-13"}, dark=dark))
    yield from _scam(phone_at("launcher", "home", {}, dark=dark))
    yield from _low_battery(phone_at("launcher", "home", {}, dark=dark))
    yield from _buying_shots(dark)
    yield from _system(phone_at("launcher", "home", {}, dark=dark))


def phone_at(app: str, screen: str, args: dict[str, Any], *, dark: bool = False) -> Phone:
    """Return a phone that shows the given screen."""
    phone = Phone()
    stack = [phone.snapshot()["nav"]["stacks"][app][0]]
    if screen != stack[0]["screen"]:
        stack.append({"screen": screen, "args": args})
    phone.lay({"nav": {"app": app, "stacks": {app: stack}}, "apps": {"settings": {"dark_theme": dark}}})
    return phone


def tap(phone: Phone, label: str) -> None:
    """Tap the last node on the screen with that text or description."""
    tree = phone.current_screen().tree
    nodes = [node for node in tree.nodes() if label in (node.text, node.desc)]
    phone.perform(Action("click", at=tree.target(nodes[-1]).bounds.center))


_Shots = Iterator[tuple[str, bytes]]


def _tap_id(phone: Phone, id: str) -> None:
    phone.perform(Action("click", at=phone.current_screen().tree.find(id=id)[0].bounds.center))


def _marrowby(dark: bool) -> _Shots:
    phone = phone_at("marrowby", "home", {}, dark=dark)
    _tap_id(phone, "search")
    phone.perform(Action("input_text", text="scarf"))
    yield "marrowby-search", phone.observe().png
    phone.perform(Action("navigate_back"))
    for label in ("Filter", "4 and up", "Red"):
        tap(phone, label)
    yield "marrowby-filter-set", phone.observe().png
    _tap_id(phone, "show")
    yield "marrowby-filtered", phone.observe().png
    tap(phone, "Merino scarf")
    tap(phone, "More of this product")
    tap(phone, "Add to cart")
    tap(phone, "Cart")
    yield "marrowby-cart-full", phone.observe().png
    _tap_id(phone, "checkout")
    yield "marrowby-checkout", phone.observe().png
    _tap_id(phone, "place_order")
    yield "marrowby-order", phone.observe().png
    _tap_id(phone, "cancel")
    yield "marrowby-cancel", phone.observe().png


def _quillbarn(dark: bool) -> _Shots:
    phone = phone_at("quillbarn", "category", {"name": "Home"}, dark=dark)
    tap(phone, "Wool blanket")
    tap(phone, "Double")
    yield "quillbarn-variant", phone.observe().png
    tap(phone, "Put in bag")
    tap(phone, "Navigate up")
    tap(phone, "Bag")
    yield "quillbarn-bag-full", phone.observe().png
    _tap_id(phone, "continue")
    yield "quillbarn-delivery", phone.observe().png
    _tap_id(phone, "continue")
    _tap_id(phone, "coupon")
    phone.perform(Action("input_text", text="QUILL10"))
    yield "quillbarn-coupon", phone.observe().png
    phone.perform(Action("navigate_back"))
    _tap_id(phone, "pay")
    yield "quillbarn-purchase", phone.observe().png


def _supper(dark: bool) -> _Shots:
    phone = phone_at("supper", "menu", {"restaurant": "Nonna Petra's Table"}, dark=dark)
    tap(phone, "Lemon roast chicken")
    tap(phone, "Large")
    yield "supper-dish", phone.observe().png
    tap(phone, "Add to basket")
    _tap_id(phone, "view_basket")
    yield "supper-basket-full", phone.observe().png
    _tap_id(phone, "checkout")
    yield "supper-checkout", phone.observe().png
    _tap_id(phone, "place_order")
    yield "supper-placed", phone.observe().png


def _buying_shots(dark: bool) -> _Shots:
    """Yield the name and PNG of each screen of buying."""
    yield from _marrowby(dark)
    yield from _quillbarn(dark)
    yield from _supper(dark)
