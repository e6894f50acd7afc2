"""Permissions of each seat: other seats' screens, commands and palette entries do not exist in its app."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from lab.core.errors import LabError

if TYPE_CHECKING:
    from lab.core.settings import Settings


Seat = Literal["participant", "rater", "designer", "developer"]


def may_replay(seat: Seat) -> bool:
    """Return True if the seat may list and replay stored runs. A participant sees only their own live run."""
    return seat != "participant"


def may_run(seat: Seat) -> bool:
    """Return True if the seat may start or resume a run from Home. A rater only views runs."""
    return seat in ("designer", "developer")


def sees_outcomes(seat: Seat) -> bool:
    """Return True if the seat sees scores, checks, verdicts and the agent's name. A rater judges without them."""
    return seat in ("designer", "developer")


def may_debug(seat: Seat) -> bool:
    """Return True if the seat may fork and rewind runs, set breakpoints and see how runs are related."""
    return seat == "developer"


def may_answer(seat: Seat) -> bool:
    """Return True if the seat may answer at the endpoint. A rater judges the answers without knowing who gave them."""
    return seat != "rater"


def may_author(seat: Seat) -> bool:
    """Return True if the seat may draft and verify designs. Those who rate by them or take part may not."""
    return seat in ("designer", "developer")


def may_review(seat: Seat) -> bool:
    """Return True if the seat may proofread demonstrations and redact them."""
    return seat != "participant"


def rates_blind(seat: Seat, *, studies: bool) -> bool:
    """Return True if the app offers studies and nothing else: a rater with an open study looks nothing up."""
    return seat == "rater" and studies


def may_rate(seat: Seat) -> bool:
    """Return True if the seat rates in studies. A participant plays in them."""
    return seat != "participant"


def refuse_blind(settings: Settings, what: str) -> None:
    """Raise `LabError` if this seat must not see outcomes."""
    if settings.seat == "participant":
        raise LabError(what, "is not there for the seat participant.")


def check_seat(settings: Settings, may: Callable[[Seat], bool], what: str, hint: str = "") -> None:
    """Raise `LabError` if a command is not available to this seat. `may` is a rule of this module."""
    if not may(settings.seat):
        raise LabError(what, f"is not there for the seat {settings.seat}.", hint)


def refuse_recorded(settings: Settings, agent: str | None) -> None:
    """Raise `LabError` if this seat must not see outcomes: a recorded agent reveals how its run ended."""
    if (agent or "").startswith("recorded:"):
        check_seat(settings, sees_outcomes, "--agent recorded:ID")
