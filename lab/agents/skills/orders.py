"""Ordering food or drink: from a wish and the log to a placed order."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from lab.agents.doing import Doing, GiveUp
from lab.agents.goals import Order, goals_in, phase_in, remark_in
from lab.agents.habits import Usual, usual_order
from lab.agents.reading import mentions, words
from lab.agents.search import search_field
from lab.agents.skills.cart import check_out, in_cart, placed, to_cart
from lab.agents.skills.options import decide, read_sheet, set_choice, wanted_extras
from lab.agents.talk import Work, listed
from lab.uitree import Node

_HINTS = ("food", "delivery", "eats", "meals", "takeaway", "外卖", "美食")
_SIGNS = ("restaurants", "dishes", "deliver to", "cart", "delivery", "menu", "餐厅", "外卖")
_OTHER = re.compile(
    r"settings|clock|alarm|message|sms|phone|contact|note|camera|photo|gallery|mail|calendar|browser|map|music|calculator",
    re.IGNORECASE,
)
"""What apps are called that certainly sell no food."""
_FRONT = ("Home", "Search", "Discover", "Browse", "首页")
_ADD = ("Add to cart", "Add to basket", "Add to order", "加入购物车", "Add")
_ANEW = ("Start new", "New cart", "Replace", "Clear and add")
_VAGUE = re.compile(
    r"\b(usual|normal|same|favou?rite|food|meal|lunch|dinner|breakfast|supper|snack|something|anything|things?|some|to|eat"
    r"|drink|the|my|our|a|of)\b",
    re.IGNORECASE,
)


class Plan(NamedTuple):
    """An order made definite, and the log's words of how it was made before."""

    order: Order
    texts: tuple[str, ...]


def place_order(work: Work, goal: Order) -> Doing[None]:
    """Orders what is wanted, asking for what neither the wish nor the log says; stops where it is already placed."""
    plan = yield from _definite(work, goal)
    dish = plan.order.what
    if placed(work, dish):
        return
    if not in_cart(work, dish):
        yield from _open(work, plan.order)
        if not (yield from to_cart(work, dish)):
            sheet = yield from _find_dish(work, plan.order)
            yield from _choose(work, plan, sheet)
            if not (yield from to_cart(work, dish)):
                raise GiveUp(f"{dish} did not come into the cart")
    remark = remark_in(" ".join(work.said)) or plan.order.remark
    yield from check_out(work, plan.order._replace(remark=remark))


def _definite(work: Work, goal: Order) -> Doing[Plan]:
    """The wish filled up from the log."""
    core = " ".join(_VAGUE.sub(" ", goal.what).split())
    phase = phase_in(goal.what) or phase_in(work.brief.instruction)
    usual = usual_order(work.deeds, core, phase, work.now)
    if usual is None and core:
        return Plan(goal._replace(what=core if _VAGUE.match(goal.what) else goal.what), ())
    if usual is None:
        reply = yield from work.ask_once(
            "What shall I order, and from where?", "The log shows no such order, so I ask."
        )
        return Plan(_spoken(reply, goal), ())
    if usual.times * 2 < usual.of:
        usual = yield from _ask_dish(work, usual)
    known = usual.order
    order = Order(
        known.what, goal.source or known.source, goal.remark or known.remark,
        goal.traits, known.app, goal.to or known.to, goal.payment or known.payment,
    )  # fmt: skip
    return Plan(order, usual.texts)


def _ask_dish(work: Work, usual: Usual) -> Doing[Usual]:
    done = [d.goal.what for d in work.deeds if isinstance(d.goal, Order)]
    names = [name for name, _ in Counter(done).most_common(4)]
    question = f"What shall I order: {listed(names)}?"
    picked = yield from work.choose(question, names, usual.order.what, "The log shows no dish that prevails, so I ask.")
    return usual_order(work.deeds, picked, None, work.now) or usual


def _spoken(reply: str, goal: Order) -> Order:
    """An order out of a reply such as `the soup from the corner`."""
    found = next((g for g in goals_in(f"order {reply}") if isinstance(g, Order)), None)
    if found is None or not found.what:
        raise GiveUp("I could not tell what to order")
    return found._replace(remark=found.remark or goal.remark, to=goal.to)


def _open(work: Work, order: Order) -> Doing[None]:
    """The app the log names for this or any order, else one whose name or first screen speaks of food."""
    used = Counter(d.goal.app for d in work.deeds if isinstance(d.goal, Order) and d.goal.app)
    names = [name for name in (order.app, *(app for app, _ in used.most_common(1))) if name]
    if names and (yield from work.open_app(*names, hints=_HINTS)):
        return
    yield from work.home("I know no app for food by name; I look at those there are.")
    icons = [node.label for node in work.nodes() if node.clickable and node.label]
    for icon in sorted(icons, key=lambda label: not any(mentions(label, hint) for hint in _HINTS)):
        if not _OTHER.search(icon) and (yield from work.open_app(icon)) and work.shows(*_SIGNS):
            return
    raise GiveUp(f"I found no app to order food with{f' called {order.app}' if order.app else ''}")


def _find_dish(work: Work, order: Order) -> Doing[Node]:
    """Opens the dish: by search, else on the menu of its restaurant; the button that adds it."""
    for query in dict.fromkeys(filter(None, (order.what, order.source))):
        field = search_field(work) or next(iter(work.fields()), None)
        tab = work.find(*_FRONT, exact=True, role="tap") if field is None else None
        if tab is not None:
            yield from work.tap(tab, "This is not where one searches; I go to the front of the app.")
            field = search_field(work) or next(iter(work.fields()), None)
        if field is None:
            break
        yield from work.fill(field, query, f"I search for {query}.")
        if query == order.source:
            place = yield from work.seek(order.source, role="tap", most=4)
            place = place or work.find(order.source)
            if place is not None and place.cls != field.cls:
                yield from work.tap(work.row(place), f"I open {order.source}.")
        row = yield from _row_of(work, order)
        if row is not None:
            yield from work.tap(row, f"I open {order.what}.")
            add = work.find(*_ADD, role="tap")
            if add is not None:
                return add
        if query == order.source:
            yield from work.to_root()
    raise GiveUp(f"I did not find {order.what}{f' at {order.source}' if order.source else ''}")


def _row_of(work: Work, order: Order) -> Doing[Node | None]:
    """The dish in a list, the restaurant's own where several cook one of that name."""
    for _ in range(10):
        rows = [work.row(n) for n in work.nodes() if words(n.text) == words(order.what) and not n.focusable]
        rows = rows or [work.row(n) for n in work.nodes() if mentions(n.text, order.what) and "EditText" not in n.cls]
        own = [row for row in rows if mentions(work.words_of(row), order.source)] if order.source else rows
        here = bool(order.source) and work.find(order.source, exact=True) is not None
        if own or (rows and (here or len(rows) == 1)):
            return (own or rows)[0]
        moved = yield from work.scroll("down", f"I look for {order.what} further down.")
        if not moved:
            return None
    return None


def _choose(work: Work, plan: Plan, add: Node) -> Doing[None]:
    """Sets the choices of the dish that is open, and puts it into the cart."""
    dish = plan.order.what
    sheet = yield from read_sheet(work)
    told = [*reversed(work.said), work.brief.instruction, ", ".join(plan.order.traits)]
    for group in sheet.groups:
        choice = yield from decide(work, group, told, plan.texts, dish)
        if choice is not None:
            yield from set_choice(work, choice, group.name, sheet, f"{group.name}: I take {choice}.")
    for extra in wanted_extras(sheet.extras, told, plan.texts):
        yield from set_choice(work, extra, "", sheet, f"I add {extra}.")
    button = work.find(*_ADD, role="tap") or add
    yield from work.tap(button, f"I put {dish} into the cart.")
    anew = work.find(*_ANEW, exact=True, role="tap")
    if anew is not None:
        yield from work.tap(anew, "The cart still holds dishes of another place; I start a new one.")
