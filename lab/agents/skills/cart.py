"""The cart: what is in it, the remark, the address, the payment, and placing the order."""

from __future__ import annotations

from lab.agents.doing import Doing, GiveUp, Seen
from lab.agents.goals import Order
from lab.agents.hands import Hands
from lab.agents.reading import mentions, words
from lab.agents.talk import Work
from lab.uitree import Node

_CART = ("View cart", "View basket", "Cart", "Basket", "Go to cart", "购物车", "去结算")
_ON = ("Go to checkout", "Proceed to checkout", "Checkout")
_ORDER = ("Place order", "Order now", "Submit order", "Confirm order", "Pay now", "提交订单", "下单")
_PLACED = ("Order placed", "Order confirmed", "Thank you for your order", "Preparing", "On its way", "下单成功")
_REMARK = ("note", "remark", "comment", "instructions", "request", "备注")
_ADDRESS = ("Deliver to", "Bring to", "Delivery address", "Address", "Ship to", "送至", "地址")
_PAY = ("Pay with", "Payment method", "Payment", "支付方式")
_AWAY = ("Remove", "Delete", "Less", "移除")


def placed(work: Work, dish: str) -> bool:
    """Whether the screen, or one that someone else came to, says that an order with this dish is placed."""
    screens = [work, *(Hands(Seen(tree)) for tree in work.witnessed)]
    return any(s.shows(*_PLACED) and s.shows(dish) and s.find(*_ORDER, role="tap") is None for s in screens)


def in_cart(work: Work, dish: str) -> bool:
    """Whether this is the cart, with the dish in it."""
    return work.find(*_ORDER, role="tap") is not None and work.shows(dish)


def to_cart(work: Work, dish: str) -> Doing[bool]:
    """Opens the cart where there is one; True when the dish is in it, and what is not wanted is out."""
    button = work.find(*_CART, role="tap")
    if button is None:
        return False
    yield from work.tap(button, "I look into the cart.")
    for _ in range(8):
        other = _stranger(work, dish)
        if other is None:
            break
        yield from work.tap(other, "The cart holds something that was not asked for; I take it out.")
    on = work.find(*_ON, role="tap")
    if on is not None and work.find(*_ORDER, role="tap") is None and work.shows(dish):
        yield from work.tap(on, "I go on to where it is paid.")
    if in_cart(work, dish):
        return True
    yield from work.to_root()
    return False


def _stranger(work: Work, dish: str) -> Node | None:
    """The button that takes out something else than the dish."""
    if work.find(*_ORDER, *_ON, role="tap") is None:
        return None
    buttons = [n for n in work.nodes() if n.clickable and n.label in _AWAY]
    rows: dict[Node, list[str]] = {button: [] for button in buttons}
    for node in work.nodes():
        if node.text and buttons:
            middle = node.bounds.center[1]
            rows[min(buttons, key=lambda b: abs(b.bounds.center[1] - middle))].append(node.text)
    return next((b for b, texts in rows.items() if not any(mentions(text, dish) for text in texts)), None)


def check_out(work: Work, order: Order) -> Doing[None]:
    """Remark, address and payment as wanted, then the order."""
    if order.remark:
        yield from _remark(work, order.remark)
    yield from _pick(work, _ADDRESS, order.to, work.brief.place, "that is where it is to be brought")
    yield from _pick(work, _PAY, order.payment, "", "that is how it is to be paid")
    button = work.find(*_ORDER, role="tap")
    if button is None:
        raise GiveUp("I found no way to place the order")
    yield from work.tap(button, f"Everything is as it should be; I order {order.what}.")
    if work.find(*_ORDER, role="tap") is not None:
        raise GiveUp("the order was not taken")


def _remark(work: Work, remark: str) -> Doing[None]:
    field = yield from work.seek(*_REMARK, role="field", most=4)
    if field is None:
        raise GiveUp(f"I found no place for the remark {remark!r}")
    if not (yield from work.fill(field, remark, f"I add the remark {remark!r}.")):
        raise GiveUp(f"the remark {remark!r} could not be written")
    if any(f.focused for f in work.fields()):
        yield from work.back("I put the keyboard away.")


def _pick(work: Work, names: tuple[str, ...], wanted: str, place: str, why: str) -> Doing[None]:
    """Chooses, behind a row, the entry that fits best what is wanted or where one is; nothing where none fits."""
    if not (wanted or place):
        return
    title = yield from work.seek(*names, most=4)
    if title is None:
        return
    row = work.row(title)
    if _fit(work.words_of(row), wanted, place) >= 2:
        return
    yield from work.tap(row, f"It says {work.words_of(row)[:60]!r}; I look at the others.")
    rows = [n for n in work.nodes() if n.checkable or n.clickable]
    best = max(rows, key=lambda n: _fit(work.words_of(n), wanted, place), default=None)
    if best is not None and _fit(work.words_of(best), wanted, place) > 0:
        yield from work.tap(best, f"I choose {(best.label or work.words_of(best))[:60]!r}: {why}.")
    if work.find(*_ORDER, role="tap") is None:
        yield from work.back("None of these fits better; I go back.")


def _fit(text: str, wanted: str, place: str) -> int:
    """How well an entry fits: by what was said (2 and more), else by the words it shares with the place."""
    if wanted and (mentions(text, wanted) or mentions(wanted, text)):
        return 100
    if not place:
        return len(set(words(text)) & set(words(wanted)))
    shared = set(words(text)) & set(words(place))
    return len(shared) if len(shared) >= 2 or len(words(place)) == 1 else 0
