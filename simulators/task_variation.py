"""Variants of a task by seed: consistently replaced names and changed prices.

What an agent has memorized of a built-in task does not help if people, dishes, shops and prices differ. The
instruction, the phone, the persona with its logs, the script and the checks change together, so scoring works as
before. `renames/*.yaml` lists the replaceable names in groups, each name with its alternatives. The names of one group
change together (a person's full name and first name). The lower-case form of a name changes too.
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
from lab.core.task.task import Persona, Task
from simulators.users.scripted import Script

T = TypeVar("T", Task, Persona, Script)

_HERE = Path(__file__).parent / "renames"
_MONEY = frozenset(
    {"price", "prices", "fee", "fees", "total", "surcharge", "option_groups", "extra_prices", "minimum", "discount",
     "threshold", "saved", "fare"}
)  # fmt: skip
"""Keys whose decimal numbers, at any depth below, are money."""
_AMOUNT = re.compile(r"(?<=\$)(\d+(?:\.\d\d)?)(?![\d.]*\d)")
_FACTORS = (0.8, 0.9, 1.1, 1.25, 1.4)

Group = dict[str, list[str]]


@dataclass(frozen=True)
class World:
    """Replacements of one variant: names by name, and the factor on prices."""

    names: Mapping[str, str]
    factor: float

    def task(self, task: Task) -> Task:
        """Return the task in this world. Its id stays, so that its script is found."""
        return self._struct(task, Task)

    def persona(self, persona: Persona) -> Persona:
        """Return the persona in this world, profile and log alike."""
        return self._struct(persona, Persona)

    def script(self, script: Script) -> Script:
        """Return the script in this world, questions and replies."""
        return self._struct(script, Script)

    def state(self, state: dict[str, Any]) -> dict[str, Any]:
        """Return a phone's whole state in this world. Apply the task's overlay before."""
        if self._is_original:
            return state
        varied_state: dict[str, Any] = self._value(state, money=False)
        return varied_state

    @property
    def _is_original(self) -> bool:
        """True if this world has no replacements."""
        return not self.names and self.factor == 1.0

    def _struct(self, value: T, kind: type[T]) -> T:
        if self._is_original:
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
        renamed_text = self._names_pattern.sub(lambda m: self.names[m[0]], text) if self.names else text
        return _AMOUNT.sub(lambda m: self._amount(m[1]), renamed_text)

    @functools.cached_property
    def _names_pattern(self) -> re.Pattern[str]:
        """Pattern of all names, cached: its lookup by all names costs more than a search without a match."""
        return _pattern(tuple(self.names))

    def _amount(self, text: str) -> str:
        price = self.price(float(text))
        return f"{price:.0f}" if "." not in text and price == int(price) else f"{price:.2f}"

    def price(self, price: float) -> float:
        """Return an amount in this world. The order of prices stays the same."""
        return round(price * self.factor, 2)


@functools.cache
def world(seed: int) -> World:
    """Return the world of a seed. Seed 0 is the one in the files."""
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
    """Return all groups of names. Raise `LabError` with the file and the wrong group."""
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
    """Return a pattern of any name as a whole word, longest first. Chinese names have no word boundaries."""
    latin = [name for name in names if name[0].isascii()]
    others = [name for name in names if not name[0].isascii()]
    parts = [rf"(?<!\w)(?:{_alternation(latin)})" if latin else "", _alternation(others)]
    return re.compile("|".join(part for part in parts if part))


def _alternation(names: Sequence[str]) -> str:
    """Return an alternation of the names, grouped by their first two characters."""
    # A long flat alternation is slow: the engine tries each name at each position.
    alike: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        end = r"(?!\w)" if name[-1].isascii() else ""
        alike.setdefault(name[:2], []).append(re.escape(name[2:]) + end)
    return "|".join(f"{re.escape(begin)}(?:{'|'.join(rest)})" for begin, rest in alike.items())
