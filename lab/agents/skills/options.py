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
    for _ in range(8):
        _read(work, groups, extras)
        moved = yield from work.scroll("down", "I look at all the choices there are.")
        if not moved:
            break
    return Sheet(tuple(g for g in groups.values() if len(g.choices) > 1), tuple(extras))


def _read(work: Work, groups: dict[str, Group], extras: list[str]) -> None:
    """Adds what this part of the sheet shows."""
    rows = _rows(work)
    heading = _before(rows, list(groups))
    for row in rows:
        if isinstance(row, str):
            heading = row
        elif row.cls.endswith("CheckBox"):
            extras += [label for label in [_label(work, row)] if label not in extras]
        else:
            label = _label(work, row)
            old = groups.get(heading, Group(heading, (), None))
            choices = old.choices if label in old.choices else (*old.choices, label)
            groups[heading] = Group(heading, choices, label if row.checked else old.taken)


def _rows(work: Work) -> list[str | Node]:
    """Headings and choices from the top down."""
    body = work.body()
    rows: list[str | Node] = []
    inside: set[int] = set()
    for node in body.walk() if body else []:
        if node.checkable:
            inside |= {id(n) for n in node.walk()}
            rows.append(node)
        elif node.text and id(node) not in inside and not node.clickable:
            rows.append(node.text)
    return rows


def _before(rows: Sequence[str | Node], known: Sequence[str]) -> str:
    """The heading that has scrolled away above the first choices: the one before the first that still stands here."""
    here = next((known.index(row) for row in rows if isinstance(row, str) and row in known), len(known))
    return known[here - 1] if here > 0 else ""


def _label(work: Work, row: Node) -> str:
    return row.desc or row.text or work.words_of(row)


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


def set_choice(work: Work, label: str, heading: str, sheet: Sheet, thought: str) -> Doing[None]:
    """Marks a choice below its heading (an extra has none), unless it is marked."""
    for _ in range(3):
        row = _row(work, label, heading, sheet)
        for direction in ("up", "down"):
            while row is None:
                moved = yield from work.scroll("up" if direction == "up" else "down", f"I go back to {label}.")
                if not moved:
                    break
                row = _row(work, label, heading, sheet)
        if row is None:
            raise GiveUp(f"I do not find {label} any more")
        if row.checked:
            return
        yield from work.tap(row, thought)
    raise GiveUp(f"{label} cannot be chosen")


def _row(work: Work, label: str, heading: str, sheet: Sheet) -> Node | None:
    rows = _rows(work)
    under = _before(rows, [group.name for group in sheet.groups])
    for row in rows:
        if isinstance(row, str):
            under = row
        elif _label(work, row) == label and heading in ("", under):
            return row
    return None
