"""Sources of the page of requests: a stored run, or one that is under way."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from lab.core.run.step import Observation, Proposed, Spent, spent_by
from lab.core.run.trace import Ended
from lab.runs.replay.recorded_run import RecordedRun


class SentProposal(NamedTuple):
    """One step's proposal, with its number from 0. `seen` is the screen it was made for, if known."""

    number: int
    proposed: Proposed
    seen: Observation | None = None


class Album(Protocol):
    """The steps that a page can show. `read` and `picture` run off the UI thread and may raise `LabError`."""

    def count(self) -> int: ...

    def read(self, place: int) -> SentProposal | None:
        """Return the request at an index, or None if there was none, as at a run's end."""

    def picture(self, sha256: str) -> bytes | None:
        """Return the bytes of a picture, or None if the file lacks it."""


class StoredAlbum:
    """Requests of a stored run."""

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
    """Requests of a run under way. It grows with each proposal."""

    def __init__(self, picture: Callable[[str], bytes | None]) -> None:
        self._sent: list[SentProposal] = []
        self.first = 0
        """First step of this run itself. Earlier ones, and their cost, belong to the run it was forked from."""
        self.picture = picture

    def add(self, number: int, proposed: Proposed, observation: Observation | None = None) -> None:
        """Add a proposal. It replaces an earlier one for the same step that was never performed."""
        while self._sent and self._sent[-1].number >= number:
            earlier = self._sent.pop()
            if earlier.number == number and earlier.proposed == proposed and observation is None:
                observation = earlier.seen
        self._sent.append(SentProposal(number, proposed, observation))

    @property
    def total_usage(self) -> Spent | None:
        """Tokens and cost of all requests, or None if no model was asked."""
        return spent_by(proposal.proposed for proposal in self._sent if proposal.number >= self.first)

    def count(self) -> int:
        return len(self._sent)

    def read(self, place: int) -> SentProposal | None:
        return self._sent[place]
