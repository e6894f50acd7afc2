"""One task in many worlds: names replaced, prices changed, everywhere alike, by a seed.

What an agent has learnt by heart of a built-in task does not help in a world where the people, dishes, shops and prices
are called and cost otherwise. The instruction, the phone, the persona with its logs, the script and the checks change
together, so a run is scored as before. `renames/*.yaml` says which names may change: a list of groups, each from a name
to the names it may have; the names of one group change together (a person's full name and first name). A name written
in small letters changes too.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import msgspec

from lab.core.codec import convert, decode, encode, read_file, read_yaml
from lab.core.errors import LabError
from lab.core.task import Persona, Task
from simulators.users.scripted import Script

T = TypeVar("T", Task, Persona, Script)

_HERE = Path(__file__).parent / "renames"
_MONEY = frozenset(
    {"price", "prices", "fee", "fees", "total", "surcharge", "option_groups", "extra_prices", "minimum", "discount",
     "threshold", "saved", "fare"}
)  # fmt: skip
"""Keys below which every number with decimals is money."""
_AMOUNT = re.compile(r"(?<=\$)(\d+(?:\.\d\d)?)(?![\d.]*\d)")
_FACTORS = (0.8, 0.9, 1.1, 1.25, 1.4)

Group = dict[str, list[str]]


@dataclass(frozen=True)
class World:
    """What is called and costs otherwise: names by name, and the factor on prices."""

    names: Mapping[str, str]
    factor: float

    def task(self, task: Task) -> Task:
        """The task as it is asked in this world; its id stays, so that its script is found."""
        return self._struct(task, Task)

    def persona(self, persona: Persona) -> Persona:
        """The person, the profile and the log alike."""
        return self._struct(persona, Persona)

    def script(self, script: Script) -> Script:
        """What the person answers, and to which questions."""
        return self._struct(script, Script)

    def state(self, state: dict[str, Any]) -> dict[str, Any]:
        """A phone's whole state, with the task's overlay laid before."""
        if self._as_written:
            return state
        varied_state: dict[str, Any] = self._value(state, money=False)
        return varied_state

    @property
    def _as_written(self) -> bool:
        """Whether nothing is called or costs otherwise."""
        return not self.names and self.factor == 1.0

    def _struct(self, value: T, kind: type[T]) -> T:
        if self._as_written:
            return value
        plain = msgspec.to_builtins(value)
        varied = self._value(plain, money=False)
        if kind is not Persona:
            varied["id"] = plain["id"]
        return decode(encode(varied), kind, f"a varied {kind.__name__.lower()}")

    def _value(self, value: Any, *, money: bool) -> Any:
        match value:
            case dict():
                is_price = str(value.get("path", "")).rpartition(".")[2] in _MONEY
                return {
                    self._text(key): self._value(inner, money=money or is_price or key in _MONEY)
                    for key, inner in value.items()
                }
            case list() | tuple():
                return [self._value(inner, money=money) for inner in value]
            case str():
                return self._text(value)
            case float() if money:
                return self.price(value)
        return value

    def _text(self, text: str) -> str:
        renamed_text = self._named.sub(lambda m: self.names[m[0]], text) if self.names else text
        return _AMOUNT.sub(lambda m: self._amount(m[1]), renamed_text)

    @functools.cached_property
    def _named(self) -> re.Pattern[str]:
        """Any of the names; to look it up by all of them takes longer than to find none in a text."""
        return _pattern(tuple(self.names))

    def _amount(self, text: str) -> str:
        price = self.price(float(text))
        return f"{price:.0f}" if "." not in text and price == int(price) else f"{price:.2f}"

    def price(self, price: float) -> float:
        """An amount in this world; what was dearer stays dearer."""
        return round(price * self.factor, 2)


@functools.cache
def world(seed: int) -> World:
    """The world of a seed; 0 is the one that the files describe."""
    if seed == 0:
        return World({}, 1.0)
    names: dict[str, str] = {}
    for group in groups():
        first = next(iter(group))
        number = Random(f"{seed}/{first}").randrange(len(group[first]))
        names |= {name: others[number] for name, others in group.items()}
    small = {name.lower(): other.lower() for name, other in names.items() if name.lower() not in names}
    return World(small | names, Random(f"{seed}/prices").choice(_FACTORS))


@functools.cache
def groups() -> tuple[Group, ...]:
    """All names that may change; a `LabError` names the file and the group that is wrong."""
    group_list: list[Group] = []
    for path in sorted(_HERE.glob("*.yaml")):
        what = f"renames file {path}"
        file_groups: list[Group] = convert(read_yaml(read_file(path, what), what).value, list[Group], what)
        for number, group in enumerate(file_groups):
            lengths = {len(others) for others in group.values()}
            if len(lengths) != 1 or 0 in lengths:
                raise LabError(what, f"group {number + 1}: its names have not all the same number of others")
        group_list += file_groups
    return tuple(group_list)


@functools.cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the names as a whole word, the longest first. Chinese is written without gaps and has no bounds."""
    latin = [name for name in names if name[0].isascii()]
    others = [name for name in names if not name[0].isascii()]
    parts = [rf"(?<!\w)(?:{_any(latin)})" if latin else "", _any(others)]
    return re.compile("|".join(part for part in parts if part))


def _any(names: Sequence[str]) -> str:
    """One of the names; grouped by their first two characters, for a long list is slow to try."""
    alike: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        end = r"(?!\w)" if name[-1].isascii() else ""
        alike.setdefault(name[:2], []).append(re.escape(name[2:]) + end)
    return "|".join(f"{re.escape(begin)}(?:{'|'.join(rest)})" for begin, rest in alike.items())
