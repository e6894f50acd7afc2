"""Which commands there are for whom: the same rule of seats as the app's rooms, told in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lab.errors import LabError

if TYPE_CHECKING:
    from lab.settings import Settings
    from screens.seats import Seat


def check_seat(settings: Settings, may: Callable[[Seat], bool], what: str, hint: str = "") -> None:
    """Raises `LabError` where a command is not for the person of this seat; `may` is a rule of `screens.seats`."""
    if not may(settings.seat):
        raise LabError(what, f"is not there for the seat {settings.seat}.", hint)
