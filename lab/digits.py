"""A number of a scale, typed: two keys reach every step of 0 to 100, and of 0 to 1 in hundredths.

Where steps are below one, hundredths are typed: 85 is .85. Two digits are enough at once, one needs Enter after it;
on a scale up to 100 (or 1.00) the digits 00 are its top, and 0 with Enter is 0.
"""

from __future__ import annotations

from lab.protocol import Field

_TOP = 100


def factor(field: Field) -> int:
    """What a value is multiplied by to be typed."""
    return _TOP if field.step is not None and field.step < 1 else 1


def width(field: Field) -> int:
    """How many digits are enough at once, without Enter."""
    most = round((field.most or 0) * factor(field))
    return 2 if most == _TOP else len(str(most))


def typed(field: Field, digits: str) -> float | int | None:
    """The value that typed digits mean; None where the scale has no such value."""
    if not (digits.isascii() and digits.isdigit()) or field.least is None or field.most is None:
        return None
    by = factor(field)
    top = round(field.most * by) == _TOP and digits == "00"
    number = _TOP if top else int(digits)
    if not field.least * by - 1e-9 <= number <= field.most * by + 1e-9:
        return None
    steps = (number / by - field.least) / (field.step or 1)
    if abs(steps - round(steps)) > 1e-6:
        return None
    return number if by == 1 else number / by
