"""Numbers as tables and sentences print them: rounded half up by their decimal digits, as papers do; so many of it."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal


def rounded(value: float, digits: int, times: int = 1) -> str:
    """`value` x `times` with so many digits behind the point and thousands apart.

    121 of 400 is 30.25 %, which is told as 30.3: a machine's own rounding goes to the even digit, and from there to
    30.2. The shortest decimal number that a value is written as is what is rounded, so 1.005 becomes 1.01. A value that
    is not finite is told as it is. What is rounded to nothing has no sign.
    """
    exact = Decimal(repr(float(value))) * times
    if not exact.is_finite():
        return str(float(value))
    near = exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP) if exact.adjusted() < 20 else exact
    text = f"{near:,.{digits}f}"
    return text.lstrip("-") if not text.strip("-0.") else text


def count(many: int, one: str, more: str = "") -> str:
    """So many of something, in words: `more` is its plural where that is not an s more."""
    return f"{many:,} {one if many == 1 else more or one + 's'}"
