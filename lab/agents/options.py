"""The choices of a dish: which groups there are, what the log and the person say of each, and setting them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.doing import Doing, GiveUp
from lab.agents.habits import settled
from lab.agents.reading import mentions, named
from lab.agents.talk import Work, listed
from lab.uitree import Node


class Group(NamedTuple):
    """Choices of which one is taken, under their heading; `taken` is the one that is marked now."""

    name: str
    choices: tuple[str, ...]
    taken: str | None


class Sheet(NamedTuple):
    """All that can be chosen of a dish: groups of which one is taken, and extras of which any are."""

    groups: tuple[Group, ...]
    extras: tuple[str, ...]


def read_sheet(work: Work) -> Doing[Sheet]:
    """Every group of choices on this screen, scrolled through from where it stands to its end."""
    groups: dict[str, Group] = {}
    extras: list[str] = []
    last = ""
    for _ in range(8):
        last = _read(work, groups, extras, last)
        moved = yield from work.scroll("down", "I look at all the choices there are.")
        if not moved:
            break
    _read(work, groups, extras, last)
    return Sheet(tuple(g for g in groups.values() if len(g.choices) > 1), tuple(extras))


def _read(work: Work, groups: dict[str, Group], extras: list[str], last: str) -> str:
    """Adds what this part of the sheet shows; the heading that stood last, for choices whose own has gone."""
    inside: set[int] = set()
    for node in work.nodes():
        if node.checkable:
            label = node.desc or node.text or work.words_of(node)
            inside |= {id(n) for n in node.walk()}
            if node.cls.endswith("CheckBox"):
                if label not in extras:
                    extras.append(label)
                continue
            home = next((g for g in groups.values() if label in g.choices and not _shown(work, g.name, last)), None)
            name = home.name if home and last == "" else last
            old = groups.get(name, Group(name, (), None))
            choices = old.choices if label in old.choices else (*old.choices, label)
            groups[name] = Group(name, choices, label if node.checked else old.taken)
        elif node.text and id(node) not in inside and not node.clickable:
            last = node.text
    return last


def _shown(work: Work, name: str, last: str) -> bool:
    return name == last or work.find(name, exact=True) is not None


def decide(work: Work, group: Group, told: Sequence[str], texts: Sequence[str], dish: str) -> Doing[str | None]:
    """The choice of a group: what was told (the latest first), else what the log always shows, else what is answered.

    None where nobody ever said anything of it and something is taken already.
    """
    said = next((choice for text in told if (choice := named(text, group.choices)) is not None), None)
    if said is not None:
        return said
    always, ever = settled(texts, group.choices)
    if always is not None or (not ever and group.taken is not None):
        return always
    thought = (
        f"The log shows {listed(ever, 'and')} for {group.name} and none prevails, so I ask."
        if ever
        else f"The log says nothing of {group.name} and one must be chosen, so I ask."
    )
    before = f" Before, you took {listed(ever, 'and')}." if ever else ""
    question = f"{group.name} for {dish}: {listed(group.choices)}?{before}"
    return (yield from work.choose(question, group.choices, ever[0] if ever else None, thought))


def wanted_extras(extras: Sequence[str], told: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The extras that were asked for, or that the log shows nearly every time."""
    return [
        extra
        for extra in extras
        if any(named(text, [extra]) for text in told)
        or (texts and sum(mentions(t, extra) for t in texts) * 4 >= 3 * len(texts))
    ]


def set_choice(work: Work, label: str, heading: str, thought: str) -> Doing[None]:
    """Marks a choice, unless it is; a label that stands in two groups is taken below its heading."""
    for _ in range(3):
        row = _row(work, label, heading)
        for direction in ("up", "down"):
            while row is None:
                moved = yield from work.scroll("up" if direction == "up" else "down", f"I go back to {label}.")
                if not moved:
                    break
                row = _row(work, label, heading)
        if row is None:
            raise GiveUp(f"I do not find {label} any more")
        if row.checked:
            return
        yield from work.tap(row, thought)
    raise GiveUp(f"{label} cannot be chosen")


def _row(work: Work, label: str, heading: str) -> Node | None:
    rows = [n for n in work.nodes() if n.checkable and label in (n.desc, n.text, work.words_of(n))]
    if len(rows) < 2:
        return rows[0] if rows else None
    title = work.find(heading, exact=True)
    below = [row for row in rows if title is None or row.bounds.top >= title.bounds.top]
    return min(below, key=lambda row: row.bounds.top, default=None)
