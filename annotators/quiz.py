"""Questions about a persona's facts, to be answered from memory before a person plays the persona.

They are drawn by hashes from the study's seed, so that every participant with this persona gets the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from lab.core.task.task import Persona

PASS = 0.8
"""Share of right answers at the first try that passes, if the study has no bar of its own."""
_MOST_OPTIONS = 4
_LEAST_OPTIONS = 3
_LONGEST_ANSWER = 160
"""Maximum characters of an answer. Longer facts are not questions of memory."""
_LATE_SECTIONS = ("locations", "identity", "digital_context")
"""Sections that are asked last, because they have little influence on decisions."""
_UNASKED = {
    "full_name", "nickname", "auth_documents", "contact_info", "latitude", "longitude", "security", "time_zone", "type",
}  # fmt: skip
"""Facts that are never asked: part of the question itself, secrets, contact data, and values for machines."""

Path = tuple[str, ...]


class QuizItem(NamedTuple):
    """One question: `place` is the fact's path in words, `options` are in display order, `right` is the answer's index.

    `id` names the fact. The same question in another round has the same id and another order of options.
    """

    id: str
    place: tuple[str, ...]
    options: tuple[str, ...]
    right: int

    @property
    def answer(self) -> str:
        return self.options[self.right]


def quiz(persona: Persona, others: Iterable[Persona], count: int, seed: int, round: int = 1) -> list[QuizItem]:
    """Return at most `count` questions on a persona, one section after the other, fewer if too few facts qualify.

    Wrong options are other personas' values of the same fact, else values of similar facts.
    """
    own = dict(_leaves(persona.facts))
    foreign = [dict(_leaves(other.facts)) for other in others if other.id != persona.id]
    items: list[QuizItem] = []
    for path in _facts_in_turn(own, seed, persona.id):
        if len(items) == count:
            break
        wrong = _wrong_options(path, own, foreign, seed)
        if len(wrong) + 1 >= _LEAST_OPTIONS:
            items.append(_quiz_item(path, own[path], wrong, seed, round))
    return items


def pass_mark(bar: float | None) -> float:
    """Return the pass mark of a study."""
    return PASS if bar is None else bar


def _quiz_item(path: Path, answer: str, wrong: Sequence[str], seed: int, round: int) -> QuizItem:
    options = sorted([answer, *wrong], key=lambda option: _draw_key(seed, "option", round, *path, option))
    return QuizItem("/".join(path), tuple(key.replace("_", " ") for key in path), tuple(options), options.index(answer))


def _facts_in_turn(own: dict[Path, str], seed: int, persona: str) -> Iterator[Path]:
    """Yield the facts to ask about: one of each section in turn, those with the most influence first."""
    sections: dict[str, list[Path]] = {}
    for path in sorted(own, key=lambda path: _draw_key(seed, "fact", persona, *path)):
        sections.setdefault(path[0], []).append(path)
    ranks = {name: _LATE_SECTIONS.index(name) + 1 if name in _LATE_SECTIONS else 0 for name in sections}
    order = sorted(sections, key=lambda name: (ranks[name], _draw_key(seed, "section", persona, name)))
    for turn in range(max(map(len, sections.values()), default=0)):
        for name in order:
            if turn < len(sections[name]) and not (ranks[name] and turn > 0):
                yield sections[name][turn]
    for name in order:
        # The rest of the unimportant sections follows after everything else.
        if ranks[name]:
            yield from sections[name][1:]


def _wrong_options(path: Path, own: dict[Path, str], foreign: Sequence[dict[Path, str]], seed: int) -> list[str]:
    """Return wrong options: others' values of this fact, then of facts of the same kind, then of the same section."""
    pool = [*foreign, own]
    tiers = [
        [facts[path] for facts in foreign if path in facts],
        [value for facts in pool for at, value in facts.items() if at != path and _are_alike(at, path)],
        [value for facts in pool for at, value in facts.items() if at != path and at[:1] == path[:1]],
    ]
    # An option equal to the right one, but for case, would be right as well.
    option_keys, wrong = {own[path].casefold()}, list[str]()
    for tier in tiers:
        for value in sorted(set(tier), key=lambda value: _draw_key(seed, "wrong", *path, value)):
            if value.casefold() not in option_keys and len(wrong) < _MOST_OPTIONS - 1:
                option_keys.add(value.casefold())
                wrong.append(value)
    return wrong


def _are_alike(one: Path, other: Path) -> bool:
    return one[0] == other[0] and one[-1] == other[-1]


def _leaves(facts: dict[str, Any], path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield each fact that can be asked about: its path, and its value as a line."""
    for key, fact in facts.items():
        if key in _UNASKED:
            continue
        yield from _leaf(fact, (*path, str(key)))


def _leaf(fact: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(fact, dict):
        yield from _leaves(fact, path)
    elif isinstance(fact, list) and any(isinstance(item, dict) for item in fact):
        for number, item in enumerate(fact, 1):
            if isinstance(item, dict):
                rest = {key: value for key, value in item.items() if key != "name"}
                yield from _leaves(rest, (*path, str(item.get("name", number))))
    else:
        value = _list_text(fact) if isinstance(fact, list) else str(fact)
        if 1 < len(value) <= _LONGEST_ANSWER and value != "None":
            yield path, " ".join(value.split())


def _list_text(entries: list[Any]) -> str:
    """Join a list into one line. Sentences need no comma."""
    items = [str(item) for item in entries]
    return (" " if all(item.endswith((".", "。")) for item in items) else ", ").join(items)


def _draw_key(seed: int, *of: object) -> bytes:
    # A hash instead of `random`, whose draws may differ between versions of Python.
    text = "\x1f".join(map(str, (seed, *of)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
