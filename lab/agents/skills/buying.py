"""Buying: from a wish and the log to the things in the cart, the till and the order; and where it costs less."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lab.agents.doing import Doing, GiveUp
from lab.agents.goals import goals_in, phase_in
from lab.agents.goals.buying import Buy, Cheaper, Thing, needed
from lab.agents.habits import Deed, apart, within
from lab.agents.purchases import merged_buys
from lab.agents.reading import mentions
from lab.agents.skills.basket import bought, open_cart, sum_at, tidy, to_till
from lab.agents.skills.shelf import add
from lab.agents.talk import Work, listed, listed_times
from lab.uitree import Node

_HINTS = ("shop", "store", "market", "mall", "groceries", "商店", "超市")


def do_buy(work: Work, goal: Buy) -> Doing[None]:
    """Buys what is wanted, asking for what neither the wish nor the log says; stops where it is bought already."""
    plan = yield from work.once(("plan", goal), _definite(work, goal))
    if bought(work, taken(work, plan)):
        return
    button = yield from _at_till(work, plan)
    yield from work.tap(button, f"All is as it should be; I {plan.said()}.")
    if not bought(work, taken(work, plan)):
        raise GiveUp("the order was not taken")


def judge_cheaper(work: Work, condition: Cheaper) -> Doing[bool]:
    """Sees what a purchase comes to at both places, delivery and all, and empties the dearer one's cart again."""
    things = needed(work.brief.instruction)
    if not things:
        raise GiveUp("I do not know what is to be compared")
    sums = []
    for app in (condition.one, condition.other):
        plan = Buy(things, app)
        sums.append((yield from work.once(("sum", plan), _sum(work, plan))))
    dearer = condition.other if sums[0] < sums[1] else condition.one
    yield from work.once(("emptied", dearer), _empty(work, dearer))
    return sums[0] < sums[1]


def _sum(work: Work, plan: Buy) -> Doing[float]:
    button = yield from _at_till(work, plan)
    amount = sum_at(button)
    if amount is None:
        raise GiveUp(f"I cannot see what it comes to at {plan.app}")
    return amount


def _empty(work: Work, app: str) -> Doing[None]:
    yield from _open(work, Buy((), app))
    if (yield from open_cart(work)):
        yield from tidy(work, ())


def _at_till(work: Work, plan: Buy) -> Doing[Node]:
    """The cart holds just what is wanted, and the button that buys it is here."""
    yield from _open(work, plan)
    there: list[Thing] = []
    if (yield from open_cart(work)):
        there = yield from tidy(work, taken(work, plan))
    missing = [t for t in plan.things if not any(_same(work, plan, t, other) for other in there)]
    for thing in missing:
        yield from _open(work, plan)
        work.known["taken", plan.app, thing] = yield from add(work, plan, thing, _before(work, thing))
    if missing:
        yield from _open(work, plan)
        if not (yield from open_cart(work)):
            raise GiveUp("I find no cart to look into")
        there = yield from tidy(work, taken(work, plan))
    if len(there) < len(plan.things):
        raise GiveUp("not everything came into the cart")
    return (yield from to_till(work, plan))


def taken(work: Work, plan: Buy) -> list[Thing]:
    """The things as they were put into the cart, as far as they were."""
    return [work.known.get(("taken", plan.app, thing), thing) for thing in plan.things]


def _same(work: Work, plan: Buy, thing: Thing, other: Thing) -> bool:
    return bool(other == work.known.get(("taken", plan.app, thing), thing))


def _before(work: Work, thing: Thing) -> list[str]:
    """How the log says that a thing was taken, each time."""
    every = [t for d in work.deeds if isinstance(d.goal, Buy) for t in d.goal.things if t.name == thing.name]
    return [", ".join(t.traits) for t in every if t.traits]


def _open(work: Work, plan: Buy) -> Doing[None]:
    """The app that is named, else one whose name speaks of a shop."""
    names = [plan.app] if plan.app else []
    if not (yield from work.open_app(*names, hints=() if names else _HINTS)):
        raise GiveUp(f"I found no app to buy it in{f' called {plan.app}' if plan.app else ''}")


def _definite(work: Work, goal: Buy) -> Doing[Buy]:
    """The wish filled up from the log, and what the log leaves open asked."""
    usual = _usual(work, goal) if goal.label or not goal.things else []
    plan = goal
    if not goal.things:
        if not usual:
            return (yield from _spoken(work, goal))
        plan = merged_buys([deed.goal for deed in usual if isinstance(deed.goal, Buy)])
        plan = plan._replace(to=goal.to or plan.to, payment=goal.payment or plan.payment, when=goal.when or plan.when)
    things = []
    for thing in plan.things:
        counted = thing if thing.quantity else (yield from _number(work, thing, usual))
        things.append((yield from _sorted_out(work, counted, usual)))
    return (yield from _timed(work, plan._replace(things=tuple(things)), usual))


def _usual(work: Work, goal: Buy) -> list[Deed]:
    """The log's purchases of that name, else those at that time of day, else at this hour."""
    buys = [d for d in work.deeds if isinstance(d.goal, Buy) and d.goal.things]
    named = [d for d in buys if goal.label and (d.goal.key[-1] == goal.label or mentions(d.entry.text, goal.label))]
    if named:
        return named
    phase = phase_in(goal.label or work.brief.instruction)
    near = [d for d in buys if phase is not None and within(d.entry.minute, phase.start, phase.end)]
    counts = Counter(d.goal.key for d in near)
    return [d for d in near if d.goal.key == counts.most_common(1)[0][0]] if near else []


def _number(work: Work, thing: Thing, usual: list[Deed]) -> Doing[Thing]:
    """How many of a thing, where the log shows several numbers."""
    numbers = [t.quantity for d in usual if isinstance(d.goal, Buy) for t in d.goal.things if t.name == thing.name]
    ranked = [str(n) for n, _ in Counter(numbers).most_common()]
    question = f"How many {thing.name} shall it be: {listed(ranked)}?"
    picked = yield from work.choose(question, ranked, ranked[0], f"The log shows {listed(ranked, 'and')}, so I ask.")
    return thing._replace(quantity=int(picked))


def _sorted_out(work: Work, thing: Thing, usual: list[Deed]) -> Doing[Thing]:
    """A thing with the trait that the log shows now this way, now that, asked before anything is done."""
    every = [t for d in usual if isinstance(d.goal, Buy) for t in d.goal.things if t.name == thing.name]
    counts = Counter(trait for t in every for trait in t.traits if trait not in thing.traits)
    if len(counts) < 2:
        return thing
    ranked = [trait for trait, _ in counts.most_common()]
    question = f"{thing.name}: {listed(ranked)}? Before, it was now this, now that."
    thought = f"The log shows {listed(ranked, 'and')} for {thing.name} and none prevails, so I ask."
    picked = yield from work.choose(question, ranked, ranked[0], thought)
    return thing._replace(traits=(*thing.traits, picked))


def _timed(work: Work, plan: Buy, usual: list[Deed]) -> Doing[Buy]:
    """For what time, where the log shows several."""
    times = [d.goal.when for d in usual if isinstance(d.goal, Buy) and d.goal.when is not None]
    if plan.when is not None or not times:
        return plan
    ranked = tuple(minute for minute, _ in Counter(times).most_common())
    question = f"For what time shall I order {plan.label or 'it'}? Before, it was {listed_times(ranked)}."
    thought = f"The log shows {listed_times(ranked)} and none prevails, so I ask."
    minute = yield from work.choose_time(question, ranked, thought)
    return plan._replace(when=_half(minute, ranked))


def _half(minute: int | None, usual: Sequence[int]) -> int | None:
    """A time that was said without its half of the day, in the half in which it usually is."""
    if minute is None or minute >= 12 * 60:
        return minute
    return min((minute, minute + 12 * 60), key=lambda m: min(apart(m, u) for u in usual))


def _spoken(work: Work, goal: Buy) -> Doing[Buy]:
    """What is said when nothing is known of what is meant."""
    question = f"What shall I buy for {goal.label}, how many of each, and where?"
    reply = yield from work.ask_once(question, "The log shows no such purchase, so I ask.")
    found = next((g for g in goals_in(f"buy {reply}") if isinstance(g, Buy) and g.things), None)
    if found is None:
        raise GiveUp("I could not tell what to buy")
    return found._replace(to=goal.to or found.to)
