"""Vectorized parsing of times in rows."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_LONG = 32
"""Length of a time as hitlab writes it: 2026-04-01T09:00:00.000000+00:00."""
_FORM = np.frombuffer(b"____-__-__T__:__:__.______+00:00", dtype=np.uint8)
_DIGITS = np.flatnonzero(ord("_") == _FORM)
_SIGNS = np.flatnonzero(ord("_") != _FORM)
_NEVER = "0000-00-00T00:00:00.000000+00:00"


def milliseconds(times: list[str]) -> Floats:
    """Return ISO times as milliseconds since 1970, nan for empty or invalid ones.

    Times in hitlab's own format are parsed together.
    """
    text = "".join([time or _NEVER for time in times])
    if len(text) == _LONG * len(times) and text.isascii():
        table = np.frombuffer(text.encode(), dtype=np.uint8).reshape(-1, _LONG)
        digits = table[:, _DIGITS].astype(np.int64) - ord("0")
        if (table[:, _SIGNS] == _FORM[_SIGNS]).all() and ((digits >= 0) & (digits <= 9)).all():
            return _from_digits(digits)
    return np.array([_parse_millisecond(time) for time in times], dtype=np.float64)


def _from_digits(digits: Longs) -> Floats:
    """Return milliseconds from digits of year to microsecond, nan if the month is 0."""
    year, month, day, hour, minute = (
        _digits_to_int(digits[:, at : at + n]) for at, n in ((0, 4), (4, 2), (6, 2), (8, 2), (10, 2))
    )
    second, micro = _digits_to_int(digits[:, 12:14]), _digits_to_int(digits[:, 14:20])
    # numpy converts months to days, with leap years.
    first = (
        ((year - 1970) * 12 + np.maximum(month, 1) - 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    )
    seconds = (first + day - 1) * 86_400 + hour * 3600 + minute * 60 + second
    return np.where(month > 0, seconds * 1000.0 + micro / 1000.0, np.nan)


def _digits_to_int(digits: Longs) -> Longs:
    numbers: Longs = digits @ (10 ** np.arange(digits.shape[1] - 1, -1, -1, dtype=np.int64))
    return numbers


def _parse_millisecond(time: str) -> float:
    try:
        return datetime.fromisoformat(time).timestamp() * 1000
    except ValueError:
        return float("nan")
