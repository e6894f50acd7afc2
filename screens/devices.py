"""The phones that runs can be made on: the embedded one, and those that adb knows, with their state and its age."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content

from lab.settings import EMBEDDED
from screens.clock import span
from screens.describe import one_line
from screens.lines import Lines

MUTED = "$foreground-muted"
READY = "device"
"""adb's own word for a phone that answers."""


class DeviceLine(NamedTuple):
    """A phone in the list: what adb calls it, its state in adb's words, and since when (monotonic seconds)."""

    serial: str
    state: str = READY
    model: str = ""
    since: float = 0.0

    @property
    def ready(self) -> bool:
        return self.state == READY


HERE = DeviceLine(EMBEDDED)


class Devices(Lines):
    """The phones a run can be made on; one of them is chosen."""

    HELP = """\
# Devices

The embedded phone is always there: it is drawn by hitlab itself and starts with each run. Phones that adb knows stand
below it, with their state and how long it has been so. **Enter** chooses the phone that runs are made on from now on.
"""

    def __init__(self, id: str, chosen: str = EMBEDDED) -> None:
        super().__init__(id=id, classes="pane")
        self.chosen = chosen
        """The phone that runs are made on."""
        self.busy = ""
        """The phone that a live run holds; empty where none does."""
        self.rows: list[DeviceLine] = [HERE]

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def current(self) -> DeviceLine:
        return self.rows[min(self.cursor, len(self.rows) - 1)]

    def found(self, phones: Sequence[tuple[str, str, str]]) -> None:
        """Shows what adb knows now: serial, state and model of each phone. One that went is shown as gone."""
        now, before = time.monotonic(), {row.serial: row for row in self.rows[1:]}
        there = {serial: DeviceLine(serial, state, model, now) for serial, state, model in phones}
        for serial, row in before.items():
            if serial in there and there[serial].state == row.state:
                there[serial] = there[serial]._replace(since=row.since)
            elif serial not in there and serial in (self.chosen, self.busy):
                there[serial] = row if row.state == "gone" else row._replace(state="gone", since=now)
        if self.chosen != EMBEDDED and self.chosen not in there:
            there[self.chosen] = DeviceLine(self.chosen, "gone", "", now)
        rows = [HERE, *sorted(there.values())]
        if rows != self.rows or any(row.since for row in rows):
            self.rows = rows
            self.changed()

    def next_words(self) -> str:
        """What Enter does on this line."""
        row = self.current
        if row.serial == self.busy:
            return "Enter: go to the live run on it"
        if row.serial == self.chosen:
            return "Enter on a task starts a run on this phone"
        return "Enter: make runs on this phone" if row.ready else f"this phone is {one_line(row.state)}"

    def paint(self, index: int, width: int) -> Content:
        row = self.rows[index]
        mark = "▸ " if row.serial == self.chosen and len(self.rows) > 1 else ""
        if row.serial == self.busy:
            state, style = "● live", "$text-success"
        elif row.ready:
            state, style = "○ ready", MUTED
        else:
            state, style = f"✗ {one_line(row.state)}", "$text-warning"
        age = f" {span(time.monotonic() - row.since)}" if row.since else ""
        room = width - len(mark) - len(state) - 2
        if len(one_line(row.serial)) > room - len(age):
            age = ""
        name = "embedded phone" if row is HERE else _named(row, max(6, room - len(age)))
        return Content.assemble((mark, "bold"), (f"{name}  ", ""), (state, style), (age, MUTED))


def _named(row: DeviceLine, room: int) -> str:
    """What tells a phone from others of its model, in so many cells: its serial's end stands longest."""
    serial = one_line(row.serial)
    whole = one_line(f"{row.model} {row.serial}".strip())
    if cell_len(whole) <= room:
        return whole
    return serial if len(serial) <= room else "…" + serial[1 - room :]
