"""Finding a thing in a shop or on a menu, choosing how it should be and how many, and putting it into the cart."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from lab.agents.doing import Doing, GiveUp
from lab.agents.goals.buying import Buy, Thing
from lab.agents.reading import mentions, words
from lab.agents.search import search_field
from lab.agents.skills.options import decide, read_sheet, set_choice, wanted_extras
from lab.agents.talk import Work
from lab.uitree import Node

_FRONT = ("Search", "Find", "Shop", "Home", "Browse", "首页", "搜索")
_CLEAR = ("Clear search", "Clear text", "Clear", "清除")
_NARROWED = ("Remove filter", "Clear filter", "清除筛选")
_ADD = ("Add to cart", "Add to basket", "Add to bag", "Put in bag", "Put in cart", "加入购物车", "Add")
_ANEW = ("Start new", "New cart", "Replace", "Clear and add")
_PRICE = re.compile(r"[$€£¥]\s?(\d+(?:\.\d+)?)")
_RATING = re.compile(r"\b(\d(?:\.\d)?)\s*(?:stars?|/\s?5)", re.IGNORECASE)


def add(work: Work, plan: Buy, thing: Thing, before: Sequence[str]) -> Doing[Thing]:
    """Puts a thing into the cart as it is wanted; `before` says how it was taken before. What was taken."""
    described = plan.under is not None or plan.stars is not None
    fits = _within(work, plan) if described else lambda row: True
    passed: list[str] = []
    for _ in range(8):
        row = yield from _found(work, plan, thing, fits, passed)
        if row is None:
            break
        name = _name_of(work, row, thing)
        yield from work.tap(row, f"I open {name}.")
        taken = yield from _take(work, thing._replace(name=name), before, plan)
        if taken is not None:
            return taken
        passed.append(name)
        yield from work.back(f"{name} is not to be had as it is wanted; I go on looking.")
    raise GiveUp(f"I did not find {thing.said()}{f' at {plan.source or plan.app}'}")


def _within(work: Work, plan: Buy) -> Callable[[Node], bool]:
    """Whether what a row says of price and stars keeps to the limits."""

    def fits(row: Node) -> bool:
        said = work.words_of(row)
        price, rating = _PRICE.search(said), _RATING.search(said)
        dear = plan.under is not None and (price is None or float(price[1]) >= plan.under)
        poor = plan.stars is not None and (rating is None or float(rating[1]) < plan.stars)
        return not (dear or poor)

    return fits


def _found(
    work: Work, plan: Buy, thing: Thing, fits: Callable[[Node], bool], passed: Sequence[str]
) -> Doing[Node | None]:
    """The thing's row: by search, else on the menu of its kitchen; one that was looked at is passed over."""
    for query in dict.fromkeys(filter(None, (thing.name, plan.source))):
        if not (yield from _search(work, query)):
            return None
        if query == plan.source and query != thing.name:
            place = work.find(query, role="tap") or work.find(query)
            if place is None:
                continue
            yield from work.tap(work.row(place), f"I open {query}.")
        row = yield from _row(work, plan, thing, fits, passed)
        if row is not None:
            return row
    return None


def _search(work: Work, query: str) -> Doing[bool]:
    """Searches the app for a word; False where it has no search."""
    field = search_field(work)
    if field is None:
        yield from work.to_root()
        tab = work.find(*_FRONT, exact=True, role="tap")
        if tab is not None and search_field(work) is None:
            yield from work.tap(tab, "This is not where one searches; I go there.")
        field = search_field(work) or next(iter(work.fields()), None)
    if field is None:
        return False
    clear = work.find(*_CLEAR, exact=True, role="tap") if field.text and words(field.text) != words(query) else None
    if clear is not None:
        yield from work.tap(clear, f"I clear what was searched before: {field.text!r}.")
        field = search_field(work) or field
    if not (yield from work.fill(field, query, f"I search for {query}.")):
        return False
    for _ in range(8):
        narrowed = next((n for n in work.nodes() if n.clickable and n.desc.startswith(_NARROWED)), None)
        if narrowed is None:
            break
        yield from work.tap(narrowed, f"{narrowed.desc}: what I look for may be hidden by it.")
    return True


def _row(
    work: Work, plan: Buy, thing: Thing, fits: Callable[[Node], bool], passed: Sequence[str]
) -> Doing[Node | None]:
    """The first row that names the thing: just so before roughly, the kitchen's own where several have it."""
    for _ in range(10):
        texts = [n for n in work.nodes() if n.text and not n.cls.endswith("EditText")]
        exact = [n for n in texts if words(n.text) == words(thing.name)]
        rough = [n for n in texts if mentions(n.text, thing.name) and work.row(n).clickable]
        for node in exact or rough:
            row = work.row(node)
            said = work.words_of(row)
            here = not plan.source or mentions(said, plan.source) or work.find(plan.source, exact=True) is not None
            if row.clickable and here and fits(row) and not any(mentions(said, name) for name in passed):
                return row
        moved = yield from work.scroll("down", f"I look for {thing.name} further down.")
        if not moved:
            return None
    return None


def _name_of(work: Work, row: Node, thing: Thing) -> str:
    """What the thing in a row is called there: the words that hold the name looked for."""
    names = [n.text for n in row.walk() if n.text and mentions(n.text, thing.name)]
    return min(names, key=len, default=thing.name)


def _take(work: Work, thing: Thing, before: Sequence[str], plan: Buy) -> Doing[Thing | None]:
    """Chooses variants, extras and number of what is open, and adds it; None where it is not to be had so."""
    if work.find(*_ADD, role="tap") is None:
        return None
    sheet = yield from read_sheet(work)
    every = [choice for group in sheet.groups for choice in group.choices]
    strict = plan.under is not None or plan.stars is not None
    if strict and not all(any(mentions(choice, trait) for choice in every) for trait in thing.traits):
        return None
    told = [", ".join(thing.traits)]
    traits = []
    for group in sheet.groups:
        choice = yield from decide(work, group, told, before, thing.name)
        if choice is not None:
            yield from set_choice(work, choice, group.name, sheet, f"{group.name}: I take {choice}.")
            traits.append(choice)
    for extra in wanted_extras(sheet.extras, told, before):
        yield from set_choice(work, extra, "", sheet, f"I add {extra}.")
    if not (yield from _count(work, thing.quantity)):
        if strict:
            return None
        raise GiveUp(f"there are not {thing.quantity} of {thing.name}")
    button = work.find(*_ADD, role="tap")
    if button is None:
        return None
    yield from work.tap(button, f"I put {thing.quantity} x {thing.name} into the cart.")
    anew = work.find(*_ANEW, exact=True, role="tap")
    if anew is not None:
        yield from work.tap(anew, "The cart still holds things of another place; I start a new one.")
    return thing._replace(traits=tuple(traits))


def _count(work: Work, wanted: int) -> Doing[bool]:
    """Sets how many are taken; False where there are not so many."""
    for _ in range(40):
        more = next((n for n in work.nodes() if n.clickable and n.label.startswith(("More", "Increase"))), None)
        less = next((n for n in work.nodes() if n.clickable and n.label.startswith(("Less", "Decrease"))), None)
        if more is None or less is None:
            return wanted == 1
        number = _between(work, less, more)
        if number is None or number == wanted:
            return number == wanted
        yield from work.tap(more if number < wanted else less, f"There stands {number}; I want {wanted}.")
        if _between(work, less, more) == number:
            return False
    return False


def _between(work: Work, less: Node, more: Node) -> int | None:
    """The number that stands between the two buttons."""
    for node in work.nodes():
        level = abs(node.bounds.center[1] - less.bounds.center[1]) < 60
        if level and less.bounds.left < node.bounds.center[0] < more.bounds.right and node.text.isdecimal():
            return int(node.text)
    return None
