"""Where a page finds what a model was sent at each step: in a stored run, or in one that is under way."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from lab.core.step import Observation, Proposed, Spent, spent
from lab.core.trace import Ended
from lab.runs.recorded_run import RecordedRun


class SentProposal(NamedTuple):
    """One step's proposal, from 0; `seen` is the screen that it was made for, where that is known."""

    number: int
    proposed: Proposed
    seen: Observation | None = None


class Album(Protocol):
    """The steps that a page can show. `read` and `picture` are called off the UI thread and may raise `LabError`."""

    def count(self) -> int: ...

    def read(self, place: int) -> SentProposal | None:
        """What was sent at a place; None where nothing was, as at a run's end."""

    def picture(self, sha256: str) -> bytes | None:
        """The bytes of a picture; None where the file does not hold it."""


class StoredAlbum:
    """A stored run's."""

    def __init__(self, reel: RecordedRun) -> None:
        self._reel = reel

    def count(self) -> int:
        return len(self._reel.lines)

    def read(self, place: int) -> SentProposal | None:
        if not 0 <= place < self.count():
            return None  # a run that is begun and has no step yet
        event = self._reel.view(place).event
        return None if isinstance(event, Ended) else SentProposal(event.index, event.proposed, event.before)

    def picture(self, sha256: str) -> bytes | None:
        blob = self._reel.runs.blob(sha256)
        return blob.data if blob else None


class LiveAlbum:
    """A run's that is under way: grows with each proposal."""

    def __init__(self, picture: Callable[[str], bytes | None]) -> None:
        self._sent: list[SentProposal] = []
        self.first = 0
        """The first step of the run's own; those before it are its parent's, and so is what they cost."""
        self.picture = picture

    def add(self, number: int, proposed: Proposed, observation: Observation | None = None) -> None:
        """A proposal was made; it stands in place of an earlier one for the same step that was never done."""
        while self._sent and self._sent[-1].number >= number:
            earlier = self._sent.pop()
            if earlier.number == number and earlier.proposed == proposed and observation is None:
                observation = earlier.seen
        self._sent.append(SentProposal(number, proposed, observation))

    @property
    def spent(self) -> Spent | None:
        """What all of it cost; None where no model was asked."""
        return spent(proposal.proposed for proposal in self._sent if proposal.number >= self.first)

    def count(self) -> int:
        return len(self._sent)

    def read(self, place: int) -> SentProposal | None:
        return self._sent[place]
