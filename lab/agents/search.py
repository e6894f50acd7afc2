"""An app's own search, for what its lists do not show."""

from __future__ import annotations

from lab.agents.doing import Doing
from lab.agents.hands import Hands
from lab.agents.reading import mentions
from lab.uitree import Node

_SEARCH = ("search", "find", "搜索")


def by_search(hands: Hands, name: str) -> Doing[Node | None]:
    """What an app's search field finds under a name; None where there is no such field, or nothing is found."""
    field = search_field(hands)
    if field is None:
        return None
    yield from hands.fill(field, name, f"I search for {name}.")
    below = [n for n in hands.nodes() if n.bounds.top >= field.bounds.bottom and not n.cls.endswith("EditText")]
    return next((n for n in below if mentions(n.text, name) or mentions(n.desc, name)), None)


def search_field(hands: Hands) -> Node | None:
    """The field that an app is searched with."""
    return next((f for f in hands.fields() if any(mentions(f"{f.desc} {f.id}", word) for word in _SEARCH)), None)
