"""The cart of any shop or kitchen: what stands in it, making it hold just what is wanted, and the way to the till."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.doing import Doing, GiveUp, Seen
from lab.agents.goals.buying import Buy, Thing
from lab.agents.hands import Hands
from lab.agents.reading import mentions, shown_time, words
from lab.agents.talk import Work
from lab.uitree import Node

_CART = ("View cart", "View basket", "View bag", "Go to cart", "Cart", "Basket", "Bag", "Trolley", "购物车")
_MORE, _LESS = ("More", "Add one", "Increase", "增加"), ("Less", "Remove", "Delete", "Decrease", "减少", "移除")
_ON = (
    "Checkout",
    "Go to checkout",
    "Proceed to checkout",
    "Continue",
    "Continue to payment",
    "Next",
    "去结算",
    "下一步",
)
_BUY = ("Place order", "Confirm order", "Order now", "Submit order", "Pay now", "Buy now", "提交订单", "下单", "付款")
_ADDRESS = ("Ship to", "Deliver to", "Bring to", "Delivery address", "Address", "送至", "地址")
_PAY = ("Pay with", "Payment method", "Payment", "支付方式")
_WHEN = ("When", "Delivery time", "Time of delivery", "送达时间")
_REMARK = ("note", "remark", "comment", "instructions", "备注")
_DONE = re.compile(
    r"\b(placed|confirmed|thank you for your order|preparing|on its way|arrives)\b|下单成功", re.IGNORECASE
)
_MONEY = re.compile(r"[$€£¥]\s?(\d+(?:\.\d+)?)")


class Line(NamedTuple):
    """One thing in the cart: all that is said of it, how many, and the buttons that make it fewer and more."""

    said: tuple[str, ...]
    quantity: int
    less: Node
    more: Node

    def holds(self, thing: Thing) -> bool:
        """Whether this is the thing, in the way it is wanted."""
        whole = " ".join(self.said)
        named = any(words(part) == words(thing.name) for part in self.said)
        return named and all(mentions(whole, trait) for trait in thing.traits)


def bought(work: Work, things: Sequence[Thing]) -> bool:
    """Whether the screen, or one that someone else came to, says that just these things were bought."""
    for s in (work, *(Hands(Seen(tree)) for tree in work.witnessed)):
        texts = s.texts()
        told = any(_DONE.search(text) for text in texts) and s.find(*_BUY, role="tap") is None
        shown = [t for t in things if s.shows(f"{t.quantity} x {t.name}")]
        if told and shown and (len(shown) == len(things) or s.lists()):
            return True
    return False


def open_cart(work: Work) -> Doing[bool]:
    """Opens the cart from an app's first screen; False where there is none to open, as it is empty."""
    button = work.find(*_CART, role="tap")
    if button is None:
        return False
    yield from work.tap(button, "I look into the cart.")
    return True


def lines(work: Work) -> list[Line]:
    """What stands in the cart, as far as it can be seen."""
    mores = [n for n in work.nodes() if n.clickable and n.label in _MORE and n.bounds.height > 60]
    lesses = [n for n in work.nodes() if n.clickable and n.label in _LESS]
    said: dict[Node, list[str]] = {more: [] for more in mores}
    for node in work.nodes():
        near = min(mores, key=lambda m: abs(m.bounds.center[1] - node.bounds.center[1]), default=None)
        if node.text and near and abs(near.bounds.center[1] - node.bounds.center[1]) < 180 and not node.clickable:
            said[near].append(node.text)
    found = []
    for more in mores:
        beside = [n for n in lesses if abs(n.bounds.center[1] - more.bounds.center[1]) < 40]
        number = next((int(text) for text in said[more] if text.isdecimal()), 0)
        if beside and number:
            found.append(Line(tuple(said[more]), number, beside[0], more))
    return found


def tidy(work: Work, things: Sequence[Thing]) -> Doing[list[Thing]]:
    """Takes out of the cart what is not wanted, makes the numbers right; the things that are in it."""
    there: list[Thing] = []
    for _ in range(60):
        changed = False
        for line in lines(work):
            thing = next((t for t in things if line.holds(t)), None)
            if thing is None or line.quantity > thing.quantity:
                why = f"I want {thing.quantity} of it" if thing else "that was not asked for"
                yield from work.tap(line.less, f"The cart holds {line.quantity} x {line.said[0]}; {why}.")
                changed = True
                break
            if line.quantity < thing.quantity:
                yield from work.tap(line.more, f"I make it {thing.quantity} x {thing.name}.")
                changed = True
                break
            there += [thing] if thing not in there else []
        if not changed:
            moved = yield from work.scroll("down", "I look at what else the cart holds.")
            if not moved:
                return there
    raise GiveUp("the cart cannot be put right")


def to_till(work: Work, plan: Buy) -> Doing[Node]:
    """From the cart to the button that buys, choosing address, time and payment on the way."""
    for _ in range(6):
        yield from _pick(work, _ADDRESS, plan.to, work.brief.place if not plan.to else "")
        if plan.when is not None:
            yield from _pick(work, _WHEN, shown_time(plan.when), "")
        yield from _pick(work, _PAY, plan.payment, "")
        button = work.find(*_BUY, role="tap")
        if button is not None:
            if plan.remark:
                yield from _remark(work, plan.remark)
            return work.find(*_BUY, role="tap") or button
        on = work.find(*_ON, role="tap")
        if on is None:
            break
        yield from work.tap(on, "I go on to where it is paid.")
    raise GiveUp("I found no way to pay for what is in the cart")


def sum_at(button: Node) -> float | None:
    """The amount that the button says will be paid."""
    found = _MONEY.search(button.label)
    return float(found[1]) if found else None


def _pick(work: Work, names: tuple[str, ...], wanted: str, place: str) -> Doing[None]:
    """Chooses the entry that fits, among those that stand here or behind the row of that name."""
    if not (wanted or place):
        return
    title = work.find(*names)
    if title is None:
        return
    row = work.row(title)
    if row.clickable and not row.checkable:
        if _fits(work.words_of(row), wanted, place):
            return
        yield from work.tap(row, f"It says {work.words_of(row)[:60]!r}; I look at the others.")
    entry = _entry(work, wanted, place)
    if entry is not None and not (entry.checked and work.find(*names) is not None):
        yield from work.tap(entry, f"I choose {work.words_of(entry)[:60]!r}.")
    elif entry is None and wanted:
        raise GiveUp(f"there is no {wanted!r} to choose under {title.label!r}")
    elif entry is None and row.clickable:
        yield from work.back("None of these fits better; I go back.")


def _entry(work: Work, wanted: str, place: str) -> Node | None:
    """The radio button that is wanted."""
    entries = [n for n in work.nodes() if n.checkable and _fits(work.words_of(n), wanted, place)]
    return entries[0] if entries else None


def _fits(text: str, wanted: str, place: str) -> bool:
    if wanted:
        return mentions(text, wanted)
    return len(set(words(text)) & set(words(place))) >= 2


def _remark(work: Work, remark: str) -> Doing[None]:
    field = yield from work.seek(*_REMARK, role="field", most=4)
    if field is None or not (yield from work.fill(field, remark, f"I add the remark {remark!r}.")):
        raise GiveUp(f"I found no place for the remark {remark!r}")
    if any(f.focused for f in work.fields()):
        yield from work.back("I put the keyboard away.")
