"""Typing a number of a scale: 0 is 0, 85 is 85, 100 is 100.

If the step is below one, hundredths are typed. A number is complete if no further digit could follow. Otherwise Enter
ends it. A leading zero is allowed (07 is 7), so 0 alone is not complete either.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor

from lab.core.study.protocol import Field

_TOP = 100


def factor(field: Field) -> int:
    """Return the factor from a value to the typed number."""
    return _TOP if field.step is not None and field.step < 1 else 1


def largest_number(field: Field) -> int:
    """Return the largest number that can be typed."""
    return round((field.most or 0) * factor(field))


def parse_digits(field: Field, digits: str) -> float | int | None:
    """Return the value of typed digits, None if the scale does not have it."""
    number = next((number for number in numbers(field) if digits in _forms(field, number)), None)
    by = factor(field)
    return number if number is None or by == 1 else number / by


def may_continue(field: Field, digits: str) -> bool:
    """Return True if a further digit could follow."""
    forms = (form for number in numbers(field) for form in _forms(field, number))
    return any(form.startswith(digits) and form != digits for form in forms)


def numbers(field: Field) -> Iterator[int]:
    """Yield every number of the scale as typed, in ascending order. An open scale yields nothing."""
    if field.least is None or field.most is None:
        return
    by = factor(field)
    # The tolerances absorb binary fractions: 0.29 * 100 is 28.999999999999996.
    for number in range(ceil(field.least * by - 1e-9), floor(field.most * by + 1e-9) + 1):
        steps = (number / by - field.least) / (field.step or 1)
        if abs(steps - round(steps)) <= 1e-6:
            yield number


def _forms(field: Field, number: int) -> tuple[str, ...]:
    """Return the ways to type a number."""
    return (str(number), f"{number:02d}") if largest_number(field) > 9 else (str(number),)
