"""The phones that runs can use: the embedded one and those that adb knows, with the state and its age."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content

from lab.core.run.screen_clock import format_duration
from lab.core.settings import EMBEDDED
from lab.runs.descriptions import one_line
from screens.key_names import with_keys
from screens.theme import MUTED, SUCCESS, WARNING
from screens.widgets.table import RowList

READY = "device"
"""adb's state of a phone that answers."""


class DeviceRow(NamedTuple):
    """A phone in the list: adb's serial, adb's word for its state, and since when (monotonic seconds)."""

    serial: str
    state: str = READY
    model: str = ""
    since: float = 0.0
    screen: str = ""
    """State of its screen in a few words: on, asleep, locked, folded, empty if unknown."""

    @property
    def ready(self) -> bool:
        return self.state == READY


HERE = DeviceRow(EMBEDDED)


class DeviceList(RowList[DeviceRow]):
    """The phones that a run can use. One of them is selected."""

    HELP = """\
# Devices

The embedded phone is always there: it is drawn by hitlab itself and starts with each run. Phones that adb knows stand
below it, with their state and how long it has been so. **{list.open}** chooses the phone that runs are made on from
now on.
"""

    def __init__(self, id: str, chosen: str = EMBEDDED) -> None:
        super().__init__(id)
        self.chosen = chosen
        """Serial of the phone for new runs."""
        self.busy = ""
        """Serial of the phone that the live run uses, empty if none."""
        self.rows = [HERE]

    @property
    def current(self) -> DeviceRow:
        return self.rows[min(self.cursor, len(self.rows) - 1)]

    def set_phones(self, phones: Sequence[tuple[str, str, str]], screens: Mapping[str, str] | None = None) -> None:
        """Show adb's phones: serial, state and model of each. A phone that was unplugged while in use is "gone".

        `screens` maps serials to the state of each screen, if known.
        """
        now, before = time.monotonic(), {row.serial: row for row in self.rows[1:]}
        screen_states = screens or {}
        rows_by_serial = {
            serial: DeviceRow(serial, state, model, now, screen_states.get(serial, ""))
            for serial, state, model in phones
        }
        for serial, row in before.items():
            if serial in rows_by_serial and rows_by_serial[serial].state == row.state:
                rows_by_serial[serial] = rows_by_serial[serial]._replace(since=row.since)
            elif serial not in rows_by_serial and serial in (self.chosen, self.busy):
                rows_by_serial[serial] = row if row.state == "gone" else row._replace(state="gone", since=now)
        if self.chosen != EMBEDDED and self.chosen not in rows_by_serial:
            rows_by_serial[self.chosen] = DeviceRow(self.chosen, "gone", "", now)
        rows = [HERE, *sorted(rows_by_serial.values())]
        # Ages grow with each look, so rows with one are painted anew.
        if rows != self.rows or any(row.since for row in rows):
            self.rows = rows
            self.changed()

    def next_words(self) -> str:
        """Return what Enter does on this line."""
        row = self.current
        if row.serial == self.busy:
            return with_keys(self, "{list.open}: go to the live run on it")
        if row.serial == self.chosen:
            return with_keys(self, "{list.open} on a task starts a run on this phone")
        if not row.ready:
            return f"this phone is {one_line(row.state)}"
        return with_keys(self, "{list.open}: make runs on this phone")

    def paint(self, index: int, width: int) -> Content:
        row = self.rows[index]
        mark = "▸ " if row.serial == self.chosen and len(self.rows) > 1 else ""
        if row.serial == self.busy:
            state, style = "● live", SUCCESS
        elif row.ready:
            plain_screen = row.screen in ("", "on")
            state, style = ("○ ready", MUTED) if plain_screen else (f"○ {one_line(row.screen)}", WARNING)
        else:
            state, style = f"✗ {one_line(row.state)}", WARNING
        # how long a phone is on the line is not how long the run on it is live
        age = f" {format_duration(time.monotonic() - row.since)}" if row.since and row.serial != self.busy else ""
        room = width - len(mark) - len(state) - 2
        if len(one_line(row.serial)) > room - len(age):
            age = ""
        name = "embedded phone" if row is HERE else _phone_name(row, max(6, room - len(age)))
        pane = "Devices: " if self.has_class("-line") else ""
        return Content.assemble((pane, MUTED), (mark, "bold"), (f"{name}  ", ""), (state, style), (age, MUTED))


def _phone_name(row: DeviceRow, room: int) -> str:
    """Return a phone's name in so many cells.

    The end of the serial stays longest: it tells phones of one model apart.
    """
    serial = one_line(row.serial)
    whole = one_line(f"{row.model} {row.serial}".strip())
    if cell_len(whole) <= room:
        return whole
    return serial if len(serial) <= room else "…" + serial[1 - room :]
