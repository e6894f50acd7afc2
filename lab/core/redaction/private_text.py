"""Find text in a run that looks private: numbers, addresses, codes, names from its persona, password fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from lab.core.redaction.text_redaction import MASK
from lab.core.run.step import Observation
from lab.core.run.trace import Trace
from lab.core.run.ui_tree import Bounds
from lab.core.task.task import Persona

Looks = Literal["e-mail", "card", "phone", "code", "name", "password"]

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
# Not a price, a decimal or a date: no currency sign, comma or slash before it, and no ISO or dotted date.
_NUMBER = re.compile(
    r"(?<![\w.,:/$€£¥-])(?!\d{4}-\d\d-\d\d|\d{1,2}[.-]\d{1,2}[.-]\d{4})\+?\(?\d(?:[\s().\-]{0,2}\d){6,18}(?![\w])"
)
_CODE = re.compile(r"(?<![\w.,:$€£¥-])\d{4,8}(?![\w.,:%])")
_CODE_WORDS = re.compile(r"\b(?:code|pin|otp|passcode|password|verification|verify|2fa)\b", re.I)
_CARD_DIGITS = range(13, 20)
_PERSONAL_KEYS = ("name", "phone", "mobile", "email", "mail", "address", "birth", "passport", "account")
"""Words in the key of a persona's fact that mark it as personal."""
_SHORTEST = 4


class Suspect(NamedTuple):
    """Something that looks private, and the steps (from 0) that show it. `box` is for a field without text."""

    looks: Looks
    text: str
    steps: tuple[int, ...]
    box: Bounds | None = None


def suspects(trace: Trace) -> list[Suspect]:
    """Return what looks private in a run, the surest first. It is a suggestion and may miss some."""
    names = _persona_names(trace.persona)
    by_text: dict[tuple[Looks, str], list[int]] = {}
    boxes: list[Suspect] = []
    for index, texts, screen in _read_steps(trace):
        for text in texts:
            for looks, what in [*_match_patterns(text), *((("name"), name) for name in names if name in text)]:
                steps = by_text.setdefault((looks, what), [])
                if not steps or steps[-1] != index:
                    steps.append(index)
        boxes += [Suspect("password", "", (index,), box) for box in _password_boxes(screen)]
    order: tuple[Looks, ...] = ("e-mail", "card", "phone", "name", "code")
    words = [Suspect(looks, what, tuple(steps)) for (looks, what), steps in by_text.items()]
    words.sort(key=lambda suspect: order.index(suspect.looks))
    # One text may look like several things. Only the surest is listed.
    first: dict[str, Suspect] = {}
    for suspect in words:
        first.setdefault(suspect.text, suspect)
    return boxes + list(first.values())


def places_words(places: Sequence[int], steps: int) -> str:
    """Format positions (from 0) in a run of `steps` steps: `step 2`, `steps 2, 3 and the last screen`."""
    numbers = [str(place + 1) for place in places if place < steps]
    step_words = [f"step{'s' * (len(numbers) > 1)} {', '.join(numbers)}"] if numbers else []
    return " and ".join([*step_words, *(["the last screen"] if any(place >= steps for place in places) else [])])


def _read_steps(trace: Trace) -> Iterator[tuple[int, list[str], Observation | None]]:
    """Yield the texts of each step and of the last screen: from the tree, the action and the dialogue."""
    yield 0, [trace.task.instruction, trace.task.title], None
    for step in trace.steps:
        action = step.action or step.proposed.action
        texts = [action.text or "", step.proposed.instruction, step.proposed.thought]
        texts += [step.question.text if step.question else "", step.reply.text if step.reply else ""]
        yield step.index, [*texts, *_texts(step.before)], step.before
    if trace.ended is not None and trace.ended.final is not None:
        yield len(trace.steps), _texts(trace.ended.final), trace.ended.final


def _texts(screen: Observation) -> list[str]:
    if screen.tree is None:
        return []
    return [text for node in screen.tree.nodes() for text in (node.text, node.desc) if text]


def _password_boxes(screen: Observation | None) -> list[Bounds]:
    if screen is None or screen.tree is None:
        return []
    return [node.bounds for node in screen.tree.nodes() if node.password and node.bounds.area]


def _match_patterns(text: str) -> Iterable[tuple[Looks, str]]:
    for match in _EMAIL.finditer(text):
        yield "e-mail", match[0]
    for match in _NUMBER.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if len(digits) in _CARD_DIGITS:
            if _luhn(digits):
                yield "card", match[0]
        elif len(digits) >= 7:
            yield "phone", match[0]
    if _CODE_WORDS.search(text):
        for match in _CODE.finditer(text):
            yield "code", match[0]


def _luhn(digits: str) -> bool:
    """Return True if a number passes the check digit of payment cards (ISO/IEC 7812-1, annex B)."""
    weights = [int(d) * (2 if i % 2 else 1) for i, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in weights) % 10 == 0


def _persona_names(persona: Persona | None) -> list[str]:
    if persona is None:
        return []
    names = [persona.name, *_personal_facts(persona.facts, telling=False)]
    return [name for name in dict.fromkeys(names) if len(name) >= _SHORTEST and not name.isdigit() and MASK not in name]


def _personal_facts(value: Any, *, telling: bool) -> Iterator[str]:
    """Yield a persona's own texts under keys that mark them as personal."""
    match value:
        case str() if telling:
            yield value.strip()
        case dict():
            for key, inner in value.items():
                yield from _personal_facts(inner, telling=any(word in str(key).casefold() for word in _PERSONAL_KEYS))
        case list():
            for inner in value:
                yield from _personal_facts(inner, telling=telling)
