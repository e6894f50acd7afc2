"""What each seat may see: other seats' screens, commands and palette entries do not exist in its app."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from lab.core.errors import LabError

if TYPE_CHECKING:
    from lab.core.settings import Settings


Seat = Literal["participant", "rater", "designer", "developer"]


def may_replay(seat: Seat) -> bool:
    """Whether stored runs are listed and played back; a participant sees only their own live run."""
    return seat != "participant"


def may_run(seat: Seat) -> bool:
    """Whether this person may start or resume a run from Home; a rater only looks at runs."""
    return seat in ("designer", "developer")


def sees_outcomes(seat: Seat) -> bool:
    """Whether scores, checks, the source's verdicts and the agent's name are shown; a rater judges without them."""
    return seat in ("designer", "developer")


def may_debug(seat: Seat) -> bool:
    """Whether this person forks and rewinds runs, stops them at breakpoints, and sees which belong together."""
    return seat == "developer"


def may_answer(seat: Seat) -> bool:
    """Whether this person answers at the endpoint; a rater judges what was answered, and knows nobody's part in it."""
    return seat != "rater"


def may_author(seat: Seat) -> bool:
    """Whether this person drafts and verifies what a task's parts are; who rates by them, or takes part, does not."""
    return seat in ("designer", "developer")


def may_review(seat: Seat) -> bool:
    """Whether this person proofreads what others recorded, and takes out of it what is private."""
    return seat != "participant"


def rates_blind(seat: Seat, *, studies: bool) -> bool:
    """Whether this person's app has studies and nothing else: a rater to whom any is open looks nothing up."""
    return seat == "rater" and studies


def may_rate(seat: Seat) -> bool:
    """Whether this person rates in studies; a participant plays in them."""
    return seat != "participant"


def refuse_blind(settings: Settings, what: str) -> None:
    """Outcomes are not for every seat: raises `LabError` where this one must not see them."""
    if settings.seat == "participant":
        raise LabError(what, "is not there for the seat participant.")


def check_seat(settings: Settings, may: Callable[[Seat], bool], what: str, hint: str = "") -> None:
    """Raises `LabError` where a command is not for the person of this seat; `may` is a rule of `lab.studies.seats`."""
    if not may(settings.seat):
        raise LabError(what, f"is not there for the seat {settings.seat}.", hint)


def refuse_recorded(settings: Settings, agent: str | None) -> None:
    """A stored run that is done again tells how it ended: raises `LabError` where this seat must not see outcomes."""
    if (agent or "").startswith("recorded:"):
        check_seat(settings, sees_outcomes, "--agent recorded:ID")
