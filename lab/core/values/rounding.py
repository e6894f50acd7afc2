"""Format numbers for tables and sentences: rounded half up in decimal, as papers do, and counts with nouns."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal


def format_number(value: float, digits: int, times: int = 1) -> str:
    """Return `value` x `times` with `digits` decimals and separated thousands.

    121 of 400 is 30.25 %, printed as 30.3, where binary rounding to even would give 30.2. It rounds the shortest
    decimal form of the value, so 1.005 becomes 1.01. A value that is not finite is printed as it is. A value that
    rounds to zero has no sign.
    """
    exact = Decimal(repr(float(value))) * times
    if not exact.is_finite():
        return str(float(value))
    # `quantize` raises for numbers beyond Decimal's 28 digits.
    near = exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP) if exact.adjusted() < 20 else exact
    text = f"{near:,.{digits}f}"
    return text.lstrip("-") if not text.strip("-0.") else text


def count(many: int, one: str, more: str = "") -> str:
    """Return a count with its noun. `more` is the plural if it does not just add an s."""
    return f"{many:,} {one if many == 1 else more or one + 's'}"
