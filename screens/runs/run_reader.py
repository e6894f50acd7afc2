"""Reads a file's runs for their table, off the UI thread: rows by pages, and what runs cost a few at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

from lab.core.errors import LabError
from lab.runs.run_rows import Cost, RunEntry, cost_of, entry

if TYPE_CHECKING:
    from store.store import Store

Stamp = tuple[int, int, int, int]
"""What a file's rows are known by: another one where any run came, grew or was archived (`Runs.rows_stamp`)."""
FIRST, PAGE = 200, 2000
"""Rows read at once: few to begin with, so that something stands there at once."""
FEW = 40
"""Runs whose steps are read at once."""


class RunsReader:
    """Posts to `owner` what was read; what was begun before the last `renew` is not posted on."""

    @dataclass
    class Paged(Message):
        """More rows were read, from the newest on where `first`; `whole` with the last of them.

        `stamp` is what the file's rows were known by when their reading began.
        """

        serial: int
        entries: list[RunEntry]
        first: bool
        whole: bool
        stamp: Stamp

    @dataclass
    class Costed(Message):
        """What these runs cost is known now."""

        costs: dict[str, Cost]

    @dataclass
    class Refused(Message):
        """The file cannot be read."""

        error: LabError

    def __init__(self, owner: Widget, store: Store) -> None:
        self._owner = owner
        self._store = store
        self._stamp: Stamp | None = None
        """Of the rows that were taken last."""
        self._serial = 0
        self.costing = False
        """Whether costs are being read."""

    def renew(self) -> None:
        """Reads every row anew where the file is another than when they were read last."""
        self._serial += 1
        self._work(partial(self._rows, self._serial))

    def takes(self, page: Paged) -> bool:
        """Whether a page is of the newest reading; once the last of them is taken, the same rows are not read again."""
        if page.serial != self._serial:
            return False
        if page.whole:
            self._stamp = page.stamp
        return True

    def cost(self, ids: Iterable[str]) -> None:
        """Reads what the first few of these runs cost."""
        few = [id for id, _ in zip(ids, range(FEW), strict=False)]
        if few and not self.costing:
            self.costing = True
            self._work(partial(self._costs, few))

    def _work(self, work: Callable[[], None]) -> None:
        self._owner.run_worker(work, thread=True)

    def _rows(self, serial: int) -> None:
        try:
            stamp = self._store.runs.rows_stamp()
            if stamp == self._stamp:
                return
            before: int | None = None
            size = FIRST
            while serial == self._serial:
                page = self._store.runs.rows(size, before=before)
                whole = len(page) < size
                self._owner.post_message(self.Paged(serial, [entry(row) for row in page], before is None, whole, stamp))
                if whole:
                    return
                before, size = page[-1].n, PAGE
        except LabError as error:
            self._owner.post_message(self.Refused(error))

    def _costs(self, ids: list[str]) -> None:
        self._owner.post_message(self.Costed({id: self._cost(id) for id in ids}))

    def _cost(self, id: str) -> Cost:
        try:
            return cost_of(next(iter(self._store.runs.measured([id]))))
        except LabError:
            return Cost()  # Replay, where it is opened, says what is wrong with it
