"""A number of a scale, typed as it reads: 0 is 0, 85 is 85, 100 is 100.

Where steps are below one, hundredths are typed. A number is complete where no further digit could follow it, and is
else ended by Enter. A zero may stand before one digit (07 is 7), so 0 alone is not complete, either.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor

from lab.core.protocol import Field

_TOP = 100


def factor(field: Field) -> int:
    """What a value is multiplied by to be typed."""
    return _TOP if field.step is not None and field.step < 1 else 1


def top(field: Field) -> int:
    """The largest number that is typed."""
    return round((field.most or 0) * factor(field))


def typed(field: Field, digits: str) -> float | int | None:
    """The value that typed digits mean; None where the scale has no such value."""
    number = next((number for number in numbers(field) if digits in _forms(field, number)), None)
    by = factor(field)
    return number if number is None or by == 1 else number / by


def goes_on(field: Field, digits: str) -> bool:
    """Whether a further digit could follow these on this scale."""
    forms = (form for number in numbers(field) for form in _forms(field, number))
    return any(form.startswith(digits) and form != digits for form in forms)


def numbers(field: Field) -> Iterator[int]:
    """Every number of the scale as it is typed, from its least; none where the scale is open."""
    if field.least is None or field.most is None:
        return
    by = factor(field)
    for number in range(ceil(field.least * by - 1e-9), floor(field.most * by + 1e-9) + 1):
        steps = (number / by - field.least) / (field.step or 1)
        if abs(steps - round(steps)) <= 1e-6:
            yield number


def _forms(field: Field, number: int) -> tuple[str, ...]:
    """How a number may be typed."""
    return (str(number), f"{number:02d}") if top(field) > 9 else (str(number),)
