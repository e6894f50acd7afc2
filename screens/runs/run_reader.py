"""Reads a file's runs for their table off the UI thread: rows by pages, costs a few at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

from lab.core.errors import LabError
from lab.runs.listing.run_rows import Cost, RunEntry, cost_of, entry

if TYPE_CHECKING:
    from store.store import Store

Stamp = tuple[int, int, int, int]
"""Stamp of a file's rows. It changes if any run arrived, grew or was archived (`Runs.rows_stamp`)."""
FIRST, PAGE = 200, 2000
"""Rows of the first and of each further page. The first is small, so that the table is not empty for long."""
FEW = 40
"""Runs per reading of costs, because all of their steps are read."""


class RunsReader:
    """Posts to `owner` what it reads. Pages of a reading before the last `reload` are not accepted (`accepts`)."""

    @dataclass
    class PageRead(Message):
        """Message: more rows were read, starting with the newest if `first`. `whole` with the last of them.

        `stamp` is the file's stamp when the reading began.
        """

        serial: int
        entries: list[RunEntry]
        first: bool
        whole: bool
        stamp: Stamp

    @dataclass
    class CostsRead(Message):
        """Message: costs of these runs."""

        costs: dict[str, Cost]

    @dataclass
    class Refused(Message):
        """Message: the file cannot be read."""

        error: LabError

    def __init__(self, owner: Widget, store: Store) -> None:
        self._owner = owner
        self._store = store
        self._stamp: Stamp | None = None
        """Stamp of the rows that were read last, or None before."""
        self._serial = 0
        self.costing = False
        """True while costs are being read."""

    def reload(self) -> None:
        """Read all rows again if the file has changed since the last reading."""
        self._serial += 1
        self._run_in_thread(partial(self._read_rows, self._serial))

    def accepts(self, page: PageRead) -> bool:
        """Return True if a page belongs to the newest reading. After its last page the same rows are not read again."""
        if page.serial != self._serial:
            return False
        if page.whole:
            self._stamp = page.stamp
        return True

    def cost(self, ids: Iterable[str]) -> None:
        """Read the costs of the first few of these runs."""
        few = [id for id, _ in zip(ids, range(FEW), strict=False)]
        if few and not self.costing:
            self.costing = True
            self._run_in_thread(partial(self._read_costs, few))

    def _run_in_thread(self, work: Callable[[], None]) -> None:
        self._owner.run_worker(work, thread=True)

    def _read_rows(self, serial: int) -> None:
        try:
            stamp = self._store.runs.rows_stamp()
            if stamp == self._stamp:
                return
            before: int | None = None
            size = FIRST
            while serial == self._serial:
                page = self._store.runs.rows(size, before=before)
                whole = len(page) < size
                self._owner.post_message(
                    self.PageRead(serial, [entry(row) for row in page], before is None, whole, stamp)
                )
                if whole:
                    return
                before, size = page[-1].n, PAGE
        except LabError as error:
            self._owner.post_message(self.Refused(error))

    def _read_costs(self, ids: list[str]) -> None:
        self._owner.post_message(self.CostsRead({id: self._read_cost(id) for id in ids}))

    def _read_cost(self, id: str) -> Cost:
        try:
            return cost_of(next(iter(self._store.runs.measured([id]))))
        except LabError:
            return Cost()  # Replay, where it is opened, says what is wrong with it
