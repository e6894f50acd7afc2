"""Pictures of buying: the shops and Suppertide with filled carts."""

from __future__ import annotations

from collections.abc import Iterator

from lab.core.run.step import Action
from simulators.phone.phone import Phone
from simulators.phone.shots_phone import at, tap

_Shots = Iterator[tuple[str, bytes]]


def _press(phone: Phone, id: str) -> None:
    phone.perform(Action("click", at=phone.look().tree.find(id=id)[0].bounds.center))


def _marrowby(dark: bool) -> _Shots:
    phone = at("marrowby", "home", {}, dark=dark)
    _press(phone, "search")
    phone.perform(Action("input_text", text="scarf"))
    yield "marrowby-search", phone.observe().png
    phone.perform(Action("navigate_back"))
    for label in ("Filter", "4 and up", "Red"):
        tap(phone, label)
    yield "marrowby-filter-set", phone.observe().png
    _press(phone, "show")
    yield "marrowby-filtered", phone.observe().png
    tap(phone, "Merino scarf")
    tap(phone, "More of this product")
    tap(phone, "Add to cart")
    tap(phone, "Cart")
    yield "marrowby-cart-full", phone.observe().png
    _press(phone, "checkout")
    yield "marrowby-checkout", phone.observe().png
    _press(phone, "place_order")
    yield "marrowby-order", phone.observe().png
    _press(phone, "cancel")
    yield "marrowby-cancel", phone.observe().png


def _quillbarn(dark: bool) -> _Shots:
    phone = at("quillbarn", "category", {"name": "Home"}, dark=dark)
    tap(phone, "Wool blanket")
    tap(phone, "Double")
    yield "quillbarn-variant", phone.observe().png
    tap(phone, "Put in bag")
    tap(phone, "Navigate up")
    tap(phone, "Bag")
    yield "quillbarn-bag-full", phone.observe().png
    _press(phone, "continue")
    yield "quillbarn-delivery", phone.observe().png
    _press(phone, "continue")
    _press(phone, "coupon")
    phone.perform(Action("input_text", text="QUILL10"))
    yield "quillbarn-coupon", phone.observe().png
    phone.perform(Action("navigate_back"))
    _press(phone, "pay")
    yield "quillbarn-purchase", phone.observe().png


def _supper(dark: bool) -> _Shots:
    phone = at("supper", "menu", {"restaurant": "Nonna Petra's Table"}, dark=dark)
    tap(phone, "Lemon roast chicken")
    tap(phone, "Large")
    yield "supper-dish", phone.observe().png
    tap(phone, "Add to basket")
    _press(phone, "view_basket")
    yield "supper-basket-full", phone.observe().png
    _press(phone, "checkout")
    yield "supper-checkout", phone.observe().png
    _press(phone, "place_order")
    yield "supper-placed", phone.observe().png


def shots(dark: bool) -> _Shots:
    """Yield the name and PNG of each screen of buying."""
    yield from _marrowby(dark)
    yield from _quillbarn(dark)
    yield from _supper(dark)
